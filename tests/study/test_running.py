"""A study is charged once, whatever happens during the run, and shows only stored answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import Study
from discreet.errors import BudgetExceededError, ParameterError, TableError
from discreet.ledger import Ledger
from discreet.questions.run import run
from discreet.study import running
from discreet.study.past import Past
from discreet.study.verification import problems
from tests.tools.studies import AGE, CLINICS, DIAGNOSIS, TOP
from tests.tools.waiting import PATIENCE

Write = Callable[..., Path]


def test_paid_once_and_the_same_answers_again(
    written: Write, ledger: Ledger, tmp_path: Path
) -> None:
    study = Study.read(written(DIAGNOSIS, AGE, CLINICS, TOP, head="epsilon = 2"))
    plan = study.plan(ledger=ledger)
    seen: list[Any] = []
    answers = study.run(ledger=ledger, signed=plan.hash, watch=lambda *told: seen.append(told))
    assert seen[0] == ("diagnosis", 0, 4)
    assert seen[-1][1:] == (4, 4)
    left = ledger.show("clinic").left
    assert study.run(ledger=ledger, signed=plan.hash).as_data() == answers.as_data()
    assert ledger.show("clinic").left == left
    assert answers["diagnosis"].answer == "flu"
    with pytest.raises(KeyError):
        answers["none"]
    assert not any(wrong for _, wrong in problems(answers.as_data(), ledger))
    spends = [entry for entry in ledger.history("clinic") if entry.kind == "spend"]
    assert {entry.details["parameters"]["study"] for entry in spends} == {plan.hash}
    assert sum(Fraction(entry.details["spent"]["cost"]) for entry in spends) == plan.total
    changed = answers.as_data()
    changed["answers"][0]["release"] = {**changed["answers"][0]["release"], "answer": "cold"}
    assert [name for name, wrong in problems(changed, ledger) if wrong] == ["question 'diagnosis'"]


def test_a_plan_knows_what_an_earlier_run_paid(
    written: Write, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.read(written(AGE.replace("0.25", "1"), TOP, head="epsilon = 2"))
    assert "cost ε = 2 in all; the study may cost ε = 2 at most" in study.plan().conclusion
    true, asked = running._ask_one, []

    def stopping(*arguments: Any) -> Any:
        asked.append(arguments)
        return true(*arguments) if len(asked) == 1 else _stopped()

    monkeypatch.setattr(running, "_ask_one", stopping)
    with pytest.raises(KeyboardInterrupt):
        study.run(ledger=ledger)
    monkeypatch.undo()
    half = study.plan(ledger=ledger)
    assert half.paid == {"age"}
    assert "Of that, ε = 1 is still to be paid" in half.conclusion
    assert half.fits
    study.run(ledger=ledger)
    whole = study.plan(ledger=ledger)  # ε = 1 is left, and the whole study costs 2
    assert whole.fits
    assert whole.hash == half.hash
    assert whole.conclusion.endswith("All of it is paid: running the study again costs nothing.")


def test_another_plan_than_the_signed_one_is_refused(written: Write, ledger: Ledger) -> None:
    signed = Study.read(written(AGE)).plan(ledger=ledger).hash
    other = Study.read(written(AGE.replace("0.25", "0.26")))
    with pytest.raises(ParameterError, match="not the one that was signed"):
        other.run(ledger=ledger, signed=signed)
    assert ledger.show("clinic").left == "ε = 3"


def test_a_budget_that_is_too_small_pays_for_nothing(written: Write, ledger: Ledger) -> None:
    study = Study.read(written(AGE.replace("0.25", "2"), TOP + "epsilon = 1.5\n"))
    with pytest.raises(BudgetExceededError, match=r"costs ε = 3\.5, and clinic has ε = 3 left"):
        study.run(ledger=ledger)
    assert ledger.show("clinic").left == "ε = 3"
    with pytest.raises(ParameterError, match="no budget 'clinic/bob'"):
        study.run(ledger=ledger, part="bob")
    with pytest.raises(ParameterError, match="ledger"):
        study.run()


def _gone(*_: object) -> Any:
    raise TableError("the disk is gone")


def _stopped(*_: object) -> Any:
    raise KeyboardInterrupt


def test_an_engines_failure_is_final_and_stays_paid(
    written: Write, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.read(written(AGE, TOP, head="epsilon = 1"))
    true = run

    def failing(plan: Any, **terms: Any) -> Any:
        if plan.title.startswith("median"):
            plan = replace(plan, choose=_gone)
        return true(plan, **terms)

    monkeypatch.setattr(running, "run", failing)
    answers = study.run(ledger=ledger)
    monkeypatch.undo()
    assert [each.kept is None for each in answers.answered] == [True, False]
    assert "1 failed and stayed paid" in answers.conclusion
    left = ledger.show("clinic").left
    assert study.run(ledger=ledger).as_data() == answers.as_data()
    assert ledger.show("clinic").left == left
    assert "failed" in answers.in_markdown()
    assert "failed" in repr(answers)


def test_an_interrupted_question_is_drawn_again_under_its_entry(
    written: Write, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.read(written(AGE))
    true = run

    def interrupted(plan: Any, **terms: Any) -> Any:
        return true(replace(plan, choose=_stopped), **terms)

    monkeypatch.setattr(running, "run", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            study.run(ledger=ledger)
    monkeypatch.undo()
    assert ledger.show("clinic").left == "ε = 2.75"
    assert 20 <= study.run(ledger=ledger)["age"].answer <= 60
    assert ledger.show("clinic").left == "ε = 2.75"


def test_only_the_first_of_two_answers_is_kept(
    written: Write, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.read(written(AGE))
    first = study.run(ledger=ledger)
    plan, past = first.plan, Past.of(ledger, first.plan)
    again = running._ask_one(ledger, plan, plan.lines[0], past.paid["age"])
    assert again.kept == first.answered[0].kept
    assert ledger.show("clinic").left == "ε = 2.75"


def test_two_runs_at_once_are_refused(written: Write, ledger: Ledger) -> None:
    study = Study.read(written(AGE))
    with running._alone(study.file), pytest.raises(ParameterError, match="another process"):
        study.run(ledger=ledger)


def test_answers_are_shared_only_if_the_study_says_so(written: Write, ledger: Ledger) -> None:
    for name in ("alice", "bob"):
        ledger.allot(f"clinic/{name}", share="0.2")
    for head, left in (("", "ε = 0.35"), ("shared = true", "ε = 0.35")):
        study = Study.read(written(AGE, head=head))
        first = study.run(ledger=ledger, part="alice")
        second = study.run(ledger=ledger, part="bob")
        assert (first.answered[0].entry == second.answered[0].entry) is (head != "")
        assert ledger.show("clinic/bob").left == left


PROGRAM = """
import sys, os
from discreet import Study
from discreet.ledger import Ledger
from discreet.questions.run import run
from discreet.study import running
from discreet.study.past import Past

dies = int(sys.argv[3])
steps = 0

def step(*_):
    global steps
    steps += 1
    if steps == dies:
        os.kill(os.getpid(), 9)

def dying(name):
    true = getattr(Ledger, name)
    def method(*given, **named):
        step()
        found = true(*given, **named)
        step()
        return found
    setattr(Ledger, name, method)

dying("spend")
dying("keep")
with Ledger.open(sys.argv[2]) as ledger:
    Study.read(sys.argv[1]).run(ledger=ledger)
"""


def test_killed_at_every_step_it_pays_once(written: Write, ledger: Ledger, tmp_path: Path) -> None:
    """The run is killed before and after each payment and each storing; each question is charged once."""
    file = written(DIAGNOSIS, AGE, TOP, head="epsilon = 1")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    plan = Study.read(file).plan(ledger=ledger)
    for dies in (1, 2, 3, 4, 99):
        done = subprocess.run(
            [sys.executable, str(program), str(file), str(tmp_path / "budget.db"), str(dies)],
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode in (-9, 0), done.stderr
    assert done.returncode == 0
    spends = [entry for entry in ledger.history("clinic") if entry.kind == "spend"]
    assert len(spends) == 3
    assert sum(Fraction(entry.details["spent"]["cost"]) for entry in spends) == plan.total
    answers = Study.read(file).run(ledger=ledger)
    assert not any(wrong for _, wrong in problems(answers.as_data(), ledger))
