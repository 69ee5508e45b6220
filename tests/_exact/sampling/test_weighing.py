"""Groups kept by weights: the cost of noise and of a new group, every number of groups, every tape."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._exact.numbers.balls import precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.keeping import kept
from discreet._exact.sampling.weighing import (
    MOST_WEIGHT,
    UNIT,
    Weighing,
    Weighings,
    new_group_delta,
    normal_delta,
    numbers_to_check,
    weight_in,
)
from discreet.testing import scripted
from tests.tools.sampling.walking import assert_bracketed

CASES = [
    (Fraction(1), Fraction(1, 10**5), 20),
    (Fraction(1, 10), Fraction(1, 10**9), 3),
    (Fraction(8), Fraction(1, 100), 1000),
    (Fraction(60), Fraction(1, 10**6), 50),
]


def test_the_weights_of_a_person_have_length_one_at_most() -> None:
    for groups in (*range(1, 2000), 10**6, 10**9):
        assert groups * weight_in(groups) ** 2 <= UNIT**2
        assert weight_in(groups) >= UNIT / math.sqrt(groups) - 1


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("spread", ["0.5", "1", "4"])
def test_the_noise_costs_what_quadrature_says(epsilon: str, spread: str) -> None:
    e, s = float(epsilon), float(spread)
    x = np.linspace(-12 * s, 12 * s + 1, 400_001)
    moved, still = (np.exp(-(((x - shift) / s) ** 2) / 2) for shift in (1, 0))
    gap = np.maximum(0, moved - math.exp(e) * still) / (s * math.sqrt(2 * math.pi))
    assert float(normal_delta(Fraction(epsilon), Fraction(spread))) == pytest.approx(
        float(np.trapezoid(gap, x)), rel=1e-5, abs=1e-12
    )


@pytest.mark.parametrize("variance", ["1/50", "1/8", "1/2", "1", "16", "1000"])
@pytest.mark.parametrize("deviations", [3, 6])
def test_no_number_of_groups_names_a_new_one_more_often(variance: str, deviations: int) -> None:
    square = Fraction(variance)
    limit = Fraction(deviations * math.sqrt(square)) + 1

    def chance(groups: int) -> Any:
        return new_group_delta(groups, limit, square)

    for most in (1, 2, 7, 60, 400):
        checked = max(map(chance, numbers_to_check(most, square)))
        assert max(map(chance, range(1, most + 1))) <= checked


@pytest.mark.parametrize("replacing", [False, True])
@pytest.mark.parametrize(("epsilon", "delta", "groups"), CASES)
def test_noise_and_thresholds_are_the_least_that_are_enough(
    epsilon: Fraction, delta: Fraction, groups: int, replacing: bool
) -> None:
    """Both rounds share one δ, for their noise and for their chances of naming a new group."""
    both = Weighings(epsilon, delta, groups=groups, replacing=replacing)
    rounds, steps = (both.first, both.last), 2 if replacing else 1
    assert 2 * both.rho == steps * sum(1 / rule.variance for rule in rounds)
    spread = Fraction(math.isqrt(int(10**12 / (2 * both.rho))), 10**6)
    paid = normal_delta(epsilon, spread + Fraction(1, 10**6))

    def named(rule: Weighing, threshold: Fraction) -> Any:
        return max(new_group_delta(t, threshold, rule.variance) for t in {1, 2, 3, groups})

    unsafe = sum(named(rule, rule.threshold) for rule in rounds)
    assert unsafe <= both.unsafe
    assert paid + steps * unsafe <= delta
    assert normal_delta(epsilon, spread * Fraction(99, 100)) > delta / 2
    for rule in rounds:
        assert named(rule, rule.threshold - Fraction(1, 512)) > both.unsafe / 5
    with precision(200):
        for people, chance in ((both.people(groups), 0.5), (both.people_for_sure(groups), 0.95)):
            assert bool(both.last.ball(people * weight_in(groups)) >= chance)
        for people, share, rule in itertools.product(range(1, 300, 7), (1, groups), rounds):
            weight = people * weight_in(share)
            low, high = rule.ends(weight, 64)
            scaled = rule.ball(weight) * 2**64
            assert bool(scaled >= low)
            assert bool(scaled <= high)


def test_every_tape_leads_to_its_chance() -> None:
    rule = Weighing(Fraction(3, 2), Fraction(1, 10), groups=4)
    for weight in (weight_in(4), UNIT, 2 * UNIT, 3 * UNIT + 17):
        with precision(128):
            chance = Fraction(float(rule.ball(weight).mid()))

        def sampler(bits: Bits, weight: int = weight) -> int:
            return int(kept(np.array([weight]), keeping=rule, bits=bits, word=2)[0])

        slack = Fraction(1, 10**12)
        expected = [(1 - chance - slack, 1 - chance + slack), (chance - slack, chance + slack)]
        assert_bracketed(sampler, expected, within=0.01, most_runs=300)


def test_a_group_without_weight_is_never_named_and_a_heavy_one_is() -> None:
    for epsilon, delta, groups in CASES:
        both = Weighings(epsilon, delta, groups=groups, replacing=True)
        weights = np.array([0, MOST_WEIGHT, 0, 10**6 * UNIT])
        for rule in (both.first, both.last):
            assert kept(weights, keeping=rule, bits=scripted(1)).tolist() == [False, True] * 2
