"""Noisy max with Laplace noise of unit scale: every score gets noise, and the largest sum is chosen.

The probability of r is ∫ f(y − q_r) Π_{t≠r} F(y − q_t) dy, with the noise's density f and distribution
function F. Set the best score to 0, and y = −z.

* Above the best score (z < 0) every F is 1 − u·p_t/2 with u = e^z, and the integral is
  permute-and-flip's with halved coins.
* Below it F has a kink at every score. Relative to p_r = exp(−γ_r) the integrand is at most
  exp(−ψ(z)), where every score above the point adds at least log 2 to ψ, and the scores below add half
  their weight. So the part below the few dozen best scores is negligible. Between two scores, the
  integrand, as a function of 1 − e^{z−b} with b at the lower score, has positive Taylor coefficients. This
  bounds the error of a Gauss rule relative to the integral itself (Theorems 4 and 5 of the proof page).

Everything is computed relative to p_r, so the smallest probabilities are as precise as the largest.
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
# Nodes handled at a time. With at most about a thousand near candidates, this takes a few megabytes.
_BLOCK = 256
# Rows with at most this many candidates are computed together, about this many entries at a time.
_FEW = 32
_AT_ONCE = 512


def noisy_max_laplace(
    gaps: npt.ArrayLike, correction: npt.ArrayLike | None = None, *, log: bool = False
) -> Floats:
    """Return the probability that noisy max with Laplace noise chooses each candidate.

    Example:
        For two candidates with gap g, the worse one wins with probability e^{−g}(1/2 + g/4).

        >>> noisy_max_laplace([0.0, 2.0]).round(12).tolist()
        [0.864664716763, 0.135335283237]
    """
    gaps, correction = checked(gaps, correction)
    if gaps.ndim == 2:
        return _of_rows(gaps, correction, log=log)
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
    # Once ψ exceeds this, the remainder is below 2⁻⁵⁶ of any probability (Theorem 5).
    depth = _DEPTH + math.log(2.0 + total)
    if gaps.size == 1:
        result += 0.5
    elif 0.5 * total < depth:
        _add_below(result, gaps, correction, depth)
    if log:
        return log_times_coins(result, gaps, correction)
    halves *= 2.0
    return times_coins(result, halves)


def _of_rows(gaps: Floats, correction: Floats | None, *, log: bool) -> Floats:
    """Return the probabilities for each row of a matrix; rows with few candidates are computed together."""
    result = np.empty_like(gaps)
    at_once = 1
    if 1 < gaps.shape[1] <= _FEW and np.isfinite(gaps.max()):
        at_once = _AT_ONCE // gaps.shape[1]
    for start in range(0, len(gaps), at_once):
        part = slice(start, start + at_once)
        low = None if correction is None else correction[part]
        if at_once == 1:
            only = None if low is None else low[0]
            result[start] = noisy_max_laplace(gaps[start], only, log=log)
        else:
            result[part] = _of_few(gaps[part], low, log=log)
    return result


def _of_few(gaps: Floats, correction: Floats | None, *, log: bool) -> Floats:
    """Return the probabilities for several rows with few candidates, without power sums."""
    halves = coins(gaps, correction)
    with np.errstate(under="ignore"):
        halves *= 0.5
    result = 0.5 * unbeaten(halves, lambda which: 1.0 - halves[which])
    order = np.argsort(gaps, axis=1, kind="stable")
    ranked = np.take_along_axis(gaps, order, axis=1)
    origin = ranked[:, 1].copy()
    distances = ranked[:, 1:] - origin[:, None]
    if correction is not None:
        lower = np.take_along_axis(correction, order, axis=1)
        distances += lower[:, 1:] - lower[:, 1:2]
    depth = _DEPTH + np.log(2.0 + 2.0 * halves.sum(axis=1))
    below = nodes_below(Field(np.sort(distances, axis=1), 0.0, origin, gaps.shape[1]), depth)
    row, many = below.rows, len(gaps)
    # A candidate whose x underflows to zero has F = 1; the branch that divides by x is not used.
    with np.errstate(under="ignore", over="ignore", divide="ignore"):
        weights = 0.5 * below.weights
        kernel = _kernel(weights, below.heights, distances[row])
        added = np.empty_like(gaps)
        added[:, 0] = np.bincount(row, weights * np.exp(-(origin[row] + below.heights)), many)
        added[:, 0] -= 0.5 * np.expm1(-below.flat)
        for place in range(1, gaps.shape[1]):
            added[:, place] = np.bincount(row, kernel[:, place - 1], many)
        # Between the best score and the second, far from both, the integrand is constant.
        added[:, 1:] += 0.25 * below.flat[:, None]
    np.put_along_axis(result, order, np.take_along_axis(result, order, axis=1) + added, axis=1)
    if log:
        return log_times_coins(result, gaps, correction)
    halves *= 2.0
    return times_coins(result, halves)


def _add_below(result: Floats, gaps: Floats, correction: Floats | None, depth: float) -> None:
    """Add the integral below the best score to ``result``; both are relative to p_r."""
    # Each candidate with exp(z − γ)/2 above 1/16 adds at least 1/16 to ψ, so all of them are among this many
    # nearest candidates.
    most = math.ceil(16 * depth) + 2
    nearest = np.arange(gaps.size)
    if gaps.size > most:
        nearest = np.argpartition(gaps, most)[:most]
    nearest = nearest[np.argsort(gaps[nearest], kind="stable")]
    best, second = int(nearest[0]), int(nearest[1])

    # Heights are measured from the second best, because differences of nearby gaps lose no digits.
    distance = _distances(gaps, correction, nearest[1:], second)
    origin = float(gaps[second])
    beyond = 0.0
    if gaps.size > most:
        with np.errstate(under="ignore"):
            # Each of the nearest adds one to this sum, which is subtracted again. The sum affects only the
            # cut and the numbers of nodes.
            beyond = float(np.exp(np.minimum(gaps[nearest[-1]] - gaps, 0.0)).sum()) - nearest.size
    field = Field(np.sort(distance)[None], max(beyond, 0.0), np.array([origin]), gaps.size)
    below = nodes_below(field, np.array([depth]))
    deepest, flat = float(below.deepest[0]), float(below.flat[0])

    # Near candidates are handled one by one, the others through power sums of x = exp(z − γ)/2.
    is_near = gaps - origin <= deepest + _LOG_EIGHT
    is_near[best] = False
    near = np.flatnonzero(is_near)
    is_near[best] = True
    rest: Floats | None = None
    with np.errstate(under="ignore", over="ignore"):
        weights = 0.5 * below.weights
        times = np.exp(below.heights - deepest)
        if near.size + 1 < gaps.size:
            rest = 0.5 * np.exp(deepest - (gaps - origin))
            rest[is_near] = 0.0
            weights *= np.exp(log_product(power_sums(rest), times))
        from_near = _gather(weights, below.heights, _distances(gaps, correction, near, second))
        from_best = float((weights * np.exp(-(origin + below.heights))).sum())
        leading = result[best] + from_best - 0.5 * math.expm1(-flat)
        # Between the best score and the second, far from both, the integrand is constant.
        result += 0.25 * flat
        from_near += result[near]
        if rest is not None:
            result += reciprocal_sum(rest, 0.5 * weights, times)
        result[near] = from_near
        result[best] = leading


def _gather(weights: Floats, heights: Floats, distances: Floats) -> Floats:
    """Multiply every candidate's F into ``weights``; return each candidate's Σ weight · f/F, relative to p_r.

    For a node at height ζ and a candidate at distance δ, let x = exp(ζ − δ). F is 1/(2x) if the score is
    above the node and 1 − x/2 if it is below. Relative to p_r, and without the best candidate's factor
    exp(−z), f/F is 1/x above and 1/(2 − x) below. The two branches agree at the score itself.
    """
    result = np.zeros_like(distances)
    for start in range(0, heights.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        result += _kernel(weights[block], heights[block], distances).sum(axis=0)
    return result


def _kernel(weights: Floats, heights: Floats, distances: Floats) -> Floats:
    """Return the terms of ``_gather``'s sum, one row for each node; multiply every F into ``weights``."""
    ratio = np.exp(heights)[:, None] * np.exp(-distances)
    above = ratio > 1.0
    factor = np.where(above, 0.5 / ratio, 1.0 - 0.5 * ratio)
    weights *= factor.prod(axis=1)
    kernel: Floats = np.where(above, 2.0 * factor, 0.5 / factor)
    kernel *= weights[:, None]
    return kernel


def _distances(gaps: Floats, correction: Floats | None, which: Indices, origin: int) -> Floats:
    """Return γ_t − γ_origin for every t in ``which``, including corrections."""
    distance: Floats = gaps[which] - gaps[origin]
    if correction is not None:
        distance += correction[which] - correction[origin]
    return distance


# ---- below the best score: panels between the scores, and their nodes --------------
#
# Heights ζ are measured downwards from the second best score (ζ = z − γ_2), so the best score is at −origin
# and the candidates, apart from the best, are at their distances δ_t ≥ 0 from the second.

_LOG_TWO = math.log(2.0)
_NEGLIGIBLE = 57 * _LOG_TWO
# A panel needs about 20 nodes if its length is at most _LONGEST and (1 + k + W) · length is at most
# _HEAVIEST.
_LONGEST = 1.0
_HEAVIEST = 12.0
_EIGHTHS = np.arange(9) / 8.0


@dataclass(frozen=True, slots=True)
class Field:
    """All candidates except the best: the distances of near ones, and the total weight of far ones.

    Each row is one selection. ``beyond`` is Σ exp(δ_last − δ_t) over the candidates after the last of
    ``distances``.
    """

    distances: Floats
    beyond: float
    origin: Floats
    size: int

    def of(self, rows: Indices) -> Field:
        """Return a field with these rows, in this order; a row may occur more than once."""
        if len(self.distances) == 1:  # it broadcasts
            return self
        return Field(self.distances[rows], self.beyond, self.origin[rows], self.size)

    def weight(self, heights: Floats) -> Floats:
        """Return W at each height: Σ exp(ζ − δ_t) over the candidates whose score is not above the height."""
        return self._weight(heights, heights[..., None] - self.distances[:, None])

    def decay(self, heights: Floats) -> Floats:
        """Return ψ at each height; the integrand divided by p_r is at most exp(−ψ) (Theorem 5)."""
        above = heights[..., None] - self.distances[:, None]
        passed = np.count_nonzero(above > 0.0, axis=-1)
        result: Floats = 0.5 * self._weight(heights, above) + (1 + passed) * _LOG_TWO
        result += np.maximum(above, 0.0).sum(axis=-1)
        return result

    def _weight(self, heights: Floats, above: Floats) -> Floats:
        near: Floats = np.where(above > 0.0, 0.0, np.exp(np.minimum(above, 0.0))).sum(axis=-1)
        near += self.beyond * np.exp(np.minimum(heights - self.distances[:, -1:], 0.0))
        return near


@dataclass(frozen=True, slots=True)
class Nodes:
    """Quadrature nodes, each with a height, a weight and a row; none is below its row's ``deepest``.

    ``flat`` is the length of a stretch, just below the best score, that needs no nodes: on it, the integrand
    divided by p_r is constant for every candidate but the best.
    """

    heights: Floats
    weights: Floats
    rows: Indices
    deepest: Floats
    flat: Floats


def nodes_below(field: Field, depth: Floats) -> Nodes:
    """Return nodes from the best score down to where ψ reaches ``depth``."""
    last = field.distances[:, -1:]
    with np.errstate(under="ignore"):
        passed = np.zeros(len(last), dtype=bool)
        if field.distances.shape[1] + 1 == field.size:
            passed = field.decay(last)[:, 0] < depth
        deepest = last[:, 0].copy()
        if not passed.all():
            deepest[~passed] = _deepest(field.of(np.flatnonzero(~passed)), depth[~passed])
        total = field.weight(np.zeros_like(last))[:, 0]
        start = np.maximum(-field.origin, -_NEGLIGIBLE - np.log(total))
        heights, weights, rows = _nodes_between(field, start, deepest)
    # Below every score the integrand is exp(−n·ζ): one node with weight 1/n is exact.
    ends = np.flatnonzero(passed)
    return Nodes(
        np.concatenate([*heights, deepest[ends]]),
        np.concatenate([*weights, np.full(len(ends), 1.0 / field.size)]),
        np.concatenate([*rows, ends]),
        deepest,
        field.origin + start,
    )


def _deepest(field: Field, depth: Floats) -> Floats:
    """Return a height at which ψ is at least ``depth``, not much deeper than needed.

    The search range ends at the height ``depth``, because ψ increases and ψ(depth) > depth.
    """
    shallow = np.maximum(-field.origin, -math.log(field.size) - 1.0)
    deep = depth
    every = np.arange(len(depth))
    for _ in range(3):
        grid = shallow[:, None] + (deep - shallow)[:, None] * _EIGHTHS
        grid[:, -1] = deep
        place = np.argmax(field.decay(grid[:, 1:]) >= depth[:, None], axis=1)
        shallow, deep = grid[every, place], grid[every, place + 1]
    return deep


def _nodes_between(
    field: Field, start: Floats, stop: Floats
) -> tuple[list[Floats], list[Floats], list[Indices]]:
    """Return the heights, weights and rows of nodes between scores, on panels short enough for few nodes."""
    start, stop = start[:, None], stop[:, None]
    inside = np.minimum(np.maximum(field.distances, start), stop)
    edges = np.concatenate([start, inside, stop], axis=1)
    rows, place = np.nonzero(edges[:, 1:] > edges[:, :-1])
    heights: list[Floats] = []
    weights: list[Floats] = []
    whose: list[Indices] = []
    if not rows.size:
        return heights, weights, whose
    upper, lower = edges[rows, place], edges[rows, place + 1]
    parts = (lower - upper) / _LONGEST
    rows = np.repeat(rows, _whole(parts))
    upper, lower = _split(upper, lower, parts)
    field = field.of(rows)
    ahead = np.count_nonzero(field.distances <= upper[:, None], axis=1) + 1.0
    # W is largest at the lower end of a panel, so its value there bounds W on the whole panel.
    weight = field.weight(lower[:, None])[:, 0]
    parts = (1.0 + ahead + weight) * (lower - upper) / _HEAVIEST
    repeats = _whole(parts)
    upper, lower = _split(upper, lower, parts)
    width = -np.expm1(upper - lower)
    counts = nodes_for_panels(width, np.repeat(ahead, repeats), np.repeat(weight, repeats))
    rows = np.repeat(rows, repeats)
    for count in np.unique(counts):
        rule = gauss_legendre(int(count))
        panels = counts == count
        depth = width[panels, None] * rule.nodes
        heights.append((lower[panels, None] + np.log1p(-depth)).ravel())
        weights.append((width[panels, None] * rule.weights / (1.0 - depth)).ravel())
        whose.append(np.repeat(rows[panels], count))
    return heights, weights, whose


def _split(upper: Floats, lower: Floats, parts: Floats) -> tuple[Floats, Floats]:
    """Cut each panel into equal parts, at least ``parts`` of them; return the ends of all parts."""
    counts = _whole(parts)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    step = np.repeat((lower - upper) / counts, counts)
    first = np.repeat(upper, counts) + step * place
    # The last part ends exactly at the end of the panel.
    ends = np.where(place + 1 == np.repeat(counts, counts), np.repeat(lower, counts), first + step)
    return first, ends


def _whole(parts: Floats) -> Indices:
    whole: Indices = np.maximum(np.ceil(parts), 1.0).astype(np.intp)
    return whole
