"""A charge trusts only what the hash chain confirms: every column is changed once."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect, text

from discreet import ZCDP, ApproxDP, PureDP
from discreet.accounting.accountants import ACCOUNTANTS, Amount
from discreet.errors import (
    BudgetExceededError,
    DiscreetError,
    LedgerError,
    NoBudgetError,
    ParameterError,
)
from discreet.guarantees import ApproxZCDP
from discreet.ledger import Ledger, store
from discreet.ledger.schema import _metadata
from discreet.ledger.states import Account

ROWS = {
    "discreet_budgets": ("name = 'visits'", "name = 'visits/alice'"),
    "discreet_groups": ("name = 'north'", "name = 'south'"),
    "discreet_entries": ("root_id = 1 AND sequence = 2", "root_id = 1 AND sequence = 5"),
    "discreet_schema": ("version = 1", "version = 3"),
}
WORTH_A_LIE = {  # changes that would help an attacker, besides plain ones for each column's type
    "period": "'day'",
    "period_number": "1",
    "last_time": "last_time - 1",
    "head": "(SELECT hash FROM discreet_entries WHERE root_id = 1 AND sequence = 4)",
    "parent_group": "'north'",
    "accountant": "'rho'",
    "neighbours": "'replace'",
    "cap": "replace(cap, '\"1', '\"9')",
    "parent": "'sales'",
}
COLUMNS = [
    (table.name, column.name, row)
    for table in _metadata.sorted_tables
    for column in table.columns
    for row in ROWS[table.name]
]


def _fill(ledger: Ledger) -> None:
    """Create a data set (row 1) with groups and a part (row 2), and another one with values to copy."""
    ledger.create("visits", PureDP(10), groups=["north", "south"])
    ledger.allot("visits/alice", PureDP(1), group="south")
    ledger.create("sales", PureDP(10), "year", groups=["east"])
    ledger.spend("visits", PureDP(1))
    ledger.spend("visits", PureDP(1), group="north")
    ledger.spend("visits/alice", PureDP("0.5"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "budget.db"
    with Ledger.open(path) as ledger:
        _fill(ledger)
    return path


@pytest.fixture
def opened(written: Path, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(shutil.copy(written, tmp_path / "budget.db")) as ledger:
        yield ledger


def _change(ledger: Ledger, table: str, column: str, row: str) -> None:
    """Change one cell, as someone with access to the file could."""
    kind = str(_metadata.tables[table].c[column].type)
    plain = {"BOOLEAN": f"NOT {column}", "TEXT": f"coalesce({column}, '') || 'x'"}.get(
        kind, f"coalesce({column}, 0) + 100"
    )
    value = WORTH_A_LIE.get(column, plain)
    with contextlib.closing(sqlite3.connect(ledger._store.place.path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute("DROP TRIGGER IF EXISTS discreet_no_update")
        done = connection.execute(f"UPDATE {table} SET {column} = {value} WHERE {row}")  # noqa: S608
        assert done.rowcount == 1


def _noticed(ledger: Ledger, head: str) -> bool:
    """Return whether a charge is refused, or verification with a stored head finds the change."""
    try:
        for budget, group in (("visits", None), ("visits", "north"), ("visits/alice", None)):
            ledger.spend(budget, PureDP("0.001"), group=group)
    except DiscreetError:
        return True
    try:
        with Ledger.open(ledger._store.place.path) as again:
            return not again.verify("visits", head=head).holds
    except DiscreetError:
        return True


@pytest.mark.parametrize(("table", "column", "row"), COLUMNS)
def test_no_column_of_any_table_can_be_changed_unnoticed(
    opened: Ledger, table: str, column: str, row: str
) -> None:
    head = str(opened.head("visits"))
    _change(opened, table, column, row)
    assert _noticed(opened, head)


@pytest.mark.parametrize("column", [c for t, c, r in COLUMNS if t == "discreet_budgets"][::2])
def test_a_spend_itself_notices_whatever_a_budget_holds(opened: Ledger, column: str) -> None:
    for row in ROWS["discreet_budgets"]:
        _change(opened, "discreet_budgets", column, row)
    with pytest.raises(DiscreetError):
        opened.spend("visits/alice", PureDP("0.001"))


@pytest.mark.parametrize("value", ["x'61'", "'a'", "1.5"])
@pytest.mark.parametrize("column", [c for t, c, r in COLUMNS if t == "discreet_budgets"][2::2])
def test_a_value_of_another_type_is_named_as_a_change(
    opened: Ledger, column: str, value: str
) -> None:
    """SQLite stores any type in any column, and reading must handle that."""
    with contextlib.closing(sqlite3.connect(opened._store.place.path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute(f"UPDATE OR IGNORE discreet_budgets SET {column} = {value} WHERE id = 1")  # noqa: S608
    for ask in (opened.show, opened.history, opened.verify, opened.head):
        with contextlib.suppress(DiscreetError):
            ask("visits")
    with contextlib.suppress(DiscreetError):
        opened.budgets()
    with pytest.raises(DiscreetError):
        opened.spend("visits", PureDP("0.001"))


def test_the_columns_are_those_of_the_database(opened: Ledger) -> None:
    def columns(connection: Any) -> set[tuple[str, str]]:
        found = inspect(connection)
        return {
            (table, column["name"])
            for table in found.get_table_names()
            if table != "sqlite_sequence"
            for column in found.get_columns(table)
        }

    assert opened._store.read(columns) == {(table, column) for table, column, _ in COLUMNS}


def test_a_budget_for_good_cannot_be_made_to_renew(opened: Ledger) -> None:
    opened.spend("visits", PureDP("6.5"))
    head = opened.head("visits")
    _change(opened, "discreet_budgets", "period", "name = 'visits'")
    with pytest.raises(LedgerError, match="something other than discreet changed them"):
        opened.spend("visits", PureDP(1))
    assert "period" in str(opened.verify("visits", head=head))


def test_an_earlier_state_put_back_is_noticed(opened: Ledger) -> None:
    """All counters are set back to an earlier state that was valid in the chain."""
    opened.spend("visits", PureDP(5))
    opened._store.write(
        lambda c: c.execute(
            text(
                "UPDATE discreet_budgets SET common_cost = common_cost - 5000000000000 WHERE id = 1"
            )
        )
    )
    for use in (opened.spend, opened.plan):
        with pytest.raises(LedgerError, match="something other than discreet"):
            use("visits", PureDP(5))
    with pytest.raises(LedgerError, match="something other than discreet"):
        opened.show("visits")


@pytest.mark.parametrize("value", ["'x'", "1.5", "'[]'"])
@pytest.mark.parametrize("column", ["limit_cost", "cap", "period", "accountant", "last_time"])
def test_nonsense_in_a_column_is_named_not_raised_raw(
    opened: Ledger, monkeypatch: pytest.MonkeyPatch, column: str, value: str
) -> None:
    """SQLite stores any type in any column."""
    monkeypatch.setitem(WORTH_A_LIE, column, value)
    _change(opened, "discreet_budgets", column, "name = 'visits'")
    with pytest.raises(LedgerError, match="something other than discreet"):
        opened.spend("visits", PureDP(1))


def test_on_a_server_too(postgres: str) -> None:
    with Ledger.open(postgres) as ledger:
        _fill(ledger)
        assert ledger.verify("visits").holds
        ledger._store.write(
            lambda c: c.execute(text("UPDATE discreet_budgets SET period = 'day' WHERE id = 1"))
        )
        with pytest.raises(LedgerError, match="something other than discreet"):
            ledger.spend("visits", PureDP(1))


DAY = 24 * 3600 * 1_000_000


def test_a_part_is_set_aside_and_can_be_revoked(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(3))
        ledger.allot("visits/alice", PureDP(1))
        assert ledger.show("visits").left == "ε = 2"
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("2.1"))
        ledger.spend("visits/alice", PureDP("0.25"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", PureDP("0.8"))
        assert ledger.show("visits").left == "ε = 2"
        ledger.revoke("visits/alice", purpose="left the team")
        assert ledger.show("visits").left == "ε = 2.75"
        assert ledger.show("visits/alice").left == "ε = 0"
        with pytest.raises(NoBudgetError, match="revoked"):
            ledger.spend("visits/alice", PureDP("0.1"))
        with pytest.raises(NoBudgetError, match="revoked"):
            ledger.revoke("visits/alice")
        assert [entry.kind for entry in ledger.history("visits/alice")] == [
            "allot",
            "spend",
            "revoke",
        ]
        assert ledger.verify("visits").holds


def test_parts_of_parts_go_with_the_whole(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(3))
        ledger.allot("visits/team", share="1/2")
        ledger.allot("visits/team/alice", share="1/3")
        assert ledger.show("visits/team").left == "ε = 1"
        ledger.spend("visits/team/alice", PureDP("0.125"))
        ledger.revoke("visits/team")
        assert ledger.show("visits").left == "ε = 2.875"
        with pytest.raises(NoBudgetError):
            ledger.spend("visits/team/alice", PureDP("0.1"))
        ledger.revoke("visits")
        with pytest.raises(NoBudgetError):
            ledger.spend("visits", PureDP("0.1"))
        assert ledger.plan("visits", PureDP("0.1")).most == 0
        assert ledger.verify("visits").holds


def test_parts_that_cannot_be(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        with pytest.raises(BudgetExceededError):
            ledger.allot("visits/alice", PureDP(2))
        with pytest.raises(ParameterError):
            ledger.allot("visits/alice", ZCDP(1))
        with pytest.raises(ParameterError):
            ledger.allot("visits/alice")
        with pytest.raises(ParameterError):
            ledger.allot("alice", PureDP(1))
        with pytest.raises(ParameterError):
            ledger.allot("visits/alice", share=2)
        ledger.allot("visits/everything", share=1)
        assert ledger.show("visits/everything").left == "ε = 1"
        ledger.revoke("visits/everything")
        with pytest.raises(NoBudgetError):
            ledger.allot("visits/nobody/alice", PureDP("0.1"))
        ledger.allot("visits/alice", PureDP("0.1"))
        with pytest.raises(ParameterError, match="already"):
            ledger.allot("visits/alice", PureDP("0.1"))


def test_parts_of_a_budget_with_delta(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", ApproxDP(3, "1e-6"))
        ledger.allot("visits/alice", ZCDP("0.05"))
        ledger.allot("visits/bob", ApproxDP(1, "1e-7"))
        ledger.allot("visits/carol", share="1/4")
        ledger.spend("visits/carol", ApproxDP("0.1", "1e-7"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", ApproxDP("0.1", "1e-7"))
        assert ledger.verify("visits").holds


@pytest.mark.parametrize("accountant", ["rho-delta", "epsilon-delta"])
def test_a_cap_with_more_figures_than_the_budget_keeps_is_refused(
    accountant: str, address: str
) -> None:
    """A part of a budget keeps ε and δ only."""
    with Ledger.open(address) as ledger:
        ledger.create("visits", ApproxDP(3, "1e-6"), accountant=accountant)
        with pytest.raises(ParameterError, match="needs a cap in ApproxDP, got ApproxZCDP"):
            ledger.allot("visits/alice", ApproxZCDP(1, "1e-7", "0.03", "5e-8"))


def test_a_plan_of_what_costs_nothing(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        plan = ledger.plan("visits", PureDP(0), count=7)
        assert (plan.fits, plan.most) == (True, 7)
        assert str(plan).endswith("They fit: there is room for any number of such releases.")
        ledger.revoke("visits")
        assert ledger.plan("visits", PureDP(0), count=7).most == 0


def test_disjoint_groups_cost_what_the_dearest_costs(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), groups=["north", "south", "west"])
        for group in ("north", "south", "west"):
            ledger.spend("visits", PureDP("0.5"), group=group)
        assert ledger.show("visits").left == "ε = 0.5"
        ledger.spend("visits", PureDP("0.25"))
        assert ledger.show("visits").left == "ε = 0.25"
        ledger.spend("visits", PureDP("0.25"), group="north")
        with pytest.raises(BudgetExceededError, match="north"):
            ledger.spend("visits", PureDP("0.1"), group="north")
        assert ledger.plan("visits", PureDP("0.05"), group="south").most == 5
        ledger.spend("visits", PureDP("0.25"), group="south")
        with pytest.raises(ParameterError, match="the groups declared"):
            ledger.spend("visits", PureDP("0.1"), group="east")
        assert ledger.verify("visits").holds


def test_under_replacement_the_two_dearest_groups_add_up(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(2), neighbours="replace", groups=["north", "south", "west"])
        # A release under add-remove costs twice under replacement.
        ledger.spend("visits", PureDP("0.25"), group="north")
        ledger.spend("visits", PureDP("0.25"), group="south")
        ledger.spend("visits", PureDP("0.125"), group="west")
        assert ledger.show("visits").spent == "ε = 1"
        assert ledger.plan("visits", PureDP("0.05"), group="west").most == 12
        assert ledger.verify("visits").holds


def test_a_part_for_one_group(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), groups=["north", "south"])
        ledger.allot("visits/alice", PureDP("0.5"), group="north")
        ledger.allot("visits/bob", PureDP("0.75"), group="south")
        assert ledger.show("visits").left == "ε = 0.25"
        ledger.spend("visits/bob", PureDP("0.25"))
        ledger.revoke("visits/bob")
        assert ledger.show("visits").left == "ε = 0.5"
        assert ledger.verify("visits").holds


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.sampled_from(["add-remove", "replace", "one household"]),
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from([None, "a", "b", "c"])), max_size=30),
)
def test_no_person_ever_loses_more_than_the_cap(
    neighbours: str, spends: list[tuple[int, str | None]]
) -> None:
    """Checked by brute force over every person and every move between groups."""
    account = Account(
        "x",
        ACCOUNTANTS["epsilon"],
        neighbours,
        cap={},
        limit=Amount(20),
        groups=dict.fromkeys("abc", Amount()),
    )
    accepted = []
    for cost, group in spends:
        planned = account.left_for(group).cost
        try:
            account.charge(Amount(cost), group)
        except BudgetExceededError:
            assert cost > planned
        else:
            assert cost <= planned
            accepted.append((cost, group))
    moves = {"add-remove": [{g} for g in "abc"], "replace": [{g, h} for g in "abc" for h in "abc"]}
    for touched in moves.get(neighbours, [set("abc")]):
        assert sum(cost for cost, group in accepted if group is None or group in touched) <= 20


def test_a_renewing_budget(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    start = 1_700_000_000_000_000
    now = [start]
    monkeypatch.setattr(store, "system_clock", lambda: now[0])
    with Ledger.open(f"{tmp_path}/budget.db") as ledger:
        ledger.create("visits", PureDP(1), period="month")
        ledger.allot("visits/alice", PureDP("0.25"))
        ledger.spend("visits", PureDP("0.75"))
        ledger.spend("visits/alice", PureDP("0.25"))
        now[0] += 2 * DAY
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("0.1"))
        now[0] += 31 * DAY
        assert ledger.show("visits").left == "ε = 0.75", "shown as the next spend would find it"
        assert ledger.plan("visits/alice", PureDP("0.125")).most == 2
        ledger.spend("visits/alice", PureDP("0.125"))
        assert ledger.show("visits/alice").left == "ε = 0.125"
        assert ledger.show("visits").left == "ε = 0.75"
        assert [e.kind for e in ledger.history("visits")][-2:] == ["renew", "spend"]
        # A clock that is set back does not start a period again, even if it is accepted.
        now[0] -= 40 * DAY
        ledger.accept_clock("visits", purpose="put back")
        ledger.spend("visits", PureDP("0.75"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("0.1"))
        now[0] += 41 * DAY
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("0.1"))
        assert ledger.verify("visits").holds


def test_a_renewing_budget_on_a_server(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(postgres) as ledger:
        ledger.create("visits", PureDP(1), "week")
        ledger.spend("visits", PureDP(1))
        now = ledger._store.now
        monkeypatch.setattr(ledger._store, "now", lambda connection: now(connection) + 7 * DAY)
        ledger.spend("visits", PureDP(1))
        assert ledger.verify("visits").holds
    with pytest.raises(ParameterError, match="period"), Ledger.open(postgres) as ledger:
        ledger.create("sales", PureDP(1), "fortnight")


def test_plain_data(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), groups=["north"])
        ledger.spend("visits", PureDP("0.1"), group="north")
        json.dumps(
            [ledger.show("visits").as_data(), *(e.as_data() for e in ledger.history("visits"))]
        )
        json.dumps(
            [ledger.plan("visits", PureDP("0.1")).as_data(), ledger.verify("visits").as_data()]
        )
