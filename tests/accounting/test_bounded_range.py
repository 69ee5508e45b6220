"""Bounds for equal releases of bounded range, against sums over every outcome at every offset."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting import bounded_range
from discreet.accounting.bounded_range import _Pair, homogeneous_epsilon

CASES = [(1, "1", "0.05"), (2, "0.75", "0.02"), (5, "0.3", "0.01"), (12, "0.5", "1e-6")]


def sums(epsilon: float, count: int, offset: float, target: float) -> tuple[float, float]:
    """Return the divergence at one offset, and the mass of the losses above the target."""
    spread = -math.expm1(-epsilon)
    lower = math.exp(-epsilon) * math.expm1(offset) / spread
    upper = -math.expm1(offset - epsilon) / spread
    terms = [
        (math.comb(count, i) * upper ** (count - i) * lower**i, count * offset - i * epsilon)
        for i in range(count + 1)
    ]
    lost = math.fsum(mass * -math.expm1(min(target - loss, 0.0)) for mass, loss in terms)
    return lost, math.fsum(mass for mass, loss in terms if loss > target - 1e-11)


def truth(epsilon: float, count: int, target: float, steps: int = 600) -> float:
    """Return the largest divergence over offsets on a fine grid, without the shortcut through leaders."""
    return max(sums(epsilon, count, epsilon * i / steps, target)[0] for i in range(steps + 1))


@pytest.mark.parametrize(("count", "epsilon", "delta"), CASES)
def test_the_least_epsilon_is_enough_and_hardly_more(count: int, epsilon: str, delta: str) -> None:
    found = homogeneous_epsilon(Fraction(epsilon), count, Fraction(delta))
    assert found is not None
    assert 0 < found <= Fraction(epsilon) * count
    assert truth(float(epsilon), count, float(found)) <= float(delta)
    assert truth(float(epsilon), count, float(found) * (1 - 1e-4)) > float(delta)


@pytest.mark.parametrize(("count", "epsilon", "delta"), CASES)
def test_the_bound_is_the_sum_with_the_slack_that_the_page_grants(
    count: int, epsilon: str, delta: str
) -> None:
    """The slack is one part in 10⁹, 10⁻¹¹ for each loss above the target, and the omitted part of δ."""
    width, allowed = float(epsilon), float(delta)
    pair = _Pair(width, count, allowed)
    for target in (0.0, 0.3 * width * count, 0.8 * width * count):
        for leader in {0, count // 2, count - 1}:
            offset = min((target + (leader + 1) * width) / (count + 1), width)
            exact, above = sums(width, count, offset, target)
            granted = exact * (1 + 1e-9) + above * 1e-11 + allowed * 1e-10
            bound = pair.divergence(target, np.array([leader]))
            assert bound == pytest.approx(granted, rel=1e-12, abs=1e-17)


def test_outcomes_far_from_the_mean_are_left_out_only_where_they_do_not_matter() -> None:
    """For 3,000 releases only a few hundred outcomes are used, and the bound is still above the truth."""
    count, epsilon = 3000, 0.02
    pair = _Pair(epsilon, count, 1e-6)
    width = math.sqrt(count * math.log(2 / (1e-6 * 1e-10)) / 2)  # by Hoeffding, as on the page
    assert width + 1 <= pair._reach <= width + 2
    leaders = np.array([0, 900, 1500, 2400, 2999])
    for target in (0.5, 2.0):
        for leader in leaders.tolist():
            offset = min((target + (leader + 1) * epsilon) / (count + 1), epsilon)
            exact = _in_logarithms(epsilon, count, offset, target)
            bound = pair.divergence(target, np.array([leader]))
            assert exact <= bound <= exact * (1 + 1e-8) + 2e-11
        each = [pair.divergence(target, np.array([leader])) for leader in leaders.tolist()]
        assert pair.divergence(target, leaders) == pytest.approx(max(each), rel=1e-9)
    # Leaders are processed in blocks; none may be lost between two blocks.
    several = pair.divergence(1.0, np.arange(1000, 1600))
    assert several >= max(pair.divergence(1.0, np.array([at])) for at in range(1000, 1600, 50))


def _in_logarithms(epsilon: float, count: int, offset: float, target: float) -> float:
    spread = -math.expm1(-epsilon)
    upper = math.log(-math.expm1(offset - epsilon) / spread) if offset < epsilon else -math.inf
    lower = math.log(math.exp(-epsilon) * math.expm1(offset) / spread)
    total = 0.0
    for i in range(count + 1):
        excess = count * offset - i * epsilon - target
        if excess > 0 and not (upper == -math.inf and i < count):
            ways = math.lgamma(count + 1) - math.lgamma(i + 1) - math.lgamma(count - i + 1)
            total += math.exp(ways + (count - i) * upper + i * lower) * -math.expm1(-excess)
    return total


def test_nothing_is_left_where_delta_covers_it() -> None:
    # At ε' = 0 the divergence of one release of range 1 is 0.245: try one δ above it and one below.
    assert homogeneous_epsilon(Fraction(1), 1, Fraction("0.25")) == 0
    below = homogeneous_epsilon(Fraction(1), 1, Fraction("0.24"))
    assert below is not None
    assert 0 < below < Fraction(1, 50)


def test_what_is_out_of_reach_is_not_answered() -> None:
    tiny = Fraction(1e-200)
    assert homogeneous_epsilon(Fraction(1), 2, tiny) is not None
    assert homogeneous_epsilon(Fraction(1), 2, tiny / 2) is None
    assert homogeneous_epsilon(Fraction(10_000), 1, Fraction(1, 2)) is not None
    assert homogeneous_epsilon(Fraction(10_001), 1, Fraction(1, 2)) is None
    assert homogeneous_epsilon(Fraction(1, 10**6), 20_001, Fraction(1, 2)) is None


def test_an_answer_that_steering_missed_is_sought_again(monkeypatch: pytest.MonkeyPatch) -> None:
    count, epsilon, delta = 5, Fraction("0.3"), Fraction("0.01")
    sound, asked = _Pair.search, list[int]()

    def misled(self: Any, low: float, high: float, allowed: float, leaders: Any) -> float:
        asked.append(len(leaders))
        return 1e-3 if len(asked) < 3 else sound(self, low, high, allowed, leaders)

    monkeypatch.setattr(bounded_range._Pair, "search", misled)
    found = homogeneous_epsilon(epsilon, count, delta)
    assert found is not None
    assert asked[-1] == count
    sure = _Pair(float(epsilon), count, float(delta)).divergence(float(found), np.arange(count))
    assert sure <= float(delta)
    assert truth(float(epsilon), count, float(found)) <= float(delta)
