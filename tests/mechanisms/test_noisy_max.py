"""Noisy max with three kinds of noise: distributions, and each fast sampler against a plain one."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import Exponential, NoisyMax, PermuteAndFlip, PureDP, Scores
from discreet.errors import ParameterError
from tests.tools.sampling import plain
from tests.tools.sampling.agreement import agree

COUNTS = [9, 8, 8, 4, 0]


def test_exponential_noise_is_permute_and_flip_and_gumbel_noise_the_exponential_mechanism() -> None:
    scores = Scores(COUNTS, sensitivity=1)
    for noise, other in (("exponential", PermuteAndFlip), ("gumbel", Exponential)):
        noisy = NoisyMax(epsilon=1, noise=noise).probabilities(scores)
        assert np.allclose(noisy, other(epsilon=1).probabilities(scores))


@pytest.mark.parametrize(
    ("noise", "sampler"),
    [
        ("exponential", plain.permute_and_flip),
        ("laplace", plain.noisy_max("laplace")),
        ("gumbel", plain.noisy_max("gumbel")),
    ],
)
def test_the_fast_sampler_and_the_plain_one_have_the_same_law(
    noise: str, sampler: plain.Sampler
) -> None:
    agree(NoisyMax(epsilon="0.5", noise=noise), sampler, COUNTS)


def test_laplace_noise_promises_epsilon_and_is_less_accurate() -> None:
    scores = Scores(COUNTS, sensitivity=1)
    laplace = NoisyMax(epsilon=1, noise="laplace")
    assert laplace.guarantee(scores) == PureDP(1)
    assert laplace.probabilities(scores)[0] < PermuteAndFlip(epsilon=1).probabilities(scores)[0]


def test_another_noise_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(ParameterError, match="exponential"):
        NoisyMax(epsilon=1, noise="gaussian")
