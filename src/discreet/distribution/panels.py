"""Where to look below the best score: panels between the scores, and the nodes on them.

Heights ζ are measured downwards from the second best score (ζ = z − γ_2), so the best score is at
−origin and the candidates, apart from the best, are at their distances δ_t ≥ 0 from the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.distribution.gaps import Floats
from discreet.distribution.quadrature import gauss_legendre, nodes_for_panels

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

    def weight(self, height: float) -> float:
        """W: Σ exp(ζ − δ_t) over the candidates whose score lies at or below the height."""
        below = self.distances[np.searchsorted(self.distances, height) :]
        last = float(self.distances[-1])
        return float(np.exp(height - below).sum()) + self.beyond * math.exp(min(height - last, 0.0))

    def decay(self, height: float) -> float:
        """ψ: minus the logarithm of a bound on the integrand relative to p_r (Theorem 5)."""
        passed = self.distances[: np.searchsorted(self.distances, height)]
        return (
            0.5 * self.weight(height)
            + (1 + passed.size) * _LOG_TWO
            + float((height - passed).sum())
        )


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
    with np.errstate(under="ignore"):
        deepest = _deepest(field, depth)
        total = float(np.exp(-field.distances).sum())
        total += field.beyond * math.exp(-float(field.distances[-1]))
        start = max(-field.origin, -_NEGLIGIBLE - math.log(total))
        last = float(field.distances[-1])
        everyone_passed = last < deepest and field.distances.size + 1 == field.size
        edges = _edges(field, start, last if everyone_passed else deepest)
        heights, weights = _nodes_on(field, edges)
    if everyone_passed:
        # Below every score the integrand is exp(−n·ζ): one node with weight 1/n is exact.
        heights = np.append(heights, last)
        weights = np.append(weights, 1.0 / field.size)
        deepest = last
    return Nodes(heights, weights, deepest, field.origin + start)


def _deepest(field: Field, depth: float) -> float:
    """A height, not much too deep, at which ψ ≥ depth: ψ is increasing, and ψ(depth) > depth."""
    shallow = max(-field.origin, -math.log(field.size) - 1.0)
    deep = depth
    for _ in range(10):
        middle = 0.5 * (shallow + deep)
        if field.decay(middle) >= depth:
            deep = middle
        else:
            shallow = middle
    return deep


def _edges(field: Field, start: float, stop: float) -> Floats:
    inside = field.distances[(field.distances > start) & (field.distances < stop)]
    edges = np.unique(np.concatenate(([start], inside, [stop])))
    edges = _split(edges, np.ceil(np.diff(edges) / _LONGEST))
    load = 1.0 + sum(_ahead_and_weight(field, edges))
    return _split(edges, np.ceil(np.diff(edges) * load / _HEAVIEST))


def _split(edges: Floats, parts: Floats) -> Floats:
    """Every interval between edges cut into so many equal parts."""
    counts = parts.astype(np.intp)
    step = np.repeat(np.diff(edges) / counts, counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.append(np.repeat(edges[:-1], counts) + step * within, edges[-1])


def _ahead_and_weight(field: Field, edges: Floats) -> tuple[Floats, Floats]:
    """The k and W of every panel, W at its lower end where it is largest."""
    ahead = np.searchsorted(field.distances, edges[:-1], side="right").astype(np.float64) + 1.0
    weight = np.array([field.weight(float(edge)) for edge in edges[1:]])
    return ahead, weight


def _nodes_on(field: Field, edges: Floats) -> tuple[Floats, Floats]:
    if edges.size < 2:
        return np.empty(0), np.empty(0)
    width = -np.expm1(-np.diff(edges))
    counts = nodes_for_panels(width, *_ahead_and_weight(field, edges))
    heights, weights = [], []
    for count in np.unique(counts):
        rule = gauss_legendre(int(count))
        panels = counts == count
        depth = width[panels, None] * rule.nodes
        heights.append((edges[1:][panels, None] + np.log1p(-depth)).ravel())
        weights.append((width[panels, None] * rule.weights / (1.0 - depth)).ravel())
    return np.concatenate(heights), np.concatenate(weights)
