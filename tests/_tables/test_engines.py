"""Two values are one only if they are the same value of the column's type, in every engine and every role."""

from __future__ import annotations

import datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import duckdb
import ibis.expr.datatypes as dt
import narwhals as nw
import polars as pl
import pyarrow as pa
import pytest

from discreet._tables import (
    Rows,
    open_table,
    people_per_candidate,
)
from discreet._tables.counts import commonest_values
from discreet._tables.engines import fitting
from discreet._tables.where import parse
from discreet.errors import ParameterError
from discreet.questions import mode
from discreet.questions.candidates import public_candidates
from tests.tools.engines import TableMaker

WIDE = 2**53
PANDAS = int(version("pandas").partition(".")[0])
PAIRS: list[tuple[pa.DataType, Any, Any]] = [
    (pa.string(), "a", "a\0"),
    (pa.string(), "a", "A"),
    (pa.string(), "é", "e\u0301"),
    (pa.string(), "a", "a "),
    (pa.int64(), WIDE, WIDE + 1),
    (pa.decimal128(38, 0), Decimal(WIDE), Decimal(WIDE + 1)),
    (pa.decimal128(38, 20), Decimal("0.1"), Decimal("0.10000000000000000001")),
    (pa.float32(), 1.0, 1.0000001192092896),
    (pa.bool_(), True, False),
    (pa.date32(), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
]


@pytest.mark.skips_engines(
    lazy="the same types as polars",
    parquet="the same types as duckdb",
    csv="a CSV file declares no types",
    jsonl="a file of JSON lines declares no types",
)
@pytest.mark.leaves_out(
    lambda given: (
        (given["table_in"] == "ibis_sqlite" and pa.types.is_decimal(given["kind"]))
        or (given["table_in"] == "ibis_postgres" and given["second"] == "a\0")
    ),
    "SQLite keeps decimals as floats, and PostgreSQL has no NUL in a text",
)
@pytest.mark.leaves_out(
    lambda given: given["table_in"] == "pandas" and given["second"] == "a\0" and PANDAS < 3,
    "before version 3, pandas takes texts for equal that are equal up to a NUL",
)
@pytest.mark.parametrize(("kind", "first", "second"), PAIRS, ids=lambda value: repr(value)[:30])
def test_near_values_are_two(
    table_in: TableMaker, kind: pa.DataType, first: Any, second: Any
) -> None:
    def column(*values: Any) -> pa.Array:
        return pa.array(values, kind)

    # As candidates: three people have the first and two the second.
    values = column(first, first, second, first, second, None)
    table = open_table(
        table_in(pa.table({"c": values, "u": pa.array([1, 2, 3, 4, 5, 6])})), needed=[]
    )
    keys = public_candidates([first, second], column="c", kind=table.kinds["c"]).keys
    for candidates, expected in ((keys, [3, 2]), (keys[::-1], [2, 3]), (keys[1:], [2])):
        counts = people_per_candidate(table, Rows(user="u"), column="c", keys=candidates)
        assert counts.tolist() == [expected]
    found = commonest_values(table, Rows(user="u"), column="c", most=5)
    assert found == [(first, 3), (second, 2)]
    # As groups.
    grouped = Rows(user="u", by="c", groups=keys[::-1], key=1)
    assert people_per_candidate(table, grouped, column="u", keys=[1, 3, 5]).tolist() == [
        [0, 1, 1],
        [1, 0, 0],
    ]
    # As people: two of them, one with two rows.
    people = pa.table(
        {"c": pa.array(["x", "x", "x", "x"]), "u": column(first, second, first, None)}
    )
    table = open_table(table_in(people), needed=[])
    assert people_per_candidate(table, Rows(user="u"), column="c", keys=["x"]).tolist() == [[2]]


def test_a_collation_does_not_count() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t(c VARCHAR COLLATE NOCASE, u VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t SELECT 'A', 'p' || i FROM range(100) r(i)")
    connection.execute("INSERT INTO t VALUES ('a', 'P1')")
    for setting in ("", "NOCASE"):
        connection.execute(f"SET default_collation = '{setting}'")
        table = open_table(connection.sql("SELECT * FROM t"), needed=[])
        rows = Rows(user="u")
        assert people_per_candidate(table, rows, column="c", keys=["A", "a"]).tolist() == [[100, 1]]
        rows = Rows(user="u", where=parse("c = 'a' or c in ('a', 'b')"))
        assert people_per_candidate(table, rows, column="c", keys=["A", "a"]).tolist() == [[0, 1]]
        assert commonest_values(table, Rows(user="u"), column="c", most=2) == [("A", 100), ("a", 1)]


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT", "BIGINT"])
def test_wide_integers_never_become_floats(kind: str) -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t(c {kind})")
    connection.execute("INSERT INTO t SELECT $1 FROM range(1000)", [WIDE])
    connection.execute("INSERT INTO t VALUES ($1)", [WIDE + 1])
    table = open_table(connection.sql("SELECT * FROM t"), needed=[])
    keys = [WIDE, WIDE + 1, 2**127, 2**128, -1]
    assert people_per_candidate(table, Rows(), column="c", keys=keys).tolist() == [
        [1000, 1, 0, 0, 0]
    ]
    assert commonest_values(table, Rows(), column="c", most=2) == [(WIDE, 1000), (WIDE + 1, 1)]


def test_the_ends_of_wide_types() -> None:
    wide = duckdb.sql(f"SELECT unnest([{2**127 - 1}, {2**64}]::HUGEINT[]) AS c")
    table = open_table(wide, needed=[])
    assert people_per_candidate(table, Rows(), column="c", keys=[2**64, 2**127 - 1]).tolist() == [
        [1, 1]
    ]
    unsigned = open_table(pl.DataFrame({"c": pl.Series([2**64 - 1], dtype=pl.UInt64)}), needed=[])
    assert people_per_candidate(unsigned, Rows(), column="c", keys=[2**64 - 1]).tolist() == [[1]]
    money = open_table(pl.DataFrame({"c": [Decimal("1.50")]}), needed=[])
    keys = [Decimal("1.5"), Decimal("1.501"), Decimal(10) ** 60]
    assert people_per_candidate(money, Rows(), column="c", keys=keys).tolist() == [[1, 0, 0]]


@pytest.mark.parametrize(
    "values", [[[1], [1]], [{"a": 1}, {"a": 1}], [b"x", b"y"], [datetime.time(1), datetime.time(2)]]
)
def test_what_cannot_be_told_apart_is_refused(values: list[Any]) -> None:
    frame = pl.DataFrame({"c": ["a", "b"], "u": values})
    with pytest.raises(ParameterError, match="user="):
        mode(frame, column="c", candidates=["a"], epsilon=1, user="u")
    with pytest.raises(ParameterError, match="by="):
        mode(
            frame,
            column="c",
            candidates=["a"],
            epsilon=1,
            one_row_per_user=True,
            by="u",
            groups=[1],
        )


@pytest.mark.parametrize(
    ("kind", "held", "beyond"),
    [
        (nw.Int8(), [-128, 127], [-129, 128, 255]),
        (nw.UInt8(), [0, 255], [-1, 256, 511]),
        (nw.UInt64(), [2**64 - 1], [-1, 2**64]),
        (nw.Int128(), [-(2**127), 2**127 - 1], [2**127]),
        (nw.Decimal(4, 2), [Decimal("99.99"), Decimal("-0.01"), 7], [Decimal("0.005"), 100]),
        (nw.Float32(), [0.5, 2.0**100], [0.1]),
        (dt.int16, [-(2**15), 2**15 - 1], [2**15]),
        (dt.uint64, [2**64 - 1], [-1, 2**64]),
        (dt.Decimal(76, 20), [10**55, Decimal("1e-20")], [10**56, Decimal("1e-21")]),
        (dt.float32, [0.5], [0.1]),
    ],
    ids=str,
)
def test_what_a_type_can_hold(kind: Any, held: list[Any], beyond: list[Any]) -> None:
    fits = fitting(kind)
    assert [fits(key) for key in (*held, *beyond)] == [True] * len(held) + [False] * len(beyond)
