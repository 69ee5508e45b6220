"""A public grid without bounds to speak of: even near zero, and in proportion to the magnitude further out.

In units: every whole number up to 2048, then 1024 points in each doubling, up to a public largest magnitude,
and the same below zero. Points further out lie a thousandth apart. A value falls to the least point at or
above it; whoever is within 2⁻²⁴ of a step of a point counts as being there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import positive
from discreet.errors import ParameterError

_EVEN = 2048
_OCTAVE = 1024
_LEFT_OUT = float(12 * _OCTAVE - _EVEN)
_ABOUT = 2.0**-24  # of a step: whoever is so near a point is at it
_MOST_OCTAVES = 100
_DIGIT_BITS = 20
_DIGIT = 2.0**_DIGIT_BITS  # 2³³ whole numbers below this have an exact sum in float64, in any order
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
        size = nw.col("value").abs() * part / whole
        return self._indexed(frame.with_columns(size.alias("size")), lambda x: (x - _ABOUT).ceil())

    def _indexed(self, frame: Any, rounded: Callable[[Any], Any]) -> Any:
        """The column ``index``, of a magnitude of ``size`` units with the sign of ``value``."""
        import narwhals as nw

        value, size, octave = nw.col("value"), nw.col("size"), nw.col("octave")
        outer = nw.when(size > float(_EVEN)).then(size).otherwise(nw.lit(float(_EVEN)))
        frame = frame.with_columns(outer.alias("octave"))
        # At an end of an octave a magnitude has the same number of steps in both, so a guess will do.
        frame = frame.with_columns(octave.log(2.0).floor().alias("octave"))
        steps = size * float(_OCTAVE) / 2.0**octave + octave * float(_OCTAVE) - _LEFT_OUT
        steps = nw.when(size <= float(_EVEN)).then(size).otherwise(steps)
        if not self.magnitudes:
            steps = steps * nw.when(value > 0.0).then(nw.lit(1.0)).otherwise(nw.lit(-1.0))
        frame = frame.with_columns(rounded(steps).alias("index"))
        index = nw.col("index").clip(
            0.0 if self.magnitudes else -float(self._steps), float(self._steps)
        )
        return frame.with_columns((index + float(self.zero)).alias("index"))

    def with_mean(self, frame: Any, *kept: str) -> Any:
        """A frame with the column ``index`` for each of ``kept``: the point nearest to the mean of theirs.

        Theirs are at the indices ``value``. Each is a whole number of units, and these are added up digit by
        digit: exactly, so that no order of rows matters.
        """
        import narwhals as nw

        steps, size, octave = nw.col("steps"), nw.col("size"), nw.col("octave")
        steps_from_zero = nw.col("value").cast(nw.Float64) - float(self.zero)
        frame = frame.with_columns(steps_from_zero.alias("steps"))
        past = ((steps.abs() - float(_EVEN)) / float(_OCTAVE)).floor()
        frame = frame.with_columns(steps.abs().alias("size"), past.alias("octave"))
        outer = (size - float(_EVEN) + float(_OCTAVE) * (1.0 - octave)) * 2.0 * 2.0**octave
        units = nw.when(size > float(_EVEN)).then(outer).otherwise(size)
        sign = nw.when(steps < 0.0).then(nw.lit(-1.0)).otherwise(nw.lit(1.0))
        frame = frame.with_columns(units.alias("size"), sign.alias("steps"))
        largest = int(self.point(len(self) - 1) / self.unit)
        digits = [f"digit_{place}" for place in range(-(-largest.bit_length() // _DIGIT_BITS))]
        for digit in digits:
            left = (size / _DIGIT).floor()
            frame = frame.with_columns(
                ((size - left * _DIGIT) * steps).alias(digit), left.alias("size")
            )
        sums = (nw.col(digit).sum().alias(digit) for digit in digits)
        frame = frame.group_by(*kept).agg(*sums, nw.len().alias("rows"))
        total = sum(nw.col(digit) * _DIGIT**place for place, digit in enumerate(digits))
        mean = total / nw.col("rows").cast(nw.Float64)
        frame = frame.with_columns(mean.alias("value"), mean.abs().alias("size"))
        return self._indexed(frame, lambda x: (x + 0.5).floor())
