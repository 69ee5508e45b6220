"""A real PostgreSQL server, which the tests start and stop."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, make_url, text
from sqlalchemy.pool import NullPool

from tests.tools.waiting import PATIENCE, until

POSTGRES = os.environ.get("DISCREET_TEST_POSTGRES")
_counter = iter(range(1_000_000))


def _binaries() -> Path | None:
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).resolve().parent
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "pg_ctl").exists():
            return folder
    return None


def _run(command: list[str]) -> None:
    """Run a command, as Debian's user ``postgres`` if we are root: PostgreSQL refuses to run as root."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    nowhere = subprocess.DEVNULL
    subprocess.run([*user, *command], check=True, stdout=nowhere, stderr=nowhere, cwd="/")


@contextmanager
def running_server() -> Iterator[str]:
    """Start a PostgreSQL server on a socket and yield its URL; stop and remove it at the end."""
    binaries = _binaries()
    if binaries is None:
        raise FileNotFoundError("no PostgreSQL: install the package postgresql")
    folder = Path(
        tempfile.mkdtemp(prefix="discreet-postgres-", dir="/tmp")
    )  # sockets need short paths
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data, log = folder / "data", folder / "log"
    initialise = [
        binaries / "initdb",
        "-D",
        data,
        "-U",
        "discreet",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
    ]
    _run([str(part) for part in initialise])
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c max_connections=80"
    control = [str(binaries / "pg_ctl"), "-D", str(data), "-w", "-t", f"{PATIENCE:.0f}"]
    _run([*control, "-l", str(log), "-o", options, "start"])
    try:
        yield f"postgresql://discreet@/postgres?host={folder}"
    finally:
        _run([*control, "-m", "immediate", "stop"])
        shutil.rmtree(folder, ignore_errors=True)


class Failover:
    """A PostgreSQL server and a standby that confirms every commit, both on the loopback interface."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries = binaries
        self._folder = folder
        self._ports = {name: free_port() for name in ("primary", "standby")}
        self._stopped: set[str] = set()

    def start(self) -> None:
        """Start the primary, copy it, start the copy as its standby, and make commits wait for it."""
        initialise = ["-U", "discreet", "-A", "trust", "-E", "UTF8", "--no-sync"]
        self._call("initdb", "-D", self._data("primary"), *initialise)
        self._control("primary", "start")
        copy = ["-R", "-X", "stream", "-c", "fast", "--no-sync"]
        source = ["-h", "127.0.0.1", "-p", str(self._ports["primary"]), "-U", "discreet"]
        self._call("pg_basebackup", "-D", self._data("standby"), *source, *copy)
        self._control("standby", "start")
        self.execute("primary", "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.execute("primary", "SELECT pg_reload_conf()")
        confirmed = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
        until(lambda: self.execute("primary", confirmed), "a standby that confirms")

    @property
    def address(self) -> str:
        """An address that leads to the server that accepts writes."""
        hosts = "&".join(f"host=127.0.0.1:{port}" for port in self._ports.values())
        return f"postgresql://discreet@/postgres?{hosts}&target_session_attrs=read-write"

    def engine(self, name: str) -> Engine:
        """Return an engine for one of the two servers, with each statement in its own transaction."""
        address = f"postgresql+psycopg://discreet@127.0.0.1:{self._ports[name]}/postgres"
        return create_engine(address, isolation_level="AUTOCOMMIT", poolclass=NullPool)

    def execute(self, name: str, statement: str) -> list[Any]:
        """Execute a statement on one of the two servers and return its rows."""
        with self.engine(name).connect() as connection:
            result = connection.execute(text(statement))
            return list(result) if result.returns_rows else []

    def kill_primary(self) -> None:
        """Stop the primary at once, as a crash would."""
        self._control("primary", "stop", "-m", "immediate")
        self._stopped.add("primary")

    def promote_standby(self) -> None:
        """Make the standby accept writes."""
        self._control("standby", "promote")

    def stop(self) -> None:
        """Stop both servers."""
        for name in self._ports.keys() - self._stopped:
            if (self._data_path(name) / "postmaster.pid").exists():
                self._control(name, "stop", "-m", "immediate")

    def _data_path(self, name: str) -> Path:
        return self._folder / name

    def _data(self, name: str) -> str:
        return str(self._data_path(name))

    def _call(self, program: str, *arguments: str) -> None:
        _run([str(self._binaries / program), *arguments])

    def _control(self, name: str, *action: str) -> None:
        options = f"-c listen_addresses=127.0.0.1 -c port={self._ports[name]} -c fsync=off "
        options += f"-c unix_socket_directories={self._folder} "
        options += (
            "-c wal_sender_timeout=0 -c wal_receiver_timeout=0"  # a test may stop one of them
        )
        log = ["-l", str(self._folder / f"{name}.log"), "-o", options]
        wait = ["-D", self._data(name), "-w", "-t", f"{PATIENCE:.0f}"]
        self._call("pg_ctl", *wait, *(log if action == ("start",) else []), *action)


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return int(held.getsockname()[1])


@pytest.fixture
def failover() -> Iterator[Failover]:
    """A PostgreSQL server with a standby, for one test."""
    binaries = _binaries()
    if binaries is None:
        message = "no PostgreSQL: install the package postgresql"
        if os.environ.get("DISCREET_REQUIRE_SERVICES"):
            pytest.fail(message)
        pytest.skip(message)
    folder = Path(tempfile.mkdtemp(prefix="discreet-failover-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    servers = Failover(binaries, folder)
    try:
        servers.start()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server: DISCREET_TEST_POSTGRES, or one started here on a socket."""
    if POSTGRES:
        yield POSTGRES
        return
    if _binaries() is None:
        message = "no PostgreSQL: set DISCREET_TEST_POSTGRES or install the package postgresql"
        if os.environ.get("DISCREET_REQUIRE_SERVICES"):
            pytest.fail(message)
        pytest.skip(message)
    with running_server() as address:
        yield address


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The URL of a fresh, empty PostgreSQL database."""
    yield from _fresh_database(postgres_server)


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    """The URL of one PostgreSQL database for all tables of a worker."""
    yield from _fresh_database(postgres_server)


def _fresh_database(postgres_server: str) -> Iterator[str]:
    name = f"discreet_test_{os.getpid()}_{next(_counter)}"
    base = make_url(postgres_server).set(drivername="postgresql+psycopg")
    engine = create_engine(base, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An address for a ledger, once for each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return str(request.getfixturevalue("postgres"))
