"""Scores, distances and ε at the ends of their ranges: exact, quick, and never a warning."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import PermuteAndFlip, Scores
from discreet.mechanisms import MECHANISMS, Mechanism
from discreet.testing import scripted

NAMES = list(MECHANISMS)
PRIVATE = [name for name in NAMES if MECHANISMS[name](epsilon=1).private]
HUGE = 10**400


def _pair(mechanism: Mechanism, values: Any, **distance: Any) -> list[float]:
    scores = Scores(values, **(distance or {"sensitivity": 1}))
    mass = mechanism.probabilities(scores)
    assert math.fsum(mass) == pytest.approx(1, abs=1e-12)
    drawn = mechanism.sample(scores, 40, randomness=scripted(1))
    assert mass[drawn].min() > 0
    if mechanism.private:
        assert mass[mechanism.select_index(scores)] > 0
    return [float(part) for part in mass]


@pytest.mark.parametrize("name", NAMES)
def test_a_gap_is_the_same_wherever_it_lies(name: str) -> None:
    """Scores one unit apart near zero, near ±2⁶³, at 2⁶⁴ and at 10⁴⁰⁰ have the same law."""
    mechanism = MECHANISMS[name](epsilon=1)
    expected = _pair(mechanism, [1, 0])
    for values in (
        np.array([2**63 - 1, 2**63 - 2]),
        np.array([-(2**63) + 1, -(2**63)]),
        np.array([2**62 + 1, 2**62]),
        np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([1, 0], dtype=np.uint64),
        np.array([-127, -128], dtype=np.int8),
        np.array([2.0**52 + 1, 2.0**52]),
        [HUGE, HUGE - 1],
        [1 - HUGE, -HUGE],
        [Fraction(1, 3), Fraction(-2, 3)],
    ):
        assert _pair(mechanism, values) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_scaling_scores_and_distance_together_changes_nothing(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    expected = _pair(mechanism, [1, 0, -1])
    for factor in (HUGE, Fraction(1, HUGE), 2**1000, Fraction(1, 2**1070)):
        values = [factor, Fraction(0), -factor]
        assert _pair(mechanism, values, sensitivity=factor) == pytest.approx(expected, rel=1e-13)
    large, small = 2.0**1020, 2.0**-1074
    for unit in (large, small):
        floats = np.array([unit, 0.0, -unit])
        distance = Fraction(unit)
        assert _pair(mechanism, floats, sensitivity=distance) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_the_whole_range_of_int64_and_of_float64(name: str, optimize: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1, optimize=optimize)
    best = 0 if optimize == "max" else 1
    for values in (
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1, 0], dtype=np.uint64),
        np.array([1.7e308, -1.7e308]),
        np.array([3e38, -3e38], dtype=np.float32),
        np.array([65504, -65504], dtype=np.float16),
        [HUGE, -HUGE],
    ):
        mass = _pair(mechanism, values)
        assert mass[best] == 1.0
        logs = mechanism.log_probabilities(Scores(values, sensitivity=1))
        assert not np.isnan(logs).any()
        if mechanism.private:
            assert mechanism.select_index(Scores(values, sensitivity=1)) == best
    spread = _pair(mechanism, np.array([1.7e308, -1.7e308]), sensitivity=Fraction(1.7e308))
    near = _pair(mechanism, [1, -1])
    assert spread == pytest.approx(near, rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_the_least_and_the_largest_epsilon(name: str) -> None:
    for parameters, expected in (
        ({"epsilon": 1e-320}, [1 / 3] * 3),
        ({"scale": "1e320"}, [1 / 3] * 3),
        ({"scale": "1e2000"}, [1 / 3] * 3),
        ({"epsilon": 1e300}, [1, 0, 0]),
        ({"scale": "1e-300"}, [1, 0, 0]),
        ({"scale": "1e-2000"}, [1, 0, 0]),
    ):
        mechanism = MECHANISMS[name](**parameters)
        for values in ([2, 1, -1], [2.0, 1.0, -1.0], np.array([2, 1, -1], dtype=np.float32)):
            # With a distance below every gap, the chain of randomized response has one link.
            mass = _pair(mechanism, values, sensitivity="0.5")
            if mechanism.private:
                assert mass == pytest.approx(expected, abs=1e-12)
    tiny = MECHANISMS[name](epsilon=1e-320)
    chance = _pair(tiny, [1.7e308, -1.7e308], sensitivity=Fraction(1, 10**10))[0]
    # With this many steps, one δ per step is enough for certainty.
    assert chance == 1 if name == "large-gap" else chance < 1


@pytest.mark.parametrize("name", NAMES)
def test_one_candidate_is_chosen_surely(name: str) -> None:
    for values in ([5], [-1.7e308], [HUGE], [Fraction(1, 3)], np.array([0], dtype=np.uint8)):
        for parameters in ({"epsilon": 1}, {"epsilon": 1e-320}, {"scale": 0}):
            mechanism = MECHANISMS[name](**parameters)
            assert _pair(mechanism, values) == [1.0]
            scores = Scores(values, sensitivity=1)
            assert abs(mechanism.log_probabilities(scores)[0]) < 1e-15


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint8])
def test_a_million_equal_scores(name: str, dtype: Any) -> None:
    scores = Scores(np.full(1_000_000, 7, dtype=dtype), sensitivity=1)
    mechanism = MECHANISMS[name](epsilon=1)
    started = time.process_time()
    chosen = {mechanism.select_index(scores) for _ in range(5)}
    assert time.process_time() - started < 5
    # Two of five uniform choices among a million agree with probability 10⁻⁵; all five, 10⁻²⁴.
    assert len(chosen) > 1
    mass = mechanism.probabilities(scores)
    assert np.allclose(mass, 1e-6, rtol=1e-10, atol=0)


def test_steady_selection_at_the_extremes() -> None:
    mechanism = PermuteAndFlip(epsilon=1, steady=True)
    for values in (
        np.array([1.7e308, -1.7e308]),
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1, 0], dtype=np.uint64),
    ):
        assert mechanism.select_index(Scores(values, sensitivity=1)) == 0
    assert mechanism.select_index(Scores([7], sensitivity=1)) == 0
    for tiny in (1e-320, "1e-2000"):
        steady = PermuteAndFlip(epsilon=tiny, steady=True)
        scores = Scores(np.array([2.0, 1.0, 0.0]), sensitivity=1)
        # Uniform over three: one is missing from 200 draws with probability below 10⁻³⁴.
        assert {steady.select_index(scores) for _ in range(200)} == {0, 1, 2}
