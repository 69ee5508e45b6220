"""A public grid with practically no bounds: the steps are equal near zero and grow further out.

Measured in units, the points are every whole number up to 2048, then 1024 points in each doubling, up to a
public largest magnitude, and the same points below zero. Beyond 2048, neighbouring points differ by at most a
thousandth of their magnitude. A value belongs to the least point at or above it, but a value that is above a
point by at most 2⁻²⁴ of a step counts as that point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet._exact.numbers.exact import positive, refuse
from discreet._tables.engines import Engine
from discreet._tables.grid import clipped
from discreet._tables.query import Query
from discreet.errors import ParameterError

_EVEN = 2048
_OCTAVE = 1024
_LEFT_OUT = float(12 * _OCTAVE - _EVEN)
_ABOUT = 2.0**-24  # of a step: a value this close to a point counts as that point
_MOST_OCTAVES = 100
_LEAST_UNIT = Fraction(1, 10**100)  # so that all points, and their quotients, fit in float64
_DIGIT_BITS = 20
_DIGIT = 2.0**_DIGIT_BITS  # 2³³ whole numbers below this have an exact sum in float64, in any order
LARGEST = 10**12
"""The default largest magnitude, in units."""


@dataclass(frozen=True, slots=True)
class GrowingGrid:
    """A grid of 0, ±1, ..., ±2048 units, then steps of at most 0.1 % to ±``largest``; or only its points ≥ 0.

    Example:
        >>> grid = GrowingGrid(unit=Fraction(1), largest=Fraction(10**6))
        >>> [grid.label(grid.zero + steps) for steps in (-1, 0, 2048, 2049, 3072)]
        [-1, 0, 2048, 2050, 4096]
    """

    unit: Fraction
    largest: Fraction
    magnitudes: bool = False

    @staticmethod
    def of(unit: object, largest: object, *, magnitudes: bool = False) -> GrowingGrid:
        """Return the grid with this public unit and largest magnitude."""
        size = positive("unit", unit)
        if not _LEAST_UNIT <= size <= 1 / _LEAST_UNIT:
            raise refuse("unit", unit, "from 1e-100 to 1e100")
        most = size * LARGEST if largest is None else positive("largest", largest)
        if most < size or most > size * 2**_MOST_OCTAVES:
            raise ParameterError(
                f"⟨largest⟩{largest!r} is not allowed: it must be from one unit to 2^{_MOST_OCTAVES} of them"
            )
        return GrowingGrid(size, most, magnitudes)

    @property
    def zero(self) -> int:
        """The index of zero."""
        return 0 if self.magnitudes else self._steps

    @property
    def _steps(self) -> int:
        """The number of points above zero, up to the first point that is at least ``largest``."""
        units = self.largest / self.unit
        if units <= _EVEN:
            return math.ceil(units)
        octave = math.floor(units).bit_length() - 1
        within = (units / (1 << octave) - 1) * _OCTAVE
        return _EVEN + (octave - 11) * _OCTAVE + math.ceil(within)

    def __len__(self) -> int:
        return self.zero + self._steps + 1

    def label(self, index: int) -> int | float:
        """Return the grid point at an index: as an int if it is whole, else as the nearest float64."""
        point = self.point(index)
        return int(point) if point.denominator == 1 else float(point)

    def point(self, index: int) -> Fraction:
        """Return the exact grid point at an index."""
        steps = abs(index - self.zero)
        units = Fraction(steps)
        if steps > _EVEN:
            octaves, within = divmod(steps - _EVEN, _OCTAVE)
            units = 2 ** (11 + octaves) * (1 + Fraction(within, _OCTAVE))
        return units * self.unit * (1 if index >= self.zero else -1)

    def contains(self, engine: Engine) -> str:
        """Return the SQL condition that ``value`` is within the largest magnitude (not NaN or infinite)."""
        return f"abs(value) <= {engine.real(self._top)}"

    def clamped(self, engine: Engine) -> str:
        """Return SQL that moves the column ``value`` to ± the largest magnitude if it lies outside."""
        return clipped(engine, "value", -self._top, self._top)

    @property
    def _top(self) -> float:
        return float(abs(self.label(len(self) - 1)))

    def with_index(self, query: Query, engine: Engine) -> Query:
        """Add the column ``place`` to the query: the index of the least grid point not below ``value``.

        Rounding may move a value by a step if two points are closer than floats can distinguish; a
        person still has one index, and privacy rests only on that. Each new column is a separate step of the
        query, because an engine evaluates an expression as often as it is written.
        """
        part, whole = engine.real(self.unit.denominator), engine.real(self.unit.numerator)
        query = query.set({"size": f"abs(value) * {part} / {whole}"})
        return self._placed(query, engine, f"ceil({{}} - {engine.real(_ABOUT)})")

    def _placed(self, query: Query, engine: Engine, rounded: str) -> Query:
        """Add ``place``: the index of the point ``size`` units from zero, below zero if ``value`` is.

        A grid of magnitudes has no points below zero and ignores the sign. ``rounded`` is the SQL that rounds
        a number of steps, with a placeholder ({}) for the number.
        """
        even, octaves = engine.real(_EVEN), engine.real(_OCTAVE)
        outer = f"CASE WHEN size > {even} THEN size ELSE {even} END"
        # Where two octaves meet, both give the same number of steps, so an estimated octave is enough.
        query = query.set(
            {"octave": f"CAST(floor(ln({outer}) / ln({engine.real(2)})) AS {engine.double})"}
        )
        power = f"power({engine.real(2)}, octave)"
        steps = f"size * {octaves} / {power} + octave * {octaves} - {engine.real(_LEFT_OUT)}"
        steps = f"CASE WHEN size <= {even} THEN size ELSE {steps} END"
        if not self.magnitudes:
            steps = f"({steps}) * CASE WHEN value > 0 THEN 1 ELSE -1 END"
        query = query.set({"place": f"CAST({rounded.format(steps)} AS {engine.double})"})
        least = 0.0 if self.magnitudes else -float(self._steps)
        place = clipped(engine, "place", least, float(self._steps))
        return query.set({"place": f"{place} + {engine.real(self.zero)}"})

    def with_mean(self, query: Query, engine: Engine, *kept: str) -> Query:
        """Group the query by ``kept`` and add ``place``, the index of the point nearest to each group's mean.

        The mean is that of the points whose indices are in the column ``value``. Each point is a whole number
        of units, and these numbers are added exactly, digit by digit, so that row order does not matter.
        """
        even, octaves, two, one = map(engine.real, (_EVEN, _OCTAVE, 2, 1))
        query = query.set({"steps": f"CAST(value AS {engine.double}) - {engine.real(self.zero)}"})
        past = f"CAST(floor((abs(steps) - {even}) / {octaves}) AS {engine.double})"
        query = query.set({"size": "abs(steps)", "octave": past})
        outer = f"(size - {even} + {octaves} * ({one} - octave)) * {two} * power({two}, octave)"
        units = f"CASE WHEN size > {even} THEN {outer} ELSE size END"
        sign = f"CASE WHEN steps < 0 THEN -{one} ELSE {one} END"
        query = query.set({"size": units, "steps": sign})
        largest = int(self.point(len(self) - 1) / self.unit)
        digits = [f"digit_{place}" for place in range(-(-largest.bit_length() // _DIGIT_BITS))]
        digit_size = engine.real(_DIGIT)
        for digit in digits:
            left = engine.whole_part(f"size / {digit_size}")
            query = query.set({digit: f"(size - ({left}) * {digit_size}) * steps", "size": left})
        sums = {digit: f"sum({digit})" for digit in digits}
        query = query.grouped(*kept, **sums, number="count(*)")
        total = " + ".join(
            f"{digit} * {engine.real(_DIGIT**place)}" for place, digit in enumerate(digits)
        )
        query = query.set({"value": f"({total}) / CAST(number AS {engine.double})"})
        return self._placed(
            query.set({"size": "abs(value)"}), engine, f"floor({{}} + {engine.real(0.5)})"
        )
