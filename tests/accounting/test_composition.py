"""Composition: never below the truth, and close to it where possible."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    PureDP,
)
from discreet.accounting import Event, compose
from discreet.errors import ParameterError
from discreet.guarantees import FlippedCoins, Guarantee, LaplaceDominated

ROUNDING = 1e-12


def test_sums() -> None:
    result = compose([PureDP("0.1"), Event(BoundedRange("0.2"), count=3)])
    assert result.pure == PureDP("0.7")
    assert result.best == PureDP("0.7")
    assert (
        result.zcdp.exact == PureDP("0.1").to(ZCDP).exact + 3 * BoundedRange("0.2").to(ZCDP).exact
    )
    assert not result.fixed_in_advance
    assert compose([], adaptive=False).pure == PureDP(0)
    assert compose([], adaptive=False).fixed_in_advance


def test_count_is_never_dropped() -> None:
    """Another library reported ε = 1.006 for a hundred exponential mechanisms at ε = 1, as if for one."""
    once = compose([Event(BoundedRange(1), count=100)], delta="1e-6")
    listed = compose([BoundedRange(1)] * 100, delta="1e-6")
    assert once.approx == listed.approx
    assert 30 < once.approx.epsilon < 37.3
    # The true value for two candidates, from the binomial distribution of a hundred answers.
    high = 1 / (1 + math.exp(-0.5))
    ways = [math.comb(100, i) for i in range(101)]
    truth = sum(
        max(
            0.0,
            w
            * (
                high ** (100 - i) * (1 - high) ** i
                - math.exp(1.006) * high**i * (1 - high) ** (100 - i)
            ),
        )
        for i, w in enumerate(ways)
    )
    assert truth > 0.9
    for how in (True, "questions", False):
        assert compose([Event(BoundedRange(1), count=100)], how, delta="1e-6").approx.epsilon > 30


def test_one_release_agrees_with_its_own_conversion() -> None:
    guarantees: list[Guarantee] = [
        PureDP(1),
        BoundedRange(1),
        LaplaceDominated(1),
        FlippedCoins("0.3"),
    ]
    for guarantee, delta in product(guarantees, ("0.001", "0.05")):
        own = guarantee.to(ApproxDP, delta=delta).epsilon
        assert compose([guarantee], False, delta=delta).approx.epsilon == pytest.approx(
            own, rel=2e-5
        )
        assert compose([guarantee], False, delta=delta).approx.epsilon >= own * (1 - 1e-12)


@pytest.mark.parametrize(("epsilon", "count"), [("0.1", 100), ("1", 10), ("0.5", 30)])
def test_the_laplace_distribution_agrees_with_an_independent_one(epsilon: str, count: int) -> None:
    module = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="dp-accounting is absent"
    )
    theirs = module.from_laplace_mechanism(1 / float(epsilon), value_discretization_interval=1e-4)
    expected = theirs.self_compose(count).get_epsilon_for_delta(1e-6)
    result = compose([Event(LaplaceDominated(epsilon), count=count)], "questions", delta="1e-6")
    assert result.approx.epsilon == pytest.approx(expected, rel=1e-4)


def test_a_tiny_delta_stays_finite() -> None:
    """Another library's loss distribution gave infinity here."""
    result = compose([Event(LaplaceDominated("0.1"), count=100)], False, delta="1e-15")
    assert 7 < result.approx.epsilon < 8
    assert (
        compose([Event(LaplaceDominated("0.1"), count=100)], False, delta="1e-300").approx.epsilon
        <= 10
    )


def test_own_deltas_are_subtracted() -> None:
    events: list[object] = [ApproxDP(1, "1e-7"), Event(ApproxDP("0.5", "1e-8"), count=10)]
    result = compose(events)
    assert result.approx == ApproxDP(6, Fraction(2, 10**7))
    assert compose(events, delta="1e-7").approx.epsilon == math.inf
    assert compose(events, False, delta="0.01").approx.epsilon < 6
    assert compose(events, False, delta="0.01").pure.epsilon == math.inf


def test_fails_closed() -> None:
    for how in (True, "questions", False):
        result = compose([PureDP(1), PureDP(math.inf)], how, delta="1e-6")
        assert result.approx.epsilon == math.inf
        assert result.best.to(PureDP).epsilon == math.inf
    only = compose([ZCDP("0.1"), PureDP(1)])
    assert isinstance(only.best, ZCDP)
    assert compose([ZCDP("0.1"), PureDP(1)], False, delta="1e-6").approx.epsilon < 10
    with pytest.raises(ParameterError):
        compose([PureDP(1)], "no")
    with pytest.raises(ParameterError):
        compose([PureDP(1)], 1)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ParameterError):
        compose([PureDP(1)], delta=2)


def test_the_reason_is_given() -> None:
    hundred = [Event(BoundedRange("0.1"), count=100)]
    assert "sum of ρ" in compose(hundred, delta="1e-6").reason
    assert "optimal composition" in compose(hundred, False, delta="1e-6").reason
    assert "fixed in advance" in str(compose(hundred, False, delta="1e-6"))
    assert "after seeing the earlier answers" in str(compose(hundred, delta="1e-6"))
    assert compose([PureDP(1)], delta="1e-6").best == PureDP(1)


GUARANTEES = st.builds(
    lambda kind, tenths: kind(Fraction(tenths, 10)),
    st.sampled_from([PureDP, BoundedRange, LaplaceDominated, FlippedCoins]),
    st.integers(1, 12),
)


@settings(max_examples=8, derandomize=True, deadline=None)
@given(st.lists(GUARANTEES, min_size=1, max_size=4), GUARANTEES)
def test_order(listed: list[Guarantee], more: Guarantee) -> None:
    """A list known in advance never costs more, and one more release never costs less."""
    costs = [
        compose(listed, how, delta="0.01").approx.epsilon for how in (False, "questions", True)
    ]
    assert costs == sorted(costs)
    assert compose([*listed, more], "questions", delta="0.01").approx.epsilon >= costs[1] * (
        1 - 1e-3
    )


@pytest.mark.parametrize(
    ("promise", "most"),
    [(BoundedRange("0.01"), 2.2541), (FlippedCoins("0.01"), 4.8769), (PureDP("0.01"), 4.8856)],
)
def test_ten_thousand_releases_stay_tight(promise: Guarantee, most: float) -> None:
    """The bounds come from loss distributions (4.876 for Laplace noise); ρ gives 2.419, 5.207 and 5.222."""
    separate = compose([promise] * 10_000, False, delta="1e-6")
    assert separate.count == 10_000
    assert separate.approx.epsilon <= most
    assert not separate.untried


def test_what_is_too_long_to_be_tight_says_so() -> None:
    for adaptive in (False, "questions"):
        total = compose([Event(BoundedRange("0.001"), count=40_000)], adaptive, delta="1e-6")
        assert "the privacy loss distribution" in total.untried
        assert ("optimal" in total.untried) == (adaptive is False)
        assert "A tighter bound was not computed" in str(total)
    assert not compose([Event(BoundedRange("0.001"), count=40_000)], delta="1e-6").untried


def test_three_hundred_different_events_take_seconds() -> None:
    events = [PureDP(Fraction(i, 10_007)) for i in range(1, 301)]
    started = time.process_time()
    total = compose(events, False, delta="1e-6")
    assert time.process_time() - started < 5
    assert total.approx.epsilon < 1.2824


def test_equal_events_are_one_event_that_happened_more_often() -> None:
    listed = [PureDP("0.1"), Event(PureDP("0.1"), mechanism="other", count=2), ZCDP("0.01")] * 50
    merged = compose([Event(PureDP("0.1"), count=150), Event(ZCDP("0.01"), count=50)], delta="1e-6")
    total = compose(listed, delta="1e-6")
    assert (total.zcdp, total.approx, total.count) == (merged.zcdp, merged.approx, 200)


def test_what_the_events_own_delta_leaves_is_all_that_is_converted() -> None:
    own, target = Fraction(1, 1000), Fraction(3, 1000)
    composed = compose([ApproxDP("0.1", own), ZCDP("0.01")], delta=target)
    rho = PureDP("0.1").to(ZCDP).exact + Fraction("0.01")
    bounds = {bound.name: bound.epsilon for bound in composed.bounds}
    assert bounds["the sum of ρ, converted"] == ZCDP(rho).to(ApproxDP, delta=target - own).exact[0]
    fixed = compose([ApproxDP("0.1", own), PureDP("0.2")], delta=target, adaptive=False)
    alone = compose([PureDP("0.1"), PureDP("0.2")], delta=target - own, adaptive=False)
    assert fixed.approx.exact == (alone.approx.exact[0], target)
    assert compose([ApproxDP(1, "0.6")] * 2).approx.delta == 1
    # If nothing is left over, nothing is untried.
    assert compose([ApproxDP(1, own)], adaptive=False).untried == ""


def test_a_huge_range_is_composed() -> None:
    composed = compose([BoundedRange(2000)], delta="0.5", adaptive=False)
    assert 1990 < composed.approx.epsilon <= 2000


def test_where_nothing_is_finite_the_reason_says_so() -> None:
    composed = compose([ApproxDP(1, "0.1")], delta="0.01")
    assert composed.best == ApproxDP(math.inf, "0.01")
    assert composed.reason == "no finite bound is known"


def test_a_sum_that_needs_no_delta_says_whether_one_was_allowed() -> None:
    assert compose([PureDP(1)]).reason == "no δ is allowed, and the sum of ε needs none"
    assert compose([PureDP(0)], delta="1e-6").reason == "the sum of ε is the least, and needs no δ"
