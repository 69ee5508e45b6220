"""A public grid without bounds to speak of: even near zero, and in proportion to the magnitude further out.

In units: every whole number up to 2048, then 1024 points in each doubling, up to a public largest magnitude,
and the same below zero. Points further out lie a thousandth apart. A value falls to the least point at or
above it; whoever is within 2⁻²⁴ of a step of a point counts as being there.
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
_LEFT_OUT = float(12 * _OCTAVE - _EVEN)
_ABOUT = 2.0**-24  # of a step: whoever is so near a point is at it
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

    def with_index(self, frame: Any) -> Any:
        """A lazy frame with the column ``index``: that of the least grid point that is at least ``value``.

        Rounding may move a value by a step where two points are closer than floats tell apart; a person has
        one index all the same, and that is all that privacy rests on. One column after the other, since an
        engine computes an expression as often as it is written.
        """
        import narwhals as nw

        part, whole = float(self.unit.denominator), float(self.unit.numerator)
        value, size, octave = nw.col("value"), nw.col("size"), nw.col("octave")
        frame = frame.with_columns((value.abs() * part / whole).alias("size"))
        outer = nw.when(size > float(_EVEN)).then(size).otherwise(nw.lit(float(_EVEN)))
        frame = frame.with_columns(outer.alias("octave"))
        # At an end of an octave a magnitude has the same number of steps in both, so a guess will do.
        frame = frame.with_columns(octave.log(2.0).floor().alias("octave"))
        steps = size * float(_OCTAVE) / 2.0**octave + octave * float(_OCTAVE) - _LEFT_OUT
        steps = nw.when(size <= float(_EVEN)).then(size).otherwise(steps)
        if not self.magnitudes:
            steps = steps * nw.when(value > 0.0).then(nw.lit(1.0)).otherwise(nw.lit(-1.0))
        frame = frame.with_columns((steps - _ABOUT).ceil().alias("index"))
        index = nw.col("index").clip(
            0.0 if self.magnitudes else -float(self._steps), float(self._steps)
        )
        return frame.with_columns((index + float(self.zero)).alias("index"))
