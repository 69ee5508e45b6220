"""One fixture for all engines, and one Spark session for all tests of a worker, stopped at the end.

A test that takes ``table_in`` runs on every kind of table; a test that takes ``engine`` runs on every engine
that reads files. A test names the engines that it cannot or need not run on, with the reason::

    @pytest.mark.skips_engines(spark="a job each", csv="a file has no declared types")
"""

from __future__ import annotations

import csv
import json
import math
import shutil
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars  # noqa: F401 - importing it sets a variable, which no test may do
import pytest

from discreet._tables.engines import quoted

Columns = dict[str, list[Any]]
TableMaker = Callable[[Any], Any]
ENGINES = ("duckdb", "spark")
DATABASES = ("ibis_duckdb", "ibis_sqlite", "ibis_postgres")
FRAMES = ("duckdb", "polars", "lazy", "pandas", "objects", "arrow", "capsule", "memtable", "spark")
TABLES = (*FRAMES, "parquet", "csv", "jsonl", *DATABASES)
FIXTURES = ("table_in", "engine")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the engines that a test excludes. Tests are skipped only if a service is missing."""
    left_out = [item for item in items if _is_left_out(item)]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def _is_left_out(item: pytest.Item) -> bool:
    given: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    engines = item.get_closest_marker("skips_engines")
    if engines is not None:
        unknown = engines.kwargs.keys() - set(TABLES)
        assert not unknown, f"{item.nodeid} skips engines that do not exist: {sorted(unknown)}"
        if any(given.get(name) in engines.kwargs for name in FIXTURES):
            return True
    return any(when(given) for when, _reason in (m.args for m in item.iter_markers("leaves_out")))


@pytest.fixture(scope="session")
def event_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def spark(event_logs: Path) -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    sql = pytest.importorskip("pyspark.sql")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        # The session is short and runs many small jobs: a second JIT compiler or a parallel garbage collector
        # only costs time.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": event_logs.as_uri(),
    }
    builder = sql.SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def _as_arrow(columns: Columns) -> Any:
    import pyarrow as pa

    kinds = {
        name: pa.string() if set(column) <= {None} else None for name, column in columns.items()
    }
    return pa.table({name: pa.array(column, kinds[name]) for name, column in columns.items()})


def _in_file(suffix: str, columns: Columns, folder: Path) -> str:
    path = folder / f"table.{suffix}"
    rows = zip(*columns.values(), strict=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        if suffix == "csv":
            csv.writer(file).writerows([columns.keys(), *(map(_written, row) for row in rows)])
        else:
            for row in rows:
                named = zip(columns, row, strict=True)
                present = {k: v for k, v in named if not isinstance(v, float) or math.isfinite(v)}
                file.write(json.dumps(present, default=str) + "\n")
    return str(path)


def _written(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


_POSTGRES = {
    "string": "text",
    "large_string": "text",
    "int8": "smallint",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "uint64": "numeric(20, 0)",
    "float": "real",
    "double": "double precision",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "time64[us]": "time",
    "duration[us]": "interval",
}
_SQLITE = {
    **dict.fromkeys(("string", "large_string"), "text"),
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint64"), "bigint"),
    **dict.fromkeys(("float", "double"), "real"),
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}


def in_database(kind: str, table: Any, server: str | None) -> Any:
    """Put an Arrow table into a database and return it through Ibis."""
    import ibis

    if kind == "ibis_duckdb":
        connection = ibis.duckdb.connect()
        connection.con.register("given", table)
        connection.con.execute("CREATE TABLE held AS SELECT * FROM given")
        return connection.table("held")
    declared = _SQLITE if kind == "ibis_sqlite" else _POSTGRES
    types = {each.name: str(each.type) for each in table.schema}
    columns = ", ".join(
        f"{quoted(name)} {declared.get(kind) or kind.replace('decimal128', 'numeric')}"
        for name, kind in types.items()
    )
    rows = [tuple(row.values()) for row in table.to_pylist()]
    places = ", ".join(("?" if kind == "ibis_sqlite" else "%s",) * table.num_columns)
    if kind == "ibis_sqlite":
        connection = sqlite_in_memory()
        connection.con.execute(f"CREATE TABLE held ({columns})")
        written = [tuple(map(_for_sqlite, row)) for row in rows]
        connection.con.executemany(f"INSERT INTO held VALUES ({places})", written)  # noqa: S608
        connection.con.commit()
        return connection.table("held")
    name = f"held_{next(_numbers)}"
    connection = ibis.connect(str(server).replace("postgresql://", "postgres://"))
    weakref.finalize(connection, connection.con.close)
    with connection.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows)  # noqa: S608
    return connection.table(name)


def sqlite_in_memory() -> Any:
    """Return an Ibis connection to an empty SQLite database; it is closed when its last table is gone."""
    import ibis

    # The garbage collector may run in any thread, and closes the connection there.
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    backend = ibis.sqlite.from_connection(connection)
    weakref.finalize(backend, connection.close)
    return backend


_numbers = iter(range(1_000_000))


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    return value if isinstance(value, str | int | float | None) else str(value)


def made(kind: str, given: Any, folder: Path, session: Any, server: str | None = None) -> Any:
    """Put a table, given as columns or as an Arrow table, into an engine, a file or a database."""
    if kind in DATABASES:
        return in_database(kind, _as_arrow(given) if isinstance(given, dict) else given, server)
    import duckdb
    import pandas as pd
    import polars as pl

    if kind in ("csv", "jsonl"):
        return _in_file(kind, given if isinstance(given, dict) else given.to_pydict(), folder)
    of_columns = isinstance(given, dict)
    if kind == "spark":
        return session.createDataFrame(_as_arrow(given) if of_columns else given)
    if kind == "pandas":
        return pd.DataFrame(given) if of_columns else given.to_pandas(types_mapper=pd.ArrowDtype)
    if kind in ("arrow", "capsule", "memtable"):
        table = _as_arrow(given) if of_columns else given
        return _AS_ARROW[kind](table)
    if kind == "objects":
        return _with_objects(pd.DataFrame(given) if of_columns else given.to_pandas())
    frame: Any = pl.DataFrame(given, strict=False) if of_columns else pl.from_arrow(given)
    if kind == "duckdb":
        connection = duckdb.connect()
        connection.register("given", frame.to_arrow() if of_columns else given)
        return connection.sql("SELECT * FROM given")
    if kind == "parquet":
        frame.write_parquet(folder / "table.parquet")
        return str(folder / "table.parquet")
    return frame.lazy() if kind == "lazy" else frame


class Capsule:
    """An object from an unknown library that exports Arrow by the PyCapsule interface."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_schema__(self) -> object:
        return self._table.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def _memtable(table: Any) -> Any:
    import ibis

    return ibis.memtable(table)


_AS_ARROW: dict[str, Callable[[Any], Any]] = {
    "arrow": lambda table: table,
    "capsule": Capsule,
    "memtable": _memtable,
}


def _with_objects(frame: Any) -> Any:
    """Return a pandas frame with strings in columns of Python objects, as before pandas 3."""
    texts = [name for name, kind in frame.dtypes.items() if str(kind) == "str"]
    return frame.astype(dict.fromkeys(texts, object))


@pytest.fixture(scope="session", params=TABLES)
def table_in(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> TableMaker:
    """A function that turns columns or an Arrow table into a table of one kind."""
    session = request.getfixturevalue("spark") if request.param == "spark" else None
    is_postgres = request.param == "ibis_postgres"
    server = request.getfixturevalue("postgres_database") if is_postgres else None

    def make(given: Any) -> Any:
        return made(request.param, given, tmp_path_factory.mktemp("table"), session, server)

    return make


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str | None:
    """The value of ``engine`` for each engine that reads files; None means DuckDB."""
    if request.param == "spark":
        request.getfixturevalue("spark")
        return "spark"
    return None
