"""Guarantees and their conversions, against the formulas at high precision and against real pairs."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import PermuteAndFlip, Scores
from discreet.errors import DiscreetError, ParameterError
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    PureDP,
)
from discreet.guarantees.conversions import epsilon_of_zcdp

ONE_NUMBER: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins, ZCDP]
MEASURES: list[type[Any]] = [PureDP, BoundedRange, ZCDP, ApproxDP]
SOURCES: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins]
Pair = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]

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


# ---- the formulas, written once more, at 6000 bits ---------------------------------------------


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

# What is left of e^ε after spending δ, as a factor: ε' = ε + ln(left).
LEFT: dict[type[Any], Callable[[Any, Any], Any]] = {
    PureDP: lambda e, d: 1 - d * (1 + (-e).exp()),
    BoundedRange: lambda e, d: (1 - (d * (1 - (-e).exp())).sqrt()) ** 2,
    LaplaceDominated: lambda e, d: (1 - d) ** 2,
    FlippedCoins: lambda e, d: (1 - d) ** 2,
}


def _ball(value: Fraction) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


def _assert_rounded_up(reported: Fraction | float, truth: Any) -> None:
    """At least the truth, and by no more than one part in 10¹²."""
    if not isinstance(reported, Fraction):
        raise AssertionError("a finite cost was expected")
    assert not (_ball(reported) < truth)
    assert not (_ball(reported) > truth * (1 + arb(10) ** -12))


@pytest.mark.parametrize(("source", "target"), list(NUMBERS))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_conversions_are_the_formula_rounded_up(
    source: type[Any], target: type[Any], epsilon: str
) -> None:
    converted = source(epsilon).to(target)
    with ctx.workprec(6000):
        _assert_rounded_up(converted.exact, NUMBERS[source, target](_ball(Fraction(epsilon))))


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
        e = _ball(Fraction(epsilon))
        left = LEFT[source](e, _ball(Fraction(delta)))
        truth = e + left.log() if left > 0 else arb(-1)
        _assert_rounded_up(reported, truth if truth > 0 else arb(0))


def _order_bound(rho: Any, delta: Any, excess: Any) -> Any:
    order = 1 + excess
    return order * rho - (order * delta).log() / excess + (1 - 1 / order).log()


def _best_order(rho: Fraction, delta: Fraction) -> Any:
    """The least bound over all orders, by golden section on ln(α − 1), which has one valley."""
    r, d = _ball(rho), _ball(delta)
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
        _assert_rounded_up(reported, truth if truth > 0 else arb(0))


@pytest.mark.parametrize("rho", ["1e-1500", "1e-400", "1e-300", "1e-12", "1e400", "1e1500"])
@pytest.mark.parametrize("delta", ["1e-1500", "1e-6", "0.999999999999999999999"])
def test_zcdp_at_the_ends_is_sound_if_not_tight(rho: str, delta: str) -> None:
    """Never below the best order; the float search for it is coarse here, by up to a quarter."""
    reported = epsilon_of_zcdp(Fraction(rho), Fraction(delta))
    assert isinstance(reported, Fraction)
    with ctx.workprec(12_000):
        r, d = _ball(Fraction(rho)), _ball(Fraction(delta))
        classical = r + 2 * (r * -d.log()).sqrt()
        assert _ball(reported) <= classical * (1 + arb(2) ** -2)
        best = _best_order(Fraction(rho), Fraction(delta))
        assert not (_ball(reported) < best)


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


# ---- real pairs of distributions ---------------------------------------------------------------


def _loss(pair: Pair) -> np.ndarray[Any, Any]:
    loss: np.ndarray[Any, Any] = np.log(pair[0]) - np.log(pair[1])
    return loss


def _renyi(pair: Pair, order: float) -> float:
    top = np.log(pair[0]) * order + np.log(pair[1]) * (1 - order)
    peak = float(top.max())
    return (peak + math.log(math.fsum(np.exp(top - peak)))) / (order - 1)


def _hockey_stick(pair: Pair, epsilon: float) -> float:
    return math.fsum(np.maximum(0.0, pair[0] - math.exp(epsilon) * pair[1]))


def _assert_holds(promise: Guarantee, pair: Pair) -> None:
    """Every consequence of the promise holds of the pair, in both directions."""
    for p, q in (pair, pair[::-1]):
        loss = _loss((p, q))
        pure, width, rho = promise.to(PureDP), promise.to(BoundedRange), promise.to(ZCDP)
        assert np.abs(loss).max() <= pure.epsilon * (1 + 1e-12) + 1e-12
        assert np.ptp(loss) <= width.epsilon * (1 + 1e-12) + 1e-12
        for order in (1.0001, 1.5, 2.0, 5.0, 40.0):
            assert _renyi((p, q), order) <= order * rho.rho * (1 + 1e-9) + 1e-11
        for delta in (1e-9, 1e-4, 0.01, 0.1, 0.4):
            for measure in (promise, pure, width, rho):
                epsilon = measure.to(ApproxDP, delta=delta).epsilon
                assert _hockey_stick((p, q), epsilon) <= delta + 1e-12


def _response(epsilon: float) -> Pair:
    low, high = 1 / (1 + math.exp(epsilon)), 1 / (1 + math.exp(-epsilon))
    return np.array([high, low]), np.array([low, high])


def _two_points(epsilon: float, top: float) -> Pair:
    """The extreme pair of bounded range ε whose largest loss is ``top``."""
    share = (math.exp(-top) - math.exp(-epsilon)) / -math.expm1(-epsilon)
    rest = math.expm1(-top) / math.expm1(-epsilon)
    return (
        np.array([share * math.exp(top), rest * math.exp(top - epsilon)]),
        np.array([share, rest]),
    )


def _laplace_pair(epsilon: float, cells: int = 400) -> Pair:
    """Laplace noise of scale 1/ε and its shift by one, seen through a grid (which only hides)."""
    edges = np.linspace(0.0, epsilon, cells + 1)

    def cdf(y: np.ndarray[Any, Any]) -> Any:
        return np.where(y < 0, np.exp(y) / 2, 1 - np.exp(-np.abs(y)) / 2)

    p = np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))
    return p, p[::-1]


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0, 12.0])
def test_extreme_pairs_keep_every_consequence(epsilon: float) -> None:
    _assert_holds(PureDP(epsilon), _response(epsilon))
    _assert_holds(LaplaceDominated(epsilon), _laplace_pair(epsilon))
    for part in np.linspace(0.05, 0.95, 19):
        _assert_holds(BoundedRange(epsilon), _two_points(epsilon, float(part) * epsilon))


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_the_conversions_are_reached_by_the_extreme_pairs(epsilon: float) -> None:
    response, delta = _response(epsilon), math.tanh(epsilon / 2) / 3
    assert math.isclose(
        _hockey_stick(response, PureDP(epsilon).to(ApproxDP, delta=delta).epsilon), delta
    )
    assert math.isclose(_renyi(response, 1.000001), PureDP(epsilon).to(ZCDP).rho, rel_tol=1e-4)
    delta = math.tanh(epsilon / 4) / 3
    spent = BoundedRange(epsilon).to(ApproxDP, delta=delta).epsilon
    assert math.isclose(
        _hockey_stick(_two_points(epsilon, (epsilon + spent) / 2), spent), delta, rel_tol=1e-9
    )


@given(
    st.lists(
        st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)), min_size=2, max_size=6, unique=True
    )
)
@settings(max_examples=60)
def test_any_pair_keeps_what_follows_from_its_own_measures(
    rows: list[tuple[float, float]],
) -> None:
    p, q = np.array(rows).T
    pair = p / p.sum(), q / q.sum()
    loss = _loss(pair)
    _assert_holds(PureDP(Fraction(float(np.abs(loss).max()) + 1e-13)), pair)
    _assert_holds(BoundedRange(Fraction(float(np.ptp(loss)) + 1e-13)), pair)


@given(st.floats(0.05, 6.0), st.lists(st.floats(0.0, 8.0), min_size=2, max_size=5))
@settings(max_examples=12)
def test_permute_and_flip_keeps_the_promise_of_flipped_coins(
    epsilon: float, gaps: list[float]
) -> None:
    from discreet import PermuteAndFlip, Scores

    mechanism = PermuteAndFlip(epsilon=epsilon)
    for moved in itertools.product((0, 1), repeat=len(gaps)):
        pair = tuple(
            mechanism.probabilities(Scores(values, range_distance=1))
            for values in (
                [Fraction(gap) for gap in gaps],
                [Fraction(gap) + up for gap, up in zip(gaps, moved, strict=True)],
            )
        )
        assume(min(float(p.min()) for p in pair) > 1e-12)
        _assert_holds(FlippedCoins(epsilon), (pair[0], pair[1]))


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
        # The search for an order steers by floats, hence the last digits of slack.
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
        with pytest.raises(ParameterError, match="ApproxDP only"):
            promise.to(measure, delta="0.1")
    for delta in (-1, 1.5, math.nan, "x", True):
        with pytest.raises(ParameterError, match="delta"):
            promise.to(ApproxDP, delta=delta)


@pytest.mark.parametrize("measure", ONE_NUMBER)
@pytest.mark.parametrize("wrong", [-1, math.nan, "x", None, True, [1]])
def test_a_wrong_cost_is_refused(measure: type[Any], wrong: object) -> None:
    with pytest.raises(DiscreetError):
        measure(wrong)
    with pytest.raises(DiscreetError):
        ApproxDP(wrong, 0)
    with pytest.raises(DiscreetError):
        ApproxDP(1, wrong)


def test_reported_figures_are_rounded_up() -> None:
    third = Fraction(1, 3)
    for measure, name in ((PureDP, "epsilon"), (BoundedRange, "epsilon"), (ZCDP, "rho")):
        reported = getattr(measure(third), name)
        assert isinstance(reported, float)
        assert third <= Fraction(reported) < third * (1 + Fraction(1, 10**15))
    both = ApproxDP(third, third)
    assert Fraction(both.epsilon) >= third
    assert Fraction(both.delta) >= third
    assert PureDP("1e400").epsilon == math.inf
    assert PureDP("1e-400").epsilon == 5e-324


@pytest.mark.parametrize("measure", ONE_NUMBER)
def test_one_number_guarantees_are_values(measure: type[Any]) -> None:
    small, large, unlimited = measure("0.1"), measure(0.2), measure(math.inf)
    assert small < large < unlimited
    assert sorted([unlimited, large, small]) == [small, large, unlimited]
    assert small == measure(Fraction(1, 10))
    assert hash(small) == hash(measure(0.1))
    assert small != large
    assert small != Fraction(1, 10)
    for promise in (small, large, unlimited):
        for again in (pickle.loads(pickle.dumps(promise)), copy.deepcopy(promise)):  # noqa: S301
            assert type(again) is measure
            assert again == promise
    with pytest.raises(AttributeError, match="frozen"):
        small._exact = Fraction(0)
    with pytest.raises(AttributeError):
        small.anything = 1
    assert repr(small) == f"{measure.__name__}(0.1)"
    assert repr(unlimited) == f"{measure.__name__}(inf)"


def test_different_measures_are_neither_equal_nor_ordered() -> None:
    for one, other in itertools.permutations(ONE_NUMBER, 2):
        assert one(1) != other(1)
        with pytest.raises(TypeError):
            assert one(1) < other(1)
    with pytest.raises(TypeError):
        assert ApproxDP(1, 0) <= PureDP(1)


def test_approximate_guarantees_are_values() -> None:
    promise = ApproxDP(1, "1e-6")
    assert promise == ApproxDP(Fraction(1), Fraction(1, 10**6))
    assert hash(promise) == hash(ApproxDP(1, 1e-6))
    assert promise <= ApproxDP(2, "1e-6")
    assert not promise <= ApproxDP(2, "1e-7")
    assert promise != PureDP(1)
    assert pickle.loads(pickle.dumps(promise)) == promise  # noqa: S301
    assert repr(promise) == "ApproxDP(1, 1e-06)"
    with pytest.raises(AttributeError, match="frozen"):
        promise.anything = 1


# ---- households and words ----------------------------------------------------------------------


def test_households() -> None:
    assert PureDP("0.1").for_people(4) == PureDP("0.4")
    assert BoundedRange("0.1").for_people(4) == BoundedRange("0.4")
    assert ZCDP("0.1").for_people(4) == ZCDP("1.6")
    assert ApproxDP(0, "0.1").for_people(4) == ApproxDP(0, "0.4")
    assert ApproxDP(0, "0.3").for_people(4) == ApproxDP(0, 1)
    assert ApproxDP(1, 0).for_people(4) == ApproxDP(4, 0)
    assert PureDP(math.inf).for_people(2) == PureDP(math.inf)
    for promise in (PureDP(1), ZCDP(1), ApproxDP(1, "1e-6")):
        assert promise.for_people(1) == promise
        for wrong in (0, -1, 1.5, "2", True, None):
            with pytest.raises(ParameterError, match="people"):
                promise.for_people(wrong)  # type: ignore[arg-type]  # this is the point


@pytest.mark.parametrize("epsilon", ["1e-320", "0.01", "1", "3", "1e300"])
def test_a_households_delta_adds_up_person_by_person(epsilon: str) -> None:
    delta = Fraction(1, 10**9)
    reported = ApproxDP(epsilon, delta).for_people(4)
    assert reported.exact[0] == 4 * Fraction(epsilon)
    with ctx.workprec(6000):
        factor, total = _ball(Fraction(epsilon)).exp(), arb(0)
        for _ in range(4):
            total = factor * total + _ball(delta)
        _assert_rounded_up(reported.exact[1], _least(total, arb(1)))


def test_a_households_delta_may_be_longer_than_what_a_user_may_write() -> None:
    tiny = ApproxDP(1, Fraction(1, 10**3900)).for_people(3)
    assert tiny.delta == 5e-324
    assert tiny.exact[1] >= Fraction(11, 10**3900)


ONE_PERSON = "One person's data changes the probability of any answer"
FOUR_PEOPLE = "Four people together change the probability of any answer"


@pytest.mark.parametrize(
    ("promise", "people", "words"),
    [
        (PureDP(1), 1, f"{ONE_PERSON} by a factor of at most 2.719 (ε = 1)."),
        (PureDP("0.1"), 1, f"{ONE_PERSON} by a factor of at most 1.106 (ε = 0.1)."),
        (PureDP(0), 1, f"{ONE_PERSON} by a factor of at most 1 (ε = 0)."),
        (PureDP(1), 4, f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4)."),
        (PureDP("0.1"), 4, f"{FOUR_PEOPLE} by a factor of at most 1.492 (4ε = 0.4)."),
        (PureDP(3), 4, f"{FOUR_PEOPLE} by a factor of at most 162800 (4ε = 12)."),
        (PureDP(300), 4, f"{FOUR_PEOPLE} by a factor of at most e^1200 (4ε = 1200)."),
        (PureDP(math.inf), 1, f"{ONE_PERSON} without any limit (ε = ∞)."),
        (
            BoundedRange(1),
            4,
            f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4); nor do any two answers move apart "
            "by more than that (bounded range).",
        ),
        (BoundedRange(math.inf), 4, f"{FOUR_PEOPLE} without any limit (4ε = ∞)."),
        (LaplaceDominated(1), 4, f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4)."),
        (
            ZCDP(1),
            4,
            f"{FOUR_PEOPLE} by a factor of at most e^44.29, up to one chance in a million "
            "(16ρ = 16).",
        ),
        (
            ApproxDP(1, "1e-6"),
            1,
            f"{ONE_PERSON} by a factor of at most 2.719 (ε = 1), except for an event of probability "
            "at most 1e-6 (δ).",
        ),
        (
            ApproxDP(1, "1e-6"),
            4,
            f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4), except for an event of probability "
            "at most 3.12e-5 (δ).",
        ),
    ],
)
def test_in_words(promise: Guarantee, people: int, words: str) -> None:
    assert promise.in_words(people) == words
    if people == 1:
        assert str(promise) == words


@pytest.mark.parametrize("number", ["1e-400", "1e-320", "0.5", "1e40", "1e300", "1e400", 0])
def test_words_exist_for_every_size(number: object) -> None:
    for promise in [*(measure(number) for measure in ONE_NUMBER), ApproxDP(number, "0.001")]:
        for people in (1, 2, 7, 1000):
            words = promise.in_words(people)
            assert words.endswith(".")
            assert "nan" not in words
    assert "7 people together change" in PureDP(1).in_words(7)
    with pytest.raises(ParameterError, match="people"):
        PureDP(1).in_words(0)


@given(POSITIVE)
@settings(max_examples=60)
def test_figures_in_words_are_never_too_small(epsilon: Fraction) -> None:
    words = PureDP(epsilon).in_words()
    figure = Fraction(words.rpartition("= ")[2].rstrip(").").rstrip())
    assert epsilon <= figure <= epsilon * Fraction(1002, 1000)


def test_two_disjoint_releases_are_within_what_is_promised_for_two_people() -> None:
    """A person who leaves one group and enters another: the ranges of permute-and-flip add up."""
    ahead, behind = (
        PermuteAndFlip(epsilon=1).probabilities(Scores(row, range_distance=1))
        for row in ([0.5, 0.0], [0.0, 0.5])
    )
    # One group's release loses the person, the other's gains one.
    pair = np.outer(ahead, ahead).ravel(), np.outer(behind, behind).ravel()
    assert np.ptp(_loss(pair)) == pytest.approx(3.3271862630)
    assert FlippedCoins(2).to(BoundedRange).epsilon < 3
    promise = FlippedCoins(1).for_people(2)
    assert type(promise) is LaplaceDominated
    _assert_holds(promise, pair)
    assert type(FlippedCoins(1).for_people(1)) is FlippedCoins
