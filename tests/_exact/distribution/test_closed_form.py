"""The exponential mechanism's probabilities, against ball arithmetic and in extreme cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet._exact.distribution import exponential, reference

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


def test_logarithms_survive_where_probabilities_do_not() -> None:
    gaps = [0.0, 1e300, np.inf]
    np.testing.assert_array_equal(exponential(gaps, log=True), [0.0, -1e300, -np.inf])
