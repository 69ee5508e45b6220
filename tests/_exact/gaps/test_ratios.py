"""The ratios for unequal sensitivities: the definition against the computation by a convex hull."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet._exact.gaps.ratios import ratios


def by_definition(
    values: list[Fraction], steps: list[Fraction], shift: Fraction, *, monotonic: bool
) -> list[Fraction]:
    """Compute the ratios from every pair, as the proof page defines them."""
    heights = [q - shift * step for q, step in zip(values, steps, strict=True)]
    return [
        min(
            (heights[i] - heights[j]) / (max(one, two) if monotonic else one + two)
            for j, two in enumerate(steps)
            if j != i
        )
        for i, one in enumerate(steps)
    ]


@pytest.mark.parametrize("monotonic", [False, True])
def test_the_hull_finds_what_the_definition_says(monotonic: bool) -> None:
    made = random.Random(20261117)  # noqa: S311 - invented scores
    for _ in range(300):
        size = made.randint(2, 7)
        steps = [Fraction(made.randint(1, 4), made.choice((1, 2, 3))) for _ in range(size)]
        if made.random() < 0.3:
            steps[made.randrange(size)] = Fraction(0)
        values = [Fraction(made.randint(-3, 5), made.choice((1, 3))) for _ in range(size)]
        for shift in (Fraction(0), Fraction(7, 3)):
            found = ratios(values, steps, shift=shift, monotonic=monotonic)
            assert found == by_definition(values, steps, shift, monotonic=monotonic)


@pytest.mark.parametrize("monotonic", [False, True])
def test_numbers_of_any_size_stay_exact(monotonic: bool) -> None:
    values = [2**62, 2**62 - 1, 0.1, -(2**300)]
    steps = [Fraction(1, 3), Fraction(10) ** 30, Fraction(0), Fraction(1)]
    exact = [Fraction(value) for value in values]
    found = ratios(values, steps, shift=Fraction(1, 7), monotonic=monotonic)
    assert found == by_definition(exact, steps, Fraction(1, 7), monotonic=monotonic)


def test_one_candidate_has_nobody_to_lead() -> None:
    assert ratios([5], [Fraction(3)], shift=Fraction(2), monotonic=False) == [0]
