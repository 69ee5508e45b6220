"""Events: what they accept, and what they can never hold."""

from __future__ import annotations

import dataclasses
import math

import pytest

from discreet import ApproxDP, Exponential, NoisyMax, PermuteAndFlip, PureDP, Scores
from discreet.accounting import Event, compose
from discreet.accounting.events import LONGEST_TEXT
from discreet.errors import DiscreetError, ParameterError
from discreet.guarantees import BoundedRange, LaplaceDominated
from discreet.testing import scripted

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
    assert compose([three]).pure == PureDP("1.5")
    for wrong in (0, -1, 1.5, None, "2", True):
        with pytest.raises(ParameterError, match="rows_per_person"):
            Event.of_each(mechanism, sensitivity=1, rows_per_person=wrong)  # type: ignore[arg-type]


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
