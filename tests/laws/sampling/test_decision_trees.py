"""Exactness, first check: enumerate every tape of bits and every outcome of the primitives.

No randomness is involved, so these tests cannot fail by chance.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet._exact.sampling.coins import Heads
from discreet._exact.sampling.laplace import Layer
from discreet._exact.sampling.permute_and_flip import Window
from tests.tools.sampling import oracles, reference
from tests.tools.sampling.cases import CASES, Case
from tests.tools.sampling.checks import assert_coin, assert_least_depth, chance_of
from tests.tools.sampling.walking import assert_bracketed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_tape_brackets_the_exact_probabilities(case: Case) -> None:
    assert_bracketed(case.sampler, case.bounds(), within=case.within, most_runs=1_200)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.timed], ids=lambda case: case.name
)
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
def test_a_coin_is_heads_with_its_exactchance_of(
    gamma: Fraction, boost: int, halvings: int, word: int
) -> None:
    coins = Heads(halvings)
    assert_coin(coins, gamma, boost, chance_of(coins, gamma) * 2**boost, word)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(2)])
def test_window_and_layer_coins_are_exact(gamma: Fraction, number: int) -> None:
    for coins in (
        Window(number, cuts=2, halvings=0),
        Window(number, cuts=2, halvings=1),
        Layer(number),
    ):
        assert_coin(coins, gamma, 0, chance_of(coins, gamma), 2)


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
    assert_least_depth(gammas)


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
