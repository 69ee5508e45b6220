"""Discrete noise: its exact distribution, bit by bit, and random halves of counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet._exact.sampling import discrete_noise
from discreet._exact.sampling.bits import TapeBits, TapeExhausted
from discreet._exact.sampling.discrete_noise import discrete_laplace, geometric, halved
from discreet.testing import scripted


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2), Fraction(1, 3)])
def test_every_tape_of_ten_bits(scale: Fraction) -> None:
    """Each outcome's decided tapes have at most its probability; undecided tapes account for the rest."""
    decided: Counter[int] = Counter()
    open_tapes = 0
    for number in range(1 << 10):
        tape = [(number >> i) & 1 for i in range(10)]
        try:
            decided[geometric(TapeBits(tape), scale, word=5)] += 1
        except TapeExhausted:
            open_tapes += 1
    for value, count in decided.items():
        chance = math.exp(-value / scale) - math.exp(-(value + 1) / scale)
        assert count / 1024 <= chance + 1e-12
        assert chance <= (count + open_tapes) / 1024 + 1e-12
    assert open_tapes < 128


def test_the_law_of_discrete_laplace() -> None:
    """In 6,000 scripted draws, each frequency is within 5.5 standard deviations."""
    bits, draws = scripted("discrete laplace"), 6000
    counts = Counter(discrete_laplace(bits, Fraction(2)) for _ in range(draws))
    ratio = math.exp(-0.5)
    for value in range(-8, 9):
        chance = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
        assert abs(counts[value] / draws - chance) < 5.5 * math.sqrt(chance / draws)


def test_extreme_scales() -> None:
    assert discrete_laplace(scripted(1), Fraction(1, 10**30)) == 0
    large = abs(discrete_laplace(scripted(2), Fraction(10**30)))
    assert 10**27 < large < 10**32


def test_halves_of_counts() -> None:
    """Check mean and variance of Binomial(c, 1/2) over scripted draws, for counts near multiples of 64."""
    counts = np.array([0, 1, 63, 64, 65, 128, 129, 1000] * 500)
    left = halved(counts, scripted("halves"))
    assert ((left >= 0) & (left <= counts)).all()
    for count in (1, 63, 64, 65, 128, 129, 1000):
        some = left[counts == count]
        assert abs(some.mean() - count / 2) < 5.5 * math.sqrt(count / 4 / len(some))
        # The variance of a sample variance is about 2σ⁴/n.
        assert abs(some.var() - count / 4) < 5.5 * (count / 4) * math.sqrt(2 / len(some)) + 0.01
    assert not left[counts == 0].any()


def test_large_counts_take_their_words_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each count gets its own words, however the words are divided into chunks."""
    counts = np.array([65, 64, 700, 100_000, 1, 129, 64 * 9, 64 * 9 + 1] * 20)
    monkeypatch.setattr(discrete_noise, "_CHUNK_WORDS", 8)
    drawn = scripted("small chunks").words(80_000).tolist()
    found = halved(counts, _Words(iter(drawn)))  # type: ignore[arg-type]  # words are all it asks for
    assert ((found >= 0) & (found <= counts)).all()
    words, expected = iter(drawn), np.zeros_like(counts)
    for start in range(0, len(counts), 8):
        for place in range(start, start + 8):
            rest = (int(counts[place]) - 1) % 64 + 1
            expected[place] = (next(words) >> (64 - rest)).bit_count()
    for place in (counts > 64).nonzero()[0].tolist():
        for _ in range((int(counts[place]) - 1) >> 6):
            expected[place] += next(words).bit_count()
    assert found.tolist() == expected.tolist()


class _Words:
    """Random bits that return these words, one after the other."""

    def __init__(self, words: Iterator[int]) -> None:
        self._words = words

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.array([next(self._words) for _ in range(count)], dtype=np.uint64)
