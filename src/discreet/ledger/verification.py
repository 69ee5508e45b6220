"""Checking a history: the chain, the totals, and a head kept elsewhere.

What the chain cannot show without such a head is said in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.errors import DiscreetError, LedgerError
from discreet.ledger import accounts as arithmetic
from discreet.ledger.accountants import ACCOUNTANTS
from discreet.ledger.accounts import Account
from discreet.ledger.amounts import Amount, amount_of_data
from discreet.ledger.entries import GENESIS, Entry, Head, digest, read
from discreet.ledger.rows import Root


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a check.

    Attributes:
        dataset: the data set.
        entries: how many entries its history has.
        head: where it stands.
        problems: what is wrong, in words; empty if nothing is.
        compared: whether it was compared with a head kept elsewhere.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> from discreet.ledger import Ledger
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(1))
        ...     verification = ledger.verify("visits")
        >>> verification.entries, verification.problems
        (1, ())
    """

    dataset: str
    entries: int
    head: Head
    problems: tuple[str, ...]
    compared: bool

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return f"{self.dataset}: " + "; ".join(self.problems)
        agreeing = "the chain and the totals"
        if self.compared:
            agreeing = "the chain, the totals and the head kept elsewhere"
        return f"{self.dataset}: {self.entries} entries; {agreeing} agree"

    def as_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "dataset": self.dataset,
            "holds": self.holds,
            "entries": self.entries,
            "head": str(self.head),
            "compared": self.compared,
            "problems": list(self.problems),
        }


def verify_history(
    root: Root, lines: Sequence[tuple[int, str, str]], stored: dict[str, Account], kept: Head | None
) -> Verification:
    """Check stored lines and totals."""
    entries, problems = _chain(root, lines)
    if not problems:
        problems += _totals(entries, stored)
    if kept is not None:
        problems += _against(kept, root, lines)
    return Verification(
        dataset=root.name,
        entries=len(lines),
        head=Head(root.name, root.count, root.head),
        problems=tuple(problems),
        compared=kept is not None,
    )


def _chain(root: Root, lines: Sequence[tuple[int, str, str]]) -> tuple[list[Entry], list[str]]:
    previous = GENESIS
    entries: list[Entry] = []
    for number, (sequence, body, stored_hash) in enumerate(lines, start=1):
        if sequence != number:
            return entries, [f"entry {number} is missing"]
        try:
            entry = read(body)
        except (ValueError, TypeError):
            return entries, [f"entry {number} is not readable"]
        if digest(body) != stored_hash or entry.previous != previous:
            return entries, [f"entry {number} was changed, or the one before it"]
        if (entry.sequence, entry.dataset) != (number, root.name):
            return entries, [f"entry {number} is not in its place"]
        previous = stored_hash
        entries.append(entry)
    if (root.count, root.head) != (len(lines), previous):
        return entries, ["the last entries are missing: the history ends before its head"]
    return entries, []


def _totals(entries: Sequence[Entry], stored: dict[str, Account]) -> list[str]:
    """Run the history again, from nothing, and compare with the counters."""
    accounts: dict[str, Account] = {}
    for entry in entries:
        try:
            _replay(accounts, entry)
        except (DiscreetError, KeyError, TypeError, ValueError):
            return [f"entry {entry.sequence} does not follow from those before it"]
    if accounts.keys() != stored.keys():
        return ["the budgets are not those of the history"]
    return [
        f"the totals of {name!r} are not those of the history"
        for name, account in accounts.items()
        if account != stored[name]
    ]


def _replay(accounts: dict[str, Account], entry: Entry) -> None:
    details = entry.details
    if entry.kind == "create":
        accounts[entry.budget] = Account(
            name=entry.budget,
            accountant=ACCOUNTANTS[details["accountant"]],
            neighbours=details["neighbours"],
            limit=amount_of_data(details["limit"]),
            groups=dict.fromkeys(details.get("groups", ()), Amount()),
        )
    elif entry.kind == "allot":
        parent = accounts[entry.budget.rpartition("/")[0]]
        part, group = amount_of_data(details["limit"]), details.get("group")
        parent.charge(part, group)
        accounts[entry.budget] = replace(
            parent,
            name=entry.budget,
            limit=part,
            common=Amount(),
            parent=parent.name,
            parent_group=group,
            groups={} if group is not None else dict.fromkeys(parent.groups, Amount()),
        )
    elif entry.kind == "spend":
        accounts[entry.budget].charge(amount_of_data(details["spent"]), details.get("group"))
    elif entry.kind == "revoke":
        arithmetic.revoke(accounts, entry.budget)
    elif entry.kind == "renew":
        arithmetic.renew(accounts)
    elif entry.kind not in ("failed", "clock"):
        raise LedgerError("an entry of an unknown kind")


def _against(kept: Head, root: Root, lines: Sequence[tuple[int, str, str]]) -> list[str]:
    if kept.dataset != root.name:
        return [f"the head kept elsewhere is of {kept.dataset!r}"]
    if kept.sequence > len(lines):
        return [
            f"the head kept elsewhere knows {kept.sequence} entries, the history has {len(lines)}"
        ]
    if kept.sequence == 0 or lines[kept.sequence - 1][2] != kept.hash:
        return [
            f"entry {kept.sequence} is not the one of the head kept elsewhere: the history was rewritten"
        ]
    return []
