"""The mean of a person's values on a growing grid, against plain fractions, in every engine."""

from __future__ import annotations

import random
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


def _columns(grid: GrowingGrid, people: int) -> dict[str, list[Any]]:
    """People with one to five values of any magnitude on the grid and both signs, in no order."""
    chosen = random.Random(7)  # noqa: S311 - values for a test
    rows = []
    for person in range(people):
        for _ in range(person % 5 + 1):
            near = chosen.choice((5, 3000, len(grid)))
            index = grid.zero + chosen.randrange(-near, near)
            rows.append((person, grid.label(min(max(index, 0), len(grid) - 1))))
    chosen.shuffle(rows)
    return {"u": [u for u, _ in rows], "x": [float(x) for _, x in rows]}


def _expected(grid: GrowingGrid, columns: dict[str, list[Any]]) -> Any:
    points = [grid.point(index) for index in range(len(grid))]
    place = {float(point): point for point in points}
    held: dict[int, list[Fraction]] = defaultdict(list)
    for person, x in zip(columns["u"], columns["x"], strict=True):
        held[person].append(place[x])
    counts = np.zeros(len(grid), dtype=np.int64)
    floats = np.array([float(point) for point in points])
    for theirs in held.values():
        mean = sum(theirs, Fraction(0)) / len(theirs)
        above = int(np.searchsorted(floats, float(mean)))
        near = [i for i in range(above - 2, above + 3) if 0 <= i < len(points)]
        # Halfway the larger one, as on an even grid.
        counts[min(near, key=lambda i: (abs(points[i] - mean), -i))] += 1
    return counts


@cache
def _case(unit: str, largest: object, people: int) -> tuple[GrowingGrid, dict[str, list[Any]], Any]:
    grid = GrowingGrid.of(unit, largest)
    columns = _columns(grid, people)
    return grid, columns, _expected(grid, columns)


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
    grid = GrowingGrid.of("0.1", 2**70)
    values = [float(grid.label(index)) for index in range(len(grid))]
    table = open_table(pl.DataFrame({"u": range(len(grid)), "x": values}), needed=["u", "x"])
    found = people_per_grid_point(table, Rows(user="u"), column="x", grid=grid, per_person="mean")
    assert (found[0] == 1).all()
