"""How budgets and histories look: tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.cli.output import print_table, say_json

if TYPE_CHECKING:
    from discreet.ledger import Budget, Entry


def print_budgets(budgets: Sequence[Budget], json: bool) -> None:
    """Budgets, as a table or as JSON."""
    if json:
        say_json([found.as_data() for found in budgets])
        return
    columns = ["budget", "spent", "left", "cap", "lasts", "neighbours", "entries"]
    print_table(columns, [_budget_row(found) for found in budgets])


def _budget_row(found: Budget) -> list[str]:
    cap = [
        f"{name} {value}"
        for name, value in sorted(found.cap.items(), reverse=True)
        if name != "measure"
    ]
    return [
        found.name,
        found.spent,
        "revoked" if found.revoked else found.left,
        ", ".join(cap),
        f"a {found.period}" if found.period else "for good",
        found.neighbours,
        str(found.head.sequence),
    ]


def print_history(entries: Sequence[Entry]) -> None:
    """Entries, as a table."""
    columns = ["#", "time", "budget", "kind", "cost", "mechanism", "about"]
    print_table(columns, [_entry_row(entry) for entry in entries])


def _entry_row(entry: Entry) -> list[str]:
    details = entry.details
    amount = details.get("spent") or details.get("limit") or {}
    cost = amount.get("cost", "")
    if amount.get("delta", "0") != "0":
        cost += f", δ {amount['delta']}"
    about = details.get("purpose", "")
    if entry.kind == "failed":
        about = f"entry {details['about']}: {details['outcome']}"
    seconds = entry.time[:19].replace("T", " ")
    mechanism = str(details.get("mechanism", ""))
    return [str(entry.sequence), seconds, entry.budget, entry.kind, cost, mechanism, about]
