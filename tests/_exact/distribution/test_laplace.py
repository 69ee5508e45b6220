"""Noisy max with Laplace noise against ball arithmetic, in extreme cases, and for many candidates."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet._exact.distribution import noisy_max_laplace, reference
from discreet.errors import ScoresError

Errors = tuple[Callable[..., float], Callable[..., float]]


@pytest.mark.parametrize("size", [2, 3, 10, 150])
def test_every_probability_is_right_to_thirteen_digits(
    shape_of_size: Callable[[int], Any], errors: Errors, size: int
) -> None:
    shape = shape_of_size(size)
    balls = reference.noisy_max_laplace_ball(shape.exact, bits=80)
    relative, logarithmic = errors
    normal = np.array([float(ball) >= 1e-307 for ball in balls])
    found = noisy_max_laplace(shape.gaps, shape.correction)
    chosen = [ball for ball, keep in zip(balls, normal, strict=True) if keep]
    assert relative(found[normal], chosen) < 1e-13
    assert logarithmic(noisy_max_laplace(shape.gaps, shape.correction, log=True), balls) < 1e-14
    assert abs(math.fsum(found.tolist()) - 1) < 1e-13


def test_a_thousand_are_right_in_absolute_and_relative_terms(thousand: Any, errors: Errors) -> None:
    balls = reference.noisy_max_laplace_ball(thousand.exact, bits=64)
    found = noisy_max_laplace(thousand.gaps, thousand.correction)
    assert max(abs(p - float(b)) for p, b in zip(found.tolist(), balls, strict=True)) < 1e-12
    _, logarithmic = errors
    logs = noisy_max_laplace(thousand.gaps, thousand.correction, log=True)
    assert logarithmic(logs, balls) < 1e-13


@pytest.mark.parametrize("gap", [0.0, 1e-320, 1e-12, 0.5, 3.0, 37.0, 45.0, 690.0])
def test_two_candidates_have_a_closed_form(gap: float) -> None:
    best, other = noisy_max_laplace([0.0, gap])
    assert other == pytest.approx(math.exp(-gap) * (2 + gap) / 4, rel=1e-14)
    assert best == pytest.approx(1 - math.exp(-gap) * (2 + gap) / 4, rel=1e-14)


@pytest.mark.parametrize("size", [1, 2, 40, 100, 3000, 10**6])
def test_equal_gaps_share_equally(size: int) -> None:
    np.testing.assert_allclose(noisy_max_laplace(np.zeros(size)), 1 / size, rtol=1e-13)


def test_logarithms_survive_where_probabilities_do_not() -> None:
    gaps = np.array([0.0, 1e4, 1e10, 1e300, np.inf])
    found = noisy_max_laplace(gaps, log=True)
    assert found[0] == 0
    # Against a single best, the chance is e^{−g}(1/2 + g/4); here only the second best is near.
    assert found[1] == pytest.approx(-1e4 + math.log((2 + 1e4) / 4), rel=1e-15)
    assert found[2] == pytest.approx(-1e10, rel=1e-8)
    assert found[3] == pytest.approx(-1e300)
    assert found[4] == -np.inf
    assert noisy_max_laplace(gaps)[4] == 0


@pytest.mark.parametrize("spread", [0.1, 10.0, 30.0, 1e3, 1e5, 1e8])
def test_many_probabilities_sum_to_one(spread: float) -> None:
    for size in (10**3, 10**5, 10**6):
        gaps = spread * ((np.arange(size) * 0.6180339887498949) % 1.0)
        assert abs(math.fsum(noisy_max_laplace(gaps).tolist()) - 1) < 1e-12


def test_one_best_and_a_crowd_just_where_it_matters() -> None:
    for distance in (5.0, 14.0, 20.0, 45.0, 100.0):
        gaps = np.full(10**5, distance)
        gaps[-1] = 0.0
        found = noisy_max_laplace(gaps)
        assert abs(math.fsum(found.tolist()) - 1) < 1e-12
        assert np.isfinite(noisy_max_laplace(gaps, log=True)).all()


def test_a_hundred_thousand_take_less_than_two_seconds() -> None:
    """It takes a few milliseconds; the limit is what the documentation promises."""
    for spread in (1.0, 100.0, 1e5):
        gaps = spread * ((np.arange(10**5) * 0.6180339887498949) % 1.0)
        start = time.process_time()
        noisy_max_laplace(gaps)
        assert time.process_time() - start < 2


@pytest.mark.parametrize("gaps", [[], [1.0], [0.0, -1.0], [0.0, math.nan], [[[0.0]]]])
def test_gaps_that_break_a_rule_are_refused(gaps: Any) -> None:
    with pytest.raises(ScoresError):
        noisy_max_laplace(gaps)
