"""The owner's report on the command line: one month's questions, by analyst and budget."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from typing import Any

from discreet._exact.numbers.printing import figure
from discreet.accounting.accountants import amount_of_data, exact_cost
from discreet.desk.owner_file import OwnerFile, part_of
from discreet.desk.store import ANSWERED, FAILED, LOST, DeskStore
from discreet.errors import ParameterError
from discreet.ledger import Entry, Ledger


def monthly(owner: OwnerFile, store: DeskStore, month: str | None) -> list[dict[str, Any]]:
    """Return a row for each analyst and budget: questions by outcome, cost, amount left and renewal date."""
    now = datetime.datetime.now(datetime.UTC)
    named = month or now.strftime("%Y-%m")
    if not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", named):
        raise ParameterError(f"--month {named!r} is not allowed: it must be like 2026-11")
    rows = []
    with Ledger.open(owner.ledger.place, create=False) as ledger:
        for name in owner.analyst:
            for dataset in owner.datasets(name):
                part = part_of(dataset, name)
                if part not in ledger.show(dataset).parts:
                    continue
                tables = {label for label, table in owner.table.items() if table.dataset == dataset}
                became = Counter(
                    each.state
                    for each in store.asked(name, most=-1)
                    if each.asked["table"] in tables and _month(each.began) == named
                )
                spent = [
                    entry
                    for entry in ledger.history(part)
                    if entry.kind == "spend" and entry.time[:7] == named
                ]
                budget = ledger.show(part)
                rows.append(
                    {
                        "month": named,
                        "analyst": name,
                        "budget": part,
                        "answered": became[ANSWERED],
                        "failed": became[FAILED] + became[LOST],
                        "paid": len(spent),
                        "cost": figure(exact_cost(sum(map(_cost, spent)))),
                        "left": str(budget.left),
                        "renews": renewal(budget.period, now),
                    }
                )
    return rows


def _cost(entry: Entry) -> int:
    return amount_of_data(entry.details["spent"]).cost


def _month(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC).strftime("%Y-%m")


def renewal(period: str | None, now: datetime.datetime) -> str:
    """Return the day on which a budget renews (UTC).

    Example:
        >>> renewal("quarter", datetime.datetime(2026, 11, 18)), renewal(None, datetime.datetime.now())
        ('2027-01-01', 'never')
    """
    today = now.date()
    if period is None:
        return "never"
    if period == "day":
        return str(today + datetime.timedelta(days=1))
    if period == "week":
        return str(today + datetime.timedelta(days=7 - today.weekday()))
    months = {"month": 1, "quarter": 3, "year": 12}[period]
    begun = (today.month - 1) // months * months
    year, month = divmod(12 * today.year + begun + months, 12)
    return str(datetime.date(year, month + 1, 1))
