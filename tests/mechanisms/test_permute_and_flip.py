"""Permute-and-flip: its distribution, its guarantee, and its fast sampler against a plain one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import BoundedRange, PermuteAndFlip, PureDP, Scores
from discreet.errors import ParameterError
from discreet.testing import scripted
from tests.tools.sampling import plain
from tests.tools.sampling.agreement import agree

COUNTS = [9, 8, 8, 4, 0]


def law(gammas: list[Fraction]) -> list[float]:
    """Compute the law by definition: over all orders, the first candidate whose coin e^−γ is heads wins."""
    chances = [math.exp(-gamma) for gamma in gammas]
    found = [0.0] * len(gammas)
    orders = list(itertools.permutations(range(len(gammas))))
    for order in orders:
        reached = 1.0 / len(orders)
        for place in order:
            found[place] += reached * chances[place]
            reached *= 1 - chances[place]
    return found


def test_its_probabilities_are_those_of_the_definition() -> None:
    scores = Scores(COUNTS, sensitivity=1, monotonic=True)
    gammas = [Fraction(max(COUNTS) - count) for count in COUNTS]
    assert np.allclose(PermuteAndFlip(epsilon=1).probabilities(scores), law(gammas), atol=1e-12)


def test_the_fast_sampler_and_the_plain_one_have_the_same_law() -> None:
    agree(PermuteAndFlip(epsilon="0.5"), plain.permute_and_flip, COUNTS)
    agree(PermuteAndFlip(epsilon="0.5"), plain.uniform_head, COUNTS)


def test_one_person_changes_no_probability_by_more_than_a_factor() -> None:
    """Checked by brute force over all small counts and all changes by one more person."""
    mechanism = PermuteAndFlip(epsilon=1)
    worst = 0.0
    for counts in itertools.product(range(4), repeat=3):
        before = mechanism.probabilities(Scores(list(counts), sensitivity=1, monotonic=True))
        for moved in itertools.product((0, 1), repeat=3):
            more = [count + move for count, move in zip(counts, moved, strict=True)]
            after = mechanism.probabilities(Scores(more, sensitivity=1, monotonic=True))
            worst = max(worst, float(np.abs(np.log(after) - np.log(before)).max()))
    assert 0.9 < worst <= 1 + 1e-12


def test_what_it_promises_in_each_measure() -> None:
    scores = Scores(COUNTS, sensitivity=1)
    mechanism = PermuteAndFlip(epsilon=1)
    assert mechanism.guarantee(scores) == PureDP(1)
    # The range is 2 ln(2e^(ε/2) − 1), not the published ε.
    assert mechanism.guarantee(scores, BoundedRange).epsilon == pytest.approx(
        2 * math.log(2 * math.exp(0.5) - 1)
    )


def test_the_noise_follows_the_range_distance() -> None:
    general = PermuteAndFlip(epsilon=1).probabilities(Scores([2, 0], sensitivity=1))
    halved = PermuteAndFlip(epsilon="0.5").probabilities(
        Scores([2, 0], sensitivity=1, monotonic=True)
    )
    assert np.allclose(general, halved)


@pytest.mark.parametrize(
    "wrong", [{}, {"epsilon": 0}, {"epsilon": 1, "scale": 1}, {"epsilon": "x"}]
)
def test_wrong_parameters_are_echoed(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        PermuteAndFlip(**wrong)  # type: ignore[arg-type]


def test_a_study_can_be_repeated_and_a_release_cannot() -> None:
    scores = Scores(COUNTS, sensitivity=1)
    mechanism = PermuteAndFlip(epsilon=1)
    first, second = (mechanism.sample(scores, 50, randomness=scripted(7)) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert mechanism.select_index(scores) in range(len(COUNTS))
