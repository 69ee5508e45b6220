"""Addresses of ledgers, and files that SQLite must not open."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from discreet import PureDP
from discreet.errors import BudgetExceededError, LedgerError, ParameterError
from discreet.ledger import Ledger, places
from discreet.ledger.places import default_place, place_of
from tests.tools.forking import forked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A SQLite ledger with one budget."""
    found = tmp_path / "budget.db"
    with Ledger.open(found) as ledger:
        ledger.create("visits", PureDP(1))
    return found


def test_one_file_under_two_names_is_never_paid_from_twice(path: Path) -> None:
    """Each name would have its own journal, which the other name would not see after a crash."""
    other = path.with_name("other.db")
    with Ledger.open(path) as first:
        first.spend("visits", PureDP("0.5"))
        other.hardlink_to(path)
        with pytest.raises(LedgerError, match=r"has 2 names \(hard links\).*Nothing was spent"):
            first.spend("visits", PureDP("0.5"))
        for name in (other, path):
            with pytest.raises(LedgerError, match="remove all names but one"):
                Ledger.open(name)
        other.unlink()
        first.spend("visits", PureDP("0.5"))
        with pytest.raises(BudgetExceededError):
            first.spend("visits", PureDP("0.5"))
        assert first.verify("visits").holds


def test_a_file_mounted_by_itself_is_another_name(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spaced = path.rename(tmp_path / "my budget.db")
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(places, "_MOUNTS", mounts)
    line = "36 35 98:0 /srv/b.db {} rw,noatime master:1 - ext4 /dev/root rw\n"
    mounts.write_text(line.format(str(tmp_path)))
    Ledger.open(spaced).close()
    mounts.write_text(line.format(str(spaced).replace(" ", "\\040")))
    with pytest.raises(LedgerError, match="mount the folder"):
        Ledger.open(spaced)


def test_a_link_that_only_points_to_the_file_is_the_same_name(path: Path) -> None:
    """SQLite follows the link before it looks for the log."""
    pointing = path.with_name("pointing.db")
    pointing.symlink_to(path)
    with Ledger.open(path) as first, Ledger.open(pointing) as second:
        first.spend("visits", PureDP("0.5"))
        second.spend("visits", PureDP("0.5"))
        for ledger in (first, second):
            with pytest.raises(BudgetExceededError):
                ledger.spend("visits", PureDP("0.5"))


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Ledger.open(tmp_path / "new" / "budget.db") as ledger:
            ledger.create("visits", PureDP(1))
            modes = {
                found.name: stat.S_IMODE(found.stat().st_mode)
                for found in (tmp_path / "new").iterdir()
            }
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["50% of #1? a&b=c.db", "größer.db", "new/budget.db"])
def test_a_new_file_has_the_name_that_was_given(tmp_path: Path, name: str) -> None:
    folder = (tmp_path / name).parent
    for start in ("", "/"):  # POSIX keeps two slashes at the start of a path
        with Ledger.open(f"{start}{tmp_path}/{name}") as ledger:
            ledger.get_or_create("visits", PureDP(1))
        assert list(folder.iterdir()) == [tmp_path / name]


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("")
    with pytest.raises(LedgerError, match=r"cannot make a ledger at .*: File exists"):
        Ledger.open(tmp_path / "notes" / "budget.db")
    with pytest.raises(LedgerError, match=r"cannot make a ledger at .*: unable to open"):
        Ledger.open(tmp_path / ("x" * 300))
    (tmp_path / "pointing.db").symlink_to(tmp_path / "nowhere.db")
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(tmp_path / "pointing.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "pointing.db"]


SECRET = "correct horse/battery"  # noqa: S105  # a password for the test


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql:me:{SECRET}@host/x",
        f"postgresql:/me:{SECRET}@host/x",
        f"me:{SECRET}@host:5432/x",
        f"host=db user=me password={SECRET}",
        "sqlite:budget.db",
    ],
)
def test_an_address_without_its_slashes_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="without the ://") as refused:
        Ledger.open(address)
    assert "battery" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    for path in ("a@b.db", "my budget.db", "c:budget.db"):
        assert place_of(path).path.name == path


def test_an_option_with_an_at_sign_is_not_shown_as_a_host() -> None:
    with pytest.raises(ParameterError, match="write it as %40") as caught:
        place_of("postgresql://db:5432/x?password=sec@ret")
    assert "sec" not in str(caught.value).replace("secret", "")
    assert "ret" not in str(caught.value)
    assert "sec" not in str(place_of("postgresql://reader:sec?ret@db/x"))


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    assert default_place().name == "ledger.db"
    with Ledger.open() as ledger:
        assert str(default_place()) in repr(ledger)
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path / "else.db"))
    assert place_of(None).path == tmp_path / "else.db"
    assert place_of(f"sqlite:///{tmp_path}/a.db").path == tmp_path / "a.db"
    for wrong in ("", "sqlite://", "sqlite:///:memory:", "sqlite:///a.db?mode=ro", 7):
        with pytest.raises(ParameterError):
            place_of(wrong)


WRITE_TOO = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
"""


def test_opening_a_ledger_again_keeps_the_locks_of_this_process(path: Path) -> None:
    """Closing any handle of a file releases all of its locks in this process; others could then write."""

    # Not forked: a child would inherit SQLite's record of the locks and not ask the system.
    write_too = [sys.executable, "-c", WRITE_TOO, str(path)]

    def work(_: Any) -> str:
        Ledger.open(path).close()
        return subprocess.run(write_too, capture_output=True, text=True, check=False).stderr

    with Ledger.open(path) as ledger:
        assert "database is locked" in ledger._store.write(work)


def test_only_sqlite_opens_a_ledgers_file(tmp_path: Path) -> None:
    """Python reports every file that it opens itself, by whatever call; SQLite's are not among them."""
    path = tmp_path / "budget.db"

    def work() -> bytes:
        opened: list[Any] = []
        sys.addaudithook(lambda what, about: opened.append(about[0]) if what == "open" else None)
        with Ledger.open(path) as ledger:
            ledger.create("visits", PureDP(1))
            ledger.keep(ledger.spend("visits", PureDP("0.5")), {"answer": "flu"})
        with mock.patch.object(places.Place, "is_writable", return_value=False):
            for log in ("delete", "wal"):
                with closing(sqlite3.connect(path)) as connection:
                    connection.execute(f"PRAGMA journal_mode={log}")
                with Ledger.open(path) as ledger:
                    assert ledger.show("visits").left == "ε = 0.5"
                    assert ledger.verify("visits").holds
        assert f"{path}-wal" in map(str, opened), "the files beside it are read"
        return str(list(map(str, opened)).count(str(path))).encode()

    assert forked(work) == (0, b"0")
