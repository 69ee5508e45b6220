"""Rows of scores: valid and invalid input, and errors that reveal no score."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.mechanisms.score_rows import BLOCK, ScoreRows

SECRET = 918273645


def _values(rows: ScoreRows) -> list[list[Any]]:
    return [rows.row(number).values.tolist() for number in range(len(rows))]


TABLE = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        np.array(TABLE),
        np.array(TABLE, dtype=">f4"),
        np.asfortranarray(TABLE),
        np.array([[*row, 0] for row in TABLE])[:, :3],
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE, orient="row"),
        [[Fraction(1), Decimal(2), 3], (4, 5.0, np.float32(6))],
    ],
    ids=["lists", "array", "float32", "Fortran", "view", "pandas", "Polars", "mixed"],
)
def test_a_table_of_any_kind(given: Any) -> None:
    rows = ScoreRows(given, sensitivity=1, monotonic=True)
    assert len(rows) == 2
    assert rows.range_distance == 1
    assert _values(rows) == TABLE


def test_stretches_of_one_array() -> None:
    rows = ScoreRows([1, 2, 3, 10**40], offsets=[0, 1, 4], sensitivity=2)
    assert rows.range_distance == 4
    assert _values(rows) == [[1], [2, 3, 10**40]]
    assert rows.row(0).sensitivity == 2
    assert ScoreRows([1, 2], offsets=[0, 1, 2], range_distance=3).row(1).range_distance == 3


def test_no_rows_at_all() -> None:
    assert len(ScoreRows(np.empty((0, 5)), sensitivity=1)) == 0
    assert len(ScoreRows([], sensitivity=1)) == 0
    assert len(ScoreRows(np.empty(0), offsets=[0], sensitivity=1)) == 0
    assert list(ScoreRows([], sensitivity=1).blocks(Fraction(1), largest_is_best=True)) == []


@pytest.mark.parametrize(
    ("values", "offsets"),
    [
        (np.empty((3, 0)), None),
        ([[], []], None),
        ([[1, 2], [3]], None),
        ([SECRET], None),
        (np.array([SECRET]), None),
        (np.zeros((2, 2, 2)), None),
        ([[SECRET, None]], None),
        ([["918273645"]], None),
        (np.array([[True]]), None),
        ([1, 2], [0, 1]),
        ([1, 2], [1, 2]),
        ([1, 2], [0, 2, 2]),
        ([1, 2], [0, 2, 1, 2]),
        ([1, 2], [0.0, 2.0]),
        ([1, 2], []),
        (np.array([[SECRET]]), [0, 1]),
    ],
)
def test_what_is_no_table_of_scores_is_refused(values: Any, offsets: Any) -> None:
    with pytest.raises(DiscreetError) as caught:
        ScoreRows(values, offsets=offsets, sensitivity=1)
    assert str(SECRET) not in str(caught.value)
    assert isinstance(caught.value, ScoresError | ParameterError)


@pytest.mark.parametrize(
    "stated", [{}, {"sensitivity": 1, "range_distance": 1}, {"sensitivity": 0}]
)
def test_the_distance_is_stated_once(stated: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="sensitivity"):
        ScoreRows([[1]], **stated)


def test_an_infinity_is_found_in_whatever_block_it_lies() -> None:
    for place in (0, 2 * BLOCK - 1, 3 * BLOCK):
        values = np.zeros(4 * BLOCK)
        values[place] = -np.inf
        rows = ScoreRows(values.reshape(-1, 64), sensitivity=1)
        with pytest.raises(ScoresError, match="finite"):
            list(rows.blocks(Fraction(1), largest_is_best=True))


def test_a_frozen_value_shows_no_score() -> None:
    rows = ScoreRows([[SECRET, 2]], sensitivity=1)
    assert repr(rows) == "ScoreRows(1 row, int64, range_distance=2)"
    with pytest.raises(AttributeError, match="frozen"):
        rows._values = None  # type: ignore[assignment]  # that it cannot be set is the point


def test_blocks_are_small_beside_the_input() -> None:
    rows = ScoreRows(np.zeros((10_000, 10)), sensitivity=1)
    assert max(part.size for _, part in rows.blocks(Fraction(1), largest_is_best=True)) <= 25_000
