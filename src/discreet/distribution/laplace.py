"""Noisy max with Laplace noise of unit scale: everyone adds noise, the largest sum is chosen.

The probability of r is ∫ f(y − q_r) Π_{t≠r} F(y − q_t) dy. Put the best score at 0, and y = −z.

* Above the best score (z < 0) every F is 1 − u·p_t/2 with u = e^z, and the integral is
  permute-and-flip's with halved coins.
* Below it F has a kink at every score. Relative to p_r = exp(−γ_r) the integrand is at most
  exp(−ψ(z)), where ψ grows by log 2 with every score that is passed and by the weight of those
  still below, so only the few dozen best scores are ever passed before what is left is negligible.
  Between two scores the integrand, as a function of 1 − e^{z−b}, has positive Taylor coefficients,
  which bounds the error of a Gauss rule relative to the integral itself (Theorems 4 and 5 of the
  proof page).

Everything is found relative to p_r, so the smallest probabilities are as precise as the largest.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from discreet.distribution.arguments import (
    Floats,
    Indices,
    checked,
    coins,
    log_times_coins,
    times_coins,
)
from discreet.distribution.coin_flips import unbeaten
from discreet.distribution.panels import Field, nodes_below
from discreet.distribution.small_coins import log_product, power_sums, reciprocal_sum

_LOG_EIGHT = math.log(8.0)
# exp(−39) is below 2⁻⁵⁶.
_DEPTH = 39.0
# Nodes handled at a time: with at most about a thousand near candidates, a few megabytes.
_BLOCK = 256


def noisy_max_laplace(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """The probability that noisy max with Laplace noise chooses each candidate.

    Args:
        gaps: γ_r ≥ 0 in units of the noise scale, the least exactly 0.
        correction: low-order part of each gap, or None.
        log: return natural logarithms.

    Example:
        Two candidates a gap g apart: the worse one wins with probability e^{−g}(1/2 + g/4).

        >>> noisy_max_laplace([0.0, 2.0]).round(12).tolist()
        [0.864664716763, 0.135335283237]
    """
    gaps, correction = checked(gaps, correction)
    if np.isinf(gaps.max()):
        finite = np.isfinite(gaps)
        result = np.full_like(gaps, -np.inf if log else 0.0)
        low = None if correction is None else correction[finite]
        result[finite] = noisy_max_laplace(gaps[finite], low, log=log)
        return result

    halves = coins(gaps, correction)
    with np.errstate(under="ignore"):
        halves *= 0.5
    total = 2.0 * float(halves.sum())
    result = unbeaten(halves, lambda which: 1.0 - halves[which])
    result *= 0.5
    # Once ψ exceeds this, what is left is below 2⁻⁵⁶ of any probability (Theorem 5).
    depth = _DEPTH + math.log(2.0 + total)
    if gaps.size == 1:
        result += 0.5
    elif 0.5 * total < depth:
        _add_below(result, gaps, correction, depth)
    if log:
        return log_times_coins(result, gaps, correction)
    halves *= 2.0
    return times_coins(result, halves)


def _add_below(result: Floats, gaps: Floats, correction: Floats | None, depth: float) -> None:
    """Add to ``result``, which is over p_r, what the region below the best score contributes."""
    # Each candidate with exp(z − γ)/2 above 1/16 adds at least 1/16 to ψ: this many include them.
    most = math.ceil(16 * depth) + 2
    nearest = np.arange(gaps.size)
    if gaps.size > most:
        nearest = np.argpartition(gaps, most)[:most]
    nearest = nearest[np.argsort(gaps[nearest], kind="stable")]
    best, second = int(nearest[0]), int(nearest[1])

    # Heights are measured from the second best: differences of nearby gaps lose nothing.
    distance = _distances(gaps, correction, nearest[1:], second)
    origin = float(gaps[second])
    beyond = 0.0
    if gaps.size > most:
        with np.errstate(under="ignore"):
            # The nearest count as one each in this sum; it only steers cut and node counts.
            beyond = float(np.exp(np.minimum(gaps[nearest[-1]] - gaps, 0.0)).sum()) - nearest.size
    field = Field(np.sort(distance), max(beyond, 0.0), origin, gaps.size)
    below = nodes_below(field, depth)

    # Those near enough are handled one by one, the rest through power sums of x = exp(z − γ)/2.
    is_near = gaps - origin <= below.deepest + _LOG_EIGHT
    is_near[best] = False
    near = np.flatnonzero(is_near)
    is_near[best] = True
    rest: Floats | None = None
    with np.errstate(under="ignore", over="ignore"):
        weights = 0.5 * below.weights
        times = np.exp(below.heights - below.deepest)
        if near.size + 1 < gaps.size:
            rest = 0.5 * np.exp(below.deepest - (gaps - origin))
            rest[is_near] = 0.0
            weights *= np.exp(log_product(power_sums(rest), times))
        from_near = _gather(weights, below.heights, _distances(gaps, correction, near, second))
        from_best = float((weights * np.exp(-(origin + below.heights))).sum())
        leading = result[best] + from_best - 0.5 * math.expm1(-below.flat)
        # Between the best score and the second, far from both, the integrand is constant.
        result += 0.25 * below.flat
        from_near += result[near]
        if rest is not None:
            result += reciprocal_sum(rest, 0.5 * weights, times)
        result[near] = from_near
        result[best] = leading


def _gather(weights: Floats, heights: Floats, distances: Floats) -> Floats:
    """Multiply every candidate's F into ``weights``; return Σ weight · f/F over exp(−γ) for each.

    With x = exp(ζ − δ), F is 1/(2x) for a score above the node and 1 − x/2 for one below; relative
    to p_r, and with the best candidate's exp(−z) taken out, f/F is 1/x and 1/(2 − x). Both
    branches agree at the score itself.
    """
    result = np.zeros_like(distances)
    shrink = np.exp(-distances)
    for start in range(0, heights.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        ratio = np.exp(heights[block])[:, None] * shrink
        factor = np.where(ratio > 1.0, 0.5 / ratio, 1.0 - 0.5 * ratio)
        weights[block] *= factor.prod(axis=1)
        kernel = np.where(ratio > 1.0, 2.0 * factor, 0.5 / factor)
        result += (weights[block, None] * kernel).sum(axis=0)
    return result


def _distances(gaps: Floats, correction: Floats | None, which: Indices, origin: int) -> Floats:
    """γ_t − γ_origin, corrections included."""
    distance: Floats = gaps[which] - gaps[origin]
    if correction is not None:
        distance += correction[which] - correction[origin]
    return distance
