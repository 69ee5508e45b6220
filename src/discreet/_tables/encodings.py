"""Read text files in any encoding without an error at any byte, and copy them into UTF-8."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Sequence
from typing import TextIO

ENCODINGS = (
    *("utf-8", "utf-16", "latin-1", "iso-8859-2", "iso-8859-15", "cp1250", "cp1251", "cp1252"),
    *("shift_jis", "gb18030", "big5", "euc_kr"),
)
"""Encodings that Python decodes without an error at any byte; invalid bytes are replaced."""


def in_utf_8(paths: Sequence[str], *, encoding: str, folder: str) -> list[str]:
    """Copy files into UTF-8 and return the paths of the copies.

    The copies hold rows, so the folder must be private and temporary.
    """
    copies = []
    for path in paths:
        with (
            opened_text(path, newline="", encoding=encoding) as source,
            tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", newline="", suffix=".csv", dir=folder, delete=False
            ) as copy,
        ):
            shutil.copyfileobj(source, copy)
        copies.append(copy.name)
    return copies


def opened_text(path: str, *, newline: str, encoding: str = "utf-8") -> TextIO:
    """Open a text file, compressed or not, so that no byte raises an error."""
    marked = "utf-8-sig" if encoding == "utf-8" else encoding
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding=marked, errors="replace", newline=newline)
    return open(path, encoding=marked, errors="replace", newline=newline)
