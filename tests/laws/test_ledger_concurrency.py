"""Many processes and threads under one cap: no charge is lost, the cap holds, no deadlock."""

from __future__ import annotations

import multiprocessing
import threading
from typing import Any

import pytest

from discreet import PureDP
from discreet.errors import BudgetExceededError, ParameterError
from discreet.ledger import Ledger
from tests.tools.forking import forked
from tests.tools.waiting import PATIENCE

PROCESSES, THREADS, TRIES = 16, 2, 10
FIT = 200  # of 320 attempts


def _spend(address: str, start: Any, results: Any) -> None:
    with Ledger.open(address) as ledger:
        done: list[int] = []

        def work() -> None:
            fitted = 0
            for _ in range(TRIES):
                try:
                    ledger.spend("visits", PureDP("0.005"))
                    fitted += 1
                except BudgetExceededError:
                    pass
            done.append(fitted)

        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        start.wait(PATIENCE)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        results.put(done)


def test_processes_and_threads_share_one_cap(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
    # Not forked from here, where other tests have started threads and loaded libraries.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["discreet.ledger"])
    start, results = context.Barrier(PROCESSES), context.Queue()
    workers = [
        context.Process(target=_spend, args=(address, start, results), daemon=True)
        for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    fitted = [count for _ in workers for count in results.get(timeout=PATIENCE)]
    for worker in workers:
        worker.join(timeout=PATIENCE)
        assert worker.exitcode == 0
    assert len(fitted) == PROCESSES * THREADS
    assert sum(fitted) == FIT
    with Ledger.open(address) as ledger:
        assert ledger.show("visits").left == "ε = 0"
        assert len(ledger.history("visits")) == FIT + 1
        assert ledger.verify("visits").holds


def test_a_ledger_may_be_made_by_many_at_once(address: str) -> None:
    def work() -> None:
        with Ledger.open(address) as ledger:
            try:
                ledger.create("visits", PureDP(1))
            except ParameterError:
                made.append(False)
            else:
                made.append(True)

    made: list[bool] = []
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE)
    assert sorted(made) == [False] * 7 + [True]


@pytest.mark.parametrize("opened_before", [True, False])
def test_a_forked_child_has_its_own_connections(address: str, opened_before: bool) -> None:
    ledger = Ledger.open(address)
    ledger.create("visits", PureDP(1))
    if not opened_before:
        ledger.close()

    def spend() -> None:
        ledger.spend("visits", PureDP("0.1"))

    assert forked(spend) == (0, b"")
    ledger.spend("visits", PureDP("0.1"))
    assert ledger.show("visits").left == "ε = 0.8"
    ledger.close()


def test_looking_while_others_spend_sees_one_moment(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        stop = threading.Event()

        def spend() -> None:
            while not stop.is_set():
                ledger.spend("visits", PureDP("1e-6"))

        thread = threading.Thread(target=spend)
        thread.start()
        try:
            looks = 0
            # Some charges happen between two looks, however slow the machine is.
            while looks < 30 or len(ledger.history("visits")) < 4:
                assert thread.is_alive()
                assert ledger.verify("visits").holds
                looks += 1
        finally:
            stop.set()
            thread.join(timeout=PATIENCE)
        assert not thread.is_alive()
