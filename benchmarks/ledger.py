"""How many spends a second a ledger takes, and that it loses none: 8 processes, 4 threads each.

Run it as ``python -m benchmarks.ledger`` for SQLite, and with ``--ledger postgresql://...`` for a server
(an empty database). It prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.timing import record
from discreet import PureDP
from discreet.errors import BudgetExceededError
from discreet.ledger import Ledger

PROCESSES, THREADS = 8, 4


def crowd(address: str, tries: int, start: Any, results: Any) -> None:
    """One process: threads that each try to spend ``tries`` times."""
    fitted, waits = [0] * THREADS, [0.0] * THREADS
    with Ledger.open(address, wait=300) as ledger:

        def work(which: int) -> None:
            for _ in range(tries):
                began = time.perf_counter()
                try:
                    ledger.spend("crowd", PureDP("0.001"), purpose="benchmark")
                    fitted[which] += 1
                except BudgetExceededError:
                    pass
                waits[which] = max(waits[which], time.perf_counter() - began)

        threads = [threading.Thread(target=work, args=(which,)) for which in range(THREADS)]
        start.wait()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    results.put((sum(fitted), max(waits)))


def measure(address: str, spends: int) -> dict[str, Any]:
    """One writer alone, then the crowd against a cap that fits four fifths of its tries."""
    with Ledger.open(address) as ledger:
        ledger.create("alone", PureDP(1000))
        times = []
        for _ in range(300):
            began = time.perf_counter()
            ledger.spend("alone", PureDP("0.001"), purpose="benchmark")
            times.append(time.perf_counter() - began)
        fit = spends * 4 // 5
        ledger.create("crowd", PureDP(f"{fit}e-3"))
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(PROCESSES + 1), context.Queue()
    tries = spends // (PROCESSES * THREADS)
    workers = [
        context.Process(target=crowd, args=(address, tries, start, results))
        for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    outcomes = [results.get() for _ in workers]
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    with Ledger.open(address) as ledger:
        entries = len(ledger.history("crowd")) - 1
        verified = ledger.verify("crowd").holds
        spent = ledger.show("crowd").total.cost
    counted = sum(fitted for fitted, _ in outcomes)
    assert counted == entries == spent // 10**9 == min(fit, tries * PROCESSES * THREADS)
    assert verified
    return {
        "one writer, median ms": round(1000 * statistics.median(times), 2),
        "crowd, spends and refusals a second": round(tries * PROCESSES * THREADS / seconds),
        "crowd, longest wait in seconds": round(max(wait for _, wait in outcomes), 2),
        "tries": tries * PROCESSES * THREADS,
        "counted": counted,
        "lost": 0,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="20,000 spends")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/ledger.md")
    parser.add_argument("--ledger", help="an empty database; a temporary SQLite file if not given")
    parser.add_argument("--spends", type=int, default=3200)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        address = chosen.ledger or str(Path(folder) / "budget.db")
        found = json.dumps(measure(address, 20_000 if chosen.large else chosen.spends), indent=2)
    print(found)
    if chosen.record:
        record("ledger", "A crowd of spenders on one budget", f"```json\n{found}\n```")


if __name__ == "__main__":
    main()
