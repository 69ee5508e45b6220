"""The processes that read the data, each for one question at a time; one that misses its slot is killed.

A worker pays through the ledger before it reads, and reports the payment at once; then it reads, chooses, and
hands over the release. The data stays in the worker, which only ever sends an entry's number, a release, or
the reason why it failed. The reason is for the owner; the analyst sees it only if it is about the question,
not about the owner's files, addresses or columns.
"""

from __future__ import annotations

import asyncio
import fcntl
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from discreet._isolated import FunctionInFile
from discreet.errors import (
    BudgetExceededError,
    DiscreetError,
    LedgerError,
    LostLedgerError,
    ParameterError,
    RehearsalError,
    UnknownColumnError,
)

if TYPE_CHECKING:
    from discreet.ledger import Ledger
    from discreet.questions import Question

_PATIENCE = 60
_ANALYSTS_OWN = {"epsilon", "where", "k", "at", "above", "crossings"}

# A clean process imports what questions need once, and every worker is a copy of it.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "discreet.ledger.ledger",
        "discreet.questions",
        "discreet._tables.in_postgres",
        "discreet._tables.in_sqlite",
        "cryptography.hazmat.primitives.ciphers.modes",
        "duckdb",
        "flint",
        "numpy.ma",
        "numpy.polynomial",
        "psycopg",
        # Blocks that vote need these; Arrow looks for pandas.
        "cloudpickle",
        "pandas",
        "pyarrow.compute",
        "pyarrow.pandas_compat",
        "pyarrow.vendored.version",
        "sqlalchemy.dialects.postgresql.psycopg",
        "sqlalchemy.dialects.sqlite.pysqlite",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A question, with all that a worker needs to answer it.

    Attributes:
        ledger: the ledger's address.
        till: a lock file: workers share it while they pay, and the desk locks it to see what has been paid.
        source: the table: a path, a glob, or a database address.
        dataset: the part of the budget that pays.
        question: the question.
        terms: the person column and the other options of the table.
        dry: whether to do only the steps before the payment, on no rows and on invented rows (a dry run).
    """

    ledger: str
    till: str
    source: Any
    dataset: str
    question: Question
    terms: dict[str, Any]
    dry: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job: a release as plain data, a refusal before anything was spent, or a failure.

    Attributes:
        answer: the release.
        refused: whether nothing was spent.
        reason: the reason why there is no release, for the owner.
        told: the reason in words for the analyst, if they may see it; ⟨ and ⟩ enclose parameters.
        seconds: how long a dry run took.
    """

    answer: dict[str, Any] | None = None
    refused: bool = False
    reason: str | None = None
    told: str | None = None
    seconds: float | None = None


class _Counting:
    """The ledger as a worker uses it: ``spend`` reports the payment to the desk before anything is read."""

    def __init__(self, job: Job, line: Connection) -> None:
        self._address = job.ledger
        self._till = job.till
        self._line = line
        self.is_unpaid = True
        """Whether it is certain that nothing was spent."""

    def spend(self, dataset: str, event: Any, *, purpose: str) -> Any:
        with locked(self._till, shared=True):
            if self._line.poll():  # a busy worker is sent nothing, so the desk has ended
                raise DiscreetError("the desk has ended")
            try:
                entry = _ledger(self._address).spend(dataset, event, purpose=purpose)
            except LostLedgerError:  # the payment may have been committed
                self.is_unpaid = False
                raise
        self.is_unpaid = False
        self._line.send(("paid", entry.sequence))
        return entry

    def fail(self, _entry: Any) -> None:
        """Do nothing: the desk records the failure when the slot ends.

        An entry now would reveal when the question failed.
        """

    def show(self, budget: str) -> Any:
        return _ledger(self._address).show(budget)


@contextmanager
def locked(file: str, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a file, exclusively or shared; it is released even if the process is killed."""
    held = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)  # anyone who can read it can hold its lock
    try:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(held, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise DiscreetError(
                        f"the lock {file} was held for {_PATIENCE} seconds, perhaps by a worker of an "
                        "earlier desk that hangs: stop it"
                    ) from None
                time.sleep(0.01)
        yield
    finally:
        os.close(held)


@cache
def _ledger(address: str) -> Ledger:
    """Return the worker's own connection to the ledger; it is opened once and kept."""
    from discreet.ledger import Ledger

    return Ledger.open(address, create=False)


def _run(job: Job, line: Connection) -> None:
    from discreet.questions import PrivateTable

    counting = _Counting(job, line)
    try:
        score = getattr(job.question, "score", None)
        if isinstance(score, FunctionInFile):
            _load(score)  # an error in the owner's file costs nothing
        if job.dry:
            outcome = Outcome(seconds=_tried(job))
        else:
            # `discreet.table` would open the table once more, to check what the plan checks anyway.
            asked = PrivateTable(data=job.source, ledger=counting, dataset=job.dataset, **job.terms)
            outcome = Outcome(answer=asked.ask(job.question).as_data())
    except Exception as error:
        outcome = Outcome(refused=counting.is_unpaid, reason=_reason(error), told=_told(error))
        if _ledger.cache_info().currsize:  # the ledger's connection may be the cause
            _ledger(job.ledger).close()
            _ledger.cache_clear()
    line.send(("done", outcome))


def _load(score: FunctionInFile) -> None:
    """Load a score function from the owner's file; any error in the file is only for the owner to see."""
    try:
        score.loaded()
    except DiscreetError as error:
        raise RehearsalError(f"{type(error).__name__}: {error}") from None


def _tried(job: Job) -> float:
    """Do a dry run on no rows and on a few invented rows, without payment; return its duration in seconds."""
    from discreet._exact.sampling import SecureBits
    from discreet.questions import table

    began = time.monotonic()
    _ledger(job.ledger).show(job.dataset)
    asked = table(job.source, **job.terms | {"people": 1})
    with closing(asked.plan(job.question).read(SecureBits())) as reading:
        reading.try_out()
    # An owner's score reads the file itself. Public rows for a vote may have no column of people; the vote's
    # function has been tried on them above.
    by_owner = isinstance(getattr(job.question, "score", None), FunctionInFile)
    if not by_owner and getattr(job.question, "rehearse_on", None) is None:
        asked.rehearse(job.question)
    return time.monotonic() - began


def _reason(error: Exception) -> str:
    """Return the reason why a question failed; messages of foreign errors may quote data and are left out."""
    said = f": {error}" if isinstance(error, DiscreetError) else ""
    return f"{type(error).__name__}{said}"


def _told(error: Exception) -> str | None:
    """Return the reason for a refusal, if an analyst may see it: too little budget, or a wrong question."""
    if isinstance(error, BudgetExceededError):
        return str(error)
    return error.args[0] if is_of_the_question(error) else None


def is_of_the_question(error: Exception) -> bool:
    """Return whether an error is about something an analyst may set; other errors may name a path."""
    theirs = LedgerError | RehearsalError | UnknownColumnError
    if not isinstance(error, ParameterError) or isinstance(error, theirs):
        return False
    named = set(error.parameters)
    return bool(named) and named <= _ANALYSTS_OWN


def _work(line: Connection, folder: str, first: Sequence[Job]) -> None:
    """Run a worker: do the jobs that arrive on the line until it closes."""
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the desk stops its workers itself
    warnings.simplefilter("ignore")  # candidates that can never match concern only the owner
    for job in first:
        with suppress(Exception):  # a question would fail the same way and report it to the owner
            _tried(job)
    line.send(("ready", None))
    while True:
        try:
            _run(line.recv(), line)
        except (EOFError, OSError):  # the desk has ended
            shutil.rmtree(folder, ignore_errors=True)
            return


class Worker:
    """A process that works on one question at a time.

    Before a worker is ready it runs the dry jobs ``first``, so that the driver, the engine and the ledger are
    loaded before a table's first question. A worker's temporary files, which may hold rows, are removed when
    it ends, even if it is killed.
    """

    def __init__(self, first: Sequence[Job] = ()) -> None:
        self._folder = tempfile.mkdtemp(prefix="discreet-")
        self._line, theirs = _CONTEXT.Pipe()
        given = (theirs, self._folder, tuple(first))
        self._process = _CONTEXT.Process(target=_work, args=given, daemon=True)
        self._process.start()
        theirs.close()

    async def ready(self, *, until: float | None = None) -> None:
        """Wait until the worker has loaded what it needs; raise a TimeoutError if it has not by ``until``."""
        await self._next(until)

    async def run(self, job: Job, *, until: float | None, paid: Callable[[int], None]) -> Outcome:
        """Run a job, and call ``paid`` with the number of its ledger entry as soon as it is paid for.

        A job that is not done when the loop's clock reaches ``until`` has failed, and the worker is killed.
        """
        try:
            self._line.send(job)
            while True:
                kind, content = await self._next(until)
                if kind == "paid":
                    paid(content)
                else:
                    done: Outcome = content
                    return done
        except (TimeoutError, EOFError, OSError) as error:
            late = isinstance(error, TimeoutError)
            self.end()
            return Outcome(reason="it did not finish in its slot" if late else "its worker ended")

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
        """Whether the worker can take a job."""
        return self._process.is_alive() and not self._line.closed

    def end(self) -> None:
        """Kill the process and remove its temporary files."""
        self._process.kill()
        self._process.join()
        self._line.close()
        shutil.rmtree(self._folder, ignore_errors=True)
