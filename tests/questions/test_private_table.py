"""A local table: the same questions, with options given once."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import PureDP, questions
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions import Grid, PrivateTable
from discreet.questions.plan import Setting
from discreet.tuning import Fixed, choose_run

VISITS = pl.DataFrame(
    {"person": range(300), "code": ["a"] * 270 + ["b"] * 30, "age": [i % 90 for i in range(300)]}
)
CODES = ["a", "b", "c"]
ASKED: dict[str, dict[str, Any]] = {
    "mode": {"column": "code", "candidates": CODES},
    "top_k": {"column": "code", "k": 2, "candidates": CODES},
    "median": {"column": "age", "bounds": (0, 90)},
    "quantile": {"column": "age", "at": 0.9, "bounds": (0, 90)},
    "quantiles": {"column": "age", "at": [0.1, 0.9], "bounds": (0, 90)},
    "bound": {"column": "age", "covers": 0.9},
    "first_above": {"column": "code", "groups": CODES, "above": 1},
    "select_by": {
        "candidates": CODES,
        "score": lambda data, code: len(data.filter(code=code)),
        "sensitivity": 1,
    },
}


def question_names() -> set[str]:
    """Return the functions of ``discreet.questions`` that ask about a table."""
    return {
        name
        for name in questions.__all__
        if inspect.isfunction(made := getattr(questions, name))
        and inspect.signature(made).return_annotation in ("TableRelease", questions.TableRelease)
    } - {"select_from_file"}


def test_every_question_is_a_method() -> None:
    assert question_names() == {*ASKED, "vote"}  # its function runs in other processes: test_vote
    for name in ASKED:
        method = getattr(PrivateTable, name)
        assert (method.__name__, method.__qualname__) == (name, f"PrivateTable.{name}")


@pytest.mark.parametrize("name", ASKED)
def test_a_method_is_counted_like_the_function(name: str, tmp_path: Path) -> None:
    def note(release: Any) -> tuple[Any, ...]:
        details = release.entry.details
        return release.guarantee, release.mechanism, release.rules, release.neighbours, details

    with Ledger.open(tmp_path / "budget.db") as ledger:
        counted: dict[str, Any] = {"ledger": ledger, "neighbours": "replace"}
        for dataset in ("function", "method"):
            ledger.create(dataset, PureDP(3), neighbours="replace")
        whose = {} if name == "select_by" else {"user": "person"}
        asked = getattr(questions, name)(
            VISITS, **ASKED[name], **whose, **counted, epsilon=2, dataset="function"
        )
        visits = discreet.table(VISITS, user="person", dataset="method", **counted)
        options = dict(ASKED[name])
        column = [options.pop("column")] if "column" in options else []
        answered = getattr(visits, name)(*column, **options, epsilon=2)
        assert note(asked) == note(answered)
        assert visits.left == ledger.show("function").left == "ε = 1"


def test_what_was_said_of_the_table_is_not_taken_back(tmp_path: Path) -> None:
    address = tmp_path / "budget.db"
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(3))
    table = discreet.table(VISITS, user="person", ledger=address, dataset="visits")
    fixed: dict[str, Any] = {
        "ledger": None,
        "dataset": None,
        "user": None,
        "one_row_per_user": True,
        "neighbours": "replace",
        "engine": "polars",
    }
    for name, value in fixed.items():
        with pytest.raises(ParameterError, match=f"{name}= is set once"):
            table.mode("code", candidates=CODES, epsilon=1, **{name: value})
    with pytest.raises(ParameterError, match="ledger= is set once"):
        table.select_by(**ASKED["select_by"], epsilon=1, ledger=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="rounds"):
        table.mode("code", candidates=CODES, epsilon=1, rounds=3)  # type: ignore[call-arg]
    assert table.left == "ε = 3"


NOT_TEXTS: list[tuple[Any, str]] = [
    (VISITS.to_pandas()["age"] > 3, "Series"),
    (pl.col("age") > 3, "Expr"),
    ({"age": 3}, "dict"),
    (["age > 3"], "list"),
]


@pytest.mark.parametrize(("where", "kind"), NOT_TEXTS)
def test_a_condition_that_is_not_a_text_is_refused_without_its_rows(where: Any, kind: str) -> None:
    table = discreet.table(VISITS, user="person", ledger=None)
    with pytest.raises(ParameterError, match=rf'^where= must be a text .*"age >= 18", .* {kind}$'):
        table.mode("code", candidates=CODES, epsilon=1, where=where)


def test_a_question_has_rows_and_groups_of_its_own() -> None:
    table = discreet.table(VISITS, user="person", ledger=None, where="age >= 18")
    release = table.mode(
        "code", candidates=CODES, epsilon=1, where="age < 60 or age = 70", by="age", groups=[20, 30]
    )
    assert set(release.answer) == {20, 30}
    assert any("(age >= 18) and (age < 60 or age = 70)" in rule for rule in release.rules)
    # Nobody is below 18 here, whatever a question says, because the table's condition also applies.
    young = table.mode(
        "code", candidates=CODES, epsilon=9, where="age < 18", with_people=True, people_share="0.9"
    )
    assert young.people <= young.people_within
    with pytest.raises(ParameterError, match="whole table"):
        table.select_by(**ASKED["select_by"], epsilon=1)


def test_bounds_stand_for_a_grid() -> None:
    table = discreet.table(VISITS, one_row_per_user=True, ledger=None)
    grid = Grid.between((0, 90), step=30)
    for options in ({"bounds": (0, 90), "step": 30}, {"bounds": grid}, {"candidates": grid}):
        assert table.mode("age", epsilon=50, **options).answer in (0, 30, 60)
        assert len(table.top_k("age", k=4, epsilon=9, **options).answer) == 4
    assert 30 <= table.median("age", bounds=grid, epsilon=50).answer <= 60
    with pytest.raises(ParameterError, match="not both"):
        table.mode("age", epsilon=1, bounds=(0, 90), candidates=grid)
    with pytest.raises(ParameterError, match="step=7"):
        table.median("age", epsilon=1, bounds=grid, step=7)


def test_a_table_shows_its_columns_and_no_rows(tmp_path: Path) -> None:
    secret = pl.DataFrame({"person": [7771] * 5171, "code": ["Zoë"] * 5171})
    table = discreet.table(secret, user="person", ledger=None)
    for shown in (repr(table), str(table), table._repr_html_()):
        assert "code (text)" in shown
        assert "told apart by person" in shown
        assert "no ledger" in shown
        assert not any(word in shown for word in ("Zoë", "7771", "5171"))
    assert table.columns == {"person": "integer", "code": "text"}
    lines = tmp_path / "visits.jsonl"
    lines.write_text('{"code": "a"}\n' * 200)
    asked = discreet.table(lines, one_row_per_user=True, ledger=None)
    assert asked.mode("code", candidates=CODES, epsilon=2).answer == "a"


def test_wrong_terms_are_refused_when_the_table_is_made(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "which person a row belongs to"),
        ({"user": "nobody"}, "'nobody'"),
        ({"user": "person", "where": "height > 3"}, "height"),
        *[
            ({"user": "person", "where": each}, f"text such as .* type {kind}")
            for each, kind in NOT_TEXTS
        ],
        ({"user": "person", "neighbours": "twins"}, "twins"),
        ({"user": "person", "people": 0}, "people=0"),
        ({"user": "person", "time_limit": 0}, "time_limit=0"),
    ]
    for terms, words in wrong:
        with pytest.raises(ParameterError, match=words):
            discreet.table(VISITS, ledger=None, **terms)
    with pytest.raises(ParameterError, match=r"no\.csv"):
        discreet.table(tmp_path / "no.csv", user="person", ledger=None)


def test_every_term_is_declared_once_and_explained() -> None:
    """``table()`` accepts exactly the attributes of a table, with the same descriptions."""
    taken = inspect.signature(discreet.table).parameters
    fields = {each.name for each in dataclasses.fields(PrivateTable)}
    assert set(taken) == fields - {"accountant", "kept"}  # which a plan also has
    assert {each.name for each in dataclasses.fields(Setting)} == fields - {"ledger", "dataset"}
    assert all(f"    {name}: " in (inspect.getdoc(discreet.table) or "") for name in taken)


def test_what_a_table_may_be_is_said_as_it_is() -> None:
    """Every kind of data that the reference lists is accepted."""
    assert "mapping" not in str(discreet.table.__doc__) + str(PrivateTable.__doc__) + str(
        Setting.__doc__
    )
    with pytest.raises(ParameterError, match="data of type dict is not allowed: give a path"):
        discreet.table({"code": ["a", "b"]}, one_row_per_user=True, ledger=None)


def test_without_a_ledger_everything_answers_and_says_so() -> None:
    """The rule is the same with and without a local table."""
    held = discreet.table(VISITS, user="person")
    assert held.left is None
    with pytest.raises(ParameterError, match="go together"):
        discreet.table(VISITS, user="person", dataset="visits")
    assert "counted by: no ledger" in repr(held)
    asked: dict[str, Any] = {"column": "code", "candidates": CODES}
    runs = choose_run(lambda _: (0, None), [1], cost=PureDP(1), runs=Fixed(1))
    for release in (
        held.mode(epsilon=1, **asked),
        questions.mode(VISITS, epsilon=1, user="person", **asked),
        runs,
    ):
        assert release.entry is None
        assert "No ledger counted this release." in str(release)
    watch = discreet.AboveThreshold(1, threshold=5, sensitivity=1)
    assert watch.entry is None


def test_a_budget_remembers_which_tables_it_was_charged_for(tmp_path: Path) -> None:
    for name in ("visits", "pay"):
        VISITS.write_parquet(tmp_path / f"{name}.parquet")
    question = questions.Mode("code", candidates=CODES, epsilon="0.1")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(1))
        asked = {
            name: discreet.table(
                tmp_path / f"{name}.parquet", user="person", ledger=ledger, dataset="clinic"
            )
            for name in ("visits", "pay")
        }
        asked["visits"].ask(question)
        discreet.table(VISITS, user="person", ledger=ledger, dataset="clinic").ask(question)
        assert ledger.tables("clinic") == ("visits",)
        words = "'clinic' has paid for questions about 'visits'; this one is about 'pay'"
        assert any(words in rule for rule in asked["pay"].plan(question).rules)
        assert not any("Until now" in rule for rule in asked["visits"].plan(question).rules)
        with pytest.warns(questions.OtherTableWarning, match=words):
            release = asked["pay"].ask(question)
        assert any(words in rule for rule in release.rules)
        asked["pay"].ask(question)  # only once: the budget now knows both
        assert ledger.tables("clinic") == ("pay", "visits")
        assert str(tmp_path) not in str(ledger.history("clinic"))


def test_a_wrong_table_can_be_stopped_before_it_is_paid(tmp_path: Path) -> None:
    for name in ("visits", "pay"):
        VISITS.write_parquet(tmp_path / f"{name}.parquet")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(1))
        terms: dict[str, Any] = {"user": "person", "ledger": ledger, "dataset": "clinic"}
        asked: dict[str, Any] = {"candidates": CODES, "epsilon": "0.1"}
        discreet.table(tmp_path / "visits.parquet", **terms).mode("code", **asked)
        with warnings.catch_warnings():
            warnings.simplefilter("error", questions.OtherTableWarning)
            with pytest.raises(questions.OtherTableWarning):
                discreet.table(tmp_path / "pay.parquet", **terms).mode("code", **asked)
        assert ledger.show("clinic").left == "ε = 0.9"


@pytest.mark.parametrize("given", ["mode", questions.Mode, None])
def test_what_is_not_a_question_is_refused(given: Any) -> None:
    held = discreet.table(["flu"], one_row_per_user=True)
    for take in (held.plan, held.ask, held.rehearse):
        with pytest.raises(ParameterError, match=r"^a question is needed, and this is .* Mode"):
            take(given)


def test_the_rules_say_what_is_public() -> None:
    """Nobody can tell from a list or bounds whether they were made from the rows."""
    frame = pl.DataFrame({"code": ["flu"], "clinic": ["north"], "age": [1]})
    held = discreet.table(frame, one_row_per_user=True)
    listed = questions.Mode("code", candidates=["flu"], by="clinic", groups=["north"], epsilon=1)
    for question, said in (
        (listed, "The candidates and the groups are public, as stated, and were not made"),
        (questions.Median("age", bounds=(0, 9), epsilon=1), "The bounds are public, as stated"),
    ):
        assert any(rule.startswith(said) for rule in held.plan(question).rules)
    unknown = questions.Mode("code", delta="1e-6", by="clinic", epsilon=1)
    assert not any("as stated, and were not made" in rule for rule in held.plan(unknown).rules)
    assert not any("not made from" in rule for rule in held.ask(unknown).rules)


def test_a_question_without_its_column_says_which_is_the_default() -> None:
    held = discreet.table(pl.DataFrame({"code": ["flu"]}), one_row_per_user=True)
    with pytest.raises(ParameterError, match=r"^column='value' \(the default\) is not allowed: "):
        held.mode(candidates=["flu"], epsilon=1)
    with pytest.raises(ParameterError, match=r"^column='cod' is not allowed: "):
        held.mode("cod", candidates=["flu"], epsilon=1)
