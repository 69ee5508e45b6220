"""The public grid of an ordered column, in the column's own terms: numbers, decimals, dates, times, spans.

A date is a number of days since 1970, a time or a span a number of seconds; bounds and steps are written as
people write them, and answers come back in the column's type.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.numbers.exact import positive, refuse
from discreet.questions.answer import Sentences
from discreet.tables import Grid, Table
from discreet.tables.growing_grid import GrowingGrid

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_DAY = 86_400
_SPAN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(us|ms|s|min|h|d|w)\s*")
_SECONDS: dict[str, Fraction | int] = {
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": _DAY,
    "w": 7 * _DAY,
}
_EVER = {
    "date": ("1900-01-01", "2100-12-31", "1d"),
    "moment": ("1970-01-01", "2101-01-01", "1h"),
}
"""The public grid of a column of dates or times for which no bounds are given."""


@dataclass(frozen=True, slots=True)
class ColumnGrid:
    """A public grid for a column, with labels in the column's type and how to say what it is."""

    grid: Grid | GrowingGrid
    label: Callable[[int], Any]
    rules: Sentences


def column_grid(
    table: Table,
    column: str,
    *,
    bounds: object,
    step: object = 1,
    unit: object = 1,
    largest: object = None,
    magnitudes: bool = False,
) -> ColumnGrid:
    """The grid between public bounds; or, without any, one that needs none."""
    kind = table.kind(column)
    read = _READERS.get(kind)
    if (
        read is None or table.engine == "ibis"
    ):  # a database's dates and times are not ordered by a number
        table.require_number(column)
    if bounds is not None:
        if _said(unit) or largest is not None:
            raise ParameterError("⟨unit⟩ and ⟨largest⟩ go without ⟨bounds⟩")
        grid = _numbers(column, bounds, step) if read is None else read.between(bounds, step)
        return ColumnGrid(grid, _labels(table, column, grid), ())
    if kind in _EVER:
        lower, upper, usual = _EVER[kind]
        assert read is not None
        if _said(unit) or largest is not None:
            raise ParameterError("⟨unit⟩ and ⟨largest⟩ are for numbers and time spans")
        apart = step if _said(step) else usual
        grid = read.between((lower, upper), apart)
        said = f"No bounds were given: the grid goes from {lower} to {upper}, {apart} apart."
        return ColumnGrid(
            grid, _labels(table, column, grid), (f"{said} With bounds it is better.",)
        )
    if _said(step):
        raise ParameterError(
            "⟨step⟩ goes with ⟨bounds⟩; without them ⟨unit⟩ sets the grid near zero"
        )
    if read is not None:
        unit = read.step(unit)
        largest = None if largest is None else read.step(largest)
    growing = GrowingGrid.of(unit, largest, magnitudes=magnitudes)
    label = _labels(table, column, growing)
    said = (
        f"the grid has every {label(growing.zero + 1)} near zero and steps of about a thousandth further "
        f"out, up to {label(len(growing) - 1)}"
    )
    if magnitudes:
        return ColumnGrid(growing, label, (f"The answer is a point of a growing grid: {said}.",))
    given = f"No bounds were given: {said} on both sides. With bounds it is better."
    return ColumnGrid(growing, label, (given,))


def points_between(bounds: object, step: object) -> int | None:
    """How many points a grid has, as far as bounds and step tell without the column.

    Example:
        >>> points_between((0, 120), 1), points_between(("2024-01-01", "2024-01-31"), "1d")
        (121, 31)
        >>> points_between(("2024-01-01", "2024-01-31"), 1) is None  # days, or seconds?
        True
    """
    for reader in (_READERS["moment"], _READERS["span"]):
        if reader.ends(bounds) is not None and not isinstance(bounds, str):
            return None if _seconds(step) is None else len(reader.between(bounds, step))
    return len(Grid.between(bounds, step=step))


def _numbers(column: str, bounds: object, step: object) -> Grid:
    try:
        return Grid.between(bounds, step=step)
    except ParameterError:
        if _READERS["moment"].ends(bounds) is None:
            raise
    raise ParameterError(
        f"⟨bounds⟩{bounds!r} are dates or times, and the column {column!r} is not declared as such: a text "
        "file declares nothing; Parquet and frames do"
    )


def _said(number: object) -> bool:
    """Whether a step or a unit is another than the one that is there by default."""
    return number not in (1, "1")


def _labels(table: Table, column: str, grid: Grid | GrowingGrid) -> Callable[[int], Any]:
    kind = table.kind(column)
    if kind == "decimal":
        return lambda index: _decimal(grid.point(index))
    if kind == "date":
        return lambda index: _EPOCH.date() + datetime.timedelta(days=int(grid.point(index)))
    if kind == "span":
        return lambda index: _span(grid.point(index))
    if kind == "moment":
        zone = table.time_zone(column)
        return lambda index: _moment(grid.point(index), aware=zone is not None)
    return grid.label


def _decimal(point: Fraction) -> Decimal:
    return Decimal(point.numerator) / Decimal(point.denominator)


def _span(seconds: Fraction) -> datetime.timedelta:
    return datetime.timedelta(microseconds=round(seconds * 10**6))


def _moment(seconds: Fraction, *, aware: bool) -> datetime.datetime:
    found = _EPOCH + _span(seconds)
    return found if aware else found.replace(tzinfo=None)


# ---- bounds and steps as people write them -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """How bounds and steps of one kind of column are written, as numbers of its grid."""

    one: Callable[[object], Fraction | None]
    scale: int
    example: str

    def between(self, bounds: object, step: object) -> Grid:
        """The grid between two public bounds."""
        ends = self.ends(bounds)
        if ends is None:
            raise refuse("bounds", bounds, f"such as {self.example}")
        lower, upper = ends
        if upper <= lower:
            raise refuse("bounds", bounds, "the lower bound and then a larger one")
        apart = self.step(step)
        if self.scale == _DAY and apart.denominator != 1:
            raise refuse("step", step, "a whole number of days")
        return Grid(lower, upper, apart)

    def ends(self, bounds: object) -> tuple[Fraction, Fraction] | None:
        """Two bounds, if that is how these are written."""
        given: Sequence[object] = ()
        if isinstance(bounds, str):
            given = bounds.split("/") if "/" in bounds else bounds.split(":")
        elif isinstance(bounds, Sequence):
            given = bounds
        found = [number for end in given if (number := self.one(end)) is not None]
        return (found[0], found[1]) if len(found) == len(given) == 2 else None

    def step(self, step: object) -> Fraction:
        """A step in the grid's numbers: a time span, or a plain number of days or seconds."""
        seconds = _seconds(step)
        if seconds == 0:
            raise refuse("step", step, "a time span above 0")
        return positive("step", step) if seconds is None else seconds / self.scale


def _seconds(step: object) -> Fraction | None:
    if isinstance(step, datetime.timedelta):
        return Fraction(step // datetime.timedelta(microseconds=1), 10**6)
    matched = _SPAN.fullmatch(step) if isinstance(step, str) else None
    return None if matched is None else Fraction(matched[1]) * _SECONDS[matched[2]]


def _as_span(end: object) -> Fraction | None:
    if isinstance(end, str) and end.strip().startswith("-"):
        found = _as_span(end.strip()[1:])
        return None if found is None else -found
    if end in (0, "0"):
        return Fraction(0)
    return _seconds(end)


def _as_day(end: object) -> Fraction | None:
    seconds = _as_second(end)
    return None if seconds is None or seconds % _DAY else seconds / _DAY


def _as_second(end: object) -> Fraction | None:
    if isinstance(end, str):
        try:
            end = datetime.datetime.fromisoformat(end.strip())
        except ValueError:
            return None
    if isinstance(end, datetime.date) and not isinstance(end, datetime.datetime):
        end = datetime.datetime(end.year, end.month, end.day)
    if not isinstance(end, datetime.datetime):
        return None
    told = end if end.tzinfo is not None else end.replace(tzinfo=datetime.UTC)
    return Fraction((told - _EPOCH) // datetime.timedelta(microseconds=1), 10**6)


_READERS = {
    "date": _Reader(_as_day, _DAY, "2020-01-01:2024-12-31, with a step such as 1d"),
    "moment": _Reader(
        _as_second,
        1,
        "2020-01-01:2024-12-31 or 2020-01-01T08:00/2020-01-01T18:00, with a step such as 1min",
    ),
    "span": _Reader(_as_span, 1, "0s:2h, with a step such as 1min"),
}
