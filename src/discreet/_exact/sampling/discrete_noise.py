"""Exact integer noise for counts (geometric and discrete Laplace), and exact halving of counts.

For a uniform u and any rational scale s, ⌊−s·ln u⌋ is at least g with probability e^{−g/s}, so it is
geometric. The difference of two such numbers is discrete Laplace (docs/proofs/noisy-count-and-gap.md). The
floor is computed in interval arithmetic, with more bits of u if needed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import GUARD_BITS, Ball, Uniform

_WORD = 64


def geometric(bits: Bits, scale: Fraction, *, word: int = _WORD) -> int:
    """Draw a whole number G ≥ 0 with Pr[G ≥ g] = e^{−g/scale}.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> geometric(SecureBits(), Fraction(1, 10**6))
        0
    """
    uniform = Uniform(bits, known=bits.integer(word), width=word, step=word)
    while True:
        if uniform.known:
            with precision(uniform.width + GUARD_BITS + max(0, scale.numerator.bit_length())):
                low, high = uniform.ends()
                found = common_floor(-high.log() * ball_of(scale), -low.log() * ball_of(scale))
            if found is not None:
                return found
        uniform.extend()


def discrete_laplace(bits: Bits, scale: Fraction) -> int:
    """Draw a whole number Z with Pr[Z = z] proportional to e^{−|z|/scale}.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> discrete_laplace(SecureBits(), Fraction(1, 10**6))
        0
    """
    return geometric(bits, scale) - geometric(bits, scale)


def common_floor(low: Ball, high: Ball) -> int | None:
    """Return the floor shared by all numbers from ``low`` to ``high``, or None if floors may differ."""
    below, above = low.floor().unique_fmpz(), high.floor().unique_fmpz()
    return int(below) if below is not None and below == above else None


_CHUNK_WORDS = 1 << 20


def halved(counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """Return, for each count c, an independent Binomial(c, 1/2): the number of heads of c fair coins.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> halved(np.array([0, 0]), SecureBits())
        array([0, 0])
    """
    left = np.zeros_like(counts)
    occupied = counts.nonzero()[0]
    for start in range(0, len(occupied), _CHUNK_WORDS):
        some = occupied[start : start + _CHUNK_WORDS]
        # The last, partial word of each count has the remaining 1 to 64 bits.
        rest = ((counts[some] - 1) & 63) + 1
        words = bits.words(len(some)) >> (64 - rest).astype(np.uint64)
        left[some] = np.bitwise_count(words)
    large = (counts > 64).nonzero()[0]
    full = (counts[large] - 1) >> 6
    ends = np.cumsum(full)
    start = 0
    while start < len(large):
        # Process as many counts together as one chunk of words allows; a larger count takes several chunks.
        before = int(ends[start] - full[start])
        stop = max(start + 1, int(np.searchsorted(ends, before + _CHUNK_WORDS, side="right")))
        if stop - start > 1:
            ones = np.bitwise_count(bits.words(int(ends[stop - 1]) - before)).astype(np.int64)
            left[large[start:stop]] += np.add.reduceat(
                ones, (ends - full)[start:stop] - before, dtype=np.int64
            )
        else:
            for done in range(0, int(full[start]), _CHUNK_WORDS):
                words = bits.words(min(_CHUNK_WORDS, int(full[start]) - done))
                left[large[start]] += int(np.bitwise_count(words).sum(dtype=np.int64))
        start = stop
    return left
