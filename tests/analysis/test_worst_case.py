from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Exponential, ExponentialRandomizedResponse, NoisyMax, PermuteAndFlip, Scores
from discreet._exact.distribution.closed_form import laplace_missed, permute_and_flip_missed
from discreet._exact.numbers.balls import ball_of, precision
from discreet.analysis import (
    error_bound,
    error_tail,
    expected_error,
    expected_error_bound,
    worst_case,
    worst_case_error,
    worst_case_lower_bound,
    worst_case_tail,
)
from discreet.analysis.worst_case import missed_chance
from discreet.errors import ParameterError
from discreet.mechanisms import LargeGap, Mechanism

LAPLACE = NoisyMax(epsilon=1, noise="laplace")
RESPONSE = ExponentialRandomizedResponse(epsilon=1, truth="0.5")
ALL = [PermuteAndFlip(epsilon=1), Exponential(epsilon=1), LAPLACE, RESPONSE]
TWINS = [
    (PermuteAndFlip(epsilon=1), NoisyMax(epsilon=1, noise="exponential")),
    (Exponential(epsilon=1), NoisyMax(epsilon=1, noise="gumbel")),
]


def test_a_level_that_no_float_tells_from_one() -> None:
    almost = 1 - Fraction(1, 10**400)
    expected = 2 * (math.log(2) + 400 * math.log(10))
    assert math.isclose(error_bound(1, 2, with_probability=almost), expected)


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
@pytest.mark.parametrize("n", [2, 3, 17, 400])
@pytest.mark.parametrize("gamma", [0.0, 1e-6, 0.4, 3.0, 30.0, 600.0])
def test_closed_forms_agree_with_the_probabilities(
    mechanism: Mechanism, n: int, gamma: float
) -> None:
    unit = type(mechanism)(
        scale=1,
        **{k: v for k, v in mechanism.parameters().items() if k not in ("epsilon", "optimize")},
    )
    scores = Scores(np.array([0.0] + [-gamma] * (n - 1)), sensitivity=1)
    expected = unit.probabilities(scores)[1:].sum()
    chance = missed_chance(unit, n, step=Fraction(1), distance=Fraction(2))
    assert chance(gamma) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_closed_forms_for_very_many_candidates() -> None:
    # np = 1, n → ∞: permute-and-flip misses with probability 1 − (1 − 1/e) = 1/e.
    assert permute_and_flip_missed(10**12, math.log(10**12)) == pytest.approx(1 / math.e, rel=1e-11)
    assert 0 < laplace_missed(10**12, 60.0) < laplace_missed(10**12, 30.0) < 1


@pytest.mark.parametrize("mechanism", ALL, ids=lambda m: m.name)
@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_the_worst_scores_have_the_worst_error(mechanism: Mechanism, n: int) -> None:
    worst = worst_case(mechanism, n)
    values = (
        [-float(place) for place in range(n)]
        if worst.shape == "staircase"
        else [0.0] + [-worst.gap] * (n - 1)
    )
    assert expected_error(mechanism, Scores(values, sensitivity=1)) == pytest.approx(
        worst.error, rel=1e-12
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(0, 12), min_size=1, max_size=6))
def test_no_scores_do_worse(gaps: list[float]) -> None:
    scores = Scores([0.0, *(-gap for gap in gaps)], sensitivity=1)
    for mechanism in ALL[:3]:
        assert expected_error(mechanism, scores) <= worst_case_error(mechanism, len(scores)) * (
            1 + 1e-12
        )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.001, 1.0), min_size=2, max_size=5))
def test_averaging_two_coins_never_lowers_permute_and_flips_error(coins: list[float]) -> None:
    # The inequality on which docs/proofs/worst-case-error.md rests.
    def error(chances: list[float]) -> float:
        return expected_error(
            PermuteAndFlip(scale=1), Scores([0.0, *np.log(chances).tolist()], sensitivity=1)
        )

    middle = (coins[0] + coins[1]) / 2
    assert error([middle, middle, *coins[2:]]) >= error(coins) - 1e-13


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 12))
def test_no_scores_have_a_heavier_tail(gaps: list[float], t: int) -> None:
    scores = Scores([0, *(-gap for gap in gaps)], sensitivity=1)
    for mechanism in ALL[:3]:
        assert (
            error_tail(mechanism, scores, t) <= worst_case_tail(mechanism, len(scores), t) + 1e-13
        )


def test_the_exponential_mechanism_in_closed_form() -> None:
    # (γ − 1)e^γ = n − 1 at the maximum, and the error is then s(γ − 1).
    for n in (2, 50, 10**6, 10**12):
        worst = worst_case(Exponential(scale=1), n)
        assert worst.error == pytest.approx(worst.gap - 1, rel=1e-6)
        assert (worst.gap - 1) * math.exp(worst.gap) == pytest.approx(n - 1, rel=1e-5)
        assert worst.p == pytest.approx(math.exp(-worst.gap))


def test_bounds_enclose_the_worst_case() -> None:
    for n in (2, 10, 1024, 10**6):
        for mechanism in ALL[:2]:
            worst = worst_case_error(mechanism, n)
            assert worst_case_lower_bound(1, n) <= worst <= expected_error_bound(1, n)
            bound = error_bound(1, n, with_probability="0.9")
            assert worst_case_tail(mechanism, n, bound) <= 0.1
    for mechanism in ALL[:2]:
        at = Scores([0.0] + [-2 * math.log(1024)] * 1023, sensitivity=1)
        assert expected_error(mechanism, at) >= worst_case_lower_bound(1, 1024)


def test_the_lower_bound_is_rounded_down() -> None:
    assert worst_case_lower_bound(1, 1) == 0.0
    with precision(200):
        for n in range(2, 300):
            for epsilon in (Fraction(1), Fraction(1, 3), Fraction(7, 10)):
                exact = ball_of(n).log() * ball_of(Fraction(1, 2) / epsilon)
                bound = worst_case_lower_bound(epsilon, n)
                assert ball_of(Fraction(bound)) <= exact
                assert bound == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_twins_agree(one: Any, other: Any) -> None:
    assert worst_case(one, 37) == worst_case(other, 37)


def test_units_sensitivity_and_scale() -> None:
    base = worst_case_error(PermuteAndFlip(epsilon=1), 100)
    assert worst_case_error(PermuteAndFlip(epsilon=1), 100, sensitivity=3) == pytest.approx(
        3 * base
    )
    assert worst_case_error(PermuteAndFlip(epsilon=1), 100, monotonic=True) == pytest.approx(
        base / 2
    )
    assert worst_case_error(PermuteAndFlip(epsilon=4), 100) == pytest.approx(base / 4)
    assert worst_case_error(PermuteAndFlip(scale=2), 100) == pytest.approx(base)
    assert worst_case_error(PermuteAndFlip(scale=0), 100) == 0
    assert float(worst_case(PermuteAndFlip(epsilon=1), 1)) == 0


def test_a_gap_helps_only_when_it_is_wide() -> None:
    free = worst_case(PermuteAndFlip(epsilon=1), 100)
    assert worst_case(PermuteAndFlip(epsilon=1), 100, gap=free.gap / 2).error == pytest.approx(
        free.error
    )
    wide = worst_case(PermuteAndFlip(epsilon=1), 100, gap=2 * free.gap)
    assert wide.gap == pytest.approx(2 * free.gap)
    assert wide.error < free.error
    assert worst_case(PermuteAndFlip(epsilon=1), 100, gap=10**9).error == 0


def test_randomized_response_has_no_logarithmic_bound() -> None:
    # On a staircase the error grows with n instead of log n, and a larger ε does not help.
    for n in (100, 10_000):
        worst = worst_case(RESPONSE.with_epsilon(50), n)
        assert worst.shape == "staircase"
        assert worst.error > 0.24 * n
        assert not worst.proved
    naive = ExponentialRandomizedResponse(epsilon=1, truth="0.5", variant="naive")
    assert worst_case_error(naive, 64) == pytest.approx(
        worst_case_error(Exponential(epsilon=1), 64) / 2
    )
    assert worst_case(RESPONSE, 64, gap=2).proved
    noiseless = ExponentialRandomizedResponse(scale=0, truth="0.5")
    assert [worst_case_error(noiseless, 11, sensitivity=each) for each in (1, 3)] == [2.5, 7.5]


def test_mechanisms_without_a_closed_form_go_through_their_probabilities() -> None:
    for epsilon in ("0.5", "4"):
        mechanism = LargeGap(epsilon=epsilon, delta="0.01")
        worst = worst_case(mechanism, 6, 3, True)
        scores = Scores([0.0] + [-worst.gap] * 5, sensitivity=3, monotonic=True)
        assert expected_error(mechanism, scores) == pytest.approx(worst.error, rel=1e-9)
        assert not worst.proved
        assert worst.error <= worst_case_error(PermuteAndFlip(epsilon=epsilon), 6, 3, True) + 1e-12
    with pytest.raises(ParameterError, match="no closed form"):
        worst_case(LargeGap(epsilon=1), 10**7)


def test_equations_15_and_16() -> None:
    n, truth, delta = 10, 0.5, 1.0
    scale = 2 * delta / 0.1
    mechanism = ExponentialRandomizedResponse(epsilon="0.1", truth="0.5")
    for v in (0.5, 1.0, 1.5, 40.0):
        p = math.exp(-v / scale)
        alone = (1 - truth) * v * (1 - 1 / (1 + (n - 1) * p))
        together = v * (n - 1) * (n * p + truth - truth * p) / (n * (n * p - p + 1))
        scores = Scores([0.0] + [-v] * (n - 1), sensitivity=1)
        expected = together if v <= delta else alone
        assert expected_error(mechanism, scores) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "bad",
    [{"n": 0}, {"n": 2.5}, {"sensitivity": 0}, {"sensitivity": "x"}, {"monotonic": 1}, {"gap": -1}],
)
def test_bad_parameters_are_refused(bad: Any) -> None:
    arguments = {"n": 4, **bad}
    with pytest.raises(ParameterError, match=next(iter(bad))):
        worst_case_error(PermuteAndFlip(epsilon=1), **arguments)
