"""The processes that read the data: each works on one question, and is ended when its slot is over.

A worker pays before it reads, through the ledger, and says so at once; then it reads, chooses, and hands
over the release. What it reads stays with it: all that it ever sends are an entry's number, a release, or
that it failed. Errors before the spend are public, so their text is passed on.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from discreet.errors import DiscreetError

# A clean process imports what questions need, once, and every worker is a copy of it.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["discreet.ledger.ledger", "discreet.questions", "duckdb", "narwhals", "flint", "psycopg"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One question, as a worker needs it.

    Attributes:
        ledger: the ledger's address.
        source: the table: a path, a glob, or a database address.
        context: whose the rows are and whose budget it is: the terms of ``discreet.table``.
        question: the name of the question.
        column: the column.
        terms: its arguments.
    """

    ledger: str
    source: Any
    context: dict[str, Any]
    question: str
    column: str
    terms: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: a release as plain data, or why nothing was spent; neither, if it failed."""

    answer: dict[str, Any] | None = None
    refusal: str | None = None


class _Counting:
    """The ledger in a worker: says on the line that it was paid, before anything is read."""

    def __init__(self, ledger: Any, line: Connection) -> None:
        self._ledger = ledger
        self._line = line
        self.paid = False

    def spend(self, dataset: str, event: Any, *, purpose: str) -> Any:
        entry = self._ledger.spend(dataset, event, purpose=purpose)
        self.paid = True
        self._line.send(("paid", entry.sequence))
        return entry

    def fail(self, entry: Any) -> Any:
        return self._ledger.fail(entry)


def _run(job: Job, line: Connection) -> None:
    from discreet import table
    from discreet.ledger import Ledger

    counting = None
    try:
        with Ledger.open(job.ledger, create=False) as ledger:
            counting = _Counting(ledger, line)
            asked = table(job.source, ledger=counting, **job.context)
            release = getattr(asked, job.question)(job.column, **job.terms)
            line.send(("answered", release.as_data()))
    except DiscreetError as error:
        paid = counting is not None and counting.paid
        line.send(("failed", None) if paid else ("refused", str(error)))
    except Exception:  # whatever it says may quote the data
        paid = counting is not None and counting.paid
        line.send(("failed", None) if paid else ("refused", "the desk could not ask its table"))


def _work(line: Connection) -> None:
    """A worker's life: jobs from the line until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the desk ends its workers itself
    warnings.simplefilter("ignore")  # candidates that can never match are the owner's to know of
    line.send(("ready", None))
    while True:
        try:
            _run(line.recv(), line)
        except (EOFError, OSError):  # the desk has ended
            return


class Worker:
    """One process; used by one question at a time."""

    def __init__(self) -> None:
        self._line, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    async def ready(self) -> None:
        """Return when it has imported what it needs."""
        await self._next(None)

    async def run(self, job: Job, *, until: float, paid: Callable[[int], None]) -> Outcome:
        """Work on a job until the loop's clock says ``until``; ``paid`` is told the ledger's entry at once.

        A job that is not done by then has failed, and the worker is of no further use.
        """
        try:
            self._line.send(job)
            while True:
                kind, content = await self._next(until)
                if kind == "paid":
                    paid(content)
                elif kind == "answered":
                    return Outcome(answer=content)
                elif kind == "refused":
                    return Outcome(refusal=content)
                else:
                    return Outcome()
        except (TimeoutError, EOFError, OSError):
            self.end()
            return Outcome()

    async def _next(self, until: float | None) -> Any:
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        loop.add_reader(self._line.fileno(), arrived.set)
        try:
            async with asyncio.timeout_at(until):
                await arrived.wait()
        finally:
            loop.remove_reader(self._line.fileno())
        return self._line.recv()

    @property
    def alive(self) -> bool:
        """Whether it can work."""
        return self._process.is_alive() and not self._line.closed

    def end(self) -> None:
        """End the process now."""
        self._process.kill()
        self._process.join()
        self._line.close()
