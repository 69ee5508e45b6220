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
from dataclasses import dataclass

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
from discreet._exact.distribution.coin_flips import unbeaten
from discreet._exact.distribution.quadrature import (
    gauss_legendre,
    log_product,
    nodes_for_panels,
    power_sums,
    reciprocal_sum,
)

_LOG_EIGHT = math.log(8.0)
# exp(−39) is below 2⁻⁵⁶.
_DEPTH = 39.0
# Nodes handled at a time: with at most about a thousand near candidates, a few megabytes.
_BLOCK = 256


def noisy_max_laplace(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """The probability that noisy max with Laplace noise chooses each candidate.

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


# ---- where to look below the best score: panels between the scores, and the nodes on them --------------
#
# Heights ζ are measured downwards from the second best score (ζ = z − γ_2), so the best score is at −origin
# and the candidates, apart from the best, are at their distances δ_t ≥ 0 from the second.

_LOG_TWO = math.log(2.0)
_NEGLIGIBLE = 57 * _LOG_TWO
# A panel no longer than this, and with (1 + k + W) · length no more than that, needs about 20
# nodes.
_LONGEST = 1.0
_HEAVIEST = 12.0


@dataclass(frozen=True, slots=True)
class Field:
    """The candidates other than the best: the nearest one by one, the others as one weight.

    ``beyond`` is Σ exp(δ_last − δ_t) over the candidates behind the last of ``distances``.
    """

    distances: Floats
    beyond: float
    origin: float
    size: int

    def weight(self, heights: Floats) -> Floats:
        """W at each height: Σ exp(ζ − δ_t) over the candidates whose score is not above it."""
        return self._weight(heights, heights[:, None] - self.distances)

    def decay(self, heights: Floats) -> Floats:
        """ψ at each height: minus the log of a bound on the integrand over p_r (Theorem 5)."""
        above = heights[:, None] - self.distances
        passed = np.count_nonzero(above > 0.0, axis=1)
        result: Floats = 0.5 * self._weight(heights, above) + (1 + passed) * _LOG_TWO
        result += np.maximum(above, 0.0).sum(axis=1)
        return result

    def _weight(self, heights: Floats, above: Floats) -> Floats:
        near: Floats = np.where(above > 0.0, 0.0, np.exp(np.minimum(above, 0.0))).sum(axis=1)
        near += self.beyond * np.exp(np.minimum(heights - self.distances[-1], 0.0))
        return near


@dataclass(frozen=True, slots=True)
class Nodes:
    """Heights and weights of the nodes; none lies deeper than ``deepest``.

    ``flat`` is the length, starting at the best score, on which the integrand over p_r is constant
    for everyone but the best, and which therefore needs no nodes.
    """

    heights: Floats
    weights: Floats
    deepest: float
    flat: float


def nodes_below(field: Field, depth: float) -> Nodes:
    """Nodes from the best score down to where ψ has reached ``depth``."""
    last = field.distances[-1:]
    with np.errstate(under="ignore"):
        everyone_passed = field.distances.size + 1 == field.size and field.decay(last)[0] < depth
        deepest = float(last[0]) if everyone_passed else _deepest(field, depth)
        total = float(field.weight(np.zeros(1))[0])
        start = max(-field.origin, -_NEGLIGIBLE - math.log(total))
        heights, weights = _nodes_between(field, start, deepest)
    if everyone_passed:
        # Below every score the integrand is exp(−n·ζ): one node with weight 1/n is exact.
        heights.append(last)
        weights.append(np.array([1.0 / field.size]))
    return Nodes(np.concatenate(heights), np.concatenate(weights), deepest, field.origin + start)


def _deepest(field: Field, depth: float) -> float:
    """A height, not much too deep, at which ψ ≥ depth: ψ is increasing, and ψ(depth) > depth."""
    shallow = max(-field.origin, -math.log(field.size) - 1.0)
    deep = depth
    for _ in range(3):
        grid = np.linspace(shallow, deep, 9)[1:]
        place = int(np.argmax(field.decay(grid) >= depth))
        shallow, deep = (shallow if place == 0 else float(grid[place - 1])), float(grid[place])
    return deep


def _nodes_between(field: Field, start: float, stop: float) -> tuple[list[Floats], list[Floats]]:
    """Panels from score to score, split until a modest rule is enough, and their nodes."""
    inside = field.distances[(field.distances > start) & (field.distances < stop)]
    edges = np.unique(np.concatenate(([start], inside, [stop])))
    heights: list[Floats] = []
    weights: list[Floats] = []
    if edges.size < 2:
        return heights, weights
    upper, lower = _split(edges[:-1], edges[1:], np.diff(edges) / _LONGEST)
    ahead = np.searchsorted(field.distances, upper, side="right").astype(np.float64) + 1.0
    # W is largest at the lower end of a panel, and so it also bounds W on every part of the panel.
    weight = field.weight(lower)
    parts = (1.0 + ahead + weight) * (lower - upper) / _HEAVIEST
    repeats = _whole(parts)
    upper, lower = _split(upper, lower, parts)
    width = -np.expm1(upper - lower)
    counts = nodes_for_panels(width, np.repeat(ahead, repeats), np.repeat(weight, repeats))
    for count in np.unique(counts):
        rule = gauss_legendre(int(count))
        panels = counts == count
        depth = width[panels, None] * rule.nodes
        heights.append((lower[panels, None] + np.log1p(-depth)).ravel())
        weights.append((width[panels, None] * rule.weights / (1.0 - depth)).ravel())
    return heights, weights


def _split(upper: Floats, lower: Floats, parts: Floats) -> tuple[Floats, Floats]:
    """Every panel cut into at least so many equal parts."""
    counts = _whole(parts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    step = np.repeat((lower - upper) / counts, counts)
    first = np.repeat(upper, counts) + step * place
    # The last part ends exactly where the panel does.
    ends = np.where(place + 1 == np.repeat(counts, counts), np.repeat(lower, counts), first + step)
    return first, ends


def _whole(parts: Floats) -> Indices:
    whole: Indices = np.maximum(np.ceil(parts), 1.0).astype(np.intp)
    return whole
