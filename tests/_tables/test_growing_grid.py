"""The mean of a person's values on a growing grid, against plain fractions, in every engine."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import defaultdict
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet._tables import Rows, open_table, people_per_grid_point
from discreet._tables.growing_grid import GrowingGrid
from tests.tools.engines import TableMaker

GRIDS = [("1", None), ("1/3", 10**4), ("0.01", 50), ("7", 2**60), ("1", 2**100)]


def _held(grid: GrowingGrid, people: int) -> list[tuple[int, Fraction]]:
    """Return people with one to five values of any magnitude and sign on the grid, in no order."""
    chosen = random.Random(7)  # noqa: S311 - values for a test
    rows = []
    for person in range(people):
        for _ in range(person % 5 + 1):
            near = chosen.choice((5, 3000, len(grid)))
            index = grid.zero + chosen.randrange(-near, near)
            rows.append((person, grid.point(min(max(index, 0), len(grid) - 1))))
    chosen.shuffle(rows)
    return rows


def _expected(grid: GrowingGrid, rows: list[tuple[int, Fraction]]) -> Any:
    held: dict[int, list[Fraction]] = defaultdict(list)
    for person, point in rows:
        held[person].append(point)
    counts = np.zeros(len(grid), dtype=np.int64)
    for theirs in held.values():
        mean = sum(theirs, Fraction(0)) / len(theirs)
        above = bisect_left(range(len(grid) - 1), mean, key=grid.point)
        # Halfway values go to the larger point, as on an even grid.
        counts[min((above, max(above - 1, 0)), key=lambda i: (abs(grid.point(i) - mean), -i))] += 1
    return counts


@cache
def _case(unit: str, largest: object, people: int) -> tuple[GrowingGrid, dict[str, list[Any]], Any]:
    grid = GrowingGrid.of(unit, largest)
    rows = _held(grid, people)
    columns: dict[str, list[Any]] = {
        "u": [u for u, _ in rows],
        "x": [float(point) for _, point in rows],
    }
    return grid, columns, _expected(grid, rows)


@pytest.mark.parametrize(("unit", "largest"), GRIDS)
def test_the_mean_of_a_person(unit: str, largest: object) -> None:
    grid, columns, expected = _case(unit, largest, 600)
    table = open_table(pl.DataFrame(columns), needed=["u", "x"])
    found = people_per_grid_point(table, Rows(user="u"), column="x", grid=grid, per_person="mean")
    assert (found[0] == expected).all()


def test_the_mean_of_a_person_in_every_engine(table_in: TableMaker) -> None:
    grid, columns, expected = _case("1", None, 60)
    table = open_table(table_in(columns), needed=["u", "x"])
    found = people_per_grid_point(table, Rows(user="u"), column="x", grid=grid, per_person="mean")
    assert (found[0] == expected).all()


def test_one_value_is_its_own_mean() -> None:
    grid = GrowingGrid.of("0.1", 2**30)
    values = [float(grid.label(index)) for index in range(len(grid))]
    table = open_table(pl.DataFrame({"u": range(len(grid)), "x": values}), needed=["u", "x"])
    found = people_per_grid_point(table, Rows(user="u"), column="x", grid=grid, per_person="mean")
    assert (found[0] == 1).all()
