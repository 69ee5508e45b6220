"""Scores from a file that somebody else wrote: CSV or JSON, parsed as text, with messages for people.

CSV: one candidate a line, ``label,score``, or the score alone; a first line that is no number is a
heading. JSON: an object from label to number, or a list of numbers. The scores were declared public, yet
no message quotes one: a line number is enough.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ParameterError, ScoresError
from discreet.exact_numbers import refuse

MOST_BYTES = 32 * 1024 * 1024
"""The largest file that is read."""
MOST_CANDIDATES = 1_000_000
"""The most candidates that the page explores."""
LONGEST_LABEL = 200
KINDS = {".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".json": "json"}
"""The formats, told by the ending of the file's name."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """Labels and values of a file, in its order."""

    name: str
    labels: tuple[str, ...]
    values: npt.NDArray[Any]


def read_scores(name: str, content: bytes) -> ScoreFile:
    r"""The scores in a file's bytes.

    Example:
        >>> read_scores("visits.csv", b"diagnosis,patients\nflu,412\ncold,398\n").labels
        ('flu', 'cold')
    """
    kind = KINDS.get(PurePath(name).suffix.lower())
    if kind is None:
        raise refuse("file", PurePath(name).name, "a name that ends in " + ", ".join(KINDS))
    if len(content) > MOST_BYTES:
        raise ParameterError(f"the file is larger than {MOST_BYTES // 2**20} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError("the file is not UTF-8 text") from None
    if "\0" in text:
        raise ParameterError("the file is not text")
    rows = _json_rows(text) if kind == "json" else _csv_rows(text, "\t" if kind == "tsv" else ",")
    labels, values = _collected(rows)
    return ScoreFile(PurePath(name).name[:LONGEST_LABEL], labels, values)


def _collected(rows: Iterator[tuple[str, float]]) -> tuple[tuple[str, ...], npt.NDArray[Any]]:
    labels: list[str] = []
    values: list[float] = []
    for label, value in rows:
        if len(labels) == MOST_CANDIDATES:
            raise ScoresError(
                f"there are more than {MOST_CANDIDATES:,} candidates, the most this page takes"
            )
        labels.append(label)
        values.append(value)
    if not labels:
        raise ScoresError("the file holds no scores: one candidate a line, as label,score")
    if len(set(labels)) != len(labels):
        raise ScoresError("two candidates have the same label")
    whole = all(isinstance(value, int) for value in values)
    return tuple(labels), np.array(values, dtype=np.int64 if whole else np.float64)


def _csv_rows(text: str, delimiter: str) -> Iterator[tuple[str, float]]:
    width, heading = 0, True
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    count = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error:
            raise ScoresError(f"line {reader.line_num} cannot be split into fields") from None
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        value = _number(row[-1])
        if heading and value is None:
            width, heading = len(row), False
            continue
        heading = False
        width = width or len(row)
        if len(row) != width or width > 2:
            raise ScoresError(f"line {reader.line_num} does not have the form label,score")
        if value is None:
            raise ScoresError(f"line {reader.line_num}: the score is not a finite number")
        yield (_label(row[0]) if width == 2 else str(count)), value
        count += 1


def _json_rows(text: str) -> Iterator[tuple[str, float]]:
    try:
        content = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        raise ScoresError("the file is not valid JSON") from None
    if isinstance(content, _Pairs):
        pairs: Any = content
    elif isinstance(content, list):
        pairs = ((str(place), value) for place, value in enumerate(content))
    else:
        raise ScoresError("the JSON must be an object from label to score, or a list of scores")
    for place, (label, value) in enumerate(pairs):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ScoresError(f"entry {place + 1}: the score is not a number")
        number = _checked(value)
        if number is None:
            raise ScoresError(f"entry {place + 1}: the score is not a finite number")
        yield _label(label), number


class _Pairs(list[tuple[str, Any]]):
    """A JSON object's pairs, so that a label given twice is noticed."""


def _number(cell: str) -> float | None:
    text = cell.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    # A longer text than this is no number that anybody wrote.
    return _checked(float(text)) if len(text) < 400 and _NUMBER.fullmatch(text) else None


def _checked(value: float) -> float | None:
    if isinstance(value, int):
        return value if abs(value) <= 2**53 else None
    return value if math.isfinite(value) and abs(value) < 1e150 else None


def _label(text: str) -> str:
    """A label as it may be shown: short, on one line."""
    shown = " ".join(text.split())[:LONGEST_LABEL]
    return (
        shown if shown.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in shown)
    )
