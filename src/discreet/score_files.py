"""Scores from a file: CSV, JSON or Parquet, read strictly. An error names the rule, never a cell's content.

* CSV and TSV: the first line names the columns; every other line is one candidate.
* JSON: an object from label to number, a list of numbers, or a list of objects (one per candidate).
* Parquet: a column of labels and a column of numbers.

Without ``candidate_column`` and ``score_column`` the columns are those called ``candidate`` and ``score``, or
else the first and the second; a file of one column has scores only. Numbers in text are exactly the decimals
written.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import MissingExtraError, ParameterError, ScoresError
from discreet.exact_numbers import fraction_of_decimal
from discreet.scores import Scores

SUFFIXES = (".csv", ".tsv", ".json", ".parquet")

_WHOLE = re.compile(r"[+-]?[0-9]{1,6000}")
_DECIMAL = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,5})?")
_NOT_A_NUMBER = "line {line}: the score is not a number"


def scores_from_file(
    path: str | os.PathLike[str],
    *,
    sensitivity: object = None,
    monotonic: bool = False,
    range_distance: object = None,
    candidate_column: str | None = None,
    score_column: str | None = None,
) -> Scores:
    r"""Read a file of scores; what one person can change is yours to say, as for ``Scores``.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = Path(folder.name) / "scores.csv"
        >>> _ = path.write_text("diagnosis,patients\nflu,412\ncold,398.5\n")
        >>> scores = scores_from_file(path, sensitivity=1, monotonic=True)
        >>> scores.candidates, scores.values.tolist()
        (('flu', 'cold'), [412, Fraction(797, 2)])
        >>> folder.cleanup()
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"file={str(path)!r} is not allowed: it must end in {', '.join(SUFFIXES)}"
        )
    columns = (candidate_column, score_column)
    if suffix == ".parquet":
        labels, values = _from_parquet(_existing(file), columns)
    elif suffix == ".json":
        labels, values = _from_json(_text(file), columns)
    else:
        labels, values = _from_text(_text(file), "\t" if suffix == ".tsv" else ",", columns)
    return Scores(
        values,
        candidates=labels,
        sensitivity=sensitivity,
        monotonic=monotonic,
        range_distance=range_distance,
    )


Columns = tuple[str | None, str | None]
Read = tuple[list[Any] | None, Any]


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise ParameterError(f"file={str(file)!r} is not there")
    return file


def _text(file: Path) -> str:
    try:
        return _existing(file).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScoresError("the file must be text in UTF-8") from None
    except OSError as error:
        raise ParameterError(f"file={str(file)!r} cannot be read: {error.strerror}") from None


def _from_text(text: str, separator: str, columns: Columns) -> Read:
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter=separator, strict=True))
    except csv.Error:
        raise ScoresError("the file is not well-formed CSV") from None
    rows = [
        (number, [cell.strip() for cell in line])
        for number, line in enumerate(lines, 1)
        if any(line)
    ]
    if not rows:
        raise ScoresError("the file is empty")
    header = rows[0][1]
    label_place, score_place = _places(header, columns)
    if _DECIMAL.fullmatch(header[score_place]):
        raise ScoresError("the first line must name the columns, and its score is a number")
    labels: list[Any] = []
    values: list[Any] = []
    for number, cells in rows[1:]:
        if len(cells) != len(header):
            raise ScoresError(
                f"line {number} has {len(cells)} cells where the first has {len(header)}"
            )
        values.append(_number(cells[score_place], number))
        if label_place is not None:
            labels.append(cells[label_place])
    return labels if label_place is not None else None, values


def _number(cell: str, line: int) -> int | Fraction:
    """The decimal written, exactly."""
    if _WHOLE.fullmatch(cell):
        return int(cell)
    exact = fraction_of_decimal(Decimal(cell)) if _DECIMAL.fullmatch(cell) else None
    if exact is None:
        raise ScoresError(_NOT_A_NUMBER.format(line=line))
    return exact


def _places(header: Sequence[str], columns: Columns) -> tuple[int | None, int]:
    """Where labels and scores stand; None for labels if there are none."""
    if len(set(header)) != len(header):
        raise ScoresError("two columns have the same name")
    listed = ", ".join(repr(name[:40]) for name in header[:12])
    for wanted in columns:
        if wanted is not None and wanted not in header:
            raise ParameterError(f"column {wanted!r} is not there: the file has {listed}")
    label, score = columns
    if score is None:
        score = "score" if "score" in header else header[min(1, len(header) - 1)]
        if score == label:
            score = next((name for name in header if name != label), score)
    if label is None:
        others = [name for name in header if name != score]
        label = "candidate" if "candidate" in others else (others[0] if others else None)
    if label == score:
        raise ParameterError(f"candidates and scores cannot both be in column {score!r}")
    return None if label is None else list(header).index(label), list(header).index(score)


def _refuse_constant(_name: str) -> Any:
    raise ScoresError("scores must be finite numbers")


def _different_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ScoresError("the keys of an object must all be different")
    return found


def _from_json(text: str, columns: Columns) -> Read:
    try:
        content = json.loads(
            text,
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_different_keys,
        )
    except (json.JSONDecodeError, RecursionError):
        raise ScoresError("the file is not well-formed JSON") from None
    if isinstance(content, dict):
        return list(content), [_json_number(value) for value in content.values()]
    if not isinstance(content, list):
        raise ScoresError("the file must hold an object from label to number, or a list")
    if not all(isinstance(item, dict) for item in content):
        return None, [_json_number(item) for item in content]
    if not content:
        raise ScoresError("the file is empty")
    header = list(content[0])
    if not header:
        raise ScoresError("the objects in the list have no fields")
    label_place, score_place = _places(header, columns)
    if any(set(item) != set(header) for item in content):
        raise ScoresError("all objects in the list must have the same fields")
    values = [_json_number(item[header[score_place]]) for item in content]
    if label_place is None:
        return None, values
    return [item[header[label_place]] for item in content], values


def _json_number(value: object) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ScoresError("every score must be a number")
    return value


def _from_parquet(file: Path, columns: Columns) -> Read:
    try:
        from pyarrow import ArrowException, parquet, types
    except ImportError as error:
        raise MissingExtraError(
            "reading Parquet needs PyArrow: pip install discreet[spark]"
        ) from error
    try:
        header = parquet.read_schema(file).names
        label_place, score_place = _places(header, columns)
        wanted = [header[place] for place in (label_place, score_place) if place is not None]
        table = parquet.read_table(file, columns=wanted)
    except (ArrowException, OSError):
        raise ScoresError("the file is not well-formed Parquet") from None
    scores = table.column(header[score_place])
    kind = scores.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise ScoresError("the column of scores must be of a number type")
    if scores.null_count:
        raise ScoresError("scores must not be null, missing or NaN")
    values = scores.to_pylist() if types.is_decimal(kind) else scores.to_numpy()
    return None if label_place is None else table.column(header[label_place]).to_pylist(), values
