"""Events: valid and invalid parameters."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest

from discreet import ApproxDP, Exponential, NoisyMax, PermuteAndFlip, PureDP, Scores
from discreet.accounting import Event, compose
from discreet.accounting.events import LONGEST_TEXT
from discreet.errors import DiscreetError, ParameterError
from discreet.guarantees import BoundedRange, LaplaceDominated
from discreet.mechanisms import MECHANISMS, LargeGap, Mechanism
from discreet.testing import scripted

Laws: TypeAlias = np.ndarray[Any, Any]
"""Pairs of laws: before and after, each a row of chances."""

SCORES = Scores([3, 1, 0], sensitivity=1)


def test_a_pair_gives_the_tightest_promise() -> None:
    assert Event.of((Exponential(epsilon=1), SCORES)).guarantee == BoundedRange(1)
    assert isinstance(Event.of((PermuteAndFlip(epsilon=1), SCORES)).guarantee, LaplaceDominated)
    event = Event.of((NoisyMax(epsilon="0.5", noise="laplace"), SCORES))
    assert event.guarantee == LaplaceDominated("0.5")
    assert event.mechanism == "noisy-max-laplace"
    assert event.parameters["noise"] == "laplace"


def test_a_release_is_an_event() -> None:
    release = PermuteAndFlip(epsilon=1).release(SCORES, neighbours="add-remove")
    assert Event.of(release).guarantee.to(PureDP) == PureDP(1)
    explained = PermuteAndFlip(epsilon=1).release(
        SCORES, neighbours="replace (one record for another)"
    )
    assert Event.of(explained).neighbours == "replace"


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 0},
        {"count": 1.5},
        {"count": True},
        {"mechanism": ""},
        {"purpose": "two\nlines"},
        {"purpose": "x" * 1001},
        {"neighbours": 3},
        {"parameters": {"bits": scripted(1)}},
        {"parameters": [1]},
        {"parameters": {"": 1}},
    ],
)
def test_wrong_fields_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Event(PureDP(1), **wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("wrong", [1, "PureDP(1)", None, PureDP])
def test_an_event_needs_a_guarantee(wrong: object) -> None:
    with pytest.raises(ParameterError, match="guarantee"):
        Event(wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "wrong", [1, "PureDP(1)", None, (1, 2), (Exponential(epsilon=1),), math.nan]
)
def test_what_is_no_event_is_refused(wrong: object) -> None:
    with pytest.raises(DiscreetError):
        compose([wrong])


def test_an_event_is_frozen() -> None:
    event = Event(PureDP(1))
    with pytest.raises(AttributeError):
        event.count = 0  # type: ignore[misc]  # frozen


def test_replacing_costs_what_two_people_cost() -> None:
    assert Event(ApproxDP(1, 0)).under("replace").guarantee == ApproxDP(2, 0)
    mixed = compose([PureDP(1), Event(PureDP(1), neighbours="replace")])
    assert (mixed.pure, mixed.neighbours) == (PureDP(3), "replace")
    with pytest.raises(ParameterError, match="says nothing"):
        Event(PureDP(1), neighbours="replace").under("add-remove")
    with pytest.raises(ParameterError, match="cannot be added"):
        compose([PureDP(1), Event(PureDP(1), neighbours="one household")])


def test_many_rows_cost_what_a_person_can_touch() -> None:
    mechanism = PermuteAndFlip(epsilon="0.5")
    one = Event.of_each(mechanism, sensitivity=1, monotonic=True, rows_per_person=1)
    assert one == Event.of((mechanism, Scores([0], sensitivity=1, monotonic=True)))
    three = Event.of_each(
        mechanism, sensitivity=1, monotonic=True, rows_per_person=3, neighbours="replace"
    )
    assert (three.count, three.neighbours) == (3, "replace")
    assert three.guarantee == LaplaceDominated(1)
    assert compose([three]).pure == PureDP(3)
    households = Event.of_each(
        mechanism, sensitivity=1, rows_per_person=3, neighbours="one household"
    )
    assert (households.neighbours, households.guarantee) == ("one household", one.guarantee)
    for wrong in (0, -1, 1.5, None, "2", True):
        with pytest.raises(ParameterError, match="rows_per_person"):
            Event.of_each(mechanism, sensitivity=1, rows_per_person=wrong)  # type: ignore[arg-type]


# ---- many rows, by exact products of distributions ----

ORDERS = (1.001, 1.5, 2.0, 4.0, 30.0)
FAILURES = (1e-4, 0.1, 0.4)
PRIVATE = {
    name: make(epsilon=1) for name, make in MECHANISMS.items() if make(epsilon=1).private
} | {"large-gap": LargeGap(epsilon=1, delta="0.05")}


def _rows(mechanism: Mechanism, candidates: int, *, monotonic: bool) -> dict[str, Laws]:
    """Return the pairs of laws of a row that a person enters, leaves, or is replaced in."""

    def law(scores: Any) -> tuple[float, ...]:
        row = Scores(scores.tolist(), sensitivity=1, monotonic=monotonic)
        return tuple(mechanism.probabilities(row).round(14).tolist())

    steps = [
        np.array(step)
        for step in itertools.product((0, 1) if monotonic else (-1, 0, 1), repeat=candidates)
        if any(step)
    ]
    entered, stayed = set(), set()
    for others in itertools.product(range(3), repeat=candidates):
        without, *with_one = law(np.array(others)), *(law(others + step) for step in steps)
        entered |= {(without, after) for after in with_one}
        stayed |= set(itertools.permutations(with_one, 2))
    pairs = np.array(sorted(entered))
    return {"entered": pairs, "left": pairs[:, ::-1], "stayed": np.array(sorted(stayed))}


def _tables(rows: dict[str, Laws], k: int, neighbours: str) -> Iterator[Laws]:
    """Return the pairs of laws of the changed rows, for every way to change one person in ``k`` rows."""
    ways = [["entered"] * k, ["left"] * k]
    if neighbours == "replace":
        ways = [["stayed"] * both + ["entered", "left"] * (k - both) for both in range(k + 1)]
    for way in ways:
        yield functools.reduce(_side_by_side, (rows[kind] for kind in way))


def _side_by_side(one: Laws, other: Laws) -> Laws:
    both: Laws = np.einsum("asi,bsj->absij", one, other)
    return both.reshape(len(one) * len(other), 2, -1)


def _excess(event: Event, tables: Iterable[Laws]) -> float:
    """Return the most by which any divergence of these pairs exceeds what the event states."""
    worst = -math.inf
    stated = compose([event])
    # For a list fixed in advance the event states the least ε, which also covers the others.
    bounds = {
        (compose([event], adaptive=False, delta=delta).approx.epsilon, delta) for delta in FAILURES
    }
    for pairs in tables:
        before, after = pairs[:, 0], pairs[:, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(before) - np.log(after)
            losses[before == 0] = -math.inf
            worst = max(worst, float(losses.max()) - stated.pure.epsilon)
            for order in ORDERS:
                moments = (before * np.exp((order - 1) * losses)).sum(axis=1)
                rho = float(np.log(moments).max()) / (order - 1) / order
                worst = max(worst, rho - stated.zcdp.rho)
        for epsilon, delta in bounds:
            if epsilon < math.inf:
                beyond = np.maximum(0.0, before - math.exp(epsilon) * after).sum(axis=1)
                worst = max(worst, float(beyond.max()) - delta)
    return worst


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("name", PRIVATE)
def test_rows_cost_at_least_the_exact_divergence(name: str, neighbours: str) -> None:
    mechanism = PRIVATE[name]
    for candidates, k, monotonic in ((2, 1, True), (2, 1, False), (2, 2, True), (3, 1, True)):
        event = Event.of_each(
            mechanism,
            sensitivity=1,
            monotonic=monotonic,
            rows_per_person=k,
            neighbours=neighbours,
        )
        tables = list(_tables(_rows(mechanism, candidates, monotonic=monotonic), k, neighbours))
        assert event.count == k
        assert _excess(event, tables) <= 1e-9, (candidates, k, monotonic)
        if (candidates, neighbours) == (3, "replace") and name != "noisy-max-laplace":
            # Twice as many rows, each at its cost for one person, would be too little. (The law
            # of Laplace noise does not come so close to its bound with three candidates.)
            doubled = replace(event, guarantee=mechanism.promise_at(Fraction(1)), count=2)
            assert _excess(doubled, tables) > 1e-3


@pytest.mark.parametrize("name", ["exponential", "permute-and-flip"])
def test_twenty_tables_cost_at_least_the_exact_divergence(name: str) -> None:
    """One person moves from one candidate to the other in one row of each of twenty tables."""
    mechanism, tables = PRIVATE[name], 20
    each = Event.of_each(
        mechanism, sensitivity=1, monotonic=True, rows_per_person=1, neighbours="replace"
    )
    ahead, behind = mechanism.probabilities(Scores([1, 0], sensitivity=1, monotonic=True))
    for adaptive in (True, "questions", False):
        epsilon = compose([each] * tables, adaptive, delta="1e-5").approx.epsilon
        beyond = math.fsum(
            math.comb(tables, wins)
            * max(
                0.0,
                ahead**wins * behind ** (tables - wins)
                - math.exp(epsilon) * behind**wins * ahead ** (tables - wins),
            )
            for wins in range(tables + 1)
        )
        assert beyond <= 1e-5


def test_all_but_the_guarantee_is_named_and_events_with_parameters_are_hashed() -> None:
    for field in dataclasses.fields(Event)[1:]:
        assert field.kw_only, field.name
    assert hash(Event(PureDP(1), parameters={"k": 1})) == hash(Event(PureDP(1)))


def test_a_guarantee_is_an_event() -> None:
    assert Event.of(PureDP(1)) == Event(PureDP(1))


def test_texts_and_parameters() -> None:
    assert Event(PureDP(1), parameters={"noise": ""}).parameters == {"noise": ""}
    assert Event(PureDP(1), purpose="x" * LONGEST_TEXT).purpose == "x" * LONGEST_TEXT
    with pytest.raises(ParameterError):
        Event(PureDP(1), purpose="x" * (LONGEST_TEXT + 1))


@pytest.mark.parametrize("pair", [(PermuteAndFlip(epsilon=1), [3, 1]), (PureDP(1), SCORES)])
def test_half_a_pair_is_no_event(pair: object) -> None:
    with pytest.raises(ParameterError):
        Event.of(pair)
