"""What a database declares of its columns, and their values as they are declared.

A database may hold what its declared type does not say: SQLite keeps whatever it is given in a column of any
type, a decimal of PostgreSQL may be NaN. Such a value is null here, so that it neither raises nor counts.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from typing import Any

from discreet._tables.databases import backend_of, called, compiled, source_of
from discreet._tables.engines import quietly
from discreet.errors import ParameterError

_DIGITS = 76  # of a decimal, all of which are far from the ends of float64's range
_LARGEST = 10.0**_DIGITS


def kinds_of(native: Any) -> dict[str, str]:
    """The kind of every column, by its declared type and what that means in this database."""
    kinds = {name: _kind(kind) for name, kind in native.schema().items()}
    if backend_of(native) == "sqlite":
        # That is how SQLite keeps decimals; and of a column without a type Ibis looks at the rows.
        kinds = {name: "float" if kind == "decimal" else kind for name, kind in kinds.items()}
        kinds |= {name: "other" for name, declared in _declared_in_sqlite(native) if not declared}
    return kinds


def _kind(dtype: Any) -> str:
    if dtype.is_decimal():
        # A number of any length would overflow, and the error tell of it.
        return "decimal" if dtype.precision is not None and dtype.precision <= _DIGITS else "other"
    tests = {
        "text": dtype.is_string() or dtype.is_uuid(),
        "integer": dtype.is_integer(),
        "float": dtype.is_floating(),
        "boolean": dtype.is_boolean(),
        "date": dtype.is_date(),
        "moment": dtype.is_timestamp(),
        "time": dtype.is_time(),
        "span": dtype.is_interval(),
    }
    return next((kind for kind, holds in tests.items() if holds), "other")


def _declared_in_sqlite(native: Any) -> list[tuple[str, str]]:
    import ibis.expr.operations as ops

    connection = source_of(native).con
    tables = [node.name for node in native.op().find(ops.DatabaseTable)]
    query = "SELECT name, type FROM pragma_table_info(?)"
    return [pair for name in tables for pair in connection.execute(query, (name,)).fetchall()]


# ---- values as they are declared -------------------------------------------------------------------------


def cleaned(native: Any, columns: Iterable[str]) -> Any:
    """The table with null for whatever in these columns is not of their declared type."""
    clean = _CLEAN.get(backend_of(native))
    if clean is None:
        return native
    return native.mutate(**{name: clean(native[name]) for name in sorted(set(columns))})


def _clean_in_postgres(column: Any) -> Any:
    if not column.type().is_decimal():
        return column
    # NaN is beyond all numbers there.
    return (column.cast("float64") < _LARGEST).ifelse(column, None)


def _clean_in_sqlite(column: Any) -> Any:
    kind = column.type()
    kept_as = called("typeof", kind, "string")(column)
    if kind.is_boolean():
        return kept_as.isin(["integer", "real"]).ifelse(column.cast("int64") != 0, None)
    if kind.is_integer():
        return (kept_as == "integer").ifelse(column, None)
    if kind.is_numeric():
        return kept_as.isin(["integer", "real"]).ifelse(column, None)
    is_text = kept_as == "text"
    if kind.is_date():
        # Of a day its own text is the same; of another text, such as 'now' or '2024-02-31', it is not.
        is_text = is_text & (called("date", kind, kind)(column) == column)
    return is_text.ifelse(column, None)


_CLEAN: dict[str, Callable[[Any], Any]] = {
    "postgres": _clean_in_postgres,
    "sqlite": _clean_in_sqlite,
}


# ---- PostgreSQL's types ----------------------------------------------------------------------------------


def as_declared(native: Any) -> Any:
    """A table whose columns have types that Ibis knows; no row is read.

    In PostgreSQL an enumeration is a text, a domain what it is made of, an object identifier a whole number,
    an amount of money a decimal.
    """
    if backend_of(native) != "postgres":
        return native

    def typed() -> Any:
        source = source_of(native)
        return typed_in_postgres(source, compiled(native).sql(source.dialect))

    found = quietly(typed, doing="reading the columns' types", telling=True)
    return native if found.schema() == native.schema() else found


_DESCRIBED = """
SELECT format_type(kind, modifier), typtype = 'e'
FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY AS held(kind, modifier, place)
LEFT JOIN pg_catalog.pg_type AS t ON t.oid = kind ORDER BY place
"""
_CAST = {
    '"char"': "text",
    "citext": "text",
    "name": "text",
    "oid": "bigint",
    "money": "numeric(23,4)",
}
"""Types that are read as others, which hold all of their values."""

_DECIMAL = re.compile(r"numeric\(([0-9]+),(-?[0-9]+)\)")


def opened_in_postgres(source: Any, table: str) -> Any:
    """A table of PostgreSQL by its name."""
    return typed_in_postgres(source, f"SELECT * FROM {_identifier(table)}")  # noqa: S608


def typed_in_postgres(source: Any, query: str) -> Any:
    """What a query of PostgreSQL gives, in types that Ibis knows; the server describes it without a row."""
    import ibis
    import ibis.expr.operations as ops

    with source.con.cursor() as cursor:
        cursor.execute(f"SELECT * FROM ({query}) AS discreet_table LIMIT 0")  # noqa: S608
        described, names = cursor.pgresult, [column.name for column in cursor.description]
        places = range(len(names))
        types = [described.ftype(place) for place in places]
        modifiers = [described.fmod(place) for place in places]
        # Of a domain the server tells the type that it is made of.
        declared = cursor.execute(_DESCRIBED, (types, modifiers)).fetchall()
    selected, kinds = [], {}
    for name, (held, is_enumeration) in zip(names, declared, strict=True):
        kind = "text" if is_enumeration else _CAST.get(held) or _plain_decimal(held)
        quoted = '"' + name.replace('"', '""') + '"'
        selected.append(quoted if kind == held else f"CAST({quoted} AS {kind}) AS {quoted}")
        kinds[name] = _known(source, kind)
    text = f"SELECT {', '.join(selected)} FROM ({query}) AS discreet_table"  # noqa: S608
    return ops.SQLQueryResult(query=text, schema=ibis.schema(kinds), source=source).to_expr()


def _plain_decimal(declared: str) -> str:
    """A decimal whose scale lies between 0 and its precision, which PostgreSQL does not ask for."""
    found = _DECIMAL.fullmatch(declared)
    if found is None:
        return declared
    scale = max(int(found[2]), 0)
    return f"numeric({max(int(found[1]) - int(found[2]), 0) + scale},{scale})"


def _known(source: Any, declared: str) -> Any:
    """Ibis' type of this name, or its type for what it does not know."""
    import ibis.expr.datatypes as dt

    try:
        return source.compiler.type_mapper.from_string(declared)
    except Exception:  # some names of types make it raise errors of several libraries
        return dt.unknown


_HIDDEN = """
SELECT row_security_active(held.oid) AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_policy AS p
  WHERE p.polrelid = held.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
  AND EXISTS (SELECT FROM unnest(p.polroles) AS role WHERE role = 0 OR pg_has_role(role, 'USAGE'))
) FROM pg_catalog.pg_class AS held WHERE held.oid = to_regclass(%s)
"""


def hides_every_row(native: Any, table: str) -> bool:
    """Whether PostgreSQL shows this user no row of a table, because no policy says that it may."""
    if backend_of(native) != "postgres":
        return False
    found = source_of(native).con.execute(_HIDDEN, (_identifier(table),)).fetchone()
    return found is not None and bool(found[0])


def _identifier(name: str) -> str:
    """A table's name, with its schema where it has one, as PostgreSQL quotes it."""
    schema, _, table = name.rpartition(".")
    return ".".join('"' + part.replace('"', '""') + '"' for part in (schema, table) if part)


# ---- PostgreSQL's encodings ------------------------------------------------------------------------------

_CODECS = {
    "UTF8": "utf-8",
    "SQL_ASCII": "utf-8",  # which says nothing of its bytes: most write UTF-8
    "EUC_CN": "gb2312",
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
    "WIN866": "cp866",
    "WIN874": "cp874",
    **{f"WIN{page}": f"cp{page}" for page in range(1250, 1259)},
    **{f"LATIN{number}": f"latin{number}" for number in range(1, 11)},
    **{f"ISO_8859_{part}": f"iso8859-{part}" for part in (5, 6, 7, 8)},
}


def encoding_of(native: Any) -> tuple[str, str]:
    """How the texts of a database are encoded: as it is called there, and Python's codec of that name."""
    if backend_of(native) != "postgres":
        return "UTF8", "utf-8"
    name = str(source_of(native).con.info.parameter_status("server_encoding"))
    codec = _CODECS.get(name, name.lower())
    try:
        codecs.lookup(codec)
    except LookupError:
        raise ParameterError(
            f"the database is encoded in {name}, which Python has no codec for: its texts cannot be compared"
        ) from None
    return name, codec
