"""The exponential mechanism: its distribution, its guarantee, and its sampler against a plain one."""

from __future__ import annotations

import itertools

import numpy as np

from discreet import ZCDP, BoundedRange, Exponential, PureDP, Scores
from tests.tools.sampling import plain
from tests.tools.sampling.agreement import agree

COUNTS = [9, 8, 8, 4, 0]


def test_its_probabilities_are_those_of_the_definition() -> None:
    scores = Scores(COUNTS, sensitivity=1, monotonic=True)
    weights = np.exp(np.array(COUNTS, dtype=float) - max(COUNTS))
    assert np.allclose(Exponential(epsilon=1).probabilities(scores), weights / weights.sum())


def test_the_fast_sampler_and_the_plain_one_have_the_same_law() -> None:
    agree(Exponential(epsilon="0.5"), plain.exponential, COUNTS)


def test_one_person_moves_no_two_answers_apart_by_more_than_epsilon() -> None:
    """Check bounded range by brute force, over all small counts and all changes by one person."""
    mechanism, widest = Exponential(epsilon=1), 0.0
    for counts in itertools.product(range(3), repeat=3):
        before = np.log(mechanism.probabilities(Scores(list(counts), sensitivity=1)))
        for moved in itertools.product((-1, 0, 1), repeat=3):
            more = [count + move for count, move in zip(counts, moved, strict=True)]
            loss = np.log(mechanism.probabilities(Scores(more, sensitivity=1))) - before
            widest = max(widest, float(loss.max() - loss.min()))
    assert 1 - 1e-9 < widest <= 1 + 1e-9


def test_what_it_promises_in_each_measure() -> None:
    scores, mechanism = Scores(COUNTS, sensitivity=1), Exponential(epsilon=1)
    assert mechanism.guarantee(scores) == PureDP(1)
    assert mechanism.guarantee(scores, BoundedRange) == BoundedRange(1)
    assert mechanism.guarantee(scores, ZCDP) <= ZCDP("0.125")
