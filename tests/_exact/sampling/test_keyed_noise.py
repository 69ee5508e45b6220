"""Keyed noise: repeatable for a key, merged exactly, with the stated distribution."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from discreet import PermuteAndFlip, Scores
from discreet._exact.gaps import Gaps
from discreet._exact.sampling.bits import Words
from discreet._exact.sampling.keyed_noise import (
    Identities,
    KeyedNoise,
    keyed_first,
    keyed_shortlist,
)
from discreet._exact.sampling.noisy_order import noisy_first
from discreet.errors import ParameterError, TableError
from discreet.testing import scripted


def _identities(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    blocks = b"".join(i.to_bytes(16, "little") for i in range(count))
    return np.frombuffer(blocks, dtype=np.uint8).reshape(-1, 16)


def test_a_copy_has_the_same_noise_and_another_key_has_others() -> None:
    noise, identities = KeyedNoise.fresh(), _identities(50)
    words = noise.words(identities)
    assert (pickle.loads(pickle.dumps(noise)).words(identities) == words).all()  # noqa: S301 - our own pickle
    assert (noise.words(identities[10:20]) == words[10:20]).all()
    assert not (KeyedNoise.fresh().words(identities) == words).any()
    assert "secret" in repr(noise)


def test_any_split_gives_the_order_of_the_whole() -> None:
    """For all partitions of six candidates and all k, merging the parts' first k gives the first k of all."""
    identities, scores = _identities(6), np.array([4, 9, 9, 0, 7, 8])
    bits = scripted("splits")
    for k, scale in ((1, Fraction(3)), (2, Fraction(1, 3)), (4, Fraction(50)), (6, Fraction(2))):
        noise = KeyedNoise.fresh(bits)

        def first(
            rows: list[int], k: int = k, scale: Fraction = scale, noise: KeyedNoise = noise
        ) -> list[int]:
            found = keyed_first(noise, identities[rows], scores[rows], scale=scale, count=k)
            return [rows[place] for place in found]

        whole = first(list(range(6)))
        assert len(whole) == k
        for labels in product(range(3), repeat=6):
            parts = [[i for i in range(6) if labels[i] == part] for part in range(3)]
            reports = [row for part in parts for row in first(part)]
            assert first(reports) == whole


def test_the_law_of_the_order() -> None:
    """Over 6,000 scripted keys, first candidates and pairs are within 5.6 standard deviations of the law.

    Pairs are compared with the frequencies of the ordinary one-shot sampler, which has its own exact test.
    Noise at half the scale would change the first candidate's probability by 0.15, four times the tolerance.
    """
    values, draws = np.array([0, -1, -3]), 6000
    identities, bits = _identities(3), scripted("order")
    orders = Counter(
        tuple(keyed_first(KeyedNoise.fresh(bits), identities, values, scale=Fraction(2), count=2))
        for _ in range(draws)
    )
    law = PermuteAndFlip(scale=2).probabilities(Scores(values, sensitivity=1)).tolist()
    for index, chance in enumerate(law):
        seen = sum(times for order, times in orders.items() if order[0] == index)
        assert abs(seen / draws - chance) < 5.6 * math.sqrt(chance * (1 - chance) / draws)
    gaps = Gaps(values, scale=Fraction(2))
    ordinary = Counter(tuple(noisy_first(gaps, 2, bits)) for _ in range(draws))
    for order in permutations(range(3), 2):
        chance = (orders[order] + ordinary[order]) / (2 * draws)
        spread = math.sqrt(2 * chance * (1 - chance) / draws)
        assert abs(orders[order] - ordinary[order]) / draws < 5.6 * spread + 2 / draws


class Close(KeyedNoise):
    """Words that are all equal, so only later bits distinguish candidates."""

    def words(self, identities: Identities) -> Words:
        """Return the same word for every candidate."""
        return np.full(len(identities), self.word, dtype=np.uint64)

    word = 1 << 60


@pytest.mark.parametrize("word", [0, 1, 1 << 60])
def test_more_bits_decide_where_the_first_do_not(
    word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Close, "word", word)
    identities, scores = _identities(20), np.zeros(20, dtype=np.int64)
    noise = Close(bytes(range(64)))
    assert len(keyed_shortlist(noise, identities, scores, scale=Fraction(1), count=1)) == 20
    found = keyed_first(noise, identities, scores, scale=Fraction(1), count=20)
    # Equal scores: the least uniform number has the largest noise.
    further = [noise.more(identities[i].tobytes()).integer(64) for i in range(20)]
    assert found == sorted(range(20), key=further.__getitem__)


def test_far_scores_and_odd_scales() -> None:
    scores = np.array([2**62, -(2**62), 0, 2**62 - 5])
    for scale in (Fraction(1, 10**200), Fraction(1, 9)):  # the closest two are 45 scales apart
        found = keyed_first(KeyedNoise.fresh(), _identities(4), scores, scale=scale, count=4)
        assert found == [0, 3, 2, 1]
    flat = {
        keyed_first(
            KeyedNoise.fresh(), _identities(2), scores[:2], scale=Fraction(10**200), count=1
        )[0]
        for _ in range(60)
    }
    assert flat == {0, 1}  # fails once in 2⁵⁹


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="64 bytes"):
        KeyedNoise(b"short")
    twice = _identities(2)[[0, 0]]
    with pytest.raises(TableError, match="changed"):
        keyed_first(
            KeyedNoise.fresh(), twice, np.zeros(2, dtype=np.int64), scale=Fraction(1), count=1
        )
