"""The public grid of an ordered column: numbers, decimals, dates, times or time spans.

A date is a number of days since 1970; a time or a time span is a number of seconds. Bounds and steps are
given as people write them, and answers come back in the column's type. A text file declares no types: the
notation of the public bounds, or ``TextFile.read_as``, determines how its texts are read.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from discreet._exact.numbers.exact import positive, refuse
from discreet._tables import Grid, Table
from discreet._tables.growing_grid import LARGEST, GrowingGrid
from discreet._tables.moments import (
    DATED,
    as_moment,
    days_of,
    micros_in,
    period_in,
    second_of,
    second_of_day,
    seconds_in,
)
from discreet.errors import ParameterError
from discreet.questions.rules import Sentences

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_DAY = 86_400
_EVER = {
    "date": ("1900-01-01", "2100-12-31", "1d"),
    "moment": ("1970-01-01", "2101-01-01", "1h"),
    "time": ("00:00", "23:59", "1min"),
}
"""The default public grid of a column of dates or times."""

_SPELLED = {
    "date": "dates, such as 2024-12-31 or 2024/12/31; for a date with a time, the day as written counts",
    "moment": "dates with times, such as 2024-12-31T08:30; one with an offset (Z, +02:00) is "
    "converted to UTC, one without is taken as written, and a date alone means midnight",
    "time": "times of day, such as 08:30 or 08:30:15; for a date with a time, the time of day as "
    "written counts",
    "span": "time spans, such as 1:30:00, 2 days 01:30:00, PT1H30M or 90min",
    "decimal": "decimal numbers, such as 12.50",
}
"""For each kind of column, the texts that are read as values of a text file, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGrid:
    """A public grid for a column, with a description and with labels in the column's type.

    Attributes:
        table: the table, with the type that the column is read as.
        column: the column.
        grid: the grid in numbers; for dates these are days, for times seconds.
        aware: whether moments are labelled in UTC rather than without a time zone.
        rules: a description of the grid, if no bounds were given.
    """

    table: Table
    column: str
    grid: Grid | GrowingGrid
    aware: bool
    rules: Sentences = ()

    def __len__(self) -> int:
        return len(self.grid)

    @property
    def kind(self) -> str:
        """The kind of values by which the column is ordered, such as ``date``."""
        return self.table.ordered_kind(self.column)

    def label(self, index: int) -> Any:
        """Return a grid point in the column's type."""
        point = self.grid.point(index)
        if self.kind == "decimal":
            return Decimal(point.numerator) / Decimal(point.denominator)
        if self.kind == "date":
            return _EPOCH.date() + datetime.timedelta(days=int(point))
        if self.kind == "span":
            return _span(point)
        if self.kind == "time":
            return (datetime.datetime.min + _span(point)).time()
        if self.kind == "moment":
            found = _EPOCH + _span(point)
            return found if self.aware else found.replace(tzinfo=None)
        return self.grid.label(index)

    @property
    def shown_bounds(self) -> str:
        """The first and the last grid point as text."""
        between = "/" if self.kind in ("moment", "time", "span") else ":"
        return f"{self.label(0)}{between}{self.label(len(self) - 1)}"

    @property
    def left_out(self) -> Sentences:
        """A sentence that states which values are left out."""
        if self.column in self.table.read_as:
            words = f"The texts of {self.column} are read as {_SPELLED[self.kind]}"
            said = f"{words}; missing values and other texts"
        elif self.kind in DATED:
            said = "Missing and infinite values"
        else:
            said = "Missing values, NaN, infinities and texts that are not numbers"
        return (f"{said} are left out.",)


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
    """Return the grid between public bounds; without bounds, a default grid for the column's type."""
    table = _told(table, column, bounds, step, unit)
    kind = table.ordered_kind(column)
    read = _READERS.get(kind)
    aware = _is_aware(bounds) if table.is_text else kind == "moment" and table.has_zone(column)
    axis = partial(ColumnGrid, table=table, column=column, aware=aware)
    table.require_order(column)
    if bounds is not None:
        if _said(unit) or largest is not None:
            raise ParameterError("⟨unit⟩ and ⟨largest⟩ cannot be combined with ⟨bounds⟩")
        return axis(
            grid=_numbers(table, column, bounds, step)
            if read is None
            else read.between(bounds, step)
        )
    if kind in _EVER:
        lower, upper, usual = _EVER[kind]
        assert read is not None
        if _said(unit) or largest is not None:
            raise ParameterError("⟨unit⟩ and ⟨largest⟩ are for numbers and time spans")
        if magnitudes:
            raise refuse("column", column, "one of numbers or time spans: a date has no magnitude")
        apart = step if _said(step) else usual
        said = f"No bounds were given: the grid goes from {lower} to {upper}, {apart} apart."
        return axis(
            grid=read.between((lower, upper), apart),
            rules=(f"{said} Bounds make the answer more accurate.",),
        )
    if _said(step):
        raise ParameterError("⟨step⟩ needs ⟨bounds⟩; without them ⟨unit⟩ sets the step near zero")
    if read is not None:
        unit, most = read.step(unit), Fraction(micros_in(datetime.timedelta.max), 2 * 10**6)
        if largest is not None and read.step(largest) > most:
            raise refuse("largest", largest, "at most a million years")
        largest = min(unit * LARGEST, most) if largest is None else read.step(largest)
    growing = GrowingGrid.of(unit, largest, magnitudes=magnitudes)
    made = axis(grid=growing)
    said = (
        f"the grid has steps of {made.label(growing.zero + 1)} near zero and of about a thousandth of the "
        f"value further out, up to {made.label(len(growing) - 1)}"
    )
    if magnitudes:
        return replace(made, rules=(f"The answer is a point of a growing grid: {said}.",))
    given = f"No bounds were given: {said} on both sides. Bounds make the answer more accurate."
    return replace(made, rules=(given,))


def points_between(bounds: object, step: object) -> int | None:
    """Count the points of a grid; return None if that depends on the column's type.

    Example:
        >>> points_between((0, 120), 1), points_between(("2024-01-01", "2024-01-31"), "1d")
        (121, 31)
        >>> points_between(("2024-01-01", "2024-01-31"), 1) is None  # days, or seconds?
        True
    """
    for reader in (_READERS["moment"], _READERS["time"], _READERS["span"]):
        if reader.ends(bounds) is not None and not isinstance(bounds, str):
            return None if seconds_in(step) is None else len(reader.between(bounds, step))
    return len(Grid.between(bounds, step=step))


def _numbers(table: Table, column: str, bounds: object, step: object) -> Grid:
    try:
        return Grid.between(bounds, step=step)
    except ParameterError:
        if _kind_written(bounds, step, 1) in (None, "decimal"):
            raise
    raise ParameterError(
        f"⟨bounds⟩{bounds!r} are dates or times, and the column {column!r} is {table.described(column)}"
    )


def _told(table: Table, column: str, bounds: object, step: object, unit: object) -> Table:
    """Return the table; in a text file, ``column`` is read as the type that bounds, step and unit suggest."""
    if not table.is_text or column in table.read_as or isinstance(bounds, Grid):
        return table
    kind = _kind_written(bounds, step, unit)
    return table if kind is None else replace(table, read_as={**table.read_as, column: kind})


def _kind_written(bounds: object, step: object, unit: object) -> str | None:
    """Return the kind of values that the notation of bounds, step and unit implies; None for numbers."""
    if bounds is None:
        return None if seconds_in(unit) is None else "span"
    ends = _two(bounds)
    if ends and all(isinstance(end, Decimal) for end in ends):
        return "decimal"
    kind = next((kind for kind, read in _READERS.items() if read.ends(bounds) is not None), None)
    if kind == "date":
        seconds = seconds_in(step)
        in_days = seconds is None or seconds % _DAY == 0
        return "date" if in_days and all(map(_is_plain_day, ends)) else "moment"
    return kind if kind != "span" or any(map(seconds_in, ends)) else None


def _is_plain_day(end: object) -> bool:
    if isinstance(end, str):
        return period_in(end) is not None
    return not isinstance(end, datetime.datetime)


def _is_aware(bounds: object) -> bool:
    return any(
        moment is not None and moment.tzinfo is not None for moment in map(as_moment, _two(bounds))
    )


def _said(number: object) -> bool:
    """Return whether a step or a unit differs from its default."""
    return number not in (1, "1")


def _span(seconds: Fraction) -> datetime.timedelta:
    return datetime.timedelta(microseconds=round(seconds * 10**6))


# ---- bounds and steps as people write them -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Converts bounds and steps, as written for one kind of column, to numbers of its grid."""

    one: Callable[[object], Fraction | None]
    scale: int
    example: str

    def between(self, bounds: object, step: object) -> Grid:
        """Return the grid between two public bounds."""
        ends = self.ends(bounds)
        if ends is None:
            raise refuse("bounds", bounds, f"such as {self.example}")
        lower, upper = ends
        if upper <= lower:
            raise refuse("bounds", bounds, "the lower bound and then a larger one")
        apart = self.step(step)
        if self.scale == _DAY and apart.denominator != 1:
            raise refuse("step", step, "a whole number of days")
        if ((upper - lower) / apart).denominator != 1:
            raise refuse("step", step, "such that the bounds are a whole number of steps apart")
        return Grid(lower, upper, apart)

    def ends(self, bounds: object) -> tuple[Fraction, Fraction] | None:
        """Return two bounds as numbers, or None if they are not written in this kind's notation."""
        given = _two(bounds)
        stretch = self.stretch(bounds)
        if stretch is not None:
            return stretch
        found = [number for end in given if (number := self.one(end)) is not None]
        return (found[0], found[1]) if len(found) == len(given) == 2 else None

    def stretch(self, bounds: object) -> tuple[Fraction, Fraction] | None:
        """Return the ends of a range of weeks, months or quarters; None for other bounds.

        For dates the range ends on the last day, for moments at the end of that day.
        """
        days = (
            days_of(bounds) if isinstance(bounds, str) and self.one is not second_of_day else None
        )
        if days is None or days[0] in ("day", "year") or self.one is _as_span:
            return None
        last = days[2] - 1 if self.scale == _DAY else days[2]
        size = Fraction(_DAY, self.scale)
        return days[1] * size, last * size

    def step(self, step: object) -> Fraction:
        """Convert a step to the grid's numbers: a time span, or a plain number of days or seconds."""
        seconds = seconds_in(step)
        if seconds is not None and seconds <= 0:
            raise refuse("step", step, "a time span above 0")
        return positive("step", step) if seconds is None else seconds / self.scale


def _two(bounds: object) -> Sequence[object]:
    """Return two bounds as a sequence; a text is split at its separator."""
    if isinstance(bounds, str):
        return bounds.split("/") if "/" in bounds else bounds.split(":")
    return bounds if isinstance(bounds, Sequence) else ()


def _as_span(end: object) -> Fraction | None:
    return Fraction(0) if isinstance(end, int | str) and end in (0, "0") else seconds_in(end)


def _as_day(end: object) -> Fraction | None:
    seconds = second_of(end)
    return None if seconds is None or seconds % _DAY else seconds / _DAY


_READERS = {
    "date": _Reader(_as_day, _DAY, "2020-01-01:2024-12-31, with a step such as 1d"),
    "moment": _Reader(
        second_of,
        1,
        "2020-01-01:2024-12-31 or 2020-01-01T08:00/2020-01-01T18:00, with a step such as 1min",
    ),
    "time": _Reader(second_of_day, 1, "08:00/18:00, with a step such as 15min"),
    "span": _Reader(_as_span, 1, "0s:2h, with a step such as 1min"),
}
