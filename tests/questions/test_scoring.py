"""How far one person moves the scores of a question, and what proves it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import Exponential, PureDP
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._exact.sampling import SecureBits
from discreet._tables.counts import MOST_COUNTED
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms import LargeGap
from discreet.questions.bound import first_within
from discreet.questions.costs import ANSWER
from discreet.questions.scoring import (
    count_sensitivity,
    quantile_sensitivity,
    quantile_values,
    resting,
)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_promise_for_a_question_names_the_theorem_from_its_table(relation: str) -> None:
    for moved, question, steps in (
        (count_sensitivity(relation), "mode", "counts"),
        (quantile_sensitivity(Fraction(1, 2), relation), "quantile", "quantiles"),
    ):
        distance = Fraction(moved.range_distance)
        promise = resting(Exponential(epsilon=1).promise_at(distance), moved)
        assert promise.to(PureDP).proof == CLAIMS[question, "PureDP"]
        assert promise.direct["answer"] == ANSWER
        # For other laws no single theorem leads from the table to the answer.
        other = resting(LargeGap(epsilon=1).promise_at(distance), moved)
        assert other.proof == CLAIMS["large-gap", "ApproxDP"].then(CLAIMS[steps, relation])
        assert not other.direct
    assert resting(PureDP(1), moved).proof is None


@pytest.mark.parametrize("rows", [1, 3])
def test_scores_of_more_people_than_64_bits_hold_are_exact(rows: int) -> None:
    """Scores of a million times the largest counted table exceed 64 bits, and used to wrap around."""
    people = np.full((rows, 200), MOST_COUNTED, dtype=np.int64)
    people[0, 7] -= 5
    level = Fraction(999_999, 10**6)
    for row, scores in zip(people.tolist(), quantile_values(people, level).tolist(), strict=True):
        total, before = sum(row), 0
        for count, score in zip(row, scores, strict=True):
            short = level.numerator * total - level.denominator * (before + count)
            assert score == -max(0, short, level.denominator * before - level.numerator * total)
            before += count
    scales = NoiseScales(Fraction(1), Fraction(1))
    assert first_within(people[0], level, scales, SecureBits()) == 199
