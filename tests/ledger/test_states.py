"""Nothing that decides a spend is believed unless the chain says it: every column is changed once."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from discreet import PureDP
from discreet.errors import DiscreetError, LedgerError
from discreet.ledger import Ledger
from discreet.ledger.schema import _metadata

ROWS = {
    "discreet_budgets": ("name = 'visits'", "name = 'visits/alice'"),
    "discreet_groups": ("name = 'north'", "name = 'south'"),
    "discreet_entries": ("root_id = 1 AND sequence = 2", "root_id = 1 AND sequence = 5"),
    "discreet_schema": ("version = 1", "version = 3"),
}
WORTH_A_LIE = {  # changes that would pay, besides the plain ones made from each column's type
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
    """A data set (row 1) with groups and a part (row 2), and another that gives it values to steal."""
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
    """Change one cell as someone with the file and another program would."""
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
    """Whether a spend refuses, or verification with the head kept elsewhere finds it."""
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
    """SQLite stores anything anywhere; what is read of it must not trip over that."""
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
    with pytest.raises(LedgerError, match="changed by something else than discreet"):
        opened.spend("visits", PureDP(1))
    assert "period" in str(opened.verify("visits", head=head))


def test_an_earlier_state_put_back_is_noticed(opened: Ledger) -> None:
    """All counters of an earlier moment, which were in the chain then."""
    before = opened.show("visits").total.cost
    opened.spend("visits", PureDP(5))
    opened._store.write(
        lambda c: c.execute(
            text(
                "UPDATE discreet_budgets SET common_cost = common_cost - 5000000000000 WHERE id = 1"
            )
        )
    )
    assert opened.show("visits").total.cost == before
    with pytest.raises(LedgerError, match="changed by something else"):
        opened.spend("visits", PureDP(5))


@pytest.mark.parametrize("value", ["'x'", "1.5", "'[]'"])
@pytest.mark.parametrize("column", ["limit_cost", "cap", "period", "accountant", "last_time"])
def test_nonsense_in_a_column_is_named_not_raised_raw(
    opened: Ledger, monkeypatch: pytest.MonkeyPatch, column: str, value: str
) -> None:
    """SQLite keeps any type in any column."""
    monkeypatch.setitem(WORTH_A_LIE, column, value)
    _change(opened, "discreet_budgets", column, "name = 'visits'")
    with pytest.raises(LedgerError, match="changed by something else"):
        opened.spend("visits", PureDP(1))


def test_on_a_server_too(postgres: str) -> None:
    with Ledger.open(postgres) as ledger:
        _fill(ledger)
        assert ledger.verify("visits").holds
        ledger._store.write(
            lambda c: c.execute(text("UPDATE discreet_budgets SET period = 'day' WHERE id = 1"))
        )
        with pytest.raises(LedgerError, match="changed by something else"):
            ledger.spend("visits", PureDP(1))
