from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet._exact.gaps import Gaps, require_finite
from discreet._exact.gaps.arithmetic import FARTHEST_GAP, PAIR_LIMIT
from discreet._exact.gaps.gaps import best_of, best_of_rows
from discreet.errors import ParameterError, ScoresError
from tests.tools.extreme_values import ARRAYS, SCALES

Values = NDArray[Any]

floats = st.floats(allow_nan=False, allow_infinity=False)
scales = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)


def _exact(values: Values, scale: Fraction, largest: bool) -> list[Fraction]:
    numbers = [Fraction(v if values.dtype == object else v.item()) for v in values]
    best = max(numbers) if largest else min(numbers)
    return [abs(best - number) / scale for number in numbers]


def _check(values: Values, scale: Fraction, largest: bool) -> None:
    gaps = Gaps(values, scale=scale, largest_is_best=largest)
    exact = _exact(values, scale, largest)
    assert [gaps.exact(index) for index in range(len(values))] == exact
    one_by_one = np.array([gaps.gamma(index) for index in range(len(values))])
    for found in (gaps.gather(np.arange(len(values))), gaps.stretch(0, len(values)), one_by_one):
        assert found.dtype == np.float64
        for gamma, near in zip(exact, found.tolist(), strict=True):
            if gamma >= 600:
                assert 599 < near <= 601
            else:
                allowed = gamma * Fraction(1, 2**51) + Fraction(1, 2**90)
                assert abs(Fraction(near) - gamma) <= allowed
    _check_bounds(gaps, exact)
    high, low = gaps.gammas()
    for gamma, top, rest in zip(exact, high.tolist(), low.tolist(), strict=True):
        if gamma > Fraction(PAIR_LIMIT):
            assert top >= PAIR_LIMIT / 4
        else:
            allowed = gamma * Fraction(1, 2**98) + Fraction(1, 2**500)
            assert abs(Fraction(top) + Fraction(rest) - gamma) <= allowed
    for level in (0, 1, 6, 32, 200):
        everyone = np.arange(len(values))
        far = gaps.is_far(everyone, level)
        near_ones = gaps.few_near(level, most=len(values))
        assert near_ones is not None
        assert sorted([*near_ones.tolist(), *everyone[far].tolist()]) == everyone.tolist()
        least = Fraction(level) * Fraction(math.log(2))
        for index in everyone[far].tolist():
            assert exact[index] > least
        for index in near_ones.tolist():
            # The bound is tight: a candidate beyond the level by more than one rounding is not near.
            spacing = _spacing(values, index) / scale
            assert exact[index] <= least * (1 + Fraction(1, 2**40)) + spacing


def _check_bounds(gaps: Gaps, exact: list[Fraction]) -> None:
    """Check lemma 4 for bounds: the comparison is right unless γ is within 2⁻⁴⁸ of its bound."""
    sides = (1 - 2.0**-46, 1 + 2.0**-46)
    close = [float(gamma) * side for gamma in exact if 2**-8 < gamma < 500 for side in sides]
    bounds = np.array([2.0**-8, 0.7, 5.5, 40.0, math.inf, *close])
    for place, bound in enumerate(bounds.tolist()):
        flags = gaps.within(bounds, np.full(gaps.size, place)).tolist()
        for gamma, found in zip(exact, flags, strict=True):
            if math.isinf(bound):
                assert found
            elif abs(gamma - Fraction(bound)) > Fraction(bound) / 2**48:
                assert found == (gamma < bound)


def _spacing(values: Values, index: int) -> Fraction:
    if values.dtype.kind != "f":
        return Fraction(1)
    largest = float(np.abs(values.astype(np.float64)).max())
    if values.dtype == np.float16 or math.isinf(largest * 4):
        return Fraction(2) ** (1030 if values.dtype == np.float64 else 6)
    return Fraction(float(np.spacing(values.dtype.type(largest)))) * 4


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(
    "scale", SCALES, ids=lambda s: f"2^{s.numerator.bit_length() - s.denominator.bit_length()}"
)
@pytest.mark.parametrize("values", ARRAYS, ids=lambda a: f"{a.dtype}")
def test_gaps_at_the_ends_of_every_range(values: Values, scale: Fraction, largest: bool) -> None:
    with np.errstate(all="ignore"):  # as every sampler does
        _check(values, scale, largest)


@given(st.lists(floats, min_size=1, max_size=6), scales, st.booleans())
def test_gaps_of_any_floats(numbers: list[float], scale: Fraction, largest: bool) -> None:
    with np.errstate(all="ignore"):
        _check(np.array(numbers), scale, largest)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6), scales, st.booleans())
def test_gaps_of_any_integers(numbers: list[int], scale: Fraction, largest: bool) -> None:
    _check(np.array(numbers, dtype=np.int64), scale, largest)


@given(st.lists(st.fractions() | st.integers(), min_size=1, max_size=5), scales, st.booleans())
def test_gaps_of_any_rationals(
    numbers: list[Fraction | int], scale: Fraction, largest: bool
) -> None:
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    _check(array, scale, largest)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int16, np.int64, np.uint64]
)
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("size", [1, 7, 8 * 4096, 50_001])
def test_blocks_find_the_same_candidates(size: int, largest: bool, dtype: type) -> None:
    values: Values = (np.random.default_rng(size).random(size) * 1000).astype(dtype)
    for view in (values, values[::-1], np.repeat(values, 2)[::2]):
        gaps = Gaps(view, scale=Fraction(5), largest_is_best=largest)
        best = view.max() if largest else view.min()
        assert gaps.best == best
        assert type(gaps.best) in (int, float)
        assert np.concatenate(list(gaps.ties())).tolist() == np.flatnonzero(view == best).tolist()
        for level in (1, 5, 20, 500):
            expected = np.flatnonzero(~gaps.is_far(np.arange(size), level))
            few = gaps.few_near(level, most=100)
            assert few is None or few.tolist() == expected.tolist()


@given(
    size=st.integers(33, 70),
    block=st.integers(1, 4),
    near=st.sets(st.integers(0, 69), max_size=6),
    largest=st.booleans(),
)
def test_scattered_blocks_and_a_short_last_one(
    size: int, block: int, near: set[int], largest: bool
) -> None:
    values = np.full(size, 1000)
    values[[place for place in near if place < size]] = 1
    values[size // 2] = 0
    view = -values if largest else values
    gaps = Gaps(view, scale=Fraction(1), largest_is_best=largest, block=block)
    expected = np.flatnonzero(values <= 1).tolist()
    few = gaps.few_near(5, most=size)
    assert few is not None
    assert few.tolist() == expected
    assert np.concatenate(list(gaps.ties())).tolist() == [size // 2]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 30_000, -1])
@pytest.mark.parametrize("size", [30_001, 100_000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("filler", [1.0, 6e4])
def test_every_pass_refuses_what_is_not_finite(
    dtype: type, size: int, place: int, bad: float, filler: float
) -> None:
    values: Values = np.full(size, filler, dtype=dtype)
    values[place] = bad
    for largest in (True, False):
        gaps = Gaps(values, scale=Fraction(1), largest_is_best=largest)
        with np.errstate(all="ignore"):
            if bad == (-math.inf if largest else math.inf):
                assert gaps.best == values[5]  # the worst possible score, which is never chosen
                assert gaps.gamma(place % size) >= FARTHEST_GAP - 2
            else:
                with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                    gaps.best  # noqa: B018 - the pass is what is tested
            with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                gaps.exact(place % size)
    with np.errstate(all="raise"), pytest.raises(ScoresError, match=r"^scores must be finite$"):
        require_finite(values)


def test_finite_scores_whose_sum_overflows_pass() -> None:
    values = np.full(50_000, 1.7e308)
    values[17] = -1.7e308
    with np.errstate(all="raise"):
        require_finite(values)
        require_finite(values[:1000])
    with np.errstate(all="ignore"):
        assert Gaps(values, scale=Fraction(1)).best == 1.7e308
        assert Gaps(values, scale=Fraction(1), largest_is_best=False).best == -1.7e308


def test_a_change_between_two_releases_is_noticed() -> None:
    values = np.arange(100_000.0)
    assert Gaps(values, scale=Fraction(1)).best == 99_999.0
    values[5] = np.nan
    with pytest.raises(ScoresError):
        Gaps(values, scale=Fraction(1)).best  # noqa: B018 - the pass is what is tested


def test_what_is_refused_when_gaps_are_made() -> None:
    with pytest.raises(ParameterError, match="scale must be positive"):
        Gaps(np.array([1]), scale=Fraction(0))
    swapped = np.array([1, 2], dtype=np.dtype(np.int64).newbyteorder())
    for values in (np.zeros((2, 2)), np.array([True]), np.array(["a"]), np.array([1j]), swapped):
        with pytest.raises(ScoresError, match="one-dimensional"):
            Gaps(values, scale=Fraction(1))
    with pytest.raises(ScoresError, match="at least one"):
        Gaps(np.array([]), scale=Fraction(1))


def test_scores_are_borrowed() -> None:
    values = np.arange(10.0)
    values.setflags(write=False)
    gaps = Gaps(values, scale=Fraction(1))
    assert gaps.gather(np.array([0, 9])).tolist() == [9.0, 0.0]
    assert gaps._values is values
    assert FARTHEST_GAP == 600


@pytest.mark.parametrize("power", [0, -400, -499, -501, -900, -1060])
@pytest.mark.parametrize("shift", [0.0, 1e-309, 1.5e-323])
def test_pairs_of_subnormal_differences_are_as_precise_as_they_say(
    power: int, shift: float
) -> None:
    scale = Fraction(3, 7) * Fraction(2) ** power
    values = shift - np.array([0.0, 5e-324, 1.5e-323, 8.4e-323, 1e-310, 2.5e-308, 1e-300])
    high, low = Gaps(values, scale=scale).gammas()
    for place, value in enumerate(values.tolist()):
        gamma = min((Fraction(shift) - Fraction(value)) / scale, Fraction(2) ** 900)
        error = abs(Fraction(high[place]) + Fraction(low[place]) - gamma)
        assert error <= gamma / 2**100 + Fraction(1, 2**500)


any_float = st.floats(width=16) | st.sampled_from([0.0, -0.0, 1.0, -1.0, 6e-8, -65504.0])
FLOATS = [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("largest", [True, False])
@given(rows=st.lists(st.lists(any_float, min_size=3, max_size=3), min_size=1, max_size=6))
def test_the_best_of_each_row_or_a_refusal(
    rows: list[list[float]], largest: bool, dtype: type
) -> None:
    values: NDArray[Any] = np.array(rows, dtype=dtype)
    wide = np.repeat(values, 2, axis=1)[:, ::2]  # not contiguous
    for array in (values, wide, values[::-1]):
        expected = [max(row) if largest else min(row) for row in array.tolist()]
        if np.isfinite(expected).all() and not np.isnan(array).any():
            found = best_of_rows(array, largest_is_best=largest)
            assert found.dtype == dtype
            assert found.tolist() == expected
            assert [best_of(row, largest_is_best=largest) for row in array] == expected
        else:
            with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                best_of_rows(array, largest_is_best=largest)
        if np.isfinite(array).all():
            require_finite(array.ravel())
        else:
            with pytest.raises(ScoresError, match=r"^scores must be finite$"):
                require_finite(array.ravel())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("largest", [True, False])
def test_every_word_that_is_not_finite_is_refused(largest: bool, dtype: Any) -> None:
    bits = np.dtype(dtype).itemsize * 8
    word = np.dtype(f"u{bits // 8}").type
    infinity = int(np.array(np.inf, dtype=dtype).view(word))
    for sign in (0, 1 << (bits - 1)):
        for payload in (0, 1, infinity ^ ((1 << (bits - 1)) - 1)):
            bad = np.array([sign | infinity | payload], dtype=word).view(dtype)[0]
            for company in (1.0, -1.0, 0.0):
                row: NDArray[Any] = np.array([[company, company, company]], dtype=dtype)
                row[0, 1] = bad
                with pytest.raises(ScoresError), np.errstate(all="ignore"):
                    require_finite(row.ravel())
                if payload or (sign == 0) == largest:
                    with pytest.raises(ScoresError), np.errstate(all="ignore"):
                        best_of_rows(row, largest_is_best=largest)
                    with pytest.raises(ScoresError), np.errstate(all="ignore"):
                        best_of(row[0], largest_is_best=largest)


def test_integers_and_objects_are_compared_as_they_are() -> None:
    rows: NDArray[Any] = np.array([[1, 10**30], [-5, -6]], dtype=object)
    assert best_of_rows(rows, largest_is_best=True).tolist() == [10**30, -5]
    assert best_of_rows(rows.astype(object), largest_is_best=False).tolist() == [1, -6]
    assert best_of(rows[0], largest_is_best=True) == 10**30
    assert best_of(np.array([3, -7], dtype=np.int8), largest_is_best=False) == -7
    require_finite(np.array([1, 2]))
