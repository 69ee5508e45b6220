"""How far private quantiles are off, in people, before any data is read; and the ε for a wanted error.

The rank error of an answer is the least e such that the level's rank lies within e of the people at or below
the answer: none for a true quantile. The bounds are those of ``docs/proofs/quantiles.md``, for any data.
"""

from __future__ import annotations

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

PLACES_PER_POINT = 64
"""People who share a value are spread over at most so many places, where several quantiles are asked for."""


def rank_error(
    at: Sequence[object],
    *,
    points: int,
    epsilon: object,
    with_probability: object = "0.95",
    neighbours: str = "add-remove",
    sharing: object = 0,
) -> float:
    """The rank error that no answer exceeds with this probability, whatever the data.

    Args:
        points: how many points the public grid has.
        sharing: for several quantiles: the most people who share one of the 64 places of a grid point.

    Example:
        >>> rank_error([0.5], points=121, epsilon=1)
        7.791522819150733
        >>> round(rank_error([0.25, 0.5, 0.75], points=121, epsilon=1), 1)
        104.4
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
    """The ε that ``rank_error`` asks for such an error; enough for any data.

    Example:
        >>> round(epsilon_for_rank_error([0.5], points=121, at_most=10), 3)
        0.779
    """
    factor, lumps = _factor(at, points, with_probability, neighbours, sharing)
    room = positive("at_most", at_most) - lumps
    if room <= 0:
        raise ParameterError(
            f"⟨at_most⟩{at_most!r} is not allowed: people who share a place alone can make it "
            f"{float_up(lumps):g}"
        )
    return float_up(factor / room)


def _factor(
    at: Sequence[object], points: int, with_probability: object, neighbours: str, sharing: object
) -> tuple[Fraction, Fraction]:
    """ε times the part of the error that falls with ε, and the part that does not."""
    if isinstance(at, str) or not isinstance(at, Sequence) or not at:
        raise refuse("at", at, "a list of levels, such as [0.1, 0.5, 0.9]")
    levels = [probability("at", level) for level in at]
    if not all(0 < level < 1 for level in levels):
        raise refuse("at", at, "levels strictly between 0 and 1")
    failing = 1 - probability("with_probability", with_probability)
    if not 0 < failing < 1:
        raise refuse("with_probability", with_probability, "strictly between 0 and 1")
    number, depths = whole("points", points), len(levels).bit_length()
    twice = 2 if Neighbours.named(neighbours) == REPLACE else 1
    if depths == 1:
        # One quantile is moved by its own distance: 2·max(α, 1 − α), or 2 under replacement.
        widest = 2 * max(levels[0], 1 - levels[0]) if twice == 1 else Fraction(2)
        odds = number / failing
    else:
        widest = Fraction(2 * depths * depths * twice)
        odds = len(levels) * number * PLACES_PER_POINT / failing
    logarithm = upper_bound(lambda ratio: ratio.log(), Fraction(odds))
    return widest * Fraction(logarithm), (depths - 1) * non_negative("sharing", sharing)
