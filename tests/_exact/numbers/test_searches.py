"""Searches for thresholds, least numbers, peaks and roots, against closed forms."""

from __future__ import annotations

import math

import pytest

from discreet._exact.numbers.searches import bisected, least_root, least_whole, peak, root_between


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize("threshold", [1e-9, 0.3, 1.0, 1.9999])
def test_bisected_closes_in_on_the_threshold(threshold: float, geometric: bool) -> None:
    asked: list[float] = []

    def enough(x: float) -> bool:
        asked.append(x)
        return x >= threshold

    low, high = bisected(enough, 1e-12, 2.0, relative=1e-9, geometric=geometric)
    assert low < threshold <= high <= low * (1 + 1e-9)
    # The search must not evaluate the ends: it may be costly, or not allowed there.
    assert not {1e-12, 2.0} & set(asked)


def test_bisected_ends_between_neighbouring_floats() -> None:
    low, high = bisected(lambda x: x >= 0.1, 0.0, 1.0)
    assert math.nextafter(low, 1.0) == high == 0.1


@pytest.mark.parametrize("most", [1, 2, 3, 10, 1000])
def test_least_whole_finds_every_answer(most: int) -> None:
    for answer in range(1, min(most, 20) + 1):
        assert least_whole(answer.__le__, most=most) == answer
    assert least_whole(lambda n: n >= most, most=most) == most
    assert least_whole(lambda n: n > most, most=most) is None


def test_least_whole_has_no_largest_integer() -> None:
    assert least_whole(lambda n: n >= 10**40 + 7, most=10**50) == 10**40 + 7


@pytest.mark.parametrize("at", [-3.0, 0.0, 0.1, 7.5, 10.0, 12.0])
def test_peak_inside_and_at_the_ends(at: float) -> None:
    assert peak(lambda x: -abs(x - at), 0.0, 10.0) == pytest.approx(min(max(at, 0.0), 10.0))
    assert peak(lambda x: x, 4.0, 3.0) == 4.0


def test_root_between_is_on_the_safe_side() -> None:
    for precision in (1e-3, 1e-9):
        found = root_between(lambda x: math.exp(-x) - 0.2, 0.0, 50.0, precision=precision)
        assert found is not None
        assert math.log(5) <= found <= math.log(5) + precision
    assert root_between(lambda x: -1.0, 2.0, 3.0, precision=1e-9) == 2.0
    assert root_between(lambda x: 1.0, 2.0, 3.0, precision=1e-9) is None


def test_least_root_on_both_sides_of_zero() -> None:
    for root in (-17.3, 0.0, 40.01):
        assert least_root(root.__sub__, farthest=100) == pytest.approx(root, abs=1e-11)
    assert least_root(lambda x: 200 - x, farthest=100) is None
