"""Permute-and-flip: candidates flip coins in random order, and the first to get heads is chosen.

The probability of r is c_r · ∫₀¹ Π_{t≠r} (1 − u·c_t) du. Each candidate flips at a uniform random time; let u
be the time of r. Every other candidate flips before u with probability u, and must then get tails. All terms
are positive, so nothing cancels. The integrals for all r use the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._exact.distribution.arguments import (
    Floats,
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

# At u = 42/Σc the integrand is below exp(−41) times its integral (Theorem 1 of the proof page).
_REACH = 42.0
# Up to this many coins are handled one by one, because splitting them into large and small would be slower.
_FEW = 256


def permute_and_flip(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """Return the probability that permute-and-flip chooses each candidate.

    The probability is p_r · ∫₀¹ Π_{t≠r} (1 − u·p_t) du with p = exp(−γ). This is Lemma 2 of the
    permute-and-flip paper with 1/(|S|+1) written as an integral.

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


def unbeaten(heads: Floats, tails: Callable[[Any], Floats]) -> Floats:
    """Return ∫₀¹ Π_{t≠r} (1 − u·c_t) du for every r: the chance that all candidates before r get tails.

    Args:
        heads: the coins c, at least one of them 1/2 or more; in a matrix, this holds for each row.
        tails: a function that returns 1 − c for the candidates at given indices, to full relative precision.
    """
    if heads.shape[-1] <= _FEW:
        return _one_by_one(heads, tails(...))
    if heads.ndim == 2:
        pairs = zip(heads, tails(...), strict=True)
        return np.stack([unbeaten(row, rest.__getitem__) for row, rest in pairs])
    total = float(heads.sum())
    cut = min(1.0, _REACH / total)
    rule = gauss_legendre(nodes_for_coins(cut * total, heads.size))
    times = cut * rule.nodes
    remaining = (1 - cut) + cut * rule.complements
    weights = cut * rule.weights
    with np.errstate(under="ignore"):
        # Few coins can be large, because cut · Σc ≤ 42. The others contribute through their power sums.
        largest = LARGEST / cut
        large = np.flatnonzero(heads > largest) if largest < 1 else np.empty(0, np.intp)
        sums = power_sums(heads, largest if large.size else None)
        factors = _factors(times, remaining, heads[large], tails(large))
        weights = weights * np.exp(log_product(sums, times)) * factors.prod(axis=1)
        result = reciprocal_sum(heads, weights, times)
        result[large] = (weights[:, None] / factors).sum(axis=0)
    return result


def _one_by_one(heads: Floats, tails: Floats) -> Floats:
    """Compute ``unbeaten`` with one factor per coin; all rows of a matrix use the same quadrature rule."""
    total = heads.sum(axis=-1, keepdims=True)
    cut = np.minimum(1.0, _REACH / total)
    rule = gauss_legendre(nodes_for_coins(float((cut * total).max()), heads.shape[-1]))
    with np.errstate(under="ignore"):
        factors = _factors(cut * rule.nodes, (1 - cut) + cut * rule.complements, heads, tails)
        weights = cut * rule.weights * factors.prod(axis=-1)
        result: Floats = (weights[..., None] / factors).sum(axis=-2)
    return result


def _factors(times: Floats, remaining: Floats, heads: Floats, tails: Floats) -> Floats:
    """Return 1 − u·c for every time and coin, without cancellation.

    Late times (u > 1/2) use (1 − c) + (1 − u)·c, because 1 − u·c cancels near u = c = 1. Early times use
    1 − u·c, because the rounding error of 1 − u would be the same for all coins and accumulate, while the
    error of u is relative to u.
    """
    heads, tails = heads[..., None, :], tails[..., None, :]
    factors = times[..., None] * heads
    np.subtract(1.0, factors, out=factors)
    late = times > 0.5
    if late.any():
        np.copyto(factors, tails + remaining[..., None] * heads, where=late[..., None])
    return factors
