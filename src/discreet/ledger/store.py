"""A ledger's transactions: durable at commit, one writer at a time per data set.

A user's SQLite file uses ``BEGIN IMMEDIATE`` (the default transaction lets two writers read the same total),
a rollback journal and full synchronisation, so that the one file is complete after each commit. A team's
PostgreSQL uses a row lock per data set, with ``synchronous_commit`` on.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from discreet.errors import DiscreetError, LedgerError, LostLedgerError, missing_extra
from discreet.ledger.places import Place
from discreet.ledger.side_files import next_tag

T = TypeVar("T")
_WRITE = "discreet_write"
_ADVISORY_LOCK = 7_310_579_603  # an arbitrary number that all discreet ledgers agree on
# Every write transaction reads the clock, and so commits durably even if a pooler lost our settings.
_CLOCK = text(
    "SELECT extract(epoch FROM clock_timestamp()) * 1000000 "
    "FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable"
)
_BUSY_STATES = {"55P03", "40P01", "57014"}  # lock not available, deadlock, cancelled
_POLL = (
    0.002  # seconds; SQLite's own waiting, up to 0.1 s at a time, let one of 16 processes starve
)
_FULL_STATES = {"53100", "53200", "53300"}  # disk full, out of memory, too many connections


_SIGNS_OF_DAMAGE = (
    "not a database",
    "malformed",
    "Could not decode",
    "no such table",
    "no such column",
)


def system_clock() -> int:
    """Return this machine's time in microseconds since 1970."""
    return time.time_ns() // 1_000


class Store:
    """The open database of a ledger. It is safe to share between threads, and usable after a fork."""

    def __init__(self, place: Place, *, wait: float) -> None:
        self.place = place
        self.only_readable = place.is_sqlite and not place.is_writable()
        self._engine = _engine(place, wait, only_readable=self.only_readable)
        self._file = place.file_number() if place.is_sqlite else None
        self._process = os.getpid()
        # Threads of one process queue here: cheaper than SQLite's polling or a server's lock.
        self._line = Lock()
        self._wait = wait

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one consistent read transaction."""
        if not self.only_readable:
            return self._run(work, write=False)
        before = self.place.state_without_locks()
        try:
            return self._run(work, write=False)
        finally:
            if before is not None and self.place.state_without_locks() != before:
                raise LedgerError(
                    f"the ledger {self.place} was changed while it was read: try again"
                )

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one write transaction; when this returns, its effects are durable."""
        if self.only_readable:
            raise _read_only(self.place)
        self._renew_after_fork()
        if self.place.is_sqlite and self.place.file_number() != self._file:
            # An open connection would keep writing to a file that can no longer be found.
            raise LedgerError(f"the ledger {self.place} was moved or replaced; nothing was spent")
        if not self._line.acquire(timeout=self._wait):
            raise _locked(self.place)
        try:
            done = self._run(work, write=True)
        finally:
            self._line.release()
        if self.place.is_sqlite and self.place.file_number() != self._file:
            raise LedgerError(
                f"the ledger {self.place} was moved or replaced at this moment: nothing was released, and "
                "the last spend may be counted in the file that was moved"
            )
        return done

    def now(self, connection: Connection) -> int:
        """Return microseconds since 1970 by the PostgreSQL server's clock or, for SQLite, this machine's."""
        if self.place.is_sqlite:
            return system_clock()
        return int(connection.execute(_CLOCK).scalar_one())

    def lock_whole(self, connection: Connection) -> None:
        """Block other changes to the list of data sets; in SQLite, BEGIN IMMEDIATE has already done so."""
        if not self.place.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _renew_after_fork(self) -> None:
        """After a fork, drop the parent's connections without closing them or waiting for its threads."""
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
        except UnicodeDecodeError:  # from the driver, if its error quotes damaged text
            problem = damaged(self.place)
        # Raise this outside the handler: the driver's own error may quote the address and is not attached.
        raise problem


def _engine(place: Place, wait: float, *, only_readable: bool) -> Engine:
    sqlite = place.is_sqlite
    options: dict[str, Any] = {"max_overflow": 64, "pool_timeout": wait}
    if only_readable:
        # Each read checks the file again, because others may write it.
        options = {"poolclass": NullPool, "creator": lambda: _connection_for_reading(place, wait)}
    elif sqlite:
        options["connect_args"] = {"timeout": wait}
    else:
        options |= {"pool_pre_ping": True, "connect_args": {"connect_timeout": 10}}
    try:
        engine = create_engine(place.url, hide_parameters=True, **options)
    except (ImportError, NoSuchModuleError):
        raise missing_extra("a PostgreSQL ledger needs psycopg", extra="ledger") from None

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        if sqlite:
            connection.isolation_level = None  # the driver must not start its own transactions
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
        if sqlite and writing:
            _begin_writing(connection.connection.driver_connection, place, wait)
        elif sqlite:
            connection.exec_driver_sql("BEGIN")
        elif not writing:
            # Totals and history must be from one moment, or verification would find differences.
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    return engine


def _connection_for_reading(place: Place, wait: float) -> sqlite3.Connection:
    how = "mode=ro" if place.state_without_locks() is None else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(place.path))}?{how}", uri=True, timeout=wait)


def _begin_writing(connection: Any, place: Place, wait: float) -> None:
    """Wait for other writers, begin a write transaction, and give the file its next tag."""
    until = time.monotonic() + wait
    connection.execute("PRAGMA busy_timeout=0")
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > until:
                raise
        time.sleep(_POLL)
    connection.execute(f"PRAGMA busy_timeout={int(wait * 1000)}")  # wait for readers to end
    if connection.execute("PRAGMA journal_mode").fetchone() != ("delete",):
        raise LedgerError(
            f"another program has given the ledger {place} a write-ahead log, which is lost when the file is "
            "moved without it: end that program and open the ledger again. Nothing was spent"
        )
    (tag,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version={next_tag(tag, place.path.resolve())}")


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def use_one_file(place: Place, *, wait: float) -> None:
    """Merge a write-ahead log of an earlier release of discreet into the file, and stop using a log."""
    until = time.monotonic() + wait
    problem: LedgerError | None = None
    while True:
        try:
            with closing(sqlite3.connect(place.path, timeout=wait)) as connection:
                (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
                if mode != "wal":
                    return
                connection.execute("PRAGMA synchronous=EXTRA")
                connection.execute("PRAGMA journal_mode=DELETE")
                return
        except UnicodeDecodeError:  # from the driver, if its error quotes damaged text
            problem = damaged(place)
        except sqlite3.Error as error:
            if not _is_busy(error):
                problem = _problem(error, place)
            elif time.monotonic() > until:
                problem = LedgerError(
                    f"another program, perhaps an earlier discreet, has the ledger {place} open and keeps a "
                    "write-ahead log of it: end that program and try again. Nothing was spent"
                )
        if problem is not None:
            raise problem
        time.sleep(10 * _POLL)  # with the file closed; otherwise two processes could deadlock


def _locked(place: Place) -> LedgerError:
    return LedgerError(
        f"the ledger {place} is locked by another program; nothing was spent, try again"
    )


def damaged(place: Place) -> LedgerError:
    """Return the error for a file that is damaged or not a ledger."""
    return LedgerError(f"{place} is not a ledger, or it is damaged. Nothing was spent")


def _read_only(place: Place) -> LedgerError:
    return LedgerError(f"the ledger {place} is read-only; nothing was spent")


def _problem(error: Exception, place: Place) -> LedgerError:
    """Return the error to raise for a driver's error, without parameters or passwords."""
    original = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(original, "sqlstate", None)
    said = place.without_secrets(
        str(original).strip().splitlines()[0] if str(original).strip() else ""
    )
    if state in _BUSY_STATES or "database is locked" in said or "database table is locked" in said:
        return _locked(place)
    if state in _FULL_STATES or "is full" in said:
        return LedgerError(f"there is no disk space left for the ledger {place}; nothing was spent")
    if "readonly" in said or state == "25006":
        return _read_only(place)
    if any(sign in said for sign in _SIGNS_OF_DAMAGE):
        return damaged(place)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return LostLedgerError(
            f"the connection to the ledger {place} was lost; nothing was released, "
            "and the last spend may or may not have been counted"
        )
    return LedgerError(f"the ledger {place} failed: {said or type(error).__name__}")
