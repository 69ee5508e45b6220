"""The formulas of permute-and-flip's supplement agree with each other, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ScoresError
from discreet.papers.permute_and_flip import supplement

coin_lists = st.lists(st.fractions(0, 1, max_denominator=50), max_size=5).flatmap(
    lambda rest: st.permutations([Fraction(1), *rest])
)


@settings(max_examples=60, deadline=None)
@given(coin_lists)
def test_the_four_formulas_of_the_paper_agree(coins: list[Fraction]) -> None:
    expected = supplement.sum_over_permutations(coins)
    assert sum(expected) == 1
    assert supplement.sum_over_subsets(coins) == expected
    assert supplement.recurrence(coins) == expected
    assert supplement.dynamic_program(coins) == expected


def test_the_dynamic_program_is_exact_on_rationals_and_fails_in_floats() -> None:
    for size, least_error in ((60, 1e-8), (100, 0.5), (200, 1e9)):
        coins = np.exp(-np.linspace(0.0, 1.5, size))
        assert abs(supplement.dynamic_program_in_floats(coins).sum() - 1) > least_error
    exact = [Fraction(float(coin)) for coin in np.exp(-np.linspace(0.0, 1.5, 60))]
    assert sum(supplement.dynamic_program(exact)) == 1


@pytest.mark.parametrize(
    "coins", [[], [Fraction(1, 2)], [Fraction(1), Fraction(2)], [Fraction(1), Fraction(-1)]]
)
def test_coins_that_are_not_coins_are_refused(coins: list[Fraction]) -> None:
    for formula in (
        supplement.sum_over_permutations,
        supplement.sum_over_subsets,
        supplement.recurrence,
        supplement.dynamic_program,
    ):
        with pytest.raises(ScoresError):
            formula(coins)
