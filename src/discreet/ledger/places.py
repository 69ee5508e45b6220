"""Addresses of ledgers, and checks of a SQLite file before it is opened.

Passwords are never shown.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from discreet.errors import LedgerError, ParameterError
from discreet.ledger.side_files import needs_log, require_own

# user:password@host, scheme:..., or name=value pairs with a password among them; never scheme://.
_NO_PATH = re.compile(
    r"(?!.*://)(?:[^/@]*:[^@]*@|(?:postgres\w*|mysql|mariadb|sqlite)(?:\+\w+)?:|.*\bpassword\s*=)",
    re.IGNORECASE | re.DOTALL,
)
_MOUNTS = Path("/proc/self/mountinfo")
_SECRET_OPTIONS = frozenset({"password", "passfile", "sslpassword", "sslkey"})


@dataclass(frozen=True, repr=False)
class Place:
    """The checked address of a ledger. ``str`` and ``repr`` hide its passwords."""

    url: URL

    @cached_property
    def is_sqlite(self) -> bool:
        """Whether the ledger is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @cached_property
    def path(self) -> Path:
        """The path of the SQLite file."""
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
        """Return a database's message with every password of this address removed."""
        secrets = [str(self.url.password)] if self.url.password else []
        for name in _SECRET_OPTIONS & set(self.url.query):
            given = self.url.query[name]
            secrets += [given] if isinstance(given, str) else list(given)
        for secret in secrets:
            for form in {secret, quote(secret, safe=""), quote_plus(secret)}:
                message = message.replace(form, "***")
        return message

    def ensure_file(self) -> None:
        """Create the SQLite file, readable only by its owner; an existing file keeps its mode."""
        if os.path.lexists(self.path):
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite creates the file, for the reason given in ``check_file``, with the mode of another file.
            with NamedTemporaryFile(dir=self.path.parent) as private:
                address = f"{self.path.as_uri()}?mode=rwc&modeof={quote(private.name)}"
                sqlite3.connect(address, uri=True).close()
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            problem = LedgerError(f"cannot make a ledger at {self.path}: {reason}")
        else:
            return
        raise problem

    def is_writable(self) -> bool:
        """Return whether the SQLite file and a journal beside it can be written."""
        file = self.path.resolve()
        return all(os.access(part, os.W_OK) for part in (file, file.parent))

    def state_without_locks(self) -> tuple[int, int] | None:
        """Return the size and modification time of a file that must be read without locks, else None.

        A file that uses a write-ahead log is locked through a second file. The second file cannot be created
        in a read-only folder, and in any other folder a reader would leave it behind. If there is no log now,
        the ledger's file is complete: it is read without locks, and its size and time are checked again
        afterwards.
        """
        found = self.path.resolve()
        try:
            about = found.stat()
        except OSError:
            return None  # SQLite will say that it is gone
        if found.with_name(found.name + "-wal").exists() or not needs_log(found):
            return None
        return about.st_size, about.st_mtime_ns

    def file_number(self) -> tuple[int, int] | None:
        """Return the device and inode numbers of the SQLite file, or None if it is gone.

        SQLite finds its journal by the file's *name*. If a file has two names and a process that uses one of
        them crashes, a process that uses the other does not see that a spend must be undone. So a file with
        two names is refused.
        """
        try:
            found = self.path.stat()
        except OSError:
            return None
        if found.st_nlink > 1:
            raise LedgerError(
                f"the ledger {self.path} has {found.st_nlink} names (hard links), and what is spent "
                "under one may not be seen under another: remove all names but one. Nothing was spent"
            )
        return found.st_dev, found.st_ino

    def _require_no_mount_of_its_own(self) -> None:
        """Refuse a file that is a mount point (as in a container): its link count hides its second name."""
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
                "seen outside: mount the folder that contains it. Nothing was spent"
            )

    def check_file(self, *, wait: float) -> None:
        """Refuse a missing or unreadable file, a mount point, and a damaged or foreign log or journal.

        Only SQLite opens the file itself: closing any other handle on it would release all locks that this
        process has on it.
        """
        self._require_no_mount_of_its_own()
        if not self.path.exists():
            raise LedgerError(
                f"there is no ledger at {self.path}: `discreet budget create` makes one"
            )
        if not self.path.is_file() or not os.access(self.path, os.R_OK):
            raise LedgerError(f"{self.path} is not a ledger, or cannot be read")
        require_own(self.path, wait=wait)


def default_place() -> Path:
    """Return the path of the ledger in the user's data directory, whether or not it exists.

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
    """Check an address: a path, ``sqlite:///...``, ``postgresql://...`` or None (the user's own ledger).

    The user's own ledger is the address in ``DISCREET_LEDGER`` if it is set, else ``default_place()``.
    """
    if address is None:
        address = os.environ.get("DISCREET_LEDGER") or default_place()
    if isinstance(address, str) and _NO_PATH.match(address):
        # If it were read as a path, it would be shown with its password, and such a file would be made.
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
        # An "@" in an option would end a password, and the option's value would be shown as the host.
        before = f"{url.username}{url.password}"
        if any(f"{option}=" in before for option in _SECRET_OPTIONS):
            raise ParameterError(
                "an option of this ledger's address contains @: write it as %40 (the address is not shown "
                "here, because it may hold a password)"
            )
        return Place(url.set(drivername="postgresql+psycopg"))
    raise ParameterError("a ledger's address is a path, sqlite:///path or postgresql://...")
