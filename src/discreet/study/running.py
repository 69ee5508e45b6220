"""Run a study: pay, draw, store, then show.

Every spend names the study's hash and the question, and every answer is kept in the ledger before it is
shown. A run that was killed can be resumed: an answered question is read back; a question that is paid for
but not answered is drawn again under the same entry, because nothing of its answer was shown; a failed
question stays failed and paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from discreet.accounting.accountants import ACCOUNTANTS
from discreet.errors import BudgetExceededError, DiscreetError, LedgerError, ParameterError
from discreet.ledger import Entry, Ledger
from discreet.questions.run import AnyLedger, Resuming, opened, run
from discreet.study.answers import Answered, StudyAnswers
from discreet.study.past import Past
from discreet.study.planned import PlannedQuestion, StudyPlan
from discreet.study.planning import opened_tables
from discreet.study.study import Study

Watch: TypeAlias = Callable[[str, int, int], None]
"""Called with the current question, the number answered, and the total number."""


def run_study(
    study: Study,
    *,
    ledger: AnyLedger | None,
    part: str | None,
    signed: str | None,
    watch: Watch | None,
) -> StudyAnswers:
    """Run a study, or resume one."""
    with _alone(study.file), opened(None if study.at_a_desk else ledger) as found:
        if found is None and not study.at_a_desk:
            raise ParameterError("⟨ledger⟩ must be given: a study is charged to a budget")
        plan = study.plan(ledger=found, part=part)
        _require_signed(plan, signed)
        told = watch or (lambda *_: None)
        if study.at_a_desk:
            answered = _ask_desk(plan, told)
        else:
            past = Past.of(found, plan)
            _require_budget(plan)
            answered = tuple(_ask(found, plan, past, told))
        told("", len(plan.lines), len(plan.lines))
        return StudyAnswers(plan=plan, answered=answered)


def _require_signed(plan: StudyPlan, signed: str | None) -> None:
    if signed is not None and signed != plan.hash:
        raise ParameterError(
            f"the plan is not the one that was signed: its hash is {plan.hash}, the signed one {signed}; "
            "nothing was paid"
        )


def _require_budget(plan: StudyPlan) -> None:
    """Check that everything not yet paid for fits the budget, before the first payment."""
    if plan.remaining is None:
        raise ParameterError(
            f"there is no budget {plan.budget!r} in the ledger: discreet budget create makes one"
        )
    if not plan.fits:
        shown = ACCOUNTANTS[plan.accountant].shown
        raise BudgetExceededError(
            f"what is not paid yet costs {shown(plan.ahead)}, and {plan.budget} has "
            f"{shown(plan.remaining)} left. Nothing was paid"
        )


@contextmanager
def _alone(file: Path | None) -> Iterator[None]:
    """Lock the study's file: two runs at once would pay for the same question twice."""
    if file is None:
        yield
        return
    import fcntl

    with file.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ParameterError(
                "this study is being run by another process: wait until it ends"
            ) from None
        yield


def _ask(ledger: Ledger, plan: StudyPlan, past: Past, watch: Watch) -> Iterator[Answered]:
    for place, line in enumerate(plan.lines):
        name = line.asked.name
        watch(name, place, len(plan.lines))
        if name in past.answers:
            yield past.answers[name]
        elif name in past.failed:
            yield Answered(name=name, entry=str(past.paid.get(name, "")))
        else:
            yield _ask_one(ledger, plan, line, past.paid.get(name))


def _ask_one(
    ledger: Ledger, plan: StudyPlan, line: PlannedQuestion, paid: Entry | None
) -> Answered:
    assert line.plan is not None
    name = line.asked.name
    named = {"study": plan.hash, "question": name}
    event = replace(line.plan.event, parameters={**line.plan.event.parameters, **named})
    planned = replace(line.plan, event=event)
    try:
        release = run(planned, ledger=ledger, dataset=plan.budget, resuming=Resuming(paid))
    except LedgerError:
        raise
    except DiscreetError:
        past = Past.of(ledger, plan)
        if name not in past.failed:  # it failed before anything was paid
            raise
        return Answered(name=name, entry=str(past.paid[name]))
    try:
        kept = ledger.keep(release.entry, release.as_data())
    except ParameterError:  # another run has answered it meanwhile: use that answer
        return Past.of(ledger, plan).answers[name]
    # Show exactly what is stored.
    return Answered(
        name=name, kept=kept.details["release"], entry=str(release.entry), date=kept.time
    )


def _ask_desk(plan: StudyPlan, watch: Watch) -> tuple[Answered, ...]:
    """Send every question to a desk, each under a key derived from the plan's hash."""
    tables = opened_tables(plan.study)
    found = []
    for place, line in enumerate(plan.lines):
        watch(line.asked.name, place, len(plan.lines))
        release = tables[line.asked.table].ask(line.question, key=plan.key(line.asked.name))
        found.append(
            Answered(name=line.asked.name, kept=release.as_data(), entry=str(release.entry or ""))
        )
    return tuple(found)
