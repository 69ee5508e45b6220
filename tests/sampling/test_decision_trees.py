"""Exactness, first way: every tape of bits, and every outcome of the primitives, is walked.

No chance is involved: these tests cannot fail by accident.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.gaps import Gaps
from discreet.sampling import Bits
from discreet.sampling.coins import Heads, flip
from discreet.sampling.laplace import Layer, shallowest
from discreet.sampling.permute_and_flip import Window
from tests.sampling import oracles, reference
from tests.sampling.cases import CASES, SMALL, Case
from tests.sampling.walking import assert_bracketed, walk


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_tape_brackets_the_exact_probabilities(case: Case) -> None:
    assert_bracketed(case.sampler, case.bounds(), within=case.within, most_runs=1_200)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exact_primitives_compose_to_the_exact_distribution(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = oracles.distribution(
        case.sampler, len(case.scores), monkeypatch, faintest=case.faintest
    )
    if case.expected is reference.exponential:
        oracles.assert_proportional(found, case.masses())
    else:
        oracles.assert_equals(found, case.masses())


COINS = [
    (gamma, boost, halvings)
    for gamma, most in (
        (Fraction(0), 0),
        (Fraction(1, 3), 0),
        (Fraction(2), 2),
        (Fraction(7, 2), 5),
    )
    for halvings in (0, 1)
    for boost in range(min(most + halvings, 2) + 1)
]
"""Gap, boost and halvings such that the boosted coin's chance is at most one."""


@pytest.mark.parametrize(("gamma", "boost", "halvings"), COINS)
@pytest.mark.parametrize("word", [1, 3])
def test_a_coin_is_heads_with_its_exact_chance(
    gamma: Fraction, boost: int, halvings: int, word: int
) -> None:
    coins = Heads(halvings)
    _assert_coin(coins, gamma, boost, _chance(coins, gamma) * 2**boost, word)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(2)])
def test_window_and_layer_coins_are_exact(gamma: Fraction, number: int) -> None:
    for coins in (
        Window(number, cuts=2, halvings=0),
        Window(number, cuts=2, halvings=1),
        Layer(number),
    ):
        _assert_coin(coins, gamma, 0, _chance(coins, gamma), 2)


def _chance(coins: Heads | Window | Layer, gamma: Fraction) -> Fraction:
    """The chance from its definition, to 60 digits, not from the code under test."""
    from flint import arb, ctx, fmpq

    with ctx.workprec(256):
        exact = arb(fmpq(-gamma.numerator, gamma.denominator)).exp()
        if isinstance(coins, Heads):
            exact = exact / 2**coins.halvings
        elif isinstance(coins, Window):
            # Arrival at a uniform time: in window w and not before.
            windows = 4
            head = exact / 2 ** (coins._shift - 2)
            before = head * (coins.number - 1) / windows
            exact = head / windows / (1 - before)
        else:
            top, bottom = gamma - coins.number + 1, gamma - coins.number
            exact = 1 - reference._laplace_cdf(bottom) / reference._laplace_cdf(top)
        return reference.bounds(exact)[0]


def _assert_coin(
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


@pytest.mark.parametrize(
    "gammas",
    [
        (Fraction(0), Fraction(3)),
        (Fraction(0), Fraction(1, 2)),
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(0), Fraction(0)),
    ],
)
def test_the_least_depth_is_found_exactly(gammas: tuple[Fraction, Fraction]) -> None:
    values = np.array([0, *(-gamma for gamma in gammas)], dtype=object)

    def sampler(bits: Bits) -> int:
        gaps = Gaps(values, scale=Fraction(1))
        both = np.array([1, 2])
        _, winner = shallowest(gaps, Layer(1), both * 0, both, bits=bits, tuning=SMALL)
        return int(winner[0]) - 1

    expected = [reference.bounds(mass) for mass in reference.least_depth(gammas)]
    assert_bracketed(sampler, expected, within=0.1, most_runs=800)


def test_references_sum_to_one() -> None:
    gammas = [Fraction(0), Fraction(1, 2), Fraction(1, 2), Fraction(4)]
    for law in (
        reference.permute_and_flip,
        reference.exponential,
        reference.laplace,
        reference.least_depth,
    ):
        low, high = reference.bounds(sum(law(gammas)))
        assert abs(low - 1) < Fraction(1, 10**15) > abs(high - 1)
