"""Public candidates from a list, a file, an enum or a declared categorical type, in the column's type.

Candidates taken from the data would themselves be a release, so public ones are made without looking at the
data. A contest combines the candidates with the functions that count the people for each of them.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from discreet._exact.numbers.exact import echo, fraction_of_decimal, refuse
from discreet._tables import Grid, Rows, Table, people_per_candidate
from discreet._tables.counts import Counts, people_per_interval, people_with_any
from discreet._tables.engines import is_encodable
from discreet._tables.moments import PERIODS, RECURRING, day_in, period_in
from discreet._tables.table import TEXTS
from discreet.errors import ParameterError
from discreet.questions.ordered import ColumnGrid, column_grid
from discreet.questions.periods import is_range, is_range_of_years, periods
from discreet.questions.question import FoundLabels
from discreet.questions.rules import (
    Sentences,
    about_candidates,
    about_ends,
    about_other,
    about_period,
    about_types,
)

WHY_PUBLIC = (
    "candidates= must be given: a list, a file, an enum or a column's declared categories (its "
    "dtype). Candidates "
    "read from the data would show that somebody has that value; if they must come from the data, "
    "give delta= as well: then only values with enough people are named, and the answer may be that "
    "nothing is safe to say"
)

_LARGEST_INTEGER = 10**40  # larger than any engine's integers


@dataclass(frozen=True, slots=True)
class Candidates:
    """Labels as the user writes them and keys as the column holds them, in the same order."""

    labels: tuple[Any, ...]
    keys: tuple[Any, ...]
    period: str | None = None
    """The kind of period, if the keys are periods: either numbers, or names in a text file without types."""
    may_name_periods: bool = True
    """Whether, in a column of texts, keys that are texts may name periods."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def values(self) -> tuple[Any, ...]:
        """The candidates as values of the column; periods stay as the user wrote them."""
        return self.keys if self.period is None else self.labels


def in_the_cluster(candidates: object) -> bool:
    """Return whether the candidates are a PySpark frame."""
    return type(candidates).__module__.startswith("pyspark.sql")


def public_candidates(
    given: object,
    *,
    column: str,
    kind: str,
    name: str = "candidates",
    described: Callable[[], str] | None = None,
) -> Candidates:
    """Make the candidates for a column of a declared kind; errors quote values of the public list only.

    ``described`` returns words for the column and its declared type, for use in these errors.
    """
    said = described or (lambda: f"a column declared {kind}")
    if given is None:
        raise ParameterError(WHY_PUBLIC)
    from_file = isinstance(given, str | Path)
    if kind == "object" and isinstance(given, str) and is_range(given):
        raise ParameterError(
            f"{name} has the numbers or periods {given!r}, which cannot be values of {said()}"
        )
    labels = _labels(given, column, name)
    keys = labels  # plain texts stay as they are: a list may have a million of them
    if kind not in TEXTS or any(
        type(each) is not str or not each.isascii() or not each.strip() for each in labels
    ):
        keys = [_key(label, kind, name, said) for label in labels]
    if len(set(keys)) != len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise ParameterError(f"{name} contains {twice!r} more than once")
    return Candidates(tuple(keys if from_file else labels), tuple(keys))


def candidates_of(
    table: Table, given: object, *, column: str, name: str = "candidates"
) -> Candidates:
    """Make the candidates for a column of a table, according to its declared type."""
    kind = table.kind(column)
    order = table.read_as.get(column, kind)

    def described() -> str:
        return f"the column {column!r}, {table.described(column)}"

    if given is not None and order in ("date", "moment"):
        by_period = _periods(given, order, column, name, described())
        plain_days = by_period.period == "day" and kind == "date"
        if not plain_days:
            return by_period
    elif isinstance(given, str) and given in RECURRING and not Path(given).is_file():
        raise ParameterError(
            f"⟨{name}⟩{given!r} needs a column of dates or moments, not {described()}"
        )
    public = public_candidates(given, column=column, kind=kind, name=name, described=described)
    if order in TEXTS and not any(
        isinstance(key, str) and key.strip()[:4].isdecimal() for key in public.keys
    ):
        return replace(public, may_name_periods=False)
    if isinstance(given, FoundLabels):
        return public
    period = table.period_named(column, public.keys)
    if period is None or not (table.is_text or kind == "object"):
        return public
    if kind == "object" and period != "year":
        raise ParameterError(
            f"{name} are periods (each a {period}), but the column {column!r} may hold dates that are not "
            f"texts: it is {table.undeclared}"
        )
    return replace(public, period=period) if table.is_text else public


def _periods(given: object, kind: str, column: str, name: str, described: str) -> Candidates:
    """Make candidates from periods for a column of dates or moments; all must be of one kind."""
    whole = isinstance(given, str) and given in RECURRING
    labels = RECURRING[str(given)] if whole else _labels(given, column, name)
    again = next((k for k, names in RECURRING.items() if all(e in names for e in labels)), None)
    if again == "hour of day" and kind == "date":
        raise refuse(name, given, f"weekday or month of year: {described}, has no hours")
    found = [(again, RECURRING[again].index(each)) if again else _period(each) for each in labels]
    wrong = [label for label, period in zip(labels, found, strict=True) if period is None]
    if wrong:
        # A weekday, hour or month is wrong only because of another label; name that one if it is unknown.
        unknown = [each for each in wrong if not any(each in names for names in RECURRING.values())]
        raise ParameterError(
            f"{name} has {echo([*unknown, *wrong][0])}, which cannot be a value of {described}: write days "
            "such as 2024-12-31, ISO weeks (2024-W01), months (2024-03), quarters (2024-Q1) or years (2024)"
            + (", or only weekdays, hours (08:00) or months (March)" if unknown != wrong else "")
        )
    kinds = list(dict.fromkeys(period[0] for period in found if period is not None))
    if len(kinds) > 1:
        raise ParameterError(
            f"{name} has periods of several kinds ({', '.join(kinds)}): all must be of one kind"
        )
    keys = tuple(period[1] for period in found if period is not None)
    if len(set(keys)) != len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        shown = RECURRING[again][twice] if again else PERIODS[kinds[0]].write(twice)
        raise ParameterError(f"{name} contains {shown!r} more than once")
    return Candidates(tuple(labels), keys, kinds[0])


def _period(label: Any) -> tuple[str, int] | None:
    """Return the kind and the number of a period, given as a text, a date or a whole number (a year)."""
    if isinstance(label, datetime.datetime | bool):
        return None
    if isinstance(label, datetime.date):
        return period_in(label.isoformat())
    return period_in(str(label)) if isinstance(label, str | int) else None


def _labels(given: object, column: str, name: str) -> list[Any]:
    """Return the labels of a list, file, enum, categorical type or range; there must be at least one."""
    if isinstance(given, str | Path):
        labels: list[Any] = named_candidates(given, column=column, name=name)
    else:
        labels = _listed(given, name)
        if len(labels) == 1 and is_range(labels[0]) and not isinstance(given, FoundLabels):
            raise refuse(
                name, labels, f"{labels[0]!r} itself: it is a range, so do not put it in a list"
            )
        ranges = [] if isinstance(given, FoundLabels) else list(filter(is_range_of_years, labels))
        if ranges:
            raise refuse(name, ranges[0], "one range without a list, or a list without ranges")
    if not labels:
        raise ParameterError(f"{name} is empty: there must be at least one")
    return labels


def named_candidates(given: str | Path, *, column: str, name: str = "candidates") -> list[str]:
    """List the candidates in a range such as ``2026-W01:2026-W52``, or read them from a file."""
    if isinstance(given, str) and ":" in given and is_range(given):
        return periods(given, name=name)
    return read_candidates(Path(given), column=column, name=name)


def read_candidates(path: Path, *, column: str, name: str = "candidates") -> list[str]:
    """Read candidates from a file: one on each line, or a column of a CSV file with a header.

    The column of a CSV file is the one with the name ``column``, or the only one.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        listed = [part.strip() for part in str(path).split(",")]
        hint = (
            f"; for a list write ⟨{name}⟩{listed!r}"
            if len(listed) > 1
            else "; nor is it a range such as 1980:1987 or 2024-01:2024-12"
        )
        raise ParameterError(
            f"⟨{name}⟩{str(path) if path.name else ''!r}: there is no such file, or it is not UTF-8 "
            f"text{hint}"
        ) from None
    if path.suffix.lower() not in (".csv", ".tsv"):
        lines = text.split("\n")
        return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    header, *records = csv.reader(text.splitlines(), delimiter=delimiter) if text.strip() else [[]]
    if column not in header and len(header) != 1:
        raise ParameterError(
            f"⟨{name}⟩{str(path)!r}: it must have a column named {column!r}, or one column only"
        )
    place = header.index(column) if column in header else 0
    return [record[place] if place < len(record) else "" for record in records]


def _listed(given: object, name: str) -> list[Any]:
    # An enum, a categorical type or an array became a list when the question was made.
    if isinstance(given, Sequence) and not isinstance(given, bytes):
        return list(given)
    if isinstance(given, Iterable):
        raise ParameterError(
            f"{name} must be a list (in a fixed order), not {type(given).__name__}"
        )
    raise refuse(name, given, "a list, a file, an enum or a dtype with declared categories")


def _key(label: Any, kind: str, name: str, described: Callable[[], str]) -> Any:
    if isinstance(label, str) and not label.strip():
        raise ParameterError(f"{name} contains a blank one")
    convert = _CONVERSIONS.get(kind, lambda _: None)
    is_huge = isinstance(label, int) and abs(label) > _LARGEST_INTEGER
    converted = None if is_huge else convert(label)
    if converted is None:
        raise ParameterError(
            f"{name} has {echo(label)}, which cannot be a value of {described()}"
            + (": it must be a day, such as 2024-12-31" if kind == "date" else "")
        )
    return converted


def _as_text(label: Any) -> str | None:
    if isinstance(label, int) and not isinstance(label, bool):
        return str(label)
    return _as_plain_text(label)


def _as_plain_text(label: Any) -> str | None:
    return str(label) if isinstance(label, str) and is_encodable(label) else None


def _as_integer(label: Any) -> int | None:
    if isinstance(label, str):
        return int(label) if re.fullmatch(r"\s*[+-]?[0-9]{1,30}\s*", label) else None
    return int(label) if isinstance(label, int) and not isinstance(label, bool) else None


def _as_float(label: Any) -> float | None:
    if isinstance(label, bool) or not isinstance(label, int | float | str):
        return None
    try:
        number = float(label)
    except (ValueError, OverflowError):
        return None
    return number + 0.0 if math.isfinite(number) else None


def _as_decimal(label: Any) -> Decimal | None:
    if isinstance(label, bool) or not isinstance(label, int | float | str | Decimal):
        return None
    try:
        number = Decimal(str(label).strip())
    except InvalidOperation:
        return None
    return None if fraction_of_decimal(number) is None else number


def _as_boolean(label: Any) -> bool | None:
    if isinstance(label, str):
        return {"true": True, "false": False}.get(label.strip().lower())
    return label if isinstance(label, bool) else None


def _as_date(label: Any) -> datetime.date | None:
    if isinstance(label, datetime.datetime):
        return None
    if isinstance(label, str):
        return day_in(label.strip())
    return label if isinstance(label, datetime.date) else None


_CONVERSIONS: dict[str, Any] = {
    "text": _as_text,
    "object": _as_plain_text,
    "integer": _as_integer,
    "float": _as_float,
    "decimal": _as_decimal,
    "boolean": _as_boolean,
    "date": _as_date,
}


# ---- counting people for them ----


@dataclass(frozen=True, slots=True)
class Contest:
    """Candidates with their labels, and the functions that count people per candidate and in total."""

    size: int
    label: Callable[[int], Any]
    table: Table
    count: Callable[[Table, Rows], Counts]
    anybody: Callable[[Table, Rows], Counts]
    rules: Sentences
    doubts: Sentences = ()
    remarks: Callable[[Any], Sentences] = lambda _answer: ()

    def __len__(self) -> int:
        return self.size

    def named(self, indices: list[int], people: Counts) -> list[tuple[Any, int]]:
        """Return the chosen candidates, each with its true count."""
        return [(self.label(index), int(people[index])) for index in indices]


def contest_of(
    table: Table,
    column: str,
    candidates: object,
    *,
    bounds: object = None,
    step: object = 1,
    other: str | None = None,
    listed: Sequence[Any] | None = None,
) -> Contest:
    """Return the contest between public candidates, or between the points of a public grid.

    ``listed`` is the owner's list of the column's values, if there is one.
    """
    if bounds is not None:
        if candidates is not None:
            raise ParameterError("give ⟨candidates⟩ or ⟨bounds⟩, not both")
        candidates = column_grid(table, column, bounds=bounds, step=step)
    elif isinstance(candidates, Grid):
        candidates = column_grid(table, column, bounds=candidates)
    if isinstance(candidates, ColumnGrid):
        if other is not None:
            raise ParameterError("⟨other⟩ needs ⟨candidates⟩, and cannot be combined with a grid")
        axis, grid = candidates, candidates.grid
        assert isinstance(grid, Grid)
        return Contest(
            len(axis),
            axis.label,
            axis.table,
            lambda table, rows: people_per_interval(table, rows, column=column, grid=grid),
            lambda table, rows: people_with_any(table, rows, column=column, grid=grid),
            about_candidates(axis.shown_bounds) + axis.left_out,
            remarks=about_ends(axis.label(0), axis.label(len(axis) - 1)),
        )
    public = candidates_of(table, candidates, column=column)
    labels = public.labels if other is None else (*public.labels, _other(other, public))
    doubts = about_types(table, column, public, name="candidates", listed=listed)
    return Contest(
        len(labels),
        labels.__getitem__,
        table,
        lambda table, rows: people_per_candidate(
            table,
            rows,
            column=column,
            keys=public.keys,
            other=other is not None,
            period=public.period,
        ),
        lambda table, rows: people_with_any(
            table,
            rows,
            column=column,
            keys=public.keys if other is None else None,
            period=public.period,
        ),
        about_candidates(other=other) + about_period(table, column, public) + doubts,
        doubts,
        (lambda _answer: ()) if other is None else about_other(other),
    )


def _other(label: str, public: Candidates) -> str:
    if label in {str(known) for known in (*public.labels, *public.keys)}:
        raise refuse("other", label, "a label that is not on the list")
    return label
