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


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_chances_are_those_of_the_law(name: str, monotonic: bool) -> None:
    rule = STREAMS[name](epsilon=1, threshold=500, sensitivity=1, monotonic=monotonic)
    chances = rule.probabilities([490] * 19 + [510])
    found = threshold_errors(rule, n=20, margin=10)
    assert math.isclose(found.false_alarm, chances[:19].sum(), rel_tol=1e-9)
    assert math.isclose(found.miss, chances[-1], rel_tol=1e-9)
    assert not found.at_once


def test_no_data_that_keeps_the_margin_is_harder() -> None:
    rule = CrossingRule(1, threshold=0, sensitivity=1)
    hardest = threshold_errors(rule, n=6, margin=5).wrong
    rng = np.random.default_rng(1)
    for _ in range(50):
        values = [*(-5 - rng.exponential(5, 5)), 5 + rng.exponential(5)]
        assert 1 - rule.probabilities(values)[5] <= hardest


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
        assert needed[2] > 3 * needed[0]
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
