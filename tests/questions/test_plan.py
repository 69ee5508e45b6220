"""A plan reads no row and draws nothing, its price is the charge, and it finds an ε for an error."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from discreet import ApproxDP, PureDP, table
from discreet._exact.sampling import SecureBits
from discreet.accounting.accountants import COST_UNIT
from discreet.errors import BudgetExceededError, ParameterError, TableError
from discreet.ledger import Ledger
from discreet.questions import (
    Bound,
    FirstAbove,
    Median,
    Mode,
    PrivateTable,
    Quantile,
    Quantiles,
    Question,
    SelectBy,
    TopK,
)
from discreet.testing import scripted
from tests.tools.random_questions import CAPS, compared

CODES = ["flu", "cold", "gout"]
CLINICS = [f"clinic {number}" for number in range(30)]
QUESTIONS: dict[str, Question] = {
    "mode": Mode("code", candidates=CODES, epsilon=1, where="age >= 18", with_people=True),
    "mode, unknown": Mode("code", delta="1e-6", epsilon=1),
    "mode, by groups": Mode("code", candidates=CODES, by="clinic", groups=CLINICS, epsilon=1),
    "mode, found groups": Mode("code", candidates=CODES, by="clinic", delta="1e-6", epsilon=1),
    "mode, chosen bound": Mode(
        "code", candidates=CODES, by="clinic", groups=CLINICS, groups_per_person="choose", epsilon=1
    ),
    "top_k": TopK("code", k=2, candidates=CODES, epsilon=1, with_count=True),
    "median": Median("age", bounds=(0, 120), epsilon=1),
    "quantile": Quantile("age", at=0.9, epsilon=1),
    "quantiles": Quantiles("age", at=[0.1, 0.5, 0.9], bounds=(0, 120), epsilon=1),
    "bound": Bound("age", epsilon=1),
    "first_above": FirstAbove("code", groups=CODES, above=100, epsilon=1),
    "select_by": SelectBy(
        candidates=[1, 2], score=lambda data, label: len(data) * label, sensitivity=2, epsilon=1
    ),
}


def visits(people: int = 300) -> pl.DataFrame:
    """Return a table with everyone in ten clinics out of thirty."""
    rows = [
        (person, CODES[person % 3], CLINICS[(person + 3 * turn) % 30], person % 90)
        for person in range(people)
        for turn in range(10)
    ]
    schema = {"person": pl.Int64, "code": pl.String, "clinic": pl.String, "age": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def unreadable() -> PrivateTable:
    """A table with declared columns but unreadable rows."""
    relation = duckdb.sql(
        "SELECT i AS person, error('read')::VARCHAR AS code, error('read')::VARCHAR AS clinic, "
        "error('read')::BIGINT AS age FROM range(9) t(i)"
    )
    return table(relation, user="person", ledger=None)


# ---- what a plan may know --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_row_is_read(name: str) -> None:
    """The price, the accuracy and the card need no row; asking the question reads rows, and fails."""
    held = unreadable()
    plan = held.plan(QUESTIONS[name])
    assert repr(plan)
    assert plan._repr_html_()
    assert plan.price == 1
    assert (plan.fits, plan.meter, plan.left) == (None, None, None)
    if name != "select_by":  # a function cannot be written down
        json.dumps(plan.as_data())
        with pytest.raises(TableError):
            plan.run()


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_number_of_rows_does_not_show(name: str, tmp_path: Path) -> None:
    """Plans are the same for frames and files of different lengths; a file's footer is not used."""
    told = set()
    for people in (0, 7, 300):
        frame = visits(people)
        frame.write_parquet(tmp_path / "visits.parquet")
        for data in (frame, tmp_path / "visits.parquet"):
            plan = table(data, user="person", ledger=None).plan(QUESTIONS[name])
            assert plan.accuracy is None or "7 people" not in plan.accuracy.assumed
            told.add(repr(plan))
    assert len(told) == 1


def test_typical_figures_are_for_the_stated_number_of_people() -> None:
    def planned(**stated: Any) -> Any:
        return table(visits(7), user="person", ledger=None, **stated).plan(QUESTIONS["mode"])

    assert "1,000 people" in planned().accuracy.assumed
    many = planned(people=50_000)
    assert "50,000 people" in many.accuracy.assumed
    assert many.price == planned().price


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_randomness(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the system's generator a plan can be made and shown, but the question cannot be answered."""

    def shut(_number: int) -> bytes:
        raise AssertionError("a plan drew bits")

    held = table(visits(), user="person", ledger=None)
    first = repr(held.plan(QUESTIONS[name]))
    monkeypatch.setattr("discreet._exact.sampling.bits.os.urandom", shut)
    plan = held.plan(QUESTIONS[name])
    assert repr(plan) == first
    with pytest.raises((TableError, AssertionError)):
        plan.run()


def test_people_are_drawn_into_groups_by_the_bits_of_each_run() -> None:
    plan = table(visits(), user="person", ledger=None).plan(QUESTIONS["mode, by groups"])

    def read(bits: Any) -> Any:
        return plan.read(bits)()[0].tolist()

    assert read(scripted(1)) == read(scripted(1))
    assert read(scripted(1)) != read(scripted(2))
    # Three hundred people, each in one of ten groups: two draws agree with a probability below 10⁻⁹.
    assert read(SecureBits()) != read(SecureBits())


def test_a_plan_is_frozen() -> None:
    plan = table(visits(), user="person", ledger=None).plan(QUESTIONS["mode"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.title = "another"  # type: ignore[misc]
    assert plan.question == QUESTIONS["mode"]


# ---- what is paid ----------------------------------------------------------------------------------------


def test_price_is_charge_for_random_questions_on_every_accountant(tmp_path: Path) -> None:
    """Twenty questions per accountant; ``tests/tools/random_questions.py`` compares thousands."""
    counted = compared(tmp_path, 20, "twenty")
    assert counted["epsilon-delta"] == counted["rho-delta"] == 20
    assert all(5 < counted[name] <= 20 for name in CAPS)


def test_run_twice_pays_twice(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", PureDP(3))
        plan = table(visits(), user="person", ledger=ledger, dataset="visits").plan(
            QUESTIONS["mode"]
        )
        assert ledger.show("visits").left == "ε = 3"
        assert (plan.left, plan.fits, plan.price) == ("ε = 3", True, 1)
        entries = [plan.run().entry.sequence, plan.run().entry.sequence]
        assert entries == [2, 3]
        assert ledger.show("visits").left == "ε = 1"


def test_a_plan_that_fits_is_paid_to_the_last_crumb(tmp_path: Path) -> None:
    """Five quantiles at ε = 1, with exactly 1 left, cost a third at each of three depths, rounded up once."""
    deciles = Quantiles("age", at=[0.1, 0.3, 0.5, 0.7, 0.9], bounds=(0, 120), epsilon=1)
    thirds = TopK("code", k=3, candidates=CODES, method="peeling", epsilon=1)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        for number, question in enumerate((deciles, thirds)):
            ledger.create(f"all {number}", PureDP(1))
            held = table(visits(), user="person", ledger=ledger, dataset=f"all {number}")
            assert held.plan(question).fits
            held.ask(question)
            assert held.left == "ε = 0"
            less = PureDP(1 - Fraction(1, COST_UNIT))
            ledger.create(f"less {number}", less)
            held = table(visits(), user="person", ledger=ledger, dataset=f"less {number}")
            plan = held.plan(question)
            assert plan.fits is False
            assert "not enough" in repr(plan)
            assert "not enough" in plan._repr_html_()
            assert plan.as_data()["meter"]["left"] == "0"
            with pytest.raises(BudgetExceededError):
                plan.run()
            assert [entry.kind for entry in ledger.history(f"less {number}")] == ["create"]


def test_a_plan_looks_at_the_schema_again(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    visits(9).write_csv(file)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", PureDP(3))
        plan = table(file, user="person", ledger=ledger, dataset="visits").plan(QUESTIONS["mode"])
        visits(9).rename({"code": "other"}).write_csv(file)
        with pytest.raises(ParameterError, match="code"):
            plan.run()
        assert ledger.show("visits").left == "ε = 3"


def test_the_price_of_two_questions_is_known_before_either_is_asked(tmp_path: Path) -> None:
    """If groups are found first, the price covers both questions, and is not refunded if none is found."""
    question = QUESTIONS["mode, found groups"]
    with Ledger.open(tmp_path / "budget.db") as ledger:
        for people in (300, 0):
            name = f"visits of {people}"
            ledger.create(name, ApproxDP(3, "1e-5"), accountant="epsilon-delta")
            held = table(visits(people), user="person", ledger=ledger, dataset=name)
            plan = held.plan(question)
            assert plan.price == 1
            assert plan.guarantee == ApproxDP(1, "1e-6")
            release = plan.run()
            assert release.guarantee == plan.guarantee
            assert held.left == "ε = 2, δ = 9e-6"
            assert people or release.answer == {}


def test_a_plan_depends_on_how_the_budget_adds_up(tmp_path: Path) -> None:
    """The accountant's name is part of the plan; the ledger is not."""
    from discreet import ZCDP

    question = TopK("code", k=9, candidates=[f"code {number}" for number in range(20)], epsilon=1)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("by ε", PureDP(3))
        ledger.create("by ρ", ZCDP(3))
        planned = {
            name: table(visits(), user="person", ledger=ledger, dataset=name).plan(question)
            for name in ("by ε", "by ρ")
        }
    assert planned["by ε"].event.mechanism == "joint exponential mechanism"
    assert planned["by ρ"].event.mechanism == "exponential, 9 times"
    assert planned["by ρ"].price < planned["by ε"].price


# ---- an error that is good enough ------------------------------------------------------------------------

WANTED: dict[str, tuple[Question, int]] = {
    "mode": (Mode("code", candidates=CODES, epsilon=1), 20),
    "mode, replaced": (Mode("code", candidates=CODES, epsilon=1, by="clinic", groups=CLINICS), 35),
    "top_k": (TopK("code", k=2, candidates=CODES, epsilon=1, with_count=True), 30),
    "top_k, jointly": (TopK("code", k=3, candidates=CODES, epsilon=1, method="joint"), 30),
    "median": (Median("age", bounds=(0, 120), epsilon=1, with_people=True), 25),
    "quantiles": (Quantiles("age", at=[0.1, 0.5, 0.9], bounds=(0, 120), epsilon=1), 80),
    "first_above": (FirstAbove("code", groups=CODES, above=100, epsilon=1), 15),
}


@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("level", ["0.9", "0.99"])
def test_the_least_epsilon_for_an_error(name: str, level: str) -> None:
    """The bound holds at the ε found, but not at an ε that is one percent smaller."""
    question, error = WANTED[name]
    relation = "replace" if "replaced" in name else "add-remove"
    held = table(visits(7), user="person", ledger=None, neighbours=relation)
    asked = question.changed(epsilon=None, error_at_most=error, with_probability=level)
    plan = held.plan(asked)
    found = plan.accuracy
    assert found is not None
    assert found.worst is not None
    assert found.worst <= error
    assert found.level == Fraction(level)
    assert plan.question.error_at_most is None
    less = plan.question.changed(epsilon=plan.question.total * Fraction(99, 100))
    worse = held.plan(less).accuracy
    assert worse is not None
    assert worse.worst is not None
    assert worse.worst > error
    assert len(str(float(plan.question.total)).replace(".", "").strip("0")) <= 4  # a short decimal


@pytest.mark.parametrize("name", ["mode", "median"])
def test_a_typical_error_takes_less_than_a_proved_one(name: str) -> None:
    question, error = WANTED[name]
    held = table(visits(7), user="person", ledger=None)
    asked = question.changed(epsilon=None, error_at_most=error, typical=True)
    plan = held.plan(asked)
    assert plan.accuracy is not None
    assert plan.accuracy.typical is not None
    assert plan.accuracy.typical <= error
    proved = held.plan(asked.changed(typical=False))
    assert plan.price < proved.price
    # The card says which of the two it is.
    assert "on typical data; not proved for all data" in repr(plan)
    assert f"chosen: the least ε for at most {error} people off" in repr(proved)
    assert "on any data" in repr(proved)


def test_no_epsilon_is_found_where_no_bound_is_proved() -> None:
    held = table(visits(7), user="person", ledger=None)
    for question in (QUESTIONS["mode, unknown"], QUESTIONS["bound"]):
        with pytest.raises(ParameterError, match="no bound is proved"):
            held.plan(question.changed(epsilon=None, error_at_most=20))
    with pytest.raises(ParameterError, match="error_at_most= is not allowed: no ε"):
        held.plan(QUESTIONS["mode"].changed(epsilon=None, error_at_most=Fraction(1, 10**9)))


def test_the_price_is_the_charge_where_the_budget_protects_another_relation(tmp_path: Path) -> None:
    """Replacing a person costs as much as two people, and the plan says so beforehand."""
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(3), neighbours="replace")
        frame = pl.DataFrame({"person": [1, 2], "code": ["a", "b"]})
        private = table(frame, user="person", ledger=ledger, dataset="clinic")
        plan = private.plan(Mode("code", candidates=["a", "b"], epsilon=1))
        assert plan.price == 2
        assert plan.card.cost.endswith("to pay, 3 of 3 left")
        plan.run()
        assert ledger.show("clinic").left == "ε = 1"
