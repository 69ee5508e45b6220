"""The exponential mechanism and exponential randomized response, against balls and at the edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.distribution import exponential, exponential_randomized_response, reference
from discreet.errors import ParameterError, ScoresError

Errors = tuple[Callable[..., float], Callable[..., float]]


@pytest.mark.parametrize("size", [1, 2, 50, 1000])
def test_exponential_is_right_to_the_last_digits(
    shape_of_size: Callable[[int], Any], errors: Errors, size: int
) -> None:
    shape = shape_of_size(max(size, 2))
    balls = reference.exponential_ball(shape.exact)
    relative, logarithmic = errors
    normal = np.array([float(ball) >= 1e-307 for ball in balls])
    chosen = [ball for ball, keep in zip(balls, normal, strict=True) if keep]
    assert relative(exponential(shape.gaps, shape.correction)[normal], chosen) < 2e-15
    assert logarithmic(exponential(shape.gaps, shape.correction, log=True), balls) < 2e-15


@pytest.mark.parametrize("truth", [Fraction(0), Fraction(1, 4), Fraction(3, 4), Fraction(1)])
def test_randomized_response_mixes_the_two(
    shape_of_size: Callable[[int], Any], errors: Errors, truth: Fraction
) -> None:
    shape = shape_of_size(30)
    top = shape.gaps <= 1.0
    balls = reference.exponential_randomized_response_ball(shape.exact, top.tolist(), truth)
    found = exponential_randomized_response(
        shape.gaps, top, float(truth), correction=shape.correction
    )
    logs = exponential_randomized_response(
        shape.gaps, top, float(truth), correction=shape.correction, log=True
    )
    certain = np.array([not ball.is_zero() and float(ball) > 1e-307 for ball in balls])
    chosen = [ball for ball, keep in zip(balls, certain, strict=True) if keep]
    relative, logarithmic = errors
    assert relative(found[certain], chosen) < 2e-15
    assert logarithmic(logs[certain], chosen) < 2e-15
    if truth == 1:
        assert not found[~top].any()
        assert np.all(logs[~top] == -np.inf)
    assert math.fsum(found.tolist()) == pytest.approx(1, abs=1e-14)


def test_logarithms_survive_where_probabilities_do_not() -> None:
    gaps, top = [0.0, 1e300, np.inf], [True, False, False]
    np.testing.assert_array_equal(exponential(gaps, log=True), [0.0, -1e300, -np.inf])
    np.testing.assert_array_equal(
        exponential_randomized_response(gaps, top, 0.5, log=True), [0.0, -1e300, -np.inf]
    )


@pytest.mark.parametrize("truth", [-0.1, 1.1, math.nan])
def test_a_truth_that_is_no_probability_is_refused_and_echoed(truth: float) -> None:
    with pytest.raises(ParameterError, match=str(truth)):
        exponential_randomized_response([0.0, 1.0], [True, False], truth)


@pytest.mark.parametrize("top", [[False, False], [True], [1, 0]])
def test_a_top_set_that_is_none_is_refused(top: list[Any]) -> None:
    with pytest.raises(ScoresError):
        exponential_randomized_response([0.0, 1.0], top, 0.5)
