"""Permute-and-flip: flip a coin exp(−γ) for everyone and choose uniformly among the heads.

That is also noisy max with exponential noise. Most of the n coins are never flipped: a clear winner
is seen from the block maxima, a crowd of good candidates is met by a few random visits, and in
between the hopeless are thinned; of a few candidates most are known to be tails by a few bits each.
The plans draw from the same distribution (theorem 1 of the proof page).
"""

from __future__ import annotations

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads, flip, heads_after_peek, heads_among, not_tails_yet
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
    gaps.best  # noqa: B018 - the pass over the scores, which also refuses NaN and infinities
    level = tuning.levels[0]
    # Exact rationals are dear: of them only as many as need be are looked at.
    peeked = gaps.size <= tuning.peeked and gaps.native
    near = gaps.few_near(level, most=tuning.handful if peeked else tuning.few)
    if near is not None:
        heads = _heads_of(near, gaps, coins, level=level, bits=bits, tuning=tuning)
        return _one_of(heads, bits)
    if peeked:
        return _peek(gaps, coins, bits=bits, tuning=tuning)
    chosen, visited = _stroll(gaps, coins, bits=bits, tuning=tuning)
    if chosen is None:
        chosen, visited = _visit(gaps, coins, visited, bits=bits, tuning=tuning)
    if chosen is not None:
        return chosen
    return _one_of(thinned_heads(gaps, coins, bits=bits, tuning=tuning), bits, tails=visited)


def _heads_of(
    near: Indices, gaps: Gaps, coins: Heads, *, level: int, bits: Bits, tuning: Tuning
) -> Indices:
    """All heads, when the candidates near at ``level`` are listed: of the others there is hardly one."""
    heads = near
    # A single near candidate is the best one, and its coin exp(−0) needs no flip.
    if len(near) > 1 or coins.halvings:
        if len(near) <= tuning.handful:
            fallen = heads_among(gaps, near.tolist(), coins, bits=bits, tuning=tuning)
            heads = np.fromiter(fallen, dtype=np.int64)
        else:
            heads = near[flip(gaps, near, coins, bits=bits, tuning=tuning)]
    if len(near) < gaps.size:
        far = far_heads(gaps, coins, level=level, bits=bits, tuning=tuning)
        heads = np.concatenate([heads, far]) if len(far) else heads
    return heads


def _peek(gaps: Gaps, coins: Heads, *, bits: Bits, tuning: Tuning) -> int | None:
    """The same choice for few candidates, most of whose coins are known by their first bits to be tails.

    The others are looked at in random order, until one is heads.
    """
    left, peeks = not_tails_yet(gaps, bits=bits, tuning=tuning)
    for count in range(len(left), 0, -1):
        place = uniform_below(bits, count)
        candidate = left.item(place)
        if heads_after_peek(
            gaps, candidate, coins, peeks.item(candidate), bits=bits, tuning=tuning
        ):
            return candidate
        left[place] = left[count - 1]
    return None


def _one_of(heads: Indices, bits: Bits, *, tails: Indices = _NOBODY) -> int | None:
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
        heads = heads_among(gaps, order, coins, bits=bits, tuning=tuning)
        chosen = next(heads, None)
        if chosen is not None:
            return chosen, _NOBODY
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
