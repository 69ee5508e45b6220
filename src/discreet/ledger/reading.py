"""Looking into a ledger: nothing here writes, and nothing here costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sqlalchemy.engine import Connection

from discreet.accounting.events import Event
from discreet.errors import NoBudgetError
from discreet.guarantees import Guarantee
from discreet.ledger import accounts as arithmetic
from discreet.ledger import rows
from discreet.ledger.accounts import Account
from discreet.ledger.entries import Entry, Head
from discreet.ledger.periods import period_number
from discreet.ledger.reports import Budget, Plan, plan_for
from discreet.ledger.store import Store
from discreet.ledger.verification import Verification, verify_history

T = TypeVar("T")


class LedgerReader:
    """The part of a ledger that anyone may use."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def show(self, budget: str) -> Budget:
        """The state of a budget, as the next spend would find it."""

        def look(connection: Connection, root: rows.Root) -> Budget:
            return rows.budget_of(connection, root, budget, self._as_of_now(connection, root))

        return self._look(budget, look)

    def budgets(self) -> tuple[Budget, ...]:
        """The state of every data set's budget."""
        return tuple(self.show(name) for name in self._store.read(rows.root_names))

    def history(self, dataset: str) -> tuple[Entry, ...]:
        """Every entry of a data set, or of one part of its budget, oldest first."""

        def look(connection: Connection, root: rows.Root) -> tuple[Entry, ...]:
            rows.account_of(connection, dataset)
            listed = rows.history_of(connection, root)
            return tuple(
                e
                for e in listed
                if dataset == root.name or (e.budget + "/").startswith(dataset + "/")
            )

        return self._look(dataset, look)

    def plan(
        self,
        dataset: str,
        event: Event | Guarantee,
        *,
        count: int | None = None,
        group: str | None = None,
    ) -> Plan:
        """What more releases would cost, in the figures that spending would use. Spends nothing."""
        asked = Event.of(event)
        asked = asked if count is None else replace(asked, count=count)

        def look(connection: Connection, root: rows.Root) -> Plan:
            accounts = self._as_of_now(connection, root)
            if dataset not in accounts:
                raise NoBudgetError(f"there is no budget {dataset!r} in this ledger")
            return plan_for(accounts[dataset], asked.under(accounts[dataset].neighbours), group)

        return self._look(dataset, look)

    def head(self, dataset: str) -> Head:
        """Where the history stands; keep it elsewhere, and ``verify`` shows any later rewriting."""
        return self._look(dataset, lambda _, root: Head(root.name, root.count, root.head))

    def verify(self, dataset: str, *, head: Head | str | None = None) -> Verification:
        """Check the chain of hashes and every total against the history, and an exported head."""
        kept = Head.parse(head) if isinstance(head, str) else head

        def look(connection: Connection, root: rows.Root) -> Verification:
            return verify_history(
                root, rows.bodies_of(connection, root), rows.accounts_of(connection, root), kept
            )

        return self._look(dataset, look)

    def _look(self, name: str, look: Callable[[Connection, rows.Root], T]) -> T:
        return self._store.read(lambda c: look(c, rows.lock_root(c, name, lock=False)))

    def _as_of_now(self, connection: Connection, root: rows.Root) -> dict[str, Account]:
        accounts = rows.accounts_of(connection, root)
        if period_is_due(root, self._store.now(connection)):
            arithmetic.renew(accounts)
        return accounts


def period_is_due(root: rows.Root, now: int) -> bool:
    """Whether a later period has begun; an earlier one never comes again."""
    return root.period is not None and period_number(root.period, now) > (root.period_number or 0)
