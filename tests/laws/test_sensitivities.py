"""The table of sensitivities, by brute force over all small data sets, through the real counting.

There are at most three people, each with up to two rows, and all pairs of neighbours under both relations.
The figures must be attained, because larger ones would waste budget.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet._tables import Grid, Rows, open_table, people_per_candidate, people_per_grid_point
from discreet._tables.counts import Counts, people_per_interval
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.scoring import (
    count_scores,
    count_sensitivity,
    quantile_sensitivity,
    quantile_values,
)

Person = tuple[int, ...]
GRID = Grid.between("0:3")
PEOPLE: list[Person] = [*((a,) for a in range(3)), *itertools.combinations(range(3), 2)]


def _neighbours(
    people: list[Person], most: int
) -> Iterator[tuple[tuple[Person, ...], tuple[Person, ...], str]]:
    for size in range(most + 1):
        for others in itertools.combinations_with_replacement(people, size):
            for one in people:
                yield others, (*others, one), ADD_REMOVE
                for another in people:
                    yield (*others, one), (*others, another), REPLACE


def _frame(people: tuple[Person, ...]) -> pl.DataFrame:
    rows = [(user, value) for user, values in enumerate(people) for value in values]
    return pl.DataFrame(rows, schema={"user": pl.Int64, "value": pl.Int64}, orient="row")


_COUNTED: dict[Any, Counts] = {}


def _counted(how: str, people: tuple[Person, ...]) -> Counts:
    """Count each data set once, whatever it is compared with."""
    key = how, people if how == "random" else tuple(sorted(people))  # identities determine draws
    if key not in _COUNTED:
        table = open_table(_frame(key[1]), needed=["value"])
        rows = Rows(user="user", key=5)
        if how == "candidates":
            found = people_per_candidate(table, rows, column="value", keys=[0, 1, 2, 3])
        elif how == "intervals":
            found = people_per_interval(
                table, rows, column="value", grid=Grid.between("0:4", step=2)
            )
        else:
            found = people_per_grid_point(table, rows, column="value", grid=GRID, per_person=how)
        _COUNTED[key] = found[0]
    return _COUNTED[key]


def _worst(how: str, score: Any, neighbours: str, most: int) -> tuple[int, int, bool]:
    """Return the largest change of one score, the largest range of changes, and whether all move one way."""
    delta, distance, monotonic = 0, 0, True
    for one, other, relation in _neighbours(PEOPLE, most):
        if relation == neighbours:
            change = score(_counted(how, other)) - score(_counted(how, one))
            delta = max(delta, int(np.abs(change).max()))
            distance = max(distance, int(change.max() - change.min()))
            monotonic &= bool((change >= 0).all() or (change <= 0).all())
    return delta, distance, monotonic


@pytest.mark.parametrize("how", ["candidates", "intervals"])
@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_people_per_candidate(how: str, neighbours: str) -> None:
    stated = count_sensitivity(neighbours)
    found = _worst(how, lambda people: people, neighbours, most=2)
    assert found == (stated.delta, stated.range_distance, stated.monotonic)
    assert (
        count_scores(np.array([1, 2]), neighbours=neighbours).range_distance
        == stated.range_distance
    )


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("level", ["1/2", "1/10", "9/10", "1/3"])
@pytest.mark.parametrize("rule", ["least", "largest", "random", "mean"])
def test_quantiles(level: str, neighbours: str, rule: str) -> None:
    fraction = Fraction(level)
    stated = quantile_sensitivity(fraction, neighbours)
    delta, distance, _ = _worst(
        rule, lambda people: quantile_values(people, fraction), neighbours, most=1
    )
    assert delta <= stated.delta
    assert distance <= stated.range_distance
    # The worst case needs more people, so these are histograms; a person's effect on a histogram is checked
    # below.
    delta = distance = 0
    for counts in itertools.product(range(4), repeat=4):
        people = np.array(counts)
        for change in _histogram_changes(people, neighbours):
            moved = quantile_values(people + change, fraction) - quantile_values(people, fraction)
            delta = max(delta, int(np.abs(moved).max()))
            distance = max(distance, int(moved.max() - moved.min()))
    assert (delta, distance) == (stated.delta, stated.range_distance)


def _histogram_changes(people: Counts, neighbours: str) -> Iterator[Counts]:
    unit = np.eye(len(people), dtype=np.int64)
    for one in range(len(people)):
        if neighbours == ADD_REMOVE:
            yield unit[one]
        elif people[one]:
            yield from (unit[other] - unit[one] for other in range(len(people)))


@pytest.mark.parametrize("rule", ["least", "largest", "random", "mean"])
def test_a_person_is_one_value(rule: str) -> None:
    for one, other, relation in _neighbours(PEOPLE, most=2):
        change = _counted(rule, other) - _counted(rule, one)
        if relation == ADD_REMOVE:
            assert change.sum() == 1
            assert change.max() == 1
            assert change.min() == 0
        else:
            assert change.sum() == 0
            assert np.abs(change).sum() in (0, 2)


def test_the_published_median_has_the_same_sensitivity_and_is_never_better() -> None:
    """The published score −|N − 2A_i| is no farther from zero than ours at any grid point."""
    for counts in itertools.product(range(4), repeat=4):
        people = np.array(counts)
        published = -np.abs(people.sum() - 2 * np.cumsum(people))
        assert (quantile_values(people, Fraction(1, 2)) >= published).all()


def test_the_best_grid_point_is_a_quantile() -> None:
    for counts in itertools.product(range(4), repeat=4):
        people = np.array(counts)
        values = np.repeat(np.arange(4), people)
        for level in (Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)):
            scores = quantile_values(people, level)
            for point in (scores == scores.max()).nonzero()[0] if len(values) else ():
                assert (values < point).sum() <= level * len(values) <= (values <= point).sum()
