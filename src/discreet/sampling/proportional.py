"""The exponential mechanism: a candidate with probability proportional to exp(−γ).

That is also noisy max with Gumbel noise. Rejection from two groups: the near candidates, proposed
with weight 2^a each and accepted with chance exp(−γ), and everyone, proposed with weight 1 and
accepted with chance 2^a·exp(−γ) if far (theorem 2 of the proof page).
"""

from __future__ import annotations

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads, flip
from discreet.sampling.integers import some_indices, some_words_below
from discreet.sampling.tuning import STANDARD, Tuning

_COINS = Heads()
_PROPOSALS_AT_MOST = 1 << 13


@np.errstate(all="ignore")
def proportional(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """A candidate drawn as the exponential mechanism draws it: r with probability p_r / Σp.

    Example:
        >>> from fractions import Fraction
        >>> from discreet.sampling.bits import SecureBits
        >>> proportional(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    gaps.best  # noqa: B018 - the pass over the scores, which also refuses NaN and infinities
    level = tuning.levels[0]
    near = gaps.few_near(level, most=tuning.few)
    if near is None:
        for count in tuning.visits:
            drawn = some_indices(bits, gaps.size, count=count, width=tuning.index_word)
            accepted = flip(gaps, drawn, _COINS, bits=bits, tuning=tuning)
            if len(accepted):
                return int(drawn[accepted[0]])
        level = proposal_level(gaps, tuning)
        near = np.concatenate(list(gaps.near(level)))
    return _two_groups(gaps, near, level, bits, tuning)


def proposal_level(gaps: Gaps, tuning: Tuning) -> int:
    """The level at which listing the near candidates and the proposals expected cost least."""
    return min(
        tuning.levels,
        key=lambda level: gaps.near_reading(level) + 60.0 * gaps.size * 0.5**level,
    )


def _two_groups(gaps: Gaps, near: Indices, level: int, bits: Bits, tuning: Tuning) -> int:
    """Rejection from the near candidates (weight 2^level) and from all (weight 1)."""
    crowd = len(near) << level
    count = min(2 + 2 * len(near), tuning.visits[-1]) if tuning.visits else 1
    while True:
        drawn = some_words_below(bits, crowd + gaps.size, count=count).astype(np.int64)
        among_near = drawn < crowd
        candidates = np.where(
            among_near, near[np.where(among_near, drawn >> level, 0)], drawn - crowd
        )
        # A near candidate proposed by the second group is refused: it has its weight already.
        valid = among_near.copy()
        others = (~among_near).nonzero()[0]
        if len(others):
            valid[others] = gaps.is_far(candidates[others], level)
            candidates = candidates[valid]
            among_near = among_near[valid]
        boost = np.where(among_near, 0, level)
        accepted = flip(gaps, candidates, _COINS, bits=bits, tuning=tuning, boost=boost)
        if len(accepted):
            return int(candidates[accepted[0]])
        count = min(2 * count, _PROPOSALS_AT_MOST)
