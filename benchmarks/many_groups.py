"""An answer for each of many groups, against the engine's own query with the same distinct count.

There are two questions. *Nobody is drawn*: each person counts in all of their groups, and the peer is one
``GROUP BY`` with a distinct count. *One group each*, the default: each person counts in one of their groups,
drawn by a keyed hash, and the peer draws the same way. The peer's counts are discarded; ours become a frame
of answers.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from discreet.questions import mode

GROUPS = 100_000
CANDIDATES = 50

Times = tuple[float, float]
"""Seconds of wall-clock time, and seconds of processor time over all processors."""

ALL = "SELECT clinic, code, count(DISTINCT person) FROM {table} GROUP BY clinic, code"
DRAWN_IN_DUCKDB = (
    "SELECT clinic, code, count(DISTINCT person) FROM (SELECT * FROM {table} QUALIFY "
    "hash(hash('key', person, clinic)) = min(hash(hash('key', person, clinic))) OVER (PARTITION BY person)) "
    "GROUP BY clinic, code"
)
DRAWN_IN_POSTGRES = (
    "SELECT clinic, code, count(DISTINCT person) FROM {table} JOIN (SELECT DISTINCT ON (person) person, "
    "clinic FROM {table} ORDER BY person, md5('key' || clinic || ':' || person)) AS drawn "
    "USING (person, clinic) GROUP BY clinic, code"
)


def least(competitors: Mapping[str, Callable[[], object]], *, runs: int = 3) -> dict[str, Times]:
    """Return the least times of each competitor; they take turns, so a slow moment affects all of them."""
    seen: dict[str, list[Times]] = {name: [] for name in competitors}
    for _ in range(runs):
        for name, work in competitors.items():
            clock, processors = time.perf_counter(), time.process_time()
            work()
            seen[name].append((time.perf_counter() - clock, time.process_time() - processors))
    return {
        name: (min(c for c, _ in times), min(p for _, p in times)) for name, times in seen.items()
    }


def _asked(most: int, **where: Any) -> Callable[[], object]:
    """Return a call that asks and makes the frame of answers; a person counts in at most ``most`` groups."""
    terms: dict[str, Any] = {
        "candidates": range(CANDIDATES),
        "user": "person",
        "by": "clinic",
        "groups": range(GROUPS),
        "groups_per_person": most,
        "epsilon": most,
    }
    return lambda: mode(column="code", **where, **terms).frame()


def in_duckdb(folder: Path, rows: int) -> list[str]:
    """Time the questions on a Parquet file with five rows per person and all values equally likely."""
    path = folder / "groups.parquet"
    duckdb.execute("SET enable_progress_bar = false")
    duckdb.sql(
        f"COPY (SELECT (hash(range) % {rows // 5})::BIGINT AS person, "  # noqa: S608 - our own numbers
        f"(hash(range + 1) % {GROUPS})::BIGINT AS clinic, (hash(range + 2) % {CANDIDATES})::BIGINT AS code "
        f"FROM range({rows})) TO '{path}' (FORMAT parquet)"
    )
    lines = []
    for what, most, query in (
        ("nobody is drawn", GROUPS, ALL),
        ("one group each", 1, DRAWN_IN_DUCKDB),
    ):
        peer = query.format(table=f"'{path}'")
        spent = least(
            {
                "peer": lambda peer=peer: duckdb.execute(peer).fetchnumpy(),  # type: ignore[misc]  # its own
                "mode": _asked(most, data=str(path)),
            }
        )
        (ours, ours_all), (theirs, theirs_all) = spent["mode"], spent["peer"]
        lines.append(
            f"| `mode` by group, {what}, {GROUPS:,} groups, {CANDIDATES} candidates, {rows:,} rows "
            f"| {ours:.2f} s ({ours_all:.2f} s) | DuckDB: {theirs:.2f} s ({theirs_all:.2f} s) "
            f"| {ours_all / theirs_all:.2f} × |"
        )
    path.unlink()
    return lines


def in_postgres(rows: int) -> list[str]:
    """Time the same table in our own PostgreSQL with default settings; the peer is psql, output discarded."""
    from tests.tools.postgresql import running_server

    with running_server() as address:
        host = address.rpartition("=")[2]
        psql = ["psql", "-q", "-A", "-t", "-h", host, "-U", "discreet", "postgres", "-c"]

        def told(query: str) -> None:
            subprocess.run([*psql, query], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own

        told(
            f"CREATE TABLE visits AS SELECT (hashint8extended(i, 1) & {2**63 - 1}) % {rows // 5} AS person, "  # noqa: S608
            f"(hashint8extended(i, 2) & {2**63 - 1}) % {GROUPS} AS clinic, "
            f"(hashint8extended(i, 3) & {2**63 - 1}) % {CANDIDATES} AS code "
            f"FROM generate_series(1, {rows}) t(i)"
        )
        told("VACUUM ANALYZE visits")
        lines = []
        for what, most, query in (
            ("nobody is drawn", GROUPS, ALL),
            ("one group each", 1, DRAWN_IN_POSTGRES),
        ):
            peer = query.format(table="visits")
            spent = least(
                {
                    "peer": lambda peer=peer: told(peer),  # type: ignore[misc]  # its own
                    "mode": _asked(most, data=address, table="visits"),
                }
            )
            ours, theirs = spent["mode"][0], spent["peer"][0]
            lines.append(
                f"| in PostgreSQL, {what}, {rows:,} rows | {ours:.2f} s | psql: {theirs:.2f} s "
                f"| {ours / theirs:.2f} × |"
            )
    return lines
