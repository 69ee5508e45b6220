"""Convert scores with different sensitivities Δ_i to ratios; one person changes each ratio by at most one.

With a public shift t and a_i = q_i − tΔ_i, the ratio of candidate i is min_{j≠i} (a_i − a_j)/(Δ_i + Δ_j).
This is its smallest lead over another candidate, where each lead is divided by the most that one person can
change it. If one person moves all scores in the same direction, the divisor is max(Δ_i, Δ_j). The results are
exact (``docs/proofs/unequal-sensitivities.md``).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

Point = tuple[int, int]
Slope = tuple[int, int]
"""The rise of a line and its run; the run is above zero."""


def ratios(
    values: Sequence[int | float | Fraction],
    sensitivities: Sequence[Fraction],
    *,
    shift: Fraction,
    monotonic: bool,
) -> list[Fraction]:
    """Return the ratio of each candidate, as the module defines it; at most one sensitivity may be zero.

    This takes time n log n.

    Example:
        >>> steps = [Fraction(1), Fraction(1), Fraction(3)]
        >>> [str(each) for each in ratios([10, 8, 0], steps, shift=Fraction(0), monotonic=False)]
        ['1', '-1', '-5/2']
    """
    if len(values) == 1:
        return [Fraction(0)]
    # Use integers with one denominator per axis, because Fractions are slow and the search compares often.
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
    """Return for each i the largest slope from (−x_i, y_i) to (x_j, y_j) over j ≠ i; points are sorted."""
    hull = _upper_hull(points[1:])
    first = _steepest(hull, -points[0][0], points[0][1])
    _add(hull, points[0])
    slopes = [first, *(_steepest(hull, -x, y) for x, y in points[1:])]
    # Each point also finds itself, at slope 0. This matters only for the highest point, which is excluded.
    top = max(range(len(points)), key=lambda place: points[place][1])
    others = points[:top] + points[top + 1 :]
    slopes[top] = _steepest(_upper_hull(others), -points[top][0], points[top][1])
    return slopes


def _one_way(points: list[Point]) -> list[Slope]:
    """Return for each i the largest (y_j − y_i)/max(x_i, x_j) over j ≠ i; points are sorted."""
    hull = _upper_hull(points[-1:])
    # To the right, take the largest slope from (0, y_i); to the left, take the highest point.
    right = []
    for point in reversed(points[:-1]):
        right.append(_steepest(hull, 0, point[1]))
        _add(hull, point)
    highest = accumulate((y for _, y in points), max)
    left = [(high - y, x) for high, (x, y) in zip(highest, points[1:], strict=False)]
    between = map(_larger, left[:-1], right[-2::-1])
    return [right[-1], *between, left[-1]]


def _upper_hull(points: Iterable[Point]) -> list[Point]:
    """Return the corners of the upper hull from right to left; points are sorted."""
    hull: list[Point] = []
    for point in reversed(list(points)):
        _add(hull, point)
    return hull


def _add(hull: list[Point], point: Point) -> None:
    """Add a point to the left end of the hull, unless it is directly below the last corner."""
    if hull and hull[-1][0] == point[0]:
        return  # points with the same x come highest first
    while len(hull) > 1 and _turn(point, hull[-1], hull[-2]) >= 0:
        hull.pop()
    hull.append(point)


def _turn(start: Point, first: Point, second: Point) -> int:
    """Return a number above 0 if the slope from ``start`` to ``second`` is larger than to ``first``.

    The result is 0 if the slopes are equal, and negative if the slope to ``second`` is smaller. Both points
    lie to the right of ``start``.
    """
    (x, y), (a, b), (c, d) = start, first, second
    return (a - x) * (d - y) - (b - y) * (c - x)


def _steepest(hull: list[Point], x: int, y: int) -> Slope:
    """Return the largest slope from the point (x, y), left of the hull, to a corner of the hull."""
    # From left to right, slopes to the corners grow and then fall; stop before the first fall.
    last = len(hull) - 1
    step = bisect_left(
        range(last), True, key=lambda k: _turn((x, y), hull[last - k], hull[last - k - 1]) <= 0
    )
    corner = hull[last - step]
    return corner[1] - y, corner[0] - x


def _larger(one: Slope, other: Slope) -> Slope:
    return one if one[0] * other[1] >= other[0] * one[1] else other
