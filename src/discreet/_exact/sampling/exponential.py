"""The exponential mechanism: choose a candidate with probability proportional to exp(−γ).

This is also noisy max with Gumbel noise. If few candidates are near, their cumulative chances are inverted.
If many are near, a few random visits find one. In between, candidates are proposed from blocks, by a bound on
the chances in each block (docs/proofs/sampling.md, theorem 2).
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from discreet._exact.gaps import Gaps, Indices
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling.bits import Bits, few_indices, some_indices, some_words_below
from discreet._exact.sampling.coins import (
    STANDARD,
    Ball,
    Heads,
    Tuning,
    Uniform,
    flip,
    heads_among,
    scaled,
)
from discreet._exact.sampling.proposals import BoundedBlocks
from discreet._exact.sampling.thinning import DRAWS_AT_ONCE, Levels

_COINS = Heads()


@np.errstate(all="ignore")
def proportional(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """Draw a candidate by the exponential mechanism, with probability proportional to exp(−γ).

    Example:
        >>> from fractions import Fraction
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> proportional(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    gaps.best  # noqa: B018 - reads all scores, and refuses NaN and infinities
    level = tuning.level
    near = gaps.few_near(level, most=tuning.few)
    if near is not None:
        return _by_inversion(gaps, near, level, bits, tuning)
    visited = few_indices(bits, gaps.size, count=tuning.single_visits, width=tuning.word)
    for candidate in heads_among(gaps, visited, _COINS, bits=bits, tuning=tuning):
        return candidate
    if any(gaps.gamma(candidate) <= tuning.near_enough for candidate in visited):
        drawn = some_indices(bits, gaps.size, count=tuning.visits, width=tuning.index_word)
        accepted = flip(gaps, drawn, _COINS, bits=bits, tuning=tuning)
        if len(accepted):
            return int(drawn[accepted[0]])
    blocks = BoundedBlocks(gaps, tuning)
    for count in blocks.rounds(tuning):
        candidates, boost = blocks.proposals(bits, count, tuning.index_word)
        accepted = flip(gaps, candidates, _COINS, bits=bits, tuning=tuning, boost=boost)
        if len(accepted):
            return int(candidates[accepted[0]])
    raise AssertionError("unreachable: the rounds are endless")


def _by_inversion(gaps: Gaps, near: Indices, level: int, bits: Bits, tuning: Tuning) -> int:
    """Draw a near candidate by inverting cumulative chances, or a far one by a proposal and a coin flip."""
    shares = Shares(gaps, near, level=level)
    while True:
        place = shares.draw(bits, tuning)
        if place < len(near):
            return int(near[place])
        drawn = some_indices(bits, gaps.size, count=1, width=tuning.index_word)
        # A proposed near candidate is rejected, because its share is already counted.
        far = drawn[gaps.is_far(drawn, level)]
        if len(flip(gaps, far, _COINS, bits=bits, tuning=tuning, boost=level)):
            return int(far[0])


class Shares:
    """A weighted draw of a near candidate (weight exp(−γ)) or of "none" (weight size·2^−level).

    The weight of "none" counts *every* candidate, because any of them may be proposed next.
    """

    __slots__ = ("_ends", "_gaps", "_level", "_near", "_total")

    def __init__(self, gaps: Gaps, near: Indices, *, level: int) -> None:
        self._gaps = gaps
        self._near = near
        self._level = level
        self._ends = np.cumsum(_COINS.chances(gaps.gather(near))[0])
        self._total = float(self._ends[-1]) + gaps.size * 0.5**level

    def draw(self, bits: Bits, tuning: Tuning) -> int:
        """Return a position in the list of near candidates, or the list's length if none is drawn."""
        word = tuning.word
        uniform = Uniform(bits, known=bits.integer(word), width=word, step=word)
        target = (uniform.known + 0.5) * 0.5**word * self._total
        # The errors of the ends and of the target add up to less than this (lemma 14).
        doubt = self._total * (4 * tuning.tolerance + 2.0 ** (1 - word))
        place = int(np.searchsorted(self._ends, target - doubt))
        if place < len(self._ends) and self._ends[place] <= target + doubt:
            return self._settle(uniform)
        return place

    def _settle(self, uniform: Uniform) -> int:
        """Return the first position whose cumulative share exceeds ``uniform``, in interval arithmetic."""
        gammas = [self._gaps.exact(candidate) for candidate in self._near.tolist()]

        def share(place: int) -> Ball:
            chances = [ball_of(-gamma).exp() for gamma in gammas]
            below = sum(chances[: place + 1], ball_of(0))
            nobody = scaled(ball_of(self._gaps.size), -self._level)
            return below / (below + sum(chances[place + 1 :], nobody))

        return bisect_left(
            range(len(gammas)), True, key=lambda place: uniform.is_below(lambda: share(place))
        )


@np.errstate(all="ignore")
def proportionals(gaps: Gaps, size: int, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Make ``size`` independent draws from the exponential mechanism.

    A level is proposed in proportion to its number of candidates times 2^−level, and then one of its
    candidates uniformly. The candidate is accepted with the remaining chance 2^level·exp(−γ).
    """
    levels = Levels.prepared(gaps, tuning)
    last = levels.last
    weights = levels.sizes << (last - np.arange(last + 1))
    ends = np.cumsum(weights).astype(np.uint64)
    total = int(ends[-1])
    drawn = np.empty(size, dtype=np.int64)
    have = 0
    while have < size:
        count_now = min(tuning.overdraw * (size - have), 2 * DRAWS_AT_ONCE)
        words = some_words_below(bits, total, count=count_now)
        level = np.searchsorted(ends, words, side="right")
        words = words - (ends[level] - weights[level].astype(np.uint64))
        words >>= (last - level).astype(np.uint64)
        candidates = levels.order[levels.starts[level] + words.astype(np.int64)]
        accepted = flip(gaps, candidates, _COINS, bits=bits, tuning=tuning, boost=level)
        accepted = accepted[: size - have]
        drawn[have : have + len(accepted)] = candidates[accepted]
        have += len(accepted)
    return drawn
