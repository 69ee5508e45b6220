"""Planning thresholds: the hardest data, the least ε, and when another method does better."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from discreet import Exponential, PermuteAndFlip
from discreet.analysis import epsilon_for_threshold, recommend_threshold, threshold_errors
from discreet.analysis.charts import split_chart
from discreet.errors import ParameterError
from discreet.mechanisms import STREAMS, CrossingRule
from discreet.scores import Scores


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_chances_are_those_of_the_law(name: str, monotonic: bool) -> None:
    rule = STREAMS[name](epsilon=1, threshold=500, sensitivity=1, monotonic=monotonic)
    chances = rule.probabilities([490] * 19 + [510])
    found = threshold_errors(rule, n=20, margin=10)
    assert math.isclose(found.false_alarm, chances[:19].sum(), rel_tol=1e-9)
    assert math.isclose(found.miss, chances[-1], rel_tol=1e-9)
    quiet = rule.probabilities([490] * 20)[-1]
    assert math.isclose(found.false_alarm_if_none, 1 - quiet, rel_tol=1e-9)
    assert not found.at_once


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(("n", "margin"), [(1, 15), (1, 5), (2, 10), (6, 5)])
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_data_that_keeps_the_margin_is_harder(
    name: str, n: int, margin: int, monotonic: bool
) -> None:
    rule = STREAMS[name](1, threshold=0, sensitivity=1, monotonic=monotonic)
    hardest = threshold_errors(rule, n=n, margin=margin).wrong
    rng = np.random.default_rng(1)
    for above in [n, *range(n)] * 5:  # the place of the first value above; n if there is none
        for extra in (0.0, 5.0):
            values = -margin - extra * rng.exponential(1, n)
            if above < n:
                values[above] = margin + extra * rng.exponential()
                later = n - above - 1
                values[above + 1 :] *= rng.choice([-1, 1], later)
            right = rule.probabilities(values.tolist())[above]
            assert 1 - right <= hardest * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("mechanism", [PermuteAndFlip, Exponential])
@pytest.mark.parametrize(("n", "margin"), [(1, 4), (3, 4), (52, 15)])
def test_no_data_is_harder_for_a_choice_among_all_values(
    mechanism: type[PermuteAndFlip | Exponential], n: int, margin: int
) -> None:
    made = mechanism(epsilon=1)
    hardest = threshold_errors(made, n=n, margin=margin).wrong
    rng = np.random.default_rng(1)
    for extra in (0.0, 0.0, 3.0):
        for above in range(n + 1):  # the number of values above the threshold
            values = margin + extra * rng.exponential(1, n)
            values[above:] *= -1
            chances = made.probabilities(Scores([*values.tolist(), 0.0], sensitivity=1))
            wrong = chances[above:].sum() if above else chances[:n].sum()
            assert wrong <= hardest * (1 + 1e-9)


def test_a_single_value_with_little_noise_on_it() -> None:
    """The value below the threshold is above the number that it is compared with."""
    rule = CrossingRule(1, threshold=0, sensitivity=1, threshold_share="0.05")
    found = threshold_errors(rule, n=1, margin=5)
    assert found.false_alarm == 0.0
    assert found.miss == pytest.approx(rule.probabilities([5])[-1], rel=1e-9)
    assert found.false_alarm_if_none == pytest.approx(rule.probabilities([-5])[0], rel=1e-9)


def test_without_any_value_above_false_alarms_may_be_likelier() -> None:
    rule = CrossingRule(1, threshold=0, sensitivity=1)
    found = threshold_errors(rule, n=1, margin=15)
    assert found.false_alarm == 0.0
    assert found.miss == pytest.approx(0.0017420, abs=1e-7)
    assert found.false_alarm_if_none == found.wrong == pytest.approx(0.0045532, abs=1e-7)


@pytest.mark.parametrize("mechanism", [*STREAMS, PermuteAndFlip])
@pytest.mark.parametrize(("n", "level"), [(1, "0.3"), (2, "0.05")])
def test_where_every_epsilon_is_enough_none_is_needed(mechanism: Any, n: int, level: str) -> None:
    assert epsilon_for_threshold(mechanism, n=n, margin=20, with_probability=level) == 0.0


@pytest.mark.parametrize("mechanism", [*STREAMS, PermuteAndFlip])
def test_the_least_epsilon_meets_the_goal_and_less_does_not(mechanism: Any) -> None:
    epsilon = epsilon_for_threshold(mechanism, n=52, margin=20, monotonic=True)

    def wrong(amount: float) -> float:
        made = (
            STREAMS[mechanism](amount, threshold=0, sensitivity=1, monotonic=True)
            if isinstance(mechanism, str)
            else mechanism(epsilon=amount)
        )
        return threshold_errors(made, n=52, margin=20, monotonic=True).wrong

    assert wrong(epsilon) <= 0.05 < wrong(epsilon * 0.999)


def test_exponential_noise_beats_laplace_and_knowing_all_values_beats_both() -> None:
    """Lyu, Su and Li's finding about Laplace noise holds for exponential noise too."""
    contenders: list[Any] = [PermuteAndFlip, Exponential, *STREAMS]
    for n in (10, 52, 1000):
        needed = [
            epsilon_for_threshold(each, n=n, margin=20, monotonic=True) for each in contenders
        ]
        assert needed == sorted(needed)
        assert needed[2] > 2 * needed[0]
    advice = recommend_threshold(1, n=52, margin=20, monotonic=True)
    assert advice.best.mechanism == "above-threshold"
    assert "permute-and-flip with one more candidate" in advice.advice
    assert [row["mechanism"] for row in advice.records()] == [
        *STREAMS,
        "permute-and-flip",
        "exponential",
    ]


def test_wrong_parameters() -> None:
    wrongs: list[dict[str, Any]] = [
        {"margin": 0},
        {"n": 0},
        {"with_probability": 1},
        {"mechanism": "exponential"},
        {"sensitivity": 0},
    ]
    for wrong in wrongs:
        with pytest.raises(ParameterError):
            epsilon_for_threshold(**{"n": 10, "margin": 5, **wrong})


def test_the_chart_of_the_split() -> None:
    drawn = json.dumps(split_chart(1, crossings=(1, 10)).to_dict(), ensure_ascii=False)
    assert "10 crossings" in drawn
    assert "share of ε for the threshold" in drawn
