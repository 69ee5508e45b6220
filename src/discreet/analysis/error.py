"""The error of a choice, its distance from the best score: mean, tail, quantile and variance.

The *error* of choosing r is q* − q_r (q_r − q* for ``optimize="min"``). All results are computed from the
mechanism's exact distribution, not from bounds or samples. **Not private**: these functions read the scores
and spend no budget, so do not publish their results on sensitive data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet._exact.gaps import Gaps
from discreet._exact.gaps.arithmetic import PAIR_LIMIT
from discreet._exact.numbers.exact import non_negative, probability, refuse
from discreet.analysis.family import required
from discreet.errors import ParameterError
from discreet.mechanisms import Mechanism
from discreet.mechanisms.facts import Floats
from discreet.scores import Scores

# Errors in float64 are off by a few units in the last place. Closer comparisons than this use exact gaps.
_DOUBTFUL = 2.0**-48
# If score differences exceed float64, errors are in units of 2 to this power.
_LARGE_UNIT = 200


@dataclass(frozen=True, slots=True)
class CandidateErrors:
    """The error of each candidate, in units of 2^power."""

    gaps: Gaps
    values: Floats
    power: int

    def mean(self, mass: Floats) -> float:
        """Return the expected error under a distribution over the candidates."""
        return self.in_scores(float(mass @ self.values))

    def in_scores(self, value: float) -> float:
        """Convert a value in units of 2^power to a score difference; ``inf`` if float64 overflows."""
        try:
            return math.ldexp(value, self.power)
        except OverflowError:
            return math.inf

    def at_least(self, least: Fraction, *, strictly: bool = False) -> npt.NDArray[np.bool_]:
        """Return a mask of the candidates with an error of at least (or ``strictly`` above) ``least``."""
        threshold = float(min(least / Fraction(2) ** self.power, Fraction(PAIR_LIMIT)))
        margin = threshold * _DOUBTFUL
        reached: npt.NDArray[np.bool_] = self.values >= threshold
        doubtful = np.abs(self.values - threshold) <= margin
        for index in np.flatnonzero(doubtful).tolist():
            error = self.gaps.exact(index) * Fraction(2) ** self.power
            reached[index] = error > least or (error == least and not strictly)
        return reached


def candidate_errors(mechanism: Mechanism, scores: Scores) -> CandidateErrors:
    """Return the error of each candidate; it depends on the mechanism's ``optimize``, not on its ε."""
    largest = required(mechanism).optimize == "max"
    if not isinstance(scores, Scores):
        raise ParameterError(
            f"expected Scores, got {type(scores).__name__}: wrap the numbers as "
            "Scores(values, sensitivity=...)"
        )
    gaps = Gaps(scores.values, scale=Fraction(1), largest_is_best=largest)
    values, _ = gaps.gammas()
    if values.max() < PAIR_LIMIT:
        return CandidateErrors(gaps, values, 0)
    gaps = Gaps(scores.values, scale=Fraction(2) ** _LARGE_UNIT, largest_is_best=largest)
    return CandidateErrors(gaps, gaps.gammas()[0], _LARGE_UNIT)


def expected_error(mechanism: Mechanism, scores: Scores) -> float:
    """Return E[q* − q_M], the mean error. **Not private**.

    Example:
        >>> from discreet import Exponential, PermuteAndFlip
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> round(expected_error(PermuteAndFlip(epsilon="0.1"), scores), 4)
        1.7262
        >>> round(expected_error(Exponential(epsilon="0.1"), scores), 4)
        2.7694
    """
    errors = candidate_errors(mechanism, scores)
    return errors.mean(mechanism.probabilities(scores))


def error_variance(mechanism: Mechanism, scores: Scores) -> float:
    """Return the variance of the error. **Not private**.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> round(error_variance(PermuteAndFlip(epsilon=1), Scores([1, 0], sensitivity=1)), 4)
        0.2113
    """
    errors = candidate_errors(mechanism, scores)
    mass = mechanism.probabilities(scores)
    mean = float(mass @ errors.values)
    return errors.in_scores(errors.in_scores(float(mass @ (errors.values - mean) ** 2)))


def error_tail(mechanism: Mechanism, scores: Scores, t: object) -> float:
    """Return Pr[error ≥ t], for t ≥ 0. **Not private**.

    A float t is taken at its exact binary value, as float scores are.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> scores = Scores([10, 8, 0], sensitivity=1)
        >>> error_tail(PermuteAndFlip(epsilon=2), scores, 0)
        1.0
        >>> round(error_tail(PermuteAndFlip(epsilon=2), scores, 2), 6)
        0.067688
    """
    least = score_difference("t", t)
    errors = candidate_errors(mechanism, scores)
    if least == 0:
        return 1.0
    return min(1.0, float(mechanism.probabilities(scores)[errors.at_least(least)].sum()))


def error_quantile(mechanism: Mechanism, scores: Scores, level: object) -> float:
    """Return the least error e with Pr[error ≤ e] ≥ ``level``. **Not private**.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> scores = Scores([10, 8, 0], sensitivity=1)
        >>> error_quantile(PermuteAndFlip(epsilon=2), scores, 0.9)
        0.0
        >>> error_quantile(PermuteAndFlip(epsilon=2), scores, 0.95)
        2.0
    """
    wanted = probability("level", level)
    return quantile_of(*error_distribution(mechanism, scores), wanted)


def quantile_of(errors: Floats, mass: Floats, level: Fraction) -> float:
    """Return the least e among ascending ``errors`` with Pr[error ≤ e] ≥ ``level``."""
    if level == 1:
        return float(errors[-1])
    # Tails are summed from the far end, because 1 − Σ would lose digits.
    beyond = np.append(np.cumsum(mass[::-1])[::-1][1:], 0.0)
    return float(errors[int(np.argmax(beyond <= float(1 - level)))])


def error_distribution(mechanism: Mechanism, scores: Scores) -> tuple[Floats, Floats]:
    """Return the errors that can occur, in ascending order, and the probability of each. **Not private**.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> errors, mass = error_distribution(PermuteAndFlip(epsilon=1), Scores([1, 3, 3], sensitivity=1))
        >>> errors, mass.round(4)
        (array([0., 2.]), array([0.8774, 0.1226]))
    """
    errors = candidate_errors(mechanism, scores)
    mass = mechanism.probabilities(scores)
    # A probability may underflow to zero, but its logarithm still shows whether the error can occur.
    possible = mass > 0 if mass.all() else mechanism.log_probabilities(scores) > -math.inf
    distinct, place = np.unique(errors.values[possible], return_inverse=True)
    together = np.bincount(place, weights=mass[possible]).astype(np.float64)
    with np.errstate(over="ignore"):
        return np.ldexp(distinct, errors.power), together


def score_difference(name: str, value: object) -> Fraction:
    """Check that a score difference is at least 0 and return it as an exact fraction."""
    if isinstance(value, float | np.floating) and not isinstance(value, bool):
        if not math.isfinite(value) or value < 0:
            raise refuse(name, value, "a finite number, 0 or above")
        return Fraction(float(value))
    if isinstance(value, Decimal | str | int | np.integer | Fraction):
        return non_negative(name, value)
    raise refuse(name, value, "a finite number, 0 or above")
