"""The largest error that any data can cause, computed from n and the noise scale alone.

For permute-and-flip and the exponential mechanism, ``docs/proofs/worst-case-error.md`` proves that in the
worst case one candidate is best and all others are tied. For the exponential mechanism the page gives the
maximum in closed form. Data-free: this module reads no scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet._exact.distribution.closed_form import Chance, exponential_missed
from discreet._exact.numbers.exact import (
    Exact,
    float_down,
    float_up,
    positive_distance,
    probability,
    refuse,
    whole,
)
from discreet._exact.numbers.searches import peak
from discreet.analysis.error import score_difference
from discreet.analysis.family import noise_scale, required
from discreet.errors import ParameterError
from discreet.mechanisms import ExponentialRandomizedResponse, Mechanism
from discreet.scores import Scores


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The largest expected error over all data, and the scores that cause it.

    Attributes:
        error: the expected error at the worst scores.
        gap: how far all other candidates lie below the best one; for a staircase, the height of one step.
        p: exp(−gap/s), the maximiser of equations 7 and 8 of the permute-and-flip paper.
        proved: whether it is proved that no scores are worse; if False, this is the worst of the shapes
            searched.
        shape: ``"others tied"`` or ``"staircase"``.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> worst = worst_case(PermuteAndFlip(epsilon=1), 10)
        >>> worst.shape, worst.proved, worst.error < 5
        ('others tied', True, True)
    """

    error: float
    gap: float
    p: float
    proved: bool
    shape: str = "others tied"

    def __float__(self) -> float:
        return self.error


def worst_case_error(
    mechanism: Mechanism,
    n: int,
    sensitivity: object = 1,
    monotonic: bool = False,
    *,
    gap: object = 0,
) -> float:
    """Return the largest expected error on any data with n candidates. Data-free.

    If no maximum is proved for the mechanism, this is the largest error found (``WorstCase.proved``).

    Example:
        >>> from discreet import Exponential, PermuteAndFlip
        >>> round(worst_case_error(PermuteAndFlip(epsilon=1), 1024), 4)
        8.5704
        >>> round(worst_case_error(Exponential(epsilon=1), 1024), 4)
        8.8797
    """
    return worst_case(mechanism, n, sensitivity, monotonic, gap=gap).error


def worst_case(
    mechanism: Mechanism,
    n: int,
    sensitivity: object = 1,
    monotonic: bool = False,
    *,
    gap: object = 0,
) -> WorstCase:
    """Return the worst-case error with the scores that cause it.

    Args:
        mechanism: a mechanism with its ε or scale.
        n: the number of candidates.
        sensitivity: Δ of the scores.
        monotonic: whether one person moves all scores in the same direction.
        gap: only scores whose runner-up is at least this far below the best are considered.

    Example:
        >>> from discreet import Exponential
        >>> worst = worst_case(Exponential(epsilon=2), 2)
        >>> round(worst.error, 6), round(worst.gap, 6), worst.proved
        (0.278465, 1.278465, True)
    """
    n, scale, delta, least = _public(mechanism, n, sensitivity, monotonic, gap)
    distance = delta if monotonic else 2 * delta
    proved = mechanism.facts.hardest_known
    if n == 1:
        return WorstCase(0.0, 0.0, 1.0, True)
    if scale == 0:
        return _noiseless(mechanism, n, delta, least)
    if isinstance(mechanism, ExponentialRandomizedResponse):
        return _worst_response(mechanism, n, scale=scale, delta=delta, least=least)
    chance = missed_chance(mechanism, n, step=delta / scale, distance=distance / scale)
    gamma = peak(lambda g: g * chance(g), float_up(least / scale), math.log(n) + 20)
    error = float_up(scale) * gamma * chance(gamma) if chance(gamma) else 0.0
    return WorstCase(error, float_up(scale) * gamma, math.exp(-gamma), proved)


def worst_case_tail(
    mechanism: Mechanism,
    n: int,
    t: object,
    sensitivity: object = 1,
    monotonic: bool = False,
    *,
    gap: object = 0,
) -> float:
    """Return the largest Pr[error ≥ t] that any data can cause, for t above zero.

    For noisy max with any noise, which includes permute-and-flip and the exponential mechanism, the maximum
    occurs when all other candidates lie exactly t (or the gap, if larger) below the best one. For any other
    mechanism, the result is the largest value found among tied scores.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> worst_case_tail(PermuteAndFlip(scale=1), 2, 1) == math.exp(-1) / 2
        True
    """
    n, scale, delta, least = _public(mechanism, n, sensitivity, monotonic, gap)
    away = max(score_difference("t", t), least)
    if away == 0:
        return 1.0
    if n == 1:
        return 0.0
    if scale == 0:
        chained = math.inf if away <= delta else Fraction(0)
        return missed_chance(mechanism, n, step=chained, distance=math.inf)(math.inf)
    distance = delta if monotonic else 2 * delta
    chance = missed_chance(mechanism, n, step=delta / scale, distance=distance / scale)
    return chance(float_up(away / scale))


def _public(
    mechanism: Mechanism, n: object, sensitivity: object, monotonic: object, gap: object
) -> tuple[int, Fraction, Fraction, Fraction]:
    """Check and return n, the noise scale, Δ and the least gap."""
    count = whole("n", n)
    if not isinstance(monotonic, bool):
        raise ParameterError(f"⟨monotonic⟩{monotonic!r} is not allowed: it must be True or False")
    delta = positive_distance("sensitivity", sensitivity)
    least = score_difference("gap", gap)
    scale = noise_scale(required(mechanism), delta if monotonic else 2 * delta)
    return count, scale, delta, least


def _noiseless(mechanism: Mechanism, n: int, delta: Fraction, least: Fraction) -> WorstCase:
    """Return the worst case without noise: no error, except for complete exponential randomized response."""
    chained = (
        isinstance(mechanism, ExponentialRandomizedResponse) and mechanism.variant == "complete"
    )
    if not chained or least > delta:
        return WorstCase(0.0, 0.0, 1.0, True)
    assert isinstance(mechanism, ExponentialRandomizedResponse)
    error = float(mechanism.truth * delta * (n - 1) / 2)
    return WorstCase(error, float(delta), 0.0, True, "staircase")


def _worst_response(
    mechanism: ExponentialRandomizedResponse,
    n: int,
    *,
    scale: Fraction,
    delta: Fraction,
    least: Fraction,
) -> WorstCase:
    """Return the worst of three cases: a single best candidate, all tied within Δ, or a staircase.

    With a single best candidate (equation 15 of the paper on exponential randomized response), the error is
    1 − π times that of the exponential mechanism. With all candidates in the top set (equation 16), the
    choice is uniform with probability π and then misses the best with probability (n−1)/n. On a staircase
    with steps of Δ, a uniform choice is (n−1)/2 steps off on average, so no bound proportional to ln n holds
    at any ε. For the naive variant only the first case is needed.
    """
    truth, step, low = float(mechanism.truth), float_up(delta / scale), float_up(least / scale)
    noise = float_up(scale)
    naive = mechanism.variant == "naive"
    chance = missed_chance(mechanism, n, step=delta / scale, distance=2 * delta / scale)

    def kept(gamma: float) -> float:
        missed = exponential_missed(n, gamma)
        return (1 - truth) * gamma * missed if missed else 0.0

    alone = peak(kept, low if naive else max(low, step), math.log(n) + 20)
    found = [
        WorstCase(
            noise * kept(alone) if kept(alone) else 0.0, noise * alone, math.exp(-alone), naive
        )
    ]
    if naive:
        return found[0]
    if low > step:
        # No other candidate can join the best in the top set, so the exponential mechanism's proof applies.
        return WorstCase(found[0].error, found[0].gap, found[0].p, True)
    tied = float(delta) * chance(step)
    found.append(WorstCase(tied, float(delta), math.exp(-step), False))
    stairs = float(delta) * ((1 - truth) * _mean_step(n, step) + truth * (n - 1) / 2)
    found.append(WorstCase(stairs, float(delta), math.exp(-step), False, "staircase"))
    return max(found, key=float)


def _mean_step(n: int, step: float) -> float:
    """Return the exponential mechanism's mean error on a staircase of n candidates, in steps.

    This is Σ j·x^j / Σ x^j over j < n with x = e^−step.
    """
    if n * step < 1e-4:
        return (n - 1) / 2 - (n * n - 1) * step / 12
    first = 1 / math.expm1(step) if step < 700 else 0.0
    return first - (n / math.expm1(n * step) if n * step < 700 else 0.0)


_LARGEST_GENERAL = 1_000_000
_FAR = Fraction(10) ** 300


def missed_chance(mechanism: Mechanism, n: int, *, step: Exact, distance: Exact) -> Chance:
    """Return the probability of missing the best candidate, as a function of the gap γ.

    All other candidates are tied at γ below the best one, in units of the noise scale s. Most mechanisms need
    only γ; a few also need Δ/s (``step``) or d/s (``distance``).

    Example:
        >>> from discreet import PermuteAndFlip
        >>> missed_chance(PermuteAndFlip(epsilon=1), 4, step=Fraction(1, 2), distance=Fraction(1))(0.0)
        0.75
    """
    closed = mechanism.facts.missed
    if closed is not None:
        return lambda gamma: closed(n, gamma)
    if isinstance(mechanism, ExponentialRandomizedResponse):
        truth = float(mechanism.truth)
        chained = mechanism.variant == "complete"

        def missed(gamma: float) -> float:
            everyone = gamma == 0 or (chained and gamma <= float_up(step))
            return (1 - truth) * exponential_missed(n, gamma) + truth * (n - 1) / n * everyone

        return missed
    return _from_probabilities(mechanism, n, distance)


def _from_probabilities(mechanism: Mechanism, n: int, distance: Exact) -> Chance:
    """Return ``missed_chance`` for a mechanism without a closed form, from its probabilities."""
    if n > _LARGEST_GENERAL:
        raise refuse(
            "n", n, f"at most {_LARGEST_GENERAL} for {mechanism.name}, which has no closed form"
        )
    rest = {
        k: v for k, v in mechanism.parameters().items() if k not in ("epsilon", "scale", "optimize")
    }
    unit = type(mechanism)(scale=1, **rest)

    def missed(gamma: float) -> float:
        # Beyond this limit every probability is zero, and infinity would not be a valid score.
        values = np.full(n, -min(gamma, 1e300))
        values[0] = 0.0
        return float(
            unit.probabilities(Scores(values, range_distance=min(distance, _FAR)))[1:].sum()
        )

    return missed


# ---- bounds in closed form: looser, but easy to compute by hand -----------------------------------------


def _scale(epsilon: object, sensitivity: object, monotonic: bool) -> Fraction:
    """Return the noise scale d/ε."""
    delta = positive_distance("sensitivity", sensitivity)
    return (delta if monotonic else 2 * delta) / Fraction(positive_distance("epsilon", epsilon))


def expected_error_bound(
    epsilon: object, n: int, *, sensitivity: object = 1, monotonic: bool = False
) -> float:
    """Return (d/ε)·ln n, an upper bound on the mean error of the exponential mechanism and permute-and-flip.

    See Proposition 1 and Corollary 1 of the permute-and-flip paper, and Proposition 11 of the noisy-max
    paper.

    Example:
        >>> round(expected_error_bound(1, 1024), 3)
        13.863
    """
    logarithm = Fraction(math.log(whole("n", n)))
    return float_up(_scale(epsilon, sensitivity, monotonic) * logarithm)


def error_bound(
    epsilon: object,
    n: int,
    *,
    with_probability: object,
    sensitivity: object = 1,
    monotonic: bool = False,
) -> float:
    """Return (d/ε)·ln(n/β), an upper bound on the error that holds with probability 1 − β.

    The bound is for the exponential mechanism and permute-and-flip; see ``expected_error_bound``.

    Example:
        >>> round(error_bound(1, 1024, with_probability="0.95"), 3)
        19.854
    """
    beta = 1 - probability("with_probability", with_probability)
    if beta == 0:
        raise refuse("with_probability", with_probability, "below 1")
    # The number of tuples or sets may exceed the limit of ``whole``, so large integers skip that check.
    ways = n if type(n) is int and n > 1 else whole("n", n)
    return error_bound_at(_scale(epsilon, sensitivity, monotonic), ways, beta=beta)


def error_bound_at(scale: Fraction, n: int, *, beta: Fraction) -> float:
    """Return ``error_bound`` at the noise scale s = d/ε; infinite if it exceeds every float."""
    log_beta = math.log(beta.numerator) - math.log(beta.denominator)  # a float of β may be zero
    return float_up(scale * Fraction(math.log(n) - log_beta))


def worst_case_lower_bound(
    epsilon: object, n: int, *, sensitivity: object = 1, monotonic: bool = False
) -> float:
    """Return (d/4ε)·ln n, rounded down: a lower bound on the worst-case mean error (Proposition 5).

    On some data, the exponential mechanism and permute-and-flip have at least this mean error.

    Example:
        >>> round(worst_case_lower_bound(1, 1024), 3)
        3.466
    """
    logarithm = Fraction(math.nextafter(math.log(whole("n", n)), 0.0))
    return float_down(_scale(epsilon, sensitivity, monotonic) * logarithm / 4)
