"""Tables in databases: people are counted there by one query, in a read-only transaction.

Databases differ in how they compare texts (collations, letter case, trailing spaces) and numbers (NaN,
infinities). Counts follow the same rules in all of them: a text is read as its bytes, in hexadecimal
digits, and public keys are sent as literals to be joined. docs/databases.md has the rules.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from discreet._tables.engines import Engine, quoted
from discreet.errors import ParameterError, TableError, missing_extra

_FAR = 10**10  # so that every choice has the same number of digits
_HOST = r"(\[[0-9a-fA-F:.%]*\]|[^:\[\]]*)(:[0-9]*)?"
_HOSTS = re.compile(rf"{_HOST}(,{_HOST})*")
"""Hosts of an address, each with a port or without."""


class Database(Engine):
    """The base class for PostgreSQL and SQLite, which compares texts by the hex digits of their bytes."""

    keeps_time = True
    counts_distinct = True
    finds_groups = False

    def __init__(self, connection: Any, query: str, types: Mapping[str, str]) -> None:
        super().__init__(f"({query}) AS discreet_rows", types)
        self._connection = connection

    def of_word(self, word: str, kind: str, declared: str) -> str:
        """Return SQL for a key's word: a text's hex digits unchanged, any other word cast to ``declared``."""
        return word if kind == "text" else f"CAST({word} AS {declared})"

    def md5(self, text: str) -> str:
        """Return SQL for the hex digits of a text's MD5 hash."""
        return f"md5({text})"

    def drawn(self, key: int, choice: str, _size: int) -> str:
        """Return SQL for an MD5 hash of key, choice and person, followed by the choice in decimal digits."""
        parts = f"'{key:x}:' || CAST({choice} AS TEXT) || ':' || CAST(person AS TEXT)"
        return f"{self.md5(parts)} || CAST({choice} + {_FAR} AS TEXT)"

    def choice_drawn(self, _size: int) -> str:
        """Return SQL that reads the choice from the end of ``draw``."""
        return f"CAST(substr(draw, 33) AS BIGINT) - {_FAR}"

    def plain_text(self, value: Any) -> str:
        """Decode a text from its hex digits."""
        return bytes.fromhex(value).decode(self.encoding, errors="replace")

    def try_out(self, statement: str) -> None:
        """Have the database explain the statement, which finds errors and reads no row."""
        self._connection.execute(f"EXPLAIN {statement}").fetchall()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows as the driver gives them."""
        return list(self._connection.execute(statement).fetchall())


def is_address(data: object) -> bool:
    """Return whether a text is the address of a database, such as ``postgresql://reader@db/hospital``.

    Example:
        >>> is_address("postgresql://reader@db/hospital"), is_address("visits.csv")
        (True, False)
    """
    return isinstance(data, str) and data.partition("://")[0] in _OPENING and "://" in data


def without_password(address: str) -> str:
    """Return an address or a path without a password and without options, so that it may be shown.

    Only the scheme is shown if it is unclear where a password ends: if an "@" follows a "?", or if the text
    after a ":" is not a port.

    Example:
        >>> without_password("postgresql://reader:secret@db/hospital?password=secret")
        'postgresql://reader@db/hospital'
        >>> without_password("postgresql://reader:sec?ret@db/hospital")
        'postgresql://...'
    """
    scheme, colon, rest = address.partition("://")
    if not colon:  # perhaps a database's address without the "//"
        start, colon, rest = address.partition(":")
        return f"{start}:..." if "@" in rest else address
    place, _, options = rest.partition("?")
    user, at, host = place.rpartition("@")
    if "@" in options or not _HOSTS.fullmatch(host.partition("/")[0]):
        return f"{scheme}://..."
    return f"{scheme}://{user.partition(':')[0]}{at}{host}"


def with_password(address: str, password: str) -> str:
    """Insert a password into the address; the result must not leave this process."""
    scheme, _, rest = address.partition("://")
    user, _, host = rest.rpartition("@")
    return f"{scheme}://{user}:{quote(password, safe='')}@{host}"


def _file_of(address: str) -> str:
    """Return the absolute path of the file in an address; after three slashes, try it as relative first."""
    name = address.partition("://")[2].partition("?")[0]
    for path in (Path(name.removeprefix("/")), Path(name)):
        if path.is_file():
            return str(path.absolute())
    raise ParameterError(f"there is no database file at {without_password(address)}")


_UNKNOWN_USER = (
    "the user's name or the password is wrong, or the password is neither in the environment (PGPASSWORD) "
    "nor in the database's own file (~/.pgpass)"
)
_TROUBLES = {
    "no such table": "there is no such table, or this user may not see it",
    r"database \S+ does not exist": "there is no such database",
    r"password|authentication|role \S+ does not exist": _UNKNOWN_USER,
    "conflicting lock|database is locked": "another process has it open",
    "refused|resolve|not known|timed? ?out|timeout|unreachable|server running": "no server answers there",
}
"""Driver messages about a connection and what they mean; the messages may quote part of a password."""


def _trouble(error: Exception) -> str:
    if isinstance(error, ImportError):
        return "a driver is missing; docs/databases.md says what to install"
    if type(error).__name__ in ("UndefinedTable", "InsufficientPrivilege", "CatalogException"):
        return "there is no such table, or this user may not see it"
    said = [words for signs, words in _TROUBLES.items() if re.search(signs, str(error), re.I)]
    return said[0] if said else "is the address right, and may this user read it?"


def open_database(data: Any, table: str | None) -> Engine:
    """Open a table by name, given an address or a SQLAlchemy engine; no row is read."""
    if not isinstance(table, str) or not table:
        raise ParameterError("⟨table⟩ must name a table of the database")
    given = data if isinstance(data, str) else data.url.render_as_string(hide_password=False)
    scheme, _, rest = given.partition("://")
    scheme = scheme.partition("+")[0]  # leave out the driver that SQLAlchemy names
    opening = _OPENING.get(scheme)
    if opening is None:
        raise ParameterError(
            f"the address {without_password(given)} is not allowed: it must begin with one of "
            f"{', '.join(f'{known}://' for known in _OPENING)}"
        )
    try:
        return opening(f"{scheme}://{rest}", table)
    except ParameterError:
        raise
    except Exception as error:
        why = _trouble(error)
    # Raise this outside the handler, so that no cause is attached: a cause might quote the address.
    raise ParameterError(
        f"⟨table⟩{table!r} could not be opened at {without_password(given)}: {why}"
    )


def _postgres(address: str, table: str) -> Engine:
    try:
        import psycopg
    except ImportError:
        raise missing_extra("asking PostgreSQL needs psycopg", extra="databases") from None
    from discreet._tables.in_postgres import Postgres

    rest = address.partition("://")[2]
    connection = psycopg.connect(f"postgresql://{rest}", autocommit=True)
    try:
        engine = Postgres.named(connection, table)
    except Exception:
        connection.close()
        raise
    # Close the connection when the last table that uses it is gone.
    weakref.finalize(engine, connection.close)
    return engine


def _sqlite(address: str, table: str) -> Engine:
    import sqlite3

    from discreet._tables.in_sqlite import SQLite, declared_in

    connection = sqlite3.connect(_file_of(address), check_same_thread=False)
    declared = declared_in(connection, table.rpartition(".")[2])
    if not declared:
        connection.close()
        raise TableError("no such table")
    engine = SQLite(connection, f"SELECT * FROM {identifier(table)}", declared)  # noqa: S608 - quoted
    weakref.finalize(engine, connection.close)
    return engine


def _duckdb(address: str, table: str) -> Engine:
    import duckdb

    from discreet._tables.in_duckdb import of_query

    connection = duckdb.connect(_file_of(address))
    return of_query(connection, f"SELECT * FROM {identifier(table)}", in_database=True)  # noqa: S608


def identifier(name: str) -> str:
    """Quote a table's name, with its schema if it has one."""
    schema, _, table = name.rpartition(".")
    return ".".join(quoted(part) for part in (schema, table) if part)


_OPENING = {
    "postgresql": _postgres,
    "postgres": _postgres,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
}
"""Prefixes of database addresses, and the functions that open them."""


# ---- tables of Ibis --------------------------------------------------------------------------------------


def of_ibis(native: Any) -> Engine:
    """Open an Ibis table: Ibis writes its query, and people are counted in the table's own database."""
    import ibis.expr.operations as ops

    sources = {node.source for node in native.op().find((ops.DatabaseTable, ops.SQLQueryResult))}
    if not sources:
        from discreet._tables.local import of_memtable

        return of_memtable(native)
    if len(sources) != 1:
        raise ParameterError("an Ibis table must come from one database")
    source = sources.pop()
    if source.name not in ("postgres", "sqlite", "duckdb"):
        raise ParameterError(
            f"tables of {source.name} are not allowed: the database must be postgres, sqlite or duckdb"
        )
    query = _written(native, source)
    if source.name == "postgres":
        from discreet._tables.in_postgres import Postgres

        engine: Engine = Postgres(source.con, query)
    elif source.name == "duckdb":
        from discreet._tables.in_duckdb import of_query

        engine = of_query(source.con, query, in_database=True)
    else:
        from discreet._tables.in_sqlite import SQLite, declared_in

        declared = {name: _declared(dtype) for name, dtype in native.schema().items()}
        # Ibis would read rows to find the type of a column that declares none.
        for node in native.op().find(ops.DatabaseTable):
            told = declared_in(source.con, node.name)
            declared |= {name: "" for name in declared if told.get(name) == ""}
        engine = SQLite(source.con, query, declared)
    engine.ibis = source  # type: ignore[attr-defined]  # its connection is closed when it is gone
    return engine


def _written(native: Any, source: Any) -> str:
    """Return the query of an Ibis table, with the columns unchanged.

    This uses Ibis' base compiler, because its database-specific compilers convert geographic columns with
    functions that not every server has.
    """
    from ibis.backends.sql.compilers.base import SQLGlotCompiler

    return str(SQLGlotCompiler.to_sqlglot(source.compiler, native).sql(source.dialect))


def _declared(dtype: Any) -> str:
    """Return the SQL name of an Ibis type."""
    names = {
        "text": dtype.is_string() or dtype.is_uuid(),
        "bigint": dtype.is_integer(),
        "double": dtype.is_floating() or dtype.is_decimal(),
        "boolean": dtype.is_boolean(),
        "date": dtype.is_date(),
        "timestamp": dtype.is_timestamp(),
    }
    return next((name for name, holds in names.items() if holds), str(dtype))
