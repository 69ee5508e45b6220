"""Keyed coins: the same for the same key, exact in the doubtful band, and of the stated law."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.sampling.keyed_coins import KeyedCoins, first_in_order, keyed_heads, require_scale
from discreet.testing import scripted


def _identities(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    blocks = b"".join(i.to_bytes(16, "little") for i in range(count))
    return np.frombuffer(blocks, dtype=np.uint8).reshape(-1, 16)


def test_a_copy_has_the_same_coins_and_another_key_has_others() -> None:
    coins, identities = KeyedCoins.fresh(), _identities(50)
    words = coins.words(identities)
    assert (pickle.loads(pickle.dumps(coins)).words(identities) == words).all()  # noqa: S301 - our own pickle
    assert (coins.words(identities[10:20]) == words[10:20]).all()
    assert not (KeyedCoins.fresh().words(identities) == words).any()
    assert "secret" in repr(coins)


def test_the_law_of_the_coins() -> None:
    """200,000 coins at each of four gaps, scripted key: within 5.5 standard deviations."""
    coins, identities = KeyedCoins.fresh(scripted("keyed")), _identities(200_000)
    words = coins.words(identities)
    for short in (0, 1, 3, 9):
        gaps = np.full(len(identities), short, dtype=np.uint64)
        heads = keyed_heads(coins, identities, words, short=gaps, scale=Fraction(2))
        chance = math.exp(-short / 2)
        spread = math.sqrt(chance * (1 - chance) * len(identities))
        assert abs(len(heads) - chance * len(identities)) <= 5.5 * spread


def test_the_doubtful_band_is_decided_by_more_bits() -> None:
    """Words placed at the threshold itself: both answers occur, each where it is right."""
    coins, identities = KeyedCoins.fresh(scripted("band")), _identities(400)
    short = np.full(400, 1, dtype=np.uint64)
    threshold = int(math.exp(-1) * 2.0**64)
    words = np.zeros((400, 2), dtype=np.uint64)
    # e^−1·2⁶⁴ lies within this float's error: walk across it.
    words[:, 0] = [threshold - 2003 + 10 * i for i in range(400)]
    heads = keyed_heads(coins, identities, words, short=short, scale=Fraction(1))
    from flint import arb, ctx

    with ctx.workprec(200):
        found = (arb(-1).exp() * arb((1, 64))).floor().unique_fmpz()
    assert found is not None
    exact = int(found)
    assert exact not in words[:, 0].tolist()
    assert heads.tolist() == [i for i in range(400) if int(words[i, 0]) < exact]


def test_far_candidates_still_have_a_chance() -> None:
    coins, identities = KeyedCoins.fresh(scripted("far")), _identities(3)
    words = np.zeros((3, 2), dtype=np.uint64)
    short = np.array([0, 50, 2**63], dtype=np.uint64)
    # All first words are zero, so floats decide nothing: the next 64 bits do.
    heads = keyed_heads(coins, identities, words, short=short, scale=Fraction(1))
    assert heads.tolist() in ([0], [0, 1])


def test_the_order_is_uniform() -> None:
    identities = _identities(3)
    counts = np.zeros(3)
    bits = scripted("order")
    for _ in range(3000):
        coins = KeyedCoins.fresh(bits)
        first, _ = first_in_order(coins, identities, coins.words(identities), np.arange(3))
        counts[first] += 1
    assert np.abs(counts - 1000).max() < 5.5 * math.sqrt(3000 * 2 / 9)


def test_ties_of_the_first_word_are_broken_by_the_key() -> None:
    identities = _identities(2)
    words = np.zeros((2, 2), dtype=np.uint64)
    firsts = {
        first_in_order(KeyedCoins.fresh(), identities, words, np.arange(2))[0] for _ in range(60)
    }
    assert firsts == {0, 1}  # fails once in 2⁵⁹


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="64 bytes"):
        KeyedCoins(b"short")
    with pytest.raises(ParameterError, match="cluster"):
        require_scale(Fraction(1, 2**600))
