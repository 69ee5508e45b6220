"""Run work in a forked child with a time limit."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from tests.tools.waiting import PATIENCE


class Ended(NamedTuple):
    """The end of a child process: its exit code (or minus the signal that killed it) and its result."""

    code: int
    said: bytes


def forked(work: Callable[[], bytes | None]) -> Ended:
    """Run ``work`` in a forked child; an exception is returned as its text, with exit code 1."""
    reading, writing = os.pipe()
    # The child must not finalise objects that the parent's threads own: a connection, an engine, a browser.
    gc.freeze()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            gc.disable()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(PATIENCE))  # ends a stuck child, and its test fails
            os.close(reading)
            try:
                said = work() or b""
                code = 0
            except Exception as error:
                said = f"{type(error).__name__}: {error}".encode()
            with os.fdopen(writing, "wb") as speaking:
                speaking.write(said)
        finally:
            os._exit(code)
    gc.unfreeze()
    os.close(writing)
    with os.fdopen(reading, "rb") as listening:
        heard = listening.read()
    _, outcome = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(outcome), heard)
