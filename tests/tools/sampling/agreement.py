"""Compare a fast and a plain sampler with the law, by chi-square tests with scripted bits."""

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
"""The false-alarm rate of each of the two tests. Bits are scripted, so a test that passes keeps passing."""
DRAWS, PLAIN_DRAWS = 200_000, 6_000


def agree(mechanism: Mechanism, plain: Sampler, counts: Sequence[int]) -> None:
    """Check that both samplers follow the law, and that a probability off by 10 % of itself is caught."""
    scores = Scores(list(counts), sensitivity=1, monotonic=True)
    gaps = mechanism.gaps(scores)
    gammas = [Fraction(gaps.exact(place)) for place in range(len(counts))]
    law = mechanism.probabilities(scores)
    fast = mechanism.sample(scores, DRAWS, randomness=scripted(1))
    bits = ScriptedBits("plain")
    slow = [plain(gammas, bits) for _ in range(PLAIN_DRAWS)]
    for drawn in (fast, np.array(slow)):
        assert fits(np.bincount(drawn, minlength=len(counts)), law)
    # The power of the test: the same draws must not fit a wrong law.
    shifted = law * np.where(np.arange(len(law)) == 0, 0.9, 1)
    assert not fits(np.bincount(fast, minlength=len(counts)), shifted / shifted.sum())


def fits(
    drawn: np.ndarray[tuple[int], np.dtype[np.int64]],
    law: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> bool:
    """Return whether the numbers of draws fit the law, with the stated false-alarm rate."""
    expected = law * drawn.sum()
    statistic = float(((drawn - expected) ** 2 / expected).sum())
    return statistic < float(chi2.isf(FALSE_ALARM, len(law) - 1))
