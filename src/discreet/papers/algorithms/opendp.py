"""Both algorithms of the OpenDP proof of permute-and-flip (Cebere), and their two primitives.

The proof writes the noise scale s where the papers write 2Δ/ε; a :class:`Problem` with sensitivity 1
and ε = 2/s says the same.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from discreet.papers.algorithms.noisy_max import distribution_noisy_max, draw_noisy_max
from discreet.papers.algorithms.problem import (
    Algorithm,
    Number,
    Problem,
    first_heads,
    rational,
    rational_coin,
)
from discreet.sampling import Bits, uniform_below

PAPER = "opendp-proof"


def shuffle(count: int, bits: Bits) -> list[int]:
    """Fisher and Yates: swap each position, from the last down, with a uniform one at or below it."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = uniform_below(bits, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def shuffle_distribution(count: int) -> dict[tuple[int, ...], Fraction]:
    """How likely each order is, over all choices the shuffle can make.

    Example:
        >>> shuffle_distribution(2)
        {(1, 0): Fraction(1, 2), (0, 1): Fraction(1, 2)}
    """
    result: dict[tuple[int, ...], Fraction] = {}
    for choices in product(*(range(last + 1) for last in range(count - 1, 0, -1))):
        order = list(range(count))
        for last, other in zip(range(count - 1, 0, -1), choices, strict=True):
            order[last], order[other] = order[other], order[last]
        key = tuple(order)
        result[key] = result.get(key, Fraction(0)) + Fraction(1, math.factorial(count))
    return result


def bernoulli_exponential(gamma: Fraction, bits: Bits) -> bool:
    """Bernoulli(exp(−γ)) from rational coins only (Canonne, Kamath and Steinke, section 5.2)."""
    whole = gamma.numerator // gamma.denominator
    return all(_small(Fraction(1), bits) for _ in range(whole)) and _small(gamma - whole, bits)


def _small(gamma: Fraction, bits: Bits) -> bool:
    count = 1
    while rational_coin(gamma / count, bits):
        count += 1
    return count % 2 == 1


def bernoulli_exponential_bounds(gamma: Fraction, rounds: int) -> tuple[Fraction, Fraction]:
    """Bounds on the chance of heads for γ ≤ 1, from the first ``rounds`` coins of the loop.

    The loop stops at K = k with probability γ^(k−1)/(k−1)! − γ^k/k!, and says heads for odd k; what is
    undecided after the last round has probability γ^rounds/rounds!.

    Example:
        >>> bernoulli_exponential_bounds(Fraction(1), 2)
        (Fraction(0, 1), Fraction(1, 2))
    """
    heads = Fraction(0)
    survives = Fraction(1)
    for count in range(1, rounds + 1):
        stops = survives * (1 - gamma / count)
        survives *= gamma / count
        if count % 2 == 1:
            heads += stops
    return heads, heads + survives


def draw_permute_and_flip(problem: Problem, bits: Bits) -> int:
    """The proof's ``function``: shuffle, then the first Bernoulli(exp(−γ)) that is heads."""
    for candidate in shuffle(len(problem.scores), bits):
        if bernoulli_exponential(problem.gap(candidate), bits):
            return candidate
    raise AssertionError("a best candidate's coin is always heads")


def distribution_permute_and_flip(problem: Problem) -> list[Number]:
    """Its law: over every order the shuffle gives, with its own probability.

    Example:
        >>> distribution_permute_and_flip(Problem((1, 0), unit_coin=rational("1/2")))
        [3/4, 1/4]
    """
    coins = problem.coins()
    orders = shuffle_distribution(len(coins)).items()
    return first_heads(coins, ((order, rational(chance)) for order, chance in orders))


ALGORITHMS = (
    Algorithm(PAPER, "Algorithm 1", draw_permute_and_flip, distribution_permute_and_flip),
    Algorithm(PAPER, "Algorithm 2", draw_noisy_max, distribution_noisy_max),
)
