"""The engine SQLite, which can store any value in a column of any type.

A value that is not of its column's declared type becomes null, so it neither raises an error nor counts.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from discreet._tables.databases import Database
from discreet._tables.engines import Places, kind_of
from discreet._tables.moments import micros_of, moment_in

_KEPT_AS = {
    "integer": ("bigint", "'integer'"),
    "float": ("double", "'integer', 'real'"),
    "decimal": ("double", "'integer', 'real'"),
    "boolean": ("boolean", "'integer', 'real'"),
}


class SQLite(Database):
    """A table in SQLite: a query on a connection."""

    name = "sqlite"
    double = "REAL"

    def __init__(self, connection: Any, query: str, declared: Mapping[str, str]) -> None:
        kinds = {name: _kind(kind) for name, kind in declared.items()}
        # SQLite stores decimals as floats.
        types = {name: _KEPT_AS.get(kind, (kind, ""))[0] for name, kind in kinds.items()}
        super().__init__(connection, query, types)
        self.known_as = {name: kind or "without a type" for name, kind in declared.items()}
        for name, function in _FUNCTIONS.items():
            connection.create_function(name, 1, function, deterministic=True)

    def column(self, name: str) -> str:
        """Return the SQL of a column, with null for values that are not of its declared type."""
        held, kind = self.quoted(name), self.kinds[name]
        kept_as = _KEPT_AS.get(kind, ("", "'text'"))[1]
        if kind == "boolean":
            return f"CASE WHEN typeof({held}) IN ({kept_as}) THEN CAST({held} AS BIGINT) <> 0 END"
        # date() returns a valid day unchanged, but not other texts such as 'now' or '2024-02-31'.
        also = f" AND date({held}) = {held}" if kind == "date" else ""
        return f"CASE WHEN typeof({held}) IN ({kept_as}){also} THEN {held} END"

    def text(self, name: str) -> str:
        """Return SQL for a text's hex digits; null stays null, although ``hex`` makes it an empty text."""
        held = self.column(name)
        return f"CASE WHEN {held} IS NOT NULL THEN hex({held}) END"

    def word(self, key: Any) -> str | None:
        """Return a key as a word; a boolean becomes 0 or 1, because SQLite has no booleans."""
        return str(int(key)) if isinstance(key, bool) else super().word(key)

    def of_word(self, word: str, kind: str, _declared: str) -> str:
        """Return SQL that casts the word of a number; words of texts and dates are compared as they are."""
        kinds = {"integer": "INTEGER", "boolean": "INTEGER", "float": "REAL"}
        return f"CAST({word} AS {kinds[kind]})" if kind in kinds else word

    def real(self, number: float) -> str:
        """Return a float64 as a quotient of integers if they fit; SQLite may misparse a decimal number."""
        if math.isinf(number):
            return "9e999" if number > 0 else "-9e999"
        above, below = float(number).as_integer_ratio()
        if max(abs(above), below) < 2**63:
            return f"(CAST({above} AS REAL) / CAST({below} AS REAL))"
        return super().real(number)

    def day(self, text: str) -> str:
        """Return a date as an SQL text, because SQLite has no dates."""
        return f"'{text}'"

    def position(self, name: str) -> str:
        """Return SQL that computes ``position`` in Python from hex digits, as a text may be invalid UTF-8."""
        seconds = f"discreet_seconds(hex({self.quoted(name)}))"
        # A column of dates may also hold a time in SQLite; its day counts.
        return f"floor({seconds} / 86400.0)" if self.kinds[name] == "date" else seconds

    def month(self, days: str) -> str:
        """Return SQL for the month number, computed by SQLite's ``strftime``."""
        year, month = (
            f"CAST(strftime('{part}', ({days}) * 86400.0, 'unixepoch') AS BIGINT)"
            for part in ("%Y", "%m")
        )
        return f"(12 * {year} + {month} - 1)"

    def md5(self, text: str) -> str:
        """Return SQL for the hex digits of the MD5 hash, by our own function, because SQLite has none."""
        return f"discreet_md5({text})"

    def key_list(self, held: Places) -> str:
        """Return a SELECT with the keys and their positions as VALUES."""
        rows = ", ".join(f"('{word}', {place})" for word, place in held) or "(NULL, 0)"
        return f"SELECT column1 AS word, column2 AS place FROM (VALUES {rows})"  # noqa: S608

    @contextmanager
    def reading(self, seconds: float | None) -> Iterator[None]:
        """Read in a read-only transaction, and stop at the time limit."""
        connection = self._connection
        connection.commit()
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        # Set this even without a limit: while SQLite works, Python notices an interrupt only in this handler.
        end = math.inf if seconds is None else time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > end, 10_000)
        try:
            yield
        finally:
            connection.set_progress_handler(None, 0)
            connection.rollback()
            connection.execute("PRAGMA query_only = OFF")


def _kind(declared: str) -> str:
    """Translate a declared type to a type name that discreet knows; SQLite accepts any word as a type."""
    name = declared.lower().partition("(")[0].strip()
    kind = {"numeric": "decimal", "decimal": "decimal", "datetime": "moment"}.get(name)
    if kind is None:
        kind = "integer" if "int" in name.split(" ")[0] else kind_of(declared)
    return {"moment": "timestamp", "time": "other", "span": "other"}.get(kind, kind)


def declared_in(connection: Any, table: str) -> dict[str, str]:
    """Return the declared type of each column of a table or view; '' for a column that declares none."""
    query = "SELECT name, type FROM pragma_table_info(?)"
    return dict(connection.execute(query, (table,)).fetchall())


def _md5(text: object) -> str:
    in_bytes = str(text).encode("utf-8", "surrogatepass")
    return hashlib.md5(in_bytes, usedforsecurity=False).hexdigest()


def _seconds(digits: str) -> float | None:
    """Return the seconds from 1970 to an ISO date or time, given as hex digits; None for any other text."""
    text = bytes.fromhex(digits).decode(errors="replace")
    moment = moment_in(text) if "-" in text else None  # without hyphens it may have been a number
    return None if moment is None else micros_of(moment) / 10**6


_FUNCTIONS = {"discreet_md5": _md5, "discreet_seconds": _seconds}
