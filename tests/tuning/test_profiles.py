"""Privacy profiles of one run: never below the truth, for both orders of the neighbours."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import pytest

from discreet import ZCDP, ApproxDP, BoundedRange, PureDP
from discreet._exact.numbers.searches import peak
from discreet.accounting import Event
from discreet.errors import DiscreetError
from discreet.guarantees import Guarantee
from discreet.tuning import Geometric, cost_of_tuning
from discreet.tuning.profiles import _best_log_excess, chords, in_parallel, profile_of, sampled


@pytest.mark.parametrize(
    "cost", [PureDP(1), BoundedRange(1), ApproxDP(1, "0.01"), ZCDP("0.2")], ids=repr
)
def test_a_profile_and_the_conversion_of_a_guarantee_agree(cost: Guarantee) -> None:
    """Converting δ(t) back to ε gives t, up to rounding."""
    profile = profile_of(cost)
    for t in (Fraction(1, 5), Fraction(3, 5)):
        delta = profile.at(t)
        back = cost.to(ApproxDP, delta=delta).exact[0]
        if delta < profile.at(Fraction(0)):
            assert float(back) == pytest.approx(float(t), rel=1e-4)


def test_the_other_order_of_the_neighbours() -> None:
    """H(e^−t) is 1 − e^−t + e^−t·H'(e^t), where H' is the other order; pure runs are checked by hand."""
    profile = profile_of(PureDP(1))
    expected = 1 - math.exp(-0.5) + math.exp(-0.5) * float(profile.at(Fraction(1, 2)))
    assert float(profile.at(Fraction(-1, 2))) == pytest.approx(expected)
    assert profile.at(Fraction(-5)) <= 1


def test_zcdp_is_above_the_gaussian_that_has_it() -> None:
    """With ρ = 1/(2σ²), the profile of the Gaussian mechanism, in floats, is slightly smaller."""
    normal = NormalDist()
    profile = profile_of(ZCDP("0.125"))
    for t in (0.0, 0.5, 1.0, 2.0):
        gaussian = normal.cdf(0.25 - 2 * t) - math.exp(t) * normal.cdf(-0.25 - 2 * t)
        found = float(profile.at(Fraction(t)))
        assert gaussian <= found <= 1
        assert found < 10 * gaussian


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.5, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.7, 9.0, 400.0])
def test_the_order_for_zcdp_is_the_best_one(rho: float, epsilon: float) -> None:
    def height(log_excess: float) -> float:
        order = 1 + math.exp(log_excess)
        loss = rho * order - epsilon + math.log1p(-1 / order)
        return math.log(order) - (order - 1) * loss

    best = height(peak(height, -6.0, math.log(max(epsilon / rho, 1.0)) + 6.0))
    assert height(_best_log_excess(rho, epsilon)) == pytest.approx(best, rel=1e-7, abs=1e-7)


def test_a_list_of_releases_is_composed() -> None:
    one, many = profile_of(PureDP(1)), profile_of([Event(PureDP(1), count=3)])
    assert many.pure == 3
    assert many.at(Fraction(1)) > one.at(Fraction(1)) == 0
    # Randomized response three times, by hand: losses 3, 1, −1, −3.
    high, low = math.e / (1 + math.e), 1 / (1 + math.e)
    by_hand = high**3 * (1 - math.exp(1 - 3)) + 3 * high**2 * low * (1 - math.exp(1 - 1))
    assert float(many.at(Fraction(1))) == pytest.approx(by_hand, rel=1e-6)


def test_chords_lie_above_a_convex_profile() -> None:
    profile = profile_of(BoundedRange(2))
    points = [(Fraction(k, 4), profile.at(Fraction(k, 4))) for k in range(9)]
    above = chords(points)
    for k in range(160):
        at = Fraction(k, 80)
        assert above(at) >= profile.at(at)
    assert above(Fraction(5)) == 0


def test_points_of_somebody_else_never_rise_and_must_be_probabilities() -> None:
    points = sampled(lambda places: [0.5 if p < 0.5 else 0.1 + 0.01 * p for p in places], 1.0)
    deltas = [delta for _, delta in points]
    assert deltas == sorted(deltas, reverse=True)
    with pytest.raises(DiscreetError, match="no usable"):
        sampled(lambda places: [math.nan for _ in places], 1.0)


def test_in_parallel_the_dearer_counts() -> None:
    both = in_parallel(profile_of(ZCDP("0.1")), profile_of(PureDP("0.5")))
    assert both.renyi is not None
    assert both.renyi(Fraction(2)) == 2 * PureDP("0.5").to(ZCDP).exact
    for t in (Fraction(0), Fraction(1, 4), Fraction(2)):
        assert both.at(t) == max(profile_of(c).at(t) for c in (ZCDP("0.1"), PureDP("0.5")))


@pytest.mark.parametrize("cost", [ZCDP(30), ZCDP("1e-12"), PureDP(900), PureDP("1e-12")], ids=repr)
def test_extreme_costs(cost: Guarantee) -> None:
    """Large and tiny costs give a finite figure, above the cost of one run."""
    whole = cost_of_tuning(cost, runs=Geometric(mean=10), delta="1e-6")
    assert isinstance(whole, ApproxDP)
    assert cost.to(ApproxDP, delta="1e-6").epsilon <= whole.epsilon < math.inf
