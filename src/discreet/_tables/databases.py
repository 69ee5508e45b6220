"""Tables in databases, through Ibis: counted where they are, by one query, in a transaction that only reads.

Databases differ in how they compare texts (collations, letter case, trailing spaces) and numbers (NaN,
infinities), and in which hashes and literals they know. What decides a count here is the same in all of
them: a text is its UTF-8 bytes, written in hexadecimal digits, and public keys travel as literals to be
joined. docs/databases.md has the rules.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import re
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from discreet.errors import ParameterError, missing_extra

_FAR = 10**10  # so that every choice has as many digits


def without_password(address: str) -> str:
    """The address as it may be shown.

    Example:
        >>> without_password("postgresql://reader:secret@db/hospital?password=secret")
        'postgresql://reader@db/hospital'
    """
    scheme, _, rest = address.partition("://")
    place = rest.partition("?")[0]
    user, at, host = place.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{host}"


def with_password(address: str, password: str) -> str:
    """The address with a password, for this process alone."""
    scheme, _, rest = address.partition("://")
    user, _, host = rest.rpartition("@")
    return f"{scheme}://{user}:{quote(password, safe='')}@{host}"


def _of_file(address: str) -> str:
    """The address of a database in a file, read as the ledger reads it: three slashes, a relative path.

    Ibis would take it for an absolute one, and make an empty file where there is none.
    """
    scheme, _, rest = address.partition("://")
    name, mark, options = rest.partition("?")
    if scheme not in ("sqlite", "duckdb") or name.startswith("md:"):
        return address
    for path in (Path(name.removeprefix("/")), Path(name)):
        if path.is_file():
            return f"{scheme}://{path.absolute()}{mark}{options}"
    raise ParameterError(f"there is no database file at {without_password(address)}")


_UNKNOWN_USER = (
    "the user's name or the password is wrong, or the password is neither in the environment (PGPASSWORD) "
    "nor in the database's own file (~/.pgpass)"
)
_TROUBLES = {
    r"unknown database|database \S+ does not exist": "there is no such database",
    r"password|authentication|access denied|role \S+ does not exist": _UNKNOWN_USER,
    "conflicting lock|database is locked": "another process has it open",
    "refused|resolve|not known|timed? ?out|unreachable|server running": "no server answers there",
}
"""What a driver may say of a connection, and what is wrong; its own words may quote part of a password."""


def _trouble(error: Exception) -> str:
    if isinstance(error, ImportError):
        return "a driver is missing; docs/databases.md says what to install"
    if type(error).__name__ in ("TableNotFound", "UndefinedTable", "InsufficientPrivilege"):
        return "there is no such table, or this user may not see it"
    said = [words for signs, words in _TROUBLES.items() if re.search(signs, str(error), re.I)]
    return said[0] if said else "is the address right, and may this user read it?"


def open_database(data: Any, table: str | None) -> Any:
    """The Ibis table that an address or a SQLAlchemy engine holds under this name; no row is read."""
    try:
        import ibis
    except ImportError:
        raise missing_extra("asking a database needs Ibis", extra="databases") from None
    if not isinstance(table, str) or not table:
        raise ParameterError("⟨table⟩ must name the table that the database is asked about")
    given = data if isinstance(data, str) else data.url.render_as_string(hide_password=False)
    scheme, _, rest = given.partition("://")
    # SQLAlchemy names its driver, which Ibis chooses for itself.
    address = _of_file(f"{scheme.partition('+')[0].replace('postgresql', 'postgres')}://{rest}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            schema, _, name = table.rpartition(".")
            backend = ibis.connect(address)
            # Closed when the last expression made of it is gone.
            if hasattr(backend.con, "close"):
                weakref.finalize(backend, backend.con.close)
            if backend.name != "postgres":
                return backend.table(name, database=schema or None)
            from discreet._tables.database_types import opened_in_postgres

            # Of a database in SQL_ASCII its library would give the names of columns as bytes.
            backend.con.execute("SET client_encoding TO 'UTF8'")
            return opened_in_postgres(backend, table)
    except Exception as error:
        why = _trouble(error)
    # Raised here, so that no cause is attached which may quote the address.
    raise ParameterError(
        f"⟨table⟩{table!r} could not be opened at {without_password(given)}: {why}"
    )


def backend_of(native: Any) -> str:
    """The name of an Ibis table's database; an error where its rules are not known."""
    name = str(source_of(native).name)
    if name not in _HEX:
        raise ParameterError(
            f"tables of {name} are not allowed: known are {', '.join(sorted(_HEX))}; docs/databases.md has "
            "the rule for each"
        )
    return name


def source_of(native: Any) -> Any:
    """The one connection that an Ibis table comes from."""
    import ibis.expr.operations as ops

    found = {node.source for node in native.op().find((ops.DatabaseTable, ops.SQLQueryResult))}
    if len(found) != 1:
        raise ParameterError("an Ibis table must come from one database")
    return found.pop()


def compiled(native: Any) -> Any:
    """The query that an Ibis table stands for, as SQLGlot has it: the columns as they are.

    Compilers of single databases convert columns of places with functions that not every server has.
    """
    from ibis.backends.sql.compilers.base import SQLGlotCompiler

    return SQLGlotCompiler.to_sqlglot(source_of(native).compiler, native)


# ---- what each database calls things ----


def called(name: str, *types: Any) -> Callable[..., Any]:
    """A function of the database's own, by its name and types, the last of them the result's."""
    import ibis

    def function() -> None: ...

    # Ibis reads the number of arguments from the function's signature.
    places = [
        inspect.Parameter(f"argument_{place}", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for place in range(len(types) - 1)
    ]
    function.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]  # as Python allows
    made: Callable[..., Any] = ibis.udf.scalar.builtin(
        function, name=name, signature=(tuple(types[:-1]), types[-1])
    )
    return made


def _in_turn(*steps: tuple[str, str, str]) -> Callable[[Any], Any]:
    """Functions of the database's own, one after another, each with the types it takes and gives."""

    def applied(value: Any) -> Any:
        for step in steps:
            value = called(*step)(value)
        return value

    return applied


def _hex_in_postgres(text: Any) -> Any:
    from discreet._tables.database_types import encoding_of

    # In the database's own encoding: a byte that stands for no character could not be converted.
    encoding, _ = encoding_of(text)
    in_bytes = called("convert_to", "string", "string", "binary")(text, encoding)
    return called("encode", "binary", "string", "string")(in_bytes, "hex")


_TO_HEX = ("to_hex", "binary", "string")
_TO_UTF8 = ("to_utf8", "string", "binary")
_HEX: dict[str, Callable[[Any], Any]] = {
    "postgres": _hex_in_postgres,
    "sqlite": _in_turn(("hex", "string", "string")),
    "duckdb": _in_turn(("encode", "string", "binary"), ("hex", "binary", "string")),
    "mysql": _in_turn(("hex", "string", "string")),
    "bigquery": lambda text: _in_turn(_TO_HEX)(text.cast("binary")),
    "snowflake": _in_turn(("hex_encode", "string", "string")),
    "trino": _in_turn(_TO_UTF8, _TO_HEX),
}
"""The UTF-8 bytes of a text in hexadecimal digits, for every database whose rules are known."""

_MD5: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_HEX, _in_turn(("md5", "string", "string"))),
    "sqlite": _in_turn(("discreet_md5", "string", "string")),
    "bigquery": _in_turn(("md5", "string", "binary"), _TO_HEX),
    "trino": _in_turn(_TO_UTF8, ("md5", "binary", "binary"), _TO_HEX),
}


def hexed(native: Any, column: str, *, name: str) -> Any:
    """The table with a further column: the texts of ``column`` as the digits of their bytes."""
    backend = backend_of(native)
    text = native[column].cast("string")
    # SQLite's digits of a null are an empty text.
    return native.mutate(**{name: text.isnull().ifelse(None, _HEX[backend](text).upper())})


def numbered(native: Any, column: str, *, name: str) -> Any:
    """The table with a further float64 column: the numbers of ``column``, null where there is none."""
    return native.mutate(**{name: native[column].cast("float64")})


def hash_ordered(native: Any, key: int, choice: str) -> Any:
    """The table with the text column ``order``: a hash of key, choice and user, and then the choice."""
    backend = backend_of(native)
    if backend == "sqlite":
        connection = source_of(native).con
        connection.create_function("discreet_md5", 1, _md5_of_text, deterministic=True)
    text = f"{key:x}:" + native[choice].cast("string") + ":" + native["user"].cast("string")
    digits = (native[choice].cast("int64") + _FAR).cast("string")
    return native.mutate(order=_MD5[backend](text) + digits)


def _md5_of_text(text: object) -> str:
    return hashlib.md5(
        str(text).encode("utf-8", "surrogatepass"), usedforsecurity=False
    ).hexdigest()


def distinct_people(native: Any, *kept: str) -> Any:
    """How many different users there are for each combination of the columns kept."""
    return native.group_by(*kept).aggregate(people=native["user"].nunique())


def choice_in(native: Any, *, name: str) -> Any:
    """The table with a further column: the choice at the end of ``order``."""
    return native.mutate(**{name: native["order"].substr(32).cast("int64") - _FAR})


# ---- a transaction that only reads, sees one state of the data, and ends in time ----


@contextmanager
def reading(native: Any, seconds: float | None) -> Iterator[None]:
    """Everything inside sees one state of the data, changes nothing, and is stopped after so many seconds."""
    if not keeps_time(native):
        yield  # a single query sees one state of the data anyway
        return
    with _READING[backend_of(native)](source_of(native).con, seconds):
        yield


def keeps_time(native: Any) -> bool:
    """Whether a time limit can be kept with this database."""
    return backend_of(native) in _READING


@contextmanager
def _reading_postgres(connection: Any, seconds: float | None) -> Iterator[None]:
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        if seconds is not None:
            cursor.execute(f"SET LOCAL statement_timeout = {max(1, int(seconds * 1000))}")
        yield


@contextmanager
def _reading_sqlite(connection: Any, seconds: float | None) -> Iterator[None]:
    connection.commit()
    connection.execute("PRAGMA query_only = ON")
    connection.execute("BEGIN")
    # Without a limit too: while SQLite works, Python hears of an interrupt in this function only.
    end = math.inf if seconds is None else time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
        connection.rollback()
        connection.execute("PRAGMA query_only = OFF")


@contextmanager
def _reading_duckdb(connection: Any, seconds: float | None) -> Iterator[None]:
    connection.execute("BEGIN TRANSACTION READ ONLY")
    timer = None if seconds is None else threading.Timer(seconds, connection.interrupt)
    if timer is not None:
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()
        connection.execute("ROLLBACK")


_READING: dict[str, Callable[[Any, float | None], Any]] = {
    "postgres": _reading_postgres,
    "sqlite": _reading_sqlite,
    "duckdb": _reading_duckdb,
}
