"""Schemas move forward: a ledger of the first version opens, keeps its history, and goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from discreet import PureDP
from discreet.errors import BudgetExceededError, LedgerError
from discreet.ledger import Ledger, schema

SCRIPT = Path(__file__).with_name("version_1.sql")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(SCRIPT.read_text(encoding="utf-8"))
    connection.close()
    return path


def test_a_first_version_moves_forward_and_keeps_everything(old: Path) -> None:
    with Ledger.open(old, create=False) as ledger:
        found = ledger._store.read(
            lambda c: list(c.execute(text("SELECT version FROM discreet_schema")).scalars())
        )
        assert sorted(found) == list(range(1, schema.CURRENT + 1))
        assert ledger.show("visits").left == "ε = 1.5"
        assert ledger.show("visits/alice").left == "ε = 0.75"
        assert [e.kind for e in ledger.history("visits")] == [
            "create",
            "allot",
            "spend",
            "spend",
            "failed",
        ]
        assert ledger.verify("visits").holds
        assert ledger.verify("sales").holds
        ledger.spend("visits/alice", PureDP("0.75"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", PureDP("0.01"))
        with pytest.raises(LedgerError, match="append-only"):
            ledger._store.write(lambda c: c.execute(text("DELETE FROM discreet_entries")))
        ledger.create("clinics", PureDP(1), groups=["north", "south"])
        assert ledger.verify("visits").holds


def test_a_move_that_fails_leaves_the_old_version(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: object) -> None:
        schema._version_2(connection)  # type: ignore[arg-type]  # the real step, and then a crash
        raise LedgerError("the power failed")

    monkeypatch.setattr(schema, "MIGRATIONS", (schema._version_1, broken))
    with pytest.raises(LedgerError, match="power"):
        Ledger.open(old)
    monkeypatch.undo()
    with Ledger.open(old) as ledger:
        assert ledger.verify("visits").holds


def test_each_version_is_one_step() -> None:
    assert len(schema.MIGRATIONS) == schema.CURRENT
