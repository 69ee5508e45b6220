"""The formulas that turn one privacy cost into another, as numbers, rounded up in ball arithmetic.

:mod:`discreet.guarantees` is the only caller that users need; each formula names its proof.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.numbers.balls import upper_bound
from discreet.numbers.exact import Exact


def shortened(epsilon: Exact, delta: Fraction, survivor: Any) -> Exact:
    """ε + ln(survivor(ε, δ)), rounded up; zero where nothing survives."""
    assert isinstance(epsilon, Fraction)
    if upper_bound(survivor, epsilon, delta) <= 0:
        return Fraction(0)
    return upper_bound(lambda e, d: e + survivor(e, d).log(), epsilon, delta)


def range_of_flipped_coins(epsilon: Fraction) -> Exact:
    """2 ln(2e^(ε/2) − 1): the range of permute-and-flip (``docs/proofs/bounded-range-refuted.md``)."""
    return upper_bound(lambda e: 2 * (2 * (e / 2).expm1() + 1).log(), epsilon)


def zcdp_of_pure(epsilon: Exact) -> Exact:
    """ε·tanh(ε/2): the ρ of any ε-DP mechanism (``docs/proofs/concentrated.md``)."""
    return _rho(epsilon, lambda e: e * (e / 2).tanh())


def zcdp_of_bounded_range(epsilon: Exact) -> Exact:
    """The ρ of ε-bounded range: t − 1 − ln t with t = ε/(1 − e^−ε), at most ε²/8.

    Proof: ``docs/proofs/concentrated.md``.
    """

    def formula(e: Any) -> Any:
        ratio = e / -((-e).expm1())
        return ratio - 1 - ratio.log()

    return _rho(epsilon, formula)


def zcdp_of_laplace(epsilon: Exact) -> Exact:
    """ε + e^−ε − 1: the ρ of the Laplace pair (``docs/proofs/concentrated.md``)."""
    return _rho(epsilon, lambda e: e + (-e).expm1())


def _rho(epsilon: Exact, formula: Any) -> Exact:
    if epsilon in (math.inf, 0):
        return epsilon
    assert isinstance(epsilon, Fraction)
    return upper_bound(formula, epsilon)


def epsilon_of_zcdp(rho: Exact, delta: Fraction) -> Exact:
    """The least ε found with ρ-zCDP ⇒ (ε, δ)-DP (``docs/proofs/conversions.md``, any order α is valid)."""
    if delta == 1 or rho == 0:
        return Fraction(0)
    if rho == math.inf or delta == 0:
        return math.inf
    assert isinstance(rho, Fraction)

    def at(order: Fraction) -> Exact:
        return upper_bound(
            lambda a, r, d: a * r - (a * d).log() / (a - 1) + (1 - 1 / a).log(), order, rho, delta
        )

    return max(Fraction(0), min(at(order) for order in _orders(rho, delta)))


def _orders(rho: Fraction, delta: Fraction) -> list[Fraction]:
    """Orders near the best one, from floats: they steer, the bound at each is rigorous anyway."""
    lost = upper_bound(lambda d: -d.log(), delta)
    assert isinstance(lost, Fraction)
    log_lost, log_rho = _log(lost), _log(rho)
    # With x = α − 1: the classical order has x² = ln(1/δ)/ρ, and the best one is not far from it.
    center = (log_lost - log_rho) / 2
    if max(abs(log_lost), abs(log_rho), 2 * abs(center)) > 600:
        return [1 + Fraction(2) ** round(center / math.log(2))]

    def value(log_excess: float) -> float:
        excess = math.exp(log_excess)
        return (
            excess * math.exp(log_rho)
            + (math.exp(log_lost) - math.log1p(excess)) / excess
            + log_excess
            - math.log1p(excess)
        )

    low, high = center - 5, center + 3
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if value(left) < value(right) else (left, high)
    return [1 + Fraction(math.exp(place)) for place in (center, (low + high) / 2)]


def _log(value: Fraction) -> float:
    """The logarithm of a positive rational, also of one that no float can hold."""
    return math.log(value.numerator) - math.log(value.denominator)
