"""Permute-and-flip: flip a coin exp(−γ) for everyone and choose uniformly among the heads.

That is also noisy max with exponential noise. Most of the n coins are never flipped: a clear winner
is seen from the block maxima, a crowd of good candidates is met by a few random visits, and in
between the hopeless are thinned. The three plans draw from the same distribution (theorem 1 of the
proof page).
"""

from __future__ import annotations

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads, first_heads, flip
from discreet.sampling.integers import few_indices, some_indices, uniform_below
from discreet.sampling.thinning import far_heads, thinned_heads, visit_counts
from discreet.sampling.tuning import STANDARD, Tuning

_NOBODY = np.empty(0, dtype=np.int64)


@np.errstate(all="ignore")
def uniform_head(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """A candidate drawn as permute-and-flip draws it.

    Probability of r: p_r ∫₀¹ Π_{t≠r} (1 − u·p_t) du with p = exp(−γ).

    Example:
        >>> from fractions import Fraction
        >>> from discreet.sampling.bits import SecureBits
        >>> uniform_head(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    chosen = head_or_none(gaps, Heads(), bits=bits, tuning=tuning)
    assert chosen is not None, "the best candidate's coin is always heads"
    return chosen


def head_or_none(gaps: Gaps, coins: Heads, *, bits: Bits, tuning: Tuning) -> int | None:
    """A uniform choice among the candidates whose coins fall heads, or None if none does."""
    level = tuning.levels[0]
    gaps.best  # noqa: B018 - the pass over the scores, which also refuses NaN and infinities
    near = gaps.few_near(level, most=tuning.few)
    visited = _NOBODY
    if near is None or _crowded(gaps, near, tuning):
        chosen, visited = _stroll(gaps, coins, bits=bits, tuning=tuning)
        if chosen is not None:
            return chosen
    if near is None:
        chosen, visited = _visit(gaps, coins, visited, bits=bits, tuning=tuning)
        if chosen is not None:
            return chosen
        heads = thinned_heads(gaps, coins, bits=bits, tuning=tuning)
    else:
        # A single near candidate is the best one, and its coin exp(−0) needs no flip.
        if len(near) > 1 or coins.halvings:
            heads = near[flip(gaps, near, coins, bits=bits, tuning=tuning)]
        else:
            heads = near
        if len(near) < gaps.size:
            far = far_heads(gaps, coins, level=level, bits=bits, tuning=tuning)
            heads = np.concatenate([heads, far]) if len(far) else heads
    return _one_of(heads, bits, tails=visited)


def _crowded(gaps: Gaps, near: Indices, tuning: Tuning) -> bool:
    """Whether so many candidates are very near that a few random visits should meet a heads."""
    if len(near) <= tuning.very_few or 2 * len(near) <= gaps.size:
        return False
    nearest = gaps.few_near(tuning.crowd, most=tuning.few)
    return nearest is not None and len(nearest) << tuning.crowd >= gaps.size


def _one_of(heads: Indices, bits: Bits, *, tails: Indices) -> int | None:
    """A uniform choice among ``heads``, ignoring whoever is known to be tails."""
    while len(heads):
        place = uniform_below(bits, len(heads))
        candidate = int(heads[place])
        if not _contains(tails, candidate):
            return candidate
        heads = np.delete(heads, place)
    return None


def _stroll(gaps: Gaps, coins: Heads, *, bits: Bits, tuning: Tuning) -> tuple[int | None, Indices]:
    """Visit a few candidates in random order, one at a time, until a coin is heads or all look far.

    Returns the head, or None and the candidates visited, whose coins were all tails. Candidates are
    drawn with replacement and repeats skipped, which is a uniformly random order.
    """
    visited: list[int] = []
    for count in tuning.stroll:
        drawn = few_indices(bits, gaps.size, count=count, width=tuning.word)
        order = _unvisited(drawn, visited)
        place = first_heads(gaps, order, coins, bits=bits, tuning=tuning)
        if place is not None:
            return order[place], _NOBODY
        visited += order
        if all(gaps.gamma(candidate) > tuning.promising for candidate in order):
            break
    return None, np.array(visited, dtype=np.int64)


def _unvisited(drawn: list[int], visited: list[int]) -> list[int]:
    """Those drawn that are met for the first time, each once, in the order drawn."""
    return [candidate for candidate in dict.fromkeys(drawn) if candidate not in visited]


def _visit(
    gaps: Gaps, coins: Heads, visited: Indices, *, bits: Bits, tuning: Tuning
) -> tuple[int | None, Indices]:
    """The same for longer rounds: the coins of a whole round are flipped at once."""
    for count in visit_counts(gaps, tuning):
        order = some_indices(bits, gaps.size, count=count, width=tuning.index_word)
        for position in flip(gaps, order, coins, bits=bits, tuning=tuning).tolist():
            # A candidate met before was tails then, and a coin is flipped once.
            candidate = order[position]
            if not _contains(order[:position], candidate) and not _contains(visited, candidate):
                return int(candidate), visited
        visited = np.concatenate([visited, order])
    return None, visited


def _contains(candidates: Indices, candidate: int) -> bool:
    return len(candidates) > 0 and bool(np.count_nonzero(candidates == candidate))
