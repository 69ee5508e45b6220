"""Where a ledger lives, and its transactions: durable at commit, one writer at a time per data set.

A SQLite file of one's own: write-ahead log, ``BEGIN IMMEDIATE`` (the default transaction lets two writers
read the same total), full synchronisation. A team's PostgreSQL: a row lock per data set,
``synchronous_commit`` on. Passwords are never shown.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from discreet.errors import DiscreetError, LedgerError, ParameterError, missing_extra

# user:password@host, scheme:..., or name=value pairs with a password among them; never scheme://.
_NO_PATH = re.compile(
    r"(?!.*://)(?:[^/@]*:[^@]*@|(?:postgres\w*|mysql|mariadb|sqlite)(?:\+\w+)?:|.*\bpassword\s*=)",
    re.IGNORECASE | re.DOTALL,
)
_MOUNTS = Path("/proc/self/mountinfo")
_SQLITE_HEADER = b"SQLite format 3\x00"
_SECRET_OPTIONS = frozenset({"password", "passfile", "sslpassword", "sslkey"})


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """A checked address. Its text forms hide every password."""

    url: URL

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path:
        """The SQLite file."""
        assert self.url.database is not None
        return Path(self.url.database)

    def __str__(self) -> str:
        if self.is_sqlite:
            return str(self.path)
        shown = self.url.set(
            drivername="postgresql",
            query={k: v for k, v in self.url.query.items() if k not in _SECRET_OPTIONS},
        )
        return shown.render_as_string(hide_password=True)

    __repr__ = __str__

    def without_secrets(self, message: str) -> str:
        """A database's message with every password of this address blotted out."""
        secrets = [str(self.url.password)] if self.url.password else []
        for name in _SECRET_OPTIONS & set(self.url.query):
            given = self.url.query[name]
            secrets += [given] if isinstance(given, str) else list(given)
        for secret in secrets:
            for form in {secret, quote(secret, safe=""), quote_plus(secret)}:
                message = message.replace(form, "***")
        return message

    def ensure_file(self) -> None:
        """Make the SQLite file, readable by its owner only; an existing file keeps its mode."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return
        except OSError as error:
            problem = LedgerError(f"cannot make a ledger at {self.path}: {error.strerror}")
        else:
            return
        raise problem

    def file_number(self) -> tuple[int, int] | None:
        """What tells the SQLite file from any other, or None if it is gone.

        SQLite finds its log by the file's *name*: under two names there are two logs, and neither sees
        what the other has spent. Such a file is refused.
        """
        try:
            found = self.path.stat()
        except OSError:
            return None
        if found.st_nlink > 1:
            raise LedgerError(
                f"the ledger {self.path} has {found.st_nlink} names (hard links), and what is spent "
                "under one may not be seen under another: leave it one name. Nothing was spent"
            )
        return found.st_dev, found.st_ino

    def _require_no_mount_of_its_own(self) -> None:
        """A single file mounted into a container is another name for it, which no count of links shows."""
        try:
            lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            return  # not Linux: there is no such mount
        point = str(self.path.resolve())
        for escaped, character in (
            ("\\", "\\134"),
            (" ", "\\040"),
            ("\t", "\\011"),
            ("\n", "\\012"),
        ):
            point = point.replace(escaped, character)
        if any(line.split(" ")[4:5] == [point] for line in lines):
            raise LedgerError(
                f"the ledger {self.path} is mounted as a single file, and what is spent here may not be "
                "seen where it comes from: mount the folder that it is in. Nothing was spent"
            )

    def check_file(self) -> None:
        """Refuse what is plainly no ledger, or has two names, before SQLite opens it."""
        self._require_no_mount_of_its_own()
        try:
            with self.path.open("rb") as file:
                start = file.read(len(_SQLITE_HEADER))
        except FileNotFoundError:
            problem = LedgerError(
                f"there is no ledger at {self.path}: `discreet budget create` makes one"
            )
        except OSError as error:
            problem = LedgerError(f"cannot read the ledger at {self.path}: {error.strerror}")
        else:
            if start in (b"", _SQLITE_HEADER):
                return
            problem = LedgerError(f"{self.path} is not a ledger")
        raise problem


def default_place() -> Path:
    """The ledger in the user's data directory; ``DISCREET_LEDGER`` overrides it (a path or a URL).

    Example:
        >>> default_place().name
        'ledger.db'
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "discreet" / "ledger.db"


def place_of(address: object) -> Place:
    """The place meant by None (the user's own), a path, ``sqlite:///...`` or ``postgresql://...``."""
    if address is None:
        address = os.environ.get("DISCREET_LEDGER") or default_place()
    if isinstance(address, str) and _NO_PATH.match(address):
        # Taken for a path, it would be shown with its password, and a file of that name made.
        raise ParameterError(
            "a ledger's address is a path, sqlite:///path or postgresql://...; this one looks like a "
            "server's without the :// (it is not shown here, because it may hold a password)"
        )
    if isinstance(address, Path) or (isinstance(address, str) and address and "://" not in address):
        return Place(
            URL.create("sqlite+pysqlite", database=str(Path(address).expanduser().absolute()))
        )
    if not isinstance(address, str) or not address:
        raise ParameterError("a ledger's address is a path, sqlite:///path or postgresql://...")
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        backend = ""
    # The address is not echoed: a malformed one may contain a password.
    if backend == "sqlite":
        if not url.database or url.database == ":memory:" or url.query:
            raise ParameterError("a SQLite ledger is a file: sqlite:///path, without options")
        return place_of(Path(url.database))
    if backend in ("postgresql", "postgres"):
        return Place(url.set(drivername="postgresql+psycopg"))
    raise ParameterError("a ledger's address is a path, sqlite:///path or postgresql://...")


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


def system_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1_000


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
            return system_clock()
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
