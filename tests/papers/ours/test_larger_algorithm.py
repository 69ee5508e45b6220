"""MWEM: correct without noise, reproducible, with budgets that add up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.guarantees import ZCDP
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.papers.ours.larger_algorithm import (
    RangeQueries,
    epsilon_for_rho,
    gaussian,
    laplace,
    mwem,
)
from discreet.scores import Scores
from discreet.testing import scripted


def test_answers_by_hand() -> None:
    queries = RangeQueries.drawn(scripted(1), bins=16, count=50)
    histogram = np.arange(16, dtype=np.float64)
    by_hand = [histogram[a:b].sum() for a, b in zip(queries.starts, queries.ends, strict=True)]
    assert queries.answers(histogram).tolist() == by_hand
    assert (queries.starts < queries.ends).all()
    assert len(queries) == 50


def test_without_noise_the_estimate_comes_close_and_keeps_the_total() -> None:
    truth = np.array([50.0, 0.0, 0.0, 30.0, 10.0, 10.0, 0.0, 0.0])
    queries = RangeQueries(np.arange(8), np.arange(1, 9))
    estimate = mwem(
        truth, queries, rounds=30, select=lambda s: int(s.argmax()), measure=float, passes=60
    )
    assert estimate.sum() == pytest.approx(100)
    assert np.abs(estimate - truth).max() < 3


def test_the_selection_step_sees_how_far_each_answer_is_off() -> None:
    truth = np.array([6.0, 2.0])
    seen = []

    def select(scores: np.ndarray) -> int:
        seen.append(scores.tolist())
        return 0

    mwem(
        truth,
        RangeQueries(np.array([0, 1]), np.array([1, 2])),
        rounds=1,
        select=select,
        measure=float,
    )
    assert seen == [[2.0, 2.0]]


def test_the_same_seed_gives_the_same_estimate() -> None:
    truth = np.arange(32, dtype=np.float64)
    queries = RangeQueries.drawn(scripted(2), bins=32, count=100)

    def once(seed: int) -> list[float]:
        bits = scripted(seed)
        step = PermuteAndFlip(epsilon=1)
        estimate = mwem(
            truth,
            queries,
            rounds=3,
            select=lambda s: int(step.sample(Scores(s, sensitivity=1), 1, randomness=bits)[0]),
            measure=lambda answer: answer + laplace(bits, 2.0),
        )
        return [float(part) for part in estimate]

    assert once(5) == once(5)
    assert once(5) != once(6)


@pytest.mark.parametrize(
    ("draw", "deviation"),
    [(laplace, math.sqrt(2) * 3.0), (gaussian, 3.0)],
    ids=["laplace", "gaussian"],
)
def test_noise_has_its_mean_and_deviation(draw: object, deviation: float) -> None:
    """The bits are scripted, so the result never changes; the tolerance is six standard errors."""
    bits = scripted("noise")
    sample = np.array([draw(bits, 3.0) for _ in range(4000)])  # type: ignore[operator]  # as parametrised
    assert abs(sample.mean()) < 6 * deviation / math.sqrt(4000)
    assert sample.std() == pytest.approx(deviation, rel=0.12)


@pytest.mark.parametrize("mechanism", [PermuteAndFlip, Exponential])
@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.05])
def test_a_selection_costs_what_it_may(mechanism: type[Mechanism], rho: float) -> None:
    epsilon = epsilon_for_rho(mechanism, rho)
    cost = mechanism(epsilon=epsilon).promise_at(Fraction(2)).to(ZCDP).rho
    dearer = mechanism(epsilon=epsilon * 1.001).promise_at(Fraction(2)).to(ZCDP).rho
    assert cost <= rho < dearer


def test_under_zcdp_the_exponential_mechanism_may_spend_about_twice_the_epsilon() -> None:
    ratio = epsilon_for_rho(Exponential, 1e-4) / epsilon_for_rho(PermuteAndFlip, 1e-4)
    assert 1.9 < ratio < 2.01
