"""Schema upgrades: a ledger of the first version opens, keeps its history, and can be used."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text

from discreet import ZCDP, ApproxDP, PureDP
from discreet.errors import BudgetExceededError, LedgerError, NoBudgetError
from discreet.ledger import Ledger, schema

HEADS = {
    "visits": "visits:11:b235314d37ed9e7fd08aeb9e524a50ca70400a63db4824d6875f8275a0dea06a",
    "sales": "sales:8:568d78ab9bff5b4beb23331e97649adfd4e3e4cb15f8ba82aa9a7ac06042ff40",
    "clinic": "clinic:4:8b3b02d1f65e62b2baf17af1911bd9b33b3c8c7b1f337382f89d12f0439a2c85",
    "trial": "trial:4:63deb8b3d70ac449ff1f824fcdd1404a3388965d3706e71a0ae2f0df24eeae06",
    "old": "old:3:a7d7211922aa834930c3a4524d5a033e5c4fa33b87462d5b7c0d3a5c8c6759b4",
}
LEFT = {
    "visits": "ε = 1.45",
    "visits/alice": "ε = 0.775",
    "visits/alice/intern": "ε = 0",
    "visits/bob": "ε = 0.1",
    "clinic": "ε = 2.809 at δ = 1e-6 (ρ = 0.155758233697, δ = 4.9e-7)",
    "clinic/carol": "ρ = 0.01, δ = 0",
    "trial": "ε = 1.25, δ = 9e-6",
    "old": "ε = 0",
}
"""The remaining budgets that 0.1.0 printed when version_2.sql was written."""
SECOND_HEADS = {
    "visits": "visits:6:06db3ce15e750c9cec0c6b8b20dbfe28e6133a495665dab91647214f7f29357b",
    "sales": "sales:2:d5569cb56da9389682b90223d23c64d2ffa50152374d31c615f33c2fee20f42c",
}


def _written(version: int, folder: Path) -> Path:
    path = folder / "old.db"
    connection = sqlite3.connect(path)
    script = Path(__file__).with_name(f"version_{version}.sql")
    connection.executescript(script.read_text(encoding="utf-8"))
    connection.close()
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return _written(1, tmp_path)


def test_a_ledger_of_the_first_release_opens_verifies_and_goes_on(tmp_path: Path) -> None:
    with Ledger.open(_written(2, tmp_path), create=False) as ledger:
        for name, head in HEADS.items():
            assert str(ledger.head(name)) == head
            assert ledger.verify(name, head=head).holds
        assert {name: ledger.show(name).left for name in LEFT} == LEFT
        kinds = {entry.kind for name in HEADS for entry in ledger.history(name)}
        assert kinds == {"create", "spend", "failed", "allot", "revoke", "renew", "clock"}
        ledger.spend("visits/alice", PureDP("0.775"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", PureDP("1e-12"))
        ledger.spend("visits", PureDP("0.5"), group="north")
        ledger.spend("clinic", ApproxDP("0.1", "4.9e-7"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("clinic", ApproxDP("0.1", "1e-18"))
        ledger.spend("trial", ApproxDP("1.25", "9e-6"))
        ledger.spend("sales", ZCDP("0.4"))  # a new month has begun
        with pytest.raises(NoBudgetError, match="revoked"):
            ledger.spend("old", PureDP("0.1"))
        for name, head in HEADS.items():
            assert ledger.verify(name, head=head).holds
        assert [e.state is None for e in ledger.history("trial")] == [True] * 4 + [False]


def test_a_ledger_of_the_second_release_is_made_one_file_and_goes_on(tmp_path: Path) -> None:
    path = _written(3, tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
    with Ledger.open(path, create=False) as ledger:
        for name, head in SECOND_HEADS.items():
            assert ledger.verify(name, head=head).holds
        ((entry, answer),) = ledger.answers("visits")
        assert (entry.sequence, answer) == (5, {"answer": "flu"})
        assert ledger.show("visits").left == "ε = 1.5"
        ledger.spend("visits/alice", PureDP("0.75"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", PureDP("1e-12"))
        ledger.spend("sales", ZCDP("0.1"))
        for name, head in SECOND_HEADS.items():
            assert ledger.verify(name, head=head).holds
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes()[18:20] == b"\1\1", "it keeps no write-ahead log"


def test_a_ledger_of_the_first_release_that_was_tampered_with_is_not_spent_from(
    tmp_path: Path,
) -> None:
    """Its entries carry no state, so the whole history is checked; other data sets stay usable."""
    path = _written(2, tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE discreet_budgets SET period = 'day' WHERE name = 'trial'")
        connection.execute("UPDATE discreet_budgets SET period_number = 1 WHERE name = 'trial'")
    with Ledger.open(path) as ledger:
        with pytest.raises(LedgerError, match="something other than discreet"):
            ledger.spend("trial", PureDP("0.1"))
        assert "the period differs" in str(ledger.verify("trial", head=HEADS["trial"]))
        ledger.spend("visits", PureDP("0.1"))


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

    monkeypatch.setattr(schema, "MIGRATIONS", (schema._version_1, broken, schema._version_3))
    with pytest.raises(LedgerError, match="power"):
        Ledger.open(old)
    monkeypatch.undo()
    with Ledger.open(old) as ledger:
        assert ledger.verify("visits").holds


def test_each_version_is_one_step() -> None:
    assert len(schema.MIGRATIONS) == schema.CURRENT
