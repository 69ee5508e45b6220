"""The number of runs: the sampler over every tape of bits, against independently computed laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from discreet._exact.sampling import Bits
from discreet._exact.sampling.run_counts import poisson, truncated_negative_binomial
from discreet.testing import scripted
from tests.tools.sampling import reference
from tests.tools.sampling.walking import assert_bracketed

_SHAPES = [Fraction(1), Fraction(2), Fraction(0), Fraction(1, 2), Fraction(-1, 2), Fraction(7, 3)]
_MOST = 7
"""Larger numbers share one outcome."""


def _weight(shape: Fraction, halting: Fraction, k: int) -> Fraction:
    """Compute Π_{l<k} (l + η)/(l + 1)·(1 − γ)^k; at η = 0 the limit, without the first factor."""
    product = (1 - halting) ** k
    for place in range(1 if shape == 0 else 0, k):
        product *= (place + shape) / (place + 1)
    return abs(product)


def _negative_binomial(shape: Fraction, halting: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return the masses of 1, ..., 7 and of the rest, by adding up weights instead of using a formula."""
    weights = [_weight(shape, halting, k) for k in range(1, 200)]
    # Beyond the last term, each weight is (1 − γ)(k + η)/(k + 1) of the one before: below 1 − γ/2 here.
    rest = weights[-1] * 2 / halting
    total = (sum(weights), sum(weights) + rest)
    bounds = [(weight / total[1], weight / total[0]) for weight in weights[:_MOST]]
    return [
        *bounds,
        (
            Fraction(1 - sum(high for _, high in bounds)),
            Fraction(1 - sum(low for low, _ in bounds)),
        ),
    ]


def _grouped(draw: Callable[[Bits], int], first: int) -> Callable[[Bits], int]:
    return lambda bits: min(draw(bits) - first, _MOST)


@pytest.mark.parametrize("shape", _SHAPES, ids=str)
def test_every_tape_of_a_negative_binomial_number(shape: Fraction) -> None:
    halting = Fraction(2, 5)
    assert_bracketed(
        _grouped(lambda bits: truncated_negative_binomial(bits, shape, halting, word=1), 1),
        _negative_binomial(shape, halting),
        within=0.03,
        most_runs=700,
    )


@pytest.mark.parametrize("mean", [Fraction(1, 3), Fraction(2)], ids=str)
def test_every_tape_of_a_poisson_number(mean: Fraction) -> None:
    with ctx.workprec(200):
        rate = arb(fmpq(mean.numerator, mean.denominator))
        masses = [(-rate).exp() * rate**k / arb(math.factorial(k)) for k in range(_MOST)]
        expected = [reference.bounds(mass) for mass in [*masses, 1 - sum(masses)]]
    assert_bracketed(
        _grouped(lambda bits: poisson(bits, mean, word=1), 0),
        expected,
        within=0.03,
        most_runs=700,
    )


def test_a_law_that_is_a_little_wrong_is_caught() -> None:
    """The walk distinguishes η from η + 1/5: the undecided mass is smaller than the difference."""

    def sampler(bits: Bits) -> int:
        return truncated_negative_binomial(bits, Fraction(6, 5), Fraction(1, 2), word=1)

    with pytest.raises(pytest.fail.Exception):
        assert_bracketed(
            _grouped(sampler, 1),
            _negative_binomial(Fraction(1), Fraction(1, 2)),
            within=0.03,
            most_runs=700,
        )


def test_whole_words_have_the_same_law() -> None:
    """In 4,000 scripted draws with 64-bit words, each frequency is within 6.2 standard deviations.

    A right sampler fails about once in 10⁸ seeds, and the seed is fixed.
    """
    draws = 4_000
    bits = scripted("run counts")
    expected = _negative_binomial(Fraction(1, 2), Fraction(1, 5))
    found = Counter(
        min(truncated_negative_binomial(bits, Fraction(1, 2), Fraction(1, 5)) - 1, _MOST)
        for _ in range(draws)
    )
    for outcome, (low, _) in enumerate(expected):
        chance = float(low)
        assert abs(found[outcome] / draws - chance) < 6.2 * math.sqrt(chance / draws)


def test_long_waits_and_certain_ends() -> None:
    bits = scripted("long waits")
    drawn = [truncated_negative_binomial(bits, Fraction(1), Fraction(1, 1000)) for _ in range(40)]
    assert 200 < sum(drawn) / 40 < 4000
    assert 900 < poisson(bits, Fraction(1000)) < 1100
    assert truncated_negative_binomial(bits, Fraction(0), Fraction(1)) == 1
