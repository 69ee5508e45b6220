"""The state of one data set, and how each kind of entry changes it.

The ledger writes an entry by the same step that verification takes when it runs the history again, so
that the two cannot differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.errors import LedgerError, NoBudgetError, ParameterError
from discreet.ledger import accounts as arithmetic
from discreet.ledger.accountants import ACCOUNTANTS
from discreet.ledger.accounts import Account
from discreet.ledger.amounts import NOTHING, amount_as_data, amount_of_data
from discreet.ledger.entries import GENESIS, Entry, Head, moment_of
from discreet.ledger.periods import period_number


@dataclass(slots=True)
class State:
    """Everything that decides a spend of one data set.

    Attributes:
        name: the data set.
        count: how many entries its history has.
        hash: the hash of the last.
        last_time: its time, in microseconds since 1970.
        period: after what the budget renews, or None.
        period_number: the period that has begun last.
        accounts: its budgets by name, the data set's own first.
        stored: what else each budget's row holds: numbers of rows, and columns that parts leave empty.
    """

    name: str
    count: int = 0
    hash: str = GENESIS
    last_time: int = 0
    period: str | None = None
    period_number: int | None = None
    accounts: dict[str, Account] = field(default_factory=dict)
    stored: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def head(self) -> Head:
        """Where the history stands."""
        return Head(self.name, self.count, self.hash)

    def account(self, name: str) -> Account:
        """One budget."""
        if name not in self.accounts:
            raise NoBudgetError(f"there is no budget {name!r} in this ledger")
        return self.accounts[name]

    def copy(self) -> State:
        """A state that can be changed apart from this one."""
        copied = {n: replace(a, groups=dict(a.groups)) for n, a in self.accounts.items()}
        return replace(self, accounts=copied, stored=dict(self.stored))

    def is_due(self, now: int) -> bool:
        """Whether a later period has begun; an earlier one never comes again."""
        return self.period is not None and period_number(self.period, now) > (
            self.period_number or 0
        )

    def digest(self) -> str:
        """SHA-256 of everything that decides the next spend; each entry carries the state it leaves."""
        listed = [
            [*_as_data(account), *self.stored.get(name, ())]
            for name, account in sorted(self.accounts.items())
        ]
        whole = [self.name, self.last_time, self.period, self.period_number, listed]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode("ascii")).hexdigest()

    def follows(self, last: Entry | None) -> bool:
        """Whether this is the state that the last entry left."""
        return last is not None and (last.head, last.state) == (self.head, self.digest())

    def apply(self, entry: Entry) -> None:
        """Change the state as an entry says, or refuse and change nothing.

        What an entry means never changes: a ledger of any earlier version is read by these very lines.
        """
        details = entry.details
        if entry.kind == "create":
            self._create(entry.budget, details, moment_of(entry.time))
        elif entry.kind == "allot":
            self._allot(entry.budget, details)
        elif entry.kind == "spend":
            self.account(entry.budget).charge(
                amount_of_data(details["spent"]), details.get("group")
            )
        elif entry.kind == "revoke":
            arithmetic.revoke(self.accounts, self.account(entry.budget))
        elif entry.kind == "renew":
            number = details["number"]
            if not self.is_due(moment_of(entry.time)) or number != period_number(
                details["period"], moment_of(entry.time)
            ):
                raise LedgerError("a period begins that is not due")
            arithmetic.renew(self.accounts)
            self.period_number = number
        elif entry.kind not in ("failed", "clock"):
            raise LedgerError("an entry of an unknown kind")
        self.last_time = moment_of(entry.time)
        self.count, self.hash = entry.sequence, entry.hash

    def _create(self, name: str, details: Mapping[str, Any], now: int) -> None:
        if self.accounts or name != self.name:
            raise LedgerError("a data set is created once")
        self.period = details["period"]
        self.period_number = None if self.period is None else period_number(self.period, now)
        self.accounts[name] = Account(
            name=name,
            accountant=ACCOUNTANTS[details["accountant"]],
            neighbours=details["neighbours"],
            cap=details["cap"],
            limit=amount_of_data(details["limit"]),
            groups=dict.fromkeys(details.get("groups", ()), NOTHING),
        )

    def _allot(self, name: str, details: Mapping[str, Any]) -> None:
        if name in self.accounts:
            raise ParameterError(f"there is a budget {name!r} already")
        parent = self.account(name.rpartition("/")[0])
        limit, group = amount_of_data(details["limit"]), details.get("group")
        parent.charge(limit, group)
        self.accounts[name] = replace(
            parent,
            name=name,
            cap=details["cap"],
            limit=limit,
            common=NOTHING,
            parent=parent.name,
            parent_group=group,
            groups={} if group is not None else dict.fromkeys(parent.groups, NOTHING),
        )


def _as_data(account: Account) -> list[Any]:
    return [
        account.name,
        account.accountant.name,
        account.neighbours,
        account.cap,
        amount_as_data(account.limit),
        amount_as_data(account.common),
        {name: amount_as_data(amount) for name, amount in account.groups.items()},
        account.parent,
        account.parent_group,
        account.revoked,
    ]
