"""Exact binning: the index of the next grid point for values at, just below and just above each point."""

from __future__ import annotations

import bisect
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet._tables import Grid, open_table
from discreet._tables.query import Query
from discreet.errors import ParameterError


def _indices(grid: Grid, values: list[float]) -> tuple[list[int], list[int]]:
    engine = open_table(np.array(values), needed=[]).engine
    rows = Query.of(engine.source, {"value": "value"})
    found = [
        [
            int(place)
            for _, place in engine.loaded(["value"]).rows(query.statement + " ORDER BY value")
        ]
        for query in (
            with_index(rows, engine).select({"value": "value", "place": "place"})
            for with_index in (grid.with_index, grid.with_index_below)
        )
    ]
    return found[0], found[1]


@settings(max_examples=60, deadline=None)
@given(
    lower=st.integers(-(10**6), 10**6),
    step=st.integers(1, 10**5),
    denominator=st.sampled_from([1, 3, 7, 10, 100, 1000, 1024]),
    size=st.integers(1, 60),
)
def test_every_point_and_its_neighbours(lower: int, step: int, denominator: int, size: int) -> None:
    start, stride = Fraction(lower, denominator), Fraction(step, denominator)
    grid = Grid(start, start + size * stride, stride)
    points = [float(start + i * stride) for i in range(size + 1)]
    values = sorted(
        v
        for point in points
        for v in (
            math.nextafter(point, -math.inf),
            point,
            math.nextafter(point, math.inf),
            point + float(stride) / 2,
        )
        if points[0] <= v <= points[-1]
    )
    above, below = _indices(grid, values)
    assert above == [bisect.bisect_left(points, v) for v in values]
    assert below == [bisect.bisect_right(points, v) - 1 for v in values]


def test_the_finest_grids_allowed() -> None:
    grid = Grid.between((2**50 - 1000, 2**50), step=1)
    above, _ = _indices(grid, [2**50 - 1000 + 0.5, float(2**50)])
    assert above == [1, 1000]
    grid = Grid.between("0:1", step="0.0000001")
    above, _ = _indices(grid, [0.1234567, 0.12345671, 1.0])
    assert above == [1234567, 1234568, 10**7]


@pytest.mark.parametrize(
    ("bounds", "step", "words"),
    [
        ("5:1", 1, "below the upper"),
        ("0:10", 3, "whole number of steps"),
        ("0:1e9", 1, "grid points"),
        ("0:x", 1, "bounds='0:x'"),
        ("0", 1, "two finite public numbers"),
        (5, 1, "two finite public numbers"),
        ((0, math.inf), 1, "finite"),
        ((True, 3), 1, "finite"),
        ((None, 3), 1, "finite"),
        ("0:1", 0, "above 0"),
        ("0:1e17", "1e12", "float64"),
        (Grid.between("0:10", step=2), 5, "left out with a grid"),
    ],
)
def test_refusals(bounds: object, step: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Grid.between(bounds, step=step)


def test_negative_bounds_in_every_spelling() -> None:
    for bounds in ("-2:-1", (-2, -1), (-2.0, "-1"), (Fraction(-2), -1)):
        grid = Grid.between(bounds, step="0.5")
        assert [grid.label(i) for i in range(len(grid))] == [-2, -1.5, -1]


def test_a_grid_is_made_of_plain_numbers_too() -> None:
    assert Grid(0, 500, 50) == Grid.between("0:500", step=50)  # type: ignore[arg-type]
    assert Grid(0.0, 1.0, 0.1).label(3) == 0.3  # type: ignore[arg-type]
    for wrong in ((0, 500, 0), (0, "x", 1), (5, 1, 1), (0, float("nan"), 1), (None, 1, 1)):
        with pytest.raises(ParameterError):
            Grid(*wrong)


def test_bounds_are_echoed_whole() -> None:
    with pytest.raises(ParameterError, match=r"bounds='0:x' is not allowed: .* 'lower:upper'"):
        Grid.between("0:x")
