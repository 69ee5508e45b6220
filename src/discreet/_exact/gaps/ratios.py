"""Scores that move by different amounts, as ratios that all move by at most one.

With a_i = q_i − tΔ_i the ratio of candidate i is min_{j≠i} (a_i − a_j)/(Δ_i + Δ_j): its smallest lead over
another candidate, in units of what one person can do to that lead. If one person moves all scores the same
way, the unit is max(Δ_i, Δ_j). Everything is exact (``docs/proofs/unequal-sensitivities.md``).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

Point = tuple[int, int]
Slope = tuple[int, int]
"""The rise of a line and its run, which is above zero."""


def ratios(
    values: Sequence[int | float | Fraction],
    sensitivities: Sequence[Fraction],
    *,
    shift: Fraction,
    monotonic: bool,
) -> list[Fraction]:
    """Return the ratio of each candidate, in time n log n; at most one sensitivity may be zero.

    Example:
        >>> steps = [Fraction(1), Fraction(1), Fraction(3)]
        >>> [str(each) for each in ratios([10, 8, 0], steps, shift=Fraction(0), monotonic=False)]
        ['1', '-1', '-5/2']
    """
    if len(values) == 1:
        return [Fraction(0)]
    # Whole numbers with one denominator each way: fractions are slow, and the search compares many times.
    given = [each.as_integer_ratio() for each in values]
    steps = [each.as_integer_ratio() for each in sensitivities]
    across = math.lcm(*{whole for _, whole in steps})
    up = math.lcm(shift.denominator * across, *{whole for _, whole in given})
    moved = shift.numerator * (up // (shift.denominator * across))
    points = []
    for (part, whole), (step, parts) in zip(given, steps, strict=True):
        x = step * (across // parts)
        points.append((x, part * (up // whole) - moved * x))
    order = sorted(range(len(points)), key=points.__getitem__)
    slopes = (_one_way if monotonic else _any_way)([points[place] for place in order])
    found = [Fraction(0)] * len(points)
    for place, (rise, run) in zip(order, slopes, strict=True):
        found[place] = Fraction(-rise * across, run * up)
    return found


def _any_way(points: list[Point]) -> list[Slope]:
    """The largest slope from (−x_i, y_i) to another point (x_j, y_j), for each i; points from the left."""
    hull = _upper_hull(points[1:])
    first = _steepest(hull, -points[0][0], points[0][1])
    _add(hull, points[0])
    slopes = [first, *(_steepest(hull, -x, y) for x, y in points[1:])]
    # A point sees itself at slope 0. That matters only if no other is as high: then it is left out.
    top = max(range(len(points)), key=lambda place: points[place][1])
    others = points[:top] + points[top + 1 :]
    slopes[top] = _steepest(_upper_hull(others), -points[top][0], points[top][1])
    return slopes


def _one_way(points: list[Point]) -> list[Slope]:
    """The largest (y_j − y_i)/max(x_i, x_j) over the other points, for each i; points from the left."""
    hull = _upper_hull(points[-1:])
    # Among points on the right, the largest slope from (0, y_i); among those on the left, the highest.
    right = []
    for point in reversed(points[:-1]):
        right.append(_steepest(hull, 0, point[1]))
        _add(hull, point)
    highest = accumulate((y for _, y in points), max)
    left = [(high - y, x) for high, (x, y) in zip(highest, points[1:], strict=False)]
    between = map(_larger, left[:-1], right[-2::-1])
    return [right[-1], *between, left[-1]]


def _upper_hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the upper hull, from the right to the left; points from the left."""
    hull: list[Point] = []
    for point in reversed(list(points)):
        _add(hull, point)
    return hull


def _add(hull: list[Point], point: Point) -> None:
    """Add a point to the left of the hull; one straight below its last corner is skipped."""
    if hull and hull[-1][0] == point[0]:
        return  # points with the same x come from the highest down
    while len(hull) > 1 and _turn(point, hull[-1], hull[-2]) >= 0:
        hull.pop()
    hull.append(point)


def _turn(start: Point, first: Point, second: Point) -> int:
    """Return a positive number if ``second`` has the larger slope from ``start``; both lie right of it."""
    (x, y), (a, b), (c, d) = start, first, second
    return (a - x) * (d - y) - (b - y) * (c - x)


def _steepest(hull: list[Point], x: int, y: int) -> Slope:
    """The largest slope from a point on the left of the hull to a corner of it."""
    # From the left, the slope grows while the next corner has a larger one.
    last = len(hull) - 1
    step = bisect_left(
        range(last), True, key=lambda k: _turn((x, y), hull[last - k], hull[last - k - 1]) <= 0
    )
    corner = hull[last - step]
    return corner[1] - y, corner[0] - x


def _larger(one: Slope, other: Slope) -> Slope:
    return one if one[0] * other[1] >= other[0] * one[1] else other
