"""The history: changes that the chain reveals, and changes that only a stored head reveals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from discreet import PureDP
from discreet.errors import LedgerError, ParameterError
from discreet.ledger import Head, Ledger
from discreet.ledger.entries import GENESIS, digest, moment_of


@pytest.fixture
def ledger(address: str) -> Any:
    with Ledger.open(address) as opened:
        opened.create("visits", PureDP(10))
        opened.create("sales", PureDP(10))
        for number in range(5):
            opened.spend("visits", PureDP(1), purpose=f"question {number}")
            opened.spend("sales", PureDP(1), purpose=f"question {number}")
        yield opened


def _tamper(ledger: Ledger, *statements: str) -> None:
    """Change the tables as someone with full access to the database would."""

    def work(connection: Any) -> None:
        if connection.dialect.name == "sqlite":
            connection.execute(text("DROP TRIGGER IF EXISTS discreet_no_update"))
            connection.execute(text("DROP TRIGGER IF EXISTS discreet_no_delete"))
        else:
            connection.execute(
                text("DROP TRIGGER IF EXISTS discreet_append_only ON discreet_entries")
            )
        for statement in statements:
            connection.execute(text(statement))

    ledger._store.write(work)


# The data set visits was created first, so its rows have root_id 1.


@pytest.mark.parametrize(
    "change", ["UPDATE discreet_entries SET hash = 'x'", "DELETE FROM discreet_entries"]
)
def test_the_database_itself_refuses_to_rewrite(ledger: Ledger, change: str) -> None:
    with pytest.raises(LedgerError, match="append-only"):
        ledger._store.write(lambda connection: connection.execute(text(change)))
    assert ledger.verify("visits").holds


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            "UPDATE discreet_entries SET body = replace(body, 'question 2', 'question 7') WHERE root_id = 1",
            "entry 4",
        ),
        (
            "UPDATE discreet_entries SET hash = 'forged' WHERE root_id = 1 AND sequence = 3",
            "entry 3",
        ),
        (
            "UPDATE discreet_entries SET body = 'nonsense' WHERE root_id = 1 AND sequence = 2",
            "entry 2",
        ),
        ("DELETE FROM discreet_entries WHERE root_id = 1 AND sequence = 3", "entry 3"),
        (
            "DELETE FROM discreet_entries WHERE root_id = 1 AND sequence = 6",
            "last entries are missing",
        ),
        (
            "UPDATE discreet_budgets SET common_cost = common_cost - 1 WHERE name = 'visits'",
            "totals",
        ),
        ("UPDATE discreet_budgets SET limit_cost = limit_cost + 1 WHERE name = 'visits'", "totals"),
        ("UPDATE discreet_budgets SET head = 'forged' WHERE name = 'visits'", "missing"),
    ],
)
def test_a_change_is_seen(ledger: Ledger, change: str, problem: str) -> None:
    _tamper(ledger, change)
    found = ledger.verify("visits")
    assert not found.holds
    assert problem in str(found)
    assert found.as_data()["holds"] is False
    assert ledger.verify("sales").holds


def test_a_part_smuggled_in_is_seen(ledger: Ledger) -> None:
    ledger.allot("visits/alice", PureDP(1))
    _tamper(
        ledger, "UPDATE discreet_budgets SET name = 'visits/mallory' WHERE name = 'visits/alice'"
    )
    assert "budgets differ" in str(ledger.verify("visits"))


def _rewrite_from(ledger: Ledger, sequence: int) -> None:
    """Forge a history: change one purpose and repair all later hashes and the head."""

    def work(connection: Any) -> None:
        rows = connection.execute(
            text("SELECT sequence, body FROM discreet_entries WHERE root_id = 1 ORDER BY sequence")
        ).all()
        previous = GENESIS
        for number, body in rows:
            data = json.loads(body)
            if number == sequence:
                data["details"]["purpose"] = "something harmless"
            data["previous"] = previous
            forged = json.dumps(data, sort_keys=True, separators=(",", ":"))
            previous = digest(forged)
            connection.execute(
                text(
                    "UPDATE discreet_entries SET body = :b, hash = :h WHERE root_id = 1 AND sequence = :s"
                ),
                {"b": forged, "h": previous, "s": number},
            )
        connection.execute(
            text("UPDATE discreet_budgets SET head = :h WHERE name = 'visits'"), {"h": previous}
        )

    _tamper(ledger)
    ledger._store.write(work)


def test_a_whole_chain_rewritten_is_seen_only_with_a_head(ledger: Ledger) -> None:
    kept = ledger.head("visits")
    early = ledger.history("visits")[1].head
    ledger.spend("visits", PureDP(1))
    compared = ledger.verify("visits", head=kept)
    assert compared.holds
    assert "the head kept elsewhere agree" in str(compared)
    assert "kept elsewhere" not in str(ledger.verify("visits"))
    _rewrite_from(ledger, 4)
    assert ledger.verify("visits").holds, (
        "without a head this cannot be seen, and the documentation says so"
    )
    assert "rewritten" in str(ledger.verify("visits", head=kept))
    assert ledger.verify("visits", head=early).holds, "entries before the forgery are untouched"


def test_a_shortened_history_is_seen_only_with_a_head(ledger: Ledger) -> None:
    kept = ledger.head("visits")
    earlier = moment_of(ledger.history("visits")[4].time)
    _tamper(
        ledger,
        "DELETE FROM discreet_entries WHERE root_id = 1 AND sequence = 6",
        "UPDATE discreet_budgets SET entries = 5, common_cost = 4000000000000 WHERE id = 1",
        f"UPDATE discreet_budgets SET last_time = {earlier} WHERE id = 1",  # noqa: S608
        "UPDATE discreet_budgets SET head = "
        "(SELECT hash FROM discreet_entries WHERE root_id = 1 AND sequence = 5) WHERE id = 1",
    )
    assert ledger.verify("visits").holds
    assert "covers 6 entries, but the history has 5" in str(ledger.verify("visits", head=str(kept)))


def test_heads(ledger: Ledger) -> None:
    head = ledger.head("visits")
    assert Head.parse(str(head)) == head
    assert head.sequence == 6
    assert ledger.history("visits")[-1].head == head
    assert "belongs to 'sales'" in str(ledger.verify("visits", head=ledger.head("sales")))
    for wrong in ("", "visits", "visits:2", "visits:x:" + "0" * 64, "visits:2:abc"):
        with pytest.raises(ParameterError):
            Head.parse(wrong)


def test_a_history_is_of_one_data_set(ledger: Ledger) -> None:
    assert {entry.dataset for entry in ledger.history("visits")} == {"visits"}
    times = [entry.time for entry in ledger.history("visits")]
    assert times == sorted(times)
