"""The engine PostgreSQL: its declared types and its special values.

A decimal may be NaN, and a date may be infinite. Such a value becomes null or a number that is not finite, so
it neither raises an error nor counts.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from discreet._tables.databases import Database, identifier
from discreet._tables.engines import MOST_DIGITS, Columns, Places
from discreet.errors import ParameterError

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
"""Types that are cast to another type, which can hold all their values."""

_DECIMAL = re.compile(r"numeric\(([0-9]+),(-?[0-9]+)\)")
_HIDDEN = """
SELECT row_security_active(held.oid) AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_policy AS p
  WHERE p.polrelid = held.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
  AND EXISTS (SELECT FROM unnest(p.polroles) AS role WHERE role = 0 OR pg_has_role(role, 'USAGE'))
) FROM pg_catalog.pg_class AS held WHERE held.oid = to_regclass(%s)
"""
_CODECS = {
    "UTF8": "utf-8",
    "SQL_ASCII": "utf-8",  # declares no encoding; most clients write UTF-8
    "EUC_CN": "gb2312",
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
    "WIN866": "cp866",
    "WIN874": "cp874",
    **{f"WIN{page}": f"cp{page}" for page in range(1250, 1259)},
    **{f"LATIN{number}": f"latin{number}" for number in range(1, 11)},
    **{f"ISO_8859_{part}": f"iso8859-{part}" for part in (5, 6, 7, 8)},
}


class Postgres(Database):
    """A table in PostgreSQL: a query on a connection. The server describes it without reading a row."""

    name = "postgres"
    double = "DOUBLE PRECISION"

    def __init__(self, connection: Any, query: str, *, table: str | None = None) -> None:
        self._table = table
        self._encoding = str(connection.info.parameter_status("server_encoding"))
        self.encoding = _codec(self._encoding)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}) AS discreet_table LIMIT 0")  # noqa: S608
            described, names = cursor.pgresult, [column.name for column in cursor.description]
            places = range(len(names))
            types = [described.ftype(place) for place in places]
            modifiers = [described.fmod(place) for place in places]
            # For a domain, the server reports its base type.
            declared = cursor.execute(_DESCRIBED, (types, modifiers)).fetchall()
        # An enumeration is a text, an object identifier a whole number, an amount of money a decimal.
        held = {
            name: "text" if is_enumeration else _CAST.get(kind) or _plain_decimal(kind)
            for name, (kind, is_enumeration) in zip(names, declared, strict=True)
        }
        super().__init__(connection, query, held)
        self.known_as = {name: kind for name, (kind, _) in zip(names, declared, strict=True)}

    @staticmethod
    def named(connection: Any, table: str) -> Postgres:
        """Open a table by its name."""
        # In a database with SQL_ASCII, the driver would return column names as bytes.
        connection.execute("SET client_encoding TO 'UTF8'")
        name = identifier(table)
        return Postgres(connection, f"SELECT * FROM {name}", table=name)  # noqa: S608 - quoted

    def column(self, name: str) -> str:
        """Return the SQL of a column, cast to a known type, with null for a decimal that is NaN."""
        held, declared = self.quoted(name), self.types[name]
        if self.known_as[name] != declared:
            held = f"CAST({held} AS {declared})"
        if self.kinds[name] != "decimal":
            return held
        return f"CASE WHEN CAST({held} AS {self.double}) < {10.0**MOST_DIGITS!r} THEN {held} END"

    def text(self, name: str) -> str:
        """Return SQL for a text's hex digits in the database's own encoding, since a conversion can fail."""
        in_bytes = f"convert_to(CAST({self.column(name)} AS TEXT), '{self._encoding}')"
        return f"upper(encode({in_bytes}, 'hex')) COLLATE \"C\""

    def real(self, number: float) -> str:
        """Return a float64 as SQL with a cast, because a plain literal is a decimal in PostgreSQL."""
        return f"CAST('{number!r}' AS DOUBLE PRECISION)"

    def position(self, name: str) -> str:
        """Return SQL for ``position``; an infinite date or time becomes infinity, which counts as missing."""
        seconds = f"CAST(date_part('epoch', {self.column(name)}) AS DOUBLE PRECISION)"
        return f"{seconds} / 86400" if self.kinds[name] == "date" else seconds

    # Without this, PostgreSQL would treat the list as the larger side of the join, and hash the rows.
    one_each = ("MIN(place)", " GROUP BY 1")

    def key_list(self, held: Places) -> str:
        """Return a SELECT of keys and positions, with one literal for all keys and one for all positions."""
        words, places = (",".join(str(pair[part]) for pair in held) for part in (0, 1))
        return (
            f"SELECT word, place FROM unnest(string_to_array('{words}', ','), "  # noqa: S608
            f"CAST(string_to_array('{places}', ',') AS BIGINT[])) AS words(word, place)"
        )

    def columns(self, statement: str, names: Sequence[str]) -> Columns:
        """Run a statement and fetch each group's rows as one byte string; a message per row would be slow."""
        if "group_place" not in names:
            return super().columns(statement, names)
        sent = " || ".join(f"int8send(CAST({name} AS BIGINT))" for name in names)
        query = f"SELECT string_agg({sent}, '') FROM ({statement}) AS counted GROUP BY group_place"  # noqa: S608
        with self._connection.cursor(binary=True) as cursor:
            runs = b"".join(run for (run,) in cursor.execute(query))
        numbers = np.frombuffer(runs, dtype=">i8").reshape(-1, len(names)).astype(np.int64)
        return dict(zip(names, numbers.T, strict=True))

    @contextmanager
    def reading(self, seconds: float | None) -> Iterator[None]:
        """Read in a read-only transaction, from one snapshot of the data."""
        connection = self._connection
        with connection.transaction(force_rollback=True), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            if seconds is not None:
                cursor.execute(f"SET LOCAL statement_timeout = {max(1, int(seconds * 1000))}")
            yield

    def hides_every_row(self) -> bool:
        """Return whether row-level security hides every row from this user, because no policy applies."""
        if self._table is None:
            return False
        found = self._connection.execute(_HIDDEN, (self._table,)).fetchone()
        return found is not None and bool(found[0])


def _plain_decimal(declared: str) -> str:
    """Widen a decimal type whose scale is negative or above its precision; return other types unchanged."""
    found = _DECIMAL.fullmatch(declared)
    if found is None:
        return declared
    scale = max(int(found[2]), 0)
    return f"numeric({max(int(found[1]) - int(found[2]), 0) + scale},{scale})"


def _codec(encoding: str) -> str:
    """Return the name of Python's codec for a PostgreSQL encoding; raise an error if there is none."""
    codec = _CODECS.get(encoding, encoding.lower())
    try:
        codecs.lookup(codec)
    except LookupError:
        raise ParameterError(
            f"the database is encoded in {encoding}, which Python cannot read, so its texts "
            "cannot be compared"
        ) from None
    return codec
