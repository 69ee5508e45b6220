"""Rows and accounts: reading a data set's budgets from the tables and writing them back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.engine import Connection, RowMapping

from discreet.errors import NoBudgetError
from discreet.ledger.accountants import ACCOUNTANTS
from discreet.ledger.accounts import Account
from discreet.ledger.amounts import Amount
from discreet.ledger.entries import GENESIS, Entry, Head, read
from discreet.ledger.reports import Budget
from discreet.ledger.schema import budgets, entries, groups


@dataclass(slots=True)
class Root:
    """A data set: the row that is locked, and where its history stands."""

    id: int
    name: str
    period: str | None
    period_number: int | None
    count: int
    head: str
    last_time: int


def root_name(name: str) -> str:
    """The data set of a budget's name: what stands before the first slash."""
    return name.partition("/")[0]


def lock_root(connection: Connection, name: str, *, lock: bool = True) -> Root:
    """Read a data set's row and, for a writer, hold it until the transaction ends."""
    query = select(budgets).where(budgets.c.name == root_name(name))
    # PostgreSQL waits here for other writers of this data set; SQLite has waited at BEGIN IMMEDIATE.
    row = connection.execute(query.with_for_update() if lock else query).mappings().one_or_none()
    if row is None:
        raise NoBudgetError(
            f"the data set {root_name(name)!r} has no budget in this ledger: its owner makes one with "
            "`discreet budget create`"
        )
    return Root(
        id=row["id"],
        name=row["name"],
        period=row["period"],
        period_number=row["period_number"],
        count=row["entries"],
        head=row["head"],
        last_time=row["last_time"],
    )


def account_of(connection: Connection, name: str) -> Account:
    """One budget."""
    found = _accounts(connection, budgets.c.name == name)
    if name not in found:
        raise NoBudgetError(f"there is no budget {name!r} in this ledger")
    return found[name]


def accounts_of(connection: Connection, root: Root) -> dict[str, Account]:
    """Every budget of a data set, the data set itself first."""
    return _accounts(connection, (budgets.c.id == root.id) | (budgets.c.root_id == root.id))


def _accounts(connection: Connection, condition: ColumnElement[bool]) -> dict[str, Account]:
    """Budgets with their groups, in one query: while it runs, others wait."""
    found: dict[str, Account] = {}
    for row in connection.execute(_BUDGETS_AND_GROUPS.where(condition)).mappings():
        account = found.setdefault(row["name"], _account(row))
        if row["group_name"] is not None:
            account.groups[row["group_name"]] = Amount(row["group_cost"], row["group_delta"])
    return found


_BUDGETS_AND_GROUPS = (
    select(
        budgets,
        groups.c.name.label("group_name"),
        groups.c.cost.label("group_cost"),
        groups.c.delta.label("group_delta"),
    )
    .select_from(budgets.outerjoin(groups, groups.c.budget_id == budgets.c.id))
    .order_by(budgets.c.id, groups.c.name)
)


def _account(row: RowMapping) -> Account:
    return Account(
        name=row["name"],
        accountant=ACCOUNTANTS[row["accountant"]],
        neighbours=row["neighbours"],
        limit=Amount(row["limit_cost"], row["limit_delta"]),
        common=Amount(row["common_cost"], row["common_delta"]),
        parent=row["parent"],
        parent_group=row["parent_group"],
        revoked=bool(row["revoked"]),
    )


def insert_account(
    connection: Connection,
    account: Account,
    *,
    root: Root | None,
    cap: dict[str, str],
    period: str | None,
    number: int | None,
) -> int:
    """Store a new budget; without a root it is a data set of its own. Returns its row's number."""
    identity = connection.execute(
        budgets.insert()
        .values(
            name=account.name,
            root_id=None if root is None else root.id,
            parent=account.parent,
            parent_group=account.parent_group,
            accountant=account.accountant.name,
            neighbours=account.neighbours,
            cap=json.dumps(cap, sort_keys=True),
            limit_cost=account.limit.cost,
            limit_delta=account.limit.delta,
            common_cost=0,
            common_delta=0,
            revoked=False,
            period=period,
            period_number=number,
            entries=0,
            head=GENESIS,
            last_time=0,
        )
        .returning(budgets.c.id)
    ).scalar_one()
    for group in account.groups:
        connection.execute(groups.insert().values(budget_id=identity, name=group, cost=0, delta=0))
    return int(identity)


def store_accounts(connection: Connection, accounts: Iterable[Account]) -> None:
    """Write counters back."""
    for account in accounts:
        connection.execute(
            update(budgets).where(budgets.c.name == account.name).values(**_counters(account))
        )
        store_groups(connection, account, account.groups)


def store_groups(connection: Connection, account: Account, names: Iterable[str]) -> None:
    """Write some groups' counters back."""
    owner = select(budgets.c.id).where(budgets.c.name == account.name).scalar_subquery()
    for name in names:
        amount = account.groups[name]
        connection.execute(
            update(groups)
            .where(groups.c.budget_id == owner, groups.c.name == name)
            .values(cost=amount.cost, delta=amount.delta)
        )


def _counters(account: Account) -> dict[str, Any]:
    return {
        "common_cost": account.common.cost,
        "common_delta": account.common.delta,
        "revoked": account.revoked,
    }


def append(
    connection: Connection, root: Root, entry: Entry, body: str, *, changed: Account | None = None
) -> None:
    """Add an entry, move the data set's head to it, and write one budget's common counters back."""
    connection.execute(
        entries.insert().values(
            root_id=root.id, sequence=entry.sequence, body=body, hash=entry.hash
        )
    )
    values: dict[str, Any] = {
        "entries": entry.sequence,
        "head": entry.hash,
        "last_time": root.last_time,
        "period_number": root.period_number,
    }
    if changed is not None and changed.name == root.name:
        values |= _counters(changed)
    elif changed is not None:
        connection.execute(
            update(budgets).where(budgets.c.name == changed.name).values(**_counters(changed))
        )
    connection.execute(update(budgets).where(budgets.c.id == root.id).values(**values))
    root.count, root.head = entry.sequence, entry.hash


def bodies_of(connection: Connection, root: Root) -> list[tuple[int, str, str]]:
    """Every stored line: its number, its text, its hash as stored."""
    query = select(entries.c.sequence, entries.c.body, entries.c.hash).where(
        entries.c.root_id == root.id
    )
    return [tuple(row) for row in connection.execute(query.order_by(entries.c.sequence))]


def entry_at(connection: Connection, root: Root, sequence: int) -> Entry | None:
    """One entry, if there is one."""
    query = select(entries.c.body).where(
        entries.c.root_id == root.id, entries.c.sequence == sequence
    )
    body = connection.execute(query).scalar_one_or_none()
    return None if body is None else read(body)


def history_of(connection: Connection, root: Root) -> list[Entry]:
    """Every entry of a data set, oldest first."""
    query = select(entries.c.body).where(entries.c.root_id == root.id).order_by(entries.c.sequence)
    return [read(body) for body in connection.execute(query).scalars()]


def budget_of(
    connection: Connection, root: Root, name: str, accounts: Mapping[str, Account] | None = None
) -> Budget:
    """The state of one budget, for showing; ``accounts`` if they differ from what is stored."""
    accounts = accounts_of(connection, root) if accounts is None else accounts
    if name not in accounts:
        raise NoBudgetError(f"there is no budget {name!r} in this ledger")
    account = accounts[name]
    cap = connection.execute(select(budgets.c.cap).where(budgets.c.name == name)).scalar_one()
    return Budget(
        name=name,
        accountant=account.accountant.name,
        neighbours=account.neighbours,
        cap=json.loads(cap),
        limit=account.limit,
        total=account.total(),
        groups=account.groups,
        period=root.period,
        revoked=account.revoked,
        parts=tuple(part.name for part in accounts.values() if part.parent == name),
        head=Head(root.name, root.count, root.head),
    )


def root_names(connection: Connection) -> list[str]:
    """The names of all data sets."""
    query = select(budgets.c.name).where(budgets.c.root_id.is_(None)).order_by(budgets.c.name)
    return list(connection.execute(query).scalars())
