"""Look-alikes of real-world tables give the same counts for every kind of table.

They have one or several rows per person, dates with missing values, column names with spaces, quotes and
Cyrillic letters, and as many flights as nycflights13. The expected counts come from plain Python.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import narwhals
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from discreet._tables import (
    Grid,
    Rows,
    Table,
    TextFile,
    open_table,
    people_per_candidate,
    people_per_grid_point,
)
from discreet._tables.moments import period_in
from discreet._tables.where import parse
from discreet.errors import ParameterError
from discreet.questions import mode
from discreet.questions.candidates import candidates_of
from tests.tools.engines import Capsule, TableMaker, made

Row = dict[str, Any]
_RANDOM = random.Random(331)  # noqa: S311 - invented rows


@dataclass(frozen=True)
class Tried:
    """A table, its person column, and a question about it: a column, its candidates, a condition."""

    columns: dict[str, list[Any]]
    types: dict[str, pa.DataType]
    user: str | None
    column: str
    candidates: list[Any]
    where: str
    holds: Callable[[Row], bool]
    numbers: str
    bounds: str
    dated: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    @property
    def arrow(self) -> pa.Table:
        return pa.table({n: pa.array(c, self.types[n]) for n, c in self.columns.items()})


def _chosen(values: list[Any], number: int, *, missing: float = 0.1) -> list[Any]:
    return [None if _RANDOM.random() < missing else _RANDOM.choice(values) for _ in range(number)]


def _affairs() -> Tried:
    """Return one row per person, as in statsmodels' survey: numbered answers, ages in steps, a text."""
    number = 600
    return Tried(
        {
            "person": list(range(number)),
            "occupation": _chosen(["teacher", "nurse", "clerk", "it's other", "студент"], number),
            "rate_marriage": _chosen([1, 2, 3, 4, 5], number),
            "age": _chosen([17.5, 22.0, 27.0, 32.0, 37.0, 42.0], number),
        },
        {
            "person": pa.int64(),
            "occupation": pa.string(),
            "rate_marriage": pa.int64(),
            "age": pa.float64(),
        },
        None,
        "occupation",
        ["nurse", "clerk", "студент", "it's other", "nobody"],
        "rate_marriage >= 3 and age < 40",
        lambda row: (row["rate_marriage"] or 0) >= 3 and (row["age"] or 99.0) < 40,
        "age",
        "15:45",
    )


def _wages() -> Tried:
    """Return several rows per person, one per year, as in linearmodels' panel of wages."""
    people = [person for person in range(120) for _ in range(8)]
    return Tried(
        {
            "nr": people,
            "year": [1980 + place % 8 for place in range(len(people))],
            "lwage": [round(_RANDOM.gauss(1.6, 0.5), 4) for _ in people],
            "occupation": _chosen(list(range(1, 10)), len(people)),
        },
        {"nr": pa.int64(), "year": pa.int64(), "lwage": pa.float64(), "occupation": pa.int64()},
        "nr",
        "occupation",
        [1, 2, 3, 9, 11],
        "year in (1980, 1987) or lwage > 2.5",
        lambda row: row["year"] in (1980, 1987) or row["lwage"] > 2.5,
        "lwage",
        "0:4",
    )


def _visits() -> Tried:
    """Return dates and moments, some missing, under column names that need quotes."""
    number = 500
    first = dt.datetime(2023, 12, 20)
    moments = [
        None
        if _RANDOM.random() < 0.1
        else first + dt.timedelta(minutes=_RANDOM.randrange(90 * 1440))
        for _ in range(number)
    ]
    return Tried(
        {
            "имя пациента": _chosen([f"п{i}" for i in range(90)], number),
            'said "so"': _chosen(["yes", "no", ""], number),
            "began at": moments,
            "day's": [None if at is None else at.date() for at in moments],
            "cost; €": _chosen([1.5, 2.25, 10.0, 80.0], number),
        },
        {
            "имя пациента": pa.string(),
            'said "so"': pa.string(),
            "began at": pa.timestamp("us"),
            "day's": pa.date32(),
            "cost; €": pa.float64(),
        },
        "имя пациента",
        'said "so"',
        ["yes", "no"],
        '"cost; €" > 2',
        lambda row: (row["cost; €"] or 0) > 2,
        "cost; €",
        "0:100",
        {"began at": "moment", "day's": "date"},
    )


TRIED = {"one row each": _affairs(), "several rows each": _wages(), "dates and names": _visits()}


def _people(tried: Tried, value: Callable[[Row], Any], *, where: bool = False) -> dict[Any, int]:
    """Return the number of people with each value; each person counts once."""
    found: dict[Any, set[Any]] = {}
    for place, row in enumerate(tried.rows):
        person = place if tried.user is None else row[tried.user]
        if person is None or person == "" or value(row) is None or (where and not tried.holds(row)):
            continue
        found.setdefault(value(row), set()).add(person)
    return {key: len(people) for key, people in found.items()}


def _weekday(column: str, row: Row) -> int | None:
    return None if row[column] is None else int(row[column].weekday())


def _month(column: str, row: Row) -> str | None:
    return None if row[column] is None else f"{row[column]:%Y-%m}"


def _opened(tried: Tried, held: Any) -> Any:
    if isinstance(held, str) and held.endswith((".csv", ".jsonl")):
        held = TextFile(held, read_as=tried.dated)
    return open_table(held, needed=list(tried.columns))


@pytest.mark.parametrize("name", TRIED)
def test_every_way_in_counts_the_same(
    table_in: TableMaker, name: str, request: pytest.FixtureRequest
) -> None:
    # There, dates are objects, which declare no type.
    dated = "objects" not in request.node.name
    _counts_as_python_does(
        TRIED[name], _opened(TRIED[name], table_in(TRIED[name].arrow)), dated=dated
    )


def _counts_as_python_does(tried: Tried, table: Table, *, dated: bool = True) -> None:
    who = Rows(user=tried.user)
    whole = (
        tried.candidates
        if table.kinds[tried.column] != "text"
        else [str(c) for c in tried.candidates]
    )
    for rows, where in ((who, False), (Rows(user=tried.user, where=parse(tried.where)), True)):
        counted = people_per_candidate(table, rows, column=tried.column, keys=whole)[0].tolist()
        expected = _people(tried, lambda row: row[tried.column], where=where)
        assert counted == [expected.get(each, 0) for each in tried.candidates]
    grid = Grid.between(tried.bounds, step="0.25")
    found = people_per_grid_point(table, who, column=tried.numbers, grid=grid, per_person="largest")
    largest: dict[Any, float] = {}
    for place, row in enumerate(tried.rows):
        person, number = (place if tried.user is None else row[tried.user]), row[tried.numbers]
        if person is not None and number is not None and grid.lower <= number <= grid.upper:
            largest[person] = max(number, largest.get(person, number))
    points = [-int(-(number - float(grid.lower)) // 0.25) for number in largest.values()]
    assert found[0].tolist() == np.bincount(points, minlength=len(grid)).tolist()
    for column, kind in tried.dated.items() if dated else ():
        expected = _people(tried, partial(_weekday, column))
        keys = list(range(7))
        weekdays = people_per_candidate(table, who, column=column, keys=keys, period="weekday")
        assert weekdays[0].tolist() == [expected.get(key, 0) for key in keys], kind
        months = ("2023-12", "2024-01", "2024-02", "2024-03")
        numbers = [period[1] for month in months if (period := period_in(month))]
        by_month = _people(tried, partial(_month, column))
        counted = people_per_candidate(table, who, column=column, keys=numbers, period="month")
        assert counted[0].tolist() == [by_month.get(month, 0) for month in months]
        early = Rows(user=tried.user, where=parse(f"\"{column}\" <= '2024-01'"))
        counted = people_per_candidate(table, early, column=column, keys=numbers, period="month")
        assert counted[0].tolist() == [by_month.get(month, 0) for month in months[:2]] + [0, 0]


def _kinds_of_pandas(held: pa.Table) -> dict[str, Any]:
    """Return a table as pandas frames of every family of types, and as data sets."""
    plain = held.to_pandas(date_as_object=False)
    repeated = [name for name in held.column_names if plain[name].nunique() < 20]
    encoded = [
        held[name].dictionary_encode() if pa.types.is_string(held[name].type) else held[name]
        for name in held.column_names
    ]
    return {
        "numpy": plain,
        "nullable": plain.convert_dtypes(),
        "pyarrow": plain.convert_dtypes(dtype_backend="pyarrow"),
        "categories": plain.astype(dict.fromkeys(repeated, "category")),
        "data set": ds.dataset(pa.table(encoded, held.column_names)),
        "pyarrow's reader, held": pa.table(held.to_reader()),
        "narwhals": narwhals.from_native(pl.from_arrow(held)),
    }


@pytest.mark.parametrize("name", TRIED)
def test_every_family_of_types_counts_the_same(name: str) -> None:
    """These are pandas' own types, nullable types, Arrow types, and categories of numbers, text and dates."""
    tried = TRIED[name]
    for kind, held in _kinds_of_pandas(tried.arrow).items():
        table = open_table(held, needed=list(tried.columns))
        assert all(table.is_dated(column) for column in tried.dated), kind
        _counts_as_python_does(tried, table)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_periods_of_texts_count_the_same_without_a_stated_type(suffix: str, tmp_path: Path) -> None:
    """Try months, weeks, quarters and conditions on dates and moments in a text file."""
    tried = TRIED["dates and names"]
    declared = open_table(tried.arrow, needed=[])
    spelled = open_table(made(suffix, tried.arrow, tmp_path, None), needed=list(tried.columns))
    for column, words in itertools.product(
        tried.dated, ("2023-W50:2024-W10", "2023-12:2024-03", ["2023-Q4", "2024-Q1"], ["2024"])
    ):
        for condition in (
            None,
            f"\"{column}\" <= '2024-01'",
            f"\"{column}\" in '2024-W02:2024-W03'",
        ):
            rows = Rows(user=tried.user, where=None if condition is None else parse(condition))
            expected, found = (
                people_per_candidate(
                    table, rows, column=column, keys=public.keys, period=public.period
                )
                for table in (declared, spelled)
                if (public := candidates_of(table, words, column=column))
            )
            assert found.tolist() == expected.tolist(), (column, words, condition)
            assert expected.any()


CLOCKS = [None, dt.time(0), dt.time(8, 29, 59, 999_999), dt.time(8, 30), dt.time(23, 59)]
STAYS = [None, dt.timedelta(0), -dt.timedelta(hours=1), dt.timedelta(minutes=90), dt.timedelta(9)]


@pytest.mark.skips_engines(
    objects="times are objects there, which declare no type",
    ibis_sqlite="SQLite has neither times nor spans",
    memtable="Ibis has no times of Arrow's",
    spark="this version has no type for times",
    parquet="it has no spans",
    csv="texts: see test_spelled",
    jsonl="texts: see test_spelled",
)
def test_times_and_spans_in_conditions(table_in: TableMaker) -> None:
    held = table_in(
        pa.table(
            {
                "row": list(range(5)),
                "clock": pa.array(CLOCKS, pa.time64("us")),
                "stay": pa.array(STAYS, pa.duration("us")),
            }
        )
    )
    table = open_table(held, needed=["row", "clock", "stay"])
    for condition, expected in {
        "clock >= '08:30'": [3, 4],
        "clock < '08:30'": [1, 2],
        "clock in ('00:00', '23:59')": [1, 4],
        "clock != '00:00'": [2, 3, 4],
        "stay > '1h'": [3, 4],
        "stay >= '-3600s' and stay <= '1.5h'": [1, 2, 3],
        "not stay > '1h'": [0, 1, 2],
        "clock is null or stay = '9d'": [0, 4],
    }.items():
        counted = people_per_candidate(
            table, Rows(where=parse(condition)), column="row", keys=range(5)
        )
        assert np.flatnonzero(counted[0]).tolist() == expected, condition


FLIGHTS = 336_776


def test_as_many_flights_as_there_were(tmp_path: Path) -> None:
    """The table has 336,776 rows with months, carriers and missing delays; the tail number is the person."""
    draw = np.random.default_rng(13)
    carriers = np.array(["UA", "B6", "EV", "DL", "AA", "9E", "HA"])
    delays = draw.integers(-30, 200, FLIGHTS)
    missing = draw.random(FLIGHTS) < 0.03
    tails = draw.integers(0, 4000, FLIGHTS)
    carrier = draw.integers(0, 7, FLIGHTS)
    began = np.datetime64("2013-01-01T05:00", "s") + draw.integers(0, 365 * 86_400, FLIGHTS)
    table = pa.table(
        {
            "tailnum": [f"N{number}" for number in tails],
            "carrier": carriers[carrier],
            "dep_delay": pa.array(delays, mask=missing),
            "time_hour": pa.array(began),
        }
    )
    late = ~missing & (delays > 60)
    pairs = {
        (tail, kind)
        for tail, kind in zip(tails[late].tolist(), carrier[late].tolist(), strict=True)
    }
    expected = [sum(kind == place for _, kind in pairs) for place in range(7)]
    months = began.astype("M8[M]").astype(int)
    by_month = [
        len(np.unique(tails[months == month])) for month in range(months.min(), months.max() + 1)
    ]
    ds.write_dataset(
        table,
        tmp_path / "parts",
        format="parquet",
        max_rows_per_file=100_000,
        max_rows_per_group=50_000,
    )
    kinds = (
        "polars",
        "lazy",
        "pandas",
        "objects",
        "arrow",
        "capsule",
        "memtable",
        "duckdb",
        "parquet",
    )
    held = {kind: made(kind, table, tmp_path, None) for kind in kinds}
    held["data set"] = ds.dataset(tmp_path / "parts", format="parquet")
    held["glob"] = str(tmp_path / "parts" / "*.parquet")
    for kind, data in held.items():
        opened = open_table(data, needed=[])
        rows = Rows(user="tailnum", where=parse("dep_delay > 60"))
        counted = people_per_candidate(opened, rows, column="carrier", keys=carriers.tolist())
        assert counted[0].tolist() == expected, kind
        numbers = [12 * 2013 + month for month in range(12)]
        monthly = people_per_candidate(
            opened, Rows(user="tailnum"), column="time_hour", keys=numbers, period="month"
        )
        assert monthly[0].tolist() == by_month[:12], kind


# ---- objects with an Arrow stream
# -----------------------------------------------------------------------------------

SMALL = pa.table({"code": ["a", "a", "b"], "u": [1, 2, 3]})


class _Counting(Capsule):
    """An object that counts how often its stream is opened."""

    opened = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        type(self).opened += 1
        return super().__arrow_c_stream__(requested_schema)


def test_a_plan_opens_no_stream() -> None:
    held = _Counting(SMALL)
    table = open_table(held, needed=["code"])
    assert (table.kinds, _Counting.opened) == ({"code": "text", "u": "integer"}, 0)
    for _ in range(2):  # the second question sees the same rows as the first
        assert people_per_candidate(table, Rows(), column="code", keys=["a", "b"]).tolist() == [
            [2, 1]
        ]
    assert _Counting.opened > 0


class _WithoutSchema:
    def __arrow_c_stream__(self, _requested: object = None) -> object:
        raise AssertionError("opened")


@pytest.mark.parametrize(
    "held", [SMALL.to_reader(), _WithoutSchema(), pa.array(["a"])], ids=lambda h: type(h).__name__
)
def test_what_can_be_read_once_or_says_nothing_before_is_refused(held: Any) -> None:
    with pytest.raises(ParameterError, match="is not allowed"):
        mode(held, "code", candidates=["a"], one_row_per_user=True, epsilon=1)


def test_a_reader_is_refused_with_what_holds_it() -> None:
    with pytest.raises(ParameterError, match=r"only once.*pyarrow\.table\(data\)"):
        open_table(SMALL.to_reader(), needed=[])


def test_lazy_scans_of_text_are_refused(tmp_path: Path) -> None:
    """A malformed row raises when it is read, after the payment, even with a stated schema."""
    (tmp_path / "visits.csv").write_text("code,u\na,1\n")
    (tmp_path / "visits.jsonl").write_text('{"code": "a", "u": 1}\n')
    asked: dict[str, Any] = {"candidates": ["a"], "one_row_per_user": True, "epsilon": 9}
    for lazy in (
        pl.scan_csv(tmp_path / "visits.csv"),
        pl.scan_csv(tmp_path / "visits.csv", schema={"code": pl.String, "u": pl.Int64}).select(
            "code"
        ),
        pl.scan_ndjson(tmp_path / "visits.jsonl"),
    ):
        with pytest.raises(
            ParameterError,
            match=r"Give the path itself.*TextFile states the types.*or collect\(\)",
        ):
            mode(lazy, "code", **asked)
        assert mode(lazy.collect(), "code", **asked).answer == "a"
    named = pl.DataFrame({"code": ["Csv SCAN [x", "a", "a"]}).lazy()
    assert mode(named, "code", **asked).answer == "a"


def test_why_a_stated_schema_is_not_enough(tmp_path: Path) -> None:
    """If Polars learns to skip such rows, these scans could be accepted."""
    (tmp_path / "visits.csv").write_text('code,u\n"a"b,1\n')
    schema = {"code": pl.String, "u": pl.Int64}
    lazy = pl.scan_csv(tmp_path / "visits.csv", schema=schema, ignore_errors=True)
    with pytest.raises(pl.exceptions.ComputeError):
        lazy.collect()


def test_known_kinds_come_before_capsules() -> None:
    """Relations, Spark frames and Ibis tables also have Arrow streams, but are not read through them."""
    import duckdb
    import ibis

    relation = duckdb.sql("SELECT 'a' AS code")
    assert hasattr(relation, "__arrow_c_stream__")
    assert open_table(relation, needed=[]).frames == "duckdb"
    held = ibis.duckdb.connect()
    held.con.execute("CREATE TABLE t AS SELECT 'a' AS code")
    opened = open_table(held.table("t"), needed=[])
    assert (opened.frames, opened.engine.keeps_time) == ("ibis", True)
