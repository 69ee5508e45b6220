"""The weights of losses in the best of several runs: the polygon is above the function and close to it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from discreet import ApproxDP, BoundedRange, PureDP
from discreet.guarantees import Guarantee
from discreet.tuning import Geometric, NegativeBinomial, Poisson
from discreet.tuning.laws import RandomRunCount
from discreet.tuning.profiles import profile_of
from discreet.tuning.weights import divergence_of_best, weights_of


@pytest.mark.parametrize("cost", [PureDP(1), BoundedRange(1), ApproxDP(1, "0.001")], ids=repr)
@pytest.mark.parametrize(
    "runs", [Geometric(mean=8), NegativeBinomial(mean=8, shape=0), Poisson(mean=5)], ids=repr
)
def test_the_polygon_is_above_and_close(runs: RandomRunCount, cost: Guarantee) -> None:
    """A slow twin in floats: r by its tangents at 400 points, then the maximum over 2,001 u."""
    profile = profile_of(cost)
    u = np.linspace(0, 1, 2001)
    reached = np.ones_like(u)
    for t in np.linspace(0, 1, 400):
        lost = float(profile.at(Fraction(float(t))))
        up, down = math.exp(t), math.exp(-t)
        reached = np.minimum(reached, np.minimum(up * u + lost, 1 - down * (1 - u - lost)))
    with ctx.workprec(64):
        slopes = [
            np.array([float(runs.slope(arb(x)).mid()) for x in side]) for side in (reached, u)
        ]
    weights = weights_of(profile, runs, Fraction(1, 10**6))
    corners = np.exp([float(corner) for corner in weights.corners])
    rises = np.array([float(rise) for rise in weights.rises])
    assert rises.min() > 0
    assert rises.sum() == pytest.approx(runs.mean, rel=1e-6)
    for x in (0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 3.0):
        best = max(0.0, float((slopes[0] * x - slopes[1]).max()))
        polygon = float((rises * np.maximum(x - corners, 0)).sum())
        assert polygon >= best - 1e-9
        assert polygon <= 1.01 * best + 0.003 * runs.mean


def test_a_pure_run_loses_nothing_beyond_its_exact_cost() -> None:
    runs = Geometric(mean=8)
    profile = profile_of(PureDP(1))
    weights = weights_of(profile, runs, Fraction(1, 10**6))
    exact = Fraction(runs.pure(Fraction(1)))
    assert divergence_of_best(profile, weights, exact * Fraction(1001, 1000)) == 0
    assert divergence_of_best(profile, weights, exact * Fraction(9, 10)) > 0
