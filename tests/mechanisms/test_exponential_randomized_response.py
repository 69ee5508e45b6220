"""The distribution of exponential randomized response: floats against balls."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import ExponentialRandomizedResponse, Scores


@pytest.mark.parametrize("variant", ["complete", "naive"])
@pytest.mark.parametrize("truth", [Fraction(0), Fraction(1, 4), Fraction(3, 4), Fraction(1)])
def test_the_law_mixes_the_two(truth: Fraction, variant: str) -> None:
    scores = Scores([40, 39, 38, 20, 20, -700], sensitivity=1)
    mechanism = ExponentialRandomizedResponse(epsilon=1, truth=truth, variant=variant)
    found, logs = mechanism.probabilities(scores), mechanism.log_probabilities(scores)
    balls = mechanism.ball_probabilities(scores)
    top = mechanism.top_set(scores)
    assert math.fsum(found.tolist()) == pytest.approx(1, abs=1e-14)
    for place, ball in enumerate(balls):
        if truth == 1 and not top[place]:
            assert found[place] == 0
            assert logs[place] == -np.inf
        else:
            assert found[place] == pytest.approx(float(ball), rel=1e-14)
            assert logs[place] == pytest.approx(float(ball.log()), rel=1e-14)
