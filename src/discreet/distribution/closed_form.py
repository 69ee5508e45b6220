"""Closed forms: the exponential mechanism, exponential randomized response, and the hardest scores.

Scores (0, −c, …, −c) with γ = c/s are the hardest case for most mechanisms
(``docs/proofs/worst-case-error.md``): there the chance of missing the best candidate has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from discreet.distribution.arguments import Floats, checked, coins
from discreet.errors import ParameterError, ScoresError


def exponential(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """The probability p_r / Σp, p = exp(−γ), that the exponential mechanism chooses each candidate.

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
        top: which candidates are in the top set (at least one).
        truth: probability of answering from the top set, in [0, 1].

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


Chance = Callable[[float], float]
"""From γ to the probability that the choice is not the best candidate."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def exponential_missed(n: int, gamma: float) -> float:
    """(n−1)p / (1 + (n−1)p) with p = e^−γ: equation 7 of the permute-and-flip paper over c.

    Example:
        >>> exponential_missed(2, 0.0)
        0.5
    """
    others = (n - 1) * math.exp(-gamma)
    return others / (1 + others)


def permute_and_flip_missed(n: int, gamma: float) -> float:
    """1 − (1 − (1−p)ⁿ)/(np) with p = e^−γ: equation 8 over c, without cancellation.

    Example:
        >>> permute_and_flip_missed(2, 0.0)
        0.5
        >>> permute_and_flip_missed(2, 40.0) == math.exp(-40) / 2
        True
    """
    return _missed_by_coins(n, math.exp(-gamma))


def _missed_by_coins(n: int, p: float) -> float:
    """∫₀¹ 1 − (1 − up)^(n−1) du."""
    mean = n * p
    if mean < 0.5:
        # Expand the integrand: the terms fall by at least the factor np/3 each, with changing signs.
        term, total, order = (n - 1) * p / 2, 0.0, 2
        while abs(term) > 1e-18 * abs(total):
            total += term
            order += 1
            term *= -(n - order + 1) * p / order
        return total
    if p == 1.0:
        return (n - 1) / n
    return (mean + math.expm1(n * math.log1p(-p))) / mean


def laplace_missed(n: int, gamma: float) -> float:
    """The same for noisy max with Laplace noise (the paper's Appendix F), to about 10⁻¹⁴.

    With w = e^(−x−γ)/2 the integral over the best candidate's noise x falls into three pieces: x below
    −γ and x above zero in closed form, and between them ∫ (p/4) w⁻² (1 − (1−w)^(n−1)) dw, smooth in ln w.

    Example:
        >>> laplace_missed(2, 0.0)
        0.5
    """
    p = math.exp(-gamma)
    outside = p / 2 - p * 2.0**-n / n + _missed_by_coins(n, p / 2) / 2
    if gamma == 0 or p == 0:
        return outside
    panels = max(1, math.ceil(gamma))
    width = gamma / panels
    logs = (-math.log(2) - gamma) + width * (np.arange(panels)[:, None] + (_NODES + 1) / 2)
    # p·e^−z stays of order one at most, so the product is formed in the exponent.
    heights = np.exp(-gamma - logs) * -np.expm1((n - 1) * np.log1p(-np.exp(logs)))
    return outside + float((heights @ _WEIGHTS).sum()) * width / 8
