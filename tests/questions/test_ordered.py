"""Grids in the column's own type, grids without bounds, and tables of counts."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import PermuteAndFlip, PureDP
from discreet._tables import Grid, Rows, TextFile, open_table
from discreet._tables.counts import people_per_grid_point, people_per_interval
from discreet._tables.growing_grid import GrowingGrid
from discreet.errors import ParameterError
from discreet.questions import bound, median, mode, quantile, table, top_k
from discreet.questions.ordered import column_grid
from discreet.questions.quantiles import recursive
from discreet.questions.scoring import quantile_scores
from discreet.testing import scripted
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
    """Ask for a median; it is off by more than forty people with probability below 10⁶·e^(−8·40)."""
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


TICKS = [37 * i % 400 for i in range(120)]  # all different, and on every other point of a grid
ORDERED = pa.table(
    {
        "rider": list(range(120)),
        "day": [dt.date(2023, 1, 1) + dt.timedelta(days=t // 10) for t in TICKS],
        "began": [START + dt.timedelta(milliseconds=50 * t) for t in TICKS],
        "clock": [(START + dt.timedelta(hours=8, milliseconds=125 * t)).time() for t in TICKS],
        "took": [dt.timedelta(milliseconds=5 * t + 1001) for t in TICKS],
        "price": pa.array([Decimal(t) / 40 for t in TICKS], pa.decimal128(12, 3)),
    }
)
GRIDS: dict[str, tuple[str, str, Callable[[Any], Fraction]]] = {
    "day": ("2023-01-05:2023-01-20", "1d", lambda day: Fraction(day.toordinal() - 738_525)),
    "began": (
        "2023-01-01T00:00:01/2023-01-01T00:00:15",
        "100ms",
        lambda at: Fraction((at - START) // dt.timedelta(microseconds=1), 10**6) - 1,
    ),
    "clock": (
        "08:00:05/08:00:30",
        "250ms",
        lambda at: Fraction(at.minute * 60 * 10**6 + at.second * 10**6 + at.microsecond, 10**6) - 5,
    ),
    "took": ("0s:3s", "1ms", lambda span: Fraction(span // dt.timedelta(microseconds=1), 10**6)),
    "price": ("1:9", "0.05", lambda price: Fraction(price) - 1),
}


@pytest.mark.skips_engines(objects="dates and decimals are objects there, which declare no type")
def test_every_order_in_every_engine(table_in: TableMaker, request: pytest.FixtureRequest) -> None:
    """Counts are the same in every engine as with exact fractions, and answers have the column's type."""
    in_sqlite = "ibis_sqlite" in request.node.name
    trips = table_in(ORDERED.drop(["clock", "took", "price"]) if in_sqlite else ORDERED)
    for column, (bounds, step, exactly) in GRIDS.items():
        if in_sqlite and column not in ("day", "began"):
            continue  # SQLite has no types for times of day and spans, and its decimals are floats
        if column == "took" and isinstance(trips, str) and trips.endswith("parquet"):
            continue  # Parquet has no time spans and stores a whole number
        if column == "price" and isinstance(trips, str) and not trips.endswith("parquet"):
            trips = TextFile(trips, read_as={"price": "decimal"})
        opened = open_table(trips, needed=["rider", column])
        axis = column_grid(opened, column, bounds=bounds, step=step)
        assert isinstance(axis.grid, Grid)
        values = ORDERED[column].to_pylist()
        at_or_above = [math.ceil(exactly(value) / axis.grid.step) for value in values]
        at_or_below = [math.floor(exactly(value) / axis.grid.step) for value in values]
        last, rows = len(axis) - 1, Rows(user="rider")
        found = people_per_grid_point(
            axis.table, rows, column=column, grid=axis.grid, per_person="least", outside="clamp"
        )[0]
        clamped = [min(max(index, 0), last) for index in at_or_above]
        assert found.tolist() == np.bincount(clamped, minlength=last + 1).tolist(), column
        assert type(axis.label(0)) is type(values[0])
        if column != "took":
            continue  # the same index, and Spark takes long
        found = people_per_interval(axis.table, rows, column=column, grid=axis.grid)[0]
        within = [
            index
            for index, value in zip(at_or_below, values, strict=True)
            if 0 <= exactly(value) <= last * axis.grid.step
        ]
        assert found.tolist() == np.bincount(within, minlength=last + 1).tolist(), column
    if in_sqlite:
        return
    release = top_k(
        trips, "clock", k=3, bounds=GRIDS["clock"][0], step="1s", epsilon=8, user="rider"
    )
    assert {type(moment) for moment in release.answer} == {dt.time}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_median_without_bounds(engine: str) -> None:
    release = median(ENGINES[engine], "profit", epsilon=8, user="rider")
    assert abs(release.answer - (MIDDLE - 8000)) < 500
    assert release.guarantee == PureDP(8)
    assert any(
        "No bounds were given: the grid has steps of 1 near zero" in rule for rule in release.rules
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
    """The slow twin searches the list of points; a value just above a point belongs to the next one."""
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
    """The exact law of a quantile on a small growing grid, by the real counting, is within ε and near it."""
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
        (
            "profit",
            {"unit": "1e300"},
            "unit='1e300' is not allowed: it must be from 1e-100 to 1e100",
        ),
        ("profit", {"unit": "1e-300"}, "from 1e-100 to 1e100"),
        ("profit", {"bounds": (0, 0)}, "the lower bound must be below the upper one"),
        ("profit", {"largest": "0.5"}, "largest"),
        ("began", {"largest": 5}, "largest"),
        ("began", {"step": "1s"}, "step"),
    ],
)
def test_what_does_not_fit_is_refused(column: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        median(TRIPS, column, epsilon=1, user="rider", **options)
    with pytest.raises(ParameterError, match="magnitude"):
        bound(TRIPS, "began", epsilon=1, user="rider")


# ---- tables of counts -----------------------------------------------------------------------------------

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
    with pytest.raises(ParameterError, match="which person a row belongs to"):
        table(huge, counted="people", one_row_per_user=True, ledger=None)
    assert "counted in people" in repr(table(huge, counted="people", ledger=None))


def test_a_growing_grid_and_several_quantiles() -> None:
    """The recursion works on any ordered grid, and the answers never decrease."""
    grid = GrowingGrid.of(1, 10**6)
    people = np.zeros(len(grid), dtype=np.int64)
    people[grid.zero + 5 : grid.zero + 1005] = 3
    levels = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    chooser, bits = PermuteAndFlip(epsilon=2), scripted("a growing grid")
    found = recursive(people, levels, chooser, neighbours="add-remove", bits=bits)
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
        ({"bounds": "2020-01-01:2024-12-31", "step": "1w"}, "'1w' is not allowed"),
        ({"bounds": "2020-01-01:2024-12-31", "step": "0d"}, "'0d' is not allowed"),
    ],
)
def test_wrong_bounds_and_steps_are_echoed_as_they_were_written(
    terms: dict[str, str], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        ask(ENGINES["polars"], "day", **terms)


def in_csv(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "trips.csv"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("written", "options", "answer", "said"),
    [
        ("2024-03-05", {"bounds": "2024-01-01:2024-12-31"}, dt.date(2024, 3, 5), "as dates, such"),
        (
            "2024-03-05T23:30+02:00",
            {"bounds": "2024-01-01:2024-12-31", "step": "1d"},
            dt.date(2024, 3, 5),
            "the day as written counts",
        ),
        (
            "2024-03-05T23:30+02:00",
            {"bounds": "2024-01-01:2024-12-31", "step": "30min"},
            dt.datetime(2024, 3, 5, 21, 30),
            "converted to UTC",
        ),
        (
            "2024-03-05 23:30:00",
            {"bounds": "2024-01-01T00:00Z/2024-12-31T00:00Z", "step": "30min"},
            dt.datetime(2024, 3, 5, 23, 30, tzinfo=dt.UTC),
            "dates with times",
        ),
        ("9:15", {"bounds": "08:00/18:00", "step": "15min"}, dt.time(9, 15), "as times of day"),
        (
            "9:15",
            {"bounds": (dt.time(8), dt.time(18)), "step": 900},
            dt.time(9, 15),
            "times of day",
        ),
        ("PT90M", {"bounds": "0s:2h", "step": "1min"}, dt.timedelta(minutes=90), "as time spans"),
        ("1:30:00", {"unit": "1min"}, dt.timedelta(minutes=90), "as time spans"),
        ("12.50", {"bounds": (Decimal(0), Decimal(20)), "step": "0.5"}, Decimal("12.5"), "decimal"),
    ],
)
def test_the_public_parameters_say_what_texts_spell(
    tmp_path: Path, written: str, options: dict[str, Any], answer: Any, said: str
) -> None:
    """All people have one value, so another answer has probability below 10⁵·e^(−9·100)."""
    rows = [f"{i},{written}" for i in range(400)]
    file = in_csv(tmp_path, "rider,at", *rows, "401,nonsense", "402,", "403,2024-02-30")
    release = median(file, "at", epsilon=9, user="rider", **options)
    assert release.answer == answer
    assert type(release.answer) is type(answer)
    assert sum("other texts are left out" in rule for rule in release.rules) == 1
    assert any(said in rule for rule in release.rules)
    if "bounds" in options:
        chosen = mode(file, "at", epsilon=9, user="rider", **options)
        assert chosen.answer == answer
        assert any(said in rule for rule in chosen.rules)


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("date", dt.date(2024, 3, 5)),
        ("moment", dt.datetime(2024, 3, 5, 9, 0)),
        ("time", dt.time(9, 0)),
    ],
)
def test_a_text_file_is_told_what_its_texts_spell(tmp_path: Path, kind: str, answer: Any) -> None:
    rows = [f"{i},2024-03-05T09:00" for i in range(400)]
    file = TextFile(in_csv(tmp_path, "rider,at", *rows), read_as={"at": kind})
    assert median(file, "at", epsilon=9, user="rider").answer == answer
    assert table(file, user="rider", ledger=None).columns == {"rider": "text", "at": kind}
    with pytest.raises(ParameterError, match="magnitude"):
        bound(file, "at", epsilon=1, user="rider")


def test_numbers_in_a_text_file_stay_numbers(tmp_path: Path) -> None:
    """Bounds that could be read as dates or times stay numbers, because nothing else was declared."""
    file = in_csv(tmp_path, "rider,at", *(f"{i},20240305" for i in range(200)))
    for bounds in ("20240101:20240401", "20240100:20240399"):
        assert median(file, "at", bounds=bounds, epsilon=9, user="rider").answer == 20240305
    file = in_csv(tmp_path, "rider,at", *(f"{i},15" for i in range(200)))
    assert median(file, "at", bounds="10:20", epsilon=9, user="rider").answer == 15
    with pytest.raises(ParameterError, match="whole number of steps"):
        median(file, "at", bounds="20240101:20240401", step=7, epsilon=9, user="rider")


@pytest.mark.parametrize(
    ("read_as", "options", "words"),
    [
        ({"at": "date"}, {"bounds": "0:9"}, "2020-01-01:2024-12-31"),
        ({"at": "time"}, {"bounds": "8:00:18:00"}, "08:00/18:00"),
        ({"at": "time"}, {"bounds": "18:00/08:00", "step": "1h"}, "a larger one"),
        ({"at": "decimal"}, {"bounds": "2024-01-01:2024-12-31"}, "are dates or times"),
        ({"at": "span"}, {"largest": "999999999d"}, "a million years"),
        ({"then": "date"}, {"bounds": "0:9"}, "one of the columns"),
    ],
)
def test_what_does_not_fit_the_reading_is_refused(
    tmp_path: Path, read_as: dict[str, str], options: dict[str, Any], words: str
) -> None:
    file = TextFile(in_csv(tmp_path, "rider,at", "1,2024-01-01"), read_as=read_as)
    with pytest.raises(ParameterError, match=words):
        median(file, "at", epsilon=1, user="rider", **options)


def test_only_a_text_file_is_told_what_it_spells(tmp_path: Path) -> None:
    TRIPS.write_parquet(tmp_path / "trips.parquet")
    file = TextFile(tmp_path / "trips.parquet", read_as={"day": "date"})
    with pytest.raises(ParameterError, match="Parquet declares its types"):
        median(file, "day", epsilon=1, user="rider")


def test_a_growing_grid_of_spans_ends_where_spans_end() -> None:
    for unit in ("1us", "1h", "1w"):
        assert (
            type(median(TRIPS, "took", unit=unit, epsilon=1, user="rider").answer) is dt.timedelta
        )
        assert type(bound(TRIPS, "took", unit=unit, epsilon=1, user="rider").answer) is dt.timedelta
