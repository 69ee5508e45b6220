"""A text file whose delimiter or encoding is another than its name says."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from discreet.numbers.exact import refuse

ENCODINGS = (
    *("utf-8", "utf-16", "latin-1", "iso-8859-2", "iso-8859-15", "cp1250", "cp1251", "cp1252"),
    *("shift_jis", "gb18030", "big5", "euc_kr"),
)
"""Encodings that Python decodes without raising at any byte, the offending ones replaced."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A CSV file, or a pattern of them, with what its name does not tell; it goes where a path goes.

    Example:
        >>> TextFile("visits.csv", delimiter=";", encoding="cp1252").delimiter
        ';'
    """

    path: str | Path
    delimiter: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        one = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter is not None and not (one and self.delimiter not in "\"'\r\n\0"):
            raise refuse("delimiter", self.delimiter, "one character, such as ; and no quote")
        if self.encoding not in ENCODINGS:
            raise refuse("encoding", self.encoding, "one of " + ", ".join(ENCODINGS))

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing that the name does not tell."""
        return self.delimiter is None and self.encoding == "utf-8"


def in_utf_8(paths: Sequence[str], *, encoding: str, folder: str) -> list[str]:
    """Copies in UTF-8. They hold rows: the folder is nobody else's, and does not stay."""
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
    """A text file, compressed or not, none of whose bytes raises."""
    marked = "utf-8-sig" if encoding == "utf-8" else encoding
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding=marked, errors="replace", newline=newline)
    return open(path, encoding=marked, errors="replace", newline=newline)
