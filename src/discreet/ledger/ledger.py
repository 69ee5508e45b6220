"""The ledger: budgets that cannot be overspent, whoever asks, however often it crashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

from sqlalchemy.engine import Connection

from discreet.accounting.events import Event, text
from discreet.errors import LedgerError, ParameterError
from discreet.exact_numbers import refuse
from discreet.guarantees import Guarantee
from discreet.ledger import rows, schema
from discreet.ledger.accountants import cap_in_words
from discreet.ledger.amounts import amount_as_data
from discreet.ledger.entries import Entry
from discreet.ledger.owning import LedgerOwner
from discreet.ledger.places import place_of
from discreet.ledger.store import Store, use_write_ahead_log

_OUTCOME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class Ledger(LedgerOwner):
    """Budgets in a SQLite file or a PostgreSQL database. Threads may share one; processes open their own.

    A spend is durable before ``spend`` returns, so a mechanism that runs afterwards is always counted.
    Spending takes no randomness: nothing scripted can be counted as a release.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(1))
        ...     entry = ledger.spend("visits", PureDP("0.3"), purpose="mode of diagnosis")
        ...     print(entry, "spent;", ledger.show("visits").left, "is left")
        visits #2 spent; ε = 0.7 is left
    """

    @classmethod
    def open(cls, url: object = None, *, create: bool = True, wait: float = 30) -> Self:
        """Open a ledger.

        Args:
            url: a path, ``sqlite:///path``, ``postgresql://...``, or None for the user's own ledger.
            create: whether to make the ledger if there is none.
            wait: how many seconds to wait for other writers.
        """
        place = place_of(url)
        if place.is_sqlite and create:
            place.ensure_file()
        if place.is_sqlite:
            place.check_file()
        store = Store(place, wait=wait)
        try:
            schema.prepare(store, create=create)
            if place.is_sqlite:
                use_write_ahead_log(store)
        except BaseException:
            store.close()
            raise
        return cls(store)

    def close(self) -> None:
        """Close every connection."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({str(self._store.place)!r})"

    def spend(
        self, dataset: str, event: Event | Guarantee, *, purpose: str = "", group: str | None = None
    ) -> Entry:
        """Count a release, durably, before it happens; refuse it if it does not fit.

        Args:
            dataset: the data set, or a part of its budget such as ``"visits/alice"``.
            event: what will be released: an event, or its guarantee.
            purpose: what for, in words without data.
            group: the declared group of people that the release depends on, if only one.
        """
        happening = Event.of(event)
        why = text("purpose", purpose or happening.purpose, empty=True)

        def change(connection: Connection, root: rows.Root, now: int) -> Entry:
            account = rows.account_of(connection, dataset)
            amount = account.accountant.amount(happening.under(account.neighbours))
            account.charge(amount, group)
            rows.store_groups(connection, account, [] if group is None else [group])
            details = {
                "purpose": why,
                "mechanism": happening.mechanism,
                "parameters": dict(happening.parameters),
                "guarantee": cap_in_words(happening.guarantee),
                "count": happening.count,
                "neighbours": happening.neighbours,
                "group": group,
                "spent": amount_as_data(amount),
            }
            return self._append(
                connection, root, dataset, "spend", details=details, now=now, changed=account
            )

        return self._change(dataset, change)

    def fail(self, entry: Entry, kind: str = "error") -> Entry:
        """Record that a counted release did not happen. It stays counted; this is a later entry.

        Args:
            entry: what ``spend`` returned.
            kind: one word for what went wrong; never an error's message, which may quote data.
        """
        if not _OUTCOME.fullmatch(kind):
            raise refuse("kind", kind, "a word of lower-case letters, digits and hyphens")

        def work(connection: Connection) -> Entry:
            root = rows.lock_root(connection, entry.dataset)
            known = rows.entry_at(connection, root, entry.sequence)
            if known != entry or entry.kind != "spend":
                raise ParameterError(f"{entry} is not a spend of this ledger")
            now = max(self._store.now(connection), root.last_time)
            details = {"about": entry.sequence, "outcome": kind}
            return self._append(connection, root, entry.budget, "failed", details=details, now=now)

        return self._store.write(work)

    @contextmanager
    def spending(
        self, dataset: str, event: Event | Guarantee, *, purpose: str = "", group: str | None = None
    ) -> Iterator[Entry]:
        """Spend, run the block, and record a failure if the block raises.

        Example:
            >>> import tempfile
            >>> from discreet import PermuteAndFlip, PureDP, Scores
            >>> scores = Scores({"flu": 412, "cold": 98}, sensitivity=1, monotonic=True)
            >>> with tempfile.TemporaryDirectory() as folder, Ledger.open(f"{folder}/budget.db") as ledger:
            ...     _ = ledger.create("visits", PureDP(3))
            ...     with ledger.spending("visits", PureDP(1), purpose="mode of diagnosis"):
            ...         print(PermuteAndFlip(epsilon=1).select(scores))
            flu
        """
        entry = self.spend(dataset, event, purpose=purpose, group=group)
        try:
            yield entry
        except BaseException:
            # The spend stays counted in any case; the block's own error is the one to hear about.
            with suppress(LedgerError):
                self.fail(entry)
            raise
