"""Grids in the column's own terms, grids that need no bounds, and tables that are counted already."""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet import PermuteAndFlip, PureDP
from discreet.errors import ParameterError
from discreet.questions import bound, median, mode, quantile, quantiles, table, top_k
from discreet.questions.quantiles import recursive
from discreet.questions.scoring import quantile_scores
from discreet.tables import Rows, open_table
from discreet.tables.counts import people_per_grid_point
from discreet.tables.growing_grid import GrowingGrid
from tests.tools.engines import TableMaker

START = dt.datetime(2023, 1, 1)
MINUTES = [37 * i % 10_000 for i in range(900)]  # all different, spread evenly over a week
TRIPS = pl.DataFrame(
    {
        "rider": range(900),
        "began": [START + dt.timedelta(minutes=m) for m in MINUTES],
        "took": [dt.timedelta(seconds=m) for m in MINUTES],
        "price": [Decimal(m) / 100 for m in MINUTES],
        "profit": [m - 8000 for m in MINUTES],
    },
    schema_overrides={"price": pl.Decimal(12, 2)},
).with_columns(
    day=pl.col("began").dt.date(),
    began_utc=pl.col("began").dt.replace_time_zone("UTC"),
    began_ns=pl.col("began").cast(pl.Datetime("ns")),
)
MIDDLE = sorted(MINUTES)[450]
ENGINES: dict[str, Any] = {
    "polars": TRIPS,
    "lazy": TRIPS.lazy(),
    "pandas on Arrow": TRIPS.to_pandas(use_pyarrow_extension_array=True),
    "pandas": TRIPS.drop("price", "day").to_pandas(),
}


def ask(trips: Any, column: str, **options: Any) -> Any:
    """A median that is off by more than forty people with probability below 10⁶·e^(−8·40) only."""
    return median(trips, column, epsilon=8, user="rider", **options).answer


@pytest.mark.parametrize("engine", ENGINES)
def test_answers_come_back_in_the_columns_type(engine: str) -> None:
    trips = ENGINES[engine]
    near = dt.timedelta(minutes=500)
    moment = ask(trips, "began", bounds="2023-01-01:2023-01-08", step="1min")
    assert type(moment) is dt.datetime
    assert abs(moment - START - dt.timedelta(minutes=MIDDLE)) < near
    aware = ask(trips, "began_utc", bounds="2023-01-01T00:00/2023-01-08T00:00", step="15min")
    assert aware.tzinfo is not None
    assert abs(aware.replace(tzinfo=None) - moment) < near
    assert abs(ask(trips, "began_ns") - moment) < near
    span = ask(trips, "took", bounds="0s:3h", step=dt.timedelta(seconds=1))
    assert abs(span - dt.timedelta(seconds=MIDDLE)) < dt.timedelta(seconds=500)
    assert abs(ask(trips, "took") - span) < dt.timedelta(seconds=500)
    if engine != "pandas":
        day = ask(trips, "day", bounds=(dt.date(2020, 1, 1), "2024-12-31"), step="1d")
        assert day == moment.date() or abs(day - moment.date()) == dt.timedelta(days=1)
        assert ask(trips, "day") in {day + dt.timedelta(days=d) for d in (-1, 0, 1)}
        price = ask(trips, "price", bounds="0:100", step="0.01")
        assert type(price) is Decimal
        assert abs(price - Decimal(MIDDLE) / 100) < 5


@pytest.mark.skips_engines(
    csv="a text file has no dates",
    jsonl="a text file has no dates",
    pandas="tried above",
    ibis_duckdb="in a database dates have no order",
    ibis_sqlite="in a database dates have no order",
    ibis_postgres="in a database dates have no order",
)
def test_dates_and_spans_in_every_engine(table_in: TableMaker) -> None:
    trips = table_in({"rider": list(range(900)), "day": TRIPS["day"].to_list()})
    days = quantiles(
        trips, "day", at=[0.25, 0.75], bounds="2023-01-01:2023-01-31", epsilon=20, user="rider"
    )
    assert [type(day) for day in days.answer] == [dt.date] * 2
    assert [
        abs(day - dt.date(2023, 1, d)).days <= 1 for day, d in zip(days.answer, (2, 6), strict=True)
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_median_without_bounds(engine: str) -> None:
    release = median(ENGINES[engine], "profit", epsilon=8, user="rider")
    assert abs(release.answer - (MIDDLE - 8000)) < 500
    assert release.guarantee == PureDP(8)
    assert any(
        "No bounds were given: the grid has every 1 near zero" in rule for rule in release.rules
    )
    fine = quantile(
        ENGINES[engine],
        "profit",
        at=0.9,
        unit=Fraction(1, 2),
        largest=10**5,
        epsilon=8,
        user="rider",
    )
    assert 500 < fine.answer < 1500
    covered = bound(ENGINES[engine], "profit", covers=0.99, epsilon=8, user="rider")
    assert 7000 < covered.answer <= 8200


@pytest.mark.parametrize(
    ("unit", "largest"), [(1, 10**5), ("0.1", 1000), (1, 5), ("1/3", 10**4), (7, 2**20)]
)
def test_every_point_of_a_growing_grid_holds_its_own_value(unit: object, largest: object) -> None:
    """The slow twin is a search in the list of points; a value just above a point falls to the next."""
    for magnitudes in (False, True):
        grid = GrowingGrid.of(unit, largest, magnitudes=magnitudes)
        points = np.array([grid.label(index) for index in range(len(grid))], dtype=float)
        assert (np.diff(points) > 0).all()
        inside = points[:-1] + np.diff(points) / 3
        values = np.concatenate([points, inside])
        for frame in (pl.DataFrame({"x": values}), pd.DataFrame({"x": values})):
            found = people_per_grid_point(
                open_table(frame, needed=["x"]), Rows(), column="x", grid=grid, per_person="least"
            )[0]
            expected = np.bincount(np.searchsorted(points, values), minlength=len(grid))
            assert (found == expected).all()


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_law_without_bounds(relation: str) -> None:
    """One quantile's exact law on a small growing grid, through the real counting: within ε, and near it."""
    grid = GrowingGrid.of(1, 2)
    epsilon, chooser = 1.0, PermuteAndFlip(epsilon=1)

    def law(values: tuple[int, ...]) -> np.ndarray[Any, Any]:
        frame = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
        opened = open_table(frame, needed=["x"])
        people = people_per_grid_point(
            opened, Rows(), column="x", grid=grid, per_person="least", outside="clamp"
        )[0]
        return chooser.probabilities(quantile_scores(people, Fraction(3, 4), neighbours=relation))

    laws = {
        values: law(values)
        for size in range(5)
        for values in itertools.combinations_with_replacement((-9, -1, 0, 1, 7), size)
    }
    worst = 0.0
    for values, one in laws.items():
        for place in range(len(values)):
            less = values[:place] + values[place + 1 :]
            near = (
                [less]
                if relation == "add-remove"
                else [tuple(sorted((*less, other))) for other in (-9, -1, 0, 1, 7)]
            )
            worst = max(worst, *(float(abs(np.log(one / laws[other])).max()) for other in near))
    assert 0.5 * epsilon < worst <= epsilon + 1e-9


@pytest.mark.parametrize(
    "values",
    [
        [],
        [5.0],
        [0.0] * 50,
        [1e300, -1e300],
        [float("nan"), None],
        [float("inf")] * 9,
        [-0.0],
        [1e-320],
    ],
)
def test_odd_values_get_an_answer(values: list[float | None]) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    for question in (median, bound):
        answer = question(frame, "x", epsilon=1, one_row_per_user=True).answer
        assert -2e12 < answer < 2e12
    assert values != [0.0] * 50 or median(frame, "x", epsilon=2, one_row_per_user=True).answer == 0


@pytest.mark.parametrize(
    ("column", "options", "words"),
    [
        ("began", {"bounds": "0:9"}, "2020-01-01:2024-12-31"),
        ("day", {"bounds": "2023-01-01T08:00/2023-01-09"}, "2020-01-01:2024-12-31"),
        ("took", {"bounds": "1:5"}, "0s:2h"),
        ("took", {"step": "1min"}, "step"),
        ("profit", {"step": 2}, "step"),
        ("profit", {"bounds": (0, 9), "unit": 2}, "unit"),
        ("profit", {"unit": 0}, "unit=0"),
        ("profit", {"largest": "0.5"}, "largest"),
        ("profit", {"per_person": "mean"}, "per_person"),
        ("began", {"largest": 5}, "largest"),
        ("began", {"step": "1s"}, "step"),
    ],
)
def test_what_does_not_fit_is_refused(column: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        median(TRIPS, column, epsilon=1, user="rider", **options)
    with pytest.raises(ParameterError, match="magnitude"):
        bound(TRIPS, "began", epsilon=1, user="rider")


# ---- counted already -----------------------------------------------------------------------------------

COUNTED = {
    "code": ["flu", "cold", "flu", None, "x", "cold"],
    "age": [10, 20, 30, 40, 50, 60],
    "people": [100.0, 300.0, 500.7, 20.0, -3.0, float("nan")],
}


def test_a_table_that_is_counted_already(table_in: TableMaker) -> None:
    counted = table_in(COUNTED)
    asked: dict[str, Any] = {"epsilon": 8, "counted": "people"}
    release = mode(counted, "code", candidates=["flu", "cold"], with_count=True, **asked)
    assert release.answer == "flu"
    assert abs(release.count - 600) < 20
    assert any("stands for as many people as people says" in rule for rule in release.rules)
    assert median(counted, "age", bounds=(0, 100), **asked).answer == 30
    assert median(counted, "age", **asked).answer in range(29, 31)
    assert mode(counted, "age", bounds=(0, 100), step=10, **asked).answer == 30
    assert top_k(counted, "code", k=2, delta="1e-6", **asked).answer == ("flu", "cold")


@pytest.mark.skips_engines(
    ibis_duckdb="groups must be listed",
    ibis_sqlite="groups must be listed",
    ibis_postgres="groups must be listed",
)
def test_groups_of_a_table_that_is_counted_already(table_in: TableMaker) -> None:
    counted = table_in(COUNTED)
    asked: dict[str, Any] = {"epsilon": 8, "counted": "people"}
    by_code = median(counted, "age", bounds=(0, 100), by="code", delta="1e-6", **asked).answer
    assert set(by_code) == {"cold", "flu"}


def test_counts_beyond_any_people_do_not_raise() -> None:
    huge = pl.DataFrame({"code": ["a", "b"] * 50, "people": [1e300, float(2**62)] * 50})
    release = mode(huge, "code", candidates=["a", "b"], counted="people", epsilon=1)
    assert release.answer in ("a", "b")
    with pytest.raises(ParameterError, match="whose a row is"):
        table(huge, counted="people", one_row_per_user=True, ledger=None)
    assert "counted in people" in repr(table(huge, counted="people", ledger=None))


def test_a_growing_grid_and_several_quantiles() -> None:
    """The recursion works on any grid in order; the answers never decrease."""
    grid = GrowingGrid.of(1, 10**6)
    people = np.zeros(len(grid), dtype=np.int64)
    people[grid.zero + 5 : grid.zero + 1005] = 3
    levels = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    found = recursive(people, levels, PermuteAndFlip(epsilon=2), neighbours="add-remove")
    assert found == sorted(found)
    assert all(
        abs(place - grid.zero - 5 - 1000 * level) < 60
        for place, level in zip(found, levels, strict=True)
    )


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"bounds": "2024-12-31:2024-01-01"}, "'2024-12-31:2024-01-01' is not allowed"),
        ({"bounds": "2020-01-01:2024-12-31", "step": "1h"}, "a whole number of days"),
        ({"bounds": "2020-01-01:2024-12-31", "step": "0d"}, "'0d' is not allowed"),
    ],
)
def test_wrong_bounds_and_steps_are_echoed_as_they_were_written(
    terms: dict[str, str], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        ask(ENGINES["polars"], "day", **terms)


def test_a_text_file_has_no_dates_and_says_so(tmp_path: Path) -> None:
    texts = tmp_path / "trips.csv"
    texts.write_text("rider,day\n1,2024-01-01\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="not declared as such"):
        median(texts, "day", bounds="2024-01-01:2024-12-31", user="rider", epsilon=1)
