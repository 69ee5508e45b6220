"""Arithmetic for the gap between two scores, with one class for each kind of number.

A gap is γ = (q* − q)/s with an exact rational scale s, or γ = (q − q*)/s if the least score is best. The
samplers rely on these bounds for four of the operations (docs/proofs/sampling.md):

* ``gammas``: float64 within 2⁻⁵¹·γ + 2⁻⁹⁰ of γ, clipped at ``FARTHEST_GAP`` (lemma 4);
* ``within``: whether γ is at most a bound, correct if they differ by more than 2⁻⁴⁸ of the bound (lemma 4);
* ``pairs``: two float64 numbers whose sum is within about 2⁻¹⁰⁰·γ of γ, clipped at ``PAIR_LIMIT``;
* ``threshold``: a number t of the scores' own type such that every score worse than t has
  exp(−γ) < 2^−level (lemma 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError

Values: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Scalar: TypeAlias = Any

FARTHEST_GAP = 600.0
"""Larger gaps are clipped to this; exp(−600) is below 2⁻⁸⁶⁵."""

STEADY_LIMIT = 150.0
"""The steady sampler's limit for gaps: exp(−150) is below 2⁻²¹⁶, and later steps stay in the normal range.
"""

_STEADY_LEAST = 2.0**-100

PAIR_LIMIT = 2.0**900
"""Larger pairs are clipped to this."""

# The least float64 above ln 2.
_LN2_ABOVE = Fraction(0x162E42FEFA39F0, 1 << 53)
_WIDEN = 1 + 2.0**-48
_SPLIT = 2.0**27 + 1
# If the magnitude of the best score is at most this, its difference from any float64 is finite.
_NO_OVERFLOW = 2.0**960


class Arithmetic(Protocol):
    """Compute gaps for one type of score and one scale, to the largest or to the least score."""

    def gammas(self, values: Values, best: Scalar) -> Floats:
        """Return γ as float64, in a new array."""
        ...

    def steady_gammas(self, values: Values, best: Scalar) -> Floats:
        """Return γ clipped to [2⁻¹⁰⁰, ``STEADY_LIMIT``], by the same operations whatever the scores are."""
        ...

    def gamma(self, value: Scalar, best: Scalar) -> float:
        """Return γ of one score, given as a Python number, exactly as ``gammas`` computes it."""
        ...

    def within(self, values: Values, best: Scalar, bounds: Floats, places: NDArray[Any]) -> Flags:
        """Return whether γ of score i is at most ``bounds[places[i]]``, for every i."""
        ...

    def pairs(self, values: Values, best: Scalar) -> tuple[Floats, Floats]:
        """Return two float64 arrays, a high and a low part, that add up to γ."""
        ...

    def threshold(self, best: Scalar, level: int) -> Scalar:
        """Return a number t such that every score worse than t has exp(−γ) < 2^−level."""
        ...


@lru_cache(maxsize=64)
def arithmetic_for(
    dtype: np.dtype[Any], numerator: int, denominator: int, largest_is_best: bool
) -> Arithmetic:
    """Return the arithmetic for this type of score; the scale is given as two integers, which hash fast."""
    scale = Fraction(numerator, denominator)
    if dtype.kind == "f":
        return FloatArithmetic(dtype, scale, largest_is_best)
    if dtype.kind in "iu":
        return IntegerArithmetic(dtype, scale, largest_is_best)
    return ExactArithmetic(scale, largest_is_best)


def _power_near(scale: Fraction) -> int:
    """Return an exponent e such that scale/2ᵉ is strictly between 1/2 and 2."""
    return scale.numerator.bit_length() - scale.denominator.bit_length()


def _inverse(scale: Fraction, power: int) -> float:
    """Return 2^power/scale, correctly rounded, because Python rounds quotients of integers correctly."""
    return (scale.denominator << max(power, 0)) / (scale.numerator << max(-power, 0))


class _Quotient:
    """Division of pairs of floats by a scale, with cached constants for Dekker's product."""

    __slots__ = ("_bottom", "_lead", "_power", "_rest", "_shift", "_top")

    def __init__(self, scale: Fraction, shift: int) -> None:
        power = _power_near(scale)
        self._lead = lead = _inverse(scale, power)
        self._rest = float(Fraction(2) ** power / scale - Fraction(lead))
        wide = lead * _SPLIT
        self._top = wide - (wide - lead)
        self._bottom = lead - self._top
        self._shift = shift
        self._power = math.ldexp(1.0, shift) if abs(shift) <= 1000 else None

    def __call__(self, high: Floats, low: Floats) -> tuple[Floats, Floats]:
        """Return (high + low)·2^shift·2ᵉ/scale as a pair, for 2ᵉ near the scale; overwrite the inputs."""
        if self._power is None:
            np.ldexp(high, self._shift, out=high)
            np.ldexp(low, self._shift, out=low)
        elif self._power != 1.0:
            # Gives the same numbers as ldexp, several times faster.
            high *= self._power
            low *= self._power
        if not high.max() <= PAIR_LIMIT:
            np.copyto(low, 0.0, where=~(high <= PAIR_LIMIT))
            np.minimum(high, PAIR_LIMIT, out=high)
        if self._lead == 1.0 and not self._rest:
            return high, low  # the scale is a power of two
        # Dekker's product, without fused multiply-add.
        product = high * self._lead
        top = high * _SPLIT
        bottom = top - high
        top -= bottom
        np.subtract(high, top, out=bottom)
        error = top * self._top
        error -= product
        top *= self._bottom
        error += top
        np.multiply(bottom, self._top, out=top)
        error += top
        bottom *= self._bottom
        error += bottom
        high *= self._rest
        low *= self._lead
        high += low
        error += high
        total = np.add(product, error, out=top)
        np.subtract(total, product, out=product)
        error -= product
        return total, error


class FloatArithmetic:
    """Arithmetic for scores of type float16, float32 or float64."""

    __slots__ = (
        "_before",
        "_direction",
        "_double",
        "_dtype",
        "_factor",
        "_lift",
        "_limit",
        "_quotient",
        "_reach",
        "_scale",
        "_shift",
        "_signed",
        "_unit",
    )

    def __init__(self, dtype: np.dtype[Any], scale: Fraction, largest_is_best: bool) -> None:
        self._dtype = dtype
        self._double = dtype == np.float64
        self._scale = scale
        self._direction = 1.0 if largest_is_best else -1.0
        power = _power_near(scale)
        # Scores are divided by 16 first, so the difference of two finite scores is finite.
        down = 4 if power > -500 else 0
        self._signed = self._direction * 2.0**-down
        self._shift = down - power
        self._quotient: _Quotient | None = None
        # Powers of two that keep every step inside float64's range: ``before`` is applied before the
        # subtraction for huge scales, ``lift`` after it for tiny ones.
        self._before = 2.0**-200 if power > 900 else 1.0
        self._lift = 2.0**200 if power < -900 else 1.0
        shift = -200 if power > 900 else 200 if power < -900 else 0
        inverse = _inverse(scale, power)
        self._factor = math.ldexp(inverse, -min(max(power, -1100), 1120) - shift)
        self._unit = 1.0 / self._factor
        self._limit = FARTHEST_GAP / self._factor
        self._reach: float | None = None
        if -900 <= power <= 900:
            self._reach = float(_LN2_ABOVE) * (scale.numerator / scale.denominator) * _WIDEN

    def gammas(self, values: Values, best: float) -> Floats:
        """Return γ as float64, in a new array."""
        if not self._double:
            values = values.astype(np.float64)
        if self._reach is None or abs(best) > _NO_OVERFLOW:
            return self._careful_gammas(values, best)
        gaps: Floats = best - values if self._direction > 0 else values - best
        return self.from_differences(gaps)

    @property
    def ordinary(self) -> bool:
        """Return whether the scale is far from the ends of float64's range."""
        return self._reach is not None

    def cannot_overflow(self, best: float) -> bool:
        """Return whether the difference between this best score and any float64 is finite."""
        return abs(best) <= _NO_OVERFLOW

    def from_differences(self, differences: Floats) -> Floats:
        """Convert differences from the best score to γ, at an ordinary scale; overwrite ``differences``."""
        # Clip before multiplying, so nothing can overflow.
        np.minimum(differences, self._limit, out=differences)
        differences *= self._factor
        return differences

    def as_differences(self, bounds: Floats) -> Floats:
        """Convert bounds on γ to bounds on differences."""
        return bounds * self._unit

    def steady_gammas(self, values: Values, best: float) -> Floats:
        """Return clipped γ, by operations that depend only on the type and the scale.

        Differences are clipped on both sides before they are multiplied, because products with subnormal
        numbers take longer.
        """
        with np.errstate(all="ignore"):
            wide = values.astype(np.float64, copy=False)
            if self._before != 1.0:
                wide, best = wide * self._before, best * self._before
            gaps: Floats = best - wide if self._direction > 0 else wide - best
            if self._lift != 1.0:
                gaps *= self._lift
            np.minimum(gaps, STEADY_LIMIT * self._unit, out=gaps)
            np.maximum(gaps, _STEADY_LEAST * self._unit, out=gaps)
            gaps *= self._factor
            return gaps

    def gamma(self, value: float, best: float) -> float:
        """Return γ of one score."""
        if self._reach is None or abs(best) > _NO_OVERFLOW:
            return float(self._careful_gammas(np.array([value]), best)[0])
        gap = best - value if self._direction > 0 else value - best
        return min(gap, self._limit) * self._factor

    def within(self, values: Values, best: float, bounds: Floats, places: NDArray[Any]) -> Flags:
        """Return whether γ of score i is at most ``bounds[places[i]]``, for every i."""
        if not self._double or self._reach is None or abs(best) > _NO_OVERFLOW:
            return self.gammas(values, best) <= bounds.take(places)
        gaps = best - values if self._direction > 0 else values - best
        flags: Flags = gaps <= self.as_differences(bounds).take(places, mode="wrap")
        return flags

    def _careful_gammas(self, values: Values, best: float) -> Floats:
        """Return γ for a scale or a best score near the ends of float64's range."""
        with np.errstate(all="ignore"):
            gaps: Floats = (best * self._before - values * self._before) * self._direction
            gaps *= self._lift
            np.minimum(gaps, self._limit, out=gaps)
            gaps *= self._factor
            return gaps

    def pairs(self, values: Values, best: float) -> tuple[Floats, Floats]:
        """Return two float64 arrays, a high and a low part, that add up to γ."""
        # Knuth's sum: high + low equals one − other exactly, unless high overflows.
        one = best * self._signed
        other = values.astype(np.float64, copy=False) * self._signed
        high: Floats = one - other
        virtual = high - one
        other += virtual
        np.subtract(high, virtual, out=virtual)
        low: Floats = np.subtract(one, virtual, out=virtual)
        low -= other
        self._quotient = self._quotient or _Quotient(self._scale, self._shift)
        return self._quotient(high, low)

    def threshold(self, best: float, level: int) -> float:
        """Return a float t of the scores' type such that every score worse than t has exp(−γ) < 2^−level."""
        direction = -self._direction
        if self._reach is not None:
            bound = best + direction * (level * self._reach)
        else:
            exact = Fraction(best) + int(direction) * level * _LN2_ABOVE * self._scale
            try:
                bound = float(exact)
            except OverflowError:
                bound = math.inf if exact > 0 else -math.inf
        return self._in_type(math.nextafter(bound, direction * math.inf))

    def _in_type(self, bound: float) -> float:
        """Round ``bound`` to the scores' type, towards worse scores, and clip it to the finite numbers."""
        if not self._double:
            with np.errstate(all="ignore"):
                rounded = self._dtype.type(bound)
                if (float(rounded) - bound) * self._direction > 0:
                    worst = math.copysign(math.inf, -self._direction)
                    rounded = np.nextafter(rounded, self._dtype.type(worst))
                bound = float(rounded)
        if math.isinf(bound):
            return math.copysign(float(np.finfo(self._dtype).max), bound)
        return bound


class IntegerArithmetic:
    """Arithmetic for scores of any native integer type; differences are computed without loss."""

    __slots__ = (
        "_dtype",
        "_factor",
        "_largest_is_best",
        "_limits",
        "_quotient",
        "_reach",
        "_scale",
        "_shift",
        "_unit",
        "_wide",
    )

    def __init__(self, dtype: np.dtype[Any], scale: Fraction, largest_is_best: bool) -> None:
        self._dtype = dtype
        self._scale = scale
        self._largest_is_best = largest_is_best
        self._wide = dtype.itemsize == 8
        power = _power_near(scale)
        self._shift = -power
        # The most recently used bounds, and the same bounds as integer limits.
        self._limits: tuple[Floats, NDArray[np.uint64]] = np.empty(0), np.empty(0, np.uint64)
        self._quotient: _Quotient | None = None
        self._factor = math.ldexp(_inverse(scale, power), -min(max(power, -900), 1000))
        self._unit = 1.0 / self._factor
        self._reach = (
            _LN2_ABOVE.numerator * scale.numerator,
            _LN2_ABOVE.denominator * scale.denominator,
        )

    def gammas(self, values: Values, best: int) -> Floats:
        """Return γ as float64, in a new array."""
        gaps: Floats
        if self._wide:
            gaps = self._differences(values, best).astype(np.float64)
        else:
            gaps = values.astype(np.float64)
            gaps = np.subtract(float(best), gaps, out=gaps)
            if not self._largest_is_best:
                np.negative(gaps, out=gaps)
        gaps *= self._factor
        np.minimum(gaps, FARTHEST_GAP, out=gaps)
        return gaps

    def steady_gammas(self, values: Values, best: int) -> Floats:
        """Return γ clipped to [2⁻¹⁰⁰, ``STEADY_LIMIT``], by operations that do not depend on the scores."""
        gaps = self.gammas(values, best)
        np.minimum(gaps, STEADY_LIMIT, out=gaps)
        return np.maximum(gaps, _STEADY_LEAST, out=gaps)

    def gamma(self, value: int, best: int) -> float:
        """Return γ of one score."""
        gap = best - value if self._largest_is_best else value - best
        return min(float(gap) * self._factor, FARTHEST_GAP)

    def within(self, values: Values, best: int, bounds: Floats, places: NDArray[Any]) -> Flags:
        """Return whether γ of score i is at most ``bounds[places[i]]``, for every i."""
        if not self._wide:
            return self.gammas(values, best) <= bounds.take(places)
        # Integer limits, rounded down, give the same answers without converting every difference to float.
        known, limits = self._limits
        if known is not bounds:
            wide = bounds * self._unit
            limits = np.full(len(bounds), np.iinfo(np.uint64).max)
            np.copyto(limits, wide, where=wide < 2.0**64, casting="unsafe")
            if not bounds.flags.writeable:
                self._limits = bounds, limits
        flags: Flags = self._differences(values, best) <= limits.take(places, mode="wrap")
        return flags

    def _differences(self, values: Values, best: int) -> NDArray[np.uint64]:
        # Modulo 2⁶⁴, a non-negative difference of two 64-bit integers is exact, whether signed or unsigned.
        unsigned = values.view(np.uint64)
        top = np.uint64(best & (2**64 - 1))
        return top - unsigned if self._largest_is_best else unsigned - top

    def pairs(self, values: Values, best: int) -> tuple[Floats, Floats]:
        """Return two float64 arrays, a high and a low part, that add up to γ."""
        wide = values if self._wide else values.astype(np.int64)
        differences = self._differences(wide, best)
        upper = (differences & np.uint64(0xFFFFFFFF00000000)).astype(np.float64)
        lower = (differences & np.uint64(0xFFFFFFFF)).astype(np.float64)
        high = upper + lower
        np.subtract(high, upper, out=upper)
        lower -= upper
        self._quotient = self._quotient or _Quotient(self._scale, self._shift)
        return self._quotient(high, lower)

    def threshold(self, best: int, level: int) -> int:
        """Return an int t in the scores' type such that every score worse than t has exp(−γ) < 2^−level."""
        numerator, denominator = self._reach
        reach = -(-level * numerator // denominator)
        limits = np.iinfo(self._dtype)
        if self._largest_is_best:
            return max(best - reach, int(limits.min))
        return min(best + reach, int(limits.max))


class ExactArithmetic:
    """Arithmetic for scores that are Python integers or Fractions of any size, in an array of objects."""

    __slots__ = ("_scale",)

    def __init__(self, scale: Fraction, largest_is_best: bool) -> None:
        self._scale = scale if largest_is_best else -scale

    def _exact(self, values: Values, best: int | Fraction) -> Sequence[Fraction]:
        return [(best - value) / self._scale for value in values.tolist()]

    def gammas(self, values: Values, best: int | Fraction) -> Floats:
        """Return γ as float64, in a new array."""
        return np.array([self.gamma(value, best) for value in values.tolist()], dtype=np.float64)

    def steady_gammas(self, values: Values, best: int | Fraction) -> NoReturn:  # noqa: ARG002
        """Raise an error, because the running time of this arithmetic depends on the numbers."""
        raise ParameterError(
            "steady selection needs scores of a machine integer or float type: the time of arithmetic on "
            "Fractions and on integers beyond 64 bits depends on their values"
        )

    def gamma(self, value: int | Fraction, best: int | Fraction) -> float:
        """Return γ of one score."""
        return float(min((best - value) / self._scale, Fraction(FARTHEST_GAP)))

    def within(
        self, values: Values, best: int | Fraction, bounds: Floats, places: NDArray[Any]
    ) -> Flags:
        """Return whether γ of score i is at most ``bounds[places[i]]``, for every i."""
        return self.gammas(values, best) <= bounds.take(places)

    def pairs(self, values: Values, best: int | Fraction) -> tuple[Floats, Floats]:
        """Return two float64 arrays, a high and a low part, that add up to γ."""
        exact = [min(gap, Fraction(PAIR_LIMIT)) for gap in self._exact(values, best)]
        high = [float(gap) for gap in exact]
        low = [float(gap - Fraction(lead)) for gap, lead in zip(exact, high, strict=True)]
        return np.array(high, dtype=np.float64), np.array(low, dtype=np.float64)

    def threshold(self, best: int | Fraction, level: int) -> Fraction:
        """Return a Fraction t such that every score worse than t has exp(−γ) < 2^−level."""
        return best - level * _LN2_ABOVE * self._scale
