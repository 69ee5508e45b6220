"""A study's plan: what each question costs, how the total is divided, and the hash that is signed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from discreet import ZCDP, ApproxDP, PureDP, Study
from discreet.errors import BudgetExceededError
from discreet.guarantees import Guarantee
from discreet.ledger import Ledger
from discreet.questions import Median, Mode
from discreet.study import Asked, StudyError
from tests.tools.studies import AGE, CLINICS, DIAGNOSIS, TOP

Write = Callable[..., Path]
CODES = ["flu", "cold", "gout"]


def test_the_least_total_reaches_every_accuracy(written: Write, ledger: Ledger) -> None:
    plan = Study.read(written(DIAGNOSIS, AGE)).plan(ledger=ledger)
    assert plan.total == sum(line.cost for line in plan.lines)
    assert plan.lines[0].reached is not None
    assert plan.lines[0].reached <= 20
    less = Mode("diagnosis", candidates=CODES, epsilon=plan.lines[0].cost * Fraction(995, 1000))
    table = plan.lines[0].plan
    assert table is not None
    with pytest.raises(StudyError, match="too small by"):
        Study.read(written(DIAGNOSIS, AGE, head="epsilon = 0.3")).plan()
    assert plan.fits
    assert "it fits" in plan.conclusion
    assert less.total < plan.lines[0].question.total


def test_what_is_left_is_shared_by_weight(written: Write) -> None:
    plan = Study.read(written(DIAGNOSIS, CLINICS, TOP, head="epsilon = 2")).plan()
    named = {line.asked.name: line.cost for line in plan.lines}
    assert plan.total <= 2
    assert float(plan.total) == pytest.approx(2, abs=1e-5)
    assert float(named["ages by clinic"]) == pytest.approx(3 * float(named["top"]), rel=1e-4)


def test_the_weakest_is_as_good_as_it_can_be(written: Write, visits: pl.DataFrame) -> None:
    """Compare with every split on a grid; the worst ratio of error to target is within one percent."""
    wanted = (20, 10)
    study = Study(
        title="two",
        dataset="clinic",
        tables={"visits": {"data": visits, "user": "patient"}},
        questions=[
            Asked("a", "visits", Mode("diagnosis", candidates=CODES, error_at_most=wanted[0])),
            Asked("b", "visits", Median("age", bounds=(0, 120), error_at_most=wanted[1])),
        ],
        most=Fraction(1, 5),
        split="weakest",
    )
    plan = study.plan()
    assert plan.total <= Fraction(1, 5)
    assert plan.needed is not None
    assert plan.needed > Fraction(1, 5)
    assert "times what was wanted" in plan.conclusion
    # Proved bounds fall as 1/ε, so the bounds at ε = 1 give those at any ε.
    at_one = [float(line.reached or 0) * float(line.cost) for line in plan.lines]
    best = min(
        max(
            at_one[0] / (share / 1000 * 0.2) / wanted[0],
            at_one[1] / ((1 - share / 1000) * 0.2) / wanted[1],
        )
        for share in range(1, 1000)
    )
    assert plan.ratio == pytest.approx(best, rel=0.01)


def test_the_hash_is_of_what_is_asked_and_of_nothing_else(
    written: Write, tmp_path: Path, ledger: Ledger
) -> None:
    file = written(DIAGNOSIS, AGE)
    first = Study.read(file).plan(ledger=ledger)
    assert first.hash == Study.read(file).plan(ledger=ledger).hash
    ledger.spend("clinic", first.lines[1].plan.event)  # type: ignore[union-attr]
    pl.DataFrame({"patient": [1], "diagnosis": ["x"], "clinic": ["y"], "age": [3]}).write_parquet(
        tmp_path / "visits.parquet"
    )
    assert first.hash == Study.read(file).plan(ledger=ledger).hash
    assert "flu" in json.dumps(first.canonical)
    (tmp_path / "codes.txt").write_text("flu\ncold\nmumps\n")
    assert first.hash != Study.read(file).plan(ledger=ledger).hash


def test_a_budget_that_adds_up_rho(written: Write, tmp_path: Path) -> None:
    file = written(DIAGNOSIS, CLINICS, TOP, head="rho = 0.2")
    with Ledger.open(tmp_path / "rho.db") as ledger:
        ledger.create("clinic", ZCDP("0.5"))
        plan = Study.read(file).plan(ledger=ledger)
    assert plan.symbol == "ρ"
    assert plan.total <= Fraction(1, 5)
    assert float(plan.total) == pytest.approx(0.2, rel=1e-4)


@pytest.mark.parametrize(("cap", "head"), [(ZCDP(9), "rho"), (PureDP(9), "epsilon")])
@pytest.mark.parametrize("factor", [0.25, 1, 4])
def test_a_curve_shows_the_error_that_such_a_cost_buys(
    written: Write, tmp_path: Path, cap: Guarantee, head: str, factor: float
) -> None:
    """Compare with a study of that cost. The chart may show a larger error, by half a percent."""
    with Ledger.open(tmp_path / "other.db") as ledger:
        ledger.create("clinic", cap)
        plan = Study.read(written(CLINICS, TOP, head=f"{head} = 0.2")).plan(ledger=ledger)
        file = written(CLINICS, TOP, head=f"{head} = {0.2 * factor}")
        other = Study.read(file).plan(ledger=ledger)
    shown = plan.curves(float(plan.total) * factor)
    for line in other.lines:
        found = line.card["accuracy"]["worst"]
        assert found * 0.9999 <= shown[line.asked.name] <= found * 1.005


def test_problems_of_tables_and_questions_come_together(
    written: Write, visits: pl.DataFrame
) -> None:
    with pytest.raises(StudyError, match="two questions are called 'a'"):
        Study(
            title="",
            dataset="clinic",
            tables={"visits": {"data": visits, "user": "patient"}},
            questions=[Asked("a", "visits", Median("age", bounds=(0, 9), epsilon=1))] * 2,
        )
    study = Study.read(
        written(
            AGE.replace('"age"', '"agee"'),
            TOP.replace("k = 2", "k = 4\nepsilon = 1"),
            DIAGNOSIS.replace("= 20", "= 0.000001"),
            head="epsilon = 9",
        )
    )
    with pytest.raises(StudyError) as raised:
        study.plan()
    assert len(raised.value.problems) == 3
    assert "reaches" in str(raised.value)
    assert all(problem.startswith("line ") for problem in raised.value.problems)
    missing = written(AGE)
    missing.write_text(missing.read_text().replace("visits.parquet", "none.parquet"))
    with pytest.raises(StudyError, match="line 6, 'visits'"):
        Study.read(missing).plan()


def test_a_plan_shows_itself(written: Write, ledger: Ledger) -> None:
    plan = Study.read(written(DIAGNOSIS, AGE)).plan(ledger=ledger)
    assert plan.hash in repr(plan)
    assert "Winter &lt;2026&gt;" in plan._repr_html_()
    assert json.loads(json.dumps(plan.as_data()))["plan"]["total"]
    drawn = json.dumps(plan.chart().to_dict())
    assert "diagnosis" in drawn
    assert "19 times out of 20 at most" in drawn
    often = AGE.replace("[[question]]", '[[question]]\nwith_probability = "0.9"', 1)
    drawn = json.dumps(Study.read(written(DIAGNOSIS, often)).plan(ledger=ledger).chart().to_dict())
    assert "as often as each question asks" in drawn


def test_an_analysts_part(written: Write, ledger: Ledger) -> None:
    ledger.allot("clinic/alice", share="0.1")
    plan = Study.read(written(AGE)).plan(ledger=ledger, part="alice")
    assert plan.budget == "clinic/alice"
    assert plan.left == Fraction(3, 10)
    assert Study.read(written(AGE)).plan(ledger=ledger, part="bob").fits is None


def test_the_hash_does_not_depend_on_the_folder(written: Write, tmp_path: Path) -> None:
    file = written(DIAGNOSIS, AGE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("study.toml", "codes.txt", "visits.parquet"):
        (elsewhere / name).write_bytes((tmp_path / name).read_bytes())
    plan = Study.read(file).plan()
    assert Study.read(elsewhere / "study.toml").plan().hash == plan.hash
    assert str(tmp_path) not in json.dumps(plan.canonical)


def test_what_is_planned_is_what_is_paid_under_another_relation_and_with_a_delta(
    written: Write, tmp_path: Path
) -> None:
    unlisted = TOP.replace('candidates = ["flu", "cold", "gout"]', 'delta = "1e-6"\nepsilon = 1')
    with Ledger.open(tmp_path / "other.db") as ledger:
        ledger.create("clinic", PureDP(1), neighbours="replace")
        study = Study.read(written(AGE))
        plan = study.plan(ledger=ledger)
        assert plan.total == Fraction(1, 2)
        study.run(ledger=ledger)
        assert ledger.show("clinic").left == "ε = 0.5"
    with Ledger.open(tmp_path / "delta.db") as ledger:
        ledger.create("clinic", ApproxDP(9, "1e-7"), accountant="epsilon-delta")
        study = Study.read(written(unlisted))
        assert study.plan(ledger=ledger).fits is False
        with pytest.raises(BudgetExceededError, match="Nothing was paid"):
            study.run(ledger=ledger)
