"""The sampler of sets: every path on tapes of bits, draws against the exact distribution, extreme counts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.joint_sets import Sets, joint_set
from discreet._exact.sampling.loss_levels import Blocks, Counts, Floats
from discreet.testing import scripted
from tests.tools.sampling.set_law import SetLaw, set_law, set_loss
from tests.tools.sampling.walking import assert_bracketed


def law_at(counts: list[int], k: int, scale: Fraction) -> SetLaw:
    """Return the distribution to about 15 digits; e^{1/scale} as a float has a relative error of 2⁻⁵²."""
    return set_law(counts, k, Fraction(math.exp(1 / scale)))


@pytest.mark.parametrize("counts", [[2, 0, 1], [1, 1, 1], [3, 3, 0]])
@pytest.mark.parametrize("coarse", [False, True])
def test_every_tape_leads_to_the_law(counts: list[int], coarse: bool) -> None:
    """With coarse blocks, levels are rejected; with words of two bits, balls decide nearly everything."""
    scale = Fraction(2)
    expected = law_at(counts, 2, scale)
    outcomes = list(expected)
    blocks = Blocks(word=2, first=1, width=Fraction(9 if coarse else 0), doubt=math.inf)

    def sampler(bits: Bits) -> int:
        values = np.array(counts)
        return outcomes.index(tuple(joint_set(values, 2, scale=scale, bits=bits, blocks=blocks)))

    close = [(p - Fraction(1, 10**12), p + Fraction(1, 10**12)) for p in expected.values()]
    assert_bracketed(sampler, close, within=0.6 if coarse else 0.4, most_runs=2500)


@pytest.mark.parametrize(
    ("counts", "k", "scale", "blocks"),
    [
        ([4, 2, 2, 1, 0], 3, Fraction(2), Blocks()),
        ([4, 2, 2, 1, 0], 3, Fraction(2), Blocks(first=64, width=Fraction(8))),
        ([9, 9, 5, 0], 3, Fraction(7, 3), Blocks(word=3)),
        ([0, 0, 0, 1], 2, Fraction(1, 2), Blocks(doubt=math.inf)),
        ([5, 1, 1, 1, 1, 1, 1, 0], 1, Fraction(2), Blocks(width=Fraction(8))),
        ([6, 5, 5, 2, 2, 2], 4, Fraction(3), Blocks(width=Fraction(8))),
    ],
)
def test_draws_follow_the_law(counts: list[int], k: int, scale: Fraction, blocks: Blocks) -> None:
    """Each of up to 15 frequencies is within 7 standard deviations; false alarms are rarer than 1 in 10⁹.

    With 3,000 draws, a probability of 0.1 that is wrong by half is detected.
    """
    bits, draws = scripted(f"sets {counts} {blocks}"), 3000 if blocks.word == 64 else 1000
    values = np.array(counts)
    drawn = Counter(
        tuple(joint_set(values, k, scale=scale, bits=bits, blocks=blocks)) for _ in range(draws)
    )
    for chosen, chance in law_at(counts, k, scale).items():
        p = float(chance)
        spread = 7 * math.sqrt(p * (1 - p) / draws) + 8 / draws
        assert abs(drawn[chosen] / draws - p) < spread


def test_floats_and_balls_draw_the_same() -> None:
    """The same bits give the same set, whether floats or balls decide."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 10 ** (1 + seed % 5), 40)
        quick, slow = (
            joint_set(counts, 5, scale=Fraction(3), bits=scripted(seed), blocks=blocks)
            for blocks in (Blocks(), Blocks(doubt=math.inf))
        )
        assert quick == slow


def test_the_number_of_sets_within_a_loss() -> None:
    """The number is counted in whole numbers, in floats, and one by one; the bound is slightly larger."""
    for counts, k in (([4, 2, 2, 1, 0], 3), ([7, 7, 7, 3, 1, 1, 0, 0], 4), ([1, 0, 0, 0, 0], 1)):
        sets = Sets(np.array(counts), k)
        losses = [set_loss(counts, chosen) for chosen in set_law(counts, k, Fraction(2))]
        every = np.arange(8)
        logarithms = sets.logarithms(every)
        for most, logarithm in enumerate(logarithms):
            expected = sum(each <= most for each in losses)
            assert sets.ways(most)[-1][k] == expected
            assert logarithm == pytest.approx(math.log(expected), abs=1e-9)
            assert 1 <= Fraction(sets.number(most), expected << 60) < 1 + Fraction(1, 10**8)


@pytest.mark.parametrize("shape", ["falling", "flat", "ties", "wide"])
def test_the_bound_is_above_the_number_where_it_is_huge(shape: str) -> None:
    rng = np.random.default_rng(7)
    counts = {
        "falling": 20_000 // np.arange(1, 2001),
        "flat": rng.poisson(200, 2000),
        "ties": np.repeat([9, 5, 0], [3, 700, 1297]),
        "wide": rng.integers(0, 2**62, 2000),
    }[shape]
    sets = Sets(counts, 30)
    losses = np.unique(np.array([0, 1, 2, 7, 30, 100, 400, sets.spread]).clip(0, sets.spread))
    sets.logarithms(losses)
    for loss in losses.tolist():
        exactly = sets.ways(loss)[-1][30]
        assert 1 <= Fraction(sets.number(loss), exactly << 60) < 1 + Fraction(1, 10**6)


@pytest.mark.parametrize(
    "scale", [Fraction(1, 10**400), Fraction(1, 7), Fraction(3), Fraction(10**400)]
)
@pytest.mark.parametrize(
    "counts",
    [[7], [0, 0, 0], [2**62, 0, 2**62], [2**62, 2**62 - 1, 5, 5], list(range(50)), [1] + [0] * 30],
)
def test_extreme_counts_and_scales(counts: list[int], scale: Fraction) -> None:
    for k in {1, len(counts) // 2 or 1, len(counts)}:
        for blocks in (Blocks(), Blocks(first=64, doubt=math.inf)):
            values = np.array(counts)
            chosen = joint_set(values, k, scale=scale, bits=scripted(3), blocks=blocks)
            assert len(set(chosen)) == k
            assert chosen == sorted(chosen)
            if scale < Fraction(1, 100):
                assert set_loss(counts, chosen) == 0


def test_many_candidates_and_many_places() -> None:
    rng = np.random.default_rng(5)
    for counts in (rng.poisson(2000, 3000), rng.integers(0, 2**62, 3000), np.arange(3000) ** 3):
        for scale in (Fraction(2), Fraction(10**6)):
            chosen = joint_set(counts, 40, scale=scale, bits=scripted(1))
            assert len(set(chosen)) == 40
    leaders = np.arange(3000) * 10**6
    assert joint_set(leaders, 40, scale=Fraction(2), bits=scripted(1)) == list(range(2960, 3000))


@pytest.mark.parametrize("scale", [2, 20])
def test_few_levels_are_counted_and_each_once(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting a level of 100 positions takes milliseconds, so the number of levels determines the time.

    Previously, a thousand levels were counted three times, which took 20 seconds for a million candidates.
    """
    counted: list[int] = []
    slowly = Sets._counted

    def counting(self: Sets, losses: Counts) -> Floats:
        counted.extend(losses.tolist())
        return slowly(self, losses)

    monkeypatch.setattr(Sets, "_counted", counting)
    counts = 20_000 // np.arange(1, 50_001)
    chosen = joint_set(counts, 100, scale=Fraction(scale), bits=scripted(scale))
    assert len(set(chosen)) == 100
    assert len(counted) == len(set(counted)) <= 600
