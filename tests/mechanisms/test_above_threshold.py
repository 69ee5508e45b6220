"""The threshold mechanism: parameters, guarantee, distribution and draws."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import ZCDP, ApproxDP, PureDP
from discreet.errors import ParameterError, ScoresError
from discreet.mechanisms import STREAMS, CrossingRule
from discreet.testing import scripted

VALUES = [497, 503, 499, 501]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("crossings", [1, 2, 100])
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_scales_cost_exactly_epsilon(name: str, crossings: int, monotonic: bool) -> None:
    rule = STREAMS[name](
        epsilon="0.7", threshold=500, sensitivity="1.5", crossings=crossings, monotonic=monotonic
    )
    distance = rule.sensitivity * (1 if monotonic else 2)
    spent = rule.sensitivity / rule.scales.threshold + crossings * distance / rule.scales.query
    assert spent == rule.epsilon == Fraction(7, 10)
    assert rule.guarantee() == PureDP("0.7")
    assert rule.guarantee(ZCDP) == PureDP("0.7").to(ZCDP)
    assert rule.guarantee(ApproxDP, "1e-6").exact[0] <= rule.epsilon
    assert type(rule)(**rule.parameters()).scales == rule.scales
    assert name in rule.name.replace("sparse-vector", "above-threshold")


def test_the_guarantee_names_its_theorem_and_a_subclass_has_none() -> None:
    rule = CrossingRule(1, threshold=5, sensitivity=1)
    assert "above_threshold_pure_dp, checked by Coq" in str(rule.guarantee().proof)

    class Other(CrossingRule):
        __slots__ = ()

    assert Other(1, threshold=5, sensitivity=1).guarantee().proof is None


@pytest.mark.parametrize("name", STREAMS)
def test_draws_follow_the_law(name: str) -> None:
    """Over 4,000 scripted streams, each frequency is within 6 standard deviations (10⁻⁸ for both tests).

    Without its correction of b₂ − b₁ = 1.1, the threshold would move the first frequency by seven standard
    deviations.
    """
    rule = STREAMS[name](epsilon=1, threshold=500, sensitivity=1)
    chances, draws = rule.probabilities(VALUES), 4000
    drawn = rule.sample(VALUES, draws, randomness=scripted("draws"))
    counts = np.bincount(drawn, minlength=5)
    assert (np.abs(counts / draws - chances) < 6 * np.sqrt(chances / draws)).all()


def test_exact_numbers_and_large_thresholds() -> None:
    """Values are exact: a threshold beyond 2⁵³ still distinguishes neighbouring integers."""
    rule = CrossingRule(1, threshold=2**80, sensitivity=1)
    near = rule.probabilities([2**80, 2**80 + 1])
    plain = CrossingRule(1, threshold=0, sensitivity=1).probabilities([0, 1])
    assert np.allclose(near, plain, rtol=1e-12)
    third = CrossingRule(1, threshold=Fraction(1, 3), sensitivity=1)
    assert np.allclose(third.probabilities([Fraction(1, 3), Fraction(4, 3)]), plain, rtol=1e-12)
    assert np.allclose(third.probabilities([Decimal("0.5")]), third.probabilities([0.5]))


def test_sequences() -> None:
    rule = CrossingRule(1, threshold=5, sensitivity=1, crossings=2)
    first = rule.probabilities([4, 5])
    both = [rule.sequence_probability([4, 5], [True, second]) for second in (False, True)]
    assert math.isclose(sum(both), first[0], rel_tol=1e-12)
    logs = rule.sequence_logs(np.array([[4.0, 5.0], [3.0, 6.0]]), [False, True], [3, 2])
    assert math.isclose(
        math.exp(logs[0]), float(rule.sequence_ball([4, 5], [False, True], [3, 2])), rel_tol=1e-11
    )
    for values, answers in (([4, 5, 6], [True, True, False]), ([4], [True, True])):
        with pytest.raises((ParameterError, ValueError)):
            rule.sequence_ball(values, answers)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"threshold": math.inf},
        {"threshold": "many"},
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"crossings": 0},
        {"crossings": 1.5},
        {"monotonic": 1},
        {"noise": "gaussian"},
        {"threshold_share": 1},
        {"threshold_share": 0},
        {"steady": "yes"},
        {"steady": True, "noise": "laplace"},
    ],
)
def test_wrong_parameters_are_echoed(wrong: dict[str, Any]) -> None:
    given = {"epsilon": 1, "threshold": 500, "sensitivity": 1, **wrong}
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        CrossingRule(**given)


@pytest.mark.parametrize("wrong", [[math.nan], [math.inf], [], [None], ["a"], [[1]]])
def test_wrong_values_are_named_by_their_rule(wrong: Any) -> None:
    rule = CrossingRule(1, threshold=500, sensitivity=1)
    with pytest.raises(ScoresError, match="values must be finite numbers"):
        rule.probabilities(wrong)


@pytest.mark.parametrize("name", STREAMS)
def test_a_gap_costs_nothing_more(name: str) -> None:
    """Check all neighbours on a lattice, with "below" and then a gap in each cell of a grid, in balls.

    A gap of g or more means that the value minus g also crosses. The test would detect gaps with half the
    noise.
    """

    def loss(rule: CrossingRule) -> float:
        cells = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 2)]

        @cache
        def chance(first: int, second: int, place: int) -> float:
            ends = [
                rule.sequence_ball([rule.middle + first, rule.middle + second - gap], [False, True])
                for gap in cells[place : place + 2]
            ]
            return float(ends[0] - ends[1])

        pairs = product(range(-1, 3), range(-2, 4), (-1, 0, 1), (-1, 0, 1), range(3))
        return max(
            math.log(chance(a, b, place) / chance(a + x, b + y, place))
            for a, b, x, y, place in pairs
        )

    rule = STREAMS[name](epsilon=1, threshold=0, sensitivity=1)
    assert loss(rule) <= 1 + 1e-9
    assert loss(rule) > 0.99 or name.endswith("laplace")
    assert loss(STREAMS[name](epsilon=2, threshold=0, sensitivity=1)) > 1.1


def test_a_rule_is_frozen_and_can_be_copied() -> None:
    rule = CrossingRule(1, threshold=500, sensitivity=1, crossings=3)
    again = pickle.loads(pickle.dumps(rule))  # noqa: S301 - our own
    assert again == rule == copy.deepcopy(rule)
    assert hash(again) == hash(rule)
    assert again.scales == rule.scales
    assert again != CrossingRule(1, threshold=500, sensitivity=1)
    with pytest.raises(AttributeError, match="frozen"):
        rule.epsilon = Fraction(1, 100)
