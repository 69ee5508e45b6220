"""All heads among the candidates of one release, without flipping every coin.

Candidates beyond a level have coins of at most 2^−a. Such a coin is heads when two independent
coins are: one of chance 2^−a, which needs no score and is drawn for all candidates at once by
`marks`, and one of chance 2^a·c for the few that were marked (lemma 8 of the proof page).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Coins, flip
from discreet.sampling.marks import marks
from discreet.sampling.tuning import Tuning

# Measured costs, in units of reading one score: a flip, and a block that must be found first.
_FLIP = 60.0


def thinned_heads(
    gaps: Gaps, coins: Coins, *, bits: Bits, tuning: Tuning, level: int | None = None
) -> Indices:
    """Every candidate whose coin fell heads, all coins being independent."""
    if level is None:
        level = cheapest_level(gaps, coins, tuning)
    found = [heads for heads in _near_heads(gaps, coins, level, bits, tuning) if len(heads)]
    far = far_heads(gaps, coins, level=level, bits=bits, tuning=tuning)
    if len(far):
        found.append(far)
    if not found:
        return far
    return found[0] if len(found) == 1 else np.concatenate(found)


def cheapest_level(gaps: Gaps, coins: Coins, tuning: Tuning) -> int:
    """The level at which listing the near candidates and flipping marked ones costs least."""
    levels = [level + coins.spread for level in tuning.levels]
    return min(
        levels,
        key=lambda level: (
            gaps.near_reading(level) + _FLIP * gaps.size * 0.5 ** coins.exponent(level)
        ),
    )


def far_heads(gaps: Gaps, coins: Coins, *, level: int, bits: Bits, tuning: Tuning) -> Indices:
    """The heads among the candidates that are far at ``level``."""
    exponent = coins.exponent(level)
    marked = marks(bits, gaps.size, exponent, tuning=tuning)
    if not len(marked):
        return marked
    marked = marked[gaps.is_far(marked, level)]
    return marked[flip(gaps, marked, coins, bits=bits, tuning=tuning, boost=exponent)]


def _near_heads(
    gaps: Gaps, coins: Coins, level: int, bits: Bits, tuning: Tuning
) -> Iterator[Indices]:
    """The heads among the candidates that are not far at ``level``."""
    for near in gaps.near(level):
        inner = tuning.inner + coins.spread
        if len(near) > 4 * tuning.few and inner < level:
            far = gaps.is_far(near, inner)
            exponent = coins.exponent(inner)
            outer = near[far]
            marked = outer[marks(bits, len(outer), exponent, tuning=tuning)]
            yield marked[flip(gaps, marked, coins, bits=bits, tuning=tuning, boost=exponent)]
            near = near[~far]  # noqa: PLW2901 - the rest of this array is flipped below
        yield near[flip(gaps, near, coins, bits=bits, tuning=tuning)]
