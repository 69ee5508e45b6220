"""Permute-and-flip is noisy max, sections 2 and 3: the chain of algorithms 2, 3, 4, 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.numbers.balls import ball_of
from discreet.papers.algorithms.noisy_max import (
    distribution_capped,
    distribution_noisy_max,
    distribution_uniform_above,
)
from discreet.papers.algorithms.permute_and_flip import (
    distribution_by_permutation,
    distribution_with_replacement,
)
from discreet.papers.algorithms.problem import Law, Problem, balls, rational
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, unless
from discreet.papers.lattices import affine_families, lattice, lattices, where_laws_differ
from discreet.papers.scope import Scope

claim = claims_of("noisy-max")


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


@claim(
    "Lemma 2",
    """Flipping every coin and returning a uniform one of the heads (Algorithm 3) is permute-and-flip
    (Algorithm 2).""",
)
def _lemma_2(scope: Scope) -> Finding:
    return _same_law(distribution_uniform_above, distribution_by_permutation, scope)


@claim(
    "Lemma 3",
    """Choosing among the heads by fresh exponential noise (Algorithm 4) is the same as choosing
    uniformly (Algorithm 3).""",
)
def _lemma_3(scope: Scope) -> Finding:
    return _same_law(distribution_capped, distribution_uniform_above, scope)


@claim(
    "Lemma 4",
    """Capping noisy scores at the best and adding fresh noise to those at the cap (Algorithm 4) is noisy
    max with exponential noise (Algorithm 1), because the noise forgets what it has passed.""",
)
def _lemma_4(scope: Scope) -> Finding:
    return _same_law(distribution_noisy_max, distribution_capped, scope)


@claim(
    "Theorem 5",
    "Permute-and-flip and noisy max with exponential noise have the same output distribution.",
)
def _theorem_5(scope: Scope) -> Finding:
    return _same_law(distribution_noisy_max, distribution_by_permutation, scope)


@claim(
    "Equation 3",
    """Noisy max with Gumbel noise of scale 2Δ/ε is the exponential mechanism: its probabilities are
    exp(εq/(2Δ)), normalised.""",
)
def _equation_3(scope: Scope) -> Finding:
    # Rigorous integration of f(y − γ) Π F over a bounded range; the density is at most exp(γ − y) above
    # it, and below −L at most exp(L + γ)·exp(−exp(L)), decreasing downwards.
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
    """Pr[−γ_r + G_r is the largest]: ∫ exp(−y − γ_r) exp(−Σ exp(−y − γ_t)) dy."""
    from flint import acb, arb

    offsets = [ball_of(gamma) for gamma in gammas]
    low, high = -6, 40

    def density(y: Any, _analytic: bool) -> Any:
        total = sum(((-y - offset).exp() for offset in offsets), acb(0))
        return (-y - offsets[outcome] - total).exp()

    inside = acb.integral(density, low, high, rel_tol=arb("1e-20"), abs_tol=arb("1e-20")).real
    # Outside: at most e^−high above; below, x = e^−y ≥ e^6 and ∫ e^−x dx = exp(−e^6).
    outside = arb(-high).exp() + (-arb(-low).exp()).exp()
    return inside + arb(0, float(outside.upper()))


@claim(
    "Footnote 1",
    "Noisy max with exponential noise is not the exponential mechanism, as some sources once said.",
)
def _footnote_1(scope: Scope) -> Finding:
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
