"""Making, dividing and closing budgets; and the way every change is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlalchemy.engine import Connection

import discreet
from discreet.accounting.events import ADD_REMOVE, text
from discreet.errors import NoBudgetError, ParameterError
from discreet.exact_numbers import positive, refuse
from discreet.guarantees import ZCDP, ApproxDP, Guarantee
from discreet.ledger import accounts as arithmetic
from discreet.ledger import clock, rows
from discreet.ledger.accountants import accountant_for, cap_in_words
from discreet.ledger.accounts import Account
from discreet.ledger.amounts import Amount, amount_as_data, cost_in_decimal, limit
from discreet.ledger.entries import GENESIS, Entry, time_in_words, write
from discreet.ledger.periods import period_named, period_number
from discreet.ledger.reading import LedgerReader, period_is_due
from discreet.ledger.reports import Budget


class LedgerOwner(LedgerReader):
    """The part of a ledger that belongs to whoever answers for the data."""

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
        """Give a data set a budget. The cap, the accountant and the relation never change afterwards.

        Args:
            dataset: its name.
            cap: the most that may be spent, above zero. ``PureDP``: ε adds up. ``ZCDP``: ρ adds up.
                ``ApproxDP``: ρ adds up, and half of δ is kept for releases that have a δ of their own.
            period: ``"day"``, ``"week"``, ``"month"``, ``"quarter"`` or ``"year"`` (UTC) after which the
                whole cap may be spent again. The promise is then per period, and adds up over periods.
            accountant: another accountant for the cap: ``"epsilon-delta"`` adds up ε and δ.
            neighbours: the relation the budget protects.
            groups: groups of *people* declared disjoint: nobody is in two. Only the dearest counts.
            delta_for_releases: how much of an ``ApproxDP`` cap's δ is kept for the releases' own δ.
        """
        _name(dataset)
        chosen = accountant_for(cap, accountant)
        account = Account(
            name=dataset,
            accountant=chosen,
            neighbours=text("neighbours", neighbours),
            limit=_something(chosen.limits(cap, delta_for_releases=delta_for_releases)),
            groups=dict.fromkeys(_groups(groups), Amount()),
        )
        renewal = period_named(period)

        def work(connection: Connection) -> Budget:
            self._store.lock_whole(connection)
            if dataset in rows.root_names(connection):
                raise ParameterError(f"the data set {dataset!r} has a budget already")
            now = self._store.now(connection)
            number = None if renewal is None else period_number(renewal, now)
            words = cap_in_words(cap)
            identity = rows.insert_account(
                connection, account, root=None, cap=words, period=renewal, number=number
            )
            root = rows.Root(identity, dataset, renewal, number, 0, GENESIS, 0)
            details = {
                "cap": words,
                "accountant": chosen.name,
                "limit": amount_as_data(account.limit),
                "neighbours": neighbours,
                "groups": sorted(account.groups),
                "period": renewal,
            }
            self._append(connection, root, dataset, "create", details=details, now=now)
            return rows.budget_of(connection, root, dataset)

        return self._store.write(work)

    def allot(
        self,
        part: str,
        cap: Guarantee | None = None,
        *,
        share: object = None,
        group: str | None = None,
    ) -> Budget:
        """Hand a part of a budget to an analyst: it is set aside, theirs alone, until revoked.

        Args:
            part: ``"visits/alice"`` is a part of ``"visits"``; parts may have parts.
            cap: the part, in the measure that the accountant adds up (ε, or ρ), or for a budget with δ
                an ``ApproxDP`` in the accountant's terms.
            share: instead of ``cap``: a fraction of the whole cap, rounded down.
            group: the declared group that the analyst may ask about, if only one.
        """
        parent_name, _, last = part.rpartition("/")
        _name(last)
        if not parent_name:
            raise refuse("part", part, "the name of a budget, a slash, and the name of the part")
        if (cap is None) == (share is None):
            raise ParameterError("give exactly one of cap= and share=")

        def change(connection: Connection, root: rows.Root, now: int) -> Entry:
            parent = rows.account_of(connection, parent_name)
            if part in rows.accounts_of(connection, root):
                raise ParameterError(f"there is a budget {part!r} already")
            amount, words = _part(parent, cap, share)
            parent.charge(_something(amount), group)
            child = replace(
                parent,
                name=part,
                limit=amount,
                common=Amount(),
                parent=parent_name,
                parent_group=group,
                groups={} if group is not None else dict.fromkeys(parent.groups, Amount()),
            )
            rows.insert_account(connection, child, root=root, cap=words, period=None, number=None)
            rows.store_accounts(connection, [parent])
            details = {"cap": words, "limit": amount_as_data(amount), "group": group}
            return self._append(connection, root, part, "allot", details=details, now=now)

        self._change(part, change)
        return self.show(part)

    def revoke(self, budget: str, *, purpose: str = "") -> Budget:
        """Close a budget and all its parts; what a part has not spent goes back to the whole."""
        text("purpose", purpose, empty=True)

        def change(connection: Connection, root: rows.Root, now: int) -> Entry:
            accounts = rows.accounts_of(connection, root)
            if budget not in accounts:
                raise NoBudgetError(f"there is no budget {budget!r} in this ledger")
            if accounts[budget].revoked:
                raise NoBudgetError(f"the budget {budget!r} was revoked")
            arithmetic.revoke(accounts, budget)
            rows.store_accounts(connection, accounts.values())
            return self._append(
                connection, root, budget, "revoke", details={"purpose": purpose}, now=now
            )

        self._change(budget, change)
        return self.show(budget)

    def accept_clock(self, dataset: str, *, purpose: str) -> Entry:
        """Accept the present time after a clock ran ahead and was put back. No period begins again."""
        text("purpose", purpose)

        def work(connection: Connection) -> Entry:
            root = rows.lock_root(connection, dataset)
            root.last_time = 0
            return self._append(
                connection,
                root,
                root.name,
                "clock",
                details={"purpose": purpose},
                now=self._store.now(connection),
            )

        return self._store.write(work)

    # ---- inside --------------------------------------------------------------------------------

    def _change(self, name: str, change: Callable[[Connection, rows.Root, int], Entry]) -> Entry:
        """Run one change under the data set's lock, after beginning a new period where one is due."""

        def work(connection: Connection) -> Entry:
            root = rows.lock_root(connection, name)
            now = clock.checked(self._store.now(connection), root.last_time)
            self._renew_if_due(connection, root, now)
            return change(connection, root, now)

        return self._store.write(work)

    def _renew_if_due(self, connection: Connection, root: rows.Root, now: int) -> None:
        if not period_is_due(root, now):
            return
        assert root.period is not None
        accounts = rows.accounts_of(connection, root)
        arithmetic.renew(accounts)
        rows.store_accounts(connection, accounts.values())
        root.period_number = period_number(root.period, now)
        details = {"period": root.period, "number": root.period_number}
        self._append(connection, root, root.name, "renew", details=details, now=now)

    def _append(
        self,
        connection: Connection,
        root: rows.Root,
        budget: str,
        kind: str,
        *,
        details: Mapping[str, Any],
        now: int,
        changed: Account | None = None,
    ) -> Entry:
        root.last_time = max(now, root.last_time)
        entry, body = write(
            sequence=root.count + 1,
            dataset=root.name,
            budget=budget,
            kind=kind,
            time=time_in_words(root.last_time),
            version=discreet.__version__,
            details=details,
            previous=root.head,
        )
        rows.append(connection, root, entry, body, changed=changed)
        return entry


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


def _something(amount: Amount) -> Amount:
    """An amount that lets something through: a cap of nothing is a slip, not a budget."""
    if amount.cost == 0:
        raise ParameterError(
            "a budget of nothing is not allowed: it must let something through, "
            f"{cost_in_decimal(1)} or more"
        )
    return amount


def _part(parent: Account, cap: Guarantee | None, share: object) -> tuple[Amount, dict[str, str]]:
    if cap is None:
        fraction = positive("share", share)
        if fraction > 1:
            raise refuse("share", share, "above 0 and at most 1")
        return parent.limit.scaled_down(fraction), {"share": str(Fraction(fraction))}
    if isinstance(cap, ZCDP) and parent.accountant.name == "rho-delta":
        return limit(cap.exact), cap_in_words(cap)
    if isinstance(cap, ApproxDP) and parent.accountant.name == "rho-delta":
        # The part's own (ε, δ) statement, converted to ρ by the same rule as the whole.
        return parent.accountant.limits(cap), cap_in_words(cap)
    return parent.accountant.limits(cap), cap_in_words(cap)
