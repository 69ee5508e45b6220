"""Algorithms 1 to 3 of the permute-and-flip paper (McKenna and Sheldon, 2020).

The distributions follow the algorithms step by step and do not use formulas that the paper derives.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

from discreet._exact.sampling import Bits
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, unless
from discreet.papers.problems import (
    Algorithm,
    Number,
    Problem,
    affine_families,
    first_heads,
    lattices,
    rational,
    uniform_choice,
    where_laws_differ,
)

PAPER = "permute-and-flip"
claim = claims_of(PAPER)


def draw_by_permutation(problem: Problem, bits: Bits) -> int:
    """Draw by Algorithm 1: visit the candidates in random order; return the first whose coin is heads."""
    remaining = list(range(len(problem.scores)))
    while remaining:
        candidate = uniform_choice(remaining, bits)
        remaining.remove(candidate)
        if problem.flip(candidate, bits):
            return candidate
    raise AssertionError("a best candidate's coin is always heads")


def distribution_by_permutation(problem: Problem) -> list[Number]:
    """Return Algorithm 1's distribution, summed over all orders of the candidates, which are equally likely.

    Example:
        >>> distribution_by_permutation(Problem((1, 0), unit_coin=rational("1/2")))
        [3/4, 1/4]
    """
    coins = problem.coins()
    share = rational(Fraction(1, math.factorial(len(coins))))
    return first_heads(coins, ((order, share) for order in permutations(range(len(coins)))))


def draw_with_replacement(problem: Problem, bits: Bits) -> int:
    """Draw by Algorithm 2 (exponential mechanism): try uniformly drawn candidates until a coin is heads."""
    everyone = range(len(problem.scores))
    while True:
        candidate = uniform_choice(everyone, bits)
        if problem.flip(candidate, bits):
            return candidate


def distribution_with_replacement(problem: Problem) -> list[Number]:
    """Return Algorithm 2's distribution: the chances p_r/n that one round returns r, normalised.

    A round that returns no candidate is followed by a new round, so x_r = p_r/n + (1 − Σp/n)·x_r.

    Example:
        >>> distribution_with_replacement(Problem((1, 0), unit_coin=rational("1/2")))
        [2/3, 1/3]
    """
    coins = problem.coins()
    chance = rational(Fraction(1, len(coins)))
    ends = [coin * chance for coin in coins]
    some_end = sum(ends, rational(0))
    return [end / some_end for end in ends]


def distribution_without_replacement(problem: Problem) -> list[Number]:
    """Return Algorithm 3's distribution, from the chance of reaching each set of remaining candidates."""
    coins = problem.coins()
    result: list[Number] = [rational(0)] * len(coins)
    states: dict[frozenset[int], Number] = {frozenset(range(len(coins))): rational(1)}
    for size in range(len(coins), 0, -1):
        following: dict[frozenset[int], Number] = {}
        share = rational(Fraction(1, size))
        for remaining, chance in states.items():
            for candidate in remaining:
                visited = chance * share
                result[candidate] = result[candidate] + visited * coins[candidate]
                left = remaining - {candidate}
                tails = visited * (1 - coins[candidate])
                following[left] = following[left] + tails if left in following else tails
        states = following
    return result


ALGORITHMS = (
    Algorithm(PAPER, "Algorithm 1", draw_by_permutation, distribution_by_permutation),
    Algorithm(PAPER, "Algorithm 2", draw_with_replacement, distribution_with_replacement),
    # Drawing without replacement is the same as drawing in a random order, so both use one sampler.
    Algorithm(PAPER, "Algorithm 3", draw_by_permutation, distribution_without_replacement),
)


def softmax(problem: Problem) -> list[Number]:
    """Return the exponential mechanism's distribution by its formula: exp(εq/(2Δ)), normalised."""
    coins = problem.coins()
    total = sum(coins, rational(0))
    return [coin / total for coin in coins]


@claim("Algorithm 2")
def _algorithm_2(scope: Scope) -> Finding:
    """Drawing candidates uniformly, with replacement, until a coin is heads gives the exponential
    mechanism's distribution."""
    depth = scope.size(full=4, quick=2)
    problems = [Problem(scores, unit_coin=rational("1/3")) for scores in lattices(5, depth)]
    vectors = len(problems)
    return unless(
        where_laws_differ(distribution_with_replacement, softmax, problems),
        f"n ≤ 5, scores to {depth}Δ behind the best, exp(−ε/2) = 1/3",
        f"the loop's law equals exp(εq/(2Δ)) normalised on {vectors} score vectors, exactly",
        vectors=vectors,
    )


@claim("Algorithm 3")
def _algorithm_3(scope: Scope) -> Finding:
    """Drawing without replacement and returning the first candidate whose coin is heads is the same as
    Algorithm 1."""
    most = scope.size(full=7, quick=5)
    one, other = distribution_without_replacement, distribution_by_permutation
    return unless(
        where_laws_differ(one, other, affine_families(most)),
        f"every real score vector and every ε, n ≤ {most}",
        f"the law over the sets that may be left equals the law over all {math.factorial(most)} orders",
    )
