"""Sections 2 and 3 of Ding et al. (2021): algorithms 1 to 4, and statements that they are equivalent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling import Bits
from discreet._exact.sampling.coins import Uniform
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, unless
from discreet.papers.permute_and_flip.algorithms import (
    distribution_by_permutation,
    distribution_with_replacement,
    draw_by_permutation,
)
from discreet.papers.problems import (
    Algorithm,
    Law,
    Number,
    Problem,
    affine_families,
    balls,
    integral_of_products,
    lattice,
    lattices,
    rational,
    uniform_choice,
    where_laws_differ,
)

PAPER = "noisy-max"
claim = claims_of(PAPER)


def largest_noisy(offsets: Sequence[Fraction], bits: Bits) -> int:
    """Add exact Exponential(1) noise to each offset and return the position of the largest sum.

    Each noise is −ln U for a uniform U, of which only the first bits are drawn. More bits are drawn until
    one position certainly has the largest sum; ties have probability zero.
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
    """Draw by Algorithm 1: add exponential noise of scale 2Δ/ε to every score; choose the largest sum."""
    return largest_noisy([-problem.gap(r) for r in range(len(problem.scores))], bits)


def distribution_noisy_max(problem: Problem) -> list[Number]:
    """Return Algorithm 1's distribution: Pr[r] = ∫ f(y − q_r) Π_{t≠r} F(y − q_t) dy.

    F(y − q*) is zero below q*. Above it, the substitution x = exp(−(y − q*)ε/(2Δ)) turns each F into
    1 − p_t·x and f(y − q_r) dy into −p_r dx. The result is the integral of a polynomial.
    """
    coins = problem.coins()
    return [
        coin * integral_of_products([*coins[:r], *coins[r + 1 :]]) for r, coin in enumerate(coins)
    ]


def draw_uniform_above(problem: Problem, bits: Bits) -> int:
    """Draw by Algorithm 3 (intermediate A): choose uniformly among the noisy scores that reach q*.

    A noisy score reaches q* exactly when Exponential(1) ≥ γ_r, which has probability p_r.
    """
    reached = [r for r in range(len(problem.scores)) if problem.flip(r, bits)]
    return uniform_choice(reached, bits)


def _over_sets(problem: Problem, share: Callable[[int], Fraction]) -> list[Number]:
    """Return each candidate's probability, summed over all sets of candidates that may reach q*.

    ``share`` maps the size of a set to the chance that a given member is chosen.
    """
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
    """Return Algorithm 3's distribution: a uniform choice from the random set of scores that reach q*.

    The probabilities are summed over all possible sets.
    """
    return _over_sets(problem, lambda size: Fraction(1, size))


def draw_capped(problem: Problem, bits: Bits) -> int:
    """Draw by Algorithm 4 (intermediate B): cap noisy scores at q*, add fresh noise to those at the cap."""
    capped = [r for r in range(len(problem.scores)) if problem.flip(r, bits)]
    return capped[largest_noisy([Fraction(0)] * len(capped), bits)]


def chance_of_largest(count: int) -> Fraction:
    """Return the chance that a given one of ``count`` independent exponential noises is the largest.

    The chance is ∫ e^−z (1 − e^−z)^(count−1) dz = ∫₀¹ (1 − x)^(count−1) dx, expanded and integrated.

    Example:
        >>> chance_of_largest(4)
        Fraction(1, 4)
    """
    return sum(
        (Fraction((-1) ** k * math.comb(count - 1, k), k + 1) for k in range(count)), Fraction(0)
    )


def distribution_capped(problem: Problem) -> list[Number]:
    """Return Algorithm 4's distribution: of the scores at the cap, the one with the largest fresh noise wins.

    The probabilities are summed over all possible sets of scores at the cap.
    """
    return _over_sets(problem, chance_of_largest)


ALGORITHMS = (
    Algorithm(PAPER, "Algorithm 1", draw_noisy_max, distribution_noisy_max),
    Algorithm(PAPER, "Algorithm 2", draw_by_permutation, distribution_by_permutation),
    Algorithm(PAPER, "Algorithm 3", draw_uniform_above, distribution_uniform_above),
    Algorithm(PAPER, "Algorithm 4", draw_capped, distribution_capped),
)


def _same_law(first: Law, second: Law, scope: Scope) -> Finding:
    most = scope.size(full=7, quick=5)
    tied = [(0,), *lattices(min(most, 5), 3)]
    with_ties = (Problem(scores, unit_coin=rational("2/3")) for scores in tied)
    return unless(
        where_laws_differ(first, second, (*affine_families(most), *with_ties)),
        f"every real score vector and every ε, n ≤ {most}",
        "the two output distributions, each followed step by step, have degree one in every coin and agree "
        f"at two values of each; also, exactly, on {len(tied)} score vectors with ties",
    )


@claim("Lemma 2")
def _lemma_2(scope: Scope) -> Finding:
    """Flipping every coin and returning a uniformly chosen head (Algorithm 3) is permute-and-flip
    (Algorithm 2)."""
    return _same_law(distribution_uniform_above, distribution_by_permutation, scope)


@claim("Lemma 3")
def _lemma_3(scope: Scope) -> Finding:
    """Choosing among the heads by fresh exponential noise (Algorithm 4) is the same as choosing
    uniformly (Algorithm 3)."""
    return _same_law(distribution_capped, distribution_uniform_above, scope)


@claim("Lemma 4")
def _lemma_4(scope: Scope) -> Finding:
    """Capping noisy scores at the best and adding fresh noise to those at the cap (Algorithm 4) is noisy
    max with exponential noise (Algorithm 1), because exponential noise is memoryless."""
    return _same_law(distribution_noisy_max, distribution_capped, scope)


@claim("Theorem 5")
def _theorem_5(scope: Scope) -> Finding:
    """Permute-and-flip and noisy max with exponential noise have the same output distribution."""
    return _same_law(distribution_noisy_max, distribution_by_permutation, scope)


@claim("Equation 3")
def _equation_3(scope: Scope) -> Finding:
    """Noisy max with Gumbel noise of scale 2Δ/ε is the exponential mechanism: its probabilities are
    exp(εq/(2Δ)), normalised."""
    # Integrate f(y − γ) Π F rigorously over a bounded range. Above the range the density is at most
    # exp(γ − y); below −L it is at most exp(L + γ)·exp(−exp(L)), decreasing downwards.
    vectors = (
        ((0, -1), (0, -3, -3), (0, -2, -5))
        if scope.quick
        else ((0, 0), (0, -1), (0, -3, -3), (0, -2, -5), (0, -1, -4, -9))
    )
    broken, widest = None, 0.0
    for scores in vectors:
        problem = Problem(scores, epsilon=Fraction(1))
        with balls():
            for r, expected in enumerate(distribution_with_replacement(problem)):
                found = _gumbel_wins([problem.gap(t) for t in range(len(scores))], r)
                widest = max(widest, float(found.rad()))
                if not found.overlaps(expected) or not bool(found.rad() < 1e-12):
                    broken = {"scores": list(scores), "outcome": r}
    return unless(
        broken,
        f"{len(vectors)} score vectors of at most {max(map(len, vectors))} candidates at ε = Δ = 1",
        "rigorous numerical integration encloses each probability within the radius given, and the "
        "exponential mechanism's lies inside",
        largest_radius=f"{widest:.1e}",
    )


def _gumbel_wins(gammas: list[Fraction], outcome: int) -> Any:
    """Return Pr[−γ_r + G_r is the largest]: ∫ exp(−y − γ_r) exp(−Σ exp(−y − γ_t)) dy."""
    from flint import acb, arb

    offsets = [ball_of(gamma) for gamma in gammas]
    low, high = -6, 40

    def density(y: Any, _analytic: bool) -> Any:
        total = sum(((-y - offset).exp() for offset in offsets), acb(0))
        return (-y - offsets[outcome] - total).exp()

    inside = acb.integral(density, low, high, rel_tol=arb("1e-20"), abs_tol=arb("1e-20")).real
    # Outside the range: at most e^−high above it. Below it x = e^−y ≥ e^6, and ∫ e^−x dx = exp(−e^6).
    outside = arb(-high).exp() + (-arb(-low).exp()).exp()
    return inside + arb(0, float(outside.upper()))


@claim("Footnote 1")
def _footnote_1(scope: Scope) -> Finding:
    """Noisy max with exponential noise is not the exponential mechanism, although some sources say it is."""
    broken, vectors = None, 0
    for scores in lattice(3, scope.size(full=6, quick=3)):
        problem = Problem(scores, unit_coin=rational("1/2"))
        vectors += 1
        same = distribution_noisy_max(problem) == distribution_with_replacement(problem)
        if same != (set(scores) == {0}):
            broken = {"scores": list(scores)}
    return unless(
        broken,
        "n = 3, scores on the grid of Δ, exp(−ε/2) = ½",
        f"the two differ on every one of {vectors} score vectors except when all scores tie; with scores "
        "(1, 0) and coins 1, ½ they give the best ¾ and ⅔",
    )
