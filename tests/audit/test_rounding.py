"""Rounding tests; each fails with probability 1e-9 if the code is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet import PermuteAndFlip, Scores
from discreet.audit import rounding_test
from discreet.errors import ParameterError
from discreet.testing import scripted

GENERATOR = np.random.default_rng(3)
A_THIRD = [(1 / 3, float(np.nextafter(1 / 3, 1)))]
"""One pair of adjacent floats; the default pairs would only take longer."""


def naive_laplace(value: float, size: int) -> Any:
    return value + GENERATOR.laplace(scale=1.0, size=size)


def on_a_grid(value: float, size: int) -> Any:
    """Round both the value and the noise to one grid, so the last bits reveal nothing."""
    noise = GENERATOR.geometric(0.5, size) - GENERATOR.geometric(0.5, size)
    return round(value) + noise.astype(np.float64)


def noise_on_a_grid_only(value: float, size: int) -> Any:
    return value + (GENERATOR.geometric(0.5, size) - GENERATOR.geometric(0.5, size))


def test_noise_on_a_grid_around_a_value_that_is_not_on_it() -> None:
    verdict = rounding_test(noise_on_a_grid_only, size=2000)
    assert verdict.leaks
    assert verdict.loss > 3
    assert verdict.shares[1] == 0
    assert not rounding_test(on_a_grid, pairs=A_THIRD, size=2000).leaks


def test_float_laplace_noise_betrays_zero_by_its_last_bits() -> None:
    """This is the classical leak: a sum with 1 has no bits below 2 to the −53, but noise alone does."""
    verdict = rounding_test(naive_laplace, pairs=[(0.0, 1.0)], epsilon=1.0, size=20_000)
    assert verdict.leaks
    assert verdict.loss > 2 > verdict.allowed
    assert "last bit" in verdict.event
    assert not rounding_test(on_a_grid, pairs=[(0.0, 1.0)], epsilon=1.0, size=20_000).leaks


def test_our_selection_answers_adjacent_scores_alike() -> None:
    bits = scripted(5)

    def sample(value: float, size: int) -> Any:
        scores = Scores([value, 0.3, 0.1], sensitivity=1)
        return PermuteAndFlip(epsilon=1).sample(scores, size, randomness=bits)

    assert not rounding_test(sample, pairs=A_THIRD, size=5000).leaks
    assert rounding_test(lambda value, size: [value > 1.0] * size, size=200).leaks


@pytest.mark.parametrize("options", [{"size": 1}, {"false_alarm": 0}, {"epsilon": -1}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        rounding_test(on_a_grid, **options)
