"""A desk under load: its overhead on a query, 200 analysts at once, a long run, and being killed.

The slot hides how long a question takes, so the first table times the worker itself. It compares the worker
with the same query in DuckDB and with a plain distinct count without candidates. The ledger's payment is a
part of the worker's time. It waits for the disk several times, so it is timed alone too. The second table
counts replies. A paid question without an answer and an answer without a payment are errors. Some connections
are lost at the start, because the desk accepts only 100 without a token from one address.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import multiprocessing
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.timing import record
from discreet import PureDP
from discreet.desk.owner_file import OwnerFile, read_owner_file
from discreet.desk.serving import DeskServer
from discreet.desk.store import ANSWERED, FAILED
from discreet.desk.workers import Job, Worker
from discreet.ledger import Ledger
from discreet.questions import Mode

ANALYSTS = 200
BATCH = 10
"""The number of kills in one run of the crash test, which has a limit of 15 minutes."""
DROPPED = "connection lost"
QUESTION = {"kind": "mode", "table": "visits", "column": "code", "epsilon": "0.01"}


def folder_with(rows: int, folder: Path, *, slot: str, workers: int) -> OwnerFile:
    """Write a table of invented visits, its budget, and an owner's file with 200 analysts."""
    path = folder / "visits.parquet"
    people = max(rows // 4, 1)
    visits = (
        f"SELECT hash(i) % {people} AS person, hash(i + 1) % 50 AS code FROM range({rows}) t(i)"  # noqa: S608  # numbers
    )
    duckdb.execute(f"COPY ({visits}) TO '{path}'")
    analysts = "".join(
        f'[analyst.a{each}]\ntables = ["visits"]\nepsilon = 100\nleast_per_question = 0.01\n'
        for each in range(ANALYSTS)
    )
    (folder / "desk.toml").write_text(
        f'[ledger]\nplace = "budget.db"\n[desk]\nlisten = "127.0.0.1:0"\nworkers = {workers}\n'
        f'queue = 400\npatience = "10m"\nrequests_per_minute = 100000\n'
        f"failures_allowed = 1000\n[table.visits]\n"
        f'source = "visits.parquet"\nuser = "person"\ndataset = "d"\nslot = {{mode = "{slot}"}}\n'
        f"[table.visits.column.code]\ncandidates = {list(range(50))}\n{analysts}"
    )
    with Ledger.open(folder / "budget.db") as ledger:
        ledger.create("d", PureDP(100 * ANALYSTS + 1000))
    return read_owner_file(folder / "desk.toml")


def overhead(rows: int, turns: int) -> str:
    """Time a worker's question against the same query in DuckDB, and a payment alone, in turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        owner = folder_with(rows, folder, slot="60s", workers=1)
        path = owner.table["visits"].source
        plain = f"SELECT code, count(DISTINCT person) FROM '{path}' GROUP BY code"  # noqa: S608  # our own names
        people = (
            f"SELECT DISTINCT candidate, person FROM '{path}' JOIN candidates ON code = candidate"  # noqa: S608
        )
        same = (
            "WITH candidates AS (SELECT unnest(range(50))::UBIGINT AS candidate) SELECT candidate, count(*) "  # noqa: S608
            f"FROM ({people} WHERE person IS NOT NULL) GROUP BY candidate"
        )
        job = Job(
            ledger=owner.ledger.place,
            till=str(folder / "till"),
            source=path,
            dataset="d",
            question=Mode("code", epsilon="0.01", candidates=list(range(50)), purpose="benchmark"),
            terms={"user": "person"},
        )

        async def take_turns() -> list[list[float]]:
            worker = Worker()
            await worker.ready()
            times: list[list[float]] = [[], [], [], []]
            for _ in range(turns + 1):
                began = time.perf_counter()
                ledger.spend("d", PureDP("0.01"), purpose="benchmark")
                times[3].append(time.perf_counter() - began)
                began = time.perf_counter()
                until = asyncio.get_running_loop().time() + 600
                outcome = await worker.run(job, until=until, paid=lambda _entry: None)
                times[0].append(time.perf_counter() - began)
                assert outcome.answer is not None
                for taken, query in zip(times[1:3], (same, plain), strict=True):
                    began = time.perf_counter()
                    duckdb.execute(query).fetchall()
                    taken.append(time.perf_counter() - began)
            worker.end()
            return [taken[1:] for taken in times]  # the first run of each is a warm-up

        with Ledger.open(owner.ledger.place) as ledger:
            ours, theirs, without, paying = map(statistics.median, asyncio.run(take_turns()))
    return (
        f"| {rows:,} rows | {1000 * theirs:.1f} ms | {1000 * without:.1f} ms | {1000 * ours:.1f} ms | "
        f"{ours / theirs:.2f} × | {1000 * (ours - 1.3 * theirs):+.1f} ms | {1000 * paying:.1f} ms |"
    )


def crowd(seconds: float) -> str:
    """Let two hundred analysts ask one question after another for a while, and count all replies."""
    with tempfile.TemporaryDirectory() as name:
        owner = folder_with(20_000, Path(name), slot="1s", workers=2)
        with DeskServer(owner).in_background() as server:
            host, port = server.owner.desk.address
            tokens = [server.desk.store.new_token(f"a{i}", days=1) for i in range(ANALYSTS)]
            began = time.monotonic()
            context = multiprocessing.get_context(
                "spawn"
            )  # the crowd runs outside the desk's process
            with context.Pool(6) as pool:
                asking = [(host, port, tokens[start::4], seconds) for start in range(4)]
                refused = [(host, port, tokens[start], seconds) for start in range(2)]
                told = pool.starmap_async(_refused, refused)
                replies = sum(pool.starmap(_analysts, asking), Counter[str]())
                turned_away = sum(told.get())
            taken = time.monotonic() - began
            history = Counter(entry.kind for entry in server.desk.ledger.history("d"))
            kept = Counter(
                question.state for question in server.desk.store.asked(most=-1)
            )  # the outcome of each question in the store
            verified = server.desk.ledger.verify("d").holds
    answered, failed, paid = replies["200"], replies["410"], history["spend"]
    adds_up = paid == answered + failed == kept[ANSWERED] + kept[FAILED]
    row = (
        f"| {taken:.0f} s | {answered} | {failed} | {replies[DROPPED]} | {turned_away / seconds:.0f} | "
        f"{adds_up} | {verified} |"
    )
    assert adds_up, f"{row}; paid {paid}, replies {replies}, kept {kept}"
    assert verified
    return row


def _analysts(host: str, port: int, tokens: Sequence[str], seconds: float) -> Counter[str]:
    """Let some of the analysts ask one question after another, and count the replies.

    An analyst who loses the connection asks again with the same key, as a careful client does: the question
    is paid for once, and its answer is counted once.
    """
    replies: Counter[str] = Counter()
    end = time.monotonic() + seconds

    def analyst(token: str) -> None:
        line = http.client.HTTPConnection(host, port, timeout=900)
        while time.monotonic() < end:
            key = secrets.token_hex(8)
            status = 0
            while status in (0, 409, 429):  # no reply, or the question is still running
                try:
                    status = _status(line, token, QUESTION, key=key)
                except (ConnectionError, http.client.HTTPException):
                    replies[DROPPED] += 1
                    line.close()
                if status in (0, 409, 429):
                    time.sleep(0.2)
            replies[str(status)] += 1
        line.close()

    threads = [threading.Thread(target=analyst, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def _refused(host: str, port: int, token: str, seconds: float) -> int:
    """Ask questions that cost too much, about 100 a second; return how many were refused."""
    line = http.client.HTTPConnection(host, port, timeout=900)
    began, sent = time.monotonic(), 0
    while time.monotonic() < began + seconds:
        try:
            assert _status(line, token, {**QUESTION, "epsilon": 1000}) == 400
            sent += 1
        except (ConnectionError, http.client.HTTPException):  # another connection took its place
            line.close()
        time.sleep(max(0.0, began + sent / 100 - time.monotonic()))
    line.close()
    return sent


def _status(
    line: http.client.HTTPConnection,
    token: str,
    question: dict[str, Any],
    *,
    key: str | None = None,
) -> int:
    headers = {"authorization": f"Bearer {token}"}
    if key is not None:
        headers["idempotency-key"] = key
    line.request("POST", "/api/ask", json.dumps(question), headers)
    reply = line.getresponse()
    reply.read()
    return reply.status


def killed(times: int, *, seconds: float) -> str:
    """Repeat the suite's crash test, ten kills at a time, until enough kills are made or time runs out."""
    chosen = ["tests/desk/test_admission.py", "-k", "killed_at_any_point"]
    environment = {**os.environ, "DISCREET_KILLS": str(BATCH)}
    end, done = time.monotonic() + seconds, 0
    while done < times and time.monotonic() < end:
        subprocess.run(  # noqa: S603  # our own test
            [sys.executable, "-m", "pytest", "-q", *chosen], env=environment, check=True
        )
        done += BATCH
    return f"Killed {done} times while questions were under way: nothing lost."


def main(arguments: Sequence[str] = ()) -> None:
    large = "--large" in arguments
    lines = [
        "| table | DuckDB's query | without its candidates | the desk's worker | ratio | beyond 1.3 × "
        "| of it the payment |",
        "|---|---|---|---|---|---|---|",
        overhead(100_000, 41),
        *(overhead(rows, 9) for rows in (1_000_000, 5_000_000) if large),
        "",
        f"{ANALYSTS} analysts asked at once; the desk had two workers and slots of a second:",
        "",
        "| for | answered | failed | connections lost | refused a second | paid = answered + failed = kept "
        "| ledger verified |",
        "|---|---|---|---|---|---|---|",
        crowd(600 if large else 20),
        "",
        killed(200 if large else BATCH, seconds=1800),
    ]
    table = "\n".join(lines)
    print(table)
    if "--record" in arguments:
        record("desk", "A desk under load", table)


if __name__ == "__main__":
    main(sys.argv[1:])
