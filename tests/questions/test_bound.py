"""A bound by a noisy threshold: its exact law over all small tables, and its distance to the data."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet import PureDP
from discreet._exact.distribution.crossings import first_crossing
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._tables import Rows, open_table
from discreet._tables.counts import people_per_grid_point
from discreet._tables.growing_grid import GrowingGrid
from discreet.errors import ParameterError
from discreet.questions import bound
from discreet.questions.bound import first_within, scales_for
from discreet.testing import scripted

VALUES = (-5, 0, 1, 2, 9)


@cache
def counted(values: tuple[int, ...]) -> Any:
    """Return the number of people at each place, by the real counting."""
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    grid = GrowingGrid.of(1, 4, magnitudes=True)
    table = open_table(frame, needed=["x"])
    return people_per_grid_point(
        table, Rows(), column="x", grid=grid, per_person="largest", outside="clamp"
    )[0]


def worst_loss(level: Fraction, scales: NoiseScales, relation: str) -> float:
    """Return the largest loss between tables of up to four people."""

    def law(values: tuple[int, ...]) -> Any:
        up_to = np.cumsum(counted(values))
        offsets = level.denominator * up_to - level.numerator * int(up_to[-1])
        *chances, last, none = first_crossing(offsets.astype(float), scales)
        return np.array([*chances, last + none])

    laws = {
        values: law(values)
        for size in range(5)
        for values in itertools.combinations_with_replacement(VALUES, size)
    }
    worst = 0.0
    for values, one in laws.items():
        for place in range(len(values)):
            less = values[:place] + values[place + 1 :]
            near = (
                [less] if relation == "add-remove" else [tuple(sorted((*less, v))) for v in VALUES]
            )
            worst = max(worst, *(float(np.abs(np.log(one / laws[other])).max()) for other in near))
    return worst


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10)])
def test_the_law_of_a_bound(level: Fraction, relation: str) -> None:
    scales = scales_for(level, Fraction(1), relation)
    found = worst_loss(level, scales, relation)
    assert 0.5 < found <= 1 + 1e-9
    less = NoiseScales(scales.threshold / 2, scales.query / 2)
    assert worst_loss(level, less, relation) > 1  # half the noise is detected as too little


def test_it_stays_near_the_data() -> None:
    """A choice by score could lie far beyond the data; a threshold approached from below does not."""
    people = np.zeros(5000, dtype=np.int64)
    people[100:1100] = 5
    scales = scales_for(Fraction(999, 1000), Fraction(1, 5), "add-remove")
    found = [
        first_within(people, Fraction(999, 1000), scales, scripted(seed)) for seed in range(40)
    ]
    assert 1000 < np.median(found) < 1150
    assert max(found) < 1400
    assert first_within(people * 0, Fraction(1, 2), scales, scripted(1)) < 5000


def test_the_question() -> None:
    pay = pl.DataFrame({"person": range(3000), "pay": [-20_000 - 10 * i for i in range(3000)]})
    release = bound(pay, "pay", covers=0.99, epsilon=2, user="person")
    assert 48_000 < release.answer <= 51_000
    assert release.guarantee == PureDP(2)
    assert "noisy threshold" in release.mechanism
    assert "answer_pure_dp, checked by Coq" in str(release.guarantee.proof)
    assert "The answer is a point of a growing grid" in release.rules[-1]
    assert "whatever its sign" in release.rules[-3]
    with pytest.raises(ParameterError, match="covers"):
        bound(pay, "pay", covers="nan", epsilon=2, user="person")
    both = bound(pay, "pay", epsilon=2, user="person", neighbours="replace", with_people=True)
    assert 48_000 < both.answer <= 52_000
    with pytest.raises(ParameterError, match="mechanism"):
        bound(pay, "pay", epsilon=2, user="person", mechanism="exponential")
