"""Check a history: the chain of hashes, the totals, and a head kept elsewhere.

``docs/proofs/ledger.md`` states what the chain cannot show without such a head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet._displays import counted
from discreet.errors import DiscreetError
from discreet.ledger.entries import GENESIS, Entry, Head, read
from discreet.ledger.states import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of checking the history of a data set.

    Attributes:
        dataset: the data set.
        entries: how many entries its history has.
        head: the head of its history.
        problems: the problems found, in words; empty if there are none.
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
        """Whether no problem was found."""
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return f"{self.dataset}: " + "; ".join(self.problems)
        agreeing = "the chain and the totals"
        if self.compared:
            agreeing = "the chain, the totals and the head kept elsewhere"
        return f"{self.dataset}: {counted(self.entries, 'entry', 'entries')}; {agreeing} agree"

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "dataset": self.dataset,
            "holds": self.holds,
            "entries": self.entries,
            "head": str(self.head),
            "compared": self.compared,
            "problems": list(self.problems),
        }


def verify_history(
    stored: State, lines: Sequence[tuple[int, str, str]], kept: Head | None
) -> Verification:
    """Check a history's stored lines against the stored state and, if given, a head kept elsewhere."""
    entries, problems = _chain(stored, lines)
    if not problems:
        problems += _state(entries, stored)
    if kept is not None:
        problems += _against(kept, stored, lines)
    return Verification(
        dataset=stored.name,
        entries=len(lines),
        head=stored.head,
        problems=tuple(problems),
        compared=kept is not None,
    )


def _chain(stored: State, lines: Sequence[tuple[int, str, str]]) -> tuple[list[Entry], list[str]]:
    previous = GENESIS
    entries: list[Entry] = []
    for number, (sequence, body, stored_hash) in enumerate(lines, start=1):
        if sequence != number:
            return entries, [f"entry {number} is missing"]
        entry = read(body)
        if entry is None:
            return entries, [f"entry {number} is not readable"]
        if entry.hash != stored_hash or entry.previous != previous:
            return entries, [f"entry {number} was changed, or the one before it"]
        if (entry.sequence, entry.dataset) != (number, stored.name):
            return entries, [f"entry {number} is not in its place"]
        previous = stored_hash
        entries.append(entry)
    if (stored.count, stored.hash) != (len(lines), previous):
        return entries, ["the last entries are missing: the history ends before its head"]
    return entries, []


def _state(entries: Sequence[Entry], stored: State) -> list[str]:
    """Replay the history from the start; return how the result differs from the stored state."""
    state = State(stored.name)
    for entry in entries:
        try:
            state.apply(entry)
        except (DiscreetError, KeyError, TypeError, ValueError):
            return [f"entry {entry.sequence} does not follow from those before it"]
    if state.accounts.keys() != stored.accounts.keys():
        return ["the budgets differ from the history"]
    problems = [
        f"the totals of {name!r}, or other columns of its row, differ from the history"
        for name, account in state.accounts.items()
        if account != stored.accounts[name]
    ]
    if (state.period, state.period_number) != (stored.period, stored.period_number):
        problems.append("the period differs from the history")
    if state.last_time != stored.last_time:
        problems.append("the time of the last entry differs from the history")
    if not problems and entries[-1].state is not None and not stored.follows(entries[-1]):
        problems.append("the rows differ from the state after the last entry")
    return problems


def _against(kept: Head, stored: State, lines: Sequence[tuple[int, str, str]]) -> list[str]:
    if kept.dataset != stored.name:
        return [f"the head kept elsewhere belongs to {kept.dataset!r}"]
    if kept.sequence > len(lines):
        return [
            f"the head kept elsewhere covers {counted(kept.sequence, 'entry', 'entries')}, "
            f"but the history has {len(lines)}"
        ]
    if kept.sequence == 0 or lines[kept.sequence - 1][2] != kept.hash:
        return [
            f"entry {kept.sequence} does not match the head kept elsewhere: the history was rewritten"
        ]
    return []
