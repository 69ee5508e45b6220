"""In every engine the charge is committed before the first row is read, shown by running questions.

The rows are unreadable, or different, until the ledger's commit puts the right ones in place. Statements that
an engine cannot run are found before that, so nothing is spent on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

from discreet._tables import Table
from discreet.errors import DiscreetError, TableError
from discreet.questions import first_above, median, mode, quantiles, top_k
from tests.tools.engines import DATABASES, TableMaker, made

ROWS = 60
OPTIONS: dict[str, Any] = {"column": "c", "candidates": ["a", "b"], "epsilon": 50, "user": "u"}


class ExhaustedError(DiscreetError):
    """The budget is used up."""


@dataclass
class Committing:
    """A ledger that runs an action when it commits, and records that it did."""

    commit: Callable[[], Any]
    trace: list[str] = field(default_factory=list)

    def spend(self, dataset: str, event: Any, *, purpose: str) -> str:
        self.trace.append("commit")
        self.commit()
        return "entry"

    def fail(self, entry: Any) -> None:
        self.trace.append("failed")


def _exhausted() -> None:
    raise ExhaustedError("nothing is left")


def _parquet(folder: Path) -> tuple[Path, bytes, bytes]:
    """Return a file, its bytes, and bytes with the same footer but only zeros for rows."""
    file = folder / "t.parquet"
    frame = pl.DataFrame({"c": ["b"] * ROWS, "u": range(ROWS), "n": [7] * ROWS})
    frame.write_parquet(file, compression="uncompressed")
    whole = file.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    return file, whole, whole[:4] + bytes(footer - 4) + whole[footer:]


def _csv(folder: Path) -> tuple[Path, bytes, bytes]:
    rows = [b"%s,%d,7\n" % (b"b", person) for person in range(ROWS)]
    whole = b"c,u,n\n" + b"".join(rows)
    return folder / "t.csv", whole, whole.replace(b"b,", b"a,").replace(b",7", b",1")


QUESTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any], Any]] = {
    "mode": (mode, {"column": "c", "candidates": ["a", "b"]}, "b"),
    "unknown domain": (mode, {"column": "c", "delta": 1e-6}, "b"),
    "top_k": (top_k, {"column": "c", "candidates": ["a", "b"], "k": 1}, ("b",)),
    "median": (median, {"column": "n", "bounds": "0:9"}, 7),
    "first_above": (first_above, {"column": "c", "groups": ["a", "b"], "above": 30}, "b"),
    "quantiles": (quantiles, {"column": "n", "bounds": "0:9", "at": [0.2, 0.8]}, (7, 7)),
}


@pytest.mark.leaves_out(
    lambda given: given["engine"] == "spark" and given["question"] not in ("mode", "median"),
    "two questions show it, and Spark is slow",
)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("make", [_parquet, _csv])
def test_files(tmp_path: Path, engine: str | None, make: Any, question: str) -> None:
    ask, options, expected = QUESTIONS[question]
    file, whole, damaged = make(tmp_path)
    file.write_bytes(damaged)
    options = {**options, "epsilon": 400, "user": "u", "dataset": "d", "engine": engine}
    with pytest.raises(ExhaustedError):
        ask(file, ledger=Committing(_exhausted), **options)
    ledger = Committing(lambda: file.write_bytes(whole))
    assert ask(file, ledger=ledger, **options).answer == expected
    assert ledger.trace == ["commit"]


def test_lazy_frames_and_relations() -> None:
    trace: list[str] = []

    def seen(values: Any) -> Any:
        trace.append("rows")
        return values

    connection = duckdb.connect()
    connection.create_function("seen", seen, ["VARCHAR"], "VARCHAR", side_effects=True)
    connection.execute("CREATE TABLE t AS SELECT 'b' AS c, i AS u FROM range(60) r(i)")
    lazy = pl.LazyFrame({"c": ["b"] * ROWS, "u": range(ROWS)})
    tables = [
        connection.sql("SELECT seen(c) AS c, u FROM t"),
        lazy.with_columns(pl.col("c").map_batches(seen, return_dtype=pl.String)),
    ]
    for table in tables:
        ledger = Committing(lambda: None, trace)
        trace.clear()
        assert mode(table, ledger=ledger, dataset="d", **OPTIONS).answer == "b"
        assert trace[0] == "commit"
        assert "rows" in trace


def test_frames_in_memory() -> None:
    pandas = pd.DataFrame({"c": ["a"] * ROWS, "u": range(ROWS)})
    polars = pl.from_pandas(pandas)
    put_right: list[tuple[Any, Callable[[], Any]]] = [
        (pandas, lambda: pandas.__setitem__("c", ["b"] * ROWS)),
        (polars, lambda: polars.replace_column(0, pl.Series("c", ["b"] * ROWS))),
    ]
    for frame, commit in put_right:
        assert mode(frame, ledger=Committing(commit), dataset="d", **OPTIONS).answer == "b"


def test_a_spark_frame(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as f

    marker = tmp_path / "rows were read"
    rows = spark.createDataFrame([("b", person) for person in range(ROWS)], "c string, u long")
    seen = f.udf(lambda value: marker.write_text("read") and value, "string")
    frame = rows.withColumn("c", seen("c"))
    read_before: list[bool] = []
    ledger = Committing(lambda: read_before.append(marker.exists()))
    assert mode(frame, ledger=ledger, dataset="d", **OPTIONS).answer == "b"
    assert read_before == [False]
    assert marker.exists()


# ---- a statement that cannot run costs nothing
# --------------------------------------------------------------

COLUMNS: dict[str, list[Any]] = {
    "c": ["b"] * ROWS,
    "u": list(range(ROWS)),
    "n": [7] * ROWS,
    "g": ["x", "y"] * (ROWS // 2),
}
IN_GROUPS: dict[str, dict[str, Any]] = {
    "listed": {"by": "g", "groups": ["x", "y"]},
    "chosen": {"by": "g", "groups": ["x", "y"], "groups_per_person": "choose"},
    "found": {"by": "g", "delta": "1e-6"},
}


def _nothing_is_spent(ask: Callable[..., Any], table: Any, words: str, **options: Any) -> None:
    ledger = Committing(lambda: None)
    with pytest.raises(TableError, match=words) as caught:
        ask(table, ledger=ledger, dataset="d", epsilon=400, user="u", **options)
    assert "before any row was read or anything was spent" in str(caught.value)
    assert not ledger.trace


def test_a_step_that_does_not_fit_is_found_before_the_spend(
    table_in: TableMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The defect is planted in the preparation of the person column, which every question uses."""
    table = table_in(COLUMNS)
    in_database = type(table).__module__.startswith("ibis")

    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError("planted")

    monkeypatch.setattr(Table, "identity", fails)
    slow = type(table).__module__.startswith("pyspark")
    for ask, options, _ in list(QUESTIONS.values())[: 1 if slow else None]:
        _nothing_is_spent(ask, table, "planted", **options)
    for name, groups in IN_GROUPS.items():
        if not (in_database and name == "found"):
            _nothing_is_spent(mode, table, "planted", column="c", candidates=["b"], **groups)


@pytest.mark.parametrize("groups", ["chosen", "found"])
def test_the_question_that_follows_is_tried_before_the_spend(
    groups: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups or a bound are found first, and one payment covers both steps."""

    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError("planted")

    monkeypatch.setattr("discreet.questions.candidates.people_per_candidate", fails)
    table = pl.DataFrame(COLUMNS)
    _nothing_is_spent(mode, table, "planted", column="c", candidates=["b"], **IN_GROUPS[groups])


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", ["duckdb", *DATABASES])
def test_a_statement_that_cannot_run_is_found_before_the_spend(
    kind: str, question: str, request: pytest.FixtureRequest
) -> None:
    """The steps are valid, but the statement does not run because the table is gone."""
    ask, options, _ = QUESTIONS[question]
    if kind == "duckdb":
        connection: Any = duckdb.connect()
        connection.execute("CREATE TABLE held AS SELECT 'b' AS c, 1 AS u, 7 AS n")
        table, drop = connection.table("held"), connection.execute
    else:
        server = request.getfixturevalue("postgres_database") if kind == "ibis_postgres" else None
        table = made(kind, COLUMNS, Path(), None, server)
        drop = table._find_backend().con.execute
    name = "held" if kind == "duckdb" else table.get_name()
    drop(f"DROP TABLE {name}")
    _nothing_is_spent(ask, table, name, **options)
