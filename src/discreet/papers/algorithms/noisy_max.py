"""Algorithms 1 to 4 of "permute-and-flip is report noisy max" (Ding et al., 2021)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from discreet.numbers.balls import ball_of, precision
from discreet.papers.algorithms.permute_and_flip import (
    distribution_by_permutation,
    draw_by_permutation,
)
from discreet.papers.algorithms.problem import (
    Algorithm,
    Number,
    Problem,
    integral_of_products,
    rational,
    uniform_choice,
)
from discreet.sampling import Bits
from discreet.sampling.coins import Uniform

PAPER = "noisy-max"


def largest_noisy(offsets: Sequence[Fraction], bits: Bits) -> int:
    """The position of the largest ``offset + Exponential(1)``, exactly.

    Each noise is −ln U for a uniform U known by its first bits only. Bits are added until one
    position is certainly the largest; ties have probability zero.
    """
    uniforms = [Uniform(bits) for _ in offsets]
    rivals = list(range(len(offsets)))
    while len(rivals) > 1:
        for rival in rivals:
            uniforms[rival].extend()
            while uniforms[rival].known == 0:
                uniforms[rival].extend()
        with precision(max(uniform.width for uniform in uniforms) + 64):
            low, high = {}, {}
            for rival in rivals:
                least, most = uniforms[rival].ends()
                low[rival] = ball_of(offsets[rival]) - most.log()
                high[rival] = ball_of(offsets[rival]) - least.log()
            rivals = [
                r for r in rivals if not any(bool(high[r] < low[t]) for t in rivals if t != r)
            ]
    return rivals[0]


def draw_noisy_max(problem: Problem, bits: Bits) -> int:
    """Algorithm 1: add exponential noise of scale 2Δ/ε to every score; return the largest."""
    return largest_noisy([-problem.gap(r) for r in range(len(problem.scores))], bits)


def distribution_noisy_max(problem: Problem) -> list[Number]:
    """Algorithm 1's law: Pr[r] = ∫ f(y − q_r) Π_{t≠r} F(y − q_t) dy.

    F(y − q*) vanishes below q*; above, x = exp(−(y − q*)ε/(2Δ)) turns each F into 1 − p_t·x and
    f(y − q_r) dy into −p_r dx. What is left is the integral of a polynomial.

    Example:
        >>> distribution_noisy_max(Problem((1, 0), unit_coin=rational("1/2")))
        [3/4, 1/4]
    """
    coins = problem.coins()
    return [
        coin * integral_of_products([*coins[:r], *coins[r + 1 :]]) for r, coin in enumerate(coins)
    ]


def draw_uniform_above(problem: Problem, bits: Bits) -> int:
    """Algorithm 3 (intermediate A): a uniform choice among the noisy scores at or above q*.

    A noisy score reaches q* exactly when Exponential(1) ≥ γ_r, an event of probability p_r.
    """
    reached = [r for r in range(len(problem.scores)) if problem.flip(r, bits)]
    return uniform_choice(reached, bits)


def _over_sets(problem: Problem, share: Callable[[int], Fraction]) -> list[Number]:
    """The law of a member, over every set that may reach q*; ``share`` is a member's chance by size."""
    coins = problem.coins()
    result: list[Number] = [rational(0)] * len(coins)
    for reached in product((False, True), repeat=len(coins)):
        if not any(reached):
            continue
        chance = rational(share(sum(reached)))
        for coin, inside in zip(coins, reached, strict=True):
            chance = chance * (coin if inside else 1 - coin)
        result = [p + chance if inside else p for p, inside in zip(result, reached, strict=True)]
    return result


def distribution_uniform_above(problem: Problem) -> list[Number]:
    """Algorithm 3's law: over every set S that may reach q*, a uniform member.

    Example:
        >>> distribution_uniform_above(Problem((1, 0), unit_coin=rational("1/2")))
        [3/4, 1/4]
    """
    return _over_sets(problem, lambda size: Fraction(1, size))


def draw_capped(problem: Problem, bits: Bits) -> int:
    """Algorithm 4 (intermediate B): cap at q*, add fresh noise to those at the cap, return the largest."""
    capped = [r for r in range(len(problem.scores)) if problem.flip(r, bits)]
    return capped[largest_noisy([Fraction(0)] * len(capped), bits)]


def chance_of_largest(count: int) -> Fraction:
    """The chance that one of ``count`` independent exponential noises is the largest.

    ∫ e^−z (1 − e^−z)^(count−1) dz = ∫₀¹ (1 − x)^(count−1) dx, multiplied out.

    Example:
        >>> chance_of_largest(4)
        Fraction(1, 4)
    """
    return sum(
        (Fraction((-1) ** k * math.comb(count - 1, k), k + 1) for k in range(count)), Fraction(0)
    )


def distribution_capped(problem: Problem) -> list[Number]:
    """Algorithm 4's law: over every set S' at the cap, the one with the largest fresh noise.

    Example:
        >>> distribution_capped(Problem((1, 0), unit_coin=rational("1/2")))
        [3/4, 1/4]
    """
    return _over_sets(problem, chance_of_largest)


ALGORITHMS = (
    Algorithm(PAPER, "Algorithm 1", draw_noisy_max, distribution_noisy_max),
    Algorithm(PAPER, "Algorithm 2", draw_by_permutation, distribution_by_permutation),
    Algorithm(PAPER, "Algorithm 3", draw_uniform_above, distribution_uniform_above),
    Algorithm(PAPER, "Algorithm 4", draw_capped, distribution_capped),
)
