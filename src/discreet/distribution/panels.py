"""Where to look below the best score: panels between the scores, and the nodes on them.

Heights ζ are measured downwards from the second best score (ζ = z − γ_2), so the best score is at
−origin and the candidates, apart from the best, are at their distances δ_t ≥ 0 from the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.distribution.arguments import Floats, Indices
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
