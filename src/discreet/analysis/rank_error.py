"""The error of private quantiles, measured in people, and the ε for a given error. Reads no data.

An answer covers the ranks from the number of people below it to the number of people at or below it. Its rank
error is the distance, in people, from the rank of the level to the nearest covered rank. It is zero for a
true quantile. The bounds hold for any data (``docs/proofs/quantiles.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet._exact.numbers.balls import upper_bound
from discreet._exact.numbers.exact import (
    float_up,
    non_negative,
    positive,
    probability,
    refuse,
    whole,
)
from discreet.errors import ParameterError
from discreet.neighbours import REPLACE, Neighbours

FINEST, USUAL = 10, 6
"""log₂ of the number of sub-positions per grid point: at most 10, and at least 6 unless the grid is long."""
LINE, LARGEST_LINE = 1 << 20, 1 << 22
"""Limits on sub-positions: 2²⁰ in all groups together, which never leaves a grid point fewer than 2⁶, and 2²²
in one group. A grid with more points than the second limit has one sub-position per point.
"""


def fineness(points: int, groups: int = 1) -> int:
    """Return how many fair coin flips choose a person's sub-position within their grid point.

    Each grid point has 2 to this power sub-positions, which are used only for several quantiles at once.

    Example:
        >>> fineness(121), fineness(121, groups=50), fineness(65_536), fineness(10**7)
        (10, 7, 6, 0)
    """
    shared = max(USUAL, (LINE // (points * groups)).bit_length() - 1)
    return max(0, min(FINEST, shared, (LARGEST_LINE // points).bit_length() - 1))


def most_sharing(people: int, *, points: int, groups: int = 1, fails: Fraction) -> int:
    """Return a bound on how many people share a sub-position; it fails with probability at most ``fails``.

    Each grid point has M sub-positions. If N people share a grid point, at least c of them are at a given
    sub-position with probability at most (N choose c)/M^c ≤ (eN/(cM))^c.

    Example:
        >>> most_sharing(4_000_000, points=121, fails=Fraction(1, 40))
        10633
    """
    places = 1 << fineness(points, groups)
    wanted = math.log(fails) - math.log(points * places) - 1e-6

    def unlikely(number: int) -> bool:
        return number * (1 + math.log(people / places) - math.log(number)) <= wanted

    low, high = people // places, people
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if unlikely(middle + 1) else (middle, high)
    return high


def rank_error(
    at: Sequence[object],
    *,
    points: int,
    epsilon: object,
    with_probability: object = "0.95",
    neighbours: str = "add-remove",
    sharing: object = 0,
) -> float:
    """Return a bound on the rank error that holds with this probability on any data with this ``sharing``.

    Args:
        points: the number of points of the public grid.
        sharing: for several quantiles: the most people who share one sub-position; each grid point has up to
            1024 sub-positions.

    Example:
        >>> rank_error([0.5], points=121, epsilon=1)
        7.791522819150733
        >>> round(rank_error([0.25, 0.5, 0.75], points=121, epsilon=1), 1)
        47.5
    """
    factor, lumps = _factor(at, points, with_probability, neighbours, sharing)
    return float_up(factor / positive("epsilon", epsilon) + lumps)


def epsilon_for_rank_error(
    at: Sequence[object],
    *,
    points: int,
    at_most: object,
    with_probability: object = "0.95",
    neighbours: str = "add-remove",
    sharing: object = 0,
) -> float:
    """Return the least ε, rounded up, at which ``rank_error`` is at most ``at_most``.

    Example:
        >>> round(epsilon_for_rank_error([0.5], points=121, at_most=10), 3)
        0.779
    """
    factor, lumps = _factor(at, points, with_probability, neighbours, sharing)
    room = positive("at_most", at_most) - lumps
    if room <= 0:
        raise ParameterError(
            f"⟨at_most⟩{at_most!r} is not allowed: people who share a grid point can alone make the error "
            f"{float_up(lumps):g}"
        )
    return float_up(factor / room)


def _factor(
    at: Sequence[object], points: int, with_probability: object, neighbours: str, sharing: object
) -> tuple[Fraction, Fraction]:
    """Check the arguments and return the numbers a and b such that the bound on the rank error is a/ε + b."""
    if isinstance(at, str) or not isinstance(at, Sequence) or not at:
        raise refuse("at", at, "a list of levels, such as [0.1, 0.5, 0.9]")
    levels = [probability("at", level) for level in at]
    if not all(0 < level < 1 for level in levels):
        raise refuse("at", at, "levels strictly between 0 and 1")
    if len(set(levels)) < len(levels):
        raise refuse("at", at, "levels that are all different")
    failing = 1 - probability("with_probability", with_probability)
    if not 0 < failing < 1:
        raise refuse("with_probability", with_probability, "strictly between 0 and 1")
    number, depths = whole("points", points), len(levels).bit_length()
    twice = 2 if Neighbours.named(neighbours) == REPLACE else 1
    least, lumps = _summed(sorted(levels), Fraction(0), Fraction(1), _NONE, _NONE)
    if depths == 1:
        # A single quantile has its own range distance: 2·max(α, 1 − α), or 2 under replacement.
        widest = least if twice == 1 else Fraction(2)
        odds = number / failing
    else:
        widest = least * depths * twice
        odds = len(levels) * (number << fineness(number)) / failing
    logarithm = upper_bound(lambda ratio: ratio.log(), Fraction(odds))
    return widest * Fraction(logarithm), lumps * non_negative("sharing", sharing)


_Sum = tuple[Fraction, Fraction]
_NONE = (Fraction(0), Fraction(0))


def _summed(
    levels: Sequence[Fraction], low: Fraction, high: Fraction, before: _Sum, after: _Sum
) -> _Sum:
    """Return the largest coefficients of the noise and of ``sharing`` in the error bounds of ``levels``.

    The levels lie between the cuts ``low`` and ``high``, whose coefficients are ``before`` and ``after``. A
    level inherits a weighted average of these two and adds its own error.
    """
    if not levels:
        return _NONE
    middle = len(levels) // 2
    part = (levels[middle] - low) / (high - low)
    here = (
        (1 - part) * before[0] + part * after[0] + 2 * max(part, 1 - part),
        (1 - part) * before[1] + part * after[1],
    )
    cut = (here[0], here[1] + 1)
    below = _summed(levels[:middle], low, levels[middle], before, cut)
    above = _summed(levels[middle + 1 :], levels[middle], high, cut, after)
    return max(here[0], below[0], above[0]), max(here[1], below[1], above[1])
