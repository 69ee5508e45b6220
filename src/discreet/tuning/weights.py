"""A bound on how much the best of several runs amplifies each privacy loss of one run (theorem 3).

Among sets with probability u under one data set, r(u) is the largest probability under a neighbour. The
whole search's δ at ε is at most the mean of g(L), where L is the likelihood ratio of one run and g(L) is the
largest of 0 and all f′(r(u))·L − τ·f′(u), with τ = e^ε. Here r is replaced by a polygon above it, and the
resulting g by a second polygon above it, stored as its corners with the rise of the slope at each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from discreet._exact.numbers.balls import ball_of, precision, upper_end
from discreet._exact.numbers.exact import float_down, float_up
from discreet.tuning.laws import RandomRunCount
from discreet.tuning.profiles import Profile

_BITS = 128
_TANGENTS = 48
_STEP = 0.08
_NEGLIGIBLE = Fraction(1, 10**4)
_FIXED_POINT = 240

Number = TypeVar("Number", int, Fraction)
Line = tuple[Fraction, Fraction]
Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Weights:
    """The corners of a polygon as natural logarithms, lowest first, with the rise of the slope at each."""

    corners: tuple[Fraction, ...]
    rises: tuple[Fraction, ...]

    @property
    def lowest(self) -> float:
        """The logarithm of the lowest corner."""
        return float_down(-self.corners[0]) * -1 if self.corners else 0.0


def divergence_of_best(profile: Profile, weights: Weights, epsilon: Fraction) -> Fraction:
    """Return an upper bound on the whole search's δ at ε: Σ rise · δ(ε + corner), from one run's profile."""
    total = Fraction(0)
    for corner, rise in zip(weights.corners, weights.rises, strict=True):
        total += rise * Fraction(float_up(profile.at(epsilon + corner)))
    return total


def weights_of(profile: Profile, runs: RandomRunCount, delta: Fraction) -> Weights:
    """Return a polygon above g(L)/τ as a function of L/τ; it is coarse where f′(r(u)) ≤ δ/10000."""
    lines = list(_lines(_polygon_above(profile), runs, delta * _NEGLIGIBLE))
    return _corners(lines)


@lru_cache(maxsize=16)
def _polygon_above(profile: Profile) -> list[Point]:
    return _polygon(_tangents(profile))


def _tangents(profile: Profile) -> list[Line]:
    """Return lines (slope, height) above r(u): 1, e^t·u + δ(t) and 1 − e^−t(1 − u − δ(t)) for several t."""
    reach = profile.reach
    places = [reach * place / _TANGENTS for place in range(_TANGENTS + 1)]
    lines = [(Fraction(0), Fraction(1))]
    with precision(_BITS):
        for place in places:
            lost = profile.at(place)
            up = Fraction(float_up(upper_end(ball_of(place).exp())))
            lines.append((up, lost))
            if place:
                # e^−t is rounded down where it is subtracted, and up where it is added.
                factor = ball_of(-place).exp()
                down = Fraction(float_down(-Fraction(upper_end(-factor))))
                lines.append((down, 1 - down + _up(factor) * lost))
    return lines


def _polygon(lines: Sequence[Line]) -> list[Point]:
    """Return the corners (u, r) of the lower envelope over [0, 1], from u = 0 to u = 1."""
    kept = _envelope((-slope, height) for slope, height in lines)
    crossings = ((d - c) / (b - a) for (a, c), (b, d) in pairwise(kept))
    places = [Fraction(0), *(place for place in crossings if 0 < place < 1), Fraction(1)]
    return [(u, min(Fraction(1), *(c - a * u for a, c in kept))) for u in places]


def _envelope(lines: Iterable[tuple[Number, Number]]) -> list[tuple[Number, Number]]:
    """Return the lines a·x − c that lie above all others for some x, ordered by slope."""
    kept: list[tuple[Number, Number]] = []
    for slope, cut in sorted(lines):
        if kept and slope == kept[-1][0]:
            continue  # among lines with equal slope, the first is the highest
        while len(kept) > 1:
            (a, c), (b, d) = kept[-2:]
            # The middle line is nowhere on top if the new line crosses the first before the middle one does.
            if (cut - c) * (b - a) > (d - c) * (slope - a):
                break
            kept.pop()
        kept.append((slope, cut))
    return kept


def _lines(vertices: Sequence[Point], runs: RandomRunCount, negligible: Fraction) -> Iterator[Line]:
    """Yield two lines φ·x − c for each piece of the polygon; f′(r(u))·x − f′(u) is never above both.

    On a piece, f′(r(u)) is below its chord and f′(u) is above its tangent, because f′ is convex.
    """
    with precision(_BITS):
        floor = ball_of(negligible)
        pieces = list(_pieces(vertices, runs))
        first = 0
        while first < len(pieces) and bool(runs.slope(ball_of(pieces[first][1][1])) <= floor):
            first += 1
        if first:
            edge = runs.slope(ball_of(pieces[first - 1][1][1]))
            yield _up(edge), Fraction(0)
        for (start, low), (end, high) in pieces[first:]:
            middle = ball_of((start + end) / 2)
            height, rise = runs.slope(middle), runs.bend(middle) * ball_of((end - start) / 2)
            yield _up(runs.slope(ball_of(low))), -_up(rise - height)
            yield _up(runs.slope(ball_of(high))), -_up(-rise - height)


def _up(ball: Any) -> Fraction:
    return Fraction(upper_end(ball))


def _pieces(vertices: Sequence[Point], runs: RandomRunCount) -> Iterator[tuple[Point, Point]]:
    """Cut the sides of the polygon into pieces on which f′ changes by a small factor."""
    for (start, low), (end, high) in pairwise(vertices):
        if end <= start:
            continue
        cuts = [start, *_cuts(runs, start, end, low, high), end]
        tilt = (high - low) / (end - start)
        points = [(cut, low + tilt * (cut - start)) for cut in cuts]
        yield from pairwise(points)


def _cuts(
    runs: RandomRunCount, start: Fraction, end: Fraction, low: Fraction, high: Fraction
) -> list[Fraction]:
    """Return cuts between two corners, halving until neither f′(u) nor f′(r(u)) changes much in a piece."""
    far = max(_log_change(runs, start, end), _log_change(runs, low, high))
    if far <= _STEP:
        return []
    middle = Fraction(float_up((start + end) / 2))
    if not start < middle < end:
        return []
    height = low + (high - low) * (middle - start) / (end - start)
    return [
        *_cuts(runs, start, middle, low, height),
        middle,
        *_cuts(runs, middle, end, height, high),
    ]


def _log_change(runs: RandomRunCount, low: Fraction, high: Fraction) -> float:
    if high <= low:
        return 0.0
    change = (runs.slope(ball_of(high)) / runs.slope(ball_of(low))).log()
    return float(change.mid()) if change.is_finite() else math.inf


def _corners(lines: Sequence[Line]) -> Weights:
    """Return the corners of the upper envelope of lines a·x − c and of zero, over x ≥ 0.

    The computation is in fixed point, with slopes rounded up and c rounded down.
    """
    unit = 1 << _FIXED_POINT
    scaled = {(-(-slope * unit // 1), cut * unit // 1) for slope, cut in lines}
    kept = _envelope(scaled | {(0, 0)})
    corners, rises = [], []
    with precision(_BITS):
        for (a, c), (b, d) in pairwise(kept):
            place = Fraction(d - c, b - a)
            corners.append(
                Fraction(-_LARGEST)
                if place <= 0
                else -Fraction(float_up(upper_end(-ball_of(place).log())))
            )
            rises.append(Fraction(b - a, unit))
    return Weights(tuple(corners), tuple(rises))


_LARGEST = 10_000
"""The logarithm of a corner at zero is set to minus this; the profile is 1 there."""
