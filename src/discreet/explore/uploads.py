"""Scores that a page sends: CSV or JSON, parsed as text, within limits, with messages for people.

CSV: one candidate a line. A first line that is no number names the columns; scores are then in the one
called ``score``, else in the second, labels in the one called ``candidate``, else in the first other one.
JSON: an object from label to number, or a list of numbers. The same files are read by
:mod:`discreet.score_files`, which has no limits to keep and reads exact decimals; charts need floats only.
The scores were declared public, yet no message quotes one: a line number is enough.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ParameterError, ScoresError
from discreet.exact_numbers import refuse
from discreet.scores import Scores

MOST_BYTES = 32 * 1024 * 1024
"""The largest file that is read."""
MOST_CANDIDATES = 1_000_000
"""The most candidates that the page explores."""
LARGEST_SCORE = 1e15
"""The largest score, up or down, that the page shows."""
LONGEST_LABEL = 200
KINDS = {".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".json": "json"}
"""The formats, told by the ending of the file's name."""

_NO_SCORE = "the score is not a finite number between −10^15 and 10^15"
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


def score_file(name: str, scores: Scores) -> ScoreFile:
    """Scores that were read already, with labels and numbers as the page shows them."""
    if len(scores) > MOST_CANDIDATES:
        raise ScoresError(
            f"there are more than {MOST_CANDIDATES:,} candidates, the most this page takes"
        )
    values = [
        _checked(float(value) if isinstance(value, Fraction) else value)
        for value in scores.values.tolist()
    ]
    labels = tuple(_label(str(label)) for label in scores.candidates)
    return ScoreFile(PurePath(name).name[:LONGEST_LABEL], *_collected(iter(_known(labels, values))))


def _known(labels: tuple[str, ...], values: list[float | None]) -> Iterator[tuple[str, float]]:
    for label, value in zip(labels, values, strict=True):
        if value is None:
            raise ScoresError("a score is larger than this page can show")
        yield label, value


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
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: _Columns | None = None
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
        if columns is None:
            columns = _columns(row)
            if _number(row[columns.score]) is None:
                continue
        if len(row) != columns.width:
            raise ScoresError(
                f"line {reader.line_num} has {len(row)} cells where the first has {columns.width}"
            )
        value = _number(row[columns.score])
        if value is None:
            raise ScoresError(f"line {reader.line_num}: {_NO_SCORE}{_separated_otherwise(row)}")
        yield (str(count) if columns.label is None else _label(row[columns.label])), value
        count += 1


def _separated_otherwise(row: list[str]) -> str:
    """What some spreadsheets do, in countries that write decimals with a comma."""
    alone = len(row) == 1 and ";" in row[0]
    return "; fields must be separated by commas, not semicolons" if alone else ""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where labels and scores stand."""

    width: int
    label: int | None
    score: int


def _columns(first: list[str]) -> _Columns:
    names = [cell.strip() for cell in first]
    score = names.index("score") if "score" in names else min(1, len(names) - 1)
    others = [place for place in range(len(names)) if place != score]
    named = [place for place in others if names[place] == "candidate"]
    return _Columns(len(names), next(iter(named or others), None), score)


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
            raise ScoresError(f"entry {place + 1}: {_NO_SCORE}")
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
    return value if abs(value) <= LARGEST_SCORE else None  # which NaN is not


def _label(text: str) -> str:
    """A label as it may be shown: short, on one line."""
    shown = " ".join(text.split())[:LONGEST_LABEL]
    return (
        shown if shown.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in shown)
    )
