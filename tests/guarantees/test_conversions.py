"""Conversions of guarantees, against the formulas at high precision and real pairs of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    PureDP,
)
from discreet.guarantees.conversions import (
    Proof,
    epsilon_of_zcdp,
    shortened,
    zcdp_of_bounded_range,
    zcdp_of_laplace,
    zcdp_of_pure,
)
from tests.tools.rounding import assert_rounded_up, ball_of

ONE_NUMBER: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins, ZCDP]
SOURCES: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins]

EPSILONS = [
    "1e-320",
    "1e-30",
    "1e-9",
    "0.001",
    "0.1",
    "0.5",
    "1",
    "2",
    "5",
    "20",
    "700",
    "1e6",
    "1e300",
]
DELTAS = ["1e-300", "1e-12", "1e-6", "0.01", "0.3", "0.9"]
POSITIVE = st.fractions(min_value=Fraction(1, 1000), max_value=30)
CHANCES = st.fractions(min_value=Fraction(1, 10**9), max_value=Fraction(99, 100))


# ---- the formulas again, at 6000 bits ---------------------------------------------


def _range_to_zcdp(e: Any) -> Any:
    ratio = e / (1 - (-e).exp())
    return ratio - 1 - ratio.log()


def _flipped_range(e: Any) -> Any:
    return 2 * (2 * (e / 2).exp() - 1).log()


def _least(left: Any, right: Any) -> Any:
    return left if left < right else right


NUMBERS: dict[tuple[type[Any], type[Any]], Callable[[Any], Any]] = {
    (PureDP, PureDP): lambda e: e,
    (PureDP, BoundedRange): lambda e: 2 * e,
    (PureDP, ZCDP): lambda e: e * ((e.exp() - 1) / (e.exp() + 1)),
    (BoundedRange, PureDP): lambda e: e,
    (BoundedRange, BoundedRange): lambda e: e,
    (BoundedRange, ZCDP): _range_to_zcdp,
    (LaplaceDominated, PureDP): lambda e: e,
    (LaplaceDominated, BoundedRange): lambda e: 2 * e,
    (LaplaceDominated, ZCDP): lambda e: e + (-e).exp() - 1,
    (FlippedCoins, PureDP): lambda e: e,
    (FlippedCoins, BoundedRange): _flipped_range,
    (FlippedCoins, ZCDP): lambda e: _least(e + (-e).exp() - 1, _range_to_zcdp(_flipped_range(e))),
}

# The factor of e^ε that remains after spending δ: ε' = ε + ln(left).
LEFT: dict[type[Any], Callable[[Any, Any], Any]] = {
    PureDP: lambda e, d: 1 - d * (1 + (-e).exp()),
    BoundedRange: lambda e, d: (1 - (d * (1 - (-e).exp())).sqrt()) ** 2,
    LaplaceDominated: lambda e, d: (1 - d) ** 2,
    FlippedCoins: lambda e, d: (1 - d) ** 2,
}


@pytest.mark.parametrize(("source", "target"), list(NUMBERS))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_conversions_are_the_formula_rounded_up(
    source: type[Any], target: type[Any], epsilon: str
) -> None:
    converted = source(epsilon).to(target)
    with ctx.workprec(6000):
        assert_rounded_up(converted.exact, NUMBERS[source, target](ball_of(Fraction(epsilon))))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_spending_delta_is_the_formula_rounded_up(
    source: type[Any], epsilon: str, delta: str
) -> None:
    converted = source(epsilon).to(ApproxDP, delta=delta)
    reported, kept = converted.exact
    assert kept == Fraction(delta)
    with ctx.workprec(6000):
        e = ball_of(Fraction(epsilon))
        left = LEFT[source](e, ball_of(Fraction(delta)))
        truth = e + left.log() if left > 0 else arb(-1)
        assert_rounded_up(reported, truth if truth > 0 else arb(0))


def _order_bound(rho: Any, delta: Any, excess: Any) -> Any:
    order = 1 + excess
    return order * rho - (order * delta).log() / excess + (1 - 1 / order).log()


def _best_order(rho: Fraction, delta: Fraction) -> Any:
    """Return the least bound over all orders, by golden-section search on ln(α − 1) (one minimum)."""
    r, d = ball_of(rho), ball_of(delta)
    center = ((-d.log() / r).log() / 2).mid()
    low, high = center - 6, center + 4
    shrink = (arb(5).sqrt() - 1) / 2
    for _ in range(150):
        left = (high - shrink * (high - low)).mid()
        right = (low + shrink * (high - low)).mid()
        if _order_bound(r, d, left.exp()) < _order_bound(r, d, right.exp()):
            high = right
        else:
            low = left
    return _order_bound(r, d, ((low + high) / 2).mid().exp())


@pytest.mark.parametrize("rho", ["1e-6", "0.001", "0.125", "1", "50", "1e9", "1e40"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-12", "1e-6", "0.01", "0.9"])
def test_zcdp_to_approximate_is_near_the_best_order(rho: str, delta: str) -> None:
    reported, _ = ZCDP(rho).to(ApproxDP, delta=delta).exact
    with ctx.workprec(1200):
        truth = _best_order(Fraction(rho), Fraction(delta))
        assert_rounded_up(reported, truth if truth > 0 else arb(0))


@pytest.mark.parametrize("rho", ["1e-1500", "1e-400", "1e-300", "1e-12", "1e400", "1e1500"])
@pytest.mark.parametrize("delta", ["1e-1500", "1e-6", "0.999999999999999999999"])
def test_zcdp_at_the_ends_is_sound_if_not_tight(rho: str, delta: str) -> None:
    """It is never below the best order, but up to a quarter above: the float search is coarse here."""
    reported = epsilon_of_zcdp(Fraction(rho), Fraction(delta))
    assert isinstance(reported, Fraction)
    with ctx.workprec(12_000):
        r, d = ball_of(Fraction(rho)), ball_of(Fraction(delta))
        classical = r + 2 * (r * -d.log()).sqrt()
        assert ball_of(reported) <= classical * (1 + arb(2) ** -2)
        best = _best_order(Fraction(rho), Fraction(delta))
        assert not (ball_of(reported) < best)


@pytest.mark.parametrize("rho", [0.01, 0.125, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3, 0.1])
def test_the_gaussian_pair_keeps_the_converted_promise(rho: float, delta: float) -> None:
    from scipy.stats import norm

    epsilon = ZCDP(rho).to(ApproxDP, delta=delta).epsilon
    shift = math.sqrt(2 * rho)
    reached = norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(
        -shift / 2 - epsilon / shift
    )
    assert reached <= delta


# ---- chains, order, extremes -------------------------------------------------------------------


@given(POSITIVE, CHANCES)
@settings(max_examples=60)
def test_no_chain_of_conversions_beats_the_direct_one(epsilon: Fraction, delta: Fraction) -> None:
    for source in (PureDP, BoundedRange, LaplaceDominated, FlippedCoins):
        promise = source(epsilon)
        for middle in (PureDP, BoundedRange, ZCDP):
            between = promise.to(middle)
            for last in (PureDP, BoundedRange, ZCDP):
                assert between.to(last) >= promise.to(last)
            if middle is not ZCDP:
                chained = between.to(ApproxDP, delta=delta)
                assert chained.exact[0] >= promise.to(ApproxDP, delta=delta).exact[0]


@given(POSITIVE, CHANCES)
@settings(max_examples=60)
def test_the_stronger_promise_costs_less_everywhere(epsilon: Fraction, delta: Fraction) -> None:
    flipped, laplace, pure = FlippedCoins(epsilon), LaplaceDominated(epsilon), PureDP(epsilon)
    for measure in (PureDP, BoundedRange, ZCDP):
        assert flipped.to(measure) <= laplace.to(measure) <= pure.to(measure)
        assert BoundedRange(epsilon).to(measure) <= pure.to(measure)
    spent = [
        promise.to(ApproxDP, delta=delta).exact[0]
        for promise in (BoundedRange(epsilon), laplace, pure)
    ]
    assert spent[0] <= spent[2]
    assert spent[1] <= spent[2]


@given(POSITIVE, POSITIVE, CHANCES, CHANCES)
@settings(max_examples=60)
def test_more_epsilon_costs_more_and_more_delta_costs_less(
    first: Fraction, second: Fraction, one: Fraction, other: Fraction
) -> None:
    less, more = sorted((first, second))
    small, large = sorted((one, other))
    for source in ONE_NUMBER:
        for target in (PureDP, BoundedRange, ZCDP):
            assert source(less).to(target) <= source(more).to(target)
        at = {
            (value, delta): source(value).to(ApproxDP, delta=delta).exact[0]
            for value in (less, more)
            for delta in (small, large)
        }
        # Floats guide the search for an order, so the last digits need some slack.
        slack = 1 + Fraction(1, 10**12)
        assert at[less, small] <= at[more, small] * slack
        assert at[less, large] <= at[less, small] * slack


@given(POSITIVE, CHANCES, CHANCES)
@settings(max_examples=60)
def test_spending_delta_in_two_steps_buys_no_more(
    epsilon: Fraction, one: Fraction, other: Fraction
) -> None:
    small, large = sorted((one, other))
    assume(small < large)
    direct = PureDP(epsilon).to(ApproxDP, delta=large)
    stepped = PureDP(epsilon).to(ApproxDP, delta=small).to(ApproxDP, delta=large)
    assert stepped.exact[0] >= direct.exact[0] * (1 - Fraction(1, 10**15))
    assert stepped.to(ApproxDP, delta=small).epsilon == math.inf or small == large


@pytest.mark.parametrize("source", ONE_NUMBER)
def test_zero_stays_zero_and_infinity_infinite(source: type[Any]) -> None:
    for target in (PureDP, BoundedRange, ZCDP):
        assert source(0).to(target).exact == 0
        assert source(math.inf).to(target).exact == math.inf
    assert source(0).to(ApproxDP, delta=0).exact == (0, 0)
    assert source(math.inf).to(ApproxDP, delta="0.5").exact == (math.inf, Fraction(1, 2))
    assert source(math.inf).to(ApproxDP, delta=1).exact == (0, 1)
    assert source(5).to(ApproxDP, delta=1).exact == (0, 1)


def test_what_converts_to_nothing_is_infinite() -> None:
    for target in (PureDP, BoundedRange):
        assert ZCDP("1e-9").to(target).epsilon == math.inf
        assert ApproxDP(1, "1e-9").to(target).epsilon == math.inf
    assert ZCDP(1).to(ApproxDP).epsilon == math.inf
    assert ApproxDP(1, "1e-9").to(ZCDP).rho == math.inf
    assert ApproxDP(1, "1e-9").to(ApproxDP, delta="1e-10").epsilon == math.inf
    assert ApproxDP(1, 0).to(ZCDP) == PureDP(1).to(ZCDP)
    assert ApproxDP(1, "0.1").to(ApproxDP) == ApproxDP(1, "0.1")
    assert ApproxDP(math.inf, "0.1").to(ApproxDP, delta="0.2").epsilon == math.inf


@pytest.mark.parametrize("promise", [*(source(1) for source in ONE_NUMBER), ApproxDP(1, "0.1")])
def test_only_the_four_measures_can_be_asked_for(promise: Guarantee) -> None:
    class Stranger(PureDP):
        pass

    wrong: list[Any] = [LaplaceDominated, FlippedCoins, Guarantee, Stranger, float, "PureDP", None]
    for measure in wrong:
        with pytest.raises(ParameterError, match="measure"):
            promise.to(measure)
    for measure in (PureDP, BoundedRange, ZCDP):
        with pytest.raises(ParameterError, match="only be used with ApproxDP"):
            promise.to(measure, delta="0.1")
    for delta in (-1, 1.5, math.nan, "x", True):
        with pytest.raises(ParameterError, match="delta"):
            promise.to(ApproxDP, delta=delta)


def test_formulas_at_their_ends() -> None:
    for formula in (zcdp_of_pure, zcdp_of_bounded_range, zcdp_of_laplace):
        assert formula(Fraction(0)) == 0
        assert formula(math.inf) == math.inf
    assert shortened(Fraction(1), Fraction(1, 2), lambda _e, d: 1 - 2 * d) == 0


def test_what_is_assumed_goes_along_and_is_said_once() -> None:
    first = Proof("a", "one", assumes=("x", "y"))
    both = first.then(Proof("b", "two", assumes=("y", "z")))
    assert both.assumes == ("x", "y", "z")
    how = "one and two, each checked by Coq, put together on paper"
    assert str(both) == f"a, b: {how}; assumes that x, and that y, and that z"
    assert both.assuming().assumes == ()
    assert str(Proof("a", "one", "two", "three").then(Proof("a", "one"))) == (
        "a: one, two and three, each checked by Coq, put together on paper"
    )
