"""Transactions on SQLite and PostgreSQL: durable at commit, one writer at a time per data set.

SQLite: write-ahead log, ``BEGIN IMMEDIATE`` (the default transaction lets two writers read the same
total), full synchronisation. PostgreSQL: a row lock per data set, ``synchronous_commit`` on.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

from discreet.errors import DiscreetError, LedgerError, missing_extra
from discreet.ledger import clock
from discreet.ledger.places import Place

T = TypeVar("T")
_WRITE = "discreet_write"
_ADVISORY_LOCK = 7_310_579_603  # an arbitrary number that all discreet ledgers agree on
# Every writing transaction reads the clock, and so commits durably even if a pooler lost our settings.
_CLOCK = text(
    "SELECT extract(epoch FROM clock_timestamp()) * 1000000 "
    "FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable"
)
_BUSY_STATES = {"55P03", "40P01", "57014"}  # lock not available, deadlock, cancelled
_FULL_STATES = {"53100", "53200", "53300"}  # disk full, out of memory, too many connections


class Store:
    """A place, opened. Safe to share between threads, and usable after a fork."""

    def __init__(self, place: Place, *, wait: float) -> None:
        self.place = place
        self._engine = _engine(place, wait)
        self._file = place.file_number() if place.is_sqlite else None
        self._process = os.getpid()
        # Threads of one process wait in line here: cheaper than for SQLite's poll or a server's lock.
        self._line = Lock()
        self._wait = wait

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one consistent reading transaction."""
        return self._run(work, write=False)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one writing transaction; when this returns, its effects are durable."""
        self._renew_after_fork()
        if self.place.is_sqlite and self.place.file_number() != self._file:
            # An open connection would go on writing to a file that nobody can find any more.
            raise LedgerError(f"the ledger {self.place} was moved or replaced; nothing was spent")
        if not self._line.acquire(timeout=self._wait):
            raise _locked(self.place)
        try:
            return self._run(work, write=True)
        finally:
            self._line.release()

    def now(self, connection: Connection) -> int:
        """Microseconds since 1970: the server's clock where there is a server, so that a team has one."""
        if self.place.is_sqlite:
            return clock.now()
        return int(connection.execute(_CLOCK).scalar_one())

    def lock_whole(self, connection: Connection) -> None:
        """Keep out everyone else who changes the list of data sets; SQLite has done so at BEGIN IMMEDIATE."""
        if not self.place.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _renew_after_fork(self) -> None:
        """A forked child must not use, nor close, its parent's connections, nor wait for its threads."""
        if os.getpid() != self._process:
            self._engine.dispose(close=False)
            self._line = Lock()
            self._process = os.getpid()

    def _run(self, work: Callable[[Connection], T], *, write: bool) -> T:
        self._renew_after_fork()
        try:
            with (
                self._engine.connect().execution_options(**{_WRITE: write}) as connection,
                connection.begin(),
            ):
                return work(connection)
        except DiscreetError:
            raise
        except (SQLAlchemyError, sqlite3.Error) as error:
            problem = _problem(error, self.place)
        # Raised outside the handler: the driver's own error, which may quote the address, is not attached.
        raise problem


def _engine(place: Place, wait: float) -> Engine:
    sqlite = place.is_sqlite
    options: dict[str, Any] = (
        {"connect_args": {"timeout": wait}}
        if sqlite
        else {"pool_pre_ping": True, "connect_args": {"connect_timeout": 10}}
    )
    try:
        engine = create_engine(
            place.url, hide_parameters=True, max_overflow=64, pool_timeout=wait, **options
        )
    except (ImportError, NoSuchModuleError):
        raise missing_extra("a PostgreSQL ledger needs psycopg", extra="ledger") from None

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        if sqlite:
            connection.isolation_level = None  # the driver must not begin transactions of its own
            for setting in (
                "synchronous=EXTRA",
                "fullfsync=ON",
                "foreign_keys=ON",
                "trusted_schema=OFF",
            ):
                connection.execute(f"PRAGMA {setting}")
        else:
            with connection.cursor() as cursor:
                # A writer that has waited for a row must then see what the others wrote.
                cursor.execute(
                    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"
                )
                cursor.execute(f"SET lock_timeout TO {int(wait * 1000)}")
            connection.commit()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(_WRITE, False)
        if sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
        elif not writing:
            # Totals and history must be of one moment, or verifying would find differences.
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    return engine


def use_write_ahead_log(store: Store) -> None:
    """Ask SQLite for its write-ahead log; without it the ledger is slower and just as safe."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(store.place.path, timeout=5)) as connection,
    ):
        connection.execute("PRAGMA journal_mode=WAL")


def _locked(place: Place) -> LedgerError:
    return LedgerError(
        f"the ledger {place} is locked by someone else; nothing was spent, try again"
    )


def _problem(error: Exception, place: Place) -> LedgerError:
    """What went wrong, in our words, without parameters or passwords."""
    original = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(original, "sqlstate", None)
    said = place.without_secrets(
        str(original).strip().splitlines()[0] if str(original).strip() else ""
    )
    if state in _BUSY_STATES or "database is locked" in said or "database table is locked" in said:
        return _locked(place)
    if state in _FULL_STATES or "is full" in said:
        return LedgerError(f"there is no room left for the ledger {place}; nothing was spent")
    if "readonly" in said or state == "25006":
        return LedgerError(f"the ledger {place} is read-only; nothing was spent")
    if "not a database" in said or "malformed" in said:
        return LedgerError(f"{place} is not a ledger, or it is damaged")
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return LedgerError(
            f"the connection to the ledger {place} was lost; nothing was released, "
            "and the last spend may or may not have been counted"
        )
    return LedgerError(f"the ledger {place} failed: {said or type(error).__name__}")
