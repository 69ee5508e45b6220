"""The distribution of answers about a threshold: closed forms in balls, and panels against balls."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from discreet._exact.distribution.crossings import Block, Panels, first_crossing, sequence_ball
from discreet._exact.numbers.noise_scales import NoiseScales

OFFSETS = [Fraction(1), Fraction(-2), Fraction(5, 2), Fraction(0)]
SCALES = [
    NoiseScales(Fraction(first), Fraction(second), two_sided)
    for first, second in ((2, 3), (1, 1), (1, 50), (50, 1))
    for two_sided in (False, True)
]


@pytest.mark.parametrize("scales", SCALES)
def test_all_sequences_together_are_certain(scales: NoiseScales) -> None:
    total = sum(
        (
            sequence_ball(list(map(Block, OFFSETS, answers)), scales)
            for answers in itertools.product([False, True], repeat=4)
        ),
        arb(0),
    )
    assert total.contains(1)
    assert float(total.rad()) < 1e-14


def test_one_value_by_hand() -> None:
    """At q = T, Y ≥ X has the probability b₂/(b₁ + b₂); with Laplace noise it is one half."""
    ball = sequence_ball([Block(Fraction(0), True)], NoiseScales(Fraction(2), Fraction(3)))
    assert ball.overlaps(arb(3) / 5)
    for above in (False, True):
        half = sequence_ball(
            [Block(Fraction(0), above)], NoiseScales(Fraction(2), Fraction(3), True)
        )
        assert half.overlaps(arb(1) / 2)


def test_the_two_queries_that_attain_the_bound() -> None:
    """For "below", then c times "above", (T + 2Δ, T) and (T + Δ, T + Δ) differ by e^(Δ/b₁ + 2cΔ/b₂)."""
    scales = NoiseScales(Fraction(3), Fraction(5))
    for crossings in (1, 2, 7):
        pairs = [
            sequence_ball(
                [Block(Fraction(first), False), Block(Fraction(second), True, crossings)], scales
            )
            for first, second in ((2, 0), (1, 1))
        ]
        loss = (pairs[1] / pairs[0]).log()
        assert loss.overlaps(arb(1) / 3 + arb(2) * crossings / 5)


@pytest.mark.parametrize("scales", SCALES)
def test_a_range_of_the_threshold_noise_is_a_part(scales: NoiseScales) -> None:
    blocks = list(map(Block, OFFSETS, [True, False, True, False]))
    cuts = [None, Fraction(-1), Fraction(1, 3), Fraction(4), None]
    parts = [
        sequence_ball(blocks, scales, least=low, most=high)
        for low, high in itertools.pairwise(cuts)
    ]
    assert sum(parts, arb(0)).overlaps(sequence_ball(blocks, scales))
    assert sequence_ball(blocks, scales, least=Fraction(2), most=Fraction(1)).is_zero()


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize(
    "blocks",
    [
        [(Fraction(1), False, 1000), (Fraction(-2), True, 3)],
        [(Fraction(1), False, 1), (Fraction(5, 2), True, 300)],
        [(Fraction(100), False, 5)],
        [(Fraction(-100), True, 5)],
        [(Fraction(1), False, 40), (Fraction(0), True, 40), (Fraction(2), False, 2)],
    ],
)
def test_panels_agree_with_balls(
    scales: NoiseScales, blocks: list[tuple[Fraction, bool, int]]
) -> None:
    panels = Panels(
        scales,
        [float(offset) for offset, _, _ in blocks],
        longest=sum(times for *_, times in blocks),
        steepest=max(times for *_, times in blocks),
    )
    logs = sum(
        times * panels.log_chances(np.array([float(offset)]), above=above)
        for offset, above, times in blocks
    )
    exact = float(sequence_ball([Block(*block) for block in blocks], scales).log())
    assert float(panels.log_integrals(np.asarray(logs))[0]) == pytest.approx(
        exact, rel=1e-10, abs=1e-10
    )


@pytest.mark.parametrize("scales", SCALES)
def test_first_crossings_agree_with_balls(scales: NoiseScales) -> None:
    offsets = [Fraction(place % 7 - 3, 2) + Fraction(place, 100) for place in range(30)]
    chances = first_crossing(np.array([float(offset) for offset in offsets]), scales)
    below = [Block(offset, False) for offset in offsets]
    for place in range(0, 31, 3):
        last = [Block(offsets[place], True)] if place < 30 else []
        exact = float(sequence_ball([*below[:place], *last], scales))
        assert math.isclose(chances[place], exact, rel_tol=1e-11)


def test_long_streams() -> None:
    values = np.random.default_rng(0).normal(-3, 3, 20_000)
    chances = first_crossing(values, NoiseScales(Fraction(2), Fraction(3)))
    assert math.isclose(float(chances.sum()), 1, rel_tol=1e-12)
