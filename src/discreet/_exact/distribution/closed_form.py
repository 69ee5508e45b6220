"""Closed forms: the exponential mechanism's probabilities, and the chance of a miss on the hardest scores.

Scores (0, −c, …, −c) with γ = c/s are the hardest case for most mechanisms
(``docs/proofs/worst-case-error.md``). For these scores, the chance of missing the best candidate has a closed
form; for Laplace noise, one smooth integral remains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from discreet._exact.distribution.arguments import Floats, checked, coins


def exponential(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """Return each candidate's probability p_r / Σp, with p = exp(−γ), under the exponential mechanism.

    Example:
        >>> exponential([0.0, np.log(3)]).round(12).tolist()
        [0.75, 0.25]
    """
    gaps, correction = checked(gaps, correction)
    weights = coins(gaps, correction)
    total = weights.sum(axis=-1, keepdims=True)
    if not log:
        weights /= total
        return weights
    result: Floats = np.broadcast_to(-np.log(total), gaps.shape).copy()
    if correction is not None:
        result -= correction
    result -= gaps
    return result


Chance = Callable[[float], float]
"""A function from γ to the probability of missing the best candidate."""


@cache
def twenty_nodes() -> tuple[Floats, Floats]:
    """Return the nodes and weights of the Gauss–Legendre rule with twenty nodes on [−1, 1], as floats.

    The first call loads ``numpy.polynomial``.
    """
    return np.polynomial.legendre.leggauss(20)


def exponential_missed(n: int, gamma: float) -> float:
    """Return the chance (n−1)p / (1 + (n−1)p), p = e^−γ, that the exponential mechanism misses the best.

    This is equation 7 of the permute-and-flip paper, divided by c.

    Example:
        >>> exponential_missed(2, 0.0)
        0.5
    """
    others = (n - 1) * math.exp(-gamma)
    return others / (1 + others)


def permute_and_flip_missed(n: int, gamma: float) -> float:
    """Return the chance 1 − (1 − (1−p)ⁿ)/(np), p = e^−γ, that permute-and-flip misses the best.

    This is equation 8 of the permute-and-flip paper, divided by c and computed without cancellation.

    Example:
        >>> permute_and_flip_missed(2, 0.0)
        0.5
        >>> permute_and_flip_missed(2, 40.0) == math.exp(-40) / 2
        True
    """
    return _missed_by_coins(n, math.exp(-gamma))


def _missed_by_coins(n: int, p: float) -> float:
    """Return ∫₀¹ 1 − (1 − up)^(n−1) du."""
    mean = n * p
    if mean < 0.5:
        # Expand the integrand: each term is at most np/3 times the one before, with alternating signs.
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
    """Return the chance that noisy max with Laplace noise misses the best, to about 10⁻¹⁴.

    It is an integral over the best candidate's noise x (Appendix F of the permute-and-flip paper), which has
    three pieces. The pieces with x below −γ and x above zero have closed forms. With w = e^(−x−γ)/2, the
    middle one is ∫ (p/4) w⁻² (1 − (1−w)^(n−1)) dw, whose integrand is smooth in ln w.

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
    nodes, weights = twenty_nodes()
    logs = (-math.log(2) - gamma) + width * (np.arange(panels)[:, None] + (nodes + 1) / 2)
    # p·e^−z is at most of order one, so the product is computed in the exponent.
    heights = np.exp(-gamma - logs) * -np.expm1((n - 1) * np.log1p(-np.exp(logs)))
    return outside + float((heights @ weights).sum()) * width / 8
