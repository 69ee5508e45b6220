"""From one privacy cost to another: the formulas, rounded up in ball arithmetic, and what proves each step.

:mod:`discreet.guarantees` is the only caller that users need. A guarantee rests on pages of ``docs/proofs``,
and on theorems of ``proofs/Statements.v`` that Coq's kernel accepts (``docs/proofs/checked-by-coq.md``): the
mathematics is checked, not this code. Where one step has no theorem the guarantee is proved on paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.numbers.balls import upper_bound
from discreet.numbers.exact import Exact


@dataclass(frozen=True, slots=True)
class Proof:
    """The pages that prove a guarantee, and the theorems that Coq has checked, if that covers every step.

    Example:
        >>> print(Proof("docs/proofs/exponential.md", "exponential_bounded_range"))
        docs/proofs/exponential.md: exponential_bounded_range, checked by Coq
        >>> print(Proof("docs/proofs/concentrated.md"))
        docs/proofs/concentrated.md: proved on paper
    """

    pages: tuple[str, ...]
    theorems: tuple[str, ...]

    def __init__(self, page: str | tuple[str, ...], *theorems: str) -> None:
        object.__setattr__(self, "pages", (page,) if isinstance(page, str) else page)
        object.__setattr__(self, "theorems", theorems)

    @property
    def checked(self) -> bool:
        """Whether Coq has checked every step; if not, the proof is on paper."""
        return bool(self.theorems)

    def then(self, step: Proof) -> Proof:
        """This proof and what follows from it by one more step; on paper if either is.

        Example:
            >>> first = Proof("docs/proofs/exponential.md", "exponential_bounded_range")
            >>> first.then(Proof("docs/proofs/concentrated.md")).checked
            False
        """
        pages = tuple(dict.fromkeys(self.pages + step.pages))
        both = self.checked and step.checked
        return Proof(pages, *(dict.fromkeys(self.theorems + step.theorems) if both else ()))

    def __str__(self) -> str:
        how = f"{', '.join(self.theorems)}, checked by Coq" if self.checked else "proved on paper"
        return f"{', '.join(self.pages)}: {how}"


_CONVERSIONS = "docs/proofs/conversions.md"
_CONCENTRATED = Proof("docs/proofs/concentrated.md")  # the exact constants are proved on paper
_DOMINANCE = "docs/proofs/laplace-dominance.md"
_NEIGHBOURS = "docs/proofs/neighbours.md"
_COMPOSITION = "docs/proofs/composition.md"

STEPS: dict[tuple[str, str], Proof] = {
    ("PureDP", "BoundedRange"): Proof(_CONVERSIONS, "pure_to_bounded_range"),
    ("PureDP", "ZCDP"): _CONCENTRATED,
    ("PureDP", "ApproxDP"): Proof(_CONVERSIONS, "pure_to_approx"),
    ("BoundedRange", "PureDP"): Proof(_CONVERSIONS, "bounded_range_to_pure"),
    ("BoundedRange", "ZCDP"): _CONCENTRATED,
    ("BoundedRange", "ApproxDP"): Proof(_CONVERSIONS, "bounded_range_to_approx"),
    ("LaplaceDominated", "PureDP"): Proof(_DOMINANCE, "dominated_pure_dp"),
    ("LaplaceDominated", "BoundedRange"): Proof(
        (_DOMINANCE, _CONVERSIONS), "dominated_pure_dp", "pure_to_bounded_range"
    ),
    ("LaplaceDominated", "ZCDP"): _CONCENTRATED,
    ("LaplaceDominated", "ApproxDP"): Proof(_DOMINANCE, "dominated_to_approx"),
    ("FlippedCoins", "PureDP"): Proof(_DOMINANCE, "dominated_pure_dp"),
    ("FlippedCoins", "BoundedRange"): Proof(
        "docs/proofs/bounded-range-refuted.md", "permute_and_flip_bounded_range"
    ),
    ("FlippedCoins", "ZCDP"): _CONCENTRATED,
    ("FlippedCoins", "ApproxDP"): Proof(_DOMINANCE, "dominated_to_approx"),
    ("ZCDP", "ApproxDP"): Proof(_CONVERSIONS, "zcdp_to_approx"),
    ("ApproxDP", "PureDP"): Proof(_CONVERSIONS, "approx_to_approx"),
    ("ApproxDP", "BoundedRange"): Proof(_CONVERSIONS, "pure_to_bounded_range"),
    ("ApproxDP", "ZCDP"): _CONCENTRATED,
    ("ApproxDP", "ApproxDP"): Proof(_CONVERSIONS, "approx_to_approx"),
    ("PureDP", "people"): Proof(_NEIGHBOURS, "pure_for_people"),
    ("BoundedRange", "people"): Proof(_NEIGHBOURS, "bounded_range_for_people"),
    ("LaplaceDominated", "people"): Proof(_DOMINANCE, "dominated_for_people"),
    ("FlippedCoins", "people"): Proof(_DOMINANCE, "dominated_for_people"),
    ("ZCDP", "people"): Proof(_NEIGHBOURS, "zcdp_for_people"),
    ("ApproxDP", "people"): Proof(_NEIGHBOURS, "approx_for_people"),
    ("PureDP", "sum"): Proof(_COMPOSITION, "adaptive_pure_composition"),
    ("ZCDP", "sum"): Proof(_COMPOSITION, "adaptive_zcdp_composition"),
    ("ApproxDP", "sum"): Proof(_COMPOSITION, "adaptive_approx_composition"),
}
"""What proves each step from a measure to another, to several people, or to a sum of releases."""


def step_from(proof: Proof | None, measure: str, to: str) -> Proof | None:
    """A proof and one more step of the table; None if nothing proves the start or the step."""
    step = STEPS.get((measure, to))
    return proof.then(step) if proof is not None and step is not None else None


# ---- the formulas, each with its proof ----


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
    log_lost, log_rho = _log_of_lost(delta), _log(rho)
    # With x = α − 1: the classical order has x² = ln(1/δ)/ρ, and the best one is not far from it.
    center = (log_lost - log_rho) / 2
    if max(abs(log_lost), abs(log_rho), 2 * abs(center)) > 600:
        return [1 + Fraction(2) ** round(center / math.log(2))]
    lost, cost = math.exp(log_lost), math.exp(log_rho)

    def value(log_excess: float) -> float:
        excess = math.exp(log_excess)
        log_order = math.log1p(excess)
        return excess * cost + (lost - log_order) / excess + log_excess - log_order

    low, high = center - 5, center + 3
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if value(left) < value(right) else (left, high)
    return [1 + Fraction(math.exp(place)) for place in (center, (low + high) / 2)]


@lru_cache(maxsize=64)
def _log_of_lost(delta: Fraction) -> float:
    """The logarithm of ln(1/δ): the same for whatever is converted at one δ."""
    lost = upper_bound(lambda d: -d.log(), delta)
    assert isinstance(lost, Fraction)
    return _log(lost)


def _log(value: Fraction) -> float:
    """The logarithm of a positive rational, also of one that no float can hold."""
    return math.log(value.numerator) - math.log(value.denominator)
