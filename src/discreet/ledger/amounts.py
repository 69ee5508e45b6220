"""Whole numbers on a public grid: spends round up, caps round down, sums are exact.

ε and ρ are counted in units of 10⁻¹² and δ in units of 10⁻¹⁸, so that both fit a 64-bit integer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.numbers.exact import Exact

COST_DIGITS = 12
DELTA_DIGITS = 18
LARGEST_COST = 10**6
_COST_UNIT = 10**COST_DIGITS
_DELTA_UNIT = 10**DELTA_DIGITS


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
        """``count`` such amounts."""
        return Amount(self.cost * count, self.delta * count)

    def fits(self, limit: Amount) -> bool:
        """Whether neither number is above the limit's."""
        return self.cost <= limit.cost and self.delta <= limit.delta

    def scaled_down(self, share: Fraction) -> Amount:
        """A part of this amount, rounded down."""
        return Amount(math.floor(self.cost * share), math.floor(self.delta * share))


NOTHING = Amount()


def spent(cost: Exact, delta: Exact = Fraction(0)) -> Amount:
    """A spend, rounded up.

    Example:
        >>> spent(Fraction(1, 10)), spent(Fraction(1, 3)).cost
        (Amount(cost=100000000000, delta=0), 333333333334)
    """
    if cost > LARGEST_COST:
        raise ParameterError(f"a spend above {LARGEST_COST} cannot be counted")
    return Amount(math.ceil(cost * _COST_UNIT), math.ceil(delta * _DELTA_UNIT))


def limit(cost: Exact, delta: Exact = Fraction(0)) -> Amount:
    """A cap, rounded down; it must be finite.

    Example:
        >>> limit(Fraction(1, 3)).cost
        333333333333
    """
    if cost > LARGEST_COST:
        raise ParameterError(f"a cap must be at most {LARGEST_COST}: beyond it there is no privacy")
    return Amount(math.floor(cost * _COST_UNIT), math.floor(delta * _DELTA_UNIT))


def something(amount: Amount) -> Amount:
    """An amount that lets something through: a cap of nothing is a slip, not a budget."""
    if amount.cost == 0:
        raise ParameterError(
            "a budget of nothing is not allowed: it must let something through, "
            f"{cost_in_decimal(1)} or more"
        )
    return amount


def cost_in_decimal(units: int) -> str:
    """Units of cost, exactly, in decimal.

    Example:
        >>> cost_in_decimal(2_900_000_000_000), cost_in_decimal(1), cost_in_decimal(0)
        ('2.9', '0.000000000001', '0')
    """
    return _decimal(units, COST_DIGITS)


def delta_in_decimal(units: int) -> str:
    """Units of δ, exactly, in decimal or scientific notation."""
    if units == 0:
        return "0"
    with localcontext() as context:
        context.prec = 60
        value = Decimal(units).scaleb(-DELTA_DIGITS).normalize()
    return (
        f"{value:E}".replace("E-0", "e-").replace("E", "e")
        if value < Decimal("0.001")
        else f"{value:f}"
    )


def exact_cost(units: int) -> Fraction:
    """Units of cost as a rational."""
    return Fraction(units, _COST_UNIT)


def exact_delta(units: int) -> Fraction:
    """Units of δ as a rational."""
    return Fraction(units, _DELTA_UNIT)


def _decimal(units: int, digits: int) -> str:
    whole, part = divmod(abs(units), 10**digits)
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}" + (f".{part:0{digits}d}".rstrip("0") if part else "")


def amount_as_data(amount: Amount) -> dict[str, str]:
    """Exact decimals, as text."""
    return {"cost": cost_in_decimal(amount.cost), "delta": delta_in_decimal(amount.delta)}


def amount_of_data(data: dict[str, str]) -> Amount:
    """Read what ``amount_as_data`` wrote.

    Example:
        >>> amount_of_data(amount_as_data(Amount(1, 2)))
        Amount(cost=1, delta=2)
    """
    return Amount(
        int(Fraction(data["cost"]) * _COST_UNIT), int(Fraction(data["delta"]) * _DELTA_UNIT)
    )
