from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Exponential, ExponentialRandomizedResponse, NoisyMax, PermuteAndFlip, Scores
from discreet.analysis import (
    budget_ratio,
    epsilon_for,
    error_tail,
    expected_error,
    worst_case_error,
    worst_case_tail,
)
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.mechanisms.registry import Family, member

LAPLACE = NoisyMax(epsilon=1, noise="laplace")
FAMILIES = [PermuteAndFlip, Exponential, LAPLACE, "noisy-max-gumbel"]
SCORES = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("target", [100, 5, "0.01", 1e-12, 1e-200])
def test_the_least_epsilon_meets_the_target_and_a_smaller_one_does_not(
    family: Family, target: Any
) -> None:
    epsilon = epsilon_for(family, SCORES, expected_error=target)
    assert expected_error(member(family, epsilon), SCORES) <= float(target)
    assert expected_error(member(family, epsilon * (1 - 1e-11)), SCORES) > float(target)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("most", "chance"), [(0, "0.9"), (14, "0.999999"), (13.999, 0.95), (20, "0.5")]
)
def test_tail_targets(family: Family, most: Any, chance: Any) -> None:
    epsilon = epsilon_for(family, SCORES, error_at_most=most, with_probability=chance)
    beyond = math.nextafter(most, math.inf)
    if epsilon:
        assert error_tail(member(family, epsilon), SCORES, beyond) <= 1 - float(chance) + 1e-15
        assert error_tail(member(family, epsilon * (1 - 1e-9)), SCORES, beyond) > 1 - float(chance)
    else:
        assert error_tail(member(family, "1e-9"), SCORES, beyond) <= 1 - float(chance)


@pytest.mark.parametrize("family", FAMILIES)
def test_without_data(family: Family) -> None:
    for gap in (0, 3, 500):
        epsilon = epsilon_for(
            family, n=200, expected_error=2, gap=gap, sensitivity=2, monotonic=True
        )
        assert worst_case_error(member(family, epsilon), 200, 2, True, gap=gap) <= 2
        assert worst_case_error(member(family, epsilon * (1 - 1e-9)), 200, 2, True, gap=gap) > 2
    epsilon = epsilon_for(family, n=200, error_at_most=7, with_probability="0.95")
    assert worst_case_tail(member(family, epsilon), 200, 7) <= 0.05 + 1e-15
    hoped = epsilon_for(family, n=200, error_at_most=0, with_probability="0.95", gap=7)
    assert hoped == pytest.approx(epsilon, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-30, 0), min_size=1, max_size=6), st.floats(1e-6, 40))
def test_the_plan_for_any_data_covers_these_data(values: list[int], target: Any) -> None:
    scores = Scores([0, *values], sensitivity=1)
    public = epsilon_for(PermuteAndFlip, n=len(scores), expected_error=target)
    assert epsilon_for(PermuteAndFlip, scores, expected_error=target) <= public * (1 + 1e-9)


def test_the_published_budget_ratios(hepth_mode: Scores, hepth_median: Scores) -> None:
    mode = budget_ratio(Exponential, PermuteAndFlip(epsilon="0.04"), hepth_mode)
    median = budget_ratio(Exponential, PermuteAndFlip, hepth_median, epsilon="0.01")
    assert mode == pytest.approx(1.265, abs=5e-4)
    assert median == pytest.approx(1.196, abs=5e-4)


def test_budget_ratio_is_one_for_the_same_mechanism_and_never_below_for_the_exponential() -> None:
    assert budget_ratio(PermuteAndFlip, PermuteAndFlip(epsilon=2), SCORES) == pytest.approx(
        1, rel=1e-10
    )
    for epsilon in ("0.01", "0.1", "1"):
        assert budget_ratio(Exponential, PermuteAndFlip, SCORES, epsilon=epsilon) >= 1 - 1e-12


def test_a_blind_choice_may_be_enough() -> None:
    assert epsilon_for(PermuteAndFlip, SCORES, expected_error=1000) == 0
    assert epsilon_for(PermuteAndFlip, Scores([3, 3], sensitivity=1), expected_error=0) == 0


def test_targets_out_of_reach_name_the_best_reachable() -> None:
    with pytest.raises(ParameterError, match=r"expected_error=0 cannot be met.*approaches 0"):
        epsilon_for(PermuteAndFlip, SCORES, expected_error=0)
    response = ExponentialRandomizedResponse(epsilon=1, truth="0.5")
    with pytest.raises(ParameterError, match=r"approaches 0\.5$"):
        epsilon_for(response, Scores([3, 2, 1], sensitivity=1), expected_error="0.4")
    with pytest.raises(ParameterError, match=r"approaches probability 0\.66"):
        epsilon_for(
            response, Scores([3, 2, 1], sensitivity=1), error_at_most=0, with_probability="0.9"
        )
    with pytest.raises(ParameterError, match=r"approaches 4\.75"):
        epsilon_for(response, n=20, expected_error=1)
    with pytest.raises(ParameterError, match="cannot be met"):
        epsilon_for(PermuteAndFlip, n=4, error_at_most=0, with_probability="0.9")
    with pytest.raises(ParameterError, match="cannot be met"):
        epsilon_for(PermuteAndFlip, SCORES, error_at_most=3, with_probability=1)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"expected_error": 1, "error_at_most": 2, "with_probability": 0.9},
        {"error_at_most": 2},
        {"expected_error": 1, "with_probability": 0.9},
        {"expected_error": -1},
        {"expected_error": float("nan")},
        {"error_at_most": 1, "with_probability": 1.5},
        {"expected_error": 1, "n": 3},
        {"expected_error": 1, "gap": 3},
        {"expected_error": 1, "sensitivity": 3},
    ],
)
def test_contradictory_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        epsilon_for(PermuteAndFlip, SCORES, **arguments)


def test_other_refusals() -> None:
    with pytest.raises(ParameterError, match="scores and n="):
        epsilon_for(PermuteAndFlip, expected_error=1)
    with pytest.raises(DiscreetError, match="mechanism="):
        epsilon_for("best-guess", SCORES, expected_error=1)
    with pytest.raises(ParameterError, match="mechanism="):
        epsilon_for(3, SCORES, expected_error=1)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ParameterError, match="epsilon="):
        budget_ratio(Exponential, PermuteAndFlip, SCORES)
    with pytest.raises(ScoresError, match="makes no error"):
        budget_ratio(Exponential, PermuteAndFlip(epsilon=1), Scores([1, 1], sensitivity=1))
