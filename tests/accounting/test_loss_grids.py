"""Loss distributions against sums over every outcome, for few outcomes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet import ZCDP, BoundedRange, PureDP
from discreet.accounting.loss_grids import LossCurve, Losses, grid_step, loss_curve_of
from discreet.guarantees import Guarantee

EPSILON, RELEASES = Fraction(1, 2), 4
SLACK = 1e-13


def curve(guarantee: Guarantee, count: int) -> LossCurve:
    found = loss_curve_of(guarantee, count)
    assert found is not None
    return found


def losses(*releases: LossCurve, points: int = 64) -> Losses:
    return Losses.of(releases, grid_step(releases, points))


def divergence(at: float) -> float:
    """Return the curve of randomised response; it is straight between its ends, so a grid loses nothing."""
    truth = 1 / (1 + math.exp(-EPSILON))
    lie = 1 - truth
    return sum(
        math.comb(RELEASES, i)
        * max(
            0.0,
            truth**i * lie ** (RELEASES - i) - math.exp(at) * lie**i * truth ** (RELEASES - i),
        )
        for i in range(RELEASES + 1)
    )


@pytest.mark.parametrize(
    "at", ["-5/2", "-2", "-0.3", "0", "0.01", "0.5", "0.77", "1.9999", "2", "2.5"]
)
def test_the_divergence_of_several_randomised_responses(at: str) -> None:
    epsilon = Fraction(at)
    found = losses(curve(PureDP(EPSILON), RELEASES)).delta_at(epsilon)
    assert 0 <= found <= 1
    assert float(found) == pytest.approx(divergence(float(epsilon)), abs=SLACK)
    assert float(found) >= divergence(float(epsilon)) - 1e-15


@pytest.mark.parametrize("delta", [1e-3, 1e-2, 0.05, 0.1, 0.2])
def test_the_least_epsilon_of_several_randomised_responses(delta: float) -> None:
    found = losses(curve(PureDP(EPSILON), RELEASES)).epsilon_at(Fraction(delta))
    assert 0 < found < 2
    assert divergence(float(found)) <= delta * (1 + 1e-12)
    assert divergence(float(found) - 1e-9) > delta


def test_the_least_and_the_largest_epsilon() -> None:
    composed = losses(curve(PureDP(EPSILON), RELEASES))
    assert composed.epsilon_at(Fraction(1)) == 0
    assert composed.epsilon_at(Fraction(9, 10)) == 0
    assert composed.epsilon_at(Fraction(0)) == EPSILON * RELEASES
    nothing = Losses.of([], Fraction(1, 8))
    assert nothing.epsilon_at(Fraction(0)) == 0
    assert nothing.delta_at(Fraction(0)) == 0


def test_two_lists_together_are_the_longer_list() -> None:
    one, two = curve(PureDP("0.5"), 2), curve(BoundedRange("0.75"), 3)
    step = grid_step([one, two], 100)
    apart = Losses.of([one], step).times(Losses.of([two], step))
    together = Losses.of([one, two], step)
    for at in ("0", "0.4", "1", "2.2", "3.25"):
        assert float(apart.delta_at(Fraction(at))) == pytest.approx(
            float(together.delta_at(Fraction(at))), abs=SLACK
        )
    assert float(apart.epsilon_at(Fraction(1, 100))) == pytest.approx(
        float(together.epsilon_at(Fraction(1, 100))), abs=1e-9
    )


def test_a_step_divides_every_epsilon_where_it_can() -> None:
    releases = curve(PureDP("0.6"), 3), curve(PureDP("0.9"), 2)
    step = grid_step(releases, 100)
    assert Fraction("0.6") % step == Fraction("0.9") % step == 0
    assert step <= (3 * Fraction("0.6") + 2 * Fraction("0.9")) / 100 * 2
    # No common step is that coarse: the requested step is used.
    unlike = curve(PureDP("0.600001"), 1), curve(PureDP("0.9"), 1)
    assert grid_step(unlike, 100) == Fraction("1.500001") / 100


def test_a_promise_that_gives_no_curve_gives_none() -> None:
    assert loss_curve_of(ZCDP(1), 1) is None
    assert loss_curve_of(PureDP(math.inf), 1) is None


def test_a_range_composes_better_than_what_follows_from_it() -> None:
    ranged, pure = (
        losses(curve(kind(1), 3)).delta_at(Fraction(1)) for kind in (BoundedRange, PureDP)
    )
    assert ranged < pure * Fraction(9, 10)


def test_an_epsilon_below_the_first_step_is_not_taken_for_zero() -> None:
    one = curve(PureDP(EPSILON), RELEASES)
    step = grid_step([one], 64)
    delta = (divergence(0.0) + divergence(float(step))) / 2
    found = Losses.of([one], step).epsilon_at(Fraction(delta))
    assert 0 < found < step
    assert divergence(float(found)) <= delta * (1 + 1e-12)


def test_no_release_is_lost_on_the_way_to_the_product() -> None:
    several = [curve(PureDP(f"0.{i}"), 1) for i in range(1, 8)]
    step = Fraction(1, 10)
    one_by_one = Losses.of([], step)
    for release in several:
        one_by_one = one_by_one.times(Losses.of([release], step))
    for at in ("0", "0.5", "2"):
        found = float(Losses.of(several, step).delta_at(Fraction(at)))
        assert found == pytest.approx(float(one_by_one.delta_at(Fraction(at))), abs=SLACK)
