"""Tables in databases, through Ibis: counted where they are, by one query, in a transaction that only reads.

Databases differ in how they compare texts (collations, letter case, trailing spaces) and numbers (NaN,
infinities), and in which hashes and literals they know. What decides a count here is the same in all of
them: a text is its UTF-8 bytes, written in hexadecimal digits, and public keys travel as literals to be
joined. docs/databases.md has the rules.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from discreet.errors import ParameterError, missing_extra
from discreet.tables.engines import quietly

_DIGITS = 76  # of a decimal, all of which are far from the ends of float64's range
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


def open_database(data: Any, table: str | None) -> Any:
    """The Ibis table that an address or a SQLAlchemy engine holds under this name; no row is read."""
    try:
        import ibis
    except ImportError:
        raise missing_extra("asking a database needs Ibis", extra="databases") from None
    if not isinstance(table, str) or not table:
        raise ParameterError("⟨table⟩ must name the table that the database is asked about")
    is_text = isinstance(data, str)
    address = data if is_text else data.url.render_as_string(hide_password=False)
    scheme, _, rest = address.partition("://")
    # SQLAlchemy names its driver, which Ibis chooses for itself.
    address = f"{scheme.partition('+')[0].replace('postgresql', 'postgres')}://{rest}"
    address = _of_file(address)

    def connect() -> Any:
        schema, _, name = table.rpartition(".")
        backend = ibis.connect(address)
        # Closed when the last expression made of it is gone.
        if hasattr(backend.con, "close"):
            weakref.finalize(backend, backend.con.close)
        return backend.table(name, database=schema or None)

    try:
        return quietly(connect, doing="opening the database")
    except Exception:
        failed = ParameterError(
            f"⟨table⟩{table!r} could not be opened at {without_password(address)}: is the address "
            "right, may this user read it, and is the password in the environment or in the database's own "
            "file?"
        )
    raise failed


def backend_of(native: Any) -> str:
    """The name of an Ibis table's database; an error where its rules are not known."""
    name = str(source_of(native).name)
    if name not in _HEX:
        raise ParameterError(
            f"tables of {name} are not allowed: known are {', '.join(sorted(_HEX))}; docs/databases.md has "
            "the rule for each"
        )
    return name


def kinds_of(native: Any) -> dict[str, str]:
    """The kinds of the columns whose declared type means another thing in this database."""
    backend, kinds = backend_of(native), {}
    if backend == "sqlite":
        # Of a column without a declared type Ibis looks at the rows.
        kinds = {name: "other" for name, declared in _declared_in_sqlite(native) if not declared}
    for name, kind in native.schema().items():
        if kind.is_decimal() and backend == "sqlite":
            kinds[name] = "float"  # that is how SQLite keeps them
        elif kind.is_decimal() and (kind.precision is None or kind.precision > _DIGITS):
            kinds[name] = "other"  # a number of any length would overflow, and the error tell of it
        elif kind.is_interval():
            kinds[name] = "span"
        elif kind.is_uuid():
            kinds[name] = "text"
        elif not (kind.is_numeric() or kind.is_string() or kind.is_boolean() or kind.is_temporal()):
            kinds[name] = "other"
    return kinds


def _declared_in_sqlite(native: Any) -> list[tuple[str, str]]:
    import ibis.expr.operations as ops

    connection = source_of(native).con
    tables = [node.name for node in native.op().find(ops.DatabaseTable)]
    query = "SELECT name, type FROM pragma_table_info(?)"
    return [pair for name in tables for pair in connection.execute(query, (name,)).fetchall()]


def source_of(native: Any) -> Any:
    """The one connection that an Ibis table comes from."""
    import ibis.expr.operations as ops

    found = {node.source for node in native.op().find((ops.DatabaseTable, ops.SQLQueryResult))}
    if len(found) != 1:
        raise ParameterError("an Ibis table must come from one database")
    return found.pop()


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
    in_bytes = called("convert_to", "string", "string", "binary")(text, "UTF8")
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
    if backend == "sqlite":
        # SQLite keeps whatever it is given in a column of any type: what is no text is null.
        text = (_kept_as(native, column) == "text").ifelse(text, None)
    # SQLite's digits of a null are an empty text.
    return native.mutate(**{name: text.isnull().ifelse(None, _HEX[backend](text).upper())})


def numbered(native: Any, column: str, *, name: str) -> Any:
    """The table with a further float64 column: the numbers of ``column``, null where there is none."""
    number = native[column]
    if backend_of(native) == "sqlite":
        number = _kept_as(native, column).isin(["integer", "real"]).ifelse(number, None)
    return native.mutate(**{name: number.cast("float64")})


def _kept_as(native: Any, column: str) -> Any:
    return called("typeof", native[column].type(), "string")(native[column])


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


def _arrow(native: Any) -> Any:
    """A small result as an Arrow table."""
    source = source_of(native)
    if source.name != "sqlite":
        return native.to_pyarrow()
    from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries

    # SQLite's parser takes few subqueries inside each other, and as many as one likes by name.
    query = eliminate_subqueries(source.compiler.to_sqlglot(native))
    return source.sql(query.sql("sqlite"), schema=native.schema()).to_pyarrow()


def fetched(native: Any) -> dict[str, Any]:
    """A small result as NumPy columns."""
    whole = all(kind.is_integer() for kind in native.schema().values())
    if backend_of(native) == "postgres" and "group" in native.columns and whole:
        return _packed(native)
    table = _arrow(native)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def _packed(native: Any) -> dict[str, Any]:
    """Whole numbers by group, each group's as one run of bytes: a message for every number takes long."""
    names = native.columns
    sent = " || ".join(f'int8send(CAST("{name}" AS BIGINT))' for name in names)
    source = source_of(native)
    query = f"SELECT string_agg({sent}, '') FROM ({source.compile(native)}) AS counted GROUP BY \"group\""  # noqa: S608
    with source.con.cursor(binary=True) as cursor:
        runs = b"".join(run for (run,) in cursor.execute(query))
    numbers = np.frombuffer(runs, dtype=">i8").reshape(-1, len(names)).astype(np.int64)
    return dict(zip(names, numbers.T, strict=True))


def listed(native: Any, *, decoding: str | None) -> list[tuple[Any, ...]]:
    """A small result as rows of Python's own values; one column may be texts in digits."""
    columns = _arrow(native).to_pydict()
    if decoding is not None:
        columns[decoding] = [bytes.fromhex(digits) for digits in columns[decoding]]
    return list(zip(*columns.values(), strict=True))


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
    if seconds is not None:
        end = time.monotonic() + seconds
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
