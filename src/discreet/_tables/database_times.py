"""Dates, times and time spans in databases, as the numbers that order them: see ``moments``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from discreet._tables.databases import backend_of, called, source_of
from discreet._tables.moments import moment_in


def _timed_in_postgres(column: Any) -> Any:
    # An infinite date or time is an infinite number there, which counts as missing.
    return called("date_part", "string", column.type(), "float64")("epoch", column)


def _timed_in_duckdb(column: Any) -> Any:
    seconds = called("epoch", column.type(), "float64")(column)
    if column.type().is_interval() or column.type().is_time():
        return seconds
    return called("isfinite", column.type(), "boolean")(column).ifelse(seconds, None)


def _timed_in_sqlite(column: Any) -> Any:
    # As digits: a text that is no UTF-8 would not reach a function in Python, and raise.
    digits = called("hex", column.type(), "string")(column)
    seconds = called("discreet_seconds", "string", "float64")(digits)
    # A column of dates may hold a time as well there, of which the day counts.
    return (seconds / 86_400.0).floor() * 86_400.0 if column.type().is_date() else seconds


_TIMED: dict[str, Callable[[Any], Any]] = {
    "postgres": _timed_in_postgres,
    "duckdb": _timed_in_duckdb,
    "sqlite": _timed_in_sqlite,
}


def orders_time(native: Any) -> bool:
    """Whether dates and times of this database can be put in order."""
    return backend_of(native) in _TIMED


def timed(native: Any, column: str, *, name: str) -> Any:
    """The table with a further float64 column: the day, or the second, that ``column`` stands for."""
    backend, held = backend_of(native), native[column]
    if backend == "sqlite":
        connection = source_of(native).con
        connection.create_function("discreet_seconds", 1, _seconds_of_text, deterministic=True)
    seconds = _TIMED[backend](held)
    return native.mutate(**{name: seconds / 86_400.0 if held.type().is_date() else seconds})


def _seconds_of_text(digits: str) -> float | None:
    """The seconds since 1970 of what SQLite keeps as a date or a time: an ISO text, else nothing."""
    text = bytes.fromhex(digits).decode(errors="replace")
    moment = moment_in(text) if "-" in text else None  # without hyphens it may have been a number
    if moment is None:
        return None
    told = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (told - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) / 10**6
