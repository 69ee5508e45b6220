"""Keeping groups: the closed form against the recursion, every tape of bits, and optimality."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.keeping import Keeping, kept
from discreet.testing import scripted
from tests.tools.sampling.walking import assert_bracketed

CASES = [
    (Fraction(1), Fraction(1, 10**9)),
    (Fraction(1, 10), Fraction(1, 10**6)),
    (Fraction(3), Fraction(1, 10)),
    (Fraction(1, 2), Fraction(99, 100)),
    (Fraction(20), Fraction(1, 10**30)),
]


def by_recursion(epsilon: Fraction, delta: Fraction, most: int) -> list[Any]:
    grows, d = ball_of(epsilon).exp(), ball_of(delta)
    found = [ball_of(0)]
    for _ in range(most):
        last = found[-1]
        found.append((grows * last + d).min(1 - (1 - last - d) / grows).min(ball_of(1)))
    return found


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_closed_form_is_the_recursion(epsilon: Fraction, delta: Fraction) -> None:
    keeping = Keeping(epsilon, delta)
    with precision(400):
        for people, expected in enumerate(by_recursion(epsilon, delta, 400)):
            difference = keeping.ball(people) - expected
            assert difference.contains(0)
            assert float(difference.rad()) < 1e-60


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_it_is_private_and_a_little_more_is_not(epsilon: Fraction, delta: Fraction) -> None:
    """One of the two inequalities is tight for chances below one, so a larger chance violates it."""
    keeping = Keeping(epsilon, delta)
    with precision(400):
        grows, d, little = ball_of(epsilon).exp(), ball_of(delta), ball_of(Fraction(1, 10**40))
        for people in range(60):
            here, there = keeping.ball(people), keeping.ball(people + 1)
            spare = [grows * here + d - there, grows * (1 - there) + d - (1 - here)]
            assert not any(bool(each < 0) for each in spare)
            if not bool(there >= 1):
                assert any(bool(each - little * grows < 0) for each in spare)


def test_every_tape_leads_to_its_chance() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 5)
    keeping = Keeping(epsilon, delta)
    for people in range(5):
        with precision(128):
            chance = Fraction(float(keeping.ball(people).mid()))

        def sampler(bits: Bits, people: int = people) -> int:
            return int(kept(np.array([people]), keeping=keeping, bits=bits, word=2)[0])

        slack = Fraction(1, 10**12)
        expected = [(1 - chance - slack, 1 - chance + slack), (chance - slack, chance + slack)]
        assert_bracketed(sampler, expected, within=0.01, most_runs=200)


def test_nobody_is_never_named_and_many_always_are() -> None:
    for epsilon, delta in CASES:
        keeping = Keeping(epsilon, delta)
        people = np.array([0, 10**6, 0, 2**62])
        assert kept(people, keeping=keeping, bits=scripted(1)).tolist() == [False, True] * 2
    assert kept(people[:0], keeping=keeping, bits=scripted(1)).tolist() == []
