"""Periods: numbered as in Python's calendar, with the same counts in every engine and time zone."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet._tables import Rows, Table, TextFile, open_table, people_per_candidate
from discreet._tables.moments import PERIODS, RECURRING, days_of, period_in
from discreet._tables.where import parse
from discreet.errors import ParameterError
from discreet.questions import (
    FirstAbove,
    Median,
    Mode,
    NeverMatchesWarning,
    first_above,
    median,
    mode,
    top_k,
)
from tests.tools.engines import TableMaker

EPOCH = dt.date(1970, 1, 1)
_RANDOM = random.Random(31)  # noqa: S311 - dates for a test
NEAR = [EPOCH + dt.timedelta(days=_RANDOM.randrange(-9000, 25_000)) for _ in range(60)]
YEARS = (1899, 1969, 1970, 2020, 2024, 2100)
ENDS = [dt.date(year, *end) for year in YEARS for end in ((1, 1), (2, 28), (12, 31))]
DAYS = [*NEAR, *ENDS, dt.date(2024, 2, 29), dt.date(2000, 2, 29)]
MOMENTS = [
    dt.datetime.combine(day, dt.time(_RANDOM.randrange(24), _RANDOM.randrange(60), 59, 999_999))
    for day in DAYS
] + [dt.datetime.combine(day, dt.time()) for day in DAYS[:5]]


def slowly(moment: dt.date, kind: str) -> Any:
    """Return the name of the period of a day or a moment, using only Python's calendar."""
    year, week, weekday = moment.isocalendar()
    return {
        "day": f"{moment.year:04}-{moment:%m-%d}",
        "week": f"{year:04}-W{week:02}",
        "month": f"{moment.year:04}-{moment:%m}",
        "quarter": f"{moment.year:04}-Q{(moment.month + 2) // 3}",
        "year": f"{moment.year:04}",
        "weekday": RECURRING["weekday"][weekday - 1],
        "hour of day": f"{getattr(moment, 'hour', 0):02}:00",
        "month of year": RECURRING["month of year"][moment.month - 1],
    }[kind]


@pytest.mark.parametrize("kind", PERIODS)
def test_numbers_and_days_of_periods(kind: str) -> None:
    for day in (*DAYS, dt.date(1, 1, 1), dt.date(9999, 12, 20)):
        written = slowly(day, kind)
        found = period_in(f" {written} ")
        assert found is not None
        assert (found[0], PERIODS[kind].write(found[1])) == (kind, written)
        stretch = days_of(written)
        assert stretch is not None
        assert stretch[1] <= (day - EPOCH).days < stretch[2]
        for beside in (stretch[1] - 1, stretch[2]):
            if -719_162 <= beside < 2_932_890:
                assert slowly(EPOCH + dt.timedelta(days=beside), kind) != written


@pytest.mark.parametrize(
    "text",
    [
        "2024-W53",
        "2024-13",
        "2024-Q5",
        "0000",
        "2024-02-30",
        "2024-03:2024-W10",
        "2024-03:2024-01",
        "24",
    ],
)
def test_what_is_no_period(text: str) -> None:
    assert days_of(text) is None


# ---- in every engine -------------------------------------------------------------------------------------


def _opened(held: Any) -> Table:
    if isinstance(held, str) and held.endswith((".csv", ".jsonl")):
        held = TextFile(held, read_as={"day": "date", "at": "moment"})
    return open_table(held, needed=["at", "day", "u"])


def _number(kind: str, label: str) -> int:
    found = period_in(label)
    return RECURRING[kind].index(label) if kind in RECURRING else found[1] if found else -1


NO_OBJECTS = pytest.mark.skips_engines(objects="dates are objects there, which declare no type")
DATED = pa.table(
    {
        "at": pa.array([*MOMENTS, None], pa.timestamp("us")),
        "day": pa.array([*(moment.date() for moment in MOMENTS), None], pa.date32()),
        "u": list(range(len(MOMENTS) + 1)),
    }
)


@NO_OBJECTS
def test_people_per_period_in_every_engine(table_in: TableMaker) -> None:
    table = _opened(table_in(DATED))
    for column in ("at", "day"):
        for kind in (*PERIODS, *RECURRING):
            if kind == "hour of day" and column == "day":
                continue
            expected: dict[str, int] = defaultdict(int)
            for moment in MOMENTS:
                expected[slowly(moment, kind)] += 1
            keys = [_number(kind, label) for label in expected]
            found = people_per_candidate(
                table, Rows(user="u"), column=column, keys=keys, period=kind
            )
            assert found.tolist() == [list(expected.values())], (column, kind)
    rows = Rows(by="at", groups=tuple(range(7)), period="weekday", groups_per_person=7)
    grouped = people_per_candidate(table, rows, column="day", keys=list(range(7)), period="weekday")
    assert (grouped > 0).sum() == (grouped.diagonal() > 0).sum() == 7


CONDITIONS: dict[str, Callable[[Any], bool]] = {
    "{} = '2024-02'": lambda at: f"{at:%Y-%m}" == "2024-02",
    "{} <= '2024-02'": lambda at: f"{at:%Y-%m}" <= "2024-02",
    "{} < '2024-W09'": lambda at: at.date() < dt.date(2024, 2, 26),
    "{} > '1970-Q1'": lambda at: at.date() >= dt.date(1970, 4, 1),
    "{} >= '2020'": lambda at: at.year >= 2020,
    "{} != '2024-02-29'": lambda at: at.date() != dt.date(2024, 2, 29),
    "{} in '1969-12-31:1970-01-01'": lambda at: (
        dt.date(1969, 12, 31) <= at.date() <= dt.date(1970, 1, 1)
    ),
    "{} in ('1899', '2100')": lambda at: at.year in (1899, 2100),
    "not {} in '1900:2099'": lambda at: not 1900 <= at.year <= 2099,
}


@pytest.mark.skips_engines(
    objects="dates are objects there", csv="compared as texts", jsonl="compared as texts"
)
def test_conditions_on_periods_in_every_engine(table_in: TableMaker) -> None:
    table = _opened(table_in(DATED))
    people = list(range(len(MOMENTS)))
    for text, holds in CONDITIONS.items():
        for column in ("at", "day"):
            rows = Rows(user="u", where=parse(text.format(column)))
            found = people_per_candidate(table, rows, column="u", keys=people)[0].tolist()
            assert found == [int(holds(moment)) for moment in MOMENTS], (text, column)


# ---- zones -----------------------------------------------------------------------------------------------

ZONES = ("Europe/Berlin", "America/St_Johns", "UTC")
UNITS = ("s", "ms", "us", "ns")


def _zoned(library: str, unit: str, zone: str) -> Any:
    plain = pa.array(MOMENTS, pa.timestamp("us")).cast(pa.timestamp(unit), safe=False)
    table = pa.table({"at": plain.cast(pa.timestamp(unit, zone)), "u": list(range(len(MOMENTS)))})
    if library == "arrow":
        return table
    if library == "pandas":
        return table.to_pandas()
    return pl.from_arrow(table)


@pytest.mark.leaves_out(
    lambda given: given["library"] == "polars" and given["unit"] == "s", "Polars has no such unit"
)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("library", ["arrow", "pandas", "polars"])
def test_a_period_is_that_of_the_columns_zone(library: str, unit: str) -> None:
    for zone in ZONES:
        table = open_table(_zoned(library, unit, zone), needed=[])
        assert table.kinds["at"] == "moment"
        for kind in ("day", "week", "month", "weekday", "hour of day"):
            expected: dict[str, int] = defaultdict(int)
            for moment in MOMENTS:
                in_zone = moment.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone))
                expected[slowly(in_zone, kind)] += 1
            keys = [_number(kind, label) for label in expected]
            found = people_per_candidate(table, Rows(user="u"), column="at", keys=keys, period=kind)
            assert found.tolist() == [list(expected.values())], (zone, kind)


def test_every_type_of_moment_that_duckdb_declares() -> None:
    for declared in (
        "TIMESTAMP_S",
        "TIMESTAMP_MS",
        "TIMESTAMP",
        "TIMESTAMP_NS",
        "TIMESTAMPTZ",
        "TIMESTAMPTZ_NS",
    ):
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        held = connection.sql(f"SELECT TIMESTAMP '2024-03-01 12:00:00'::{declared} AS at")
        found = mode(held, "at", candidates="2024-01:2024-04", one_row_per_user=True, epsilon=99)
        assert found.answer == "2024-03", declared


# ---- as questions ----------------------------------------------------------------------------------------

VISITS = pl.DataFrame(
    {
        "who": range(700),
        "at": [
            dt.datetime(2024, 1, 1, 9) + dt.timedelta(days=3 * (i % 40), hours=i % 5)
            for i in range(700)
        ],
    }
).with_columns(pl.col("at").dt.date().alias("day"))
ASKED: dict[str, Any] = {"one_row_per_user": True, "epsilon": 99}


def test_periods_in_every_question() -> None:
    for column in ("at", "day"):
        assert mode(VISITS, column, candidates="2024-01:2024-06", **ASKED).answer == "2024-01"
        assert top_k(VISITS, column, k=1, candidates=["2024-Q1", "2024-Q2"], **ASKED).answer == (
            "2024-Q1",
        )
        weeks = first_above(VISITS, column, groups="2023-W50:2024-W20", above=30, **ASKED)
        assert weeks.answer == "2024-W01"
        by_month = median(
            VISITS, "who", bounds="0:700", by=column, groups="2024-01:2024-03", **ASKED
        )
        assert list(by_month.answer) == ["2024-01", "2024-02", "2024-03"]
        release = mode(VISITS, column, period="weekday", **ASKED)
        assert release.answer in RECURRING["weekday"]
        assert any("counts for the weekday in which it lies" in rule for rule in release.rules)
        assert mode(VISITS, column, candidates=[2023, 2024], **ASKED).answer == 2024
        inside = median(VISITS, column, bounds="2024-01:2024-04", step="1d", **ASKED).answer
        assert (
            dt.date(2024, 1, 1)
            <= (inside if column == "day" else inside.date())
            <= dt.date(2024, 5, 1)
        )
    assert mode(VISITS, "at", period="hour of day", **ASKED).answer in (
        "09:00",
        "10:00",
        "11:00",
        "12:00",
        "13:00",
    )
    assert mode(
        VISITS, "who", bounds="0:700", by="at", groups="weekday", **ASKED
    ).answer.keys() == {*RECURRING["weekday"]}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"candidates": ["2024-01", "2024-W03"]}, r"periods of several kinds \(month, week\)"),
        ({"candidates": ["2024-01", "2024-01-04"]}, "several kinds"),
        ({"candidates": ["2024-01", "soon"]}, "'soon'.*ISO weeks"),
        ({"candidates": ["2024-01", "2024-01 "]}, "more than once"),
        ({"candidates": []}, "empty"),
        ({"candidates": [dt.datetime(2024, 1, 1)]}, "cannot be a value"),
        ({"period": "fortnight"}, "weekday, hour of day, month of year"),
        ({"period": "weekday", "candidates": ["2024"]}, "give one of"),
        ({"candidates": ["2024"], "where": "at = 'soon'"}, "'2024-W01'"),
        ({"candidates": ["2024"], "where": "at in ('2024-01', '2024-W03')"}, "several kinds"),
        ({"candidates": ["2024"], "where": "at = 5"}, "a day such as '2024-12-31'.*'at', declared"),
    ],
)
def test_refused_before_anything_is_paid(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        mode(VISITS, "at", **asked, **ASKED)


def test_hours_need_moments_and_periods_need_dates() -> None:
    with pytest.raises(ParameterError, match="has no hours"):
        mode(VISITS, "day", period="hour of day", **ASKED)
    with pytest.raises(
        ParameterError, match="needs a column of dates or moments, and 'who' is declared Int64"
    ):
        mode(VISITS, "who", period="weekday", **ASKED)


def test_a_moment_in_a_condition_is_that_moment() -> None:
    at = pd.DataFrame({"at": pd.to_datetime(["2024-07-01 12:00", "2024-07-01 12:01"]), "u": [1, 2]})
    zoned = at.assign(at=at["at"].dt.tz_localize("Europe/Berlin"))
    for held, text in (
        (at, "2024-07-01T12:00"),
        (zoned, "2024-07-01T12:00"),
        (zoned, "2024-07-01T10:00Z"),
    ):
        for operator, expected in (("=", [1, 0]), ("<=", [1, 0]), (">", [0, 1]), ("!=", [0, 1])):
            rows = Rows(where=parse(f"at {operator} '{text}'"))
            table = open_table(held, needed=[])
            assert people_per_candidate(table, rows, column="u", keys=[1, 2]).tolist() == [expected]


def test_a_rehearsal_of_periods() -> None:
    table = discreet.table(VISITS, one_row_per_user=True)
    for given in (
        {"period": "weekday"},
        {"candidates": "2024-W01:2024-W09"},
        {"period": "month of year"},
    ):
        question = Mode("at", epsilon=9, with_people=True, **given)  # type: ignore[arg-type]  # options
        assert table.rehearse(question).people > 900
    for groups in ("weekday", "2024-W01:2024-W09"):
        assert table.rehearse(FirstAbove("at", groups=groups, above=20, epsilon=9)).answer
        by = Median("who", bounds="0:700", by="at", groups=groups, epsilon=9, with_people=True)
        assert min(table.rehearse(by).people.values()) > 50


def test_a_rehearsal_of_a_text_file(tmp_path: Path) -> None:
    """A text file declares no types; bounds, literals and counts determine the types of invented rows."""
    file = tmp_path / "visits.csv"
    file.write_text("who,day,age,visits\n")
    table = discreet.table(file, user="who")
    for question in (
        Median("age", bounds="0:100", where="visits >= 2 and day <= '2026-03'", epsilon=9),
        Median("day", bounds="2024-01-01:2024-12-31", epsilon=9),
        Mode("day", candidates="2024-01:2024-06", epsilon=9),
        Median("age", bounds="0:100", by="day", groups="2024-01:2024-06", epsilon=9),
    ):
        assert table.rehearse(question).answer is not None
    # The frame's column is declared as text, so the months are only texts there: the rehearsal says so.
    with pytest.warns(NeverMatchesWarning, match="convert it first"):
        discreet.table(pl.read_csv(file, schema_overrides={"day": pl.String}), user="who").rehearse(
            Mode("day", candidates="2024-01:2024-06", epsilon=9)
        )
    many = discreet.table(file, counted="visits")
    assert many.rehearse(Median("age", bounds="0:100", epsilon=9, with_people=True)).people > 900


def test_a_bound_on_groups_that_are_periods_is_chosen() -> None:
    """Period numbers were once compared with dates, and the engine failed after the payment."""
    held = pl.DataFrame(
        {
            "who": [row // 3 for row in range(900)],
            "at": [dt.date(2024, 1 + row % 3, 1 + row % 28) for row in range(900)],
        }
    )
    asked: dict[str, Any] = {"bounds": "0:300", "by": "at", "user": "who", "epsilon": 50}
    found = median(held, "who", groups="2024-01:2024-04", groups_per_person="choose", **asked)
    assert any("at most 3 groups: chosen privately" in rule for rule in found.rules)
