"""Plan a study at a desk, at no cost.

The study's questions are then asked like any others, each under a key derived from the study. So an answer is
kept and never paid for twice, whether the page or a program runs the study.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from discreet._displays import counted
from discreet._exact.numbers.printing import figure
from discreet.accounting.accountants import NOTHING, Amount, exact_cost
from discreet.desk.admission import Desk, DeskError
from discreet.desk.client import as_sent
from discreet.desk.description import planned
from discreet.desk.owner_file import part_of
from discreet.desk.shapes import question_from, require_own
from discreet.errors import ParameterError
from discreet.questions import Question
from discreet.study import Study, StudyError
from discreet.study.file import study_at_a_desk
from discreet.study.planning import plan_study
from discreet.study.study import DESK, placed

T = TypeVar("T")

MOST_QUESTIONS = 100
SECONDS = 60.0
"""The time limit for planning one study."""


def study_in(given: Any) -> Study:
    """Return the study in a request, which contains the text of the study's file; open no file."""
    text = given.get("study") if isinstance(given, dict) else None
    if not isinstance(text, str):
        raise ParameterError("the study is sent as text: the content of its file")
    study = study_at_a_desk(text)
    if len(study.questions) > MOST_QUESTIONS:
        raise ParameterError(f"a desk plans studies of up to {MOST_QUESTIONS} questions")
    return study


@dataclass(frozen=True)
class _SharedTable:
    """A table of the desk, used to plan one analyst's study."""

    desk: Desk
    analyst: str
    name: str
    go_on: Callable[[], None]

    def request(self, question: Question) -> dict[str, Any]:
        """Return a question as a request to the desk."""
        return as_sent(self.name, question)

    def plan(self, question: Question) -> dict[str, Any]:
        """Return the plan of a question, with its cost; raise an error if planning must stop."""
        self.go_on()
        return planned(self.desk, self.analyst, question_from(self.request(question)))


class StudyPlanner:
    """Plans studies in threads of its own, at most one study per analyst at a time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="study")
        self._stops: dict[str, threading.Event] = {}

    async def plan(
        self, analyst: str, given: Any, *, is_gone: Callable[[], Awaitable[bool]]
    ) -> dict[str, Any]:
        """Plan a study unless its sender disconnects; each of its questions counts as one request."""
        if analyst in self._stops:
            raise DeskError(
                429, "one study at a time: your last one is still being planned", retry_after=1
            )
        stop = self._stops[analyst] = threading.Event()
        try:
            study = await self._apart(lambda: study_in(given), stop, is_gone)
            self._desk.require_calm(analyst, requests=len(study.questions))
            return await self._apart(
                lambda: planned_study(self._desk, analyst, study, go_on=_until(stop)), stop, is_gone
            )
        finally:
            stop.set()
            del self._stops[analyst]

    async def _apart(
        self, work: Callable[[], T], stop: threading.Event, is_gone: Callable[[], Awaitable[bool]]
    ) -> T:
        """Run ``work`` in a thread and return its result; if the sender disconnects, set ``stop``.

        Even then it waits until ``work`` ends, so that no analyst ever has two threads.
        """
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        while not done.done():
            await asyncio.wait({done}, timeout=0.5)
            if not done.done() and not stop.is_set() and await is_gone():
                stop.set()
        return done.result()

    def close(self) -> None:
        """Stop every plan before its next question."""
        for stop in self._stops.values():
            stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)


def _until(stop: threading.Event) -> Callable[[], None]:
    """Return a function to call before each question; it raises if the plan was stopped or takes too long."""
    until = time.monotonic() + SECONDS

    def go_on() -> None:
        if stop.is_set():
            raise DeskError(503, "the study was no longer wanted; nothing was spent")
        if time.monotonic() > until:
            raise DeskError(
                503,
                f"the study was not planned within {SECONDS:g} s; nothing was spent. Divide it in two",
            )

    return go_on


def planned_study(
    desk: Desk, analyst: str, study: Study, *, go_on: Callable[[], None]
) -> dict[str, Any]:
    """Return a study's plan: each question's cost and accuracy, its answer if stored, and the total."""
    tables = _tables(desk, analyst, study, go_on)
    plan = plan_study(study, tables=tables)
    questions = []
    unpaid: dict[str, Amount] = {}
    for line in plan.lines:
        table = tables[line.asked.table]
        key = plan.key(line.asked.name)
        known = desk.store.find(analyst, key=key)
        if known is None:
            part = part_of(desk.owner.table[table.name].dataset, analyst)
            unpaid[part] = unpaid.get(part, NOTHING) + line.amount
        questions.append(
            {
                "name": line.asked.name,
                "key": key,
                "asked": table.request(line.question),
                "cost": figure(line.cost),
                "card": line.card,
                "state": None if known is None else known.state,
                "release": None if known is None else known.answer,
            }
        )
    left = {part: desk.ledger.show(part).remaining for part in unpaid}
    ahead = sum((exact_cost(amount.cost) for amount in unpaid.values()), start=Fraction(0))
    verb = "costs" if len(questions) == 1 else "cost"
    said = [f"{counted(len(questions), 'question')} {verb} ε = {figure(plan.total)} in all"]
    if not unpaid:
        said.append("All of it is paid: the answers cost nothing more")
    elif ahead != plan.total:
        said.append(f"ε = {figure(ahead)} of it is still to be paid")
    for part, amount in unpaid.items():
        enough = "it fits" if amount.fits(left[part]) else "that is not enough"
        said.append(
            f"{part} has ε = {figure(exact_cost(left[part].cost), up=False)} left: {enough}"
        )
    return {
        "title": study.title,
        "hash": plan.hash,
        "questions": questions,
        "conclusion": ". ".join(said) + ".",
        "ahead": figure(ahead),
        "fits": all(amount.fits(left[part]) for part, amount in unpaid.items()),
    }


def _tables(
    desk: Desk, analyst: str, study: Study, go_on: Callable[[], None]
) -> dict[str, _SharedTable]:
    """Return the desk's tables by the study's names for them, or raise an error that lists all problems."""
    problems, tables = [], {}
    for name, facts in study.tables.items():
        table = str(facts["data"]).removeprefix(DESK)
        try:
            require_own(desk.owner, analyst, table)
        except ParameterError as error:
            problems.append(placed(study, name, error))
        tables[name] = _SharedTable(desk, analyst, table, go_on)
    if problems:
        raise StudyError(problems)
    return tables
