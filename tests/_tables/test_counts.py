"""Every engine gives the counts that a few lines of plain Python give."""

from __future__ import annotations

import bisect
import math
import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._tables import Grid, Rows, open_table, people_per_candidate, people_per_grid_point
from discreet._tables import counts as counts_module
from discreet._tables.counts import (
    MOST_COUNTED,
    commonest_values,
    people_per_interval,
    people_with_any,
)
from discreet._tables.where import parse
from tests.tools.engines import Columns, TableMaker

KEY = 0x0123456789ABCDEF_FEDCBA9876543210  # for the hash that draws people into groups

CANDIDATES = ["a", "b", "c'd", "é, x", "never"]
CLINICS = ("east", "north", "south")
NAMES = [f"p{i}" for i in range(40)]


def _table() -> Columns:
    generator = random.Random(5)  # noqa: S311 - a fixed table, not a secret
    rows = 400
    awkward = [
        None,
        math.nan,
        math.inf,
        -math.inf,
        -0.0,
        0.3,
        0.1 + 0.2,
        0.1,
        1e300,
        -5.0,
        1.0,
        0.7,
        0.6,
        0.29,
    ]
    return {
        "diagnosis": [generator.choice([*CANDIDATES[:4], "other", None]) for _ in range(rows)],
        "patient": [generator.choice([None, *range(60)]) for _ in range(rows)],
        "name": [generator.choice([None, *NAMES]) for _ in range(rows)],
        "clinic": [generator.choice([*CLINICS, "elsewhere", None]) for _ in range(rows)],
        "dose": [
            generator.choice([*awkward, generator.random(), generator.random()])
            for _ in range(rows)
        ],
        "age": [generator.randint(-3, 20) for _ in range(rows)],
    }


COLUMNS = _table()
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
NEEDED = list(COLUMNS)
CONDITION = "age >= 3 and not (dose > 0.5 or clinic = 'south') and diagnosis is not null"


def _holds(row: dict[str, Any]) -> bool:
    dose = row["dose"]
    large = dose is not None and math.isfinite(dose) and dose > 0.5
    return (
        row["age"] >= 3 and not (large or row["clinic"] == "south") and row["diagnosis"] is not None
    )


def _expected(
    values: Callable[[dict[str, Any]], Any],
    *,
    user: str | None,
    where: bool = False,
    assigned: dict[Any, set[str]] | None = None,
) -> dict[tuple[Any, Any], int]:
    """Return people per (group, value): each person counts once in each group that they are assigned to."""
    kept = [row for row in ROWS if not where or _holds(row)]
    if user is not None:
        kept = [row for row in kept if row[user] is not None]
    if assigned is not None:
        kept = [row for row in kept if row["clinic"] in assigned.get(row[str(user)], ())]
    people = defaultdict(set)
    for place, row in enumerate(kept):
        value = values(row)
        if value is not None:
            people[row["clinic"] if assigned is not None else None, value].add(
                row[user] if user else place
            )
    return {key: len(found) for key, found in people.items()}


def _assigned(table: Any, rows: Rows) -> dict[Any, set[str]]:
    """Return the groups that the engine drew for each person; check whose they are, and their number."""
    found = people_per_candidate(table, rows, column="name", keys=NAMES)
    assigned = {
        name: {clinic for place, clinic in enumerate(CLINICS) if found[place, index]}
        for index, name in enumerate(NAMES)
    }
    for name, groups in assigned.items():
        theirs = {
            row["clinic"]
            for row in ROWS
            if row["name"] == name and (rows.where is None or _holds(row))
        } & set(CLINICS)
        assert groups <= theirs
        assert len(groups) == min(rows.groups_per_person, len(theirs))
    return assigned


@pytest.fixture(scope="session")
def table(table_in: TableMaker) -> Any:
    return open_table(table_in(COLUMNS), needed=NEEDED)


@pytest.mark.parametrize(
    ("user", "where", "groups"),
    [("patient", False, 0), (None, True, 0), ("name", True, 1), ("name", False, 2)],
)
def test_people_per_candidate(table: Any, user: str | None, where: bool, groups: int) -> None:
    rows = Rows(
        user=user,
        where=parse(CONDITION) if where else None,
        by="clinic" if groups else None,
        groups=CLINICS if groups else (),
        groups_per_person=max(groups, 1),
        key=KEY,
    )
    counts = people_per_candidate(table, rows, column="diagnosis", keys=CANDIDATES)
    assigned = _assigned(table, rows) if groups else None
    expected = _expected(lambda row: row["diagnosis"], user=user, where=where, assigned=assigned)
    for place, group in enumerate(CLINICS if groups else (None,)):
        assert counts[place].tolist() == [expected.get((group, key), 0) for key in CANDIDATES]


@pytest.mark.parametrize("user", ["patient", "name", None])
def test_many_counts_are_looked_up_after_counting(
    table: Any, user: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts are the same in either order, with and without groups, and in plain Python."""
    alone = Rows(user=user)
    by_clinic = Rows(user=user, by="clinic", groups=CLINICS, groups_per_person=len(CLINICS))
    asked: dict[str, Any] = {"column": "diagnosis", "keys": CANDIDATES}
    before = [people_per_candidate(table, rows, **asked).tolist() for rows in (alone, by_clinic)]
    monkeypatch.setattr(counts_module, "_MANY_COUNTS", 1)
    after = [people_per_candidate(table, rows, **asked).tolist() for rows in (alone, by_clinic)]
    assert before == after
    expected = _expected(lambda row: row["diagnosis"], user=user, where=False, assigned=None)
    assert after[0] == [[expected.get((None, key), 0) for key in CANDIDATES]]


@pytest.mark.parametrize(
    ("user", "rule", "outside"),
    [
        (None, "least", "drop"),
        ("patient", "least", "drop"),
        ("name", "largest", "clamp"),
        ("name", "mean", "drop"),
        ("patient", "mean", "clamp"),
    ],
)
def test_people_per_grid_point(table: Any, user: str | None, rule: str, outside: str) -> None:
    grid = Grid.between("0:1", step="0.1")
    points = [float(grid.lower + i * grid.step) for i in range(len(grid))]
    theirs = defaultdict(list)
    for place, row in enumerate(ROWS):
        dose = row["dose"]
        there = dose is not None and math.isfinite(dose) and (user is None or row[user] is not None)
        if there and (outside == "clamp" or 0 <= dose <= 1):
            index = bisect.bisect_left(points, min(max(dose, 0), 1))
            theirs[place if user is None else row[user]].append(index)
    rules: dict[str, Callable[[list[int]], int]] = {
        "least": min,
        "largest": max,
        "mean": lambda found: math.floor(Fraction(sum(found), len(found)) + Fraction(1, 2)),
    }
    expected = np.zeros(len(grid), dtype=np.int64)
    for found in theirs.values():
        expected[rules[rule](found)] += 1
    counts = people_per_grid_point(
        table, Rows(user=user), column="dose", grid=grid, per_person=rule, outside=outside
    )
    assert counts.tolist() == [expected.tolist()]


def test_whole_numbers_on_a_grid_by_group(table: Any) -> None:
    grid = Grid.between((-1, 15), step=2)
    rows = Rows(user="name", by="clinic", groups=CLINICS, key=KEY)
    counts = people_per_grid_point(table, rows, column="age", grid=grid, per_person="largest")
    assigned = _assigned(table, rows)
    ages: dict[Any, list[int]] = defaultdict(list)
    for row in ROWS:
        name, clinic = row["name"], row["clinic"]
        if clinic in assigned.get(name, ()) and -1 <= row["age"] <= 15:
            ages[clinic, name].append(row["age"])
    expected = np.zeros((3, len(grid)), dtype=np.int64)
    for (clinic, _), values in ages.items():
        expected[CLINICS.index(clinic), -(-(max(values) + 1) // 2)] += 1
    assert counts.tolist() == expected.tolist()


def test_intervals_and_commonest_values(table: Any) -> None:
    grid = Grid.between("0:1", step="0.1")
    points = [float(grid.lower + i * grid.step) for i in range(len(grid))]

    def interval(row: dict[str, Any]) -> int | None:
        dose = row["dose"]
        inside = dose is not None and math.isfinite(dose) and 0 <= dose <= 1
        return bisect.bisect_right(points, dose) - 1 if inside else None

    counts = people_per_interval(table, Rows(user="patient"), column="dose", grid=grid)
    expected = _expected(interval, user="patient")
    assert counts.tolist() == [[expected.get((None, i), 0) for i in range(len(grid))]]
    common = _expected(lambda row: row["diagnosis"], user="name")
    in_order = sorted(
        ((value, n) for (_, value), n in common.items()), key=lambda pair: (-pair[1], pair[0])
    )
    assert commonest_values(table, Rows(user="name"), column="diagnosis", most=3) == in_order[:3]


def test_people_who_have_anything(table: Any) -> None:
    rows = Rows(user="name", by="clinic", groups=CLINICS, key=KEY)
    assigned = _assigned(table, rows)
    found = people_with_any(table, rows, column="diagnosis", keys=CANDIDATES)
    on_grid = people_with_any(table, rows, column="dose", grid=Grid.between("0:1", step="0.1"))
    for place, clinic in enumerate(CLINICS):
        theirs = [
            row
            for row in ROWS
            if clinic in assigned.get(row["name"], ()) and row["clinic"] == clinic
        ]
        assert found[place] == len(
            {row["name"] for row in theirs if row["diagnosis"] in CANDIDATES}
        )
        assert on_grid[place] == len(
            {row["name"] for row in theirs if row["dose"] is not None and 0 <= row["dose"] <= 1}
        )


def test_an_empty_table_gives_zeros(table: Any) -> None:
    rows = Rows(user="patient", where=parse("age > 1000"))
    assert people_per_candidate(table, rows, column="diagnosis", keys=CANDIDATES).tolist() == [
        [0] * 5
    ]
    grid = Grid.between("0:1", step="0.5")
    assert people_per_grid_point(
        table, rows, column="dose", grid=grid, per_person="least"
    ).tolist() == [[0] * 3]


def test_a_long_list_of_candidates(table: Any) -> None:
    keys = [*CANDIDATES, *(f"code {i}" for i in range(2500))]
    counts = people_per_candidate(table, Rows(user="patient"), column="diagnosis", keys=keys)
    short = people_per_candidate(table, Rows(user="patient"), column="diagnosis", keys=CANDIDATES)
    assert counts[0, :5].tolist() == short[0].tolist()
    assert not counts[0, 5:].any()


def test_one_person_moves_the_sum_of_a_counted_table_by_one(table_in: TableMaker) -> None:
    """Sums above 2⁵³ are not exact in float64, so one person could move a count by two, or not at all."""
    full = MOST_COUNTED
    many = [2**40] * 8193

    def counts(*people: int) -> list[int]:
        codes = ["a"] * len(people) + ["b"] * len(many)
        table = open_table(table_in({"code": codes, "n": [*people, *many]}), needed=["code", "n"])
        found = people_per_candidate(table, Rows(counted="n"), column="code", keys=["a", "b"])
        return [int(count) for count in found[0]]

    assert counts(full - 7, 1, 2) == [full - 4, full]
    assert counts(full - 7, 5, 2) == [full, full]
    assert counts(full - 7, 6, 2, *many) == [full, full]
