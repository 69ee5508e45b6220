"""Lists fixed in advance: the worst offsets, found by trying many, and which bounds are computed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from discreet import BoundedRange, PureDP
from discreet._exact.numbers.balls import ball_of
from discreet.accounting import Event, fixed_lists
from discreet.accounting.fixed_lists import (
    LOSSES,
    OFFSETS,
    OPTIMAL,
    _halves,
    fixed_list_bounds,
    left_out,
)
from discreet.accounting.loss_grids import bounded_range_curve
from discreet.guarantees import ZCDP, FlippedCoins, Guarantee

DELTA = Fraction(1, 50)


def pair(epsilon: float, offset: float) -> list[tuple[float, float]]:
    """Return the pair of laws on two outcomes with the losses ``offset`` and ``offset`` − ε."""
    second = (math.exp(-offset) - math.exp(-epsilon)) / -math.expm1(-epsilon)
    first = second * math.exp(offset)
    return [(first, second), (1 - first, 1 - second)]


def least_epsilon(pairs: list[list[tuple[float, float]]], delta: float) -> float:
    outcomes = [
        (math.prod(first for first, _ in chosen), math.prod(second for _, second in chosen))
        for chosen in product(*pairs)
    ]
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        lost = sum(max(0.0, p - math.exp(middle) * q) for p, q in outcomes)
        low, high = (middle, high) if lost > delta else (low, middle)
    return high


def worst(ranges: list[float], delta: float, steps: int = 24) -> float:
    """Return the worst ε over offsets on a grid; equal ranges may have different offsets."""
    grids = [[epsilon * i / steps for i in range(steps + 1)] for epsilon in ranges]
    return max(
        least_epsilon([pair(*each) for each in zip(ranges, offsets, strict=True)], delta)
        for offsets in product(*grids)
    )


def bounds_of(*events: Event, questions_chosen: bool = False) -> dict[str, float]:
    found = fixed_list_bounds(events, DELTA, questions_chosen=questions_chosen)
    return {bound.name: float(bound.epsilon) for bound in found}


@pytest.mark.parametrize(("lowest", "highest"), [(0, 1), (0.25, 0.5), (0.5, 1)])
def test_the_curve_is_the_best_of_the_pairs(lowest: float, highest: float) -> None:
    curve = bounded_range_curve(Fraction(1), Fraction(lowest), Fraction(highest))
    for x in (Fraction(i, 10) for i in range(-9, 10)):
        ratio = math.exp(x)
        best = max(
            sum(max(0.0, p - ratio * q) for p, q in pair(1, lowest + (highest - lowest) * i / 400))
            for i in range(401)
        )
        assert float(curve(x, ball_of(x).exp())) == pytest.approx(best, abs=1e-5)


def test_two_ranges_at_their_worst_offsets() -> None:
    events = Event(BoundedRange("0.5"), count=1), Event(BoundedRange(1), count=1)
    found = bounds_of(*events)
    truth = worst([0.5, 1.0], float(DELTA))
    assert truth - 1e-9 <= found[OFFSETS] <= 1.03 * truth
    # If questions depend on answers, so do offsets: only the worst curves are valid.
    assert set(bounds_of(*events, questions_chosen=True)) == {LOSSES}
    assert found[OFFSETS] <= found[LOSSES] * 1.01


def test_equal_ranges_at_their_worst_offsets() -> None:
    found = bounds_of(Event(BoundedRange("0.75"), count=2))
    truth = worst([0.75, 0.75], float(DELTA), steps=40)
    assert truth - 1e-9 <= found[OPTIMAL] <= 1.002 * truth


def test_a_range_beside_another_promise() -> None:
    events = Event(BoundedRange(1), count=1), Event(PureDP("0.5"), count=1)
    response = [(1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(0.5)))]
    response.append(response[0][::-1])
    truth = max(least_epsilon([pair(1.0, i / 200), response], float(DELTA)) for i in range(201))
    assert truth - 1e-9 <= bounds_of(*events)[OFFSETS] <= 1.03 * truth


@pytest.mark.parametrize(
    ("guarantees", "adaptive", "said"),
    [
        ([PureDP(1)], False, LOSSES),
        ([PureDP(0)], False, ""),
        ([BoundedRange(1)], False, f"{LOSSES} and {OPTIMAL}"),
        ([BoundedRange(1), PureDP(1)], False, f"{LOSSES} and {OFFSETS}"),
        ([BoundedRange(1), PureDP(1)], True, LOSSES),
        ([FlippedCoins(1)], True, LOSSES),
        ([FlippedCoins(1)], False, f"{LOSSES} and {OPTIMAL}"),
        ([FlippedCoins(1), PureDP(1)], False, LOSSES),
        ([BoundedRange(1), BoundedRange(1)], False, f"{LOSSES} and {OPTIMAL}"),
        ([BoundedRange(1), BoundedRange(1), PureDP(0)], False, f"{LOSSES} and {OPTIMAL}"),
        # No loss curve of ρ-zCDP is known, so none of these bounds exists.
        ([ZCDP(1)], False, ""),
        ([ZCDP(1), PureDP(1)], False, ""),
        ([ZCDP(1), BoundedRange(1)], False, ""),
        ([PureDP(math.inf)], False, ""),
    ],
)
def test_what_was_not_computed_is_named(
    guarantees: list[Guarantee], adaptive: bool, said: str
) -> None:
    assert left_out((), guarantees, adaptive) == said


def test_nothing_follows_from_no_delta_or_no_releases() -> None:
    assert fixed_list_bounds([Event(PureDP(1))], Fraction(0), questions_chosen=False) == ()
    assert bounds_of() == bounds_of(Event(PureDP(0))) == {}


def test_a_search_that_stops_early_stays_above_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed_lists, "_MOST_SPLITS", 1)
    events = Event(BoundedRange("0.5"), count=1), Event(BoundedRange(1), count=1)
    early = bounds_of(*events)[OFFSETS]
    monkeypatch.undo()
    assert early > bounds_of(*events)[OFFSETS] > worst([0.5, 1.0], float(DELTA)) - 1e-9


def test_a_box_is_cut_in_the_middle_of_its_weightiest_side() -> None:
    box = (Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(3, 4))
    one, two = _halves(box, [1, 1])
    assert [*one[0], *two[0]] == [Fraction(part, 2) for part in (0, 1, 1, 2)]
    assert one[1] == two[1] == box[1]
    one, two = _halves(box, [1, 3])
    assert (one[1][1], two[1][0]) == (Fraction(1, 2), Fraction(1, 2))
    assert one[0] == two[0] == box[0]
    one, _ = _halves(((Fraction(0), Fraction(1)), (Fraction(3, 4), Fraction(1))), [1, 1])
    assert one[0][1] == Fraction(1, 2)
