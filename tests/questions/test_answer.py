"""What comes with an answer: its rules, whether anyone counted, and candidates that cannot match."""

from __future__ import annotations

import datetime
import re
import warnings
from fractions import Fraction
from typing import Any

import pandas as pd
import polars as pl
import pytest

import discreet
from discreet import ApproxDP, PureDP
from discreet._tables import Grid, Rows, open_table
from discreet._tables.counts import people_with_any
from discreet.accounting import Event
from discreet.errors import ParameterError
from discreet.mechanisms.above_threshold import CrossingRule
from discreet.questions import (
    FirstAbove,
    Mode,
    NeverMatchesWarning,
    median,
    mode,
    quantiles,
    select_by,
    top_k,
)
from discreet.questions.answer import TableRelease
from discreet.questions.rules import about_threshold
from discreet.questions.scoring import within

VISITS = pl.DataFrame(
    {
        "person": [i // 3 for i in range(900)],
        "code": ["a", "b", "other"] * 300,
        "age": [i % 90 for i in range(900)],
        "city": (["north"] * 3 + ["south"] * 3) * 150,
    }
)
CODES: dict[str, Any] = {"column": "code", "candidates": ["a", "b"], "user": "person"}
AGES: dict[str, Any] = {"column": "age", "bounds": "0:100", "user": "person"}
QUESTIONS: list[tuple[Any, dict[str, Any]]] = [
    (mode, CODES),
    (mode, {**AGES, "bounds": None, "candidates": Grid.between("0:100")}),
    (top_k, {**CODES, "k": 2}),
    (top_k, {**CODES, "k": 1, "method": "one-shot", "with_count": True}),
    (median, AGES),
    (quantiles, {**AGES, "at": [0.2, 0.7]}),
]


@pytest.mark.parametrize(("ask", "options"), QUESTIONS)
@pytest.mark.parametrize("grouped", [False, True])
def test_a_noisy_number_of_people(ask: Any, options: dict[str, Any], grouped: bool) -> None:
    options = {name: value for name, value in options.items() if value is not None}
    told: list[Event] = []

    class Notebook:
        def spend(self, _dataset: str, event: Event, *, purpose: str) -> str:
            assert purpose
            told.append(event)
            return "entry"

        def fail(self, _entry: object) -> None:
            raise AssertionError

    if grouped:
        options = {**options, "by": "city", "groups": ["north", "south"]}
    release = ask(
        VISITS,
        epsilon=4,
        with_people=True,
        people_share="0.25",
        ledger=Notebook(),
        dataset="visits",
        **options,
    )
    assert release.guarantee == PureDP(4) == told[0].guarantee.to(PureDP)
    assert release.people_within == within(Fraction(1)) == 3
    # Noise of scale 1 exceeds 25 less than once in 10¹⁰.
    numbers = release.people.values() if grouped else [release.people]
    for number, true in zip(numbers, [150, 150] if grouped else [300], strict=True):
        assert abs(number - true) < 25
    said = f"people counted{' in north' if grouped else ''}, give or take 3"
    assert said in str(release)
    assert "the answer is noise" not in str(release)
    assert release.as_data()["people_within"] == 3


def test_a_printed_answer_says_how_accurate_it_is() -> None:
    release = mode(VISITS, epsilon=4, **CODES)
    assert f"Accuracy: {release.accuracy}." in str(release).split("\n")
    assert "Accuracy: useful: typically 0 people off" in str(release)


def test_one_is_a_person() -> None:
    def said(number: int, assigned: bool | None = None) -> str:
        terms: dict[str, Any] = {
            "guarantee": PureDP(1),
            "mechanism": "m",
            "neighbours": "add-remove",
        }
        numbers: dict[str, Any] = {"count": number, "people": number, "assigned": assigned}
        release = TableRelease(
            answer="a", count_within=3, people_within=3, **numbers, **terms, rules=()
        )
        return str(release)

    for number, words in ((1, "1 person"), (2, "2 people"), (0, "0 people"), (-1, "-1 people")):
        assert f"a: {words}, give" in said(number)
        assert f"{words} counted, give" in said(number)
    assert "a: 1 assigned person, give" in said(1, assigned=True)
    threshold = about_threshold(CrossingRule(1, threshold=1, sensitivity=1, crossings=1), 3)
    assert "compared in their order with 1 person, with noise" in threshold[0]


def test_where_nothing_matches_the_answer_is_called_noise() -> None:
    for ask, options in (
        (mode, {**CODES, "candidates": ["A", "B"]}),
        (median, {**AGES, "where": "age > 1000"}),
    ):
        # A number of 16 or more at ε = 2 needs noise that occurs once in 10¹⁴.
        release = ask(VISITS, epsilon=20, with_people=True, **options)
        assert release.people < 16
        if release.people <= release.people_within:
            assert "perhaps no one counted, so the answer may be noise" in str(release)
    assert "people counted" not in str(mode(VISITS, epsilon=1, **CODES))


def test_people_of_an_unknown_domain() -> None:
    options = {**CODES, "candidates": None, "delta": "1e-6"}
    release = top_k(VISITS, k=5, epsilon=20, with_people=True, **options)
    assert abs(release.people - 300) < 25
    assert release.guarantee == ApproxDP(20, "1e-6")
    assert sorted(release.answer) == ["a", "b", "other"]
    assert "Only 3 of 5 are named: no other value has enough people" in str(release)
    assert "no further" not in str(top_k(VISITS, k=3, epsilon=20, **options))


def test_people_shares_refused() -> None:
    for share in (0, 1, "1.5", "x"):
        with pytest.raises(ParameterError, match="people_share"):
            mode(VISITS, epsilon=1, with_people=True, people_share=share, **CODES)


def test_people_with_any_is_a_count_of_people() -> None:
    table = open_table(VISITS, needed=["person", "code", "age", "city"])
    rows = Rows(user="person", by="city", groups=("north", "nowhere"), key=7)
    assert people_with_any(table, rows, column="code", keys=["a", "b"]).tolist() == [[150], [0]]
    alone = Rows()
    assert people_with_any(table, alone, column="code", keys=["b"]).tolist() == [[300]]
    assert people_with_any(table, alone, column="code").tolist() == [[900]]
    grid = Grid.between("0:8")
    assert people_with_any(table, alone, column="age", grid=grid).tolist() == [[90]]


def test_every_question_says_its_rules() -> None:
    for ask, options in QUESTIONS:
        given = {name: value for name, value in options.items() if value is not None}
        release = ask(VISITS, epsilon=1, where="age >= 0", **given)
        rules = list(release.rules)
        if ask in (median, quantiles):
            first = rules.pop(0)
            assert first.startswith("A person with several values counts with their mean")
        assert rules[0] == "The column person tells people apart; rows without it are left out."
        assert rules[1].startswith("Only rows with age >= 0 count")
        assert len(release.rules) > 2
        assert all(f"- {rule}" in str(release) for rule in release.rules)
        assert release.as_data()["rules"] == list(release.rules)
        assert release.rules[-1].split(" ")[0] in release._repr_html_()
    alone = mode(VISITS, epsilon=1, column="code", candidates=["a"], one_row_per_user=True)
    assert alone.rules[0].startswith("Every row counts as a different person, as stated")
    own = select_by([1, 2], candidates=[1, 2], score=lambda data, c: c, sensitivity=1, epsilon=1)
    assert own.rules == (
        "One person changes the difference of two scores by at most 2, as stated, unchecked.",
    )


def test_what_declared_types_rule_out_is_said_before_and_with_the_answer() -> None:
    frame = VISITS.with_columns(
        small=pl.lit(1, dtype=pl.Int8),
        single=pl.lit(0.1, dtype=pl.Float32),
        price=pl.lit("1.50").cast(pl.Decimal(6, 2)),
    )
    options: dict[str, Any] = {"user": "person", "epsilon": 1}
    for column, possible, impossible in (
        ("small", [1, 2], [300, -129]),
        ("single", [0.5, 0.25], [0.1]),
        ("price", ["1.5", "2"], ["1.505"]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mode(frame, column=column, candidates=possible, **options)
        with pytest.warns(
            NeverMatchesWarning, match=f"Nobody can count for .*{impossible[0]}"
        ) as told:
            release = mode(frame, column=column, candidates=possible + impossible, **options)
        assert release.rules[-1] == str(told[0].message)
    with pytest.warns(NeverMatchesWarning, match="2 of the 3 groups"):
        mode(frame, by="small", groups=[1, 500, 501], epsilon=1, **CODES)
    mixed = pd.DataFrame({"u": [1, 2], "v": pd.Series([1, "1"], dtype=object)})
    release = mode(mixed, column="v", candidates=["1", "2"], user="u", epsilon=1)
    assert (
        "In v, which declares no type, texts count and everything else is left out."
        in release.rules
    )


# ---- warnings if public facts rule out an answer ----------------------------------------------

ALONE: dict[str, Any] = {"one_row_per_user": True, "epsilon": 1}


@pytest.mark.parametrize(
    ("held", "condition", "words"),
    [
        (
            pl.DataFrame({"n": [1]}),
            "n = 3.5",
            r"No row has n = 3.5: the column, declared Int64, does not",
        ),
        (pl.DataFrame({"n": [1]}, schema={"n": pl.Int8}), "n in (1, 300)", "No row has n = 300"),
        (
            pl.DataFrame({"n": ["1"]}).cast(pl.Decimal(4, 2)),
            "n in (1, 0.1, 0.125)",
            r"No row has n = 0\.125: ",
        ),
        (pd.DataFrame({"n": [1]}), "n = 1 or not n = 0.5", "No row has n = 0.5: .* declared int64"),
        (pl.DataFrame({"n": [1]}, schema={"n": pl.Int8}), "n >= 128", "No row has n >= 128: "),
        (pl.DataFrame({"n": [1]}, schema={"n": pl.UInt8}), "n > 1 or n < 0", "No row has n < 0: "),
        (pl.DataFrame({"n": ["1"]}).cast(pl.Decimal(4, 2)), "n > 99.99", r"No row has n > 99\.99"),
    ],
)
def test_a_condition_that_the_type_rules_out_is_doubted_before_the_payment(
    held: Any, condition: str, words: str
) -> None:
    table = discreet.table(held, one_row_per_user=True)
    plan = table.plan(Mode("n", candidates=[1, 2], epsilon=1, where=condition))
    assert any(re.search(words, doubt) for doubt in plan.doubts)
    with pytest.warns(NeverMatchesWarning, match=words):
        plan.run()
    reached = "n = 1 and n > 0.5 and n >= 0 and n <= 99 and not n > 99.98"
    assert not table.plan(Mode("n", candidates=[1, 2], epsilon=1, where=reached)).doubts


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            Mode("code", candidates=["a"], epsilon=1, where="city = 'nowhere'"),
            "another public list",
        ),
        (Mode("code", candidates=["a", "x"], epsilon=1), "candidates .x.: the owner's list"),
        (Mode("code", candidates=["a"], by="city", groups=["west"], epsilon=1), "groups .west."),
        (FirstAbove("code", groups=["z"], above=3, epsilon=1), "groups .z.: the owner's list"),
    ],
)
def test_what_the_owners_list_does_not_have_is_doubted(question: Any, words: str) -> None:
    listed = {"city": ["north", "south"], "code": ["a", "b", "other"]}
    table = discreet.table(VISITS, user="person", listed=listed)
    assert any(re.search(words, doubt) for doubt in table.plan(question).doubts)
    assert not discreet.table(VISITS, user="person").plan(question).doubts


def test_periods_in_a_condition_are_looked_up_in_the_owners_list() -> None:
    weeks = pl.DataFrame({"week": ["2024-W01"], "day": [datetime.date(2024, 1, 3)]})
    listed = {"week": ["2024-W01", "2024-W02", "2024-W03"], "day": ["2024-01", "2024-02"]}
    table = discreet.table(weeks, one_row_per_user=True, listed=listed)
    for condition, words in {
        "week in '2024-W01:2024-W02'": None,
        "week in '2024-W03:2024-W04'": None,
        "week in ('2024-W01', '2024-W04:2024-W05')": "No row has week = '2024-W04:2024-W05': ",
        "day in '2024-02:2024-04'": None,
        "day = '2024-02-29' or day > '2024'": None,
        "day = '2024-03'": "No row has day = '2024-03': the column has another public list",
    }.items():
        asked = Mode("week", candidates=["2024-W01"], epsilon=1, where=condition)
        doubts = " ".join(table.plan(asked).doubts)
        assert words in doubts if words else not doubts, condition


def test_a_list_of_values_is_a_list() -> None:
    with pytest.raises(ParameterError, match="a list of the values of 'city'"):
        discreet.table(VISITS, user="person", listed={"city": "north"})


def test_remarks_follow_from_the_answer() -> None:
    """There is a remark for an answer at a bound or not on the list, and otherwise none."""
    old = pl.DataFrame({"age": [80] * 500, "code": ["x"] * 500})
    at_end = median(old, "age", bounds="0:50", one_row_per_user=True, epsilon=5)
    assert any("50 is a bound of the grid" in rule for rule in at_end.rules)
    assert not any(
        "bound of the grid" in rule for rule in median(old, "age", bounds="0:100", **ALONE).rules
    )
    commonest = mode(old, "age", bounds="0:80", step=10, one_row_per_user=True, epsilon=5)
    assert any("80 is a bound of the grid" in rule for rule in commonest.rules)
    grouped = median(old, "age", bounds="0:50", by="code", groups=["x"], outside="clamp", **ALONE)
    assert any("50 is a bound of the grid" in rule for rule in grouped.rules)
    other = mode(old, "code", candidates=["a", "b"], other="something else", **ALONE)
    assert any("something else stands for all values not on" in rule for rule in other.rules)


@pytest.mark.parametrize(
    ("asked", "people", "words"),
    [
        ({"epsilon": 11}, None, "ε = 11 is above 10"),
        ({"epsilon": 10}, None, None),
        ({"epsilon": 1, "delta": "0.01"}, None, "δ = 0.01 is large: with"),
        ({"epsilon": 1, "delta": "1e-3"}, None, None),
        ({"epsilon": 1, "delta": "1e-3"}, 2000, "δ = 0.001 is large, more than one in 2000 people"),
        ({"epsilon": 1, "delta": "1e-4"}, 2000, None),
    ],
)
def test_a_price_that_protects_little_is_remarked(
    asked: dict[str, Any], people: int | None, words: str | None
) -> None:
    table = discreet.table(VISITS, user="person", people=people)
    public: dict[str, Any] = {} if "delta" in asked else {"candidates": ["a", "b"]}
    plan = table.plan(Mode("code", **asked, **public))
    signs = ("is above 10", "the guarantee may not hold")
    remarks = [rule for rule in plan.rules if any(sign in rule for sign in signs)]
    assert (words is None) == (not remarks)
    assert words is None or words in remarks[0]
