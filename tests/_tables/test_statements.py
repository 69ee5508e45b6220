"""A statement that is kept counts what its steps would count, whatever was asked before."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from discreet._exact.sampling import SecureBits
from discreet._tables import Grid, Rows, Table, TextFile, open_table, statements
from discreet._tables.counts import (
    Counts,
    commonest_values,
    people_per_candidate,
    people_per_grid_point,
    people_per_interval,
    people_per_number_of_groups,
    people_with_any,
)
from discreet._tables.statements import for_trial
from discreet._tables.where import parse
from discreet.errors import TableError
from tests.tools.engines import TableMaker


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    statements._kept.clear()
    yield
    statements._kept.clear()


def _visits(folder: Path, rows: str = "range(300)") -> Path:
    path = folder / "visits.parquet"
    columns = "hash(i) % 40 AS person, hash(i + 1) % 9 AS code, hash(i + 2) % 4 AS clinic"
    duckdb.execute(f"COPY (SELECT {columns} FROM {rows} t(i)) TO '{path}'")  # noqa: S608  # our own
    return path


_ROWS = [
    Rows(),
    Rows(user="person"),
    Rows(user="person", where=parse("clinic = 1")),
    Rows(user="person", where=parse("clinic = 2")),
    Rows(user="person", by="clinic", groups=(0, 1), groups_per_person=2),
    Rows(user="person", by="clinic", groups=(0, 1, 2), groups_per_person=3),
    Rows(by="clinic", groups=(2, 1, 0)),
    Rows(counted="clinic"),
]
_GRIDS = [Grid.between((0, 5)), Grid.between((0, 6)), Grid.between((0, 6), step=2)]
_KEYS: list[list[Any]] = [
    [1, 2, 3],
    [3, 2, 1],
    [1.0, 2.0, 3.0],
    [Decimal(1), Decimal(2)],
    list(range(100)),
]


def _questions() -> list[Callable[[Table], Counts]]:
    """Questions of which many differ from another in one term only."""
    asked: list[Callable[[Table], Counts]] = []
    for rows, column in product(_ROWS, ("code", "person")):
        alike: dict[str, Any] = {"rows": rows, "column": column}
        for keys in _KEYS:
            asked.append(partial(people_with_any, **alike, keys=keys))
            asked += [
                partial(people_per_candidate, **alike, keys=keys, other=other)
                for other in (False, True)
            ]
        for grid in _GRIDS:
            asked.append(partial(people_per_interval, **alike, grid=grid))
            asked.append(partial(people_with_any, **alike, grid=grid))
            asked += [
                partial(people_per_grid_point, **alike, grid=grid, per_person=rule, outside=outside)
                for rule, outside in product(("least", "largest"), ("drop", "clamp"))
            ]
        if rows.user is not None and rows.by is not None:
            asked.append(partial(people_per_number_of_groups, rows=rows))
    return asked


def test_whatever_was_asked_before(tmp_path: Path) -> None:
    table = open_table(_visits(tmp_path), needed=["person", "code", "clinic"])
    asked = random.Random(22).sample(_questions(), 60)  # noqa: S311
    for question in [*asked, *asked]:
        np.testing.assert_array_equal(question(table), question(replace(table, execute=None)))
    assert len(statements._kept) > 50


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
    assert len(statements._kept) == 1
    values = "(VALUES (1.0, 1, 0), ('nan'::DOUBLE, 1, 0), (1.0, 2, 0)) t(person, code, clinic)"
    duckdb.execute(f"COPY (FROM {values}) TO '{tmp_path}/visits.parquet'")
    assert count() == [1, 1]  # a number that may be none makes another statement


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


def test_drawn_and_long_statements_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(_visits(tmp_path), needed=["person", "code", "clinic"])
    drawn = Rows(user="person", by="clinic", groups=(0, 1), key=7)
    people_per_candidate(table, drawn, column="code", keys=[1])
    grid = Grid.between((0, 5))
    alone = Rows(user="person", key=7)
    people_per_grid_point(table, alone, column="code", grid=grid, per_person="random")
    monkeypatch.setattr(statements, "_LONGEST", 10)
    people_per_candidate(table, Rows(), column="code", keys=[1])
    assert not statements._kept


def test_the_oldest_are_forgotten_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "_MOST", 3)
    table = open_table(_visits(tmp_path), needed=["person", "code"])
    for key in range(7):
        people_per_candidate(table, Rows(), column="code", keys=[key])
        assert 1 <= len(statements._kept) <= 3


# ---- tried before they are run -----------------------------------------------------------------------


def _counting(kind: str) -> Callable[[Table], Any]:
    rows = Rows(user="person")
    if kind == "columns":
        return partial(people_per_candidate, rows=rows, column="code", keys=[1, 2])
    return partial(commonest_values, rows=rows, column="code", most=3)


@pytest.mark.skips_engines(csv="a code is a text there", jsonl="a code is a text there")
@pytest.mark.parametrize("kind", ["columns", "rows"])
def test_what_was_tried_is_run_and_bound_only_once(
    table_in: TableMaker, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = open_table(
        table_in({"person": [1, 2, 3], "code": [1, 1, 2]}), needed=["person", "code"]
    )
    count, made = _counting(kind), []
    plain = statements._made

    def counting(*asked: Any) -> statements.Statement:
        made.append(1)
        return plain(*asked)

    monkeypatch.setattr(statements, "_made", counting)
    tried = count(for_trial(table))
    assert not np.any(tried)
    found = count(table)
    assert found == [(1, 2), (2, 1)] if kind == "rows" else found.tolist() == [[2, 1]]
    lazy = table.engine in ("duckdb", "pyspark", "ibis")
    assert len(made) == (1 if lazy else 2)
    count(table)  # what was tried is run once
    assert len(made) == (2 if lazy else 3)


def test_another_question_than_the_one_tried_is_built_for_itself() -> None:
    relation = duckdb.connect().sql("SELECT 1 AS person, 2 AS code")
    table = open_table(relation, needed=[])
    rows = Rows(user="person")
    people_per_candidate(for_trial(table), rows, column="code", keys=[1])
    assert people_per_candidate(table, rows, column="code", keys=[2]).tolist() == [[1]]


def test_a_statement_that_failed_is_not_kept(
    tmp_path: Path,
) -> None:
    table = open_table(_visits(tmp_path), needed=["person", "code"])
    count = _counting("columns")

    def fails(statement: str) -> Any:
        raise duckdb.BinderException("no")

    for _ in range(2):
        with pytest.raises(TableError, match=r"before any row was read.*BinderException: no"):
            count(for_trial(replace(table, execute=fails)))
    assert not statements._kept
    count(for_trial(table))
    assert len(statements._kept) == 1
    # Once it was tried it is known to be right.
    count(for_trial(replace(table, execute=fails)))


def test_names_in_the_connection_of_a_relation_are_its_own() -> None:
    """A list of many keys is joined: whatever the user's tables are called, it is not taken for one."""
    names = ("discreet_rows_value", "discreet_rows", "discreet_keys", "rows", "keys", "value")
    connection = duckdb.connect()
    for name in names:
        connection.execute(
            f'CREATE TABLE "{name}" AS SELECT i AS value, i AS u FROM range(300) r(i)'  # noqa: S608
        )
    for name in names:
        table = open_table(connection.table(name), needed=[])
        for rows in (Rows(user="u"), Rows(user="u", by="value", groups=tuple(range(70)))):
            keyed = rows.keyed(SecureBits())
            people = people_per_candidate(table, keyed, column="value", keys=list(range(100)))
            assert people.sum() == (100 if rows.by is None else 70)
