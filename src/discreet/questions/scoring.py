"""From people counted to scores, noisy counts and leads.

``docs/proofs/question-sensitivities.md`` proves how far one person moves the scores,
``docs/proofs/noisy-count-and-gap.md`` what a count and a lead cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.errors import ParameterError
from discreet.gaps import Gaps
from discreet.guarantees import Guarantee
from discreet.guarantees.conversions import Proof
from discreet.mechanisms import MECHANISMS, Mechanism
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.numbers.exact import positive, probability, refuse
from discreet.sampling import Bits, SecureBits
from discreet.sampling.discrete_noise import discrete_laplace
from discreet.sampling.noisy_order import noisy_first_and_gap
from discreet.scores import Scores
from discreet.tables.counts import Counts

PAGE = "docs/proofs/question-sensitivities.md"
LARGEST_DENOMINATOR = 1_000_000
"""A quantile's level has at most this denominator, so that every score fits 64 bits."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Δ, whether one person moves all scores the same way, and the theorem that says so.

    Example:
        >>> count_sensitivity("add-remove")
        Sensitivity(delta=1, monotonic=True)
        >>> quantile_sensitivity(Fraction(9, 10), "add-remove")
        Sensitivity(delta=9, monotonic=False)
    """

    delta: int
    monotonic: bool
    theorem: str = field(default="", repr=False)

    @property
    def range_distance(self) -> int:
        """d: Δ for monotonic scores, else 2Δ."""
        return self.delta if self.monotonic else 2 * self.delta


def count_sensitivity(neighbours: str) -> Sensitivity:
    """People per candidate: one person more or less moves all counts by 0 or 1, in one direction."""
    added = neighbours == ADD_REMOVE
    return Sensitivity(1, added, "counts_add_remove" if added else "counts_replace")


def quantile_sensitivity(level: Fraction, neighbours: str) -> Sensitivity:
    """The quantile score in units of 1/b, for a level a/b in lowest terms."""
    if neighbours == REPLACE:
        return Sensitivity(level.denominator, False, "quantiles_replace")
    most = max(level.numerator, level.denominator - level.numerator)
    return Sensitivity(most, False, "quantiles_add_remove")


def resting(promise: Guarantee, sensitivity: Sensitivity) -> Guarantee:
    """A mechanism's promise for scores that one person moves so far, with what proves the two."""
    if promise.proof is None:
        return promise
    return promise.resting_on(promise.proof.then(Proof(PAGE, sensitivity.theorem)))


def level_of(at: object, *, name: str = "at") -> Fraction:
    """A quantile's level strictly between 0 and 1."""
    level = probability(name, at)
    if not 0 < level < 1 or level.denominator > LARGEST_DENOMINATOR:
        raise ParameterError(
            f"⟨{name}⟩{at!r} is not allowed: a quantile's level lies strictly between 0 and 1 and has at "
            "most six decimal places"
        )
    return level


def label_of(level: Fraction) -> str:
    """A level as people write it: a decimal where it is one, else a fraction.

    Example:
        >>> label_of(Fraction(9, 10)), label_of(Fraction(1, 3))
        ('0.9', '1/3')
    """
    decimal = str(float(level))
    return decimal if Fraction(decimal) == level else str(level)


def count_scores(people: Counts, *, neighbours: str) -> Scores:
    """One row of counts as scores."""
    return _scores(people, count_sensitivity(neighbours))


def quantile_values(people: Counts, level: Fraction) -> Counts:
    """The quantile score of every grid point, in units of 1/b for the level a/b, in one row or in many.

    −max(0, a·N − b·A_i, b·A_{i−1} − a·N), where N people fall on the grid and A_i of them at or below
    point i: zero for a true quantile, also when many people share one value.
    """
    part, whole = level.numerator, level.denominator
    up_to = np.cumsum(people, axis=-1)
    target = part * up_to[..., -1:]
    short: Counts = target - whole * up_to
    over: Counts = whole * (up_to - people) - target
    np.maximum(short, over, out=short)
    np.maximum(short, 0, out=short)
    return np.negative(short, out=short)


def quantile_scores(people: Counts, level: Fraction, *, neighbours: str) -> Scores:
    """One row of people per grid point as scores for a quantile."""
    return _scores(quantile_values(people, level), quantile_sensitivity(level, neighbours))


def choices(chooser: Mechanism, values: Counts, sensitivity: Sensitivity) -> list[int]:
    """One choice in each row of scores that one person moves so far; a single row as ``select`` draws it."""
    if len(values) == 1:
        return [chooser.select_index(_scores(values[0], sensitivity))]
    chosen = chooser.select_each(
        values, sensitivity=sensitivity.delta, monotonic=sensitivity.monotonic
    )
    found: list[int] = chosen.tolist()
    return found


def _scores(values: Counts, sensitivity: Sensitivity) -> Scores:
    return Scores(values, sensitivity=sensitivity.delta, monotonic=sensitivity.monotonic)


# ---- noisy counts and leads ----


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
