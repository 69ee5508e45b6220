"""The accountants: how a cap becomes limits and how an event becomes a spend, fixed when a budget is made.

Each is a privacy filter, valid for fully adaptive spending: ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.events import Event
from discreet.errors import ParameterError
from discreet.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.guarantees.conversions import epsilon_of_zcdp
from discreet.ledger.amounts import (
    COST_DIGITS,
    LARGEST_COST,
    Amount,
    cost_in_decimal,
    delta_in_decimal,
    exact_cost,
    limit,
    spent,
)
from discreet.numbers.exact import Exact, probability, refuse, shown
from discreet.numbers.searches import least_whole


@dataclass(frozen=True, slots=True)
class Accountant:
    """One way to count.

    Attributes:
        name: as stored in the ledger and named on the command line.
        symbol: ε or ρ.
        measure: the type of cap it serves.
        counts_delta: whether releases may have a δ of their own.
        words: what is added up.
    """

    name: str
    symbol: str
    measure: type[Guarantee]
    counts_delta: bool
    words: str

    def limits(self, cap: Guarantee, *, delta_for_releases: object = None) -> Amount:
        """A cap as limits on the sums."""
        if not isinstance(cap, self.measure):
            raise ParameterError(
                f"the accountant {self.name!r} needs a cap in {self.measure.__name__}, got {cap!r}"
            )
        if delta_for_releases is not None and self.name != "rho-delta":
            raise ParameterError("⟨delta_for_releases⟩ goes with the accountant 'rho-delta' only")
        return _LIMITS[self.name](cap, delta_for_releases)

    def amount(self, event: Event) -> Amount:
        """What an event costs, rounded up to the grid, each release for itself."""
        guarantee = event.guarantee
        delta = Fraction(0)
        if isinstance(guarantee, ApproxDP) and self.counts_delta:
            # Outside an event of probability δ, an (ε, δ) release is ε-DP.
            epsilon, delta = guarantee.exact
            guarantee = PureDP(epsilon)
        cost = guarantee.to(ZCDP if self.symbol == "ρ" else PureDP).exact
        if cost == math.inf:
            raise ParameterError(
                f"{event.guarantee!r} promises nothing that the accountant {self.name!r} can count"
            )
        return spent(cost, delta).times(event.count)

    def shown(self, amount: Amount) -> str:
        """An amount in words.

        Example:
            >>> ACCOUNTANTS["epsilon"].shown(Amount(100_000_000_000))
            'ε = 0.1'
        """
        words = f"{self.symbol} = {cost_in_decimal(amount.cost)}"
        return words + (f", δ = {delta_in_decimal(amount.delta)}" if self.counts_delta else "")


ACCOUNTANTS = {
    accountant.name: accountant
    for accountant in (
        Accountant("epsilon", "ε", PureDP, False, "the sum of ε"),
        Accountant("rho", "ρ", ZCDP, False, "the sum of ρ"),
        Accountant("rho-delta", "ρ", ApproxDP, True, "the sum of ρ, with δ, under one (ε, δ)"),
        Accountant("epsilon-delta", "ε", ApproxDP, True, "the sum of ε and the sum of δ"),
    )
}
_DEFAULTS = {PureDP: "epsilon", ZCDP: "rho", ApproxDP: "rho-delta"}


def accountant_for(cap: object, name: str | None = None) -> Accountant:
    """The accountant named, or the one that goes with the type of the cap."""
    if type(cap) not in _DEFAULTS:
        raise refuse("cap", cap, "PureDP, ZCDP or ApproxDP")
    chosen = _DEFAULTS[type(cap)] if name is None else name  # type: ignore[index]  # checked above
    if chosen not in ACCOUNTANTS:
        raise refuse("accountant", chosen, "one of " + ", ".join(ACCOUNTANTS))
    return ACCOUNTANTS[chosen]


def cap_in_words(cap: Guarantee) -> dict[str, str]:
    """A guarantee as plain data, figures rounded up to the shortest decimal."""
    if isinstance(cap, ApproxDP):
        epsilon, delta = cap.exact
        return {"measure": "ApproxDP", "epsilon": shown(epsilon), "delta": shown(delta)}
    number: Exact = cap.exact  # type: ignore[attr-defined]  # every other guarantee has one number
    return {
        "measure": type(cap).__name__,
        "rho" if isinstance(cap, ZCDP) else "epsilon": shown(number),
    }


def _one_number(cap: Guarantee, _delta: object) -> Amount:
    return limit(cap.exact)  # type: ignore[attr-defined]  # PureDP or ZCDP, checked by Accountant.limits


def _two_numbers(cap: Guarantee, _delta: object) -> Amount:
    assert isinstance(cap, ApproxDP)
    return limit(*cap.exact)


def _concentrated(cap: Guarantee, delta_for_releases: object) -> Amount:
    """The largest ρ on the grid that, with what is left of δ, still implies the cap's ε."""
    assert isinstance(cap, ApproxDP)
    epsilon, delta = cap.exact
    if delta == 0:
        raise ParameterError(
            "an (ε, δ) cap on a sum of ρ needs a δ above 0; for δ = 0 give ε alone"
        )
    kept = (
        delta / 2
        if delta_for_releases is None
        else probability("delta_for_releases", delta_for_releases)
    )
    if kept >= delta:
        raise refuse(
            "delta_for_releases", delta_for_releases, f"below the cap's δ ({shown(delta)})"
        )
    limits = limit(min(epsilon, LARGEST_COST), kept)

    def too_much(units: int) -> bool:
        return epsilon_of_zcdp(exact_cost(units), delta - kept) > epsilon

    most = min(limits.cost, LARGEST_COST * 10**COST_DIGITS)
    first = least_whole(too_much, most=most) if most else None
    return Amount(most if first is None else first - 1, limits.delta)


_LIMITS: dict[str, Callable[[Guarantee, object], Amount]] = {
    "epsilon": _one_number,
    "rho": _one_number,
    "rho-delta": _concentrated,
    "epsilon-delta": _two_numbers,
}
