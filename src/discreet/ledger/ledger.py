"""The ledger: budgets that cannot be overspent, even with many users and after crashes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar

from sqlalchemy.engine import Connection

import discreet
from discreet._exact.numbers.exact import refuse, whole
from discreet.accounting.accountants import (
    accountant_for,
    amount_as_data,
    cap_in_short,
    cap_in_words,
    something,
)
from discreet.accounting.events import Event, text
from discreet.errors import LedgerError, NoBudgetError, ParameterError
from discreet.guarantees import Guarantee
from discreet.ledger import rows, schema
from discreet.ledger.copies import SharedByAddress
from discreet.ledger.entries import Entry, Head, checked_time, time_in_words
from discreet.ledger.places import place_of
from discreet.ledger.reports import Budget, History, Quote, budget_report, quote_for
from discreet.ledger.states import State, part_of, period_named, period_number, renew
from discreet.ledger.store import Store, use_one_file
from discreet.ledger.verification import Verification, verify_history
from discreet.neighbours import ADD_REMOVE

T = TypeVar("T")
_OUTCOME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_Change = tuple[str, str, Mapping[str, Any]]  # the budget, the kind of entry, its details


class Ledger(SharedByAddress):
    """Budgets in a SQLite file or a PostgreSQL database.

    Threads can share a ``Ledger``; each process opens its own. A spend is durable before ``spend``
    returns, so a mechanism that runs afterwards is always counted. Spending uses no randomness and no data.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(1))
        ...     entry = ledger.spend("visits", PureDP("0.3"), purpose="mode of diagnosis")
        ...     print(entry, "spent;", ledger.show("visits").left, "is left")
        visits #2 spent; ε = 0.7 is left
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(cls, url: object = None, *, create: bool = True, wait: float = 30) -> Self:
        """Open a ledger. A read-only ledger can still be shown, listed and verified.

        Args:
            url: a path, ``sqlite:///path``, ``postgresql://...``, or None for the user's own ledger.
            create: whether to create the ledger if it does not exist.
            wait: how many seconds to wait for other writers.
        """
        place = place_of(url)
        if place.is_sqlite and create:
            place.ensure_file()
        if place.is_sqlite:
            place.check_file(wait=wait)
            if place.is_writable():
                use_one_file(place, wait=wait)
        store = Store(place, wait=wait)
        try:
            schema.prepare(store, create=create)
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

    # ---- for the owner of the data -----------------------------------------------------------

    def create(
        self,
        dataset: str,
        cap: Guarantee,
        period: str | None = None,
        *,
        accountant: str | None = None,
        neighbours: str = ADD_REMOVE,
        groups: Iterable[str] = (),
        delta_for_releases: object = None,
    ) -> Budget:
        """Give a data set a budget. Its cap, accountant and neighbour relation never change afterwards.

        Args:
            dataset: its name.
            cap: the most that may be spent, above zero. ``PureDP``: ε adds up. ``ZCDP``: ρ adds up.
                ``ApproxDP``: ρ adds up, and half of δ is reserved for releases that have their own δ.
            period: ``"day"``, ``"week"``, ``"month"``, ``"quarter"`` or ``"year"`` (UTC) after which the
                whole cap may be spent again. The promise is then per period, and adds up over periods.
            accountant: ``"epsilon-delta"`` to add up ε and δ, not ρ and δ, under an ``ApproxDP`` cap.
            neighbours: the neighbour relation for which the budget's guarantee holds.
            groups: groups of *people* declared disjoint: no person is in two. Only the most expensive one
                counts (under replacement the two most expensive, under other relations all).
            delta_for_releases: how much of an ``ApproxDP`` cap's δ is reserved for the releases' own δ.
        """
        details = _terms(
            cap,
            period,
            accountant=accountant,
            neighbours=neighbours,
            groups=groups,
            delta_for_releases=delta_for_releases,
        )
        state = State(_name(dataset))

        def work(connection: Connection) -> Entry:
            self._store.lock_whole(connection)
            if dataset in rows.data_sets(connection):
                revoked = rows.load(connection, dataset).account(dataset).revoked
                ended = (
                    ", which was revoked; a name cannot be used again: choose another"
                    if revoked
                    else ": use it, or choose another name or another ledger"
                )
                raise ParameterError(f"the data set {dataset!r} already has a budget{ended}")
            now = self._store.now(connection)
            return _append(connection, state, now, (dataset, "create", details))

        self._store.write(work)
        return self.show(dataset)

    def get_or_create(self, dataset: str, cap: Guarantee, **terms: Any) -> Budget:
        """Return the budget of a data set; create it if needed, so that a notebook can be run twice.

        Args:
            dataset: its name.
            cap: the most that may be spent; an existing budget must have this cap.
            **terms: the other terms of ``create``, with its defaults; an existing budget must have the same
                terms.

        Example:
            >>> import tempfile
            >>> from discreet import PureDP
            >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
            ...     for _ in range(2):
            ...         budget = ledger.get_or_create("visits", PureDP(3))
            >>> budget.left
            'ε = 3'
        """
        try:
            budget = self.show(dataset)
        except NoBudgetError:
            return self.create(dataset, cap, **terms)
        wanted = _terms(cap, **terms)
        wanted["delta_for_releases"] = wanted["limit"]["delta"]  # the δ decides the ρ beside it
        found = {
            "cap": budget.cap,
            "accountant": budget.accountant,
            "neighbours": budget.neighbours,
            "period": budget.period,
            "groups": sorted(budget.groups),
            "delta_for_releases": amount_as_data(budget.limit)["delta"],
        }
        for name, known in found.items():
            if known != wanted[name]:
                shown = cap_in_short(budget.cap) if name == "cap" else known
                raise ParameterError(
                    f"the data set {dataset!r} already has a budget with other terms ({name}: {shown})"
                )
        return budget

    def allot(
        self,
        part: str,
        cap: Guarantee | None = None,
        *,
        share: object = None,
        group: str | None = None,
    ) -> Budget:
        """Set aside part of a budget for one analyst, until it is revoked.

        Args:
            part: ``"visits/alice"`` is a part of ``"visits"``; parts may have parts.
            cap: the part's own cap, in the measure of the budget's cap; for a budget with δ that adds up ρ,
                ``ZCDP`` is allowed as well.
            share: instead of ``cap``, the fraction of the parent budget's cap to set aside; the amount is
                rounded down.
            group: the one declared group that the analyst may ask about; None for no such limit.
        """
        parent, _, last = part.rpartition("/")
        _name(last)
        if not parent:
            raise refuse("part", part, "the name of a budget, a slash, and the name of the part")
        if (cap is None) == (share is None):
            raise ParameterError("give exactly one of ⟨cap⟩ and ⟨share⟩")

        def decide(_connection: Connection, state: State) -> _Change:
            amount, words = part_of(state.account(parent), cap, share)
            given = amount_as_data(something(amount))
            return part, "allot", {"cap": words, "limit": given, "group": group}

        self._change(part, decide)
        return self.show(part)

    def revoke(self, budget: str, *, purpose: str = "") -> Budget:
        """Close a budget and all its parts; amounts not spent go back to the budget they were taken from."""
        text("purpose", purpose, empty=True)
        self._change(budget, lambda *_: (budget, "revoke", {"purpose": purpose}))
        return self.show(budget)

    def accept_clock(self, dataset: str, *, purpose: str) -> Entry:
        """Accept the current time after a clock ran ahead and was set back; no past period starts again."""
        text("purpose", purpose)
        return self._change(dataset, lambda _, state: (state.name, "clock", {"purpose": purpose}))

    # ---- for analysts --------------------------------------------------------------------------

    def spend(
        self, dataset: str, event: Event | Guarantee, *, purpose: str = "", group: str | None = None
    ) -> Entry:
        """Charge a release to a budget, durably, before it happens; refuse it if too little is left.

        Args:
            dataset: the data set, or a part of its budget such as ``"visits/alice"``.
            event: the planned release: an event, or its guarantee.
            purpose: the purpose of the release, in words that contain no data.
            group: the declared group, if the release depends only on the people of one group.
        """
        happening = Event.of(event)
        why = text("purpose", purpose or happening.purpose, empty=True)

        def decide(_connection: Connection, state: State) -> _Change:
            account = state.account(dataset)
            amount = account.accountant.amount(happening.under(account.neighbours))
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
            return dataset, "spend", details

        return self._change(dataset, decide)

    def fail(self, entry: Entry, kind: str = "error") -> Entry:
        """Record, as a new entry, that a counted release did not happen; its cost stays counted.

        Args:
            entry: the entry that ``spend`` returned.
            kind: one word for what went wrong; never an error's message, which may quote data.
        """
        if not _OUTCOME.fullmatch(kind):
            raise refuse("kind", kind, "a word of lower-case letters, digits and hyphens")

        return self._say_of(entry, "failed", {"outcome": kind})

    def keep(self, entry: Entry, answer: Mapping[str, Any]) -> Entry:
        """Store a released answer in the history, as a new entry, so that it can be read again at no cost.

        Args:
            entry: the entry that ``spend`` returned, which is also in the release.
            answer: the release as plain data, ``release.as_data()``: only what was released. An entry has
                one answer; a second is refused.
        """
        return self._say_of(entry, "answer", {"release": dict(answer)})

    def _say_of(self, entry: Entry, kind: str, details: dict[str, Any]) -> Entry:
        def decide(connection: Connection, state: State) -> _Change:
            known = rows.entry_at(connection, state, entry.sequence)
            if known != entry or entry.kind != "spend":
                raise ParameterError(f"{entry} is not a spend of this ledger")
            if kind == "answer" and "answer" in rows.said_of(connection, state, entry.sequence):
                raise ParameterError(f"{entry} already has an answer")
            return entry.budget, kind, {"about": entry.sequence, **details}

        return self._change(entry.dataset, decide)

    def answers(self, dataset: str) -> list[tuple[Entry, Mapping[str, Any]]]:
        """Return the answers stored by ``keep``, each with the spend that paid for it, oldest first."""
        history = self.history(dataset)
        spends = {entry.sequence: entry for entry in history}
        return [
            (spends[entry.details["about"]], entry.details["release"])
            for entry in history
            if entry.kind == "answer"
        ]

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
        except BaseException as error:
            error.add_note(f"the spend stays: {entry.budget}, entry {entry.sequence}")
            # The spend stays counted in any case; the block's own error is the one to report.
            with suppress(LedgerError):
                self.fail(entry)
            raise

    # ---- for anyone: nothing below writes or costs anything ------------------------------------

    def show(self, budget: str) -> Budget:
        """Return the state of a budget, as the next spend would find it."""
        return self._look(budget, lambda c, state: budget_report(self._next(c, state), budget))

    def budgets(self) -> tuple[Budget, ...]:
        """Return the state of every data set's budget."""
        return tuple(self.show(name) for name in self._store.read(rows.data_sets))

    def history(self, dataset: str) -> History:
        """Return the entries of a data set or a part of its budget, oldest first; notebooks show a table."""
        state, lines = self._look(dataset, lambda c, state: (state, rows.lines_of(c, state)))
        state.account(dataset)
        return History(
            entry
            for entry in rows.history_of(state, lines)
            if dataset == state.name or (entry.budget + "/").startswith(dataset + "/")
        )

    def await_payments(self, dataset: str) -> None:
        """Wait until no one is changing a data set; raise an error after the ledger's ``wait`` seconds.

        PostgreSQL may still be committing a change whose process has ended, for example while it waits for a
        standby. In SQLite a change ends with its process, so there is nothing to wait for.
        """
        if not self._store.place.is_sqlite:
            self._store.write(lambda connection: rows.await_writers(connection, dataset))

    def tables(self, dataset: str) -> tuple[str, ...]:
        """Return the names of the tables in the latest questions about a data set, sorted.

        Only the last 100 entries are read. A table in memory has no name, and nothing about
        its content is stored, because a hash of the content would confirm who is in it.
        """

        def look(connection: Connection, state: State) -> set[str]:
            latest = rows.latest(connection, state, most=100)
            named = (entry.details.get("parameters", {}).get("table") for entry in latest)
            return {name for name in named if isinstance(name, str)}

        return tuple(sorted(self._look(dataset, look)))

    def plan(
        self,
        dataset: str,
        event: Event | Guarantee,
        *,
        count: int = 1,
        group: str | None = None,
    ) -> Quote:
        """Return what ``count`` spends of an event would cost, computed as in ``spend``; nothing is spent."""
        asked, times = Event.of(event), whole("count", count)

        def look(connection: Connection, state: State) -> Quote:
            account = self._next(connection, state).account(dataset)
            return quote_for(account, asked.under(account.neighbours), times, group)

        return self._look(dataset, look)

    def head(self, dataset: str) -> Head:
        """Return the head of the history; a copy kept elsewhere lets ``verify`` detect changes up to it."""
        return self._look(dataset, lambda _, state: state.head)

    def verify(self, dataset: str, *, head: Head | str | None = None) -> Verification:
        """Check a history: the chain of hashes, the stored state and, if given, a head kept elsewhere."""
        kept = Head.parse(head) if isinstance(head, str) else head
        # A reader blocks writers from committing, so the check starts once everything is read.
        state, lines = self._look(dataset, lambda c, state: (state, rows.lines_of(c, state)))
        return verify_history(state, lines, kept)

    # ---- inside --------------------------------------------------------------------------------

    def _look(self, name: str, look: Callable[[Connection, State], T]) -> T:
        return self._store.read(lambda connection: look(connection, rows.load(connection, name)))

    def _next(self, connection: Connection, state: State) -> State:
        """Check that the tables match the history; return the state that the next spend would find."""
        rows.require_untouched(connection, state)
        if state.is_due(self._store.now(connection)):
            renew(state.accounts)
        return state

    def _change(self, name: str, decide: Callable[[Connection, State], _Change]) -> Entry:
        """Change a data set: lock it, check that it matches its history, add an entry."""

        def work(connection: Connection) -> Entry:
            state = rows.load(connection, name, lock=True)
            rows.require_untouched(connection, state)
            change = decide(connection, state)
            now = self._store.now(connection)
            if change[1] in ("failed", "answer"):  # can always be recorded, whatever the clock says
                now = max(now, state.last_time)
            elif change[1] != "clock":
                now = checked_time(now, state.last_time)
                if state.period is not None and state.is_due(now):
                    begun = {"period": state.period, "number": period_number(state.period, now)}
                    _append(connection, state, now, (state.name, "renew", begun))
            return _append(connection, state, now, change)

        return self._store.write(work)


def _terms(
    cap: Guarantee,
    period: str | None = None,
    *,
    accountant: str | None = None,
    neighbours: str = ADD_REMOVE,
    groups: Iterable[str] = (),
    delta_for_releases: object = None,
) -> dict[str, Any]:
    """Check the terms of a new budget; return them as the details of its first entry."""
    chosen = accountant_for(cap, accountant)
    limits = chosen.limits(cap, delta_for_releases=delta_for_releases)
    return {
        "cap": cap_in_words(cap),
        "accountant": chosen.name,
        "limit": amount_as_data(something(limits)),
        "neighbours": str(text("neighbours", neighbours)),
        "groups": sorted(_groups(groups)),
        "period": period_named(period),
    }


def _append(connection: Connection, state: State, now: int, change: _Change) -> Entry:
    """Change the state, and store it together with the entry that describes the change."""
    budget, kind, details = change
    before = state.copy()
    draft = Entry(
        sequence=state.count + 1,
        dataset=state.name,
        budget=budget,
        kind=kind,
        time=time_in_words(now),
        version=discreet.__version__,
        details=details,
        previous=state.hash,
        hash="",
    )
    state.apply(draft)
    return rows.save(connection, before, state, draft)


def _name(name: str) -> str:
    text("dataset", name)
    if "/" in name or name != name.strip():
        raise refuse("dataset", name, "a name without slashes; name/part names a part of a budget")
    return name


def _groups(names: Iterable[str]) -> list[str]:
    listed = [text("group", name) for name in names]
    if isinstance(names, str) or len(set(listed)) != len(listed):
        raise ParameterError("groups must be a list of different names")
    return listed
