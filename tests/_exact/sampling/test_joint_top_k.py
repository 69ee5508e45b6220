"""The joint sampler: every path on tapes of bits, draws against the exact distribution, extreme counts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.joint_top_k import Tuples, joint_first
from discreet._exact.sampling.loss_levels import Blocks
from discreet.testing import scripted
from tests.tools.sampling.joint_law import JointLaw, joint_law, loss
from tests.tools.sampling.walking import assert_bracketed


def law_at(counts: list[int], k: int, scale: Fraction) -> JointLaw:
    """Return the distribution to about 15 digits; e^{1/scale} as a float has a relative error of 2⁻⁵²."""
    return joint_law(counts, k, Fraction(math.exp(1 / scale)))


@pytest.mark.parametrize("counts", [[2, 0, 1], [1, 1, 1], [3, 3, 0]])
@pytest.mark.parametrize("coarse", [False, True])
def test_every_tape_leads_to_the_law(counts: list[int], coarse: bool) -> None:
    """With coarse blocks, coins reject levels; with words of one bit, balls decide nearly everything."""
    scale = Fraction(2)
    expected = law_at(counts, 2, scale)
    outcomes = list(expected)
    blocks = Blocks(word=2, first=1, width=Fraction(9 if coarse else 0), doubt=math.inf)

    def sampler(bits: Bits) -> int:
        values = np.array(counts)
        return outcomes.index(tuple(joint_first(values, 2, scale=scale, bits=bits, blocks=blocks)))

    close = [(p - Fraction(1, 10**12), p + Fraction(1, 10**12)) for p in expected.values()]
    assert_bracketed(sampler, close, within=0.35 if coarse else 0.06, most_runs=1500)


@pytest.mark.parametrize(
    ("counts", "k", "scale", "blocks"),
    [
        ([4, 2, 2, 1, 0], 3, Fraction(2), Blocks()),
        ([4, 2, 2, 1, 0], 3, Fraction(2), Blocks(first=64, width=Fraction(8))),
        ([9, 9, 5, 0], 4, Fraction(7, 3), Blocks(word=3)),
        ([0, 0, 0, 1], 2, Fraction(1, 2), Blocks(doubt=math.inf)),
        ([5, 1, 1, 1, 1, 1, 1, 0], 1, Fraction(2), Blocks(width=Fraction(8))),
    ],
)
def test_draws_follow_the_law(counts: list[int], k: int, scale: Fraction, blocks: Blocks) -> None:
    """Each of up to 60 frequencies is within 7 standard deviations; false alarms are rarer than 1 in 10⁹.

    With 3,000 draws, a probability of 0.1 that is wrong by half is detected. In the last case a level is
    drawn within a wide block; the last level has most of its tuples.
    """
    bits, draws = scripted(f"joint {counts} {blocks}"), 3000 if blocks.word == 64 else 1000
    values = np.array(counts)
    drawn = Counter(
        tuple(joint_first(values, k, scale=scale, bits=bits, blocks=blocks)) for _ in range(draws)
    )
    for chosen, chance in law_at(counts, k, scale).items():
        p = float(chance)
        spread = 7 * math.sqrt(p * (1 - p) / draws) + 8 / draws
        assert abs(drawn[chosen] / draws - p) < spread


def test_floats_and_balls_draw_the_same() -> None:
    """The same bits give the same tuple, whether floats or balls decide."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 10 ** (1 + seed % 5), 40)
        quick, slow = (
            joint_first(counts, 5, scale=Fraction(3), bits=scripted(seed), blocks=blocks)
            for blocks in (Blocks(), Blocks(doubt=math.inf))
        )
        assert quick == slow


def test_the_number_of_tuples_within_a_loss() -> None:
    counts = [4, 2, 2, 1, 0]
    tuples = Tuples(np.array(counts), 3)
    losses = [loss(counts, chosen) for chosen in joint_law(counts, 3, Fraction(2))]
    for most in range(5):
        expected = sum(each <= most for each in losses)
        assert math.prod(tuples.free(most)) == expected
        assert tuples.logarithms(np.array([most]))[0] == pytest.approx(math.log(expected))


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
            chosen = joint_first(values, k, scale=scale, bits=scripted(3), blocks=blocks)
            assert len(set(chosen)) == k
            if scale < 1:  # a loss of one has probability under 60·e⁻⁷; this seed has none
                assert scale > Fraction(1, 100) or loss(counts, chosen) == 0


def test_many_candidates_and_many_places() -> None:
    """Wide blocks are split where most weight is, and no candidate is drawn twice."""
    rng = np.random.default_rng(5)
    for counts in (rng.poisson(2000, 3000), rng.integers(0, 2**62, 3000), np.arange(3000) ** 3):
        for scale in (Fraction(2), Fraction(10**6)):
            chosen = joint_first(counts, 700, scale=scale, bits=scripted(1))
            assert len(set(chosen)) == 700
    leaders = np.arange(3000) * 10**6
    assert joint_first(leaders, 700, scale=Fraction(2), bits=scripted(1)) == list(
        range(2999, 2299, -1)
    )
