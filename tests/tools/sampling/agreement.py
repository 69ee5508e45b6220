"""A fast sampler beside a plain one: both against the law, by a chi-square test with scripted bits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.stats import chi2

from discreet._exact.sampling.bits import ScriptedBits
from discreet.mechanisms.mechanism import Mechanism
from discreet.scores import Scores
from discreet.testing import scripted
from tests.tools.sampling.plain import Sampler

FALSE_ALARM = 1e-9
"""Of each of the two tests; the bits are scripted, so that a test that passes goes on passing."""
DRAWS, PLAIN_DRAWS = 200_000, 6_000


def agree(mechanism: Mechanism, plain: Sampler, counts: Sequence[int]) -> None:
    """Both samplers follow the law; a probability that is off by a tenth of itself is caught."""
    scores = Scores(list(counts), sensitivity=1, monotonic=True)
    gaps = mechanism.gaps(scores)
    gammas = [Fraction(gaps.exact(place)) for place in range(len(counts))]
    law = mechanism.probabilities(scores)
    fast = mechanism.sample(scores, DRAWS, randomness=scripted(1))
    bits = ScriptedBits("plain")
    slow = [plain(gammas, bits) for _ in range(PLAIN_DRAWS)]
    for drawn in (fast, np.array(slow)):
        assert fits(np.bincount(drawn, minlength=len(counts)), law)
    # The power of the test: the same draws against a law that is off.
    shifted = law * np.where(np.arange(len(law)) == 0, 0.9, 1)
    assert not fits(np.bincount(fast, minlength=len(counts)), shifted / shifted.sum())


def fits(
    drawn: np.ndarray[tuple[int], np.dtype[np.int64]],
    law: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> bool:
    """Whether the numbers of draws follow the law, with the stated rate of false alarms."""
    expected = law * drawn.sum()
    statistic = float(((drawn - expected) ** 2 / expected).sum())
    return statistic < float(chi2.isf(FALSE_ALARM, len(law) - 1))
