"""Certificates for claims "for every ε": the sign of a polynomial on [0, 1], and the cases they cover."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from discreet.errors import DiscreetError
from discreet.papers.permute_and_flip.algorithms import distribution_by_permutation
from discreet.papers.polynomials import negative_point, permute_and_flip_polynomials, unknown
from discreet.papers.problems import Problem, affine_family, lattice, neighbours, rational


def test_a_negative_value_is_found() -> None:
    x = unknown()
    for polynomial in (
        x - rational("1/2"),
        (x - rational("1/2")) ** 2 - rational("1/1000"),
        0 * x - 1,
    ):
        point = negative_point(polynomial)
        assert point is not None
        assert polynomial(point) < 0


@pytest.mark.parametrize("power", range(1, 7))
def test_non_negative_polynomials_are_certified(power: int) -> None:
    x = unknown()
    for polynomial in (
        x**power,
        (1 - x) ** power,
        1 - x**power,
        x**power - x ** (power + 1),
        0 * x,
    ):
        assert negative_point(polynomial) is None


def test_a_sign_that_cannot_be_certified_is_not_guessed() -> None:
    """A polynomial with a zero inside (0, 1) has no Bernstein certificate, so the check must give up."""
    with pytest.raises(DiscreetError, match="could not be decided"):
        negative_point((unknown() - rational("1/3")) ** 2)


def test_polynomials_are_the_probabilities() -> None:
    for scores in lattice(3, 3):
        for coin in map(rational, ("1/7", "2/3")):
            expected = distribution_by_permutation(Problem(scores, unit_coin=coin))
            assert [chance(coin) for chance in permute_and_flip_polynomials(scores)] == expected


def test_the_affine_family_takes_two_values_of_every_coin() -> None:
    half, quarter = rational("1/2"), rational("1/4")
    found = [tuple(problem.coins()[1:]) for problem in affine_family(4)]
    assert sorted(found, key=str) == sorted(product((half, quarter), repeat=3), key=str)


def test_neighbours_are_all_within_one_step() -> None:
    assert len(set(neighbours((0, -1, -2)))) == 27
    assert len(set(neighbours((0, -1, -2), monotonic=True))) == 8
    assert Fraction(len(list(lattice(3, 4)))) == 15
