from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
import pytest

from discreet.sampling import (
    Bits,
    ScriptedBits,
    TapeBits,
    biased_coins,
    uniform_below,
    uniform_indices,
)
from discreet.sampling.integers import few_indices, some_indices, some_words_below
from tests.tools.sampling.walking import walk


@pytest.mark.parametrize("bound", range(1, 10))
def test_uniform_below_is_uniform(bound: int) -> None:
    found, left = walk(lambda bits: uniform_below(bits, bound), bound, most_runs=300)
    assert left < 0.3
    for mass in found:
        assert mass <= Fraction(1, bound) <= mass + left


@pytest.mark.parametrize("width", [3, 4])
@pytest.mark.parametrize("bound", range(1, 9))
@pytest.mark.parametrize("indices", [some_indices, few_indices])
def test_every_index_has_equally_many_words(
    indices: Callable[..., Iterable[int]], bound: int, width: int
) -> None:
    kept = Counter(
        int(index)
        for word in range(1 << width)
        for index in indices(_tape(word, width), bound, count=1, width=width)
    )
    assert set(kept) == set(range(bound))
    assert set(kept.values()) == {(1 << width) // bound}


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8])
def test_masked_words_are_kept_if_below(bound: int) -> None:
    width = max(1, (bound - 1).bit_length())
    kept = [
        int(drawn)
        for word in range(1 << width)
        for drawn in some_words_below(_tape(word, width), bound, count=1)
    ]
    assert kept == list(range(bound))


def _tape(word: int, width: int) -> Bits:
    return TapeBits((word >> (width - 1 - bit)) & 1 for bit in range(width))


def test_indices_come_in_the_number_asked_for() -> None:
    bits = ScriptedBits(1)
    for bound in (1, 3, 2**31 + 1, 2**32, 2**32 + 1, 2**40):
        drawn = uniform_indices(bits, bound, count=1_000)
        assert drawn.dtype == np.int64
        assert len(drawn) == 1_000
        assert 0 <= int(drawn.min()) <= int(drawn.max()) < bound
    assert len(uniform_indices(bits, 5, count=0)) == 0


@pytest.mark.parametrize("chance", [Fraction(0), Fraction(1), Fraction(1, 3), Fraction(5, 8)])
def test_biased_coins_have_their_rational_chance(chance: Fraction) -> None:
    # Fixed bits; within five standard deviations.
    heads = int(biased_coins(ScriptedBits(2), chance, count=100_000).sum())
    expected = float(chance) * 100_000
    assert abs(heads - expected) <= 5 * (expected * (1 - float(chance))) ** 0.5


def test_a_biased_coin_asks_for_more_bits_only_where_it_must() -> None:
    third = (1 << 64) // 3
    just_below, just_above = [0] * 64, [1] * 64
    words = [third - 1, third, third, third + 1]
    tape = [(word >> (63 - bit)) & 1 for word in words for bit in range(64)]
    heads = biased_coins(TapeBits([*tape, *just_below, *just_above]), Fraction(1, 3), count=4)
    assert heads.tolist() == [True, True, False, False]
