from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Exponential, ExponentialRandomizedResponse, NoisyMax, PermuteAndFlip, Scores
from discreet.analysis import (
    error_distribution,
    error_quantile,
    error_tail,
    error_variance,
    expected_error,
)
from discreet.errors import ParameterError
from discreet.mechanisms import Mechanism

MECHANISMS = [
    PermuteAndFlip(epsilon=1),
    Exponential(epsilon=1),
    NoisyMax(epsilon=1, noise="laplace"),
    ExponentialRandomizedResponse(epsilon=1),
]
score_lists = st.lists(st.integers(-12, 0), min_size=1, max_size=8)
amounts = st.sampled_from(["0.05", "0.3", "1", "4"])


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_moments_follow_from_the_probabilities(mechanism: Mechanism) -> None:
    scores = Scores([4.0, 1.5, 4.0, -3.25], sensitivity=1)
    mass = mechanism.probabilities(scores)
    errors = 4.0 - scores.values
    mean = mass @ errors
    assert expected_error(mechanism, scores) == pytest.approx(mean, rel=1e-14)
    assert error_variance(mechanism, scores) == pytest.approx(
        mass @ (errors - mean) ** 2, rel=1e-13
    )
    assert error_tail(mechanism, scores, 2.5) == pytest.approx(mass[1] + mass[3], rel=1e-14)
    assert error_tail(mechanism, scores, math.nextafter(2.5, 3)) == pytest.approx(
        mass[3], rel=1e-14
    )
    distinct, weights = error_distribution(mechanism, scores)
    assert distinct.tolist() == [0.0, 2.5, 7.25]
    assert weights == pytest.approx([mass[0] + mass[2], mass[1], mass[3]])


def test_minimum_is_the_mirror_of_maximum() -> None:
    values = np.array([3, 1, 7, 7])
    for mechanism in MECHANISMS[:3]:
        rest = {k: v for k, v in mechanism.parameters().items() if k != "optimize"}
        mirrored = type(mechanism)(**rest, optimize="min")
        one = expected_error(mechanism, Scores(values, sensitivity=1))
        other = expected_error(mirrored, Scores(-values, sensitivity=1))
        assert one == pytest.approx(other, rel=1e-14)


@settings(max_examples=60, deadline=None)
@given(score_lists, amounts, st.integers(0, 13))
def test_permute_and_flip_dominates_the_exponential_mechanism_at_every_tail(
    values: list[int], epsilon: str, t: int
) -> None:
    scores = Scores(values, sensitivity=1)
    ours = error_tail(PermuteAndFlip(epsilon=epsilon), scores, t)
    theirs = error_tail(Exponential(epsilon=epsilon), scores, t)
    assert ours <= theirs + 1e-13
    errors = [expected_error(m(epsilon=epsilon), scores) for m in (Exponential, PermuteAndFlip)]
    if errors[1] > 1e-200:
        assert 1 - 1e-12 <= errors[0] / errors[1] <= 2 + 1e-12


@settings(max_examples=60, deadline=None)
@given(score_lists, st.integers(-1000, 1000))
def test_error_is_shift_invariant_and_symmetric(values: list[int], shift: int) -> None:
    for mechanism in MECHANISMS[:3]:
        plain = expected_error(mechanism, Scores(values, sensitivity=1))
        moved = expected_error(mechanism, Scores([v + shift for v in values[::-1]], sensitivity=1))
        assert moved == pytest.approx(plain, rel=1e-12, abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(score_lists, st.integers(1, 12))
def test_every_tail_falls_as_epsilon_grows(values: list[int], t: int) -> None:
    scores = Scores(values, sensitivity=1)
    for family in MECHANISMS:
        tails = [error_tail(family.with_epsilon(e), scores, t) for e in ("0.1", "0.4", "1.5", "6")]
        assert all(later <= earlier + 1e-13 for earlier, later in itertools.pairwise(tails))


def test_quantiles() -> None:
    scores = Scores([10, 8, 0], sensitivity=1)
    mechanism = PermuteAndFlip(epsilon=2)
    missed = error_tail(mechanism, scores, 1)
    assert error_quantile(mechanism, scores, Fraction(1) - Fraction(missed) * 2) == 0
    assert error_quantile(mechanism, scores, Fraction(1) - Fraction(missed) / 2) == 2
    assert error_quantile(mechanism, scores, 0) == 0
    assert error_quantile(mechanism, scores, 1) == 10


def test_tail_compares_exactly() -> None:
    huge = 2**60
    scores = Scores([huge, huge - 10**15 - 1], sensitivity=10**15)
    mechanism = PermuteAndFlip(epsilon=1)
    assert error_tail(mechanism, scores, 10**15 + 1) > 0.1
    assert error_tail(mechanism, scores, 10**15 + 2) == 0
    thirds = Scores([Fraction(1, 3), Fraction(0)], sensitivity=1)
    assert error_tail(mechanism, thirds, Fraction(1, 3)) > 0.1
    assert error_tail(mechanism, thirds, Fraction(1, 3) + Fraction(1, 10**40)) == 0
    assert error_tail(mechanism, Scores([0.5, 0.2], sensitivity=1), 0.5 - 0.2) > 0.1


def test_scores_at_the_ends_of_float64() -> None:
    mechanism = PermuteAndFlip(epsilon=1)
    far = Scores([1.7e308, -1.7e308], sensitivity=1)
    assert expected_error(mechanism, far) == 0
    near = Scores([1.7e308, 1.7e308 - 1e307], sensitivity=1e306)
    assert expected_error(mechanism, near) == pytest.approx(1e307 * math.exp(-5) / 2, rel=1e-6)
    assert error_tail(mechanism, near, 1e306) == pytest.approx(math.exp(-5) / 2, rel=1e-6)
    assert expected_error(PermuteAndFlip(epsilon=1), Scores([5e-324, 0.0], sensitivity=5e-324)) == 0


def test_one_candidate_has_no_error() -> None:
    for mechanism in MECHANISMS:
        assert expected_error(mechanism, Scores([7], sensitivity=1)) == 0
        assert error_tail(mechanism, Scores([7], sensitivity=1), "1e-30") == 0


@pytest.mark.parametrize("t", [-1, float("nan"), float("inf"), "many", True, None])
def test_bad_tails_are_refused(t: int) -> None:
    with pytest.raises(ParameterError, match="t="):
        error_tail(PermuteAndFlip(epsilon=1), Scores([1, 0], sensitivity=1), t)


def test_bad_arguments_are_refused() -> None:
    scores = Scores([1, 0], sensitivity=1)
    with pytest.raises(ParameterError, match="level"):
        error_quantile(PermuteAndFlip(epsilon=1), scores, 1.5)
    with pytest.raises(ParameterError, match="mechanism with its ε"):
        expected_error(PermuteAndFlip, scores)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ParameterError, match="expected Scores"):
        expected_error(PermuteAndFlip(epsilon=1), [1, 0])  # type: ignore[arg-type]  # on purpose


def test_the_published_figures(hepth_mode: Scores, hepth_median: Scores) -> None:
    # The paper prints 5.4 and 1.84 for the mode at 0.04, 13.7 and 1.93 for the median at 0.01. These are
    # ours.
    assert expected_error(PermuteAndFlip(epsilon="0.04"), hepth_mode) == pytest.approx(
        5.3227, abs=5e-4
    )
    assert expected_error(Exponential(epsilon="0.04"), hepth_mode) == pytest.approx(
        9.7922, abs=5e-4
    )
    assert expected_error(PermuteAndFlip(epsilon="0.01"), hepth_median) == pytest.approx(
        17.231, abs=5e-3
    )
    assert expected_error(Exponential(epsilon="0.01"), hepth_median) == pytest.approx(
        32.894, abs=5e-3
    )
