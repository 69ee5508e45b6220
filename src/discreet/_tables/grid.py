"""A public grid of numbers, and exact binning of a column against it in any engine.

A column of numbers is read as float64, and a grid point g_i = lower + i·step is compared as the float64
nearest to it, so a value of 0.3 in a column equals the grid point 0.3. The grid has integers A, B, D with
g_i = (A + iB)/D and no magnitude above 2⁵⁰, so one correctly rounded division gives that float64, the same in
every engine. ``docs/proofs/question-sensitivities.md`` proves that the index found is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet._exact.numbers.exact import non_negative, positive, refuse
from discreet._tables.engines import Engine
from discreet._tables.query import Query
from discreet.errors import ParameterError

_LARGEST = 1 << 50
LARGEST_GRID = 20_000_000
"""The most grid points; more would not fit in memory comfortably."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The numbers lower, lower + step, ..., upper: public candidates for a numeric question.

    Example:
        >>> grid = Grid.between("0:1", step="0.25")
        >>> len(grid), grid.label(0), grid.label(1)
        (5, 0, 0.25)
    """

    lower: Fraction
    upper: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _signed(name, getattr(self, name)))
        object.__setattr__(self, "step", positive("step", self.step))
        if self.upper <= self.lower:
            raise ParameterError(
                f"⟨bounds⟩{self.shown_bounds} is not allowed: the lower bound must be "
                "below the upper one"
            )
        steps = (self.upper - self.lower) / self.step
        if steps.denominator != 1:
            raise ParameterError(
                f"⟨step⟩{_shown(self.step)} is not allowed: the bounds must be a whole number of steps apart"
            )
        if steps >= LARGEST_GRID:
            raise ParameterError(
                f"⟨step⟩{_shown(self.step)} is not allowed: it gives more than {LARGEST_GRID:,} grid points; "
                "take a larger step"
            )
        start, stride, denominator = self.integers
        if max(abs(start), abs(start + int(steps) * stride), denominator) > _LARGEST:
            raise ParameterError(
                "the bounds and the step need more digits than float64 can compare: take rounder numbers"
            )

    @staticmethod
    def between(bounds: object, *, step: object = 1) -> Grid:
        """Return the grid between two public bounds, ``(lower, upper)`` or ``"lower:upper"``."""
        if isinstance(bounds, Grid):
            if step not in (1, bounds.step):
                raise refuse("step", step, "left out with a grid, which has its own")
            return bounds
        if isinstance(bounds, str):
            ends: Sequence[object] = bounds.split(":")
        elif isinstance(bounds, Sequence):
            ends = bounds
        else:
            ends = ()
        wrong = refuse(
            "bounds", bounds, "two finite public numbers, (lower, upper) or 'lower:upper'"
        )
        if len(ends) != 2:
            raise wrong
        try:
            lower, upper = (_signed("bounds", end) for end in ends)
        except ParameterError:
            raise wrong from None
        return Grid(lower, upper, positive("step", step))

    @property
    def integers(self) -> tuple[int, int, int]:
        """Return integers A, B, D such that the grid point with index i is (A + iB)/D."""
        denominator = math.lcm(self.lower.denominator, self.step.denominator)
        return int(self.lower * denominator), int(self.step * denominator), denominator

    def __len__(self) -> int:
        return int((self.upper - self.lower) / self.step) + 1

    @property
    def shown_bounds(self) -> str:
        """Return the bounds as text, such as ``0:120``."""
        return f"{_shown(self.lower)}:{_shown(self.upper)}"

    def label(self, index: int) -> int | float:
        """Return the grid point at an index: as an int if it is whole, else as the nearest float64."""
        point = self.point(index)
        return int(point) if point.denominator == 1 else float(point)

    def point(self, index: int) -> Fraction:
        """Return the exact grid point at an index."""
        return self.lower + index * self.step

    def contains(self, engine: Engine) -> str:
        """Return the SQL condition that the column ``value`` lies within the bounds."""
        return f"value >= {engine.real(float(self.lower))} AND value <= {engine.real(float(self.upper))}"

    def clamped(self, engine: Engine) -> str:
        """Return SQL that moves the column ``value`` to the nearer bound if it lies outside."""
        return clipped(engine, "value", float(self.lower), float(self.upper))

    def with_index(self, query: Query, engine: Engine) -> Query:
        """Add the column ``place`` to the query: the index of the least grid point not below ``value``."""
        return self._with_place(query, engine, "value > {}", 0)

    def with_index_below(self, query: Query, engine: Engine) -> Query:
        """Add the column ``place`` to the query: the index of the largest grid point not above ``value``."""
        return self._with_place(query, engine, "value >= {}", -1)

    def with_mean(self, query: Query, engine: Engine, *kept: str) -> Query:
        """Group the query by ``kept`` and add ``place``, the mean of the indices in column ``value``.

        The mean is rounded to the nearest whole number, halves up: floor((2·sum + rows)/(2·rows)).
        """
        query = query.grouped(*kept, total="sum(value)", number="count(*)")
        total, number = (f"CAST({name} AS {engine.double})" for name in ("total", "number"))
        return query.set({"place": f"floor((2 * {total} + {number}) / (2 * {number}))"})

    def _with_place(self, query: Query, engine: Engine, passed: str, more: int) -> Query:
        """Add ``place``: a guessed index, plus one for each of the next three points that a value passes.

        ``passed`` is the SQL test for a point, with {} in place of the point; ``more`` is added to the index.
        """
        start, stride, denominator = (engine.real(number) for number in self.integers)
        guess = f"floor((value * {denominator} - {start}) / {stride}) - {engine.real(1)}"
        query = query.set({"guess": f"CAST({guess} AS {engine.double})"})
        # The float64 nearest to a grid point: one exact sum and one correctly rounded division.
        points = (
            f"((guess + {engine.real(step)}) * {stride} + {start}) / {denominator}"
            for step in (0, 1, 2)
        )
        ones = " + ".join(f"CASE WHEN {passed.format(point)} THEN 1 ELSE 0 END" for point in points)
        return query.set({"place": f"guess + ({ones} + {more})"})


def clipped(engine: Engine, number: str, least: float, most: float) -> str:
    """Return SQL that moves a float64 expression to the nearer of two bounds if it lies outside."""
    below, above = engine.real(least), engine.real(most)
    return f"CASE WHEN {number} < {below} THEN {below} WHEN {number} > {above} THEN {above} ELSE {number} END"


def _signed(name: str, value: object) -> Fraction:
    """Return a finite number of either sign as an exact fraction; a float stands for its shortest decimal."""
    if isinstance(value, str):
        text = value.strip()
        return -non_negative(name, text[1:]) if text.startswith("-") else non_negative(name, text)
    if isinstance(value, bool):
        raise refuse(name, value, "a finite number")
    try:
        negative = value < 0  # type: ignore[operator]  # anything that cannot be compared is refused
        return -non_negative(name, -value) if negative else non_negative(name, value)  # type: ignore[operator]  # as above
    except (TypeError, ArithmeticError):  # comparing a decimal NaN raises an ArithmeticError
        raise refuse(name, value, "a finite number") from None


def _shown(number: Fraction) -> str:
    return str(number if number.denominator == 1 else float(number))
