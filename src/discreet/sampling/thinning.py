"""All heads among the candidates of one release, without flipping every coin.

Candidates beyond a level have coins of at most 2^−a. Such a coin is heads when two independent
coins are: one of chance 2^−a, which needs no score and is drawn for all candidates at once by
`marks`, and one of chance 2^a·c for the few that were marked (lemma 8 of the proof page).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Coins, flip
from discreet.sampling.marks import marks
from discreet.sampling.tuning import Tuning

_LN2 = math.log(2)
# Measured costs in nanoseconds: reading a score, listing and handling a near candidate, and marking
# and flipping a far one. They steer the plan and nothing else.
_READ, _LIST, _MARK = 0.4, 30.0, 50.0
_FLIPPED_AT_ONCE = 1 << 14
_NOBODY = np.empty(0, dtype=np.int64)

Boosted: TypeAlias = tuple[Indices, int]
"""Candidates, and the power of two by which their coins' chances are multiplied."""


def thinned_heads(
    gaps: Gaps, coins: Coins, *, bits: Bits, tuning: Tuning, level: int | None = None
) -> Indices:
    """Every candidate whose coin fell heads, all coins being independent."""
    if level is None:
        level = cheapest_level(gaps, coins, tuning)
    held = [_marked(gaps, coins, level=level, bits=bits, tuning=tuning)]
    found: list[Indices] = []
    for near in gaps.near(level):
        held.extend(_inner(gaps, coins, near, level=level, bits=bits, tuning=tuning))
        if sum(len(candidates) for candidates, _ in held) >= _FLIPPED_AT_ONCE:
            found.append(_flipped(gaps, coins, held, bits=bits, tuning=tuning))
            held = []
    found.append(_flipped(gaps, coins, held, bits=bits, tuning=tuning))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _flipped(
    gaps: Gaps, coins: Coins, held: list[Boosted], *, bits: Bits, tuning: Tuning
) -> Indices:
    """The heads among several lists of candidates, each with its boost: one flip costs less than several."""
    if not held:
        return _NOBODY
    candidates = np.concatenate([some for some, _ in held])
    boost = np.repeat([power for _, power in held], [len(some) for some, _ in held])
    return candidates[flip(gaps, candidates, coins, bits=bits, tuning=tuning, boost=boost)]


def cheapest_level(gaps: Gaps, coins: Coins, tuning: Tuning) -> int:
    """The level at which listing the near candidates and flipping marked far ones costs least."""
    levels = [level + coins.spread for level in tuning.levels]
    cuts = np.array(levels) * _LN2
    reading = gaps.near_reading(cuts)
    near: list[int] = np.searchsorted(np.sort(gaps.sketch()), cuts, side="right").tolist()
    share = gaps.size / len(gaps.sketch())

    def cost(place: int) -> float:
        far = math.ldexp(gaps.size, -coins.exponent(levels[place]))
        return _READ * reading[place] + _LIST * share * near[place] + _MARK * far

    return levels[min(range(len(levels)), key=cost)]


def visit_counts(gaps: Gaps, tuning: Tuning) -> Iterator[int]:
    """How many random visits to make in each round, before the coins are thinned instead.

    Multiples of the wait for one heads that a sketch of the scores suggests; none if that is long.
    """
    sketch = gaps.sketch()
    chance = float(np.add.reduce(np.exp(-sketch))) / len(sketch)
    if chance >= tuning.least_mean_coin:
        for times in tuning.visits:
            count = 1 + int(times / chance)
            if 4 * count <= gaps.size:
                yield count


def far_heads(gaps: Gaps, coins: Coins, *, level: int, bits: Bits, tuning: Tuning) -> Indices:
    """The heads among the candidates that are far at ``level``."""
    marked, exponent = _marked(gaps, coins, level=level, bits=bits, tuning=tuning)
    if not len(marked):
        return marked
    return marked[flip(gaps, marked, coins, bits=bits, tuning=tuning, boost=exponent)]


def _marked(gaps: Gaps, coins: Coins, *, level: int, bits: Bits, tuning: Tuning) -> Boosted:
    """The marked among the candidates that are far at ``level``, and the boost that marking owes them."""
    exponent = coins.exponent(level)
    marked = marks(bits, gaps.size, exponent, tuning=tuning)
    return (marked[gaps.is_far(marked, level)] if len(marked) else marked), exponent


def _inner(
    gaps: Gaps, coins: Coins, near: Indices, *, level: int, bits: Bits, tuning: Tuning
) -> Iterator[Boosted]:
    """Some candidates that are not far at ``level``; of a long list, those far at the inner level thinned."""
    inner = tuning.inner + coins.spread
    if len(near) > 4 * tuning.few and inner < level:
        far = gaps.is_far(near, inner)
        exponent = coins.exponent(inner)
        outer = near[far]
        yield outer[marks(bits, len(outer), exponent, tuning=tuning)], exponent
        near = near[~far]
    yield near, 0
