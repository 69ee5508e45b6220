"""Reports of a ledger: the state of a budget, the cost of a plan, and the history."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet._displays import counted, table
from discreet._exact.numbers.printing import figure
from discreet.accounting.accountants import (
    ACCOUNTANTS,
    NOTHING,
    Amount,
    amount_as_data,
    cap_in_words,
    exact_cost,
    exact_delta,
    in_short,
)
from discreet.accounting.events import Event
from discreet.guarantees import ZCDP, ApproxDP, Proof
from discreet.guarantees.claims import CLAIMS
from discreet.ledger.entries import Entry, Head
from discreet.ledger.states import Account, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The state of one budget.

    Amounts are exact: whole multiples of 10⁻¹² (ε or ρ) and 10⁻¹⁸ (δ).

    Attributes:
        name: the data set, or a part of it such as ``visits/alice``.
        accountant: the accountant's name, which states what is added up.
        neighbours: the neighbour relation for which the budget's guarantee holds.
        cap: the cap as its owner stated it, in plain data.
        limit: the cap as the accountant counts it.
        total: the amount spent, including the parts handed to analysts.
        groups: for each declared group, the amount spent on releases about that group only.
        period: the period after which it renews, or None.
        revoked: whether nothing more can be spent.
        parts: the names of the parts handed out.
        head: the head of the data set's history.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> from discreet.ledger import Ledger
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(3))
        >>> budget.name, budget.left, budget.revoked
        ('visits', 'ε = 3', False)
    """

    name: str
    accountant: str
    neighbours: str
    cap: dict[str, str]
    limit: Amount
    total: Amount
    groups: dict[str, Amount]
    period: str | None
    revoked: bool
    parts: tuple[str, ...]
    head: Head

    @property
    def spent(self) -> str:
        """The amount spent, in words."""
        return self._shown(self.total)

    @property
    def left(self) -> str:
        """The amount left, in words."""
        return self._shown(self.remaining)

    def _shown(self, amount: Amount) -> str:
        """Format an amount; for a sum of ρ under an (ε, δ) cap, the ε and δ that it implies come first."""
        counted = ACCOUNTANTS[self.accountant].shown(amount)
        if self.accountant != "rho-delta" or "delta" not in self.cap:
            return counted
        delta = Fraction(self.cap["delta"])
        kept = delta - exact_delta(self.limit.delta)
        epsilon = ZCDP(exact_cost(amount.cost)).to(ApproxDP, delta=kept).exact[0]
        return f"ε = {figure(epsilon)} at δ = {figure(delta)} ({counted})"

    @property
    def remaining(self) -> Amount:
        """The amount that can still be spent; nothing once the budget is revoked."""
        return NOTHING if self.revoked else self.limit - self.total

    @property
    def proof(self) -> Proof:
        """The proof that all spends together cost no more than the figure shown."""
        return CLAIMS["ledger", "sum"]

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON; amounts are exact decimals in text."""
        return {
            "name": self.name,
            "accountant": self.accountant,
            "neighbours": self.neighbours,
            "proof": str(self.proof),
            "cap": self.cap,
            "limit": amount_as_data(self.limit),
            "spent": amount_as_data(self.total),
            "left": amount_as_data(self.remaining),
            "groups": {name: amount_as_data(amount) for name, amount in self.groups.items()},
            "period": self.period,
            "revoked": self.revoked,
            "parts": list(self.parts),
            "head": str(self.head),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The cost of planned spends, computed in the same way as in ``Ledger.spend``.

    Attributes:
        budget: the budget asked about.
        event: the event of one spend, including the event's own count.
        count: the number of such spends.
        each: the cost of one spend.
        cost: the cost of all of them.
        left: the amount left now.
        fits: whether all of them fit.
        most: the largest number of such spends that fit; ``count`` if they cost nothing and so always fit.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> from discreet.ledger import Ledger
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(1))
        ...     plan = ledger.plan("visits", PureDP("0.3"), count=4)
        >>> plan.fits, plan.most
        (False, 3)
    """

    budget: str
    accountant: str
    event: Event
    count: int
    each: Amount
    cost: Amount
    left: Amount
    fits: bool
    most: int

    def __str__(self) -> str:
        show = ACCOUNTANTS[self.accountant].shown
        one = self.count == 1
        if self.fits:
            verdict = "It fits" if one else "They fit"
        else:
            verdict = "It does not fit" if one else "They do not fit"
        room = counted(self.most, "such release")
        if self.fits and self.each == NOTHING:
            room = "any number of such releases"
        return (
            f"{self.count} × {show(self.each)} costs {show(self.cost)}; {show(self.left)} is left in "
            f"{self.budget}. {verdict}: there is room for {room}."
        )

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "budget": self.budget,
            "accountant": self.accountant,
            "guarantee": cap_in_words(self.event.guarantee),
            "count": self.count,
            "each": amount_as_data(self.each),
            "cost": amount_as_data(self.cost),
            "left": amount_as_data(self.left),
            "fits": self.fits,
            "most": self.most,
        }


def budget_report(state: State, name: str) -> Budget:
    """Return the state of one budget, for display."""
    account = state.account(name)
    return Budget(
        name=name,
        accountant=account.accountant.name,
        neighbours=account.neighbours,
        cap=account.cap,
        limit=account.limit,
        total=account.total(),
        groups=account.groups,
        period=state.period,
        revoked=account.revoked,
        parts=tuple(part.name for part in state.accounts.values() if part.parent == name),
        head=state.head,
    )


def quote_for(account: Account, event: Event, count: int, group: str | None) -> Quote:
    """Return the cost of ``count`` spends of an event, and how many such spends the account has room for."""
    each = account.accountant.amount(event)
    left = NOTHING if account.revoked else account.left_for(group)
    most = min(
        (have // need for have, need in ((left.cost, each.cost), (left.delta, each.delta)) if need),
        default=count,
    )
    most = 0 if account.revoked else max(0, most)
    return Quote(
        budget=account.name,
        accountant=account.accountant.name,
        event=event,
        count=count,
        each=each,
        cost=each.times(count),
        left=left,
        fits=count <= most,
        most=most,
    )


class History(tuple[Entry, ...]):
    """Entries of a ledger, oldest first; a notebook shows them as a table.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> from discreet.ledger import Ledger
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(1))
        ...     entry = ledger.spend("visits", PureDP("0.3"), purpose="mode of diagnosis")
        ...     history = ledger.history("visits")
        >>> [row[3:5] for row in history.rows]
        [['create', '1'], ['spend', '0.3']]
    """

    __slots__ = ()
    columns = ("#", "time", "budget", "kind", "cost", "mechanism", "about")

    @property
    def rows(self) -> list[list[str]]:
        """The table, one shortened row per entry; ``Entry.as_data`` has all fields with all digits."""
        return [_row(entry) for entry in self]

    def _repr_html_(self) -> str:
        return table(self.columns, self.rows)


def _row(entry: Entry) -> list[str]:
    details = entry.details
    amount = details.get("spent") or details.get("limit") or {}
    # A remaining budget is rounded down, a cost up.
    spent = "spent" in details
    cost = in_short(amount.get("cost", ""), up=spent)
    if amount.get("delta", "0") != "0":
        cost += f", δ {in_short(amount['delta'], up=spent)}"
    about = details.get("purpose", "")
    if entry.kind == "failed":
        about = f"entry {details['about']}: {details['outcome']}"
    minutes = entry.time[:16].replace("T", " ")
    mechanism = str(details.get("mechanism", ""))
    return [str(entry.sequence), minutes, entry.budget, entry.kind, cost, mechanism, about]
