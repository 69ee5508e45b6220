"""Permute-and-flip's probabilities against ball arithmetic, in extreme cases, and for a million scores."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._exact.distribution import permute_and_flip, reference
from discreet.errors import ScoresError

Errors = tuple[Callable[..., float], Callable[..., float]]


@pytest.mark.parametrize("size", [2, 3, 10, 256, 257, 1000])
def test_every_probability_is_right_to_thirteen_digits(
    shape_of_size: Callable[[int], Any], errors: Errors, size: int
) -> None:
    shape = shape_of_size(size)
    balls = reference.permute_and_flip_ball(shape.exact, bits=100)
    relative, logarithmic = errors
    normal = np.array([float(ball) >= 1e-307 for ball in balls])  # below, float64 has fewer digits
    found = permute_and_flip(shape.gaps, shape.correction)
    chosen = [ball for ball, keep in zip(balls, normal, strict=True) if keep]
    assert relative(found[normal], chosen) < 1e-13
    assert logarithmic(permute_and_flip(shape.gaps, shape.correction, log=True), balls) < 1e-14
    assert abs(math.fsum(found.tolist()) - 1) < 1e-13


def test_the_correction_is_needed_and_used(splitter: Callable[..., Any], errors: Errors) -> None:
    shape = splitter([Fraction(0), Fraction(2000, 3)])
    balls = reference.permute_and_flip_ball(shape.exact)
    relative, _ = errors
    assert relative(permute_and_flip(shape.gaps), balls) > 1e-14
    assert relative(permute_and_flip(shape.gaps, shape.correction), balls) < 1e-15


@pytest.mark.parametrize("size", [1, 2, 7, 300, 10**6])
def test_equal_gaps_share_equally(size: int) -> None:
    found = permute_and_flip(np.zeros(size))
    np.testing.assert_allclose(found, 1 / size, rtol=1e-14)
    np.testing.assert_allclose(
        permute_and_flip(np.zeros(size), log=True), -math.log(size), rtol=1e-15, atol=1e-15
    )


@pytest.mark.parametrize("gap", [0.0, 1e-320, 1e-9, 1.0, 30.0, 700.0])
def test_two_candidates_have_a_closed_form(gap: float) -> None:
    best, other = permute_and_flip([0.0, gap])
    assert other == pytest.approx(math.exp(-gap) / 2, rel=1e-15)
    assert best == pytest.approx(1 - math.exp(-gap) / 2, rel=1e-15)


def test_logarithms_survive_where_probabilities_do_not() -> None:
    gaps = np.array([0.0, 800.0, 1e10, 1e300, np.inf])
    np.testing.assert_array_equal(permute_and_flip(gaps), [1.0, 0.0, 0.0, 0.0, 0.0])
    expected = [0.0, -800 - math.log(2), -1e10 - math.log(2), -1e300, -np.inf]
    np.testing.assert_allclose(permute_and_flip(gaps, log=True), expected, rtol=1e-15)


def test_an_infinite_gap_needs_no_correction() -> None:
    with_nan = np.array([0.0, 0.0, np.nan])
    found = permute_and_flip([0.0, 1.0, np.inf], with_nan)
    np.testing.assert_array_equal(found[:2], permute_and_flip([0.0, 1.0]))
    assert found[2] == 0


def test_one_best_and_a_million_far_behind() -> None:
    gaps = np.full(10**6, 14.0)
    gaps[123] = 0.0
    found = permute_and_flip(gaps)
    coin, others = math.exp(-14.0), 10**6 - 1
    # r beats a binomial number of others; the best candidate wins otherwise.
    exact = [
        math.comb(others, k) * coin**k * (1 - coin) ** (others - k) / (k + 1) for k in range(25)
    ]
    assert found[123] == pytest.approx(math.fsum(exact), rel=1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("spread", [0.01, 1.0, 10.0, 14.0, 1e3, 1e6])
def test_a_million_probabilities_sum_to_one(spread: float) -> None:
    gaps = spread * ((np.arange(10**6) * 0.6180339887498949) % 1.0)
    assert abs(math.fsum(permute_and_flip(gaps).tolist()) - 1) < 1e-12


def test_a_million_take_a_few_arrays() -> None:
    gaps = (np.arange(10**6) * 0.6180339887498949) % 1.0
    permute_and_flip(gaps[:1000])
    tracemalloc.start()
    permute_and_flip(gaps)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * gaps.nbytes


def test_a_million_take_at_most_twenty_times_a_softmax() -> None:
    """The measured factor is 2 to 7, depending on the processor's exp; all nodes for all coins would take 40.

    The test takes the least processor time of several runs, so a busy machine does not matter.
    """
    gaps = 10.0 * ((np.arange(10**6) * 0.6180339887498949) % 1.0)

    def softmax() -> None:
        weights = np.exp(-gaps)
        weights /= weights.sum()

    def least(call: Callable[[], object]) -> float:
        times = []
        for _ in range(7):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
        return min(times)

    assert least(lambda: permute_and_flip(gaps)) < 20 * least(softmax)


@pytest.mark.parametrize(
    "gaps",
    [[], [[[0.0]]], [1.0], [0.0, -1.0], [0.0, math.nan], [math.inf], 0.0],
    ids=["empty", "cube", "no zero", "negative", "nan", "infinite", "scalar"],
)
def test_gaps_that_break_a_rule_are_refused(gaps: Any) -> None:
    with pytest.raises(ScoresError):
        permute_and_flip(gaps)


@pytest.mark.parametrize("correction", [[0.0], [0.0, math.nan], [0.0, math.inf]])
def test_corrections_that_break_a_rule_are_refused(correction: list[float]) -> None:
    with pytest.raises(ScoresError):
        permute_and_flip([0.0, 1.0], correction)
