"""Functions that the tests of jobs run; a separate process can import them."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection


def count(sender: Connection, until: int) -> None:
    for number in range(until):
        sender.send(("progress", number, number / until))
    sender.send(("done", os.getpid()))


def sleep(sender: Connection, seconds: float) -> None:
    sender.send(("progress", os.getpid(), 0))
    time.sleep(seconds)


def crash(sender: Connection, _request: object) -> None:
    sender.send(("progress", "about to fail", 0))
    os._exit(7)
