"""Long computations in separate processes. They report progress and can be cancelled."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from discreet._exact.sampling import SecureBits
from discreet.errors import ParameterError

MOST_RUNNING = 4
MOST_KEPT = 32
FORGOTTEN_AFTER = 30.0
"""A job is stopped if no page asks about it for this many seconds, because its page was closed."""

Work = Callable[[Connection, Any], None]
"""A top-level function that sends ``("progress", ...)`` messages and one ``("done", result)``."""


@dataclass(slots=True)
class _Job:
    process: BaseProcess
    receiver: Connection
    messages: list[Any] = field(default_factory=list)
    ended: bool = False
    asked: float = field(default_factory=time.monotonic)


class Jobs:
    """The jobs of all pages, each with an unguessable name."""

    def __init__(self) -> None:
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()
        self._context = multiprocessing.get_context("spawn")

    def start(self, work: Work, request: Any) -> str:
        """Start the work in a new process and return the job's name."""
        with self._lock:
            self._sweep()
            if sum(not job.ended for job in self._jobs.values()) >= MOST_RUNNING:
                raise ParameterError(
                    f"{MOST_RUNNING} jobs are running already: wait for one, or cancel it"
                )
            receiver, sender = self._context.Pipe(duplex=False)
            process = self._context.Process(target=work, args=(sender, request), daemon=True)
            process.start()
            sender.close()
            name = f"{SecureBits().integer(96):024x}"
            self._jobs[name] = _Job(process, receiver)
            while len(self._jobs) > MOST_KEPT:
                self._end(self._jobs.pop(next(iter(self._jobs))))
            return name

    def messages(self, name: str, seen: int) -> tuple[list[Any], bool]:
        """Return a job's messages after the first ``seen``, and whether the job has ended."""
        with self._lock:
            self._sweep()
            job = self._jobs.get(name)
            if job is None:
                raise ParameterError("this job is not known: start it again")
            job.asked = time.monotonic()
            self._listen(job)
            return job.messages[seen:], job.ended

    def cancel(self, name: str) -> None:
        """Stop and remove a job."""
        with self._lock:
            job = self._jobs.pop(name, None)
            if job is not None:
                self._end(job)

    def close(self) -> None:
        """Stop all jobs."""
        with self._lock:
            while self._jobs:
                self._end(self._jobs.popitem()[1])

    def sweep(self) -> None:
        """Stop the jobs that no page has asked about for a while: their pages were closed."""
        with self._lock:
            self._sweep()

    def _sweep(self) -> None:
        now = time.monotonic()
        for name, job in list(self._jobs.items()):
            if now - job.asked > FORGOTTEN_AFTER:
                self._end(self._jobs.pop(name))

    def _listen(self, job: _Job) -> None:
        try:
            while not job.ended and job.receiver.poll():
                message = job.receiver.recv()
                job.messages.append(message)
                if message[0] != "progress":
                    self._end(job)
        except (EOFError, OSError):
            job.messages.append(("error", "the work stopped without an answer"))
            self._end(job)

    @staticmethod
    def _end(job: _Job) -> None:
        job.ended = True
        if job.process.is_alive():
            job.process.terminate()
        job.process.join(timeout=5)
        job.receiver.close()
