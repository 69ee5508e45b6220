"""Checks of coins and depths, for testing them and for checking that a planted defect is found."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq

from discreet._exact.gaps import Gaps
from discreet._exact.numbers.balls import precision
from discreet._exact.sampling import Bits, ScriptedBits, TapeBits
from discreet._exact.sampling.coins import STANDARD, Coins, Heads, flip, heads_among, not_tails_yet
from discreet._exact.sampling.laplace import Layer, shallowest
from discreet._exact.sampling.permute_and_flip import Window
from tests.tools.sampling import reference
from tests.tools.sampling.cases import SMALL
from tests.tools.sampling.walking import assert_bracketed, walk


def chance_of(coins: Heads | Window | Layer, gamma: Fraction) -> Fraction:
    """Compute the chance from its definition, to 60 digits, without the code under test."""
    with ctx.workprec(256):
        exact = arb(fmpq(-gamma.numerator, gamma.denominator)).exp()
        if isinstance(coins, Heads):
            exact = exact / 2**coins.halvings
        elif isinstance(coins, Window):
            # The coin arrives at a uniform time: in window w and not before.
            windows = 4
            head = exact / 2 ** (coins._shift - 2)
            before = head * (coins.number - 1) / windows
            exact = head / windows / (1 - before)
        else:
            top, bottom = gamma - coins.number + 1, gamma - coins.number
            exact = 1 - reference._laplace_cdf(bottom) / reference._laplace_cdf(top)
        return reference.bounds(exact)[0]


def assert_coin(
    coins: Heads | Window | Layer, gamma: Fraction, boost: int, chance: Fraction, word: int
) -> None:
    values = np.array([0, -gamma], dtype=object)

    def sampler(bits: Bits) -> int:
        gaps = Gaps(values, scale=Fraction(1))
        tuning = replace(SMALL, word=word, coin=word)
        return len(flip(gaps, np.array([1]), coins, bits=bits, tuning=tuning, boost=boost))

    found, left = walk(sampler, 2, most_runs=100)
    assert left < Fraction(1, 10**9)
    tiny = Fraction(1, 10**60)
    assert found[1] <= chance + tiny
    assert chance <= found[1] + left + tiny


def assert_least_depth(gammas: tuple[Fraction, Fraction]) -> None:
    values = np.array([0, *(-gamma for gamma in gammas)], dtype=object)

    def sampler(bits: Bits) -> int:
        gaps = Gaps(values, scale=Fraction(1))
        both = np.array([1, 2])
        _, winner = shallowest(gaps, Layer(1), both * 0, both, bits=bits, tuning=SMALL)
        return int(winner[0]) - 1

    expected = [reference.bounds(mass) for mass in reference.least_depth(gammas)]
    assert_bracketed(sampler, expected, within=0.1, most_runs=800)


def assert_coins_agree(coins: Coins, *, peeked: bool = False) -> None:
    """Check that floats and balls give the same coins; an error of 0.001 changes about one coin in 2,000.

    With ``peeked`` their first bits are known, and most could still be heads.
    """
    gaps = Gaps(np.random.default_rng(7).uniform(0, 4, 12_000), scale=Fraction(2))
    everyone = np.arange(gaps.size)
    first = ScriptedBits(2).words(gaps.size, width=8) if peeked else None
    by_floats, by_balls = (
        flip(
            gaps,
            everyone,
            coins,
            bits=ScriptedBits(1),
            tuning=replace(STANDARD, tolerance=tolerance),
            first=first,
        ).tolist()
        for tolerance in (STANDARD.tolerance, math.inf)
    )
    assert by_floats == by_balls


def assert_single_coins_agree() -> None:
    """Check coins flipped one at a time, with the same power as ``assert_coins_agree``."""
    gaps = Gaps(np.random.default_rng(7).uniform(0, 4, 12_000), scale=Fraction(2))
    by_floats, by_balls = (
        [
            list(
                heads_among(gaps, [candidate], Heads(), bits=ScriptedBits(candidate), tuning=tuning)
            )
            for candidate in range(gaps.size)
        ]
        for tuning in (STANDARD, replace(STANDARD, tolerance=math.inf))
    )
    assert by_floats == by_balls


def assert_first_bits_agree(dtype: type) -> None:
    """Check gaps just to either side of the point at which each value of the first bits means tails."""
    hair = 1e-9
    words = [first for first in range(1, 256) for _ in range(2)]
    turns = [
        -math.log(first / 256) * side for first in range(1, 256) for side in (1 - hair, 1 + hair)
    ]
    scale = Fraction(2) if dtype is np.float64 else Fraction(10) ** 12
    values = np.array([0.0, *turns]) * -float(scale)
    gaps = Gaps(values.astype(dtype), scale=scale)
    tape = [int(bit) for first in (255, *words) for bit in f"{first:08b}"]
    left, seen = not_tails_yet(gaps, bits=TapeBits(tape), tuning=STANDARD)
    assert seen.tolist() == [255, *words]
    with precision(80):
        expected = [
            candidate
            for candidate, first in enumerate(seen.tolist())
            if not bool(Heads().ball(gaps.exact(candidate)) * 256 < first)
        ]
    assert left.tolist() == expected == [0, *range(1, gaps.size, 2)]
