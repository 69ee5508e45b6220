"""A question is a value: comparable, hashable, printed as code, and serialised without loss."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Exponential, NoisyMax, PermuteAndFlip
from discreet.errors import DiscreetError, ParameterError
from discreet.questions import (
    Bound,
    FirstAbove,
    Grid,
    Median,
    Mode,
    Quantile,
    Quantiles,
    Question,
    SelectBy,
    Then,
    TopK,
    Vote,
)
from discreet.questions.question import KINDS, field, fields_of, value
from discreet.questions.then import ChosenBound, FoundGroups, in_bounded_groups, in_found_groups

NOON = datetime.datetime(2026, 3, 1, 12, 0, 0, 1, tzinfo=datetime.UTC)
DAY, NOW, SPAN = NOON.date(), NOON.time(), datetime.timedelta(days=-3, microseconds=7)
LABELS = ["2026-03-01", DAY, NOON, NOW, SPAN, Decimal("1.50"), Fraction(1, 3), b"\x00\xff", 7, 0.5]
FOUND = Mode("code", candidates=["flu"], by="clinic", delta="1e-6", epsilon="0.3", purpose="found")
CHOSEN = TopK(
    "code", k=2, bounds=(0, 9), by="day", groups=[DAY], groups_per_person="choose", epsilon=1
)
ALL: list[Question] = [
    Mode("code", candidates=LABELS, epsilon=1, with_count=True, count_share="1/3"),
    Mode("code", candidates=["flu", True, 1, None], epsilon="0.1", where="age >= 18", other="else"),
    Mode("code", candidates="codes.txt", error_at_most=20, with_probability="0.9", typical=True),
    Mode("code", candidates=Grid.between((0, 90), step="0.5"), epsilon=1, mechanism="large-gap"),
    TopK("code", k=5, delta="1e-6", epsilon=Fraction(1, 7), considered=50),
    Median("age", bounds=(0, 120), step=SPAN, epsilon=0.25, outside="drop"),
    Median("day", bounds=(DAY, DAY + datetime.timedelta(days=9)), step=Decimal("1.5"), epsilon=1),
    Quantile("age", at="1/3", bounds="0:120", epsilon=1, with_people=True, people_share="0.2"),
    Quantiles("age", at=[0.1, "0.5", Fraction(5, 7)], bounds=(0, 9), epsilon=1, per_person="least"),
    Bound("pay", covers="0.99", unit=10, largest=10**6, epsilon=1),
    FirstAbove("week", groups="2026-W01:2026-W09", above="12.5", crossings=2, epsilon=1),
    SelectBy(candidates=[1, 2], score="registered", sensitivity=0.1, epsilon=1, optimize="min"),
    FoundGroups("clinic", delta="1e-6", epsilon=1, where="age > 3"),
    ChosenBound("clinic", groups=["a", "b"], epsilon="0.1"),
    Vote(
        "registered", candidates=["a", "b"], blocks=9, columns=["age"], epsilon=1, with_voted=True
    ),
    in_found_groups(FOUND),
    in_bounded_groups(CHOSEN),
]


def told(question: Question) -> str:
    return type(question).__name__


def test_every_kind_is_here() -> None:
    assert {type(each) for each in ALL} == set(KINDS.values())


@pytest.mark.parametrize("question", ALL, ids=told)
def test_a_question_survives_json(question: Question) -> None:
    sent = json.loads(json.dumps(question.to_dict()))
    again = Question.from_dict(sent)
    assert again == question
    assert hash(again) == hash(question)
    assert repr(again) == repr(question)
    assert again.to_dict() == sent

    def typed(given: Any) -> Any:
        """Return a label with its type: 1, True, 1.0 and Decimal(1) are equal but are different labels."""
        if isinstance(given, tuple):
            return [typed(each) for each in given]
        if isinstance(given, Question):
            return {
                each.name: typed(getattr(given, each.name)) for each in dataclasses.fields(given)
            }
        return type(given), given

    assert typed(again) == typed(question)


@pytest.mark.parametrize("question", ALL, ids=told)
def test_a_question_is_printed_as_it_is_written(question: Question) -> None:
    """The printed code makes the same question, except that long lists and grids are abbreviated."""
    words = repr(question)
    assert words.startswith(f"{type(question).__name__}(")
    if "..., " in words or "Grid" in words:
        return
    kinds = {kind.__name__: kind for kind in KINDS.values()}
    names = {"datetime": datetime, "Decimal": Decimal, "Fraction": Fraction}
    assert eval(words, {**kinds, **names}) == question  # noqa: S307 - our own words


def test_only_what_differs_from_its_default_is_printed_and_sent() -> None:
    question = Mode("code", candidates=["flu", "cold"], epsilon=0.5)
    assert repr(question) == "Mode('code', candidates=['flu', 'cold'], epsilon=0.5)"
    assert question.to_dict() == {
        "kind": "mode",
        "column": "code",
        "candidates": ["flu", "cold"],
        "epsilon": "0.5",
    }
    # Zero is not False, and False is shown if True is the default.
    assert (
        TopK("code", k=1, candidates=["a"], epsilon=1, ordered=False).to_dict()["ordered"] is False
    )


def test_a_million_candidates_print_abbreviated() -> None:
    many = Mode("code", candidates=range(10**6), epsilon=1)
    assert (
        repr(many)
        == "Mode('code', candidates=[0, 1, 2, ..., 999999 (1,000,000 in all)], epsilon=1)"
    )
    nested = in_found_groups(many.changed(by="clinic", delta="1e-6"))
    assert len(repr(nested)) < 400
    assert many == Question.from_dict(many.to_dict())


def test_equal_and_hashable_by_what_is_meant() -> None:
    one = Mode("code", candidates=["flu", "cold"], epsilon=0.1)
    assert one == Mode("code", candidates=("flu", "cold"), epsilon="0.1")
    assert one == Mode("code", candidates=["flu", "cold"], epsilon=Fraction(1, 10))
    assert len({one, Mode(column="code", candidates=["flu", "cold"], epsilon=Decimal("0.10"))}) == 1
    others = [
        one.changed(candidates=["cold", "flu"]),
        one.changed(epsilon="0.2"),
        one.changed(where="age > 3"),
        TopK("code", k=1, candidates=["flu", "cold"], epsilon=0.1),
    ]
    assert len({one, *others}) == 5
    assert Mode("c", candidates=["a"], epsilon=1, mechanism=Exponential) == Mode(
        "c", candidates=["a"], epsilon=1, mechanism="exponential"
    )
    laplace = NoisyMax(epsilon=9, noise="laplace")
    assert (
        Mode("c", candidates=["a"], epsilon=1, mechanism=laplace).mechanism == "noisy-max-laplace"
    )


def test_a_question_is_frozen() -> None:
    question = Mode("code", candidates=["flu"], epsilon=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.epsilon = 2  # type: ignore[misc]
    assert question.changed(epsilon=2).total == 2
    assert question.total == 1


class Colour(enum.Enum):
    """A public list."""

    RED = "red"
    BLUE = "blue"


def test_every_list_becomes_one_in_its_order(tmp_path: Path) -> None:
    import numpy as np
    import pandas as pd
    import polars as pl

    for listed in (
        ["red", "blue"],
        ("red", "blue"),
        Colour,
        pl.Series(["red", "blue"]),
        pl.Enum(["red", "blue"]),
        pd.CategoricalDtype(["red", "blue"]),
        np.array(["red", "blue"]),
    ):
        assert Mode("c", candidates=listed, epsilon=1).candidates == ("red", "blue")
    path = tmp_path / "codes.txt"
    assert Mode("c", candidates=path, epsilon=1).candidates == str(path)  # the file is not opened
    for wrong in ({"red", "blue"}, {"red": 1}, pd.CategoricalDtype()):
        with pytest.raises(ParameterError, match="candidates"):
            Mode("c", candidates=wrong, epsilon=1)


# ---- untrusted data ----------------------------------------------------------------------------

_HEARD: list[tuple[str, Any]] = []
_LISTENING: list[bool] = []
_REACHING_OUT = ("open", "import", "os", "socket", "subprocess", "exec", "compile")


def _hear(event: str, arguments: Any) -> None:
    if _LISTENING and event.split(".", maxsplit=1)[0] in _REACHING_OUT:
        _HEARD.append((event, arguments))


STRANGE: list[Any] = [
    {"kind": "mode", "column": "c", "candidates": "/etc/passwd", "epsilon": 1},
    {"kind": "mode", "column": "c", "candidates": ["a"], "mechanism": "os.system", "epsilon": 1},
    {
        "kind": "select_by",
        "candidates": ["a"],
        "score": "os:system",
        "sensitivity": 1,
        "epsilon": 1,
    },
    {
        "kind": "first_above",
        "column": "c",
        "groups": "file:///etc/passwd",
        "above": 1,
        "epsilon": 1,
    },
    {"kind": "antigravity", "epsilon": 1},
    {"kind": "discreet.questions.mode", "epsilon": 1},
    {"kind": "then", "first": {"kind": "antigravity"}, "second": 3, "into": "groups"},
]


def test_from_dict_imports_and_opens_nothing() -> None:
    """Watch Python's audit events while untrusted data is turned into questions or refused."""
    sys.addaudithook(_hear)
    _LISTENING.append(True)
    try:
        for data in STRANGE:
            try:
                Question.from_dict(data)
            except ParameterError:
                continue
        assert not _HEARD
        open(__file__).close()
    finally:
        _LISTENING.clear()
    assert [event for event, _ in _HEARD] == ["open"]


@pytest.mark.parametrize("kind", KINDS.values())
def test_a_field_that_is_left_out_is_named(kind: Any) -> None:
    """It is checked where questions are made, so methods and commands say the same."""
    needed = [each.name for each in fields_of(kind) if each.default is dataclasses.MISSING]
    for name in needed:
        given = dict.fromkeys(set(needed) - {name}, "x")
        with pytest.raises(ParameterError, match=f"^{name}= must be given: "):
            kind(**given, epsilon=1)
        with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
            kind(**given, colour=1)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "a mapping with the name of a kind"),
        ([], "a mapping"),
        ({}, "kind=None"),
        ({"kind": ["mode"]}, "kind="),
        ({"kind": "top_k", "column": "c", "candidates": ["a"], "epsilon": 1}, "k= must be given"),
        ({"kind": "mode", "column": "c", "colour": 1}, "mode has no field 'colour'; it has bounds"),
        ({"kind": "mode", "column": "c", "candidates": ["a"]}, "give epsilon=, or error_at_most="),
        ({"kind": "mode", "column": 7, "epsilon": 1}, "the name of a column"),
        (
            {"kind": "mode", "candidates": [{"decimal": "x"}], "epsilon": 1},
            "holds {'decimal': 'x'}",
        ),
        ({"kind": "mode", "candidates": [{"date": "yesterday"}], "epsilon": 1}, "holds"),
        ({"kind": "mode", "candidates": [{"date": 3}], "epsilon": 1}, "holds"),
        ({"kind": "mode", "candidates": [{"object": "x"}], "epsilon": 1}, "holds"),
        ({"kind": "mode", "candidates": {"grid": [0, 9, 0]}, "epsilon": 1}, "holds"),
        ({"kind": "mode", "candidates": {"grid": [0, "1e999999999", 1]}, "epsilon": 1}, "holds"),
        ({"kind": "mode", "candidates": [{"number": "1e999999999"}], "epsilon": 1}, "holds"),
        ({"kind": "then", "first": 3, "second": 4, "into": "x", "epsilon": 1}, "first=3"),
        (
            {"kind": "then", "first": ALL[12].to_dict(), "second": 4, "into": "x", "epsilon": 1},
            "second=4",
        ),
        (
            {
                "kind": "then",
                "first": ALL[12].to_dict(),
                "second": ALL[0].to_dict(),
                "into": "nowhere",
            },
            "into='nowhere'",
        ),
    ],
)
def test_wrong_plain_data_is_refused_at_once(data: Any, words: str) -> None:
    """A number that is too long to compute is refused by its exponent."""
    with pytest.raises(ParameterError, match=words):
        Question.from_dict(data)


def test_what_cannot_be_sent_is_refused_by_its_type() -> None:
    for question in (
        SelectBy(candidates=[1], score=lambda _data, _label: 0, sensitivity=1, epsilon=1),
        Mode("c", candidates=[object()], epsilon=1),
        Mode("c", candidates=[float("nan")], epsilon=1),
        Mode("c", candidates=["a"], mechanism=PermuteAndFlip(epsilon=1, steady=True), epsilon=1),
    ):
        with pytest.raises(ParameterError, match="cannot be written as plain data"):
            question.to_dict()


# ---- fields ----------------------------------------------------------------------------------------------


def test_a_field_without_a_mark_is_the_owners() -> None:
    @value
    class Marked(Question):
        """A question with two fields."""

        unmarked: str = field("A field that says nothing of whose it is.", default="x")
        marked: str = field("An analyst's.", default="x", analyst=True)

    whose = {each.name: each.metadata["analyst"] for each in dataclasses.fields(Marked)}
    assert whose["unmarked"] is False
    assert whose["marked"] is True


def test_every_field_has_words_and_says_whose_it_is() -> None:
    """For every kind, lists, shares of ε, mechanisms and assumptions belong to the owner."""
    owners = {"candidates", "bounds", "groups", "mechanism", "purpose", "error_at_most"}
    owners |= {"people_share", "count_share", "groups_share", "considered", "sensitivity"}
    owners |= {"values_per_person"}
    for kind in KINDS.values():
        for each in fields_of(kind):
            assert len(each.metadata["description"]) > 5, (kind, each.name)
            assert isinstance(each.metadata["analyst"], bool)
            if each.name in owners:
                assert not each.metadata["analyst"], (kind, each.name)


def test_words_name_fields_that_there_are() -> None:
    import re

    for kind in KINDS.values():
        names = {each.name for each in fields_of(kind)}
        for each in fields_of(kind):
            assert set(re.findall("⟨([^⟩]*)⟩", each.metadata["description"])) <= names, each.name


def test_a_question_costs_an_epsilon_or_has_an_error_never_both() -> None:
    wrongs: list[dict[str, Any]] = [{}, {"epsilon": 1, "error_at_most": 3}, {"epsilon": 0}]
    for wrong in [*wrongs, {"error_at_most": -1}]:
        with pytest.raises(DiscreetError):
            Mode("code", candidates=["a"], **wrong)
    with pytest.raises(ParameterError, match=r"^give epsilon= or error_at_most=, not both$"):
        Mode("code", candidates=["a"], epsilon=1, error_at_most=3)


def test_the_purpose_of_a_question_in_found_groups_stays() -> None:
    assert in_found_groups(FOUND).purpose == "found"
    assert isinstance(ALL[-1], Then)
