"""All heads among the candidates of one release, without flipping every coin.

Candidates beyond a level have coins of at most 2^−a. Such a coin is heads when two independent
coins are: one of chance 2^−a, which needs no score and is drawn for all candidates at once by
`marks`, and one of chance 2^a·c for the few that were marked (lemma 8 of the proof page).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

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
_ARMFUL = 1 << 14


def thinned_heads(
    gaps: Gaps, coins: Coins, *, bits: Bits, tuning: Tuning, level: int | None = None
) -> Indices:
    """Every candidate whose coin fell heads, all coins being independent."""
    if level is None:
        level = cheapest_level(gaps, coins, tuning)
    found = [far_heads(gaps, coins, level=level, bits=bits, tuning=tuning)]
    for near in _in_armfuls(gaps.near(level)):
        found.extend(_near_heads(gaps, coins, near, level=level, bits=bits, tuning=tuning))
    return np.concatenate(found)


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
    if chance >= tuning.hopeless:
        for times in tuning.visits:
            count = 1 + int(times / chance)
            if 4 * count <= gaps.size:
                yield count


def far_heads(gaps: Gaps, coins: Coins, *, level: int, bits: Bits, tuning: Tuning) -> Indices:
    """The heads among the candidates that are far at ``level``."""
    exponent = coins.exponent(level)
    marked = marks(bits, gaps.size, exponent, tuning=tuning)
    if not len(marked):
        return marked
    marked = marked[gaps.is_far(marked, level)]
    return marked[flip(gaps, marked, coins, bits=bits, tuning=tuning, boost=exponent)]


def _in_armfuls(arrays: Iterator[Indices]) -> Iterator[Indices]:
    """The same candidates in fewer arrays: short ones are joined, so that each flip is worth it."""
    held: list[Indices] = []
    count = 0
    for array in arrays:
        held.append(array)
        count += len(array)
        if count >= _ARMFUL:
            yield np.concatenate(held)
            held, count = [], 0
    if count:
        yield np.concatenate(held)


def _near_heads(
    gaps: Gaps, coins: Coins, near: Indices, *, level: int, bits: Bits, tuning: Tuning
) -> Iterator[Indices]:
    """The heads among some candidates that are not far at ``level``."""
    inner = tuning.inner + coins.spread
    if len(near) > 4 * tuning.few and inner < level:
        far = gaps.is_far(near, inner)
        exponent = coins.exponent(inner)
        outer = near[far]
        marked = outer[marks(bits, len(outer), exponent, tuning=tuning)]
        yield marked[flip(gaps, marked, coins, bits=bits, tuning=tuning, boost=exponent)]
        near = near[~far]
    yield near[flip(gaps, near, coins, bits=bits, tuning=tuning)]
