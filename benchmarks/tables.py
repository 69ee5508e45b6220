"""Questions about tables: time against DuckDB's own query, memory, and (``--large``) a local Spark.

Sizes are small by default; ``--large`` runs 50 million rows (5 million in PostgreSQL), 10 million rows on a
million grid points, and on Spark 100 million candidates and 100 million rows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.many_groups import Times, in_duckdb, in_postgres, least
from benchmarks.timing import record
from discreet.questions import mode, quantiles, top_k

CANDIDATES = 1000
PEOPLE = 200_000
# Not ru_maxrss: a child inherits the peak of the process that started it.
_PEAK = (
    "\nhigh = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))"
    "\nprint(int(high.split()[1]) // 1024)"
)


def _visits(folder: Path, rows: int, *, few_codes_each: bool = False) -> Path:
    """Write a Parquet file of visits with skewed codes; the number of people does not depend on the rows.

    A person may have any of the codes or, with ``few_codes_each``, at most eight, as in real life.
    """
    path = folder / f"visits{rows}{few_codes_each}.parquet"
    if not path.exists():
        seed = "hash(i) % 200000 * 16 + i % 8" if few_codes_each else "i + 7"
        duckdb.sql(
            f"COPY (SELECT hash(i) % {PEOPLE} AS person, 'code ' || CAST(floor({CANDIDATES} * "  # noqa: S608
            f"power((hash({seed}) % 1000003) / 1000003.0, 3)) AS INTEGER) AS code FROM range({rows}) t(i)) "
            f"TO '{path}' (FORMAT parquet)"
        )
    return path


def _candidates(folder: Path) -> Path:
    path = folder / "codes.txt"
    path.write_text("".join(f"code {i}\n" for i in range(CANDIDATES)))
    return path


def _mode_against_group_by(folder: Path, rows: int) -> list[str]:
    path, listed = _visits(folder, rows), _candidates(folder)
    plain = f"SELECT code, count(DISTINCT person) FROM '{path}' GROUP BY code"  # noqa: S608 - our own path
    ask = {"column": "code", "candidates": str(listed), "epsilon": 1}
    spent = least(
        {
            "group by": lambda: duckdb.execute(plain).fetchall(),
            "mode": lambda: mode(str(path), user="person", **ask),  # type: ignore[arg-type]  # options
            "group by, rows": lambda: duckdb.execute(
                plain.replace("DISTINCT person", "*")
            ).fetchall(),
            "mode, rows": lambda: mode(str(path), one_row_per_user=True, **ask),  # type: ignore[arg-type]  # as above
        }
    )
    command = _command_time(path, listed)
    start = min(_command_time(_visits(folder, 1000), listed) for _ in range(7))
    people = f"`mode` of people, {rows:,} rows, {CANDIDATES} candidates"
    return [
        _line(people, spent["mode"], "`GROUP BY` with distinct count", spent["group by"]),
        _line(
            f"`mode` of rows, {rows:,} rows",
            spent["mode, rows"],
            "`GROUP BY`",
            spent["group by, rows"],
        ),
        f"| the command `discreet mode`, {rows:,} rows | {command[0]:.2f} s ({command[1]:.2f} s) | | |",
        f"| the same on 1,000 rows: start-up | {start[0]:.2f} s ({start[1]:.2f} s) | | |",
    ]


def _line(what: str, ours: Times, other: str, theirs: Times) -> str:
    """Return a line with a ratio of processor times: other work on the machine distorts wall-clock times."""
    shown = [f"{clock:.2f} s ({processors:.2f} s)" for clock, processors in (ours, theirs)]
    return f"| {what} | {shown[0]} | DuckDB {other}: {shown[1]} | {ours[1] / theirs[1]:.2f} × |"


def _command_time(path: Path, listed: Path) -> Times:
    told = f"mode {path} --no-ledger --column code --user person --candidates {listed} --epsilon 1".split()
    program = [sys.executable, "-c", "from discreet._cli import main; main()", *told]
    clock, before = time.perf_counter(), os.times()
    subprocess.run(program, check=True, capture_output=True)  # noqa: S603 - our own command
    after = os.times()
    processors = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return time.perf_counter() - clock, processors


_SORTED = {
    "numbers": (
        "500000 + 100000 * sqrt(-2 * ln((hash(i) % 1000003 + 1) / 1000004.0)) * "
        "cos(2 * pi() * (hash(i + 5) % 1000033) / 1000033.0)",
        {"bounds": "0:1000000"},
        "1,000,001 grid points",
    ),
    "times": (
        "TIMESTAMP '2023-01-01' + to_seconds(CAST(hash(i) % 31536000 AS INTEGER))",
        {"bounds": "2023-01-01:2024-01-01", "step": "1min"},
        "525,601 grid points",
    ),
}


def _quantiles_against_sort(rows: int) -> list[str]:
    lines = []
    for kind, (column, grid, points) in _SORTED.items():
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE given AS SELECT {column} AS held FROM range({rows}) t(i)")  # noqa: S608
        relation = connection.sql("SELECT held FROM given")
        ask: dict[str, Any] = {
            "at": [0.1, 0.5, 0.9],
            "epsilon": 1,
            "one_row_per_user": True,
            **grid,
        }
        spent = least(
            {
                "sort": partial(
                    connection.execute,
                    "CREATE OR REPLACE TABLE sorted AS SELECT * FROM given ORDER BY held",
                ),
                "quantiles": partial(quantiles, relation, "held", **ask),
            }
        )
        what = f"three `quantiles` of {kind}, {rows:,} rows, {points}"
        lines.append(_line(what, spent["quantiles"], "sort of the column", spent["sort"]))
    return lines


def _frames(rows: int) -> list[str]:
    """Time frames that DuckDB counts against the same count in the frame's own library."""
    import pandas as pd
    import polars as pl

    draw = np.random.default_rng(3)
    people = draw.integers(0, PEOPLE, rows)
    names = np.array([f"code {i}" for i in range(CANDIDATES)], dtype=object)
    codes = names[(CANDIDATES * draw.random(rows) ** 3).astype(int)]
    texts = pd.DataFrame({"person": people, "code": pd.Series(codes, dtype="str")})
    polars = pl.DataFrame({"person": people, "code": codes.tolist()})
    ask: dict[str, Any] = {"candidates": names.tolist(), "user": "person", "epsilon": 1}

    def by_pandas(frame: Any) -> object:
        return frame.drop_duplicates(["code", "person"]).groupby("code").size()

    competitors: dict[str, tuple[Any, Callable[[], object]]] = {
        "pandas, texts as objects": (
            held := texts.astype({"code": object}),
            partial(by_pandas, held),
        ),
        "pandas": (texts, partial(by_pandas, texts)),
        "Polars": (
            polars,
            lambda: polars.group_by("code", "person").len().group_by("code").len(),
        ),
    }
    lines = []
    for name, (frame, own) in competitors.items():
        spent = least({"ours": partial(mode, frame, "code", **ask), "own": own})
        shown = [f"{clock:.2f} s ({cpu:.2f} s)" for clock, cpu in spent.values()]
        ratio = spent["ours"][1] / spent["own"][1]
        lines.append(
            f"| `mode` of people, {rows:,} rows of {name} | {shown[0]} | its own distinct count: {shown[1]} "
            f"| {ratio:.2f} × |"
        )
    return lines


def _memory(folder: Path, sizes: Sequence[int]) -> list[str]:
    lines = []
    for rows in sizes:
        path = _visits(folder, rows, few_codes_each=True)
        work = (
            "from discreet.questions import mode\n"
            f"mode({str(path)!r}, column='code', candidates={str(_candidates(folder))!r}, epsilon=1, "
            "user='person')"
        )
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", work + _PEAK],
            check=True,
            capture_output=True,
            text=True,
        )
        lines.append(
            f"| peak memory of `mode`, {rows:,} rows, {PEOPLE:,} people | {int(done.stdout)} MB | | |"
        )
    return lines


def _spark() -> Any:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "16",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _candidates_in_spark(folder: Path, candidates: int) -> list[str]:
    spark = _spark()
    try:
        visits = spark.read.parquet(str(_visits(folder, 1_000_000)))
        many = spark.range(candidates).selectExpr("concat('code ', id) AS code")
        terms: dict[str, Any] = {
            "column": "code",
            "candidates": many,
            "epsilon": 1,
            "user": "person",
        }
        lines = []
        questions: dict[str, tuple[Any, dict[str, Any]]] = {
            "`mode`": (mode, terms),
            "`top_k`, k = 10": (top_k, terms | {"k": 10}),
        }
        for what, (question, asked) in questions.items():
            start = time.perf_counter()
            question(visits, **asked)
            seconds = time.perf_counter() - start
            lines.append(
                f"| Spark (local, 2 cores): {what}, {candidates:,} candidates in the cluster "
                f"| {seconds:.0f} s | | |"
            )
    finally:
        spark.stop()
    return lines


def _rows_in_spark(folder: Path, rows: int) -> list[str]:
    spark = _spark()
    try:
        visits = spark.read.parquet(str(_visits(folder, rows, few_codes_each=True)))
        start = time.perf_counter()
        mode(visits, column="code", candidates=str(_candidates(folder)), epsilon=1, user="person")
        seconds = time.perf_counter() - start
    finally:
        spark.stop()
    return [f"| Spark (local, 2 cores): `mode` of people, {rows:,} rows | {seconds:.0f} s | | |"]


PARTS = ("mode", "frames", "groups", "postgres", "quantiles", "memory", "candidates", "rows")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", choices=PARTS, action="append")
    chosen = parser.parse_args(arguments)
    parts = chosen.only or PARTS
    lines = [
        "Times are by the clock, with the time of all processors in brackets; the ratio is of the latter. "
        "`mode` of rows counts rows when each person has one, against a bare count: the difference is the "
        "comparison with the public candidates. Memory follows the number of distinct (candidate, person) "
        "pairs, not of rows (for very many groups and candidates, of all values and people); what does not "
        "fit, DuckDB spills to disk. `mode` by groups returns a frame of answers, its peer only the counts. "
        "If people count in all their groups, the peer is `SELECT clinic, code, count(DISTINCT person) ... "
        "GROUP BY clinic, code`; with one group each, it first keeps a person's rows in the group with the "
        "smallest hash "
        "(benchmarks/many_groups.py has both queries). In PostgreSQL the ratio is of the clock. In the "
        "cluster every candidate gets one keyed noise, in one pass.\n",
        "| what | discreet | against | ratio |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "mode" in parts:
            lines += _mode_against_group_by(folder, 50_000_000 if chosen.large else 2_000_000)
        if "frames" in parts:
            lines += _frames(3_000_000 if chosen.large else 300_000)
        if "groups" in parts:
            lines += in_duckdb(folder, 50_000_000 if chosen.large else 2_000_000)
        if "postgres" in parts:
            lines += in_postgres(5_000_000 if chosen.large else 500_000)
        if "quantiles" in parts:
            lines += _quantiles_against_sort(10_000_000 if chosen.large else 1_000_000)
        if "memory" in parts:
            lines += _memory(
                folder, (10_000_000, 50_000_000) if chosen.large else (500_000, 2_000_000)
            )
        if "candidates" in parts and chosen.large:
            for candidates in (1_000_000, 10_000_000, 100_000_000):
                lines += _candidates_in_spark(folder, candidates)
        if "rows" in parts and chosen.large:
            lines += _rows_in_spark(folder, 100_000_000)
    table = "\n".join(lines)
    print(table)
    if chosen.record:
        record("tables", "Asking tables", table)


if __name__ == "__main__":
    main()
