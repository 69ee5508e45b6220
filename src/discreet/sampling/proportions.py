"""The exponential mechanism: a candidate with probability proportional to exp(−γ).

That is also noisy max with Gumbel noise. When few candidates are near, their cumulative chances are
inverted; when many are, one of them is met by a few uniform proposals; in between, proposals come
from two groups, the near ones and everyone (theorem 2 of the proof page).
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads, flip
from discreet.sampling.integers import some_indices, some_words_below
from discreet.sampling.refinement import Ball, Uniform, ball, scaled
from discreet.sampling.thinning import cheapest_level, visit_counts
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
    if near is not None:
        return _by_inversion(gaps, near, level, bits, tuning)
    for count in visit_counts(gaps, tuning):
        drawn = some_indices(bits, gaps.size, count=count, width=tuning.index_word)
        accepted = flip(gaps, drawn, _COINS, bits=bits, tuning=tuning)
        if len(accepted):
            return int(drawn[accepted[0]])
    return _from_two_groups(gaps, cheapest_level(gaps, _COINS, tuning), bits, tuning)


def _by_inversion(gaps: Gaps, near: Indices, level: int, bits: Bits, tuning: Tuning) -> int:
    """Near candidates by their chances; beyond them, a far one by its bound 2^−level and a coin."""
    # The second group proposes from everyone and refuses the near ones, so its weight counts everyone.
    others = gaps.size
    ends = np.cumsum(_COINS.chances(gaps.gather(near))[0])
    total = float(ends[-1]) + others * 0.5**level
    while True:
        uniform = Uniform(
            bits, known=bits.integer(tuning.word), width=tuning.word, step=tuning.word
        )
        target = (uniform.known + 0.5) * 0.5**tuning.word * total
        # Lemma 14: ends, total and target are off by less than this, together.
        doubt = total * (4 * tuning.tolerance + 2.0 ** (1 - tuning.word))
        place = int(np.searchsorted(ends, target - doubt))
        if place < len(near) and ends[place] <= target + doubt:
            place = _invert_exactly(gaps, near, others, level, uniform)
        if place < len(near):
            return int(near[place])
        drawn = some_indices(bits, gaps.size, count=1, width=tuning.index_word)
        far = drawn[gaps.is_far(drawn, level)]
        if len(flip(gaps, far, _COINS, bits=bits, tuning=tuning, boost=level)):
            return int(far[0])


def _invert_exactly(gaps: Gaps, near: Indices, others: int, level: int, uniform: Uniform) -> int:
    """The first place whose share of the total exceeds the uniform number; len(near) if none."""
    gammas = [gaps.exact(candidate) for candidate in near.tolist()]

    def share(place: int) -> Ball:
        chances = [ball(-gamma).exp() for gamma in gammas]
        below = sum(chances[: place + 1], ball(0))
        return below / (below + sum(chances[place + 1 :], scaled(ball(others), -level)))

    return bisect_left(
        range(len(near)), True, key=lambda place: uniform.is_below(lambda: share(place))
    )


def _from_two_groups(gaps: Gaps, level: int, bits: Bits, tuning: Tuning) -> int:
    """Rejection from the near candidates (weight 2^level) and from everyone (weight 1)."""
    near = np.concatenate(list(gaps.near(level)))
    crowd = len(near) << level
    count = tuning.proposals
    while True:
        drawn = some_words_below(bits, crowd + gaps.size, count=count).astype(np.int64)
        first = drawn < crowd
        drawn[first] = near[drawn[first] >> level]
        others = (~first).nonzero()[0]
        drawn[others] -= crowd
        # A near candidate proposed by the second group is refused: it has its weight already.
        first[others] = ~gaps.is_far(drawn[others], level)
        valid = np.ones(len(drawn), dtype=np.bool_)
        valid[others] = ~first[others]
        candidates = drawn[valid]
        boost = np.where(first[valid], 0, level)
        accepted = flip(gaps, candidates, _COINS, bits=bits, tuning=tuning, boost=boost)
        if len(accepted):
            return int(candidates[accepted[0]])
        count = min(2 * count, _PROPOSALS_AT_MOST)
