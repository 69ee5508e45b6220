from __future__ import annotations

import copy
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
import pytest

from discreet._exact.sampling import (
    Bits,
    ScriptedBits,
    SecureBits,
    TapeBits,
    TapeExhausted,
    biased_coins,
    uniform_below,
    uniform_indices,
)
from discreet._exact.sampling.bits import KERNEL_BYTES, few_indices, some_indices, some_words_below
from discreet.errors import ParameterError
from discreet.testing import scripted
from tests.tools.forking import forked
from tests.tools.sampling.walking import walk

BIG = KERNEL_BYTES  # words of 8 bytes: more than the kernel provides directly


def _secrets(source: SecureBits) -> set[int]:
    """Return words from the kernel and from the cipher; 64-bit words collide with chance under 10⁻¹³."""
    return {*source.words(8).tolist(), *source.words(BIG).tolist(), source.integer(64)}


def test_every_bit_of_a_word_is_fair() -> None:
    """A false alarm happens once in 10¹⁰ runs; a stuck bit is always found."""
    short = {8: np.uint8, 32: np.uint32}
    for source in (SecureBits(), ScriptedBits(1)):
        for width in (1, 5, 8, 32, 63, 64):
            drawn = source.words(4_000, width=width)
            assert drawn.dtype == short.get(width, np.uint64)
            assert int(drawn.max()) < 2**width
            for bit in range(width):
                set_in = int(
                    np.count_nonzero((drawn >> drawn.dtype.type(bit)) & drawn.dtype.type(1))
                )
                # 7.6 standard deviations on either side.
                assert abs(set_in - 2_000) < 240


def test_integers_fill_their_width() -> None:
    for source in (SecureBits(), ScriptedBits(1)):
        for width in (1, 7, 8, 9, 64, 200):
            drawn = [source.integer(width) for _ in range(200)]
            assert 2 ** (width - 1) <= max(drawn) < 2**width
        assert source.integer(0) == 0


def test_two_sources_never_agree() -> None:
    assert not _secrets(SecureBits()) & _secrets(SecureBits())


def test_bits_do_not_repeat_when_the_cipher_takes_over() -> None:
    source = SecureBits()
    drawn = np.concatenate([source.words(count) for count in (8, BIG, 8, BIG, 1)])
    assert len(set(drawn.tolist())) == len(drawn)


def test_a_forked_child_draws_other_bits() -> None:
    _check_a_child_draws_other_bits()


def test_a_child_of_the_same_number_still_draws_other_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: same)
    _check_a_child_draws_other_bits()


def _check_a_child_draws_other_bits() -> None:
    source = SecureBits()
    source.words(BIG)  # the cipher is keyed before the fork
    ended = forked(lambda: source.words(BIG).tobytes())
    theirs = np.frombuffer(ended.said, dtype=np.uint64)
    assert (ended.code, len(theirs)) == (0, BIG)
    assert not set(theirs.tolist()) & set(source.words(BIG).tolist())


def test_threads_that_share_a_source_never_share_bits() -> None:
    source = SecureBits()
    drawn: list[np.ndarray[tuple[int, ...], np.dtype[np.uint64]]] = []
    start = threading.Barrier(8)

    def draw() -> None:
        start.wait()
        drawn.extend(source.words(BIG) for _ in range(20))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = np.concatenate(drawn)
    assert len(everything) == 8 * 20 * BIG
    assert len(np.unique(everything)) == len(everything)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))],  # noqa: S301 - ours
)
def test_a_copy_or_a_pickle_is_a_new_source(duplicate: object) -> None:
    assert callable(duplicate)
    source = SecureBits()
    source.words(BIG)
    assert not _secrets(duplicate(source)) & _secrets(source)
    assert b"AES" not in pickle.dumps(source)


def test_scripted_bits_are_the_same_everywhere() -> None:
    assert ScriptedBits(7).words(2).tolist() == [16375269045913650987, 16144821426313025057]
    assert ScriptedBits("7").integer(32) != ScriptedBits(7).integer(32)
    first, second = copy.copy(scripted(3)), scripted(3)
    assert first.words(100).tolist() == second.words(100).tolist()


def test_only_secure_bits_are_not_scripted() -> None:
    sources: list[Bits] = [SecureBits(), scripted(1), TapeBits([])]
    assert [source.scripted for source in sources] == [False, True, True]


@pytest.mark.parametrize("seed", [1.5, None, True, b"x"])
def test_a_seed_is_an_integer_or_text(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be"):
        ScriptedBits(seed)  # type: ignore[arg-type]  # that is what is tested


def test_a_tape_is_read_once_and_ends() -> None:
    tape = TapeBits([1, 0, 1, 1, 0])
    assert tape.words(2, width=2).tolist() == [2, 3]
    with pytest.raises(TapeExhausted) as end:
        tape.integer(3)
    assert end.value.needed == 2
    assert (tape.integer(1), tape.left) == (0, 0)


def test_scripted_bits_are_balanced() -> None:
    # 6.4 million bits; five standard deviations: a fair source fails once in 3.5 million seeds,
    # and this seed is fixed.
    ones = int(np.bitwise_count(ScriptedBits(5).words(100_000)).sum())
    assert abs(ones - 3_200_000) < 5 * (6_400_000 / 4) ** 0.5


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
