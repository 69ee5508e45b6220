"""A public grid without bounds to speak of: even near zero, and in proportion to the magnitude further out.

In units: every whole number up to 2048, then 1024 points in each doubling, up to a public largest magnitude,
and the same below zero. Points further out lie a thousandth apart. A value falls to the least point at or
above it; a float within 2⁻⁴⁸ of a point counts as that point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.numbers.exact import positive

_EVEN = 2048
_OCTAVE = 1024
_ABOUT_ONE = 2.0**-48
_MOST_OCTAVES = 100
LARGEST = 10**12
"""The largest magnitude, in units, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class GrowingGrid:
    """0, ±1, ..., ±2048 units and on in steps of a thousandth, up to ``largest``; or magnitudes only.

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
        """The grid with this public unit and largest magnitude."""
        size = positive("unit", unit)
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
        """The points above zero: up to the first that is at least the largest magnitude."""
        units = self.largest / self.unit
        if units <= _EVEN:
            return math.ceil(units)
        octave = math.floor(units).bit_length() - 1
        within = (units / (1 << octave) - 1) * _OCTAVE
        return _EVEN + (octave - 11) * _OCTAVE + math.ceil(within)

    def __len__(self) -> int:
        return self.zero + self._steps + 1

    @property
    def shown_bounds(self) -> str:
        """The largest magnitude on both sides."""
        top = self.label(len(self) - 1)
        return f"{0 if self.magnitudes else -top}:{top}"

    def label(self, index: int) -> int | float:
        """The grid point: a whole number, or the nearest float64."""
        point = self.point(index)
        return int(point) if point.denominator == 1 else float(point)

    def point(self, index: int) -> Fraction:
        """The grid point, exactly."""
        steps = abs(index - self.zero)
        units = Fraction(steps)
        if steps > _EVEN:
            octaves, within = divmod(steps - _EVEN, _OCTAVE)
            units = 2 ** (11 + octaves) * (1 + Fraction(within, _OCTAVE))
        return units * self.unit * (1 if index >= self.zero else -1)

    def contains(self, number: Any) -> Any:
        """Whether a float64 expression lies within the largest magnitude (never for NaN and infinities)."""
        return number.abs() <= self._top

    def clamped(self, number: Any) -> Any:
        """A finite float64 expression, moved to the largest magnitude where it lies outside."""
        return number.clip(-self._top, self._top)

    @property
    def _top(self) -> float:
        return float(abs(self.label(len(self) - 1)))

    def index_above(self, number: Any) -> Any:
        """The index of the least grid point that is at least ``number``, as a float64 expression.

        Rounding may move a value by a step where two points are closer than floats tell apart; a person has
        one index all the same, and that is all that privacy rests on.
        """
        import narwhals as nw

        part, whole = float(self.unit.denominator), float(self.unit.numerator)
        size = number.abs() * part / whole
        up = self._up(size * (1.0 - _ABOUT_ONE), round_up=True)
        if self.magnitudes:
            return up
        down = self._up(size * (1.0 + _ABOUT_ONE), round_up=False)
        limit = float(self._steps)
        index = nw.when(number > 0.0).then(up).otherwise(-1.0 * down)
        return index.clip(-limit, limit) + limit

    def _up(self, size: Any, *, round_up: bool) -> Any:
        """How many steps from zero to a magnitude in units, rounded up or down to a whole number."""
        import narwhals as nw

        # A magnitude at an end of an octave has the same number of steps in both, so a guess will do.
        octave = nw.max_horizontal(size, nw.lit(float(_EVEN))).log(2.0).floor()
        steps = (
            (size / 2.0**octave - 1.0) * float(_OCTAVE) + (octave - 11.0) * float(_OCTAVE) + _EVEN
        )
        steps = nw.when(size <= float(_EVEN)).then(size).otherwise(steps)
        found = steps.ceil() if round_up else steps.floor()
        return found.clip(0.0, float(self._steps))
