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

from discreet.tables import Grid, Rows, Table, TextFile, open_table, statements
from discreet.tables.counts import (
    Counts,
    people_per_candidate,
    people_per_grid_point,
    people_per_interval,
    people_per_number_of_groups,
    people_with_any,
)
from discreet.tables.where import parse


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
    drawn = Rows(user="person", by="clinic", groups=(0, 1))
    people_per_candidate(table, drawn, column="code", keys=[1])
    grid = Grid.between((0, 5))
    people_per_grid_point(table, Rows(user="person"), column="code", grid=grid, per_person="random")
    monkeypatch.setattr(statements, "_LONGEST", 10)
    people_per_candidate(table, Rows(), column="code", keys=[1])
    assert not statements._kept


def test_the_oldest_are_forgotten_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "_MOST", 3)
    table = open_table(_visits(tmp_path), needed=["person", "code"])
    for key in range(7):
        people_per_candidate(table, Rows(), column="code", keys=[key])
        assert 1 <= len(statements._kept) <= 3


def test_a_statement_that_names_a_view_of_another_is_not_kept() -> None:
    """DuckDB before 2.0 wrote so: the view of that name may be another file's by then."""
    own = (
        "WITH discreet_rows_value AS NOT MATERIALIZED (SELECT 1) SELECT * FROM discreet_rows_value"
    )
    assert statements._defines_its_views(own)
    assert statements._defines_its_views("SELECT 1")
    assert not statements._defines_its_views("SELECT * FROM discreet_rows_value")
    assert not statements._defines_its_views(f"{own} JOIN discreet_rows_group USING (value)")
