"""The desk: it admits questions, charges for them before any row is read, and answers at a fixed time.

Admission, queueing and every refusal happen before anything is spent. They depend only on the owner's file,
the ledger and other people's questions, never on data. An admitted question has its own worker until its slot
ends. Its answer, or the one text that all failed questions share, is sent then and not earlier
(``docs/desk-threats.md``).
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from discreet.accounting.events import shortened
from discreet.desk.owner_file import OwnerFile, part_of
from discreet.desk.shapes import Request, examples, permitted
from discreet.desk.store import (
    ADMITTED,
    ANSWERED,
    FAILED,
    LOST,
    PAID,
    REFUSED,
    AskedQuestion,
    DeskStore,
)
from discreet.desk.workers import Job, Outcome, Worker, locked
from discreet.errors import DiscreetError, LedgerError, NoBudgetError, ParameterError
from discreet.ledger import Ledger

T = TypeVar("T")

_STRANGERS = 10_000
_LOG = logging.getLogger("discreet.desk")
_LONGEST_DRY_RUN = 60.0
"""A dry run is stopped after this many seconds, or at the end of its slot if that is later."""
NOT_DONE = (
    "the question did not finish in its slot; nothing is released, and its cost is not refunded"
)
NOT_BEGUN = (
    "the question's slot ended before it could be paid, so it was not asked; nothing was spent"
)
GONE = (
    "the desk or its ledger stopped during this question; nothing is released, and its cost "
    "is not refunded"
)
UNABLE = (
    "the desk cannot do this now; nothing was spent. Its owner finds the reason in the desk's log"
)
UNKNOWN = (
    "the desk cannot tell whether this question was paid, because its ledger does not answer; nothing is "
    "released. Ask the same question again later: if it was paid, the desk says so and takes nothing more"
)


class DeskError(DiscreetError):
    """A refusal by the desk, with its HTTP status; nothing was spent unless the message says otherwise."""

    def __init__(self, status: int, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Desk:
    """One desk: an owner's file, a ledger, a store, and workers."""

    def __init__(self, owner: OwnerFile) -> None:
        self.owner = owner
        self.store = DeskStore(str(owner.desk.store))
        try:
            self.store.hold()
            self.ledger = Ledger.open(owner.ledger.place, create=False)
        except BaseException:
            self.store.close()
            raise
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._workers: set[Worker] = set()
        self._spare: Worker | None = None
        self._waiting = 0
        self._asking: set[str] = set()
        self._running: set[asyncio.Task[Any]] = set()
        self._requests: dict[str, deque[float]] = defaultdict(deque)
        self._looking: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.observe: Callable[[str, str, str, float | None], None] = lambda *_: None

    # ---- starting and stopping -------------------------------------------------------------------

    async def open(self) -> None:
        """Settle the questions that a crash left open, and start the workers."""
        await asyncio.to_thread(self._settle)
        # Start one spare worker. It replaces a worker that is ended, so that a failed question does not
        # delay those who wait.
        hiring = [self._hire() for _ in range(self.owner.desk.workers + 1)]
        hired = await asyncio.gather(*hiring, return_exceptions=True)
        failed = [each for each in hired if isinstance(each, BaseException)]
        if failed:
            for worker in self._workers:
                worker.end()
            raise failed[0]
        self._spare, *idle = [each for each in hired if isinstance(each, Worker)]
        for worker in idle:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """Shut down; questions that were paid and are still running stay paid, and their answers are lost."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        for worker in self._workers:
            worker.end()
        self.ledger.close()
        self.store.close()

    def _settle(self) -> None:
        with locked(self.store.till):  # a worker whose desk was killed may still be paying
            for question in self.store.unfinished():
                self._settled(question)

    def _settled(self, question: AskedQuestion) -> None:
        """Settle a question whose worker has ended: record it as lost if it was paid, else as refused."""
        entry = question.entry or self._entry_for(question)
        state = REFUSED if entry is None else LOST
        self.store.record(question.id, state, entry=entry)

    def _is_stranded(self, question: AskedQuestion) -> bool:
        """Return whether a question is still open in the store, although no worker is working on it.

        This happens if the ledger did not respond when the desk checked whether the question was paid.
        """
        return question.state in (ADMITTED, PAID) and question.analyst not in self._asking

    def _entry_for(self, question: AskedQuestion) -> int | None:
        """Return the number of the ledger entry that paid for a question, once its worker has ended."""
        for dataset in self._datasets(question):
            with suppress(NoBudgetError):  # the analyst has no part of this budget
                part = part_of(dataset, question.analyst)
                self.ledger.await_payments(part)  # a commit may outlive its worker
                for entry in self.ledger.history(part):
                    purpose = str(entry.details.get("purpose"))
                    # Only the beginning is written by the desk: a condition may name another question.
                    if entry.kind == "spend" and purpose.startswith(_mark(question.id)):
                        return entry.sequence
        return None

    def _datasets(self, question: AskedQuestion) -> set[str]:
        """Return the data sets whose budgets may have paid for a question; all if its table was removed."""
        table = self.owner.table.get(question.asked["table"])
        tables = self.owner.table.values() if table is None else [table]
        return {each.dataset for each in tables}

    async def _hire(self) -> Worker:
        first = {name: jobs[0] for name, jobs in dry_jobs(self.owner).items() if jobs}
        most = sum(
            longest_dry_run(self.owner, name, job.question.kind) for name, job in first.items()
        )
        worker = await asyncio.to_thread(Worker, list(first.values()))
        self._workers.add(worker)
        try:
            await worker.ready(until=asyncio.get_running_loop().time() + most)
        except TimeoutError:
            self._workers.discard(worker)
            worker.end()
            raise DeskError(
                503,
                f"a worker was not ready after {most:g} s, so it was stopped; before it is ready it runs one "
                "question of each table without reading a row. Check that the sources can be reached and "
                "that the owner's functions end (discreet desk check names the table)",
            ) from None
        return worker

    async def _hired_in_the_end(self) -> Worker:
        """Start a worker, and try again if it does not get ready in time."""
        while True:
            try:
                return await self._hire()
            except DeskError as error:
                tell_owner(str(error))

    def _give_back(self, worker: Worker) -> None:
        if worker.alive:
            self._idle.put_nowait(worker)
            return
        self._workers.discard(worker)
        self._background(self._replaced())

    async def _replaced(self) -> None:
        spare, self._spare = self._spare, None
        if spare is None or not spare.alive:
            spare = await self._hired_in_the_end()
        self._idle.put_nowait(spare)
        if self._spare is None:
            self._spare = await self._hired_in_the_end()

    def _background(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    @property
    def waiting(self) -> int:
        """The number of questions waiting for a worker."""
        return self._waiting

    @property
    def working(self) -> int:
        """The number of questions that workers are working on."""
        return len(self._asking) - self._waiting

    # ---- limits ----------------------------------------------------------------------------------

    def require_calm(self, who: str, *, requests: int = 1) -> None:
        """Refuse a sender who has reached the owner's limit per minute; else count ``requests`` requests."""
        now = time.monotonic()
        if len(self._requests) > _STRANGERS:  # forget addresses without recent requests
            recent = {name: times for name, times in self._requests.items() if times[-1] > now - 60}
            self._requests = defaultdict(deque, recent)
        times = self._requests[who]
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= self.owner.desk.requests_per_minute:
            raise DeskError(429, "too many requests in a minute", retry_after=60 - (now - times[0]))
        times.extend([now] * requests)

    def require_trusted(self, analyst: str) -> None:
        """Refuse an analyst with too many questions that missed their slots."""
        allowed = self.owner.desk.failures_allowed
        if self.store.failures(analyst) >= allowed:
            raise DeskError(
                403,
                f"too many of your paid questions ({allowed}) did not finish in their slots; each such "
                "failure reveals something about the data, so the owner of the desk must act before you can "
                "ask again",
            )

    # ---- asking ----------------------------------------------------------------------------------

    async def ask(self, analyst: str, request: Request, *, key: str | None = None) -> AskedQuestion:
        """Admit a question, pay for it, and answer when its slot ends.

        If the analyst used ``key`` for an earlier question that was not refused, nothing is paid: its stored
        answer is returned, or an error is raised if there is none or the question was a different one.
        """
        with self._counting_refusals(analyst, request):
            table, question = permitted(self.owner, analyst, request)
        if key is not None:
            known = self.store.find(analyst, key=key)
            if known is not None and known.digest == request.digest and self._is_stranded(known):
                await asyncio.to_thread(self._settled, known)
                known = self.store.find(
                    analyst, key=key
                )  # another request may have used the same key meanwhile
            if known is not None:
                return self._again(known, request.digest)
        with self._counting_refusals(analyst, request):
            self.require_trusted(analyst)
            if analyst in self._asking:
                raise DeskError(429, "one question at a time: your last one is still running")
            self._asking.add(analyst)
            try:
                worker = await self._admitted()
            except BaseException:
                self._asking.discard(analyst)
                raise
        job = Job(
            ledger=self.owner.ledger.place,
            till=self.store.till,
            source=table.source,
            dataset=part_of(table.dataset, analyst),
            question=question,
            terms=table.terms(question.kind),
        )
        # Even if the client disconnects, a paid question is finished and its answer is kept.
        task = self._background(
            self._work(
                worker,
                job,
                analyst=analyst,
                request=request,
                key=key,
                seconds=table.seconds(question.kind),
            )
        )
        return await asyncio.shield(task)

    @contextmanager
    def _counting_refusals(self, analyst: str, request: Request) -> Iterator[None]:
        try:
            yield
        except DiscreetError:
            self.observe(request.kind.kind, REFUSED, analyst, None)
            raise

    def _again(self, known: AskedQuestion, asked: str) -> AskedQuestion:
        if known.digest != asked:
            raise DeskError(409, "this key was already used for another question: use a new one")
        if known.state == ANSWERED:
            return known
        if known.state in (FAILED, LOST):
            raise _stays_paid(NOT_DONE if known.state == FAILED else GONE, known)
        raise DeskError(409, "this question is still running", retry_after=1)

    async def _admitted(self) -> Worker:
        """Return an idle worker, waiting in the queue if necessary; nothing is paid yet."""
        if self._idle.empty() and self._waiting >= self.owner.desk.queue:
            raise DeskError(503, "the desk is full; nothing was spent", retry_after=5)
        self._waiting += 1
        try:
            async with asyncio.timeout(self.owner.desk.patience):
                while not (worker := await self._idle.get()).alive:
                    self._give_back(worker)  # the system killed it while it was idle
                return worker
        except TimeoutError:
            raise DeskError(
                503, "the desk stayed full for too long; nothing was spent", retry_after=5
            ) from None
        finally:
            self._waiting -= 1

    async def _work(
        self,
        worker: Worker,
        job: Job,
        *,
        analyst: str,
        request: Request,
        key: str | None,
        seconds: float,
    ) -> AskedQuestion:
        paid: int | None = None
        name: str | None = None
        took: float | None = None
        try:
            name = asked = self.store.admit(analyst, key, request.digest, request.as_data())
            words = f"{_mark(name)} {request.kind.kind} of {request.about}"
            where = request.fields.get("where")
            purpose = shortened(words if where is None else f"{words}, where {where}")
            job = replace(job, question=job.question.changed(purpose=purpose))
            until = asyncio.get_running_loop().time() + seconds

            def note(entry: int) -> None:
                nonlocal paid
                paid = entry
                self.store.record(asked, PAID, entry=entry)

            outcome = await worker.run(job, until=until, paid=note)
            took = seconds - (until - asyncio.get_running_loop().time())
            if outcome.reason is not None:
                tell_owner(f"question {name} of {analyst}: {outcome.reason}")
            if outcome.refused:
                self.store.record(name, REFUSED, reason=outcome.reason)
                raise ParameterError(outcome.told) if outcome.told else DeskError(503, UNABLE)
            await self._slot_over(until)
            part = job.dataset
            if outcome.answer is None:
                raise await asyncio.to_thread(self._failed, name, part, paid, outcome.reason)
            # The ledger's own number would reveal how many questions others asked, and whether they failed.
            number = self.store.one(name).number
            answer = {**outcome.answer, "entry": f"{part}, question {number}"}
            self.store.record(name, ANSWERED, answer=answer)
        finally:
            self._asking.discard(analyst)
            self._give_back(worker)
            if name is not None:
                self.observe(request.kind.kind, self.store.one(name).state, analyst, took)
        return self.store.one(name)

    async def _slot_over(self, until: float) -> None:
        """Wait until a slot ends, by the event loop's clock."""
        await asyncio.sleep(until - asyncio.get_running_loop().time())

    def _failed(self, name: str, part: str, paid: int | None, reason: str | None) -> DeskError:
        """Return the error for a question without an answer, and record its outcome.

        The error never gives the reason. Its text is the same for all questions known to be paid, except for
        the question's number. If the ledger does not respond, the outcome stays open.
        """
        try:
            if paid is None:  # its worker ended before it reported a payment
                paid = self._entry_for(self.store.one(name))
        except LedgerError as error:
            tell_owner(f"question {name}: {error}")
            # The question is settled when it is asked again with its key, or when the desk starts again.
            return DeskError(503, UNKNOWN)
        if paid is None:
            self.store.record(name, REFUSED, reason=reason)
            return DeskError(503, NOT_BEGUN, retry_after=5)
        self.store.record(name, FAILED, entry=paid, reason=reason)
        try:
            entries = {entry.sequence: entry for entry in self.ledger.history(part)}
            self.ledger.fail(entries[paid])
        except LedgerError as error:
            tell_owner(f"question {name}: {error}")
        return _stays_paid(NOT_DONE, self.store.one(name))

    # ---- what is public --------------------------------------------------------------------------

    async def look(self, read: Callable[[], T], *, analyst: str) -> T:
        """Run a lookup in a thread, at most one at a time for each analyst.

        A plan can take a second. Even if one analyst asks for many, threads stay free for other analysts.
        """
        async with self._looking[analyst]:
            return await asyncio.to_thread(read)


def dry_jobs(owner: OwnerFile) -> dict[str, list[Job]]:
    """Return the dry runs for each table, one per kind of question; they neither pay nor read any row."""
    return {
        name: [
            Job(
                ledger=owner.ledger.place,
                till="",
                source=table.source,
                dataset=table.dataset,
                question=question,
                terms=table.terms(question.kind),
                dry=True,
            )
            for question in examples(table)
        ]
        for name, table in owner.table.items()
    }


async def fixed_parts(owner: OwnerFile) -> dict[tuple[str, str], Outcome]:
    """Measure the seconds that each kind of question takes on each table, apart from paying and reading.

    The figure is infinite for a dry run that crashes or does not end; the table's other kinds are then
    skipped. It is None for a dry run that fails, and the outcome has the reason.
    """
    found = {}
    for name, jobs in dry_jobs(owner).items():
        worker = await asyncio.to_thread(Worker, jobs[:1])
        try:
            for place, job in enumerate(jobs):
                most = longest_dry_run(owner, name, job.question.kind)
                outcome = await _dry_run(worker, job, most=most, is_first=place == 0)
                found[name, job.question.kind] = outcome
                if outcome.seconds == math.inf:
                    break
        finally:
            worker.end()
    return found


async def _dry_run(worker: Worker, job: Job, *, most: float, is_first: bool) -> Outcome:
    """Run a dry job; its seconds are infinite if it crashes or does not end."""
    clock = asyncio.get_running_loop().time
    try:
        if is_first:  # a worker runs it once before it is ready
            await worker.ready(until=clock() + most)
    except TimeoutError:
        return Outcome(seconds=math.inf)
    done = await worker.run(job, until=clock() + most, paid=lambda _entry: None)
    return done if worker.alive else Outcome(seconds=math.inf)


def longest_dry_run(owner: OwnerFile, table: str, kind: str) -> float:
    """Return the seconds after which a dry run is stopped: a minute, or the question's slot if longer."""
    return max(_LONGEST_DRY_RUN, owner.table[table].seconds(kind))


def _mark(name: str) -> str:
    """Return the prefix of a question's purpose in the ledger."""
    return f"desk {name}:"


def _stays_paid(said: str, question: AskedQuestion) -> DeskError:
    return DeskError(410, f"{said}: your question {question.number}")


def tell_owner(what: str) -> None:
    """Log a message for the owner; analysts never see it."""
    _LOG.error("%s", what)
