"""How many charges per second a ledger takes from 16 processes with 2 threads each, and that none is lost.

Run it as ``python -m benchmarks.ledger`` for SQLite, and with ``--ledger postgresql://...`` for a server
(an empty database). ``--journals`` compares SQLite's ways of making a change durable, with 16 processes that
write and one that reads: how long each takes, and how often the single file was incomplete afterwards.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import sqlite3
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

PROCESSES, THREADS = 16, 2
CHANGES = 20


def crowd(address: str, tries: int, start: Any, results: Any) -> None:
    """Run one process with threads that each try to spend ``tries`` times."""
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
    """Measure one writer alone, then all processes, with a cap that covers four fifths of the attempts."""
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


def change(path: str, journal: str, start: Any, results: Any) -> None:
    """Run one process that writes rows; with ``wal+checkpoint`` it checkpoints the log after each row."""
    with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=EXTRA")
        if not journal.startswith("wal"):  # the file itself stores WAL mode
            connection.execute(f"PRAGMA journal_mode={journal}")
        times, not_whole = [], 0
        start.wait()
        for _ in range(CHANGES):
            began = time.perf_counter()
            while True:  # the ledger waits like this
                with contextlib.suppress(sqlite3.OperationalError):
                    connection.execute("BEGIN IMMEDIATE")
                    break
                time.sleep(0.002)
            connection.execute("PRAGMA busy_timeout=60000")
            connection.execute("UPDATE totals SET spent = spent + 1")
            connection.execute("INSERT INTO entries VALUES (hex(randomblob(300)))")
            connection.execute("COMMIT")
            if journal == "wal+checkpoint":
                connection.execute("PRAGMA busy_timeout=0")
                not_whole += connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            connection.execute("PRAGMA busy_timeout=0")
            times.append(time.perf_counter() - began)
    results.put((times, not_whole))


def look(path: str, start: Any, stop: Any) -> None:
    """Run one process that reads, as verifying and listing do."""
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as connection:
        start.wait()
        while not stop.is_set():
            connection.execute("SELECT count(*), sum(length(body)) FROM entries").fetchone()


def compare_journals() -> str:
    """Return a table that compares SQLite's journals with many writers and one reader."""
    context = multiprocessing.get_context("spawn")
    lines = [
        "| journal | one writer, ms | changes a second | longest wait, s | not whole after a change |",
        "|---|---|---|---|---|",
    ]
    for journal in ("delete", "truncate", "persist", "wal", "wal+checkpoint"):
        figures = []
        for processes, readers in ((1, 0), (PROCESSES, 1)):
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder) / "budget.db")
                with contextlib.closing(sqlite3.connect(path)) as connection:
                    if journal.startswith("wal"):
                        connection.execute("PRAGMA journal_mode=wal")
                    connection.execute("CREATE TABLE totals AS SELECT 0 AS spent")
                    connection.execute("CREATE TABLE entries (body TEXT)")
                start, results = context.Barrier(processes + readers + 1), context.Queue()
                stop = context.Event()
                writers = [
                    context.Process(target=change, args=(path, journal, start, results))
                    for _ in range(processes)
                ]
                watching = [context.Process(target=look, args=(path, start, stop))] * readers
                for process in (*writers, *watching):
                    process.start()
                start.wait()
                began = time.perf_counter()
                outcomes = [results.get() for _ in writers]
                seconds = time.perf_counter() - began
                stop.set()
                for process in (*writers, *watching):
                    process.join()
            times = [each for found, _ in outcomes for each in found]
            lost = sum(count for _, count in outcomes)
            figures.append((times, len(times) / seconds, lost / len(times)))
        (alone, *_), (crowd, speed, lost_share) = figures
        share = "always, until a checkpoint" if journal == "wal" else f"{lost_share:.0%}"
        one = 1000 * statistics.median(alone)
        lines.append(f"| {journal} | {one:.1f} | {speed:.0f} | {max(crowd):.1f} | {share} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="20,000 spends")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/ledger.md")
    parser.add_argument("--ledger", help="an empty database; a temporary SQLite file if not given")
    parser.add_argument("--journals", action="store_true", help="compare SQLite's journals instead")
    parser.add_argument("--spends", type=int, default=3200)
    chosen = parser.parse_args(arguments)
    if chosen.journals:
        print(compare_journals())
        return
    with tempfile.TemporaryDirectory() as folder:
        address = chosen.ledger or str(Path(folder) / "budget.db")
        found = json.dumps(measure(address, 20_000 if chosen.large else chosen.spends), indent=2)
    print(found)
    if chosen.record:
        record("ledger", "A crowd of spenders on one budget", f"```json\n{found}\n```")


if __name__ == "__main__":
    main()
