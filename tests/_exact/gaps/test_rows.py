"""Gaps of many rows at once equal the gaps of each row alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._exact.gaps import Gaps, RowGaps, in_blocks
from discreet.errors import ScoresError

TYPES = [
    np.int8,
    np.uint8,
    np.int16,
    np.int32,
    np.int64,
    np.uint64,
    np.float16,
    np.float32,
    np.float64,
]


def _rows(values: Any, *, width: int | None, largest: bool = True, scale: Fraction) -> RowGaps:
    starts = np.array([0, 4, 5]) if width is None else np.arange(0, len(values), width)
    return RowGaps(values, starts=starts, width=width, scale=scale, largest_is_best=largest)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("width", [None, 4])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("scale", [Fraction(3, 7), Fraction(10) ** 40, Fraction(1, 10**40)])
def test_gaps_are_those_of_each_row(
    kind: Any, width: int | None, largest: bool, scale: Fraction
) -> None:
    values = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]).astype(kind)
    if kind in (np.int64, np.uint64):
        values = values + kind(2**63 - 10)  # differences that float64 scores would lose
    rows = _rows(values, width=width, largest=largest, scale=scale)
    everyone = np.arange(rows.size)
    alone = [rows.row(number) for number in range(len(rows.starts))]
    gathered = np.concatenate([gaps.gather(np.arange(gaps.size)) for gaps in alone])
    exact = [gaps.exact(place) for gaps in alone for place in range(gaps.size)]
    assert rows.gather(everyone).tolist() == rows.gammas().tolist() == gathered.tolist()
    assert [rows.exact(place) for place in everyone.tolist()] == exact
    assert rows.bests.tolist() == [gaps.best for gaps in alone]
    assert rows.row_of(everyone).tolist() == np.repeat(range(len(alone)), rows.lengths).tolist()
    assert rows.places_of(np.array([2, 0])).tolist() == [
        *everyone[rows.row_of(everyone) == 2],
        *everyone[rows.row_of(everyone) == 0],
    ]
    assert rows.is_best().tolist() == [gap == 0 for gap in exact]
    assert rows.ordinary


@pytest.mark.parametrize("width", [None, 4])
def test_who_is_within_a_bound(width: int | None) -> None:
    rng = np.random.default_rng(5)
    values = rng.uniform(0, 9, 12)
    rows = _rows(values, width=width, scale=Fraction(1))
    bounds = np.array([np.inf, 5.0, 2.0, 2.0**-8])
    for words in rng.integers(0, 4, (50, 12), dtype=np.uint8):
        places, gammas = rows.within(bounds, words)
        assert places.tolist() == (rows.gammas() <= bounds[words]).nonzero()[0].tolist()
        assert gammas.tolist() == rows.gather(places).tolist()


def test_where_floats_are_not_to_be_believed() -> None:
    huge = np.array([1e300, -1e300])
    assert not _rows(huge, width=2, scale=Fraction(1)).ordinary
    for scale in (Fraction(10) ** 300, Fraction(1, 10**300)):
        assert not _rows(np.array([1.0, 2.0]), width=2, scale=scale).ordinary
    exact = np.array([Fraction(1, 3), 10**400], dtype=object)
    assert not _rows(exact, width=2, scale=Fraction(1)).ordinary
    assert _rows(exact, width=1, scale=Fraction(1)).is_best().tolist() == [True, True]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(wrong: float) -> None:
    for place in range(4):
        values = np.ones(4)
        values[place] = wrong
        with pytest.raises(ScoresError, match="finite"):
            _rows(values, width=2, scale=Fraction(1))


def test_blocks_hold_every_row_once() -> None:
    lengths = np.array([3, 1, 7, 2, 2, 9, 1])
    starts = np.cumsum(lengths) - lengths
    for most in range(1, 30):
        blocks = in_blocks(starts, int(lengths.sum()), most)
        assert [row for first, last in blocks for row in range(first, last)] == list(range(7))
        for first, last in blocks:
            assert lengths[first:last].sum() <= most or last == first + 1
    assert in_blocks(starts[:0], 0, 5) == []


def test_a_row_is_what_gaps_sees() -> None:
    rows = _rows(np.array([3, 7, 5, 2]), width=2, scale=Fraction(2))
    assert isinstance(rows.row(1), Gaps)
    assert rows.row(1).exact(1) == Fraction(3, 2)
