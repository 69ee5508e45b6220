"""Real pairs of distributions keep every promise that follows from their own measures."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet import PermuteAndFlip, Scores
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
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
