"""The steady sampler reads the same number of bits and flips the same coins, whatever the scores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.gaps import Gaps
from discreet.sampling import ScriptedBits, steady, steady_head
from discreet.sampling.bits import Words


class CountingBits(ScriptedBits):
    """Scripted bits that keep account of every request."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.requests: list[tuple[str, int]] = []

    def words(self, count: int, *, width: int = 64) -> Words:
        self.requests.append(("words", count * width))
        return super().words(count, width=width)

    def integer(self, width: int) -> int:
        self.requests.append(("integer", width))
        return super().integer(width)


def _shapes(size: int) -> list[Any]:
    rng = np.random.default_rng(1)
    lonely = np.zeros(size)
    lonely[size // 2] = 1e6
    return [
        lonely,
        np.zeros(size),
        rng.uniform(0, 40, size),
        rng.normal(0, 1e300, size),
        np.arange(size, dtype=np.float64),
    ]


@pytest.mark.parametrize("size", [1, 1000, 70_000])
def test_the_bits_read_do_not_depend_on_the_scores(size: int) -> None:
    accounts = set()
    for values in _shapes(size):
        for seed in range(3):
            bits = CountingBits(seed)
            steady_head(Gaps(values, scale=Fraction(2)), bits)
            accounts.add(tuple(bits.requests))
    assert len(accounts) == 1


def test_coins_are_flipped_in_stretches_of_the_same_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int]] = []
    right = Gaps.stretch

    def stretch(self: Gaps, start: int, stop: int) -> Any:
        asked.append((start, stop))
        return right(self, start, stop)

    monkeypatch.setattr(Gaps, "stretch", stretch)
    monkeypatch.setattr(steady, "_STRETCH", 10)
    for values in _shapes(25):
        asked.clear()
        steady_head(Gaps(values, scale=Fraction(2)), ScriptedBits(1))
        assert asked == [(0, 10), (10, 20), (20, 25)]


def test_stretches_merge_to_the_same_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    # Fixed bits: 4000 draws over 7 equal candidates in stretches of 3; five standard deviations.
    monkeypatch.setattr(steady, "_STRETCH", 3)
    bits = ScriptedBits(4)
    drawn = [steady_head(Gaps(np.zeros(7), scale=Fraction(1)), bits) for _ in range(4_000)]
    counts = np.bincount(drawn, minlength=7)
    assert float(np.abs(counts - 4_000 / 7).max()) < 5 * (4_000 * 6 / 49) ** 0.5
