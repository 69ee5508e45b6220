"""Accountants: they turn a cap into limits and an event into a spend. A budget never changes its accountant.

Each accountant is a privacy filter, valid for fully adaptive spending (``docs/proofs/ledger.md``). Amounts
are whole multiples of 10⁻¹² for ε and ρ and of 10⁻¹⁸ for δ (the public grid), and fit in 64-bit integers.
Spends are rounded up, caps are rounded down, and sums are exact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction

from discreet._exact.numbers.exact import Exact, probability, refuse, shown
from discreet._exact.numbers.printing import figure
from discreet._exact.numbers.searches import bisected, least_whole
from discreet.accounting.events import Event
from discreet.errors import ParameterError
from discreet.guarantees import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP
from discreet.guarantees.conversions import epsilon_of_zcdp

COST_DIGITS = 12
DELTA_DIGITS = 18
LARGEST_COST = 10**6
COST_UNIT = 10**COST_DIGITS
DELTA_UNIT = 10**DELTA_DIGITS


@dataclass(frozen=True, slots=True)
class Amount:
    """A cost (ε or ρ) and a δ, in units of the grid."""

    cost: int = 0
    delta: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.cost + other.cost, self.delta + other.delta)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.cost - other.cost, self.delta - other.delta)

    def times(self, count: int) -> Amount:
        """Return ``count`` times this amount."""
        return Amount(self.cost * count, self.delta * count)

    def fits(self, limit: Amount) -> bool:
        """Return whether both numbers are within the limit."""
        return self.cost <= limit.cost and self.delta <= limit.delta

    def scaled_down(self, share: Fraction) -> Amount:
        """Return a fraction of this amount, rounded down."""
        return Amount(math.floor(self.cost * share), math.floor(self.delta * share))


NOTHING = Amount()


def spent(cost: Exact, delta: Exact = Fraction(0)) -> Amount:
    """Return a spend in units of the grid, rounded up.

    Example:
        >>> spent(Fraction(1, 10)), spent(Fraction(1, 3)).cost
        (Amount(cost=100000000000, delta=0), 333333333334)
    """
    if cost > LARGEST_COST:
        raise ParameterError(f"a spend above {LARGEST_COST} cannot be counted")
    return Amount(math.ceil(cost * COST_UNIT), math.ceil(delta * DELTA_UNIT))


def limit(cost: Exact, delta: Exact = Fraction(0)) -> Amount:
    """Return a cap in units of the grid, rounded down; refuse a cost above ``LARGEST_COST``.

    Example:
        >>> limit(Fraction(1, 3)).cost
        333333333333
    """
    if cost > LARGEST_COST:
        raise ParameterError(f"a cap must be at most {LARGEST_COST}: beyond it there is no privacy")
    return Amount(math.floor(cost * COST_UNIT), math.floor(delta * DELTA_UNIT))


def something(amount: Amount) -> Amount:
    """Return the amount; raise an error if its cost is zero, because a budget of zero is a mistake."""
    if amount.cost == 0:
        raise ParameterError(
            f"a budget of zero is not allowed: it must be {cost_in_decimal(1)} or more"
        )
    return amount


def cost_in_decimal(units: int) -> str:
    """Return a cost in units of the grid as an exact decimal.

    Example:
        >>> cost_in_decimal(2_900_000_000_000), cost_in_decimal(1), cost_in_decimal(0)
        ('2.9', '0.000000000001', '0')
    """
    whole, part = divmod(abs(units), COST_UNIT)
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}" + (f".{part:0{COST_DIGITS}d}".rstrip("0") if part else "")


def delta_in_decimal(units: int) -> str:
    """Return a δ in units of the grid as an exact decimal, in scientific notation if it is below 0.001."""
    if units == 0:
        return "0"
    with localcontext() as context:
        context.prec = 60
        value = Decimal(units).scaleb(-DELTA_DIGITS).normalize()
    if value >= Decimal("0.001"):
        return f"{value:f}"
    return f"{value:E}".replace("E-0", "e-").replace("E", "e")


def exact_cost(units: int) -> Fraction:
    """Return a cost in units of the grid as a fraction."""
    return Fraction(units, COST_UNIT)


def exact_delta(units: int) -> Fraction:
    """Return a δ in units of the grid as a fraction."""
    return Fraction(units, DELTA_UNIT)


def amount_as_data(amount: Amount) -> dict[str, str]:
    """Return an amount as exact decimals in text."""
    return {"cost": cost_in_decimal(amount.cost), "delta": delta_in_decimal(amount.delta)}


def amount_of_data(data: dict[str, str]) -> Amount:
    """Make an amount from the data of ``amount_as_data``.

    Example:
        >>> amount_of_data(amount_as_data(Amount(1, 2)))
        Amount(cost=1, delta=2)
    """
    return Amount(
        int(Fraction(data["cost"]) * COST_UNIT), int(Fraction(data["delta"]) * DELTA_UNIT)
    )


def in_short(words: str, *, up: bool) -> str:
    """Round long figures in a text to four digits: up for a cost, down for a remaining budget.

    Example:
        >>> in_short("ρ = 0.175749908689, δ = 5e-7", up=False)
        'ρ = 0.1757, δ = 5e-7'
    """
    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda found: figure(Fraction(found[0]), up=up), words)


@dataclass(frozen=True, slots=True)
class Accountant:
    """One way of adding up costs.

    Attributes:
        name: its name in the ledger and on the command line.
        symbol: ε or ρ.
        measure: the type of cap that it accepts.
        counts_delta: whether releases may have their own δ.
        words: a description of what is added up.
    """

    name: str
    symbol: str
    measure: type[Guarantee]
    counts_delta: bool
    words: str

    def limits(self, cap: Guarantee, *, delta_for_releases: object = None) -> Amount:
        """Return the limits on the sums of cost and δ that keep spending within a cap."""
        if type(cap) is not self.measure:  # an ApproxZCDP promises more than the limits would keep
            raise ParameterError(
                f"the accountant {self.name!r} needs a cap in {self.measure.__name__}, got {cap!r}"
            )
        if delta_for_releases is not None and self.name != "rho-delta":
            raise ParameterError(
                "⟨delta_for_releases⟩ can only be used with the accountant 'rho-delta'"
            )
        if self.name == "rho-delta":
            return _concentrated(cap, delta_for_releases)
        return limit(*cap.figures.values())

    def amount(self, event: Event) -> Amount:
        """Return the cost of an event: all its releases together, rounded up to the grid once.

        Example:
            >>> ACCOUNTANTS["epsilon"].amount(Event(PureDP("1/3"), count=3))
            Amount(cost=1000000000000, delta=0)
        """
        guarantee = event.guarantee
        delta = Fraction(0)
        if isinstance(guarantee, ApproxZCDP) and self.counts_delta and self.symbol == "ρ":
            # Charge the ρ proved for it, not the ρ that follows from its ε.
            rho, delta = guarantee.concentrated
            guarantee = ZCDP(rho)
        elif isinstance(guarantee, ApproxDP) and self.counts_delta:
            # Outside an event of probability δ, an (ε, δ) release is ε-DP.
            epsilon, delta = guarantee.exact
            guarantee = PureDP(epsilon)
        cost = guarantee.exact_in(ZCDP if self.symbol == "ρ" else PureDP)
        if cost == math.inf:
            failing = event.guarantee.figures.get("delta")
            if failing and not self.counts_delta:
                raise ParameterError(
                    f"this needs a δ ({figure(failing)}), and this budget has none: its accountant "
                    f"{self.name!r} adds up {self.words} only; ask without a δ, or use a budget that has one"
                )
            raise ParameterError(
                f"this has no finite {self.symbol}, and the budget's accountant {self.name!r} adds up "
                f"{self.words}"
            )
        return spent(cost * event.count, delta * event.count)

    def affordable(self, left: Amount) -> str | None:
        """Return the largest ε, rounded down, at which ``left`` pays for any ε-DP release.

        Return None if nothing is left, or if the accountant adds up ε itself.

        Example:
            >>> ACCOUNTANTS["rho"].affordable(Amount(175_749_908_689))
            '0.6016'
        """
        if self.symbol == "ε" or not left.cost:
            return None
        rho = left.cost / COST_UNIT
        low, _ = bisected(lambda epsilon: epsilon * math.tanh(epsilon / 2) > rho, 0.0, rho + 2)
        return figure(Fraction(low), up=False)

    def shown(self, amount: Amount) -> str:
        """Return an amount as text for people.

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
    """Return the named accountant, or the default for this type of cap."""
    if type(cap) not in _DEFAULTS:
        raise refuse("cap", cap, "PureDP, ZCDP or ApproxDP")
    chosen = _DEFAULTS[type(cap)] if name is None else name  # type: ignore[index]  # checked above
    if chosen not in ACCOUNTANTS:
        raise refuse("accountant", chosen, "one of " + ", ".join(ACCOUNTANTS))
    return ACCOUNTANTS[chosen]


def cap_in_words(cap: Guarantee) -> dict[str, str]:
    """Return a guarantee as plain data; its figures are decimals, rounded up."""
    return {"measure": type(cap).__name__} | {
        name: shown(number) for name, number in cap.figures.items()
    }


def cap_in_short(cap: Mapping[str, str]) -> str:
    """Return the data of ``cap_in_words`` as text for people.

    Example:
        >>> cap_in_short({"measure": "ApproxDP", "epsilon": "1", "delta": "1e-06"})
        'ε = 1, δ = 1e-06'
    """
    symbols = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
    return ", ".join(f"{sign} = {cap[name]}" for name, sign in symbols.items() if name in cap)


def _concentrated(cap: Guarantee, delta_for_releases: object) -> Amount:
    """Return the limits on the sums of ρ and δ that imply an (ε, δ) cap.

    The limit on δ is ``delta_for_releases``, by default half of the cap's δ. The limit on ρ is the largest on
    the grid that implies the cap's ε at the remaining δ.
    """
    assert isinstance(cap, ApproxDP)
    epsilon, delta = cap.exact
    if delta == 0:
        raise ParameterError(
            "an (ε, δ) cap on a sum of ρ needs a δ above 0; for δ = 0 give ε alone"
        )
    kept = delta / 2
    if delta_for_releases is not None:
        kept = probability("delta_for_releases", delta_for_releases)
    if kept >= delta:
        raise refuse(
            "delta_for_releases", delta_for_releases, f"below the cap's δ ({shown(delta)})"
        )
    limits = limit(min(epsilon, LARGEST_COST), kept)

    def too_much(units: int) -> bool:
        return epsilon_of_zcdp(exact_cost(units), delta - kept) > epsilon

    first = least_whole(too_much, most=limits.cost) if limits.cost else None
    return limits if first is None else replace(limits, cost=first - 1)
