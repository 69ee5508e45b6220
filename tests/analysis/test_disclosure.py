from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Exponential, ExponentialRandomizedResponse, NoisyMax, PermuteAndFlip, Scores
from discreet.analysis import disclosure_bound, disclosure_risk, epsilon_for_risk
from discreet.errors import ParameterError, ScoresError
from discreet.mechanisms import LargeGap

PRIVATE = [PermuteAndFlip(epsilon=1), Exponential(epsilon=1), NoisyMax(epsilon=1, noise="laplace")]
vectors = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=4)


def test_posterior_is_bayes_rule() -> None:
    worlds = [Scores(q, sensitivity=1) for q in ([5, 3], [4, 4], [3, 3])]
    prior = ["0.5", "0.3", "0.2"]
    mechanism = PermuteAndFlip(epsilon=1)
    result = disclosure_risk(mechanism, worlds, prior=prior)
    joint = np.array(
        [float(p) * mechanism.probabilities(w) for p, w in zip(prior, worlds, strict=True)]
    )
    expected = joint / joint.sum(axis=0)
    assert result.posterior == pytest.approx(expected, rel=1e-12)
    assert float(result) == pytest.approx(expected.max())
    assert expected[result.world, result.answer] == pytest.approx(expected.max())
    assert result.guess == pytest.approx(joint.max(axis=0).sum())
    assert result.blind == 0.5


@settings(max_examples=60, deadline=None)
@given(vectors, st.booleans())
def test_the_bound_at_the_real_distances_holds(values: list[int], monotonic: Any) -> None:
    worlds = [Scores(q, sensitivity=1, monotonic=monotonic) for q in values]
    for mechanism in PRIVATE:
        result = disclosure_risk(mechanism, worlds)
        assert result.blind - 1e-12 <= result.guess <= result.risk + 1e-12
        assert result.risk <= result.bound + 1e-12
        if result.steps > 0:
            assert (
                result.bound <= disclosure_bound(1, worlds=len(worlds), steps=result.steps) + 1e-12
            )


def test_the_published_bound_is_too_small_for_worlds_two_steps_apart() -> None:
    worlds = [Scores(q, sensitivity=1, monotonic=True) for q in ([9, 20], [10, 19])]
    result = disclosure_risk(Exponential(epsilon=1), worlds)
    assert result.risk > 0.88 > disclosure_bound(1, worlds=2)
    # Noise calibrated to 2Δ covers two steps of counts at once.
    general = [Scores(q, sensitivity=1) for q in ([9, 20], [10, 19])]
    assert disclosure_risk(Exponential(epsilon=1), general).risk <= disclosure_bound(1, worlds=2)


def test_a_mechanism_without_proof_is_bounded_by_nothing_and_says_so() -> None:
    worlds = [Scores(q, sensitivity=1) for q in ([5, 3, 1], [5, 4, 1])]
    mechanism = ExponentialRandomizedResponse(epsilon="0.1", truth="0.75")
    result = disclosure_risk(mechanism, worlds)
    assert result.bound == 1
    assert result.warning is not None
    assert "no privacy guarantee" in result.warning
    assert result.risk > disclosure_bound("0.1", worlds=2) + 0.2
    assert disclosure_risk(PermuteAndFlip(epsilon=1), worlds).warning is None


def test_a_delta_bounds_no_belief() -> None:
    worlds = [Scores(q, sensitivity=1, monotonic=True) for q in ([60, 30], [59, 31])]
    result = disclosure_risk(LargeGap(epsilon=1, delta="0.01"), worlds)
    assert result.bound == 1
    assert result.warning is not None
    assert "δ" in result.warning
    assert result.risk <= 1


def test_no_noise_discloses_everything() -> None:
    worlds = [Scores(q, sensitivity=1) for q in ([5, 3], [3, 5])]
    result = disclosure_risk(PermuteAndFlip(scale=0), worlds)
    assert (result.risk, result.bound, result.guess) == (1, 1, 1)


def test_probabilities_that_underflow_still_give_beliefs() -> None:
    worlds = [Scores(q, sensitivity=1) for q in ([0, -4000], [0, -4001])]
    result = disclosure_risk(Exponential(epsilon=1), worlds)
    assert result.posterior[0, 1] == pytest.approx(1 / (1 + math.exp(-0.5)), rel=1e-9)


@pytest.mark.parametrize("steps", [1, 2, "0.5"])
@pytest.mark.parametrize("risk", ["0.2", "0.5", 0.999])
def test_epsilon_for_a_tolerated_risk(risk: Any, steps: Any) -> None:
    epsilon = epsilon_for_risk(risk, worlds=201, steps=steps)
    assert disclosure_bound(epsilon, worlds=201, steps=steps) <= float(risk)
    assert disclosure_bound(epsilon * 1.000001, worlds=201, steps=steps) > float(risk)


def test_the_papers_example_is_twice_too_generous() -> None:
    # For 100 candidates and a risk of 20 %, the paper says "ε ≈ 4"; worlds two steps apart need half of it.
    assert epsilon_for_risk("0.2", worlds=201, steps=1) == pytest.approx(3.912, abs=1e-3)
    assert epsilon_for_risk("0.2", worlds=201) == pytest.approx(1.956, abs=1e-3)


def test_bad_input_is_refused() -> None:
    one, two = Scores([1, 2], sensitivity=1), Scores([1, 2], sensitivity=2)
    mechanism = PermuteAndFlip(epsilon=1)
    with pytest.raises(ScoresError, match="sensitivity"):
        disclosure_risk(mechanism, [one, two])
    with pytest.raises(ScoresError, match="candidates"):
        disclosure_risk(mechanism, [one, Scores([1, 2, 3], sensitivity=1)])
    for worlds in ([], [[1, 2]]):
        with pytest.raises(ParameterError, match="worlds"):
            disclosure_risk(mechanism, worlds)  # type: ignore[arg-type]  # on purpose
    bad: Any
    for bad in (["0.5"], ["0.5", "0.6"], [0, 1], [2, -1]):
        with pytest.raises(ParameterError, match="prior"):
            disclosure_risk(mechanism, [one, one], prior=bad)
    with pytest.raises(ParameterError, match="risk"):
        epsilon_for_risk("0.001", worlds=201)
    assert epsilon_for_risk(1, worlds=3) == math.inf
