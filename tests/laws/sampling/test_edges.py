"""The ends of every range, and large inputs: a release must not warn, loop or use too much memory."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet._exact.gaps import Gaps
from discreet._exact.sampling import (
    ScriptedBits,
    SecureBits,
    best_indices,
    laplace_max,
    laplace_maxes,
    proportional,
    proportionals,
    steady_head,
    uniform_best,
    uniform_head,
    uniform_heads,
)
from discreet.errors import ParameterError, ScoresError
from tests.tools.extreme_values import ARRAYS, SCALES

ONE: list[Callable[..., int]] = [uniform_head, proportional, laplace_max, steady_head]
MANY: list[Callable[..., Any]] = [uniform_heads, proportionals, laplace_maxes]
floats = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("values", ARRAYS, ids=lambda a: f"{a.dtype}")
def test_every_sampler_at_the_ends_of_every_range(values: NDArray[Any], largest: bool) -> None:
    bits = ScriptedBits(1)
    with np.errstate(all="raise"):
        for scale in SCALES:
            for one in ONE:
                if one is steady_head and values.dtype == object:
                    continue
                chosen = one(Gaps(values, scale=scale, largest_is_best=largest), bits)
                assert 0 <= chosen < len(values)
            for many in MANY:
                drawn = many(Gaps(values, scale=scale, largest_is_best=largest), 5, bits)
                assert 0 <= int(drawn.min()) <= int(drawn.max()) < len(values)


@settings(max_examples=60)
@given(
    st.lists(floats, min_size=1, max_size=8)
    | st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=8),
    st.fractions(min_value=Fraction(1, 10**330), max_value=10**330).filter(lambda s: s > 0),
    st.booleans(),
)
def test_any_scores_at_any_scale(numbers: list[Any], scale: Fraction, largest: bool) -> None:
    values = np.array(numbers, dtype=object if isinstance(numbers[0], int) else np.float64)
    gammas = [
        Gaps(values, scale=scale, largest_is_best=largest).exact(i) for i in range(len(numbers))
    ]
    possible = {index for index, gamma in enumerate(gammas) if gamma < 1000}
    for one in ONE[:3]:
        assert one(Gaps(values, scale=scale, largest_is_best=largest), SecureBits()) in possible


@pytest.mark.parametrize("one", ONE, ids=lambda f: f.__name__)
def test_one_candidate_is_chosen(one: Callable[..., int]) -> None:
    assert one(Gaps(np.array([3]), scale=Fraction(1)), SecureBits()) == 0


@pytest.mark.parametrize("many", MANY, ids=lambda f: f.__name__)
def test_no_draws_and_one_candidate(many: Callable[..., Any]) -> None:
    gaps = Gaps(np.array([3]), scale=Fraction(1))
    assert many(gaps, 0, SecureBits()).tolist() == []
    assert many(gaps, 3, SecureBits()).tolist() == [0, 0, 0]


@pytest.mark.parametrize("one", ONE, ids=lambda f: f.__name__)
def test_a_million_equal_scores(one: Callable[..., int]) -> None:
    values = np.full(1_000_000, 7.0)
    drawn = [one(Gaps(values, scale=Fraction(1)), ScriptedBits(seed)) for seed in range(6)]
    assert len(set(drawn)) == 6  # two of six uniform indices agree with chance 1.5e-5; bits fixed
    assert max(drawn) > 100_000


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_every_sampler_refuses_what_is_not_finite(bad: float) -> None:
    for size in (3, 50_000):
        values = np.zeros(size)
        values[1] = bad
        with np.errstate(all="raise"):
            for one in ONE:
                with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                    one(Gaps(values, scale=Fraction(1)), SecureBits())
            for many in MANY:
                with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                    many(Gaps(values, scale=Fraction(1)), 4, SecureBits())
            with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                best_indices(values)


def test_a_score_that_became_the_worst_possible_is_never_chosen() -> None:
    """``Scores`` refuses such a score, but an array that changed afterwards may contain it."""
    values = np.array([-math.inf, 0.0])
    with np.errstate(all="raise"):
        for one in ONE:
            assert one(Gaps(values, scale=Fraction(1)), SecureBits()) == 1
        for many in MANY:
            assert many(Gaps(values, scale=Fraction(1)), 4, SecureBits()).tolist() == [1] * 4


def test_the_best_at_scale_zero() -> None:
    values = np.array([3, 9, 9, 1])
    assert best_indices(values).tolist() == [1, 2]
    assert best_indices(values, largest_is_best=False).tolist() == [3]
    drawn = uniform_best(values, 1_000, ScriptedBits(1))
    assert set(drawn.tolist()) == {1, 2}
    assert abs(int((drawn == 1).sum()) - 500) < 5 * 250**0.5
    big = np.zeros(100_000, dtype=np.float32)
    big[70_000:] = 1
    assert best_indices(big).tolist() == list(range(70_000, 100_000))


@pytest.mark.parametrize("one", ONE[:3], ids=lambda f: f.__name__)
def test_large_inputs_take_every_plan(one: Callable[..., int]) -> None:
    """Near candidates are listed, visited or thinned by shape; the answer is a likely candidate."""
    rng = np.random.default_rng(2)
    size = 60_000
    lonely = np.zeros(size)
    lonely[777] = 2 * math.log(size)
    shapes: list[NDArray[Any]] = [
        lonely,
        rng.uniform(0, 40, size),
        rng.poisson(50, size),
        rng.normal(0, 10, size).astype(np.float32),
        np.sort(rng.normal(0, 10, size)),
        np.where(np.arange(size) % 4096 == 5, 0.0, -1e6),
        -rng.integers(0, 30, size).astype(np.int8),
    ]
    for values in shapes:
        for seed in range(5):
            gaps = Gaps(values, scale=Fraction(2))
            chosen = one(gaps, ScriptedBits(seed))
            # Candidates beyond 30 scales are chosen with total probability under 60000·e^−30.
            assert gaps.exact(chosen) < 30


@pytest.mark.parametrize("one", ONE, ids=lambda f: f.__name__)
def test_memory_beyond_the_input_stays_small(one: Callable[..., int]) -> None:
    size = 2_000_000
    rng = np.random.default_rng(3)
    lonely = np.zeros(size)
    lonely[777] = 2 * math.log(size)
    shapes: list[NDArray[Any]] = [
        lonely,
        np.full(size, 1.0),
        rng.poisson(50, size),
        rng.normal(0, 10, size),
    ]
    one(Gaps(shapes[0], scale=Fraction(2)), SecureBits())  # imports are not counted
    for values in shapes:
        tracemalloc.start()
        one(Gaps(values, scale=Fraction(2)), SecureBits())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # Two bytes per candidate at ten million; the memory held does not grow with the input.
        assert peak < 2 * 10_000_000 / 4


def test_a_mechanism_at_work_in_threads_and_processes_never_repeats() -> None:
    values = np.zeros(5_000)
    drawn = {uniform_head(Gaps(values, scale=Fraction(1)), SecureBits()) for _ in range(40)}
    assert len(drawn) > 30  # forty uniform draws out of 5000 collide ten times with chance < 1e-12


def test_steady_refuses_numbers_without_a_machine_type() -> None:
    values = np.array([10**30, 0], dtype=object)
    with pytest.raises(ParameterError, match="steady selection needs"):
        steady_head(Gaps(values, scale=Fraction(1)), SecureBits())
