"""Failing disks, locks, files, clocks and connections: a clear error, nothing released, nothing lost."""

from __future__ import annotations

import logging
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, make_url, text

from discreet import PureDP
from discreet.errors import LedgerError, MissingExtraError, ParameterError
from discreet.ledger import Ledger, places, store
from discreet.ledger.places import place_of
from tests.tools.forking import Ended, forked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A SQLite ledger with one budget."""
    found = tmp_path / "budget.db"
    with Ledger.open(found) as ledger:
        ledger.create("visits", PureDP(1))
    return found


def test_a_full_disk_refuses_and_loses_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.spend("visits", PureDP("0.1"))

        @event.listens_for(ledger._store._engine, "connect")
        def small(connection: Any, _: Any) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages}")

        ledger.close()

        def spend_until_full() -> None:
            for _ in range(400):
                ledger.spend("visits", PureDP("0.001"), purpose="x" * 900)

        with pytest.raises(LedgerError, match="no disk space left"):
            spend_until_full()
    with Ledger.open(path) as ledger:
        assert ledger.verify("visits").holds
        ledger.spend("visits", PureDP("0.001"))


def test_a_file_that_may_not_grow(path: Path) -> None:
    """A quota or a full file system limits the file and its journal."""

    def work() -> bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        with Ledger.open(path) as ledger:
            for done in range(200):
                try:
                    ledger.spend("visits", PureDP("0.001"), purpose="x" * 900)
                except LedgerError as error:
                    return f"{done} {error}".encode()
        return b"never full"

    ended = forked(work)
    assert ended.code == 0, ended.said
    done = int(ended.said.split()[0])
    with Ledger.open(path) as ledger:
        assert ledger.verify("visits").holds
        assert ledger.show("visits").total.cost == done * 10**9


def _as_somebody_else(path: Path, work: Callable[[], bytes], *, folder: int) -> Ended:
    """Run ``work`` as a user without write access to the file; ``folder`` is the mode of its folder."""
    path.chmod(0o444)
    path.parent.chmod(folder)

    def dropped() -> bytes:
        if os.geteuid() == 0:
            os.setuid(65534)
        return work()

    try:
        return forked(dropped)
    finally:
        path.parent.chmod(0o755)
        path.chmod(0o600)


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("folder", [0o555, 0o777])
def test_a_read_only_file_is_shown_verified_and_never_spent_from(journal: str, folder: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "budget.db"
        with Ledger.open(path) as ledger:
            ledger.create("visits", PureDP(1))
            ledger.spend("visits", PureDP("0.25"))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA journal_mode={journal}")
        files = sorted(path.parent.iterdir())

        def look() -> bytes:
            with Ledger.open(path) as ledger:
                (listed,) = ledger.budgets()
                assert listed == ledger.show("visits")
                assert ledger.verify("visits", head=ledger.head("visits")).holds
                assert [entry.kind for entry in ledger.history("visits")] == ["create", "spend"]
                assert ledger.plan("visits", PureDP("0.75")).fits
                assert sorted(path.parent.iterdir()) == files, "a reader leaves nothing behind"
                return listed.left.encode()

        def spend() -> bytes:
            with Ledger.open(path) as ledger:
                return bytes(ledger.spend("visits", PureDP("0.1")).sequence)

        assert _as_somebody_else(path, look, folder=folder) == (0, b"\xce\xb5 = 0.75")
        assert _as_somebody_else(path, spend, folder=folder).said.decode() == (
            f"LedgerError: the ledger {path} is read-only; nothing was spent"
        )
        with Ledger.open(path) as ledger:
            assert ledger.show("visits").left == "ε = 0.75"


def test_a_read_only_file_that_changes_while_it_is_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no lock is possible, a reader that meets a writer says so and shows nothing."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
    monkeypatch.setattr(places.Place, "is_writable", lambda _: False)
    with Ledger.open(path) as ledger:
        assert ledger.show("visits").left == "ε = 1"

        def look(_: object) -> None:
            os.utime(path, ns=(0, 0))

        with pytest.raises(LedgerError, match="changed while it was read"):
            ledger._store.read(look)


COMMIT_TOO = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN EXCLUSIVE")
"""


def test_threads_that_share_a_read_only_ledger_keep_one_another_from_reading_two_states(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that begins or ends its read must not release the lock of another thread's read."""
    monkeypatch.setattr(places.Place, "is_writable", lambda _: False)
    commit_too = [sys.executable, "-c", COMMIT_TOO, str(path)]
    with Ledger.open(path) as ledger, ThreadPoolExecutor(1) as thread:

        def work(connection: Any) -> str:
            connection.execute(text("SELECT count(*) FROM discreet_entries")).fetchall()
            assert thread.submit(ledger.show, "visits").result().left == "ε = 1"
            return subprocess.run(commit_too, capture_output=True, text=True, check=False).stderr

        assert "database is locked" in ledger._store.read(work)


def test_a_read_only_file_that_is_gone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places.Place, "is_writable", lambda _: False)
    with Ledger.open(path) as ledger:
        path.unlink()
        with pytest.raises(LedgerError, match="unable to open"):
            ledger.show("visits")


def test_a_locked_file(path: Path) -> None:
    with Ledger.open(path, wait=0.1) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="locked by another program; nothing was spent"):
            ledger.spend("visits", PureDP("0.1"))
        assert ledger.show("visits").left == "ε = 1"
        other.execute("ROLLBACK")
        other.close()
        ledger.spend("visits", PureDP("0.1"))


def test_a_locked_row_on_a_server(postgres: str) -> None:
    with Ledger.open(postgres, wait=0.2) as ledger:
        ledger.create("visits", PureDP(1))
        engine = create_engine(make_url(postgres).set(drivername="postgresql+psycopg"))
        with engine.begin() as other:
            other.execute(text("SELECT * FROM discreet_budgets FOR UPDATE"))
            with pytest.raises(LedgerError, match="locked by another program"):
                ledger.spend("visits", PureDP("0.1"))
        engine.dispose()
        ledger.spend("visits", PureDP("0.1"))


def test_files_that_are_no_ledgers(tmp_path: Path) -> None:
    noise = tmp_path / "noise.db"
    noise.write_bytes(b"these are notes about something else\n" * 100)
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger.open(noise)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    with pytest.raises(LedgerError, match="is not a ledger, or it is damaged"):
        Ledger.open(damaged)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(LedgerError, match="another program"):
        Ledger.open(other)
    with pytest.raises(LedgerError):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(tmp_path / "absent.db", create=False)
    assert not (tmp_path / "absent.db").exists()


def test_an_empty_server_is_no_ledger_until_one_is_made(postgres: str) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(postgres, create=False)


def test_a_newer_schema(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger._store.write(lambda c: c.execute(text("INSERT INTO discreet_schema VALUES (99)")))
    with pytest.raises(LedgerError, match=r"newer discreet \(schema 99"):
        Ledger.open(address)


@pytest.mark.parametrize("moment", ["before_cursor_execute", "commit"])
def test_a_connection_lost_in_the_middle_of_a_spend(postgres: str, moment: str) -> None:
    with Ledger.open(postgres) as ledger:
        ledger.create("visits", PureDP(1))
        killer = create_engine(
            make_url(postgres).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
        )

        def cut(*_: Any) -> None:
            with killer.connect() as other:
                other.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                )

        event.listen(ledger._store._engine, moment, cut)
        with pytest.raises(LedgerError, match=r"connection .* was lost; nothing was released"):
            ledger.spend("visits", PureDP("0.1"))
        event.remove(ledger._store._engine, moment, cut)
        killer.dispose()
        # The pool has replaced the connection; nothing was charged, because nothing was committed.
        assert ledger.show("visits").left == "ε = 1"
        ledger.spend("visits", PureDP("0.1"))
        assert ledger.verify("visits").holds


def test_a_spend_is_durable_even_where_the_server_would_not_wait(postgres: str) -> None:
    """A server may have durable commits switched off; a charge switches them on for itself."""
    name = make_url(postgres).database
    seen: list[str] = []
    with Ledger.open(postgres) as ledger:
        ledger._store.write(
            lambda c: c.execute(text(f'ALTER DATABASE "{name}" SET synchronous_commit = off'))
        )
        ledger.create("visits", PureDP(1))
        ledger.close()
        event.listen(
            ledger._store._engine,
            "commit",
            lambda c: seen.append(c.exec_driver_sql("SHOW synchronous_commit").scalar_one()),
        )
        assert (
            ledger._store.read(lambda c: c.execute(text("SHOW synchronous_commit")).scalar_one())
            == "off"
        )
        ledger.spend("visits", PureDP("0.1"))
    assert seen[-1] == "on"


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger.open(f"postgresql://someone:hunter2@/nothing?host={tmp_path}")
    assert "hunter2" not in str(caught.value)


def test_a_clock_that_goes_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(path) as ledger:
        last = ledger.spend("visits", PureDP("0.1"))
        real = store.system_clock()
        monkeypatch.setattr(store, "system_clock", lambda: real - 30 * 1_000_000)
        nearly = ledger.spend("visits", PureDP("0.1"))
        assert nearly.time == last.time
        monkeypatch.setattr(store, "system_clock", lambda: real - 3600 * 1_000_000)
        with pytest.raises(LedgerError, match="the clock has gone back"):
            ledger.spend("visits", PureDP("0.1"))
        assert ledger.show("visits").left == "ε = 0.8"
        ledger.fail(nearly)  # a failure can always be recorded
        ledger.accept_clock("visits", purpose="the battery was replaced")
        later = ledger.spend("visits", PureDP("0.1"))
        assert later.time < last.time
        assert ledger.verify("visits").holds


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_is_taken_away(path: Path, replaced: bool) -> None:
    """An open connection could keep writing to a file that nobody can see."""
    with Ledger.open(path) as ledger:
        ledger.spend("visits", PureDP("0.1"))
        path.rename(path.with_suffix(".old"))
        if replaced:
            path.write_bytes(b"")
        with pytest.raises(LedgerError, match="moved or replaced; nothing was spent"):
            ledger.spend("visits", PureDP("0.1"))


SECRET = "correct horse/battery"  # noqa: S105  # a password for the test


def test_passwords_are_never_shown(caplog: pytest.LogCaptureFixture, postgres_server: str) -> None:
    caplog.set_level(logging.DEBUG)
    base = make_url(postgres_server)
    addresses = [
        base.set(username="nobody_here", password=SECRET),
        base.set(username="nobody_here", query={**base.query, "password": SECRET}),
    ]
    for address in addresses:
        written = address.render_as_string(hide_password=False)
        assert SECRET not in str(place_of(written))
        assert SECRET not in repr(place_of(written))
        with pytest.raises(LedgerError) as caught:
            Ledger.open(written)
        told = (
            repr(caught.value)
            + str(caught.value.__context__)
            + str(caught.value.__cause__)
            + caplog.text
        )
        for form in (SECRET, "correct%20horse", "correct+horse", "battery"):
            assert form not in told
    for malformed in (
        f"postgresql://me:{SECRET}@host:notaport/x",
        f"mysql://me:{SECRET}@h/x",
        "://",
    ):
        with pytest.raises(ParameterError) as refused:
            Ledger.open(malformed)
        assert "battery" not in str(refused.value)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[ledger\]'):
        Ledger.open("postgresql://localhost/x")


def test_a_log_of_another_program_is_never_spent_into(path: Path) -> None:
    """Such a log is lost when the file is moved without it."""
    with Ledger.open(path, wait=0.1) as ledger, closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=wal")
        other.execute("SELECT count(*) FROM discreet_entries").fetchone()
        with pytest.raises(LedgerError, match=r"a write-ahead log, .* Nothing was spent"):
            ledger.spend("visits", PureDP("0.1"))
        with pytest.raises(LedgerError, match=r"has the ledger .* open .* Nothing was spent"):
            Ledger.open(path, wait=0.1)
    with Ledger.open(path) as ledger:
        ledger.spend("visits", PureDP("0.1"))
        assert ledger.show("visits").left == "ε = 0.9"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_file_replaced_while_it_is_spent_from(path: Path, tmp_path: Path) -> None:
    """The charge may be in the replaced file, so it is not acknowledged."""
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    with Ledger.open(path) as ledger:
        event.listen(ledger._store._engine, "commit", lambda _: copy.replace(path))
        with pytest.raises(LedgerError, match="at this moment: nothing was released"):
            ledger.spend("visits", PureDP("0.1"))
