"""Find the candidates with the largest noisy scores, in exact order; each has its own exponential noise.

The noisy score of candidate r is Y_r = X_r − γ_r, with independent exponential X_r = −ln u_r. Floats with an
error bound drop every candidate that cannot be among the first. Interval arithmetic orders the others, with
more bits of u if two of them are too close (docs/proofs/top-k.md).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key

import numpy as np

from discreet._exact.gaps import Floats, Gaps, Indices
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits, Words
from discreet._exact.sampling.coins import GUARD_BITS, Ball, Uniform
from discreet._exact.sampling.discrete_noise import common_floor

_WORD = 64


class Noisy:
    """One candidate's noisy score, known as precisely as its uniform number."""

    __slots__ = ("gamma", "index", "uniform")

    def __init__(self, index: int, gamma: Fraction, uniform: Uniform) -> None:
        self.index = index
        self.gamma = gamma
        self.uniform = uniform
        while not uniform.known:
            uniform.extend()

    def ends(self) -> tuple[Ball, Ball]:
        """Return a lower and an upper bound on the noisy score Y, as intervals."""
        low, high = self.uniform.ends()
        gamma = ball_of(self.gamma)
        return -high.log() - gamma, -low.log() - gamma


@np.errstate(all="ignore")
def noisy_first(gaps: Gaps, count: int, bits: Bits, *, word: int = _WORD) -> list[int]:
    """Return the ``count`` candidates with the largest noisy scores, the largest first.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> noisy_first(Gaps(np.array([0, 10**9, 5 * 10**8]), scale=Fraction(2)), 2, SecureBits())
        [1, 2]
    """
    return [noisy.index for noisy in _first(gaps, count, bits, word)]


@np.errstate(all="ignore")
def noisy_first_and_gap(
    gaps: Gaps, bits: Bits, *, unit: Fraction, word: int = _WORD
) -> tuple[int, int]:
    """Return the candidate with the largest noisy score, and its lead over the second in whole units."""
    first, second = _first(gaps, 2, bits, word)
    factor = gaps.scale / unit
    while True:
        with precision(_precision(first, second)):
            (first_low, first_high), (second_low, second_high) = first.ends(), second.ends()
            low, high = first_low - second_high, first_high - second_low
            # The order is already decided, so the lead is positive even if these intervals do not show it.
            found = common_floor(low.max(ball_of(0)) * ball_of(factor), high * ball_of(factor))
        if found is not None:
            return first.index, max(found, 0)
        first.uniform.extend()
        second.uniform.extend()


def may_be_first(words: Words, gammas: Floats, count: int, *, word: int) -> Indices:
    """Return the candidates that may be among the first ``count``, given ``word`` bits of each uniform u."""
    middle = words.astype(np.float64) + 0.5
    noise = word * np.log(2.0) - np.log(middle)
    # This covers the rounding of γ, of the logarithm and of their difference. It also covers the unknown
    # bits of u, which change ln u by at most ln(1 + 1/words) on either side.
    error = (noise + gammas + word) * 2.0**-49 + 1.0 / words
    noisy = noise - gammas
    floor = np.partition(noisy - error, len(words) - count)[len(words) - count]
    contenders: Indices = ((noisy + error >= floor) | (words == 0)).nonzero()[0]
    return contenders


def in_order(found: list[Noisy]) -> list[Noisy]:
    """Return the candidates sorted by noisy score, the largest first."""
    return sorted(found, key=cmp_to_key(_compare))


def _first(gaps: Gaps, count: int, bits: Bits, word: int) -> list[Noisy]:
    words = bits.words(gaps.size, width=word)
    contenders = may_be_first(words, gaps.gammas()[0], count, word=word)
    found = [
        Noisy(
            index,
            gaps.exact(index),
            Uniform(bits, known=int(words[index]), width=word, step=word),
        )
        for index in contenders.tolist()
    ]
    return in_order(found)[:count]


def _precision(one: Noisy, other: Noisy) -> int:
    size = max(abs(one.gamma.numerator).bit_length(), abs(other.gamma.numerator).bit_length())
    return max(one.uniform.width, other.uniform.width) + GUARD_BITS + size


def _compare(one: Noisy, other: Noisy) -> int:
    """Return a negative number if ``one`` has the larger noisy score; equality has probability zero."""
    while True:
        with precision(_precision(one, other)):
            (one_low, one_high), (other_low, other_high) = one.ends(), other.ends()
            if bool(one_low > other_high):
                return -1
            if bool(one_high < other_low):
                return 1
        one.uniform.extend()
        other.uniform.extend()
