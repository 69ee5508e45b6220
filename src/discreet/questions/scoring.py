"""Turn counts of people into scores, noisy counts and leads.

``docs/proofs/question-sensitivities.md`` proves how far one person moves the scores.
``docs/proofs/noisy-count-and-gap.md`` proves what a count and a lead cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet._exact.gaps import Gaps
from discreet._exact.numbers.exact import probability, refuse
from discreet._exact.sampling import Bits
from discreet._exact.sampling.discrete_noise import discrete_laplace
from discreet._exact.sampling.noisy_order import noisy_first_and_gap
from discreet._tables.counts import Counts
from discreet.errors import ParameterError
from discreet.guarantees import (
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    Proof,
    PureDP,
)
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms import MECHANISMS, Mechanism
from discreet.mechanisms.score_rows import ScoreRows
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.costs import IN_ANSWERS, IN_RHO
from discreet.scores import Scores

LARGEST_DENOMINATOR = 1_000_000
"""A quantile's level has at most this denominator, so that every score fits 64 bits."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The sensitivity Δ under a neighbour relation, and whether one person moves all scores the same way.

    Example:
        >>> count_sensitivity("add-remove")
        Sensitivity(delta=1, monotonic=True)
        >>> quantile_sensitivity(Fraction(9, 10), "add-remove")
        Sensitivity(delta=9, monotonic=False)
    """

    delta: int
    monotonic: bool
    question: str = field(repr=False)
    neighbours: str = field(repr=False)

    @property
    def range_distance(self) -> int:
        """The range distance d: Δ for monotonic scores, else 2Δ."""
        return self.delta if self.monotonic else 2 * self.delta

    @property
    def proof(self) -> Proof:
        """The proof of the sensitivity."""
        return CLAIMS["counts" if self.question == "mode" else "quantiles", self.neighbours]


def count_sensitivity(neighbours: str) -> Sensitivity:
    """Return the sensitivity of counts: each moves by at most 1, all in one direction under add-remove."""
    return Sensitivity(1, neighbours == ADD_REMOVE, "mode", neighbours)


def quantile_sensitivity(level: Fraction, neighbours: str) -> Sensitivity:
    """Return the sensitivity of the quantile score in units of 1/b, for a level a/b in lowest terms."""
    most = max(level.numerator, level.denominator - level.numerator)
    delta = level.denominator if neighbours == REPLACE else most
    return Sensitivity(delta, False, "quantile", neighbours)


def resting(promise: Guarantee, sensitivity: Sensitivity) -> Guarantee:
    """Return a mechanism's guarantee, with the proof of the scores' sensitivity added to its own proof.

    For the three selections in the Coq file ``selections``, one theorem covers everything from the table to
    the answer. For other mechanisms the sensitivity is a separate step of the proof.
    """
    if promise.proof is None:
        return promise
    moved, whole = sensitivity.proof, dict[str, Proof]()
    if "PureDP" in promise.direct:
        whole |= {"PureDP": CLAIMS[sensitivity.question, "PureDP"], **IN_ANSWERS}
    if isinstance(promise, BoundedRange | FlippedCoins | LaplaceDominated):
        whole |= IN_RHO
    steps = {name: proof for name, proof in promise.direct.items() if name not in whole}
    direct = {name: proof.then(moved, shows=True) for name, proof in steps.items()} | whole
    return promise.resting_on(promise.proof.then(moved, shows=True), direct)


def level_of(at: object, *, name: str = "at") -> Fraction:
    """Check that a quantile's level is strictly between 0 and 1, with a denominator of at most a million."""
    try:
        level = probability(name, at)
    except ParameterError:
        level = Fraction(0)
    if not 0 < level < 1 or level.denominator > LARGEST_DENOMINATOR:
        allowed = (
            "strictly between 0 and 1, with at most six decimal places, such as 0.5 for the median"
        )
        raise refuse(name, at, allowed)
    return level


def label_of(level: Fraction) -> str:
    """Format a level as people write it: as a decimal if possible, else as a fraction.

    Example:
        >>> label_of(Fraction(9, 10)), label_of(Fraction(1, 3))
        ('0.9', '1/3')
    """
    decimal = str(float(level))
    return decimal if Fraction(decimal) == level else str(level)


def count_scores(people: Counts, *, neighbours: str) -> Scores:
    """Make scores from counts of people, one count for each candidate."""
    return _scores(people, count_sensitivity(neighbours))


def people_up_to(people: Counts, *, times: int) -> Counts:
    """Count the people up to each index, in Python integers if a count times ``times`` may exceed 64 bits."""
    up_to: Counts = np.cumsum(people, axis=-1)
    fits = int(up_to[..., -1].max(initial=0)) * times < 2**62
    return up_to if fits else up_to.astype(object)


def quantile_values(people: Counts, level: Fraction) -> Counts:
    """Compute the quantile score of every grid point, in units of 1/b for the level a/b, in one or many rows.

    The score is −max(0, a·N − b·A_i, b·A_{i−1} − a·N), where N people fall on the grid, A_i of them at or
    below point i. It is zero for a true quantile, even if many people share one value.
    """
    part, whole = level.numerator, level.denominator
    up_to = people_up_to(people, times=whole)
    target = part * up_to[..., -1:]
    short: Counts = target - whole * up_to
    over: Counts = whole * (up_to - people) - target
    np.maximum(short, over, out=short)
    np.maximum(short, 0, out=short)
    return np.negative(short, out=short)


def quantile_scores(people: Counts, level: Fraction, *, neighbours: str) -> Scores:
    """Return the quantile scores of grid points from the number of people at each of them."""
    return _scores(quantile_values(people, level), quantile_sensitivity(level, neighbours))


def choices(chooser: Mechanism, values: Counts, distance: int | Fraction, bits: Bits) -> list[int]:
    """Choose one index in each row of scores at this range distance; for one row, draw as ``select`` does."""
    if len(values) == 1:
        return [chooser._choose(Scores(values[0], range_distance=distance), bits)]
    rows = ScoreRows(values, range_distance=distance)
    found: list[int] = chooser._choose_each(rows, bits).tolist()
    return found


def _scores(values: Counts, sensitivity: Sensitivity) -> Scores:
    return Scores(values, sensitivity=sensitivity.delta, monotonic=sensitivity.monotonic)


# ---- noisy counts and leads ----


def noisy_count(true: int, epsilon: Fraction, *, bits: Bits) -> int:
    """Add discrete Laplace noise of scale 1/ε to a count, which one person changes by at most one."""
    return true + discrete_laplace(bits, 1 / epsilon)


def count_promise(epsilon: Fraction) -> PureDP:
    """Return the guarantee of a noisy count, with its proof."""
    return PureDP(epsilon).resting_on(CLAIMS["count", "PureDP"], IN_ANSWERS)


def within(epsilon: Fraction) -> int:
    """Return the least t such that the noise Z of a count lies outside ±t with probability at most 5 %.

    The probability is Pr[|Z| > t] = 2λ^(t+1)/(1 + λ) with λ = e^{−ε}.

    Example:
        >>> within(Fraction(1)), within(Fraction(1, 10))
        (3, 30)
    """
    # ε stays exact where a float would fail: 10⁻⁴⁰⁰ would become zero, and 10⁴⁰⁰ would overflow.
    beyond = math.log(0.05 / 2) + math.log1p(math.exp(-float(min(epsilon, Fraction(1000)))))
    return max(0, math.ceil(Fraction(-beyond) / epsilon - 1 - Fraction(1, 10**9)))


def require_gap(mechanism: Mechanism, candidates: int) -> None:
    """Raise an error unless this mechanism releases the lead at no extra cost and there is a runner-up."""
    if not mechanism.facts.free_gap:
        free = [name for name, make in MECHANISMS.items() if make(epsilon=1).facts.free_gap]
        raise ParameterError(
            f"⟨with_gap⟩ is not allowed with {mechanism.name}: the lead is proved to be free "
            f"only for {' and '.join(free)}"
        )
    if candidates < 2:
        raise ParameterError("⟨with_gap⟩ needs at least two candidates")


def winner_and_gap(scores: Scores, epsilon: Fraction, *, bits: Bits) -> tuple[int, int]:
    """Return the winner under exponential noise, and its lead rounded down to a whole number of people."""
    gaps = Gaps(scores.values, scale=scores.range_distance / epsilon)
    return noisy_first_and_gap(gaps, bits, unit=Fraction(1))
