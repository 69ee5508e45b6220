"""A noisy count of an answer, and the winner with its lead: what is asked right after "which?".

Proofs: ``docs/proofs/noisy-count-and-gap.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.gaps import Gaps
from discreet.mechanisms import MECHANISMS, Mechanism
from discreet.numbers.exact import positive, refuse
from discreet.sampling import Bits, SecureBits
from discreet.sampling.discrete_noise import discrete_laplace
from discreet.sampling.noisy_order import noisy_first_and_gap
from discreet.scores import Scores


def share_of(wanted: bool, share: object, *, name: str = "count_share") -> Fraction:
    """The part of ε that counts get: zero if they are not wanted."""
    if not wanted:
        return Fraction(0)
    part = positive(name, share)
    if part >= 1:
        raise refuse(name, share, "strictly between 0 and 1")
    return part


def noisy_count(true: int, epsilon: Fraction, *, bits: Bits | None = None) -> int:
    """The count plus discrete Laplace noise of scale 1/ε: one person changes a count by at most one."""
    return true + discrete_laplace(SecureBits() if bits is None else bits, 1 / epsilon)


def within(epsilon: Fraction, *, failing: float = 0.05) -> int:
    """The least t with Pr[|noise| > t] ≤ ``failing``, from Pr[|Z| > t] = 2λ^(t+1)/(1 + λ), λ = e^{−ε}.

    Example:
        >>> within(Fraction(1)), within(Fraction(1, 10))
        (3, 30)
    """
    # Floats only where any ε has one: 10⁻⁴⁰⁰ is zero there, and 10⁴⁰⁰ none at all.
    beyond = math.log(failing / 2) + math.log1p(math.exp(-float(min(epsilon, Fraction(1000)))))
    return max(0, math.ceil(Fraction(-beyond) / epsilon - 1 - Fraction(1, 10**9)))


def require_gap(mechanism: Mechanism, candidates: int) -> None:
    """An error unless the lead is free for this mechanism and there is a runner-up."""
    if not mechanism.facts.free_gap:
        free = [name for name, make in MECHANISMS.items() if make(epsilon=1).facts.free_gap]
        raise ParameterError(
            f"⟨with_gap⟩ is not allowed with {mechanism.name}: the lead is proved free for "
            f"{' and '.join(free)}"
        )
    if candidates < 2:
        raise ParameterError("⟨with_gap⟩ needs two candidates at least")


def winner_and_gap(
    scores: Scores, epsilon: Fraction, *, bits: Bits | None = None
) -> tuple[int, int]:
    """The winner under exponential noise, and its lead rounded down to a whole number of people."""
    gaps = Gaps(scores.values, scale=scores.range_distance / epsilon)
    return noisy_first_and_gap(gaps, SecureBits() if bits is None else bits, unit=Fraction(1))
