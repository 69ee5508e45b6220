"""Read the state of a data set from the rows of the tables, and write it back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, bindparam, select, text, update
from sqlalchemy.engine import Connection, RowMapping

from discreet.accounting.accountants import ACCOUNTANTS, Amount
from discreet.errors import LedgerError, NoBudgetError
from discreet.ledger.entries import GENESIS, Entry, read, write
from discreet.ledger.schema import budgets, entries, groups
from discreet.ledger.states import PERIODS, Account, State
from discreet.ledger.verification import verify_history

# SQLAlchemy takes longer to build a statement than SQLite to run it, so payments use statements built once.
_ROOT = select(budgets.c.id).where(budgets.c.name == bindparam("root"))
_ROOT_LOCKED = _ROOT.with_for_update()
_BUDGETS_AND_GROUPS = (
    select(
        budgets,
        groups.c.name.label("group_name"),
        groups.c.cost.label("group_cost"),
        groups.c.delta.label("group_delta"),
    )
    .select_from(budgets.outerjoin(groups, groups.c.budget_id == budgets.c.id))
    .where((budgets.c.id == bindparam("identity")) | (budgets.c.root_id == bindparam("identity")))
    .order_by(budgets.c.id, groups.c.name)
)
_ENTRIES = select(entries.c.sequence, entries.c.body, entries.c.hash)
_NEWEST = (
    _ENTRIES.where(entries.c.root_id == bindparam("identity"))
    .where(entries.c.sequence >= bindparam("least"))
    .order_by(entries.c.sequence)
    .limit(2)
)
_NEW_ENTRY = entries.insert()
_CHANGED_BUDGET = update(budgets).where(budgets.c.id == bindparam("identity"))


def load(connection: Connection, name: str, *, lock: bool = False) -> State:
    """Load the data set that a budget belongs to; with ``lock``, lock it until the transaction ends."""
    root = name.partition("/")[0]
    # PostgreSQL waits here for other writers of this data set; SQLite has waited at BEGIN IMMEDIATE.
    # Only reads after this wait see what the previous holder of the lock wrote.
    query = _ROOT_LOCKED if lock else _ROOT
    identity = connection.execute(query, {"root": root}).scalar_one_or_none()
    if identity is None:
        raise NoBudgetError(
            f"the data set {root!r} has no budget in this ledger: its owner makes one with "
            "`discreet budget create`"
        )
    found = connection.execute(_BUDGETS_AND_GROUPS, {"identity": identity}).mappings()
    try:
        return _state(root, list(found))
    except (KeyError, TypeError, ValueError):
        raise changed_from_outside(root) from None


def await_writers(connection: Connection, name: str) -> None:
    """Wait until no one else is changing a data set in PostgreSQL."""
    # Nothing is written, so there is no standby to wait for.
    connection.execute(text("SET LOCAL synchronous_commit TO off"))
    load(connection, name, lock=True)


def changed_from_outside(name: str) -> LedgerError:
    """Return the error for tables that do not match the history."""
    return LedgerError(
        f"{name}: the ledger's tables do not match its history, because something other than discreet "
        f"changed them. Nothing was spent; `discreet budget verify` says more"
    )


def require_untouched(connection: Connection, state: State) -> None:
    """Refuse tables that do not match the last entry; only a history of discreet 0.1.0 is read as a whole."""
    about = {"identity": state.stored[state.name][0], "least": state.count}
    newest = list(connection.execute(_NEWEST, about))
    last = read(newest[0].body) if len(newest) == 1 else None
    if last is not None and last.state is None:
        # discreet 0.1.0 wrote this entry: replay the history once; the next entry carries its state.
        untouched = verify_history(state, lines_of(connection, state), None).holds
    else:
        untouched = state.follows(last)
    if not untouched:
        raise changed_from_outside(state.name)


def _state(root: str, found: list[RowMapping]) -> State:
    first = next(row for row in found if row["name"] == root)
    if not all(isinstance(value, str | int | None) for row in found for value in row.values()):
        raise changed_from_outside(root)  # SQLite stores bytes in any column, too
    if first["period"] is not None and first["period"] not in PERIODS:
        raise changed_from_outside(root)
    state = State(
        name=root,
        count=_whole(first, "entries"),
        hash=first["head"],
        last_time=_whole(first, "last_time"),
        period=first["period"],
        period_number=None if first["period_number"] is None else _whole(first, "period_number"),
    )
    for row in found:
        name = row["name"]
        if name not in state.accounts:
            state.accounts[name] = _account(row)
            state.stored[name] = _besides(row)
        if row["group_name"] is not None:
            amount = Amount(_whole(row, "group_cost"), _whole(row, "group_delta"))
            state.accounts[name].groups[row["group_name"]] = amount
    return state


def _account(row: RowMapping) -> Account:
    return Account(
        name=row["name"],
        accountant=ACCOUNTANTS[row["accountant"]],
        neighbours=row["neighbours"],
        cap=json.loads(row["cap"]),
        limit=Amount(_whole(row, "limit_cost"), _whole(row, "limit_delta")),
        common=Amount(_whole(row, "common_cost"), _whole(row, "common_delta")),
        parent=row["parent"],
        parent_group=row["parent_group"],
        revoked=bool(row["revoked"]),
    )


def _besides(row: RowMapping) -> tuple[Any, ...]:
    """Return the columns of a budget's row that are copied neither into ``Account`` nor into ``State``."""
    unused = ("period", "period_number", "entries", "head", "last_time")
    names = ("id", "root_id", *(() if row["root_id"] is None else unused))
    return tuple(row[name] for name in names)


def _whole(row: RowMapping, column: str) -> int:
    """Return the value of a column; refuse all but whole numbers, because SQLite stores any type."""
    value = row[column]
    if type(value) is not int:
        raise changed_from_outside(row["name"])
    return value


def save(connection: Connection, before: State, after: State, draft: Entry) -> Entry:
    """Write the changed state, the entry and the new head; return the entry with its hash."""
    for name, account in after.accounts.items():
        if name not in before.accounts:
            after.stored[name] = _insert(connection, after, account)
        elif account != before.accounts[name]:
            _update(connection, after, before.accounts[name], account)
    body = write(replace(draft, state=after.digest()))
    entry = read(body)
    assert entry is not None
    identity = after.stored[after.name][0]
    added = {"root_id": identity, "sequence": entry.sequence, "body": body, "hash": entry.hash}
    connection.execute(_NEW_ENTRY, added)
    after.hash = entry.hash
    changed = {
        "entries": after.count,
        "head": after.hash,
        "last_time": after.last_time,
        "period_number": after.period_number,
    }
    counters = _counters(after.accounts[after.name])
    connection.execute(_CHANGED_BUDGET, {"identity": identity, **changed, **counters})
    return entry


def _insert(connection: Connection, state: State, account: Account) -> tuple[Any, ...]:
    own = account.name == state.name
    row = (
        connection.execute(
            budgets.insert()
            .values(
                name=account.name,
                root_id=None if own else state.stored[state.name][0],
                parent=account.parent,
                parent_group=account.parent_group,
                accountant=account.accountant.name,
                neighbours=account.neighbours,
                cap=json.dumps(account.cap, sort_keys=True),
                limit_cost=account.limit.cost,
                limit_delta=account.limit.delta,
                period=state.period if own else None,
                period_number=None,
                entries=0,
                head=GENESIS,
                last_time=0,
                **_counters(account),
            )
            .returning(budgets)
        )
        .mappings()
        .one()
    )
    for group in account.groups:
        connection.execute(groups.insert().values(budget_id=row["id"], name=group, cost=0, delta=0))
    return _besides(row)


def _update(connection: Connection, state: State, before: Account, after: Account) -> None:
    identity = state.stored[after.name][0]
    if after.name != state.name:  # the data set's own row is written with the head
        connection.execute(_CHANGED_BUDGET, {"identity": identity, **_counters(after)})
    for name, amount in after.groups.items():
        if amount != before.groups[name]:
            connection.execute(
                update(groups)
                .where(groups.c.budget_id == identity, groups.c.name == name)
                .values(cost=amount.cost, delta=amount.delta)
            )


def _counters(account: Account) -> dict[str, Any]:
    return {
        "common_cost": account.common.cost,
        "common_delta": account.common.delta,
        "revoked": account.revoked,
    }


def _entries_of(state: State) -> Select[Any]:
    return _ENTRIES.where(entries.c.root_id == state.stored[state.name][0])


def lines_of(connection: Connection, state: State) -> list[tuple[int, str, str]]:
    """Return all stored lines of the history in order: number, text and stored hash."""
    return [
        tuple(row) for row in connection.execute(_entries_of(state).order_by(entries.c.sequence))
    ]


def history_of(state: State, lines: list[tuple[int, str, str]]) -> list[Entry]:
    """Return stored lines as entries, or raise an error if one was altered."""
    listed = [entry for _, body, stored in lines if (entry := read(body)) and entry.hash == stored]
    if len(listed) < len(lines):
        raise changed_from_outside(state.name)
    return listed


def entry_at(connection: Connection, state: State, sequence: int) -> Entry | None:
    """Return one entry, if it exists and can be read."""
    found = connection.execute(_entries_of(state).where(entries.c.sequence == sequence)).first()
    return None if found is None else read(found.body)


def latest(connection: Connection, state: State, most: int) -> list[Entry]:
    """Return those of the last ``most`` entries that can be read; earlier entries are not loaded."""
    newest = _entries_of(state).where(entries.c.sequence > state.count - most)
    return [entry for row in connection.execute(newest) if (entry := read(row.body))]


def said_of(connection: Connection, state: State, sequence: int) -> list[str]:
    """Return the kinds of later entries that refer to an entry."""
    later = connection.execute(_entries_of(state).where(entries.c.sequence > sequence))
    found = (read(row.body) for row in later)
    return [each.kind for each in found if each and each.details.get("about") == sequence]


def data_sets(connection: Connection) -> list[str]:
    """Return the names of all data sets."""
    query = select(budgets.c.name).where(budgets.c.root_id.is_(None)).order_by(budgets.c.name)
    names = list(connection.execute(query).scalars())
    if not all(isinstance(name, str) for name in names):
        raise changed_from_outside("a data set")
    return names
