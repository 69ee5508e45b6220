"""Decide which values cross a noisy threshold; each value gets its own noise.

A value q crosses if q + Y ≥ T + X, where T is the threshold, X its noise and Y the noise of this value. X is
drawn once, as the first bits of a uniform number. Given X, each value flips a coin, and its chance falls as
z = (T + X − q)/b₂ grows. Floats with an error bound decide nearly every coin; interval arithmetic with more
bits of both uniform numbers decides the others (docs/proofs/above-threshold.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps import Flags, Floats, Indices
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.numbers.exact import float_down, float_up
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._exact.sampling.bits import Bits, Words
from discreet._exact.sampling.coins import GUARD_BITS, STANDARD, Ball, Tuning, Uniform, scaled
from discreet._exact.sampling.discrete_noise import common_floor
from discreet._exact.sampling.steady import steady_chances
from discreet._exact.sampling.thinning import marks

Value: TypeAlias = int | float | Fraction
_LN2 = math.log(2)
_LN2_ABOVE = Fraction(6243314768165360, 9007199254740992)  # Thresholds.v: ln2_below
_ROUNDING = 2.0**-49
_UNCLEAR = 2.0**-10  # floats do not decide if z has a larger error; uses e^x ≤ 1 + 2x for x < 1
_FIRST_STRETCH, _LONGEST_STRETCH = 1 << 12, 1 << 20
_MACHINE = 2.0**900
_STEADIEST = 100.0
_WAITING = 64


class NoisyThreshold:
    """A noisy threshold. It draws its noise when created, then decides which values cross.

    Args:
        threshold: T, exactly.
        noise: the scales b₁ and b₂ and the kind of noise.
        bits: the source of randomness for the noise of the threshold and of every value.
        steady: if True, the work does not depend on the values or the noise, unless a comparison is too
            close for floats; the distribution is the same. Only for machine numbers and exponential noise.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> noise = NoiseScales(Fraction(2), Fraction(2))
        >>> watched = NoisyThreshold(Fraction(500), noise, SecureBits())
        >>> watched.crosses(100), watched.crosses(900)
        (False, True)
    """

    __slots__ = (
        "_bits",
        "_doubt",
        "_inverse",
        "_machine",
        "_negative",
        "_noise",
        "_offset",
        "_ratio",
        "_rounding",
        "_shift",
        "_steady",
        "_threshold",
        "_tuning",
        "_uniform",
        "_waiting",
    )

    def __init__(
        self,
        threshold: Fraction,
        noise: NoiseScales,
        bits: Bits,
        *,
        steady: bool = False,
        tuning: Tuning = STANDARD,
    ) -> None:
        self._threshold = threshold
        self._noise = noise
        self._bits = bits
        self._steady = steady
        self._tuning = tuning
        self._ratio = noise.threshold / noise.query
        self._negative = noise.two_sided and bits.integer(1) == 1
        word = tuning.word
        self._uniform = Uniform(bits, known=bits.integer(word), width=word, step=word)
        while self._uniform.known < 1 << (word // 2):  # the first bits then locate X well enough
            self._uniform.extend()
        self._waiting: list[int] = []
        # If floats would overflow or underflow, interval arithmetic decides everything.
        sizes = (abs(threshold), noise.query, 1 / noise.query, self._ratio)
        self._machine = max(sizes) < _MACHINE
        self._rounding = _ROUNDING if self._machine and tuning.tolerance < math.inf else math.inf
        self._offset = float(threshold) if self._machine else 0.0
        self._inverse = float(1 / noise.query) if self._machine else 0.0
        self._locate()

    # ---- one value ----------------------------------------------------------------------------

    def crosses(self, value: Value) -> bool:
        """Return whether a value crosses; each call draws new noise for the value."""
        if self._steady:
            return bool(self._steady_flips(np.array([value]))[0])
        word = self._word()
        decided = self._by_floats(value, word)
        return self._settle(Fraction(value), self._known(word)) if decided is None else decided

    def _by_floats(self, value: Value, word: int) -> bool | None:
        """Return whether a value crosses, given the first bits of its noise; None if floats cannot decide."""
        try:
            near = float(value)
        except OverflowError:
            return None
        z = (self._offset - near) * self._inverse + self._shift
        doubt = (
            (abs(near) + abs(self._offset)) * self._inverse + 1.0
        ) * self._rounding + self._doubt
        width = self._tuning.word
        if word and z - doubt > _LN2 * (width + 1):
            return False  # the chance is below 2^−width ≤ u
        if z + doubt < 0.0 and not self._noise.two_sided:
            return True
        if doubt < _UNCLEAR:
            chance = self._chance(z) * 2.0**width
            band = chance * (2.0 * doubt + _ROUNDING) + 2.0
            if word > chance + band:
                return False
            if word < chance - band:
                return True
        return None

    def gap(self, value: Value, unit: Fraction) -> int | None:
        """Draw new noise Y for a value q; return ⌊(q + Y − T − X)/unit⌋ if the value crosses, else None."""
        word = self._word()
        decided = self._by_floats(value, word)
        if decided is False:
            return None
        exact, uniform = Fraction(value), self._known(word)
        if decided is None and not self._settle(exact, uniform):
            return None
        behind = self._threshold - exact
        scales = self._noise.threshold, self._noise.query
        size = _bits_of(behind, unit, *scales)
        while True:
            with precision(self._width(uniform) + size):
                least, most = self._noise_ends()
                largest, smallest = (self._from_uniform(end) for end in uniform.ends())
                first, second = (ball_of(scale) for scale in scales)
                low = (smallest * second - ball_of(behind) - most * first) / ball_of(unit)
                high = (largest * second - ball_of(behind) - least * first) / ball_of(unit)
                # The gap is known to be non-negative, even if these intervals do not show it.
                found = common_floor(low.max(ball_of(0)), high) if high.is_finite() else None
            if found is not None:
                return max(found, 0)
            self._more(uniform)

    # ---- many values known at once ------------------------------------------------------------

    @np.errstate(all="ignore")
    def crossings(self, values: NDArray[Any], most: int = 1) -> list[int]:
        """Return the positions of the first ``most`` values that cross; each value gets new noise.

        ``values`` are finite and of type int64 or float64, or exact numbers (``dtype=object``).

        Example:
            >>> from discreet._exact.sampling.bits import SecureBits
            >>> watched = NoisyThreshold(Fraction(50), NoiseScales(Fraction(2), Fraction(2)), SecureBits())
            >>> watched.crossings(np.array([-900, 10**6, -900, 10**7]), 2)
            [1, 3]
        """
        if values.dtype.kind == "O" or not self._machine:
            return list(self._one_by_one(values, most))
        found: list[int] = []
        start, length = 0, _FIRST_STRETCH
        while start < len(values) and len(found) < most:
            part = values[start : start + length]
            heads = self._steady_heads(part) if self._steady else self._heads(part)
            found += (heads + start).tolist()
            start, length = start + length, min(2 * length, _LONGEST_STRETCH)
        return found[:most]

    def _one_by_one(self, values: NDArray[Any], most: int) -> Iterator[int]:
        for place, value in enumerate(values.tolist()):
            if most and self.crosses(value):
                most -= 1
                yield place

    def _heads(self, values: NDArray[Any]) -> Indices:
        """Return the positions of the values that cross; far values are thinned (lemma 8 of sampling.md)."""
        level = self._tuning.level
        cut = self._far_below(level, values.dtype)
        near = (values > cut).nonzero()[0]
        marked = marks(self._bits, len(values), level, tuning=self._tuning)
        if len(marked):
            marked = marked[values[marked] <= cut]
        heads: Indices = near[self._flips(values[near])] if len(near) else near
        if not len(marked):
            return heads
        return np.sort(np.concatenate([heads, marked[self._flips(values[marked], boost=level)]]))

    def _far_below(self, level: int, dtype: np.dtype[Any]) -> Any:
        """Return a number such that every value at or below it crosses with a chance of at most 2^−level."""
        least = Fraction(self._shift - self._doubt) * self._noise.query
        cut = self._threshold + least - level * _LN2_ABOVE * self._noise.query
        if dtype.kind == "f":
            return float_down(cut) if cut >= 0 else -float_up(-cut)
        return math.floor(cut)

    def _flips(self, values: NDArray[Any], boost: int = 0) -> Flags:
        """Flip one coin per value, with 2^boost times its chance of crossing; return a mask of the heads."""
        z, doubt = self._measured(values)
        chances = (
            np.where(z < 0.0, 1.0 - 0.5 * np.exp(z), 0.5 * np.exp(-z))
            if self._noise.two_sided
            else np.exp(-np.maximum(z, 0.0))
        )
        heads, clear, words = self._compared(chances, doubt, boost)
        if not self._noise.two_sided and not boost:
            certain = z + doubt < 0.0
            heads |= certain
            clear |= certain
        self._settle_rest(values, heads, clear, words, boost)
        return heads

    def _measured(self, values: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return z = (T + X − q)/b₂ of each value q in floats, and bounds on its error (lemma 1)."""
        floats = values.astype(np.float64)
        z: Floats = (self._offset - floats) * self._inverse + self._shift
        doubt = (np.abs(floats) + abs(self._offset)) * self._inverse + 1.0
        return z, doubt * self._rounding + self._doubt

    def _compared(self, chances: Floats, doubt: Floats, boost: int) -> tuple[Flags, Flags, Words]:
        """Draw a word for each coin; return masks of certain heads and of decided coins, and the words."""
        width = self._tuning.word
        words = self._bits.words(len(chances), width=width)
        drawn = words.astype(np.float64)
        chances = chances * 2.0 ** (width + boost)
        band = chances * (2.0 * doubt + _ROUNDING) + 2.0
        heads: Flags = drawn < chances - band
        clear = (heads | (drawn > chances + band)) & (doubt < _UNCLEAR)
        return heads & clear, clear, words

    def _settle_rest(
        self, values: NDArray[Any], heads: Flags, clear: Flags, words: Words, boost: int = 0
    ) -> None:
        if np.count_nonzero(clear) < len(clear):
            for place in (~clear).nonzero()[0].tolist():
                uniform = self._known(int(words[place]))
                heads[place] = self._settle(Fraction(values[place].item()), uniform, boost)

    # ---- steady -------------------------------------------------------------------------------

    def _steady_heads(self, values: NDArray[Any]) -> Indices:
        return self._steady_flips(values).nonzero()[0]

    @np.errstate(all="ignore")
    def _steady_flips(self, values: NDArray[Any]) -> Flags:
        """Return whether each value crosses, by the same additions and multiplications for every value."""
        z, doubt = self._measured(values)
        chances = steady_chances(np.clip(z, 2.0**-100, _STEADIEST))
        heads, clear, words = self._compared(chances, doubt, 0)
        certain = z + doubt < 0.0
        heads |= certain
        # Beyond the clip the chance is below 2^−100, so interval arithmetic is needed only if a word is zero.
        clear |= certain | ((z - doubt > _STEADIEST) & (words > 0))
        self._settle_rest(values, heads, clear, words)
        return heads

    # ---- exactly ------------------------------------------------------------------------------

    def _settle(self, value: Fraction, uniform: Uniform, boost: int = 0) -> bool:
        """Return whether ``uniform`` is below 2^boost times the value's chance; draw more bits if needed."""
        behind = (self._threshold - value) / self._noise.query
        size = _bits_of(behind, self._ratio)
        while True:
            with precision(self._width(uniform) + size):
                least, most = self._noise_ends()
                ratio, start = ball_of(self._ratio), ball_of(behind)
                width = uniform.width + boost
                if bool(scaled(self._tail(start + ratio * most), width) >= uniform.known + 1):
                    return True
                if bool(scaled(self._tail(start + ratio * least), width) <= uniform.known):
                    return False
            self._more(uniform)

    def _noise_ends(self) -> tuple[Ball, Ball]:
        """Return intervals that contain the smallest and the largest possible X/b₁, given the known bits."""
        low, high = self._uniform.ends()
        if self._negative:
            return low.log(), high.log()
        return -high.log(), -low.log()

    def _from_uniform(self, end: Ball) -> Ball:
        """Return the number that Y/b₂ exceeds with probability ``end``; infinity for probability zero."""
        if not self._noise.two_sided:
            return -end.log()
        return -(2 * end).log() if bool(2 * end <= 1) else (2 * (1 - end)).log()

    def _tail(self, z: Ball) -> Ball:
        """Return the probability of Y ≥ z·b₂."""
        nothing = ball_of(0)
        above = (-z.max(nothing)).exp()
        return (above + 1 - z.min(nothing).exp()) / 2 if self._noise.two_sided else above

    def _chance(self, z: float) -> float:
        if self._noise.two_sided:
            return 0.5 * math.exp(-z) if z >= 0.0 else 1.0 - 0.5 * math.exp(z)
        return math.exp(-max(z, 0.0))

    def _more(self, uniform: Uniform) -> None:
        uniform.extend()
        self._uniform.extend()
        self._locate()

    def _locate(self) -> None:
        """Compute X/b₂ in floats from the known bits, and a bound on its error."""
        known, width = self._uniform.known, self._uniform.width
        ratio = float(self._ratio) if self._machine else 0.0
        middle = (width + 1) * _LN2 - math.log(2 * known + 1)
        self._shift = (-middle if self._negative else middle) * ratio
        self._doubt = ratio * ((width + 1) * 4 * _ROUNDING + 1 / known)

    def _width(self, uniform: Uniform) -> int:
        return max(uniform.width, self._uniform.width) + GUARD_BITS

    def _known(self, word: int) -> Uniform:
        width = self._tuning.word
        return Uniform(self._bits, known=word, width=width, step=width)

    def _word(self) -> int:
        """Return a new word of random bits; words are drawn in batches, but one by one in tests."""
        if not self._waiting:
            if self._tuning is not STANDARD:
                return self._bits.integer(self._tuning.word)
            self._waiting = self._bits.words(_WAITING).tolist()
        return self._waiting.pop()


def _bits_of(*numbers: Fraction) -> int:
    return sum(max(abs(n.numerator).bit_length(), n.denominator.bit_length()) for n in numbers)
