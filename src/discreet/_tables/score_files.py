"""Score files, read by one reader both for studying scores and for making releases.

* CSV (``.csv``, ``.txt``) and TSV: one candidate per line. A first line whose score is not a number names the
  columns.
* JSON: an object that maps labels to numbers, a list of numbers, or a list of objects (one per candidate).
* Parquet: a column of labels and a column of numbers.

Without ``candidate_column`` and ``score_column``, the scores are in the column ``score``, or else in the
second column. The labels are in the column ``candidate``, or else in the first of the other columns. A file
with one column has only scores. A column ``sensitivity`` has one sensitivity for each candidate, and is used
if the caller states none. A number in text is read exactly, as the decimal or the fraction (``1/3``) that is
written. An error names the rule that the file breaks, never the content of a cell.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from discreet._exact.numbers.exact import fraction_of_decimal, refuse
from discreet.errors import ParameterError, ScoresError, missing_extra
from discreet.scores import Scores

SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t"}
TEXT_SUFFIXES = (*SEPARATORS, ".json")
SUFFIXES = (*TEXT_SUFFIXES, ".parquet")

_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(
    r"[+-]?([0-9]{1,4000}([.][0-9]{0,4000})?|[.][0-9]{1,4000})([eE][+-]?[0-9]{1,5})?"
)
_FRACTION = re.compile(r"[+-]?[0-9]{1,4000}/0*[1-9][0-9]{0,3999}")

LabelsAndValues: TypeAlias = tuple[list[Any] | None, Any, list[Any] | None]
"""Labels, scores and sensitivities; the labels or sensitivities are None if the file has none."""
_Columns: TypeAlias = tuple[str | None, str | None]
_Places: TypeAlias = tuple[int | None, int, int | None]
_STEPS = "sensitivity"


def scores_from_file(
    path: str | os.PathLike[str],
    *,
    sensitivity: object = None,
    monotonic: bool = False,
    range_distance: object = None,
    candidate_column: str | None = None,
    score_column: str | None = None,
    default: object = None,
) -> Scores:
    r"""Read a file of scores; the caller or the file states the sensitivity.

    ``default`` is the sensitivity if neither states one.

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
    read = reader_of(path, candidate_column=candidate_column, score_column=score_column)
    labels, values, steps = read()
    if sensitivity is range_distance is None:
        sensitivity = default if steps is None else steps
    return Scores(
        values,
        candidates=labels,
        sensitivity=sensitivity,
        monotonic=monotonic,
        range_distance=range_distance,
    )


def reader_of(
    path: str | os.PathLike[str],
    *,
    candidate_column: str | None = None,
    score_column: str | None = None,
    tell_lines: bool = True,
) -> Callable[[], LabelsAndValues]:
    """Check the public parts of a file (its name, its columns) and return a function that reads its scores.

    With ``tell_lines=False``, an error does not say which line broke a rule.
    """
    file = Path(path)
    suffix = suffix_of(file.name)
    columns = (candidate_column, score_column)
    if not file.is_file():
        raise ParameterError(f"⟨file⟩{str(path)!r} is not there")
    if suffix == ".parquet":
        return _parquet_reader(file, columns)
    if suffix in SEPARATORS:
        with _opened(file) as lines:
            _layout(_first(_records(lines, SEPARATORS[suffix])), columns)

    def read() -> LabelsAndValues:
        with _opened(file) as lines:
            return scores_in(lines, suffix, columns=columns, tell_lines=tell_lines)

    return read


def sensitivities_of(
    path: str | os.PathLike[str],
    *,
    candidate_column: str | None = None,
    score_column: str | None = None,
) -> list[Any] | None:
    """Return a file's public column of sensitivities, but not its scores; None if there is no such column."""
    file = Path(path)
    suffix = suffix_of(file.name)
    columns = (candidate_column, score_column)
    if suffix == ".parquet":
        return _parquet_steps(file, columns)
    with _opened(file) as lines:
        if suffix == ".json":
            return _steps_in_json(lines.read(), columns)
        records = _records(lines, SEPARATORS[suffix])
        place = _layout(_first(records), columns)[0][2]
        # A file with such a column begins with a line of column names, which is already read.
        return None if place is None else [_step(cells[place : place + 1]) for _, cells in records]


def _step(cell: list[str], where: str = "") -> int | Fraction:
    step = _number(cell[0]) if cell else None
    if step is None or step < 0:
        raise ScoresError(f"{where}the sensitivity is not a finite number, 0 or above")
    return step


def _steps_among(header: Sequence[str], columns: _Columns) -> bool:
    return _STEPS in header and _STEPS not in columns


def suffix_of(name: str, *, allowed: Sequence[str] = SUFFIXES) -> str:
    """Return the suffix of a file's name, which determines its format."""
    suffix = Path(name).suffix.lower()
    if suffix not in allowed:
        raise refuse("file", name, "a name that ends in " + ", ".join(allowed))
    return suffix


def scores_in(
    lines: io.TextIOBase,
    suffix: str,
    *,
    columns: _Columns = (None, None),
    tell_lines: bool = True,
    most: int | None = None,
) -> LabelsAndValues:
    """Read scores from an open text file; refuse a CSV file with more than ``most`` candidates."""
    try:
        if suffix == ".json":
            return _from_json(lines.read(), columns)
        return _from_text(_records(lines, SEPARATORS[suffix]), columns, tell_lines, most)
    except UnicodeDecodeError:
        raise ScoresError("the file must be text in UTF-8") from None


def _opened(file: Path) -> io.TextIOWrapper:
    try:
        return open(file, encoding="utf-8-sig", newline="")
    except OSError as error:
        raise ParameterError(f"⟨file⟩{str(file)!r} cannot be read: {error.strerror}") from None


def _records(lines: io.TextIOBase, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank."""
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error:
        raise ScoresError("the file is not well-formed CSV") from None
    except UnicodeDecodeError:
        raise ScoresError("the file must be text in UTF-8") from None


def _first(records: Iterator[tuple[int, list[str]]]) -> list[str]:
    for _, cells in records:
        return cells
    raise ScoresError("the file is empty")


def _layout(first: list[str], columns: _Columns) -> tuple[_Places, bool]:
    """Return which columns hold labels and scores, and whether the first line names the columns."""
    unnamed = _places([str(place) for place in range(len(first))], (None, None))
    if _number(first[unnamed[1]]) is not None:
        if columns == (None, None):
            return unnamed, False
        # The first line may be data, so the error does not list it.
        for wanted in columns:
            if wanted is not None and wanted not in first:
                raise ParameterError(
                    f"there is no column {wanted!r}: the first line has numbers, not names"
                )
    return _places(first, columns), True


def _from_text(
    records: Iterator[tuple[int, list[str]]], columns: _Columns, tell_lines: bool, most: int | None
) -> LabelsAndValues:
    first = _first(records)
    (label_place, score_place, step_place), named = _layout(first, columns)
    labels: list[Any] = []
    values: list[Any] = []
    steps: list[Any] = []

    def take(line: int, cells: list[str]) -> None:
        where = f"line {line}: " if tell_lines else ""
        if len(cells) != len(first):
            raise ScoresError(f"{where}every line must have the same number of cells as the first")
        value = _number(cells[score_place])
        if value is None:
            semicolons = len(cells) == 1 and ";" in cells[0]
            hint = "; cells are separated by commas, not semicolons" if semicolons else ""
            raise ScoresError(f"{where}the score is not a finite number{hint}")
        values.append(value)
        if step_place is not None:
            steps.append(_step([cells[step_place]], where))
        if label_place is not None:
            if not cells[label_place]:
                raise ScoresError(f"{where}the candidate is blank")
            labels.append(cells[label_place])
        if most is not None and len(values) > most:
            raise ScoresError(f"there are more than {most:,} candidates")

    if not named:
        take(1, first)
    for line, cells in records:
        take(line, cells)
    return (
        labels if label_place is not None else None,
        values,
        steps if step_place is not None else None,
    )


def _number(cell: str) -> int | Fraction | None:
    """Return the exact number that a cell spells; None if it spells none."""
    if _WHOLE.fullmatch(cell):
        return int(cell)
    if _DECIMAL.fullmatch(cell):
        return fraction_of_decimal(Decimal(cell))
    return Fraction(cell) if _FRACTION.fullmatch(cell) else None


def _places(header: Sequence[str], columns: _Columns) -> _Places:
    if len(set(header)) != len(header):
        raise ScoresError("two columns have the same name")
    listed = ", ".join(repr(name[:40]) for name in header[:12])
    for wanted in columns:
        if wanted is not None and wanted not in header:
            raise ParameterError(f"there is no column {wanted!r}: the file has {listed}")
    label, score = columns
    steps = _steps_among(header, columns) and len(header) > 1
    names = [name for name in header if not (steps and name == _STEPS)]
    if score is None:
        score = "score" if "score" in names else names[min(1, len(names) - 1)]
        if score == label:
            score = next((name for name in names if name != label), score)
    if label is None:
        others = [name for name in names if name != score]
        label = "candidate" if "candidate" in others else (others[0] if others else None)
    if label == score:
        raise ParameterError(f"candidates and scores cannot both be in column {score!r}")
    place = list(header).index
    return None if label is None else place(label), place(score), place(_STEPS) if steps else None


_MALFORMED_JSON = "the file is not well-formed JSON"
_MALFORMED_PARQUET = "the file is not well-formed Parquet"


def _refuse_constant(_name: str) -> Any:
    raise ScoresError("scores must be finite numbers")


def _different_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ScoresError("the keys of an object must all be different")
    return found


def _from_json(text: str, columns: _Columns) -> LabelsAndValues:
    try:
        content = json.loads(
            text,
            parse_float=Decimal,
            parse_constant=_refuse_constant,
            object_pairs_hook=_different_keys,
        )
    except ScoresError:
        raise
    except (ValueError, RecursionError):  # an integer of more than 4300 digits is a ValueError
        raise ScoresError(_MALFORMED_JSON) from None
    if isinstance(content, dict):
        return list(content), [_json_number(value) for value in content.values()], None
    if not isinstance(content, list):
        raise ScoresError("the file must hold an object from label to number, or a list")
    if not all(isinstance(item, dict) for item in content):
        return None, [_json_number(item) for item in content], None
    if not content:
        raise ScoresError("the file is empty")
    header = list(content[0])
    if not header:
        raise ScoresError("the objects in the list have no fields")
    label_place, score_place, step_place = _places(header, columns)
    if any(set(item) != set(header) for item in content):
        raise ScoresError("all objects in the list must have the same fields")
    values = [_json_number(item[header[score_place]]) for item in content]
    steps = None
    if step_place is not None:
        steps = [_json_number(item[_STEPS]) for item in content]
    if label_place is None:
        return None, values, steps
    return [item[header[label_place]] for item in content], values, steps


def _steps_in_json(text: str, columns: _Columns) -> list[Any] | None:
    """Return the sensitivities in a JSON file; its scores stay as they are written and are not checked."""
    try:
        rows = json.loads(text, parse_int=_Written, parse_float=_Written, parse_constant=_Written)
    except (ValueError, RecursionError):
        raise ScoresError(_MALFORMED_JSON) from None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return None
    if len(rows[0]) == 1 or not _steps_among(list(rows[0]), columns):
        return None
    written = (row.get(_STEPS) for row in rows)
    return [_step([each] if isinstance(each, _Written) else []) for each in written]


class _Written(str):
    """A number of a JSON file, as it is written."""

    __slots__ = ()


def _json_number(value: object) -> int | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ScoresError("every score must be a number")
    return value


def _parquet_schema(file: Path) -> Any:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise missing_extra("reading Parquet needs PyArrow", extra="spark") from error
    try:
        return parquet.read_schema(file)
    except (ArrowException, OSError):
        raise ScoresError(_MALFORMED_PARQUET) from None


def _parquet_steps(file: Path, columns: _Columns) -> list[Any] | None:
    if not _steps_among(_parquet_schema(file).names, columns):
        return None
    from pyarrow import ArrowException, parquet

    try:
        steps: list[Any] = parquet.read_table(file, columns=[_STEPS]).column(0).to_pylist()
    except (ArrowException, OSError):
        raise ScoresError(_MALFORMED_PARQUET) from None
    return steps


def _parquet_reader(file: Path, columns: _Columns) -> Callable[[], LabelsAndValues]:
    schema = _parquet_schema(file)
    from pyarrow import ArrowException, parquet, types

    places = _places(schema.names, columns)
    label_place, score_place, step_place = places
    kind = schema.types[score_place]
    for place in places[1:]:
        if place is not None and not (
            types.is_integer(schema.types[place])
            or types.is_floating(schema.types[place])
            or types.is_decimal(schema.types[place])
        ):
            raise ScoresError("the columns of scores and sensitivities must be of a number type")

    def read() -> LabelsAndValues:
        wanted = [schema.names[place] for place in places if place is not None]
        try:
            table = parquet.read_table(file, columns=wanted)
        except (ArrowException, OSError):
            raise ScoresError(_MALFORMED_PARQUET) from None
        scores = table.column(schema.names[score_place])
        if scores.null_count:
            raise ScoresError("scores must not be null, missing or NaN")
        values = scores.to_pylist() if types.is_decimal(kind) else scores.to_numpy()
        steps = None
        if step_place is not None:
            steps = table.column(_STEPS).to_pylist()
        if label_place is None:
            return None, values, steps
        return table.column(schema.names[label_place]).to_pylist(), values, steps

    return read
