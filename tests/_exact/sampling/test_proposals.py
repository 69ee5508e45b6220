from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet._exact.gaps import Gaps
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling import Bits, ScriptedBits, TapeBits
from discreet._exact.sampling.coins import STANDARD
from discreet._exact.sampling.laplace import LaplaceNoise
from discreet._exact.sampling.proposals import Clock, Noise
from tests.tools.sampling.cases import SMALL
from tests.tools.sampling.proposing import (
    NOISES,
    assert_kept_at_a_random_time,
    assert_law_at_a_given_time,
    assert_rates,
    assert_weights,
)
from tests.tools.sampling.walking import walk


@settings(max_examples=40)
@given(
    size=st.integers(1, 400),
    block=st.sampled_from([1, 3, 16, 32]),
    spread=st.floats(0, 40),
    lowered=st.integers(0, 3),
    cells=st.sampled_from([1, 40, 5000]),
    largest=st.booleans(),
)
def test_everyone_is_proposed_with_the_weight_of_a_level_that_bounds_the_coin(
    *, size: int, block: int, spread: float, lowered: int, cells: int, largest: bool
) -> None:
    values = np.random.default_rng(size).exponential(spread, size)
    for scores in (values, values.astype(np.int64)):
        gaps = Gaps(scores, scale=Fraction(3, 2), largest_is_best=largest, block=block)
        assert_weights(gaps, replace(STANDARD, cells=cells, cut_from=16), lowered=lowered)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(2), Fraction(7)])
@pytest.mark.parametrize("time", [Fraction(1, 1000), Fraction(2, 5), Fraction(9, 10)])
def test_candidates_are_reached_at_the_rate_of_the_noise(gamma: Fraction, time: Fraction) -> None:
    assert_rates(gamma, time)
    for noise in NOISES:
        odds = noise.odds(float(gamma), float(time))
        assert odds == pytest.approx(float(noise.ball(gamma, ball_of(time)).mid()), rel=1e-13)
        assert odds >= 1 - 1e-15


@pytest.mark.parametrize("noise", NOISES, ids=["exponential", "stage 0", "1", "2", "3"])
def test_the_first_kept_has_its_law_at_a_given_time(
    noise: Noise, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_law_at_a_given_time(noise, monkeypatch)


def test_a_proposal_at_a_random_time_is_kept_with_its_exact_chance() -> None:
    assert_kept_at_a_random_time()


def test_time_is_over_with_its_exact_chance() -> None:
    """At rate two, the second proposal comes after time one with probability e^−2·(1 + 2)."""

    def sampler(bits: Bits) -> int:
        clock = Clock(2.0, bits, SMALL)
        clock.proceed(1)
        clock.is_over()
        clock.proceed(2)
        return int(clock.is_over())

    found, left = walk(sampler, 2, most_runs=3_000)
    assert left < 0.2
    assert found[1] <= 3 * math.exp(-2) <= found[1] + left


@pytest.mark.parametrize("number", [1, 30, 3_000])
def test_times_are_within_their_doubt(number: int) -> None:
    for seed in range(5):
        clock = Clock(float(number), ScriptedBits(seed), STANDARD)
        clock.proceed(number // 2)
        clock.proceed(number)
        time, doubt = clock._time()
        assert 0 < doubt < 2e-8
        with ctx.workprec(200):
            assert bool(abs(clock._exact() - time) < doubt / 100)


def test_a_wait_too_long_for_floats_is_settled_by_balls() -> None:
    clock = Clock(1.0, TapeBits([0] * 63 + [1] + [0] * 64), STANDARD)
    clock.proceed(1)
    assert math.isnan(clock._time()[0])
    assert clock.is_over()  # after 63·ln 2


def test_a_stage_too_late_for_floats_is_left_to_balls() -> None:
    assert math.isnan(LaplaceNoise(200).odds(1.0, 0.5))
    assert LaplaceNoise(200).coins.chances(np.array([1.0]))[1] == math.inf
