"""The rank error promised before any data is read: real questions stay within it, and it is rounded up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import PermuteAndFlip
from discreet.analysis import epsilon_for_rank_error, rank_error
from discreet.analysis.rank_error import FINEST, LARGEST_LINE, LINE, USUAL, fineness, most_sharing
from discreet.errors import ParameterError
from discreet.questions.quantiles import recursive
from discreet.testing import scripted


def test_lines_are_as_fine_as_their_size_allows() -> None:
    for points in (2, 121, 1024, 5000, 2**16, 2**20, 10**7):
        for groups in (1, 7, 10_000):
            coins = fineness(points, groups)
            assert 0 <= coins <= FINEST
            assert coins == 0 or points << coins <= LARGEST_LINE
            assert coins <= USUAL or (points * groups) << coins <= LINE
            assert coins <= fineness(points)


def test_a_choice_inherits_the_errors_of_both_ends_in_proportion() -> None:
    """Check quartiles by hand (all relative levels are 1/2); the error is at most depth times one choice."""
    one = rank_error(["0.5"], points=3 * 1024, epsilon=1)  # the same logarithm, at a distance of 1
    three = rank_error(["0.25", "0.5", "0.75"], points=3, epsilon=1)
    assert three == pytest.approx(
        2 * (1 + 0.5) * rank_error(["0.5"], points=3 * 3 << 10, epsilon=1)
    )
    assert three > one
    shared = rank_error(["0.25", "0.5", "0.75"], points=3, epsilon=1, sharing=8)
    assert shared == pytest.approx(three + 4)
    many = [Fraction(i, 100) for i in range(1, 100)]
    simple = 7 * 7 * rank_error(["0.5"], points=99 * 50 << 10, epsilon=1) * 2
    assert rank_error(many, points=50, epsilon=1) < simple / 2


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("at", [["0.5"], ["0.9"], ["0.25", "0.5", "0.75"]])
def test_errors_stay_within_the_promise(at: list[str], relation: str) -> None:
    """At a failure rate of 10⁻⁹ no draw exceeds the bound, but some draw exceeds a hundredth of it."""
    people = np.array([7 * i % 11 for i in range(300)])
    levels = [Fraction(level) for level in at]
    depths, steps = len(levels).bit_length(), 2 if relation == "replace" and len(levels) > 1 else 1
    inner = "add-remove" if steps == 2 else relation
    chooser = PermuteAndFlip(epsilon=Fraction(1, 10) / (depths * steps))
    promised = rank_error(
        at,
        points=300,
        epsilon="0.1",
        with_probability="0.999999999",
        neighbours=relation,
        sharing=10,
    )
    up_to, total = np.cumsum(people), int(people.sum())
    worst, bits = 0.0, scripted("rank errors")
    for _ in range(30):
        places = recursive(people, levels, chooser, neighbours=inner, bits=bits)
        for place, level in zip(places, levels, strict=True):
            short = max(
                level * total - up_to[place], up_to[place] - people[place] - level * total, 0
            )
            worst = max(worst, float(short))
    assert 0.01 * promised < worst <= promised


def test_the_epsilon_for_an_error_gives_that_error() -> None:
    for at in (["0.5"], ["0.1", "0.9"]):
        epsilon = epsilon_for_rank_error(
            at, points=1001, at_most=40, neighbours="replace", sharing=3
        )
        assert (
            rank_error(at, points=1001, epsilon=epsilon, neighbours="replace", sharing=3)
            <= 40.0000001
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at": "0.5"}, "at='0.5'"),
        ({"at": [0]}, "at="),
        ({"at": [0.5] * 5}, "all different"),
        ({"at": [0.5, "0.5"]}, "all different"),
        ({"points": 0}, "points=0"),
        ({"with_probability": 1}, "with_probability=1"),
        ({"at_most": 5, "sharing": 90, "at": [0.1, 0.9]}, "at_most=5"),
        ({"neighbours": "twins"}, "twins"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {"at": [0.5], "points": 100, "at_most": 10}
    with pytest.raises(ParameterError, match=words):
        epsilon_for_rank_error(**{**usual, **options})


def test_no_more_people_share_a_place_than_promised() -> None:
    """Compare with the exact binomial tail, over all positions."""
    from scipy.stats import binom

    for people in (5, 1000, 400_000):
        most = most_sharing(people, points=121, fails=Fraction(1, 40))
        places = 1 << fineness(121)
        assert 121 * places * binom.sf(most, people, 1 / places) <= 1 / 40
