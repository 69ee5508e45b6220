"""No measured loss between neighbours exceeds the guarantee, in any measure, for any mechanism."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from discreet import ZCDP, ApproxDP, BoundedRange, PureDP, Scores
from discreet.mechanisms import MECHANISMS

PRIVATE = [name for name, factory in MECHANISMS.items() if factory(epsilon=1).private]
PURE = [
    name
    for name in PRIVATE
    if MECHANISMS[name](epsilon=1).guarantee(Scores([0], sensitivity=1)) == PureDP(1)
]
"""The others promise (ε, δ) only; tests/mechanisms/test_large_gap.py audits those."""
Vector = tuple[Fraction, ...]

# Whole and half steps of Δ = 1: ties, near ties and clear winners.
LEVELS = [Fraction(number, 2) for number in (0, 1, 2, 5)]
SLACK = 1e-11
"""The probabilities are floats, right to a few parts in 10¹⁴."""


def _neighbours(count: int, *, monotonic: bool) -> list[tuple[Vector, Vector]]:
    moves = (0, 1) if monotonic else (-1, 0, 1)
    return [
        (before, tuple(score + step for score, step in zip(before, move, strict=True)))
        for before in itertools.product(LEVELS, repeat=count)
        for move in itertools.product(moves, repeat=count)
        if any(move) and min(before) == 0
    ]


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_measured_losses_stay_within_the_guarantee(
    name: str, monotonic: bool, epsilon: str
) -> None:
    mechanism = MECHANISMS[name](epsilon=epsilon)

    @cache
    def logs(shifted: Vector) -> np.ndarray[Any, Any]:
        scores = Scores(shifted, sensitivity=1, monotonic=monotonic)
        return mechanism.log_probabilities(scores)

    def law(vector: Vector) -> np.ndarray[Any, Any]:
        lowest = min(vector)  # mechanisms see differences only, so the cache may too
        return logs(tuple(value - lowest for value in vector))

    pairs = _neighbours(2, monotonic=monotonic) + _neighbours(3, monotonic=monotonic)[::3]
    public = Scores([0], sensitivity=1, monotonic=monotonic)
    pure = mechanism.guarantee(public, PureDP).epsilon
    width = mechanism.guarantee(public, BoundedRange).epsilon
    rho = mechanism.guarantee(public, ZCDP).rho
    spent = {d: mechanism.guarantee(public, ApproxDP, d).epsilon for d in (1e-3, 0.02, 0.2)}
    largest = 0.0
    for before, after in pairs:
        for p, q in ((law(before), law(after)), (law(after), law(before))):
            loss = p - q
            largest = max(largest, float(np.abs(loss).max()))
            assert np.abs(loss).max() <= pure + SLACK
            assert np.ptp(loss) <= width + SLACK
            for order in (1.001, 2.0, 10.0):
                moment = math.log(math.fsum(np.exp(p + (order - 1) * loss))) / (order - 1)
                assert moment <= order * rho + SLACK
            for delta, limit in spent.items():
                excess = math.fsum(np.maximum(0.0, np.exp(p) - math.exp(limit) * np.exp(q)))
                assert excess <= delta + SLACK
    # Not vacuous: some neighbours come a good part of the way.
    assert largest > pure / 4


@pytest.mark.parametrize("name", PRIVATE)
def test_a_distance_twice_as_large_would_be_noticed(name: str) -> None:
    """The power of the check: scores that move by more than they declare break the guarantee."""
    mechanism = MECHANISMS[name](epsilon=1)
    p, q = (
        mechanism.log_probabilities(Scores(values, sensitivity=1))
        for values in ([0, 9, 0], [4, 5, 0])
    )
    assert np.abs(p - q).max() > 1


def test_permute_and_flip_is_not_bounded_by_the_published_range() -> None:
    """Two candidates at (Δ, 0) and (0, Δ): the range is 2 ln(2e^(ε/2) − 1), above ε, and is what we say."""
    mechanism = MECHANISMS["permute-and-flip"](epsilon=1)
    p, q = (
        mechanism.log_probabilities(Scores(values, sensitivity=1)) for values in ([1, 0], [0, 1])
    )
    measured = float(np.ptp(p - q))
    assert measured > 1.66
    reported = mechanism.guarantee(Scores([0], sensitivity=1), BoundedRange).epsilon
    assert measured == pytest.approx(reported, abs=1e-13)
