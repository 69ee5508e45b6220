"""The order of dates and times in databases, and values that are not dates."""

from __future__ import annotations

import datetime as dt
from typing import Any

import ibis
import pytest

from discreet._tables import Rows, open_table
from discreet._tables.counts import people_per_grid_point
from discreet.errors import ParameterError
from discreet.questions import mode, quantiles
from discreet.questions.ordered import column_grid
from tests.tools.engines import in_database, sqlite_in_memory


def counted(held: Any, column: str) -> list[int]:
    """Return the number of people on each of the first three days of 2024."""
    axis = column_grid(
        open_table(held, needed=[column]), column, bounds="2024-01-01:2024-01-03", step="1d"
    )
    found = people_per_grid_point(
        axis.table, Rows(), column=column, grid=axis.grid, per_person="least", outside="drop"
    )
    numbers: list[int] = found[0].tolist()
    return numbers


def test_nothing_that_sqlite_keeps_raises() -> None:
    """SQLite stores any value; only ISO text is a date, and SQLite's own keywords are not."""
    connection = sqlite_in_memory()
    connection.con.execute("CREATE TABLE held (day date, at timestamp)")
    given = [
        "2024-01-02",
        "2024-01-02T00:00:00",
        20240102,
        5,
        -5,
        2460311.5,
        "now",
        "",
        None,
        b"2024",
        "2024-02-30",
    ]
    rows = [(value, value) for value in given]
    connection.con.executemany("INSERT INTO held VALUES (?, ?)", rows)
    connection.con.execute("INSERT INTO held VALUES (CAST(x'ff2d' AS TEXT), CAST(x'2dff' AS TEXT))")
    connection.con.commit()
    for column in ("day", "at"):
        assert counted(connection.table("held"), column) == [0, 2, 0]


INFINITE = "('2024-01-02'), ('infinity'), ('-infinity'), (NULL)"


def test_infinite_dates_are_missing_in_duckdb() -> None:
    connection = ibis.duckdb.connect()
    for kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ"):
        connection.con.execute(f"CREATE OR REPLACE TABLE held (day {kind})")
        connection.con.execute(f"INSERT INTO held VALUES {INFINITE}")  # noqa: S608
        assert sum(counted(connection.table("held"), "day")) <= 1 + (kind == "TIMESTAMPTZ")
        assert kind == "TIMESTAMPTZ" or counted(connection.table("held"), "day") == [0, 1, 0]


def test_infinite_dates_are_missing_in_postgresql(postgres_database: str) -> None:
    connection = ibis.connect(postgres_database.replace("postgresql://", "postgres://"))
    try:
        for kind in ("date", "timestamp", "timestamptz"):
            with connection.con.cursor() as cursor:
                cursor.execute("SET TIME ZONE 'UTC'")
                cursor.execute(f"CREATE TABLE held_{kind} (day {kind})")
                cursor.execute(f"INSERT INTO held_{kind} VALUES {INFINITE}, ('4000-01-01 BC')")  # noqa: S608
            assert counted(connection.table(f"held_{kind}"), "day") == [0, 1, 0]
    finally:
        connection.con.close()


def test_answers_come_back_in_the_columns_type() -> None:
    import pyarrow as pa

    days = [dt.date(2024, 1, 1 + i % 3) for i in range(300)]
    held = in_database("ibis_sqlite", pa.table({"rider": list(range(300)), "day": days}), None)
    asked: dict[str, Any] = {"bounds": "2024-01-01:2024-01-31", "user": "rider", "epsilon": 9}
    assert quantiles(held, "day", at=[0.5], **asked).answer == (dt.date(2024, 1, 2),)
    assert type(mode(held, "day", step="1d", **asked).answer) is dt.date
    with pytest.raises(ParameterError, match="2020-01-01:2024-12-31"):
        mode(held, "day", bounds="0:9", user="rider", epsilon=1)
