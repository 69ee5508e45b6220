"""Scores with different sensitivities, and the two ways to compare them.

*largest* uses one range distance for all candidates: the most that the two largest sensitivities allow.
*ratios* divides each lead by the most that one person can change it (``discreet._exact.gaps.ratios``).
Neither is always better (``docs/proofs/unequal-sensitivities.md``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet._exact.gaps.ratios import ratios
from discreet._exact.numbers.exact import float_up
from discreet._exact.numbers.printing import figure
from discreet.scores import LARGEST, RATIOS, Scores, largest_distance, recommended_way

RATIO_DISTANCE = Fraction(2)
"""The most by which one person moves two ratios apart."""


@dataclass(frozen=True, slots=True)
class UnequalWays:
    """The two ways to compare scores with different sensitivities, each with a bound on its error.

    With probability 19/20 the chosen score is below the best by at most the bound. The bound of *largest*
    does not depend on the data. The bound of *ratios* is proportional to the best candidate's sensitivity,
    which is not known.

    Attributes:
        recommended: the default way: *ratios* if its bound is smaller for more than half of the candidates.
        largest: the bound of *largest*.
        ratios: the smallest and the largest bound of *ratios*.
        better_below: *ratios* has the smaller bound if the best candidate's sensitivity is below this.

    Example:
        >>> print(ways_for([Fraction(1)] * 199 + [Fraction(100)], epsilon=Fraction(1), monotonic=False))
        ratios: 33.6 to 3360 points off at worst, depending on the sensitivity of the best candidate; \
largest: 848.4; ratios have the smaller bound if that sensitivity is below 25.25. By default: ratios.
    """

    recommended: str
    largest: Fraction
    ratios: tuple[Fraction, Fraction]
    better_below: Fraction

    def __str__(self) -> str:
        least, most, largest = (figure(each, up=True) for each in (*self.ratios, self.largest))
        return (
            f"{RATIOS}: {least} to {most} points off at worst, depending on the sensitivity of the best "
            f"candidate; {LARGEST}: {largest}; {RATIOS} have the smaller bound if that sensitivity is below "
            f"{figure(self.better_below, up=False)}. By default: {self.recommended}."
        )


def ways_for(
    sensitivities: Sequence[Fraction], *, epsilon: Fraction, monotonic: bool
) -> UnequalWays:
    """Return both ways to compare scores with different sensitivities, with the error bound of each.

    Args:
        sensitivities: the public sensitivities, one for each candidate.
        epsilon: ε of the mechanism that will choose.
        monotonic: whether one person moves all scores in the same direction.

    Example:
        >>> ways = ways_for([Fraction(1)] * 199 + [Fraction(100)], epsilon=Fraction(1), monotonic=False)
        >>> ways.recommended, float(ways.largest), float(ways.better_below)
        ('ratios', 848.4, 25.25)
    """
    reach = reach_of(len(sensitivities))
    largest = largest_distance(sensitivities, monotonic=monotonic) / epsilon * reach
    # Twice the shift; multiplied by the best candidate's sensitivity, this is the bound of *ratios*.
    each = 2 * RATIO_DISTANCE / epsilon * reach
    return UnequalWays(
        recommended_way(sensitivities, monotonic=monotonic),
        largest,
        (each * min(sensitivities), each * max(sensitivities)),
        largest / each,
    )


def reach_of(count: int) -> Fraction:
    """Return a number a little above ln(20n), where n is ``count``.

    With probability 19/20, permute-and-flip and the exponential mechanism choose a candidate that is at most
    this many noise scales behind the best of n.
    """
    return Fraction(7, 10) * (20 * count).bit_length()


def shortfall_of_ratios(form: Scores, epsilon: Fraction | None, noise: float) -> float:
    """Return how far below the best score a choice by *ratios* can be, whichever candidate is best.

    ``noise`` bounds how far the chosen candidate's ratio is below the largest ratio. The bound holds with a
    probability that the caller chose, and the result holds with the same probability. The shift, 2/ε times
    ``reach_of(n)``, keeps a candidate of large sensitivity from winning by noise. If the probability is at
    most 19/20, ``noise`` is at most the shift (``docs/proofs/unequal-sensitivities.md``).

    Example:
        >>> form = Scores([0, 0], sensitivity=[1, 2], unequal=RATIOS)
        >>> float(RATIO_DISTANCE * reach_of(2))  # the shift at ε = 1
        8.4
        >>> shortfall_of_ratios(form, Fraction(1), 7.5), shortfall_of_ratios(form, Fraction(1), 10.0)
        (31.8, 40.0)
    """
    assert isinstance(form.sensitivity, tuple)
    assert epsilon is not None
    shift, behind = RATIO_DISTANCE / epsilon * reach_of(len(form)), Fraction(noise)
    # A noise above the shift lets a candidate of large sensitivity win from further behind, unless one person
    # moves all scores in the same direction.
    ahead = shift if form.monotonic else max(shift, behind)
    return float_up((ahead + behind) * max(form.sensitivity))


def distance_of(scores: Scores) -> Fraction:
    """Return the most by which one person can move two scores apart, or two ratios if they are used."""
    if not isinstance(scores.sensitivity, tuple):
        return scores.range_distance
    if scores.unequal == RATIOS:
        return RATIO_DISTANCE
    return largest_distance(scores.sensitivity, monotonic=scores.monotonic)


def compared(scores: Scores, *, scale: Fraction, largest_is_best: bool) -> Scores:
    """Return the numbers that are compared at this noise scale: the scores themselves, or their ratios."""
    steps = scores.sensitivity
    assert isinstance(steps, tuple)
    if scores.unequal == LARGEST:
        return Scores(
            scores.values, candidates=scores.candidates, range_distance=distance_of(scores)
        )
    sign = 1 if largest_is_best else -1
    found = ratios(
        [sign * value for value in scores.values.tolist()],
        steps,
        shift=scale * reach_of(len(steps)),
        monotonic=scores.monotonic,
    )
    return Scores(
        [sign * each for each in found],
        candidates=scores.candidates,
        range_distance=RATIO_DISTANCE,
    )
