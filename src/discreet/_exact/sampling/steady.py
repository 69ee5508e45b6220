"""Permute-and-flip with an amount of work that does not depend on the scores.

Every coin is flipped with the same number of bits, in passes of the same length. The passes use only
additions, multiplications and comparisons of normal numbers, and are merged by their numbers of heads. A
score can change the work only if a coin falls inside the float's error band. The probability of this is at
most 2⁻⁴⁰ per coin. docs/proofs/sampling.md states what this hides and what it does not.
"""

from __future__ import annotations

import math

import numpy as np

from discreet._exact.gaps import Flags, Floats, Gaps
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import STANDARD, Heads, Tuning, Uniform, falls_heads

_COINS = Heads()
_STRETCH = 1 << 15
# ln 2 in two parts. The first has 40 bits, so its product with an integer up to 2¹³ is exact.
_LN2_HIGH = float.fromhex("0x1.62e42fefa2p-1")
_LN2_LOW = float.fromhex("0x1.9ef35793c7673p-41")
_TERMS = [(-1) ** power / math.factorial(power) for power in range(13, -1, -1)]


@np.errstate(all="ignore")
def steady_head(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """Draw a candidate by permute-and-flip, with work that does not depend on the scores.

    Example:
        >>> from fractions import Fraction
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> steady_head(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    gaps.best  # noqa: B018 - reads all scores, and refuses NaN and infinities
    total = 0
    winner = 0
    for start in range(0, gaps.size, _STRETCH):
        heads = _flip_all(gaps, start, min(start + _STRETCH, gaps.size), bits, tuning)
        ranks = np.cumsum(heads)
        count = int(ranks[-1])
        chosen = start + int(np.searchsorted(ranks, _pick(bits, count, tuning.pick) + 1))
        total += count
        # The new pass wins in proportion to its heads (lemma 12: merging by counts).
        if _pick(bits, total, tuning.pick) < count:
            winner = chosen
    return winner


def steady_chances(gammas: Floats) -> Floats:
    """Return exp(−γ) for gaps from 2⁻¹⁰⁰ to 150, with relative error 2⁻⁴⁹ (lemma 15); overwrites ``gammas``.

    NumPy's ``exp`` takes different paths for different numbers. Here γ = k·ln 2 + r with |r| below 0.35; a
    Taylor polynomial gives exp(−r), and 2^−k is assembled from its bits.

    Example:
        >>> steady_chances(np.array([1.0])) == np.exp([-1.0])
        array([ True])
    """
    halvings = np.rint(gammas * (1 / math.log(2)))
    gammas -= halvings * _LN2_HIGH
    gammas -= halvings * _LN2_LOW
    chances = np.full_like(gammas, _TERMS[0])
    for term in _TERMS[1:]:
        chances *= gammas
        chances += term
    exponents = np.subtract(1023.0, halvings, out=halvings).astype(np.int64)
    exponents <<= 52
    chances *= exponents.view(np.float64)
    return chances


def _flip_all(gaps: Gaps, start: int, stop: int, bits: Bits, tuning: Tuning) -> Flags:
    """Return whether each candidate's coin is heads, for the candidates from ``start`` to ``stop``."""
    chances = steady_chances(gaps.steady_stretch(start, stop))
    chances *= 2.0**tuning.word
    words = bits.words(stop - start, width=tuning.word)
    drawn = words.astype(np.float64)
    heads: Flags = drawn < chances * (1.0 - tuning.tolerance) - 2.0
    doubtful = (drawn <= chances * (1.0 + tuning.tolerance) + 2.0) & ~heads
    if np.count_nonzero(doubtful):
        for place in doubtful.nonzero()[0].tolist():
            uniform = Uniform(bits, known=int(words[place]), width=tuning.word, step=tuning.word)
            heads[place] = falls_heads(uniform, _COINS, gaps.exact(start + place), boost=0)
    return heads


def _pick(bits: Bits, bound: int, width: int) -> int:
    """Return a uniform integer in ``range(bound)`` from ``width`` bits.

    With a chance of at most bound/2^width it takes more bits. A bound of zero takes the same bits and
    returns 0.
    """
    while True:
        product = bits.integer(width) * bound
        if product & ((1 << width) - 1) >= (1 << width) % max(bound, 1):
            return product >> width
