"""Permute-and-flip: regularity, privacy and the recurrence (Theorem 1, Propositions 2 and 3, Equation 5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import product

from discreet._exact.distribution.reference import noisy_max_laplace_ball
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import (
    Finding,
    Scope,
    Witness,
    consistent,
    established,
    refuted,
    unless,
)
from discreet.papers.permute_and_flip.algorithms import (
    distribution_by_permutation,
    distribution_with_replacement,
    distribution_without_replacement,
)
from discreet.papers.polynomials import (
    negative_point,
    permute_and_flip_polynomials,
    polynomial,
    unknown,
)
from discreet.papers.problems import (
    Number,
    Problem,
    affine_families,
    integral_of_products,
    lattice,
    lattices,
    moved,
    neighbours,
    rational,
)
from discreet.papers.randomized_response.algorithms import chain, lemma_1

claim = claims_of("permute-and-flip")


def not_private(
    counts: Iterable[int],
    depth: int,
    *,
    moves: tuple[int, ...] = (-1, 0, 1),
    steps: int = 2,
    both_ways: bool = False,
) -> tuple[Witness, int]:
    """Return neighbours whose loss under permute-and-flip exceeds steps·ε/2, or None, and the number tried.

    Neighbours move each score by one of ``moves``. With x = exp(−ε/2), the loss is at most steps·ε/2 for
    every ε if Pr[q → r] − x^steps·Pr[q' → r] ≥ 0 on [0, 1]. ``both_ways`` also exchanges the neighbours.
    """
    factor, pairs = unknown() ** steps, 0
    for count in counts:
        for scores, each in product(lattice(count, depth), product(moves, repeat=count)):
            pairs += 1
            neighbour = moved(scores, each)
            before, after = map(permute_and_flip_polynomials, (scores, neighbour))
            for one, other in ((before, after), (after, before))[: 1 + both_ways]:
                for outcome, (here, there) in enumerate(zip(one, other, strict=True)):
                    point = negative_point(here - factor * there)
                    if point is not None:
                        return {
                            "scores": list(scores),
                            "neighbour": list(neighbour),
                            "outcome": outcome,
                            "exp(-epsilon/2)": str(point),
                        }, pairs
    return None, pairs


@claim("Theorem 1")
def _theorem_1(scope: Scope) -> Finding:
    """Permute-and-flip is regular (symmetric, shift-invariant, monotonic) and ε-differentially
    private with noise scale 2Δ/ε."""
    # The log-probability of r rises with its own score at rate exactly ε/(2Δ) while r is behind, and at
    # most at that rate once r leads, because Pr[r] + Σ_S (−1)^|S| |S|/(|S|+1) Π_S p = Π (1 − p) ≥ 0. Both
    # sides have degree one in each coin, so if they agree on coins ½ and ¼, they agree everywhere.
    most = scope.size(full=7, quick=5)
    broken: Witness = None
    for problem in affine_families(most):
        others = problem.coins()[1:]
        none_heads = math.prod((1 - coin for coin in others), start=rational(1))
        if integral_of_products(others) + _weighted_by_size(others) != none_heads:
            broken = {"scores": list(problem.scores)}
    largest = scope.size(full=4, quick=3)
    lost, pairs = not_private((largest,), scope.size(full=4, quick=2))
    return unless(
        broken or lost,
        f"every real score vector and every ε, for n ≤ {most}; again directly for all neighbours on "
        f"the lattice of whole multiples of Δ, n = {largest}",
        "the derivative of the log-probability is at most ε/(2Δ): its excess is −Π(1 − p_s), an "
        f"identity of polynomials; {pairs} pairs of neighbours agree for every ε. Regularity is Lemma 3",
        pairs=pairs,
    )


def _weighted_by_size(coins: list[Number]) -> Number:
    """Return Σ (−1)^|S| · |S|/(|S|+1) · Π_S p over all subsets S of the coins.

    This is the derivative of ∫₀¹ Π (1 − uλp) du with respect to λ, at λ = 1.
    """
    by_size: list[Number] = [rational(1)]
    for coin in coins:
        shifted = [rational(0), *[-coin * total for total in by_size]]
        by_size = [a + b for a, b in zip([*by_size, rational(0)], shifted, strict=True)]
    return sum(
        (total * rational(Fraction(size, size + 1)) for size, total in enumerate(by_size)),
        rational(0),
    )


def _laplace(scores: tuple[int, ...]) -> list[Number]:
    best = max(scores)
    return noisy_max_laplace_ball([Fraction(best - score, 2) for score in scores], bits=96)


@claim("Proposition 2")
def _proposition_2(scope: Scope) -> Finding:
    """To show that a regular mechanism is private, it is enough to check one neighbour per outcome r: the one
    in which r's score rises by 2Δ and nothing else moves."""
    one = Fraction(1)
    mechanisms: dict[str, Callable[[tuple[int, ...]], list[Number]]] = {
        "permute-and-flip": lambda q: distribution_without_replacement(Problem(q, epsilon=one)),
        "exponential": lambda q: distribution_with_replacement(Problem(q, epsilon=one)),
        "noisy max, Laplace": _laplace,
    }
    depth = scope.size(full=3, quick=1)
    looked = 0
    for name, mechanism in mechanisms.items():
        law = cache(mechanism)
        for scores in lattice(3, depth):
            for outcome in range(3):
                worst = law(_raised(scores, outcome))[outcome]
                for neighbour in neighbours(scores):
                    looked += 1
                    if bool(law(neighbour)[outcome] > worst):
                        return refuted(
                            f"{name} at ε = 1, n = 3",
                            "the named neighbour is not the worst one",
                            witness={"scores": list(scores), "neighbour": list(neighbour)},
                        )
    # Regularity is needed: for exponential randomized response this neighbour is not the worst.
    exceeds = _response((4, 3, 2))[2] > _response(_raised((5, 3, 1), 2))[2]
    established(exceeds, "regularity is needed")
    return consistent(
        f"three regular mechanisms at ε = 1, n = 3, scores to {depth}Δ behind the best",
        f"in {looked} comparisons no neighbour beats the named one. Regularity is needed: "
        "exponential randomized response on (5, 3, 1) has a worse one, (4, 3, 2)",
        comparisons=looked,
    )


def _raised(scores: tuple[int, ...], outcome: int) -> tuple[int, ...]:
    return tuple(score + 2 * (r == outcome) for r, score in enumerate(scores))


def _response(scores: tuple[int, ...]) -> list[Number]:
    problem = Problem(scores, unit_coin=rational("1/2"))
    return lemma_1(problem, truth=Fraction(1, 2), reading=chain)


def _by_lattice_recurrence(scores: tuple[int, ...], unit_coin: Number) -> tuple[Number, ...]:
    """Solve equation (5) on scores in units of 2Δ; ``unit_coin`` is then exp(−ε)."""

    @cache
    def solve(values: tuple[int, ...]) -> tuple[Number, ...]:
        best = max(values)
        behind = {
            r: unit_coin * solve((*values[:r], value + 1, *values[r + 1 :]))[r]
            for r, value in enumerate(values)
            if value < best
        }
        left = 1 - sum(behind.values(), rational(0))
        share = left * rational(Fraction(1, len(values) - len(behind)))
        return tuple(behind.get(r, share) for r in range(len(values)))

    return solve(scores)


@claim("Equation 5")
def _equation_5(scope: Scope) -> Finding:
    """The recurrence with tight privacy constraints determines exactly one mechanism on the 2Δ-lattice: a
    candidate behind the best has exp(−ε) times the probability that it would have with its score raised by
    2Δ, and the best candidates share the rest equally."""
    most, depth = scope.size(full=4, quick=3), scope.size(full=4, quick=2)
    broken, vectors = None, 0
    for scores in lattices(most, depth):
        vectors += 1
        solved = _by_lattice_recurrence(scores, unknown())
        # The same polynomials with x = exp(−ε): a step of 2Δ here is a step of Δ there.
        if tuple(map(polynomial, solved)) != permute_and_flip_polynomials(scores):
            broken = {"scores in units of 2Δ": list(scores)}
    return unless(
        broken,
        f"every ε; n ≤ {most}, scores to {depth} steps of 2Δ behind the best",
        f"the recurrence ends on all {vectors} score vectors, with one value each: permute-and-flip's",
        vectors=vectors,
    )


@claim("Proposition 3")
def _proposition_3(scope: Scope) -> Finding:
    """Permute-and-flip solves recurrence (6): a candidate behind the best has p_r times the probability that
    it would have if raised to the best, and the best candidates share the rest equally."""
    most = scope.size(full=6, quick=5)
    broken: Witness = None
    for problem in affine_families(most):
        law = distribution_by_permutation(problem)
        for outcome in range(1, len(law)):
            best = tuple(0 if r == outcome else score for r, score in enumerate(problem.scores))
            raised = distribution_by_permutation(Problem(best, unit_coin=problem.unit_coin))
            if law[outcome] != problem.coins()[outcome] * raised[outcome]:
                broken = {"scores": list(problem.scores), "outcome": outcome}
        if sum(law, rational(0)) != 1:
            broken = {"scores": list(problem.scores)}
    ties = [
        Problem((0,) * best + (-1,) * (count - best), unit_coin=rational("1/2"))
        for count in range(2, most + 1)
        for best in range(1, count + 1)
    ]
    for problem in ties:
        law = distribution_by_permutation(problem)
        if any(law[r] != law[0] for r, score in enumerate(problem.scores) if score == 0):
            broken = {"scores": list(problem.scores)}
    return unless(
        broken,
        f"every real score vector and every ε, n ≤ {most}",
        "both cases of the recurrence, as identities of degree one in each coin",
    )
