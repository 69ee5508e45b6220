"""The arithmetic of one data set's budgets, apart from where it is stored.

The ledger runs these steps on the rows it has locked; verification runs them again from the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import BudgetExceededError, NoBudgetError, ParameterError
from discreet.guarantees import ZCDP, Guarantee
from discreet.ledger.accountants import Accountant, cap_in_words
from discreet.ledger.amounts import NOTHING, Amount, limit
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.numbers.exact import positive, refuse


@dataclass(slots=True)
class Account:
    """One budget: a cap, what everyone's answers cost, and what each group's cost besides.

    ``cap`` is the cap in its owner's words, ``limit`` the same as the accountant counts it. ``common``
    counts the releases that may touch anyone, and the parts handed to analysts; ``groups`` those that
    touch one declared group of people only.
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
        """What is spent: common, and the dearest group (the two dearest under replacement).

        A person who is added or removed is in one group. A person who is replaced may leave one group
        and enter another. For any other relation nothing is known, and all groups add up.
        """
        return self.common + _dearest(self.groups.values(), self._touched())

    def left_for(self, group: str | None = None) -> Amount:
        """What releases that touch only ``group`` (or anyone) can still spend."""
        if group is None:
            return self.limit - self.total()
        own = self._counter(group)
        others = [amount for name, amount in self.groups.items() if name != group]
        return self.limit - self.common - own - _dearest(others, self._touched() - 1)

    def charge(self, amount: Amount, group: str | None = None) -> None:
        """Add a spend, or refuse it and change nothing."""
        self.require_open()
        before = self.total()
        earlier = self._counter(group)
        self._set(group, earlier + amount)
        if not self.total().fits(self.limit):
            self._set(group, earlier)
            show = self.accountant.shown
            whose = "" if group is None else f" in the group {group!r}"
            raise BudgetExceededError(
                f"{self.name}: {show(amount)}{whose} does not fit: {show(before)} of "
                f"{show(self.limit)} is spent, {show(self.limit - before)} is left"
            )

    def require_open(self) -> None:
        """Refuse a budget that is closed."""
        if self.revoked:
            raise NoBudgetError(f"the budget {self.name!r} was revoked: nothing more can be spent")

    def refund(self, amount: Amount, group: str | None) -> None:
        """Take back a part that was handed out and not spent."""
        self._set(group, self._counter(group) - amount)

    def reset(self) -> None:
        """Begin a new period."""
        self.common = NOTHING
        self.groups = dict.fromkeys(self.groups, NOTHING)

    def _touched(self) -> int:
        """How many groups one step between neighbours can touch."""
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
    """A part of a budget as an amount and in words: a cap of its own, or a share, rounded down."""
    if cap is None:
        fraction = positive("share", share)
        if fraction > 1:
            raise refuse("share", share, "above 0 and at most 1")
        return parent.limit.scaled_down(fraction), {"share": str(Fraction(fraction))}
    if isinstance(cap, ZCDP) and parent.accountant.name == "rho-delta":
        return limit(cap.exact), cap_in_words(cap)
    return parent.accountant.limits(cap), cap_in_words(cap)


def revoke(accounts: Mapping[str, Account], account: Account) -> None:
    """Revoke a budget and all below it; what was not spent goes back to the parent."""
    account.require_open()
    for child in accounts.values():
        if child.parent == account.name and not child.revoked:
            revoke(accounts, child)
    account.revoked = True
    if account.parent is not None:
        unspent = account.limit - account.total()
        accounts[account.parent].refund(unspent, account.parent_group)


def renew(accounts: Mapping[str, Account]) -> None:
    """Begin a new period for a whole data set: nothing is spent, the analysts' parts are set aside again."""
    for account in accounts.values():
        account.reset()
    for account in accounts.values():
        if account.parent is not None and not account.revoked:
            accounts[account.parent].charge(account.limit, account.parent_group)


def _dearest(amounts: Iterable[Amount], count: int) -> Amount:
    """The sum of the ``count`` largest, in each number for itself (which is never too little)."""
    listed = list(amounts)
    costs = sorted((amount.cost for amount in listed), reverse=True)
    deltas = sorted((amount.delta for amount in listed), reverse=True)
    return Amount(sum(costs[:count]), sum(deltas[:count]))
