"""The state of one data set: its budgets, their arithmetic, and the effect of each kind of entry.

The ledger applies a new entry with the same code that verification uses to replay the history, so the two
cannot differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import positive, refuse
from discreet.accounting.accountants import (
    ACCOUNTANTS,
    NOTHING,
    Accountant,
    Amount,
    amount_as_data,
    amount_of_data,
    cap_in_short,
    cap_in_words,
    in_short,
    limit,
)
from discreet.errors import BudgetExceededError, LedgerError, NoBudgetError, ParameterError
from discreet.guarantees import ZCDP, Guarantee
from discreet.ledger.entries import GENESIS, Entry, Head, moment_of
from discreet.neighbours import ADD_REMOVE, REPLACE

PERIODS = ("day", "week", "month", "quarter", "year")


def period_named(period: object) -> str | None:
    """Check the name of a period; None means that a budget never renews."""
    if period is not None and period not in PERIODS:
        raise refuse(
            "period", period, "one of " + ", ".join(PERIODS) + ", or left out: it never renews"
        )
    return None if period is None else str(period)


def period_number(period: str, microseconds: int) -> int:
    """Return the number of the period that contains a moment; later periods have larger numbers.

    Example:
        >>> period_number("month", 0), period_number("week", 0), period_number("quarter", 0)
        (23640, 102737, 7880)
    """
    day = datetime.fromtimestamp(microseconds // 1_000_000, tz=UTC).date()
    months = day.year * 12 + day.month - 1
    return {
        "day": day.toordinal(),
        "week": (day.toordinal() - 1) // 7,  # ordinal 1 is a Monday
        "month": months,
        "quarter": months // 3,
        "year": day.year,
    }[period]


@dataclass(slots=True)
class Account:
    """One budget: a cap, the cost of answers about everyone, and the additional cost for each group.

    ``cap`` is the cap as its owner stated it, ``limit`` the same cap in the accountant's measure. ``common``
    counts the releases that may depend on anyone, and the parts handed to analysts. ``groups`` counts the
    releases that depend on one declared group of people only.
    """

    name: str
    accountant: Accountant
    neighbours: str
    cap: dict[str, str]
    limit: Amount
    common: Amount = NOTHING
    groups: dict[str, Amount] = field(default_factory=dict)
    parent: str | None = None
    parent_group: str | None = None
    revoked: bool = False

    def total(self) -> Amount:
        """Return the amount spent: ``common`` plus the most expensive group (two groups under replacement).

        A person who is added or removed is in one group. A person who is replaced may leave one group
        and enter another. For any other relation all groups add up.
        """
        return self.common + _dearest(self.groups.values(), self._touched())

    def left_for(self, group: str | None = None) -> Amount:
        """Return the amount left for releases about ``group`` only or, if it is None, about anyone."""
        if group is None:
            return self.limit - self.total()
        own = self._counter(group)
        others = [amount for name, amount in self.groups.items() if name != group]
        return self.limit - self.common - own - _dearest(others, self._touched() - 1)

    def charge(self, amount: Amount, group: str | None = None) -> None:
        """Add a spend; refuse it and change nothing if too little is left."""
        self.require_open()
        before = self.total()
        earlier = self._counter(group)
        self._set(group, earlier + amount)
        if not self.total().fits(self.limit):
            self._set(group, earlier)
            show, left = self.accountant.shown, self.limit - before
            whose = "" if group is None else f" in the group {group!r}"
            raise BudgetExceededError(
                f"{self.name}: {in_short(show(amount), up=True)}{whose} does not fit: "
                f"{in_short(show(before), up=True)} of {in_short(show(self.limit), up=False)} is spent, "
                f"{in_short(show(left), up=False)} is left{self._in_epsilon(amount, left)}"
            )

    def _in_epsilon(self, amount: Amount, left: Amount) -> str:
        """Say how large an ε a budget in ρ can still pay for, because most questions are asked in ε."""
        affordable = self.accountant.affordable(left)
        if affordable is None or amount.cost <= left.cost:
            return ""
        words = (
            f". This budget ({cap_in_short(self.cap)}) adds up ρ, which grows with the square of ε: "
            f"what is left is enough ρ for any one question of ε = {affordable} or less"
        )
        if self.accountant.counts_delta:
            words += ". A budget made with the accountant 'epsilon-delta' adds up ε instead"
        return words

    def require_open(self) -> None:
        """Raise an error if the budget was revoked."""
        if self.revoked:
            raise NoBudgetError(f"the budget {self.name!r} was revoked: nothing more can be spent")

    def refund(self, amount: Amount, group: str | None) -> None:
        """Subtract an amount that was set aside for a part and not spent."""
        self._set(group, self._counter(group) - amount)

    def reset(self) -> None:
        """Set the amounts spent to zero, for a new period."""
        self.common = NOTHING
        self.groups = dict.fromkeys(self.groups, NOTHING)

    def _touched(self) -> int:
        """Return how many groups can differ between two neighbours."""
        return {ADD_REMOVE.value: 1, REPLACE.value: 2}.get(self.neighbours, len(self.groups))

    def _counter(self, group: str | None) -> Amount:
        if group is None:
            return self.common
        if group not in self.groups:
            declared = ", ".join(map(repr, self.groups)) or "none"
            raise ParameterError(
                f"⟨group⟩{group!r} is not allowed: the groups declared for {self.name!r} are: {declared}"
            )
        return self.groups[group]

    def _set(self, group: str | None, amount: Amount) -> None:
        if group is None:
            self.common = amount
        else:
            self.groups[group] = amount


def part_of(parent: Account, cap: Guarantee | None, share: object) -> tuple[Amount, dict[str, str]]:
    """Return the limit of a new part, rounded down, and its cap or share in words for the history."""
    if cap is None:
        fraction = positive("share", share)
        if fraction > 1:
            raise refuse("share", share, "above 0 and at most 1")
        return parent.limit.scaled_down(fraction), {"share": str(Fraction(fraction))}
    if isinstance(cap, ZCDP) and parent.accountant.name == "rho-delta":
        return limit(cap.exact), cap_in_words(cap)
    return parent.accountant.limits(cap), cap_in_words(cap)


def revoke(accounts: Mapping[str, Account], account: Account) -> None:
    """Revoke a budget and all its parts; each one's unspent amount goes back to its parent."""
    account.require_open()
    for child in accounts.values():
        if child.parent == account.name and not child.revoked:
            revoke(accounts, child)
    account.revoked = True
    if account.parent is not None:
        unspent = account.limit - account.total()
        accounts[account.parent].refund(unspent, account.parent_group)


def renew(accounts: Mapping[str, Account]) -> None:
    """Start a new period for a whole data set: spending starts at zero, and the parts are set aside again."""
    for account in accounts.values():
        account.reset()
    for account in accounts.values():
        if account.parent is not None and not account.revoked:
            accounts[account.parent].charge(account.limit, account.parent_group)


def _dearest(amounts: Iterable[Amount], count: int) -> Amount:
    """Return an upper bound on the sum of any ``count`` amounts: the sums of the largest costs and δ."""
    listed = list(amounts)
    costs = sorted((amount.cost for amount in listed), reverse=True)
    deltas = sorted((amount.delta for amount in listed), reverse=True)
    return Amount(sum(costs[:count]), sum(deltas[:count]))


@dataclass(slots=True)
class State:
    """The state of one data set: everything that decides whether a spend is allowed.

    Attributes:
        name: the data set.
        count: how many entries its history has.
        hash: the hash of the last entry.
        last_time: the time of the last entry, in microseconds since 1970.
        period: the period after which the budget renews, or None.
        period_number: the number of the period that began last.
        accounts: its budgets by name, the data set's own first.
        stored: for each budget, the columns of its row that are held nowhere else in this state: the ids and,
            for a part, the columns that only a data set uses.
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
        """The head of the history."""
        return Head(self.name, self.count, self.hash)

    def account(self, name: str) -> Account:
        """Return the budget with this name."""
        if name not in self.accounts:
            raise NoBudgetError(f"there is no budget {name!r} in this ledger")
        return self.accounts[name]

    def copy(self) -> State:
        """Return an independent copy."""
        copied = {n: replace(a, groups=dict(a.groups)) for n, a in self.accounts.items()}
        return replace(self, accounts=copied, stored=dict(self.stored))

    def is_due(self, now: int) -> bool:
        """Return whether ``now`` is in a later period than the one that began last."""
        return self.period is not None and period_number(self.period, now) > (
            self.period_number or 0
        )

    def digest(self) -> str:
        """Return the SHA-256 of everything that decides the next spend; each entry stores it."""
        listed = [
            [*_as_data(account), *self.stored.get(name, ())]
            for name, account in sorted(self.accounts.items())
        ]
        whole = [self.name, self.last_time, self.period, self.period_number, listed]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode("ascii")).hexdigest()

    def follows(self, last: Entry | None) -> bool:
        """Return whether this state is the one that the last entry recorded."""
        return last is not None and (last.head, last.state) == (self.head, self.digest())

    def apply(self, entry: Entry) -> None:
        """Apply an entry to the state, or refuse the entry and change nothing.

        The meaning of an entry never changes: this code also reads the ledgers of all earlier versions.
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
            revoke(self.accounts, self.account(entry.budget))
        elif entry.kind == "renew":
            number = details["number"]
            if not self.is_due(moment_of(entry.time)) or number != period_number(
                details["period"], moment_of(entry.time)
            ):
                raise LedgerError("a period begins that is not due")
            renew(self.accounts)
            self.period_number = number
        elif entry.kind not in ("failed", "answer", "clock"):
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
            raise ParameterError(f"there is already a budget {name!r}")
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
