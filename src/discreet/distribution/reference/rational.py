"""Permute-and-flip on exact rationals, four ways, each a different formula of the paper.

Coins are p_r = exp(−γ_r) given as fractions, the largest exactly 1. The costs are those of the
formulas: n! permutations, 2ⁿ subsets, 2ⁿ coin vectors, n² table entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from discreet.errors import ScoresError

Number = TypeVar("Number", Fraction, float)


def _checked(coins: Sequence[Fraction]) -> tuple[Fraction, ...]:
    values = tuple(Fraction(coin) for coin in coins)
    if not values or min(values) < 0 or max(values) != 1:
        raise ScoresError("coins must be probabilities, and the largest exactly one")
    return values


def sum_over_permutations(coins: Sequence[Fraction]) -> list[Fraction]:
    """Lemma 1: r's coin is heads, and every coin before it in a uniform permutation is tails.

    Example:
        >>> sum_over_permutations([Fraction(1), Fraction(1, 2)])
        [Fraction(3, 4), Fraction(1, 4)]
    """
    values = _checked(coins)
    result = [Fraction(0)] * len(values)
    for order in permutations(range(len(values))):
        still_tails = Fraction(1)
        for candidate in order:
            result[candidate] += still_tails * values[candidate]
            still_tails *= 1 - values[candidate]
    return [probability / math.factorial(len(values)) for probability in result]


def sum_over_subsets(coins: Sequence[Fraction]) -> list[Fraction]:
    """Lemma 2: inclusion and exclusion over the candidates that could come before r.

    Example:
        >>> sum_over_subsets([Fraction(1), Fraction(1, 2)])
        [Fraction(3, 4), Fraction(1, 4)]
    """
    values = _checked(coins)
    result = []
    for candidate, coin in enumerate(values):
        others = values[:candidate] + values[candidate + 1 :]
        total = sum(
            Fraction((-1) ** size, size + 1) * math.prod(subset)
            for size in range(len(values))
            for subset in combinations(others, size)
        )
        result.append(coin * total)
    return result


def recurrence(coins: Sequence[Fraction]) -> list[Fraction]:
    """Recurrence (6), which Proposition 3 says permute-and-flip solves.

    A candidate behind the best has p_r times the probability it would have if raised to the best;
    the best share what is left equally.

    Example:
        >>> recurrence([Fraction(1), Fraction(1, 2)])
        [Fraction(3, 4), Fraction(1, 4)]
    """

    @cache
    def solve(values: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        behind = {
            r: coin * solve((*values[:r], Fraction(1), *values[r + 1 :]))[r]
            for r, coin in enumerate(values)
            if coin < 1
        }
        share = (1 - sum(behind.values(), Fraction(0))) / (len(values) - len(behind))
        return tuple(behind.get(r, share) for r in range(len(values)))

    return list(solve(_checked(coins)))


def dynamic_program(coins: Sequence[Fraction]) -> list[Fraction]:
    """Appendix E's dynamic program over subset sizes, in O(n²) operations; exact here.

    Example:
        >>> dynamic_program([Fraction(1), Fraction(1, 2)])
        [Fraction(3, 4), Fraction(1, 4)]
    """
    return _dynamic_program(_checked(coins), Fraction(1))


def dynamic_program_in_floats(coins: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Appendix E's dynamic program in float64: shown because it fails, never used.

    Its sums alternate in sign, with terms as large as the number of subsets. At sixty candidates
    ten digits are gone, at a hundred all of them: the "probabilities" do not even sum to one.

    Example:
        >>> coins = np.exp(-np.linspace(0, 1.5, 100))
        >>> bool(abs(dynamic_program_in_floats(coins).sum() - 1) > 0.5)
        True
    """
    values = tuple(float(coin) for coin in np.asarray(coins, dtype=np.float64))
    return np.array(_dynamic_program(values, 1.0))


def _dynamic_program(coins: tuple[Number, ...], one: Number) -> list[Number]:
    """S(k) sums the products over all subsets of size k; T(k) leaves r out of them."""
    all_subsets: list[Number] = [one]
    for coin in coins:
        with_coin = [coin * product for product in all_subsets]
        all_subsets.append(one - one)
        for size, product in enumerate(with_coin, start=1):
            all_subsets[size] += product
    result: list[Number] = []
    for coin in coins:
        without = one
        total = one
        for size in range(1, len(coins)):
            without = all_subsets[size] - coin * without
            total += without / (size + 1) if size % 2 == 0 else -without / (size + 1)
        result.append(coin * total)
    return result
