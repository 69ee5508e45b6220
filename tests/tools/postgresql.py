"""A real PostgreSQL server, which the tests start for themselves and stop again."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.tools.waiting import PATIENCE

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
    """PostgreSQL refuses to run as root; Debian's package makes a user for it."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    nowhere = subprocess.DEVNULL
    subprocess.run([*user, *command], check=True, stdout=nowhere, stderr=nowhere, cwd="/")


@contextmanager
def running_server() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own, on a socket; it is stopped and removed at the end."""
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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server: DISCREET_TEST_POSTGRES, or one of our own on a socket."""
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
    """A place for a ledger, on each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return str(request.getfixturevalue("postgres"))
