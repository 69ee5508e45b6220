"""No value in a row raises, in any engine, type or role, and one person moves every score by at most one.

Every declared type has its awkward values. One more person has them all as rows, so the two tables are
neighbours. The tests compare the counts with and without that person, and whether anything fails or is
refused, between the two tables and across engines. The remaining cases are on the page of limits.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet._tables import Grid, Rows, Table, open_table, people_per_candidate
from discreet._tables.counts import (
    commonest_values,
    people_per_grid_point,
    people_per_group,
    people_per_group_and_share,
    people_per_interval,
)
from discreet._tables.where import parse
from discreet.errors import DiscreetError, TableError
from discreet.questions import mode
from discreet.questions.candidates import public_candidates
from discreet.questions.ordered import column_grid
from tests.tools.engines import DATABASES, made, sqlite_in_memory

GRID = Grid.between("0:4")
DAY = 86_400_000  # milliseconds
KEY = 20_261_101  # for the hash that draws people into groups


@dataclass(frozen=True)
class Typed:
    """A declared type, two plain values, and awkward values (as Arrow stores them, if Python cannot)."""

    kind: pa.DataType
    plain: tuple[Any, Any]
    nasty: tuple[Any, ...]
    stored: pa.DataType | None = None
    where: str | None = field(default=None)

    def column(self, *, with_nasty: bool) -> pa.Array:
        first, second = self.plain
        plain = pa.array([first, first, second, None, first, second], self.kind)
        nasty = pa.array(self.nasty, self.stored or self.kind)
        if self.stored == pa.binary():
            nasty = pa.Array.from_buffers(self.kind, len(nasty), nasty.buffers())
        elif self.stored is not None:
            nasty = nasty.view(self.kind)
        further = [nasty, pa.array([first], self.kind)] if with_nasty else []
        return pa.concat_arrays([plain, *further])


TEXTS = ("", "a\0", "A", " a", "\0", "e\u0301", "\ufeffa", "x" * 100_000, "NaN", "1e999", None)
TYPES: dict[str, Typed] = {
    "text": Typed(pa.string(), ("a", "b"), TEXTS, where="c != 'b' or c in ('A', 'b')"),
    "large text": Typed(pa.large_string(), ("a", "b"), TEXTS, where="c > 'B'"),
    "int8": Typed(pa.int8(), (1, 2), (-128, 127, None), where="c > 1"),
    "int64": Typed(
        pa.int64(), (1, 2), (2**53 + 1, -(2**63), 2**63 - 1, None), where="c > 1.5 or c = 3"
    ),
    "uint64": Typed(pa.uint64(), (1, 2), (2**53 + 1, 2**64 - 1, None), where="c > 1.5"),
    "decimal": Typed(
        pa.decimal128(38, 0),
        (Decimal(1), Decimal(2)),
        (Decimal(2**53 + 1), Decimal(10**38 - 1), Decimal(1 - 10**38), None),
        where="c > 1",
    ),
    "fraction": Typed(
        pa.decimal128(38, 20),
        (Decimal("1.5"), Decimal(2)),
        (Decimal("1.50000000000000000001"), Decimal(10**17), None),
        where="c = 1.5",
    ),
    "float32": Typed(pa.float32(), (1.0, 2.0), (np.nan, np.inf, -np.inf, -0.0, 1e-45, None)),
    "float64": Typed(
        pa.float64(),
        (1.0, 2.0),
        (np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7e308, 4.0, None),
        where="not c < 1",
    ),
    "NaN alone": Typed(pa.float64(), (1.0, 2.0), (np.nan, None), where="c > 0"),
    "boolean": Typed(pa.bool_(), (True, False), (None, None), where="c != true"),
    "date": Typed(
        pa.date32(),
        (datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)),
        (3_000_000, -1_000_000, -719_163, 2_932_897, 2**31 - 1, -(2**31) + 1, -(2**31), None),
        stored=pa.int32(),
        where="c < '2024-06-01' or c in ('0001-01-01', '9999-12-31')",
    ),
    "date in ms": Typed(
        pa.date64(),
        (datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)),
        (2**62 // DAY * DAY, -(2**62) // DAY * DAY, None),
        stored=pa.int64(),
    ),
    **{
        f"moment in {unit}{', in a zone' if zone else ''}": Typed(
            pa.timestamp(unit, zone),
            (datetime.datetime(2024, 1, 1), datetime.datetime(2025, 1, 1)),
            (2**63 - 1, -(2**63) + 1, -(2**63), 2**62, -(2**60), None),
            stored=pa.int64(),
            where="c < '2024-06'",
        )
        for unit, zone in (("us", None), ("us", "UTC"), ("ms", None), ("ms", "UTC"), ("ns", None))
    },
    **{
        f"time in {kind.unit}": Typed(
            kind,
            (datetime.time(1), datetime.time(2)),
            (-1, day, day + 1, 2**bits - 1, -(2**bits), None),
            stored=pa.int64() if bits == 63 else pa.int32(),
        )
        for kind, day, bits in (
            (pa.time64("us"), 10**3 * DAY, 63),
            (pa.time64("ns"), 10**6 * DAY, 63),
            (pa.time32("ms"), DAY, 31),
        )
    },
    **{
        f"span in {unit}": Typed(
            pa.duration(unit),
            (datetime.timedelta(hours=1), datetime.timedelta(hours=2)),
            (2**63 - 1, -(2**63) + 1, -(2**63), None),
            stored=pa.int64(),
        )
        for unit in ("ms", "us")
    },
    "no UTF-8": Typed(
        pa.string(),
        ("a", "b"),
        (b"a\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", None),
        stored=pa.binary(),
        where="c != 'b'",
    ),
}
BOUNDS = {
    "date": (("2023-12-01", "2025-02-01"), "1d"),
    "moment": (("2023-12-01", "2025-02-01"), "1d"),
    "time": (("00:00", "23:00"), "1h"),
    "span": (("0h", "23h"), "1h"),
}
FAILED, REFUSED = "failed after the payment", {"opening": "refused before the payment"}


def _tables(typed: Typed) -> tuple[pa.Table, pa.Table]:
    """Return a table of six people, and the same table with the awkward seventh person."""
    made = []
    for with_nasty in (False, True):
        column = typed.column(with_nasty=with_nasty)
        users = pa.array([1, 2, 3, 4, 5, 6] + [7] * (len(column) - 6), pa.int64())
        made.append(pa.table({"c": column, "u": users}))
    return made[0], made[1]


def _asked(table: Table, typed: Typed) -> dict[str, Any]:
    """Return all counts about the column, in every role that its type allows; FAILED where counting fails."""
    kind = table.kinds["c"]
    person = Rows(user="u")
    found: dict[str, Any] = {}

    def ask(role: str, count: Callable[[], Any]) -> None:
        try:
            found[role] = np.asarray(count()).tolist()
        except TableError:
            found[role] = FAILED

    def keyed(rows: Rows, keys: Any, period: str | None = None, column: str = "u") -> Any:
        return people_per_candidate(table, rows, column=column, keys=keys, period=period)

    if kind not in ("time", "span"):
        # The seventh person is then several people; only their effect on the first six matters.
        ask("as the person", lambda: keyed(Rows(user="c"), [1, 2, 3, 7])[:, :3])
        # A person's group is drawn at random: this must not raise, but is not compared.
        drawn = Rows(user="c", by="u", groups=(1, 2, 7), key=KEY)
        ask("drawn", lambda: np.array([keyed(drawn, [1]).shape]) * 0)
    if typed.where is not None:
        rows = Rows(user="u", where=parse(typed.where))
        ask("where", lambda: keyed(rows, [1, 2, 3]))
    if kind in ("date", "moment"):
        months = (12 * 2024, 12 * 2025)
        ask("periods", lambda: keyed(person, months, "month", "c"))
        by_period = Rows(user="u", by="c", groups=months, period="month", key=KEY)
        ask("groups of periods", lambda: keyed(by_period, [1, 2, 3, 7]))
    if kind in BOUNDS:
        bounds, step = BOUNDS[kind]
        axis = column_grid(table, "c", bounds=bounds, step=step)
        for rule, outside in (("least", "drop"), ("mean", "drop"), ("largest", "clamp")):
            on_axis = partial(people_per_grid_point, axis.table, person, column="c", grid=axis.grid)
            ask(f"{rule} {outside}", partial(on_axis, per_person=rule, outside=outside))
    if kind in ("moment", "time", "span"):
        return found
    keys = public_candidates(list(typed.plain), column="c", kind=kind).keys
    ask("candidates", lambda: keyed(person, keys, column="c"))
    ask("groups", lambda: keyed(Rows(user="u", by="c", groups=keys, key=KEY), [1, 2, 3, 7]))
    values = partial(commonest_values, table, person, column="c", most=2)
    ask("unknown domain", lambda: [[count for _, count in values()]])
    if table.engine.finds_groups:
        groups = partial(people_per_group, table, Rows(user="u", by="c", key=KEY))
        ask("unknown groups", lambda: [[0 * len(groups())]])
        weighed = partial(people_per_group_and_share, table, Rows(user="u", by="c", key=KEY))
        ask("weighed groups", lambda: [[0 * len(weighed())]])
    if kind in ("integer", "float", "decimal"):
        for rule, outside in (("least", "drop"), ("largest", "drop"), ("mean", "clamp")):
            on_grid = partial(people_per_grid_point, table, person, column="c", grid=GRID)
            ask(rule, partial(on_grid, per_person=rule, outside=outside))
        ask("intervals", lambda: people_per_interval(table, person, column="c", grid=GRID))
    return found


def _compared(found: dict[str, Any]) -> dict[str, Any]:
    """Return the counts without values beyond all bounds, which some engines treat as infinite."""
    return {role: counts for role, counts in found.items() if role != "largest clamp"}


def _require_neighbours(found: dict[str, Any], plain: dict[str, Any]) -> None:
    """Check one person's effect: nothing fails with or without them, and every count moves by at most one."""
    failed = [{role for role in each if each[role] == FAILED} for each in (found, plain)]
    assert failed == [set(), set()]
    assert found.keys() == plain.keys()
    for role, counts in found.items():
        moved = np.array(counts) - np.array(plain[role])
        assert moved.min() >= 0, role
        assert moved.max() <= (0 if role == "as the person" else 1), role


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    for name, typed in TYPES.items():
        for place, table in zip(("without", "with"), _tables(typed), strict=True):
            pq.write_table(table, folder / f"{place} {name}.parquet")
    return folder


@cache
def _found(folder: Path, place: str, name: str, kind: str) -> dict[str, Any]:
    path = folder / f"{place} {name}.parquet"
    held = path if kind in ("file", "spark") else made(kind, pq.read_table(path), folder, None)
    try:
        table = open_table(held, needed=["c", "u"], engine="spark" if kind == "spark" else None)
    except DiscreetError:
        return REFUSED
    return _asked(table, TYPES[name])


WAYS_IN = ("file", "spark", "polars", "lazy", "pandas", "objects", "arrow", "capsule", "memtable")
NOT_IN_SPARK = ("moment in ms", "moment in ms, in a zone", "moment in ns", "time in")


@pytest.fixture(scope="session", params=WAYS_IN)
def way_in(request: pytest.FixtureRequest) -> str:
    """The name of a kind of table; Spark is started before the test."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    return str(request.param)


@pytest.mark.leaves_out(
    lambda given: (
        given["way_in"] == "spark"
        and given["name"] in ("large text", "int8", "date in ms", "moment in us, in a zone")
    ),
    "the same to Spark as other types, and Spark is slow",
)
@pytest.mark.leaves_out(
    lambda given: given["way_in"] in ("file", "spark") and "span" in given["name"],
    "Parquet has no spans",
)
@pytest.mark.leaves_out(
    lambda given: (
        given["way_in"] == "objects"
        and (
            given["name"] in ("decimal", "fraction", "boolean", "no UTF-8")
            or given["name"].startswith(("date", "time"))
        )
    ),
    "columns of objects in pandas, which declare no type",
)
@pytest.mark.leaves_out(
    lambda given: given["way_in"] == "objects" and "int64" in given["name"],
    "whole numbers with nulls are floats in NumPy",
)
@pytest.mark.leaves_out(
    lambda given: given["way_in"] == "memtable" and given["name"] == "time in us",
    "Ibis declares nanoseconds for it, in which times outside a day lie elsewhere",
)
@pytest.mark.parametrize("name", TYPES)
def test_every_engine_and_type(folder: Path, way_in: str, name: str) -> None:
    found = _found(folder, "with", name, way_in)
    if way_in == "spark" and name.startswith(NOT_IN_SPARK):
        assert found == _found(folder, "without", name, way_in) == REFUSED
        return
    read_by = "arrow" if "span" in name else "file"
    assert _compared(found) == _compared(_found(folder, "with", name, read_by))
    # Only in pandas may a value determine the type of its column. Elsewhere the type is declared, and the
    # table without that person was compared above.
    plain = way_in if way_in in ("pandas", "objects") else read_by
    _require_neighbours(found, _found(folder, "without", name, plain))


# ---- databases: values that their types can hold, and values that only they can hold ----

_HELD = {name: typed for name, typed in TYPES.items() if typed.stored is None}


def _holdable(typed: Typed, kind: str) -> Typed:
    """Return the values that this database accepts; PostgreSQL refuses text with a NUL."""
    if kind == "ibis_postgres":
        return replace(
            typed, nasty=tuple(v for v in typed.nasty if not isinstance(v, str) or "\0" not in v)
        )
    return typed


@pytest.mark.leaves_out(
    lambda given: given["kind"] == "ibis_sqlite" and given["name"] in ("decimal", "fraction"),
    "SQLite keeps decimals as floats, which docs/databases.md says",
)
@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("name", _HELD)
def test_every_database_and_type(
    name: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue("postgres_database") if kind == "ibis_postgres" else None
    typed = _holdable(_HELD[name], kind)
    plain, nasty = (
        _asked(open_table(made(kind, table, tmp_path, None, server), needed=[]), typed)
        for table in _tables(typed)
    )
    in_duckdb = _asked(
        open_table(made("duckdb", _tables(typed)[1], tmp_path, None), needed=[]), typed
    )
    assert nasty == {role: in_duckdb[role] for role in nasty}
    _require_neighbours(nasty, plain)


def test_what_only_sqlite_holds() -> None:
    """SQLite stores any value in a column of any declared type."""
    values = [
        b"\xff\x00",
        "",
        "1",
        " 1",
        "a",
        1,
        2**62,
        1.5,
        -0.0,
        float("inf"),
        None,
        "0x1",
        "NaN",
    ]
    for declared, keys in (
        ("text", ["a", "b"]),
        ("bigint", [1, 2]),
        ("real", [1.0, 2.0]),
        ("numeric(9, 2)", [1.0, 2.0]),
        ("boolean", [True, False]),
        ("date", [datetime.date(2024, 1, 1)]),
        ("text collate nocase", ["a", "b"]),
    ):
        connection = sqlite_in_memory()
        connection.con.execute(f"CREATE TABLE held (c {declared}, u bigint)")
        connection.con.executemany("INSERT INTO held VALUES (?, 7)", [(value,) for value in values])
        # The declared type decides what these mean to SQLite: six people have the plain values.
        plain = [str(key) if isinstance(key, datetime.date) else key for key in keys]
        connection.con.executemany(
            "INSERT INTO held VALUES (?, ?)", [(plain[0], u) for u in range(6)]
        )
        connection.con.commit()
        table = open_table(connection.table("held"), needed=[])
        for user in ("u", "c"):
            people = people_per_candidate(table, Rows(user=user), column="c", keys=keys)[0]
            # As person identifiers they are several people, and many values are true to SQLite.
            assert people[0] in (6, 7) if user == "u" else people[0] >= 1, (declared, user)
        drawn = Rows(user="u", by="c", groups=tuple(keys), key=KEY)
        assert people_per_candidate(table, drawn, column="u", keys=[1]).shape == (len(keys), 1)
        # A value that is not of the declared type cannot become a candidate from the data either.
        found = commonest_values(table, Rows(user="u"), column="c", most=99)
        assert found[0] == (keys[0], 6 + (declared != "date")), declared
        assert {type(value) for value, _ in found} == {type(keys[0])}, declared
        if table.kinds["c"] in ("integer", "float"):
            for rule in ("least", "mean", "random"):
                people = people_per_grid_point(
                    table, Rows(user="u", key=KEY), column="c", grid=GRID, per_person=rule
                )
                assert people.sum() in (6, 7)


@pytest.mark.leaves_out(
    lambda given: given["name"] in ("moment in ms, in a zone", "span in ms", "no UTF-8"),
    "DuckDB does not store them",
)
@pytest.mark.parametrize("name", TYPES)
def test_every_type_in_a_table_of_duckdb(name: str) -> None:
    """Values are stored unchanged, including moments that cannot be cast to microseconds."""
    connection, asked = duckdb.connect(), []
    for given in _tables(TYPES[name]):
        connection.register("given", given)
        connection.execute("CREATE OR REPLACE TABLE held AS SELECT * FROM given")
        asked.append(_asked(open_table(connection.table("held"), needed=[]), TYPES[name]))
    _require_neighbours(asked[1], asked[0])


IN_DUCKDB: dict[str, tuple[str, str, list[str]]] = {
    "HUGEINT": ("1", "2", [f"{2**127 - 1}", f"{1 - 2**127}", f"{10**38}", f"{10**38 + 1}"]),
    "UHUGEINT": ("1", "2", [f"{2**128 - 1}", f"{10**38}"]),
    "TIMESTAMP_S": ("'2024-01-01'", "'2025-01-01'", ["'infinity'", "'290000-01-01'"]),
    "TIMESTAMP_MS": ("'2024-01-01'", "'2025-01-01'", ["'-infinity'", "'294247-01-10'"]),
    "TIMESTAMP_NS": ("'2024-01-01'", "'2025-01-01'", ["'infinity'", "'2262-04-11 23:47:16.85'"]),
    "TIMESTAMPTZ": ("'2024-01-01'", "'2025-01-01'", ["'infinity'", "'294247-01-10 04:00:54+00'"]),
    "DATE": ("'2024-01-01'", "'2025-01-01'", ["'-infinity'", "'5881580-07-10'"]),
    "TIME": ("'01:00'", "'02:00'", ["'24:00:00'"]),
    "INTERVAL": ("'1 hour'", "'2 hours'", [f"to_months({2**31 - 1})", f"to_days({2**31 - 1})"]),
}
"""A declared type, two plain values and the nasty ones, in DuckDB's own words."""


@pytest.mark.parametrize("declared", IN_DUCKDB)
def test_what_only_duckdb_holds(declared: str) -> None:
    import ibis

    connection = ibis.duckdb.connect()
    first, second, nasty = IN_DUCKDB[declared]
    plain = [(value, person) for person, value in enumerate((first, first, second, "NULL"), 1)]
    days = datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)
    typed = Typed(pa.null(), days if declared == "DATE" else (1, 2), ())
    asked = []
    for rows in (plain, [*plain, *((value, 7) for value in (*nasty, first))]):
        connection.con.execute(f"CREATE OR REPLACE TABLE held (c {declared}, u BIGINT)")
        for value, person in rows:
            connection.con.execute(f"INSERT INTO held VALUES ({value}, {person})")  # noqa: S608
        by_ibis, itself = connection.table("held"), connection.con.table("held")
        found = [_asked(open_table(held, needed=[]), typed) for held in (by_ibis, itself)]
        assert found[0] == found[1]
        asked.append(found[0])
    _require_neighbours(asked[1], asked[0])


def test_what_only_postgresql_holds(postgres_database: str) -> None:
    """Try dates and numbers beyond Python's range, and collations and types with other comparisons."""
    import ibis

    connection = ibis.connect(postgres_database.replace("postgresql://", "postgres://"))
    with connection.con.cursor() as cursor:
        cursor.execute(
            "CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level1', "
            "deterministic = false)"
        )
        for number, (declared, first, nasty) in enumerate(
            (
                ("date", "2024-01-01", ["infinity", "-infinity", "0044-03-15 BC", "5874897-12-31"]),
                ("timestamptz", "2024-01-01", ["infinity", "-infinity", "4713-01-01 BC"]),
                ("double precision", "1", ["NaN", "Infinity", "-0", "1e308"]),
                ("numeric(9, 2)", "1", ["NaN", "0.00", "9999999.99"]),
                ("money", "1", ["0", "-92233720368547758.08", "92233720368547758.07"]),
                ("char(6)", "a", ["A", "a     ", "b", ""]),
                ("text COLLATE loose", "a", ["A", "á", " a", "a "]),
            )
        ):
            name = f"only_{number}"
            cursor.execute(f"CREATE TABLE {name} (c {declared}, u bigint)")
            cursor.executemany(
                f"INSERT INTO {name} VALUES (%s::{declared.split(' COLLATE')[0]}, %s)",  # noqa: S608
                [*((first, person) for person in range(6)), *((value, 7) for value in nasty)],
            )
            table = open_table(connection.table(name), needed=[])
            by_value = people_per_candidate(table, Rows(user="c"), column="u", keys=[0, 5])[0]
            assert by_value.tolist() == [1, 1], declared
            if table.kinds["c"] == "moment":
                continue
            key = public_candidates([first], column="c", kind=table.kinds["c"]).keys
            people = people_per_candidate(table, Rows(user="u"), column="c", keys=key)[0]
            # CHAR(n) drops trailing spaces; nothing else equals "a".
            assert people.tolist() == [7 if declared == "char(6)" else 6], declared
            common = commonest_values(table, Rows(user="u"), column="c", most=1)
            assert [count for _, count in common] == people.tolist(), declared
            if table.kinds["c"] in ("float", "decimal"):
                for rule in ("least", "mean", "random"):
                    counted = people_per_grid_point(
                        table, Rows(user="u", key=KEY), column="c", grid=GRID, per_person=rule
                    )
                    assert counted.sum() == 7
    connection.disconnect()


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_nobody_in_the_groups(library: str, tmp_path: Path) -> None:
    """The number of groups per person is chosen from the data, and here nobody has a group."""
    columns: dict[str, list[Any]] = {"c": ["a", "b"], "g": ["elsewhere", None], "u": [1, 2]}
    for of in (columns, {name: values[:1] for name, values in columns.items()}):
        release = mode(
            made(library, of, tmp_path, None),
            "c",
            candidates=["a", "b"],
            by="g",
            groups=["north", "south"],
            groups_per_person="choose",
            user="u",
            epsilon=1,
        )
        assert set(release.answer) == {"north", "south"}


@pytest.mark.parametrize("dtype", [object, "string[python]", "category", "str"])
def test_texts_that_are_no_unicode(dtype: Any) -> None:
    others = (
        (3, ["a"]) if dtype in (object, "category") else ()
    )  # otherwise pandas makes them strings
    for nasty in ("\ud800", "a\udfff", None, float("nan"), pd.NA, *others):
        try:
            column = pd.Series(["a", "b", "a", nasty], dtype=dtype)
        except (TypeError, ValueError, UnicodeEncodeError):
            continue  # such a column cannot store it
        frame = pd.DataFrame({"c": column, "u": [1, 2, 3, 4]})
        table = open_table(frame, needed=[])
        for user in ("u", "c"):
            rows = Rows(user=user, where=parse("c != 'x'"))
            counts = people_per_candidate(table, rows, column="c", keys=["a", "b"])
            assert counts.tolist() == [[2, 1] if user == "u" else [1, 1]]
        assert commonest_values(table, Rows(user="u"), column="c", most=2) == [("a", 2), ("b", 1)]


def test_categories_of_several_kinds() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["a", 3, "b", 3, None])})
    found = commonest_values(open_table(frame, needed=[]), Rows(), column="c", most=5)
    assert found == [("a", 1), ("b", 1)]


LONG = (1 << 24) + 100  # more than DuckDB's JSON reader accepts
NASTY_LINES = {
    "csv": [
        b"," * 20_481,
        b'"',
        b'"a"b,7',
        b"a\rb,7",
        b"\0,7",
        b"\xff\xfe,7",
        b"x" * 200_000 + b",7",
        b"x" * LONG + b",7",
    ],
    "jsonl": [
        b"{",
        b'{"c": ' + b"[" * 5000,
        b"\xff",
        b'{"c": "\\ud800", "u": 7}',
        b"\0" * 10,
        b"",
        b'{"c": "a", "u": "' + b"x" * LONG + b'"}',
    ],
}


@pytest.mark.parametrize("suffix", NASTY_LINES)
def test_lines_that_are_no_rows(tmp_path: Path, engine: str | None, suffix: str) -> None:
    rows = [("a", 1), ("b", 2), ("a", 3)]
    if suffix == "csv":
        whole = [b"c,u", *(f"{value},{person}".encode() for value, person in rows)]
    else:
        whole = [f'{{"c": "{value}", "u": {person}}}'.encode() for value, person in rows]
    for place, nasty in enumerate(NASTY_LINES[suffix]):
        file = tmp_path / f"{place}.{suffix}"
        file.write_bytes(b"\n".join([*whole, nasty]) + b"\n")
    # One file each if that is cheap, otherwise all in one glob: none may raise.
    patterns = ["*"] if engine == "spark" else [str(place) for place in range(place + 1)]
    times = place + 1 if engine == "spark" else 1
    for pattern in patterns:
        table = open_table(tmp_path / f"{pattern}.{suffix}", needed=["c", "u"], engine=engine)
        counts = people_per_candidate(table, Rows(), column="c", keys=["a", "b"])[0]
        assert np.all(np.abs(counts - np.array([2, 1]) * times) <= times)
