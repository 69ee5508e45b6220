"""Real pairs of distributions satisfy every promise that follows from their own measures."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import Exponential, PermuteAndFlip, Scores
from discreet.accounting import Event, compose
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    AveragedRange,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    PureDP,
)

Pair = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


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
    """Check that every consequence of the promise holds for the pair, in both directions."""
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
    """Return the extreme pair of bounded range ε with the largest loss ``top``."""
    share = (math.exp(-top) - math.exp(-epsilon)) / -math.expm1(-epsilon)
    rest = math.expm1(-top) / math.expm1(-epsilon)
    return (
        np.array([share * math.exp(top), rest * math.exp(top - epsilon)]),
        np.array([share, rest]),
    )


def _laplace_pair(epsilon: float, cells: int = 400) -> Pair:
    """Return Laplace noise of scale 1/ε and its shift by one, rounded to a grid (which only reveals less)."""
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


def test_two_disjoint_releases_are_within_what_is_promised_for_two_people() -> None:
    """If a person leaves one group and enters another, the ranges of permute-and-flip add up."""
    ahead, behind = (
        PermuteAndFlip(epsilon=1).probabilities(Scores(row, range_distance=1))
        for row in ([0.5, 0.0], [0.0, 0.5])
    )
    # One group loses the person, the other gains one.
    pair = np.outer(ahead, ahead).ravel(), np.outer(behind, behind).ravel()
    assert np.ptp(_loss(pair)) == pytest.approx(3.3271862630)
    assert FlippedCoins(2).to(BoundedRange).epsilon < 3
    promise = FlippedCoins(1).for_people(2)
    assert type(promise) is LaplaceDominated
    _assert_holds(promise, pair)
    assert type(FlippedCoins(1).for_people(1)) is FlippedCoins


# ---- averages over secret coins ----


def _average(weights: list[float], pairs: list[Pair]) -> Pair:
    shares = np.array(weights) / math.fsum(weights)
    first, second = (
        sum(share * law for share, law in zip(shares, laws, strict=True))
        for laws in zip(*pairs, strict=True)
    )
    return first, second


def _together(pairs: list[Pair]) -> Pair:
    first, second = (
        functools.reduce(lambda one, other: np.outer(one, other).ravel(), laws)
        for laws in zip(*pairs, strict=True)
    )
    return first, second


_COINS = st.lists(
    st.tuples(st.floats(0.05, 1.0), st.floats(0.02, 0.98)), min_size=1, max_size=4, unique=True
)


@given(st.floats(0.05, 6.0), _COINS, st.integers(1, 3))
@settings(max_examples=40)
def test_an_average_of_ranges_keeps_all_but_the_range(
    epsilon: float, coins: list[tuple[float, float]], people: int
) -> None:
    """Each value of the coins has an extreme pair of range ε; several people move along one chain."""
    weights = [weight for weight, _ in coins]
    pair = _average(
        weights, [_two_points(people * epsilon, t * people * epsilon) for _, t in coins]
    )
    _assert_holds(AveragedRange(epsilon).for_people(people), pair)


def test_the_range_of_an_average_is_lost() -> None:
    """Half of the coin values give losses up to ε, the others down to −ε."""
    pair = _average([1, 1], [_two_points(1.0, 0.98), _two_points(1.0, 0.02)])
    apart = np.concatenate([_two_points(1.0, t)[0] / 2 for t in (0.98, 0.02)])
    others = np.concatenate([_two_points(1.0, t)[1] / 2 for t in (0.98, 0.02)])
    _assert_holds(AveragedRange(1), pair)
    _assert_holds(AveragedRange(1), (apart, others))  # the coins are revealed
    assert np.ptp(_loss((apart, others))) > 1.9
    with pytest.raises(AssertionError):
        _assert_holds(BoundedRange(1), (apart, others))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_groups_to_which_people_are_assigned_keep_an_averaged_range(count: int) -> None:
    """A person counts in one of ``count`` groups with equal chances, and each group makes its own choice."""
    others, one_more = (
        Exponential(epsilon=1).probabilities(Scores(row, range_distance=1))
        for row in ([0, 0, 3], [0, 1, 3])
    )
    without = _together([(others, others)] * count)[0]
    with_one = _average(
        [1] * count,
        [
            _together([(others, one_more if place == chosen else others) for place in range(count)])
            for chosen in range(count)
        ],
    )[1]
    _assert_holds(AveragedRange(1), (without, with_one))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("adaptive", [True, "questions", False])
def test_lists_of_averaged_ranges_cost_what_ranges_cost(adaptive: bool | str, shared: bool) -> None:
    """Three releases have range 1 given coins, which may be the same coins for all three."""
    stated = {
        delta: compose([Event(AveragedRange(1), count=3)], adaptive, delta=delta)
        for delta in (1e-4, 0.01, 0.1)
    }
    for delta, total in stated.items():
        ranges = compose([Event(BoundedRange(1), count=3)], adaptive, delta=delta)
        assert total.approx == ranges.approx
    worst = 0.0
    for offsets in itertools.combinations((0.1, 0.3, 0.5, 0.7, 0.9), 2):
        pairs = [_two_points(1.0, t) for t in offsets]
        if shared:
            pair = _average([1, 1], [_together([one] * 3) for one in pairs])
        else:
            pair = _together([_average([1, 1], pairs)] * 3)
        for delta, total in stated.items():
            for one, other in (pair, pair[::-1]):
                beyond = _hockey_stick((one, other), total.approx.epsilon)
                assert beyond <= delta * (1 + 1e-9)
                worst = max(worst, beyond / delta)
                for order in (1.001, 2.0, 20.0):
                    assert _renyi((one, other), order) <= order * total.zcdp.rho * (1 + 1e-9)
    assert worst > 0.01
