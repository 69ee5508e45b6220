"""A statement contains everything it depends on, is tried once, and reads rows only when it is run."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow.dataset import dataset

from discreet._tables import Grid, Rows, Table, TextFile, in_duckdb, open_table
from discreet._tables.counts import commonest_values, people_per_candidate, people_per_interval
from discreet.errors import TableError
from tests.tools.engines import Capsule, TableMaker


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    in_duckdb._known.clear()
    yield
    in_duckdb._known.clear()


def _visits(folder: Path, rows: str = "range(300)") -> Path:
    path = folder / "visits.parquet"
    columns = "hash(i) % 40 AS person, hash(i + 1) % 9 AS code, hash(i + 2) % 4 AS clinic"
    duckdb.execute(f"COPY (SELECT {columns} FROM {rows} t(i)) TO '{path}'")  # noqa: S608  # our own
    return path


def test_a_file_that_changes_is_read_as_it_is(tmp_path: Path) -> None:
    def count() -> list[int]:
        table = open_table(tmp_path / "visits.parquet", needed=["person", "code"])
        counts = people_per_candidate(table, Rows(user="person"), column="code", keys=[1, 2])
        return [int(number) for number in counts[0]]

    _visits(tmp_path)
    before = count()
    _visits(tmp_path, "range(20)")
    fewer = count()
    assert sum(fewer) < sum(before)
    values = "(VALUES (1.0, 1, 0), ('nan'::DOUBLE, 1, 0), (1.0, 2, 0)) t(person, code, clinic)"
    duckdb.execute(f"COPY (FROM {values}) TO '{tmp_path}/visits.parquet'")
    assert count() == [1, 1]  # a nullable number gives another statement


def test_what_texts_are_read_as_is_a_part_of_the_question(tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    path.write_text("person,stay\n1,2\n2,3\n3,1970-01-01T00:00:02\n")
    grid = Grid.between((0, 5))
    found = {}
    for read_as in ({}, {"stay": "moment"}):
        table = open_table(TextFile(path, read_as=read_as), needed=["person", "stay"])
        counts = people_per_interval(table, Rows(user="person"), column="stay", grid=grid)
        found[len(read_as)] = int(counts.sum())
    assert found[0] == 2
    assert found[1] <= 1


# ---- trying statements before running them
# -----------------------------------------------------------------------


def _counting(kind: str) -> Callable[[Table], Any]:
    rows = Rows(user="person")
    if kind == "columns":
        return partial(people_per_candidate, rows=rows, column="code", keys=[1, 2])
    return partial(commonest_values, rows=rows, column="code", most=3)


@pytest.mark.skips_engines(csv="a code is a text there", jsonl="a code is a text there")
@pytest.mark.parametrize("kind", ["columns", "rows"])
def test_what_is_tried_gives_nothing_and_changes_nothing(table_in: TableMaker, kind: str) -> None:
    table = open_table(
        table_in({"person": [1, 2, 3], "code": [1, 1, 2]}), needed=["person", "code"]
    )
    count = _counting(kind)
    assert not np.any(count(replace(table, is_trial=True)))
    for _ in range(2):
        found = count(table)
        assert found == [(1, 2), (2, 1)] if kind == "rows" else found.tolist() == [[2, 1]]


def test_a_statement_about_a_file_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(_visits(tmp_path), needed=["person", "code"])
    trial, count = replace(table, is_trial=True), _counting("columns")

    def fails(_engine: Any, _statement: str) -> Any:
        raise duckdb.BinderException("no")

    with monkeypatch.context() as broken:
        broken.setattr(in_duckdb.DuckDB, "_run", fails)
        for _ in range(2):  # a failed trial is not remembered
            with pytest.raises(TableError, match=r"before any row was read.*BinderException: no"):
                count(trial)
    count(trial)
    assert len(in_duckdb._known) == 1
    with monkeypatch.context() as broken:
        broken.setattr(in_duckdb.DuckDB, "_run", fails)
        count(trial)
        with pytest.raises(TableError, match="BinderException"):
            _counting("rows")(trial)


def test_the_oldest_are_forgotten_in_time_and_long_ones_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = replace(open_table(_visits(tmp_path), needed=["person", "code"]), is_trial=True)
    monkeypatch.setattr(in_duckdb, "_MOST_KNOWN", 3)
    for key in range(7):
        people_per_candidate(table, Rows(), column="code", keys=[key])
        assert 1 <= len(in_duckdb._known) <= 3
    in_duckdb._known.clear()
    monkeypatch.setattr(in_duckdb, "_LONGEST_KNOWN", 10)
    people_per_candidate(table, Rows(), column="code", keys=[1])
    assert not in_duckdb._known


def test_names_in_the_connection_of_a_relation_are_its_own() -> None:
    """A long list of keys is joined as a table; its name never collides with a user's table."""
    names = ("discreet_rows_value", "discreet_rows", "discreet_keys", "rows", "keys", "value")
    connection = duckdb.connect()
    for name in names:
        connection.execute(
            f'CREATE TABLE "{name}" AS SELECT i AS value, i AS u FROM range(300) r(i)'  # noqa: S608
        )
    for name in names:
        table = open_table(connection.table(name), needed=[])
        for rows in (Rows(user="u"), Rows(user="u", by="value", groups=tuple(range(70)), key=1)):
            people = people_per_candidate(table, rows, column="value", keys=list(range(100)))
            assert people.sum() == (100 if rows.by is None else 70)


def test_after_an_end_of_its_own_duckdb_is_started_again() -> None:
    in_duckdb.connected()
    in_duckdb._databases[os.getpid()].close()
    assert in_duckdb.connected().sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("kind", ["table", "data set", "stream"])
def test_a_column_that_duckdb_does_not_know_stops_no_question_about_others(kind: str) -> None:
    odd = pa.array(np.array([1, 2, 3], dtype=np.float16))
    held = pa.table({"person": [1, 2, 3], "code": ["a", "b", "a"], "odd": odd})
    data = {"table": held, "data set": dataset(held), "stream": Capsule(held)}[kind]
    table = open_table(data, needed=["person", "code"])
    counts = people_per_candidate(table, Rows(user="person"), column="code", keys=["a", "b"])
    assert counts.tolist() == [[2, 1]]


def test_threads_that_share_a_table_get_their_own_rows() -> None:
    codes = [str(number % 7) for number in range(70)]
    engine = open_table(pa.table({"code": codes}), needed=["code"]).engine.loaded(["code"])

    def counted(code: int) -> int:
        statement = f"SELECT code FROM discreet_rows WHERE code = '{code}'"  # noqa: S608  # our own
        return int(engine.rows(statement)[0][0])

    with ThreadPoolExecutor(4) as pool:
        asked = [number % 7 for number in range(400)]
        assert list(pool.map(counted, asked)) == asked


def test_a_process_removes_its_own_folder_and_not_its_parents() -> None:
    ours = in_duckdb.spill_folder()
    context = multiprocessing.get_context("fork")
    receives, sends = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sends.send(in_duckdb.spill_folder()))
    process.start()
    theirs = receives.recv()
    process.join()
    assert theirs != ours
    assert not Path(theirs).exists()
    assert Path(ours).exists()
