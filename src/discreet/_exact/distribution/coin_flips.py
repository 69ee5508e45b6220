"""Permute-and-flip: candidates in random order, each tosses a coin, the first heads is chosen.

The probability of r is c_r · ∫₀¹ Π_{t≠r} (1 − u·c_t) du: the time u at which r comes up is uniform,
and everyone who came up earlier (each with probability u) must have tossed tails. All terms are
positive, so nothing cancels; the integral is found once for all r from shared nodes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from discreet._exact.distribution.arguments import (
    Floats,
    Indices,
    checked,
    coins,
    log_times_coins,
    times_coins,
)
from discreet._exact.distribution.quadrature import (
    LARGEST,
    gauss_legendre,
    log_product,
    nodes_for_coins,
    power_sums,
    reciprocal_sum,
)

# The integrand has fallen below exp(−41) of its integral at u = 42/Σc (Theorem 1 of the proof
# page).
_REACH = 42.0
# Up to here every coin is treated one by one; the split into large and small would cost more.
_FEW = 256


def permute_and_flip(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """The probability that permute-and-flip chooses each candidate.

    p_r · ∫₀¹ Π_{t≠r} (1 − u·p_t) du with p = exp(−γ), which is Lemma 2 of the permute-and-flip
    paper with 1/(|S|+1) written as an integral.

    Example:
        >>> permute_and_flip([0.0, 0.0, np.log(2)]).round(12).tolist()
        [0.416666666667, 0.416666666667, 0.166666666667]
    """
    gaps, correction = checked(gaps, correction)
    heads = coins(gaps, correction)
    result = unbeaten(heads, lambda which: -np.expm1(-gaps[which]))
    if log:
        return log_times_coins(result, gaps, correction)
    return times_coins(result, heads)


def unbeaten(heads: Floats, tails: Callable[[Indices | slice], Floats]) -> Floats:
    """∫₀¹ Π_{t≠r} (1 − u·c_t) du for every r: the chance that nobody before r tosses heads.

    Args:
        heads: the coins c, at least one of them 1/2 or more.
        tails: 1 − c of the candidates asked for, to full relative precision.
    """
    total = float(heads.sum())
    cut = min(1.0, _REACH / total)
    rule = gauss_legendre(nodes_for_coins(cut * total, heads.size))
    times = cut * rule.nodes
    remaining = (1 - cut) + cut * rule.complements
    weights = cut * rule.weights
    with np.errstate(under="ignore"):
        if heads.size <= _FEW:
            factors = _factors(times, remaining, heads, tails(slice(None)))
            weights = weights * factors.prod(axis=1)
            direct: Floats = (weights[:, None] / factors).sum(axis=0)
            return direct

        # Few coins can be large, for cut · Σc ≤ 42; the others enter through their power sums.
        largest = LARGEST / cut
        large = np.flatnonzero(heads > largest) if largest < 1 else np.empty(0, np.intp)
        sums = power_sums(heads, largest if large.size else None)
        factors = _factors(times, remaining, heads[large], tails(large))
        weights = weights * np.exp(log_product(sums, times)) * factors.prod(axis=1)
        result = reciprocal_sum(heads, weights, times)
        result[large] = (weights[:, None] / factors).sum(axis=0)
    return result


def _factors(times: Floats, remaining: Floats, heads: Floats, tails: Floats) -> Floats:
    """1 − u·c for every time and coin, without cancellation.

    Late, near u = c = 1, it is (1 − c) + (1 − u)·c. Early it is not: the rounding of 1 − u would be
    the same for all coins and add up, while that of u is relative to u.
    """
    factors = 1.0 - np.outer(times, heads)
    late = times > 0.5
    factors[late] = tails + np.outer(remaining[late], heads)
    return factors
