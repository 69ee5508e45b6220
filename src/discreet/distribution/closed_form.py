"""Closed forms: the exponential mechanism and exponential randomized response."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from discreet.distribution.arguments import Floats, checked, coins
from discreet.errors import ParameterError, ScoresError


def exponential(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """The probability p_r / Σp, p = exp(−γ), that the exponential mechanism chooses each candidate.

    Args:
        gaps: γ_r ≥ 0, the least exactly 0.
        correction: low-order part of each gap, or None.
        log: return natural logarithms.

    Example:
        >>> exponential([0.0, np.log(3)]).round(12).tolist()
        [0.75, 0.25]
    """
    gaps, correction = checked(gaps, correction)
    weights = coins(gaps, correction)
    total = float(weights.sum())
    if not log:
        weights /= total
        return weights
    result = np.full_like(gaps, 0.0 - math.log(total))
    if correction is not None:
        result -= correction
    result -= gaps
    return result


def exponential_randomized_response(
    gaps: npt.ArrayLike,
    top: npt.ArrayLike,
    truth: float,
    *,
    correction: npt.ArrayLike | None = None,
    log: bool = False,
) -> Floats:
    """The probability that exponential randomized response chooses each candidate.

    (1 − truth) · p_r/Σp, and for the m candidates of the top set another truth/m: with probability
    ``truth`` the answer is a uniform member of the top set, otherwise the exponential mechanism's.
    This mechanism is not differentially private; its distribution is here so that it can be
    audited.

    Args:
        gaps: γ_r ≥ 0, the least exactly 0.
        top: which candidates are in the top set (at least one).
        truth: probability of answering from the top set, in [0, 1].
        correction: low-order part of each gap, or None.
        log: return natural logarithms.

    Example:
        >>> exponential_randomized_response([0.0, np.log(3)], [True, False], 0.5).round(12).tolist()
        [0.875, 0.125]
    """
    if not 0.0 <= truth <= 1.0:
        raise ParameterError(f"truth must be a probability from 0 to 1, not {truth!r}")
    result = exponential(gaps, correction, log=log)
    members = np.asarray(top)
    if members.dtype != np.bool_ or members.shape != result.shape:
        raise ScoresError("the top set must be given as one boolean for each candidate")
    count = int(np.count_nonzero(members))
    if count == 0:
        raise ScoresError("the top set must not be empty")
    if not log:
        result *= 1.0 - truth
        result[members] += truth / count
        return result
    result += math.log1p(-truth) if truth < 1.0 else -math.inf
    if truth > 0.0:
        result[members] = np.logaddexp(result[members], math.log(truth / count))
    return result
