"""The OpenDP proof of make_permute_and_flip (Cebere): primitives, both algorithms, lemmas, privacy map.

The proof writes s for the noise scale where the papers write 2Δ/ε. A :class:`Problem` with ε = 2/s has the
same scale.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from discreet import PermuteAndFlip, PureDP
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling import Bits, uniform_below
from discreet.audit import audit
from discreet.errors import ParameterError
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, proved, refuted, unless
from discreet.papers.noisy_max.algorithms import distribution_noisy_max, draw_noisy_max
from discreet.papers.permute_and_flip.privacy import not_private
from discreet.papers.problems import (
    Algorithm,
    Number,
    Problem,
    affine_families,
    balls,
    first_heads,
    lattice,
    rational,
    rational_coin,
    where_laws_differ,
)

PAPER = "opendp-proof"
claim = claims_of(PAPER)


def shuffle(choices: Sequence[int]) -> tuple[int, ...]:
    """Return the order that a Fisher–Yates shuffle makes with these choices of positions.

    From the last position down to the second, the item there is swapped with the item at the chosen
    position, which may be the same position or any before it.
    """
    order = list(range(len(choices) + 1))
    for last, other in zip(range(len(choices), 0, -1), choices, strict=True):
        order[last], order[other] = order[other], order[last]
    return tuple(order)


def shuffle_distribution(count: int) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of each order of ``count`` items, from all choices that the shuffle can make.

    Example:
        >>> shuffle_distribution(2)
        {(1, 0): Fraction(1, 2), (0, 1): Fraction(1, 2)}
    """
    ends = Counter(map(shuffle, product(*map(range, range(count, 1, -1)))))
    return {order: Fraction(ways, math.factorial(count)) for order, ways in ends.items()}


def bernoulli_exponential(gamma: Fraction, bits: Bits) -> bool:
    """Draw Bernoulli(exp(−γ)) from rational coins only (Canonne, Kamath and Steinke, section 5.2)."""
    whole = gamma.numerator // gamma.denominator
    return all(_small(Fraction(1), bits) for _ in range(whole)) and _small(gamma - whole, bits)


def _small(gamma: Fraction, bits: Bits) -> bool:
    count = 1
    while rational_coin(gamma / count, bits):
        count += 1
    return count % 2 == 1


def bernoulli_exponential_bounds(gamma: Fraction, rounds: int) -> tuple[Fraction, Fraction]:
    """Return bounds on the chance of heads of ``bernoulli_exponential`` for γ ≤ 1, after ``rounds`` coins.

    Its loop stops at the k-th coin with probability γ^(k−1)/(k−1)! − γ^k/k! and returns heads for odd k.
    After the last round it is still undecided with probability γ^rounds/rounds!.

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
    """Run the proof's ``function``: shuffle, return the first candidate whose Bernoulli(exp(−γ)) is heads."""
    choices = [uniform_below(bits, below) for below in range(len(problem.scores), 1, -1)]
    for candidate in shuffle(choices):
        if bernoulli_exponential(problem.gap(candidate), bits):
            return candidate
    raise AssertionError("a best candidate's coin is always heads")


def distribution_permute_and_flip(problem: Problem) -> list[Number]:
    """Return the distribution of the proof's ``function``, over every order of the shuffle."""
    coins = problem.coins()
    orders = shuffle_distribution(len(coins)).items()
    return first_heads(coins, ((order, rational(chance)) for order, chance in orders))


ALGORITHMS = (
    Algorithm(PAPER, "Algorithm 1", draw_permute_and_flip, distribution_permute_and_flip),
    Algorithm(PAPER, "Algorithm 2", draw_noisy_max, distribution_noisy_max),
)


@claim("Primitive 1")
def _primitive_1(scope: Scope) -> Finding:
    """Fisher–Yates with uniform integers visits the candidates in a uniformly random order."""
    most = scope.size(full=7, quick=5)
    broken = None
    for count in range(1, most + 1):
        chances = shuffle_distribution(count)
        if len(chances) != math.factorial(count) or len(set(chances.values())) != 1:
            broken = {"n": count}
    return unless(
        broken,
        f"all choices the shuffle can make, n ≤ {most}",
        f"each of the {math.factorial(most)} orders has the same probability",
    )


@claim("Primitive 2")
def _primitive_2(scope: Scope) -> Finding:
    """Bernoulli(exp(−γ)) can be drawn exactly from Bernoulli(γ/k) coins only, without computing any digit
    of exp(−γ)."""
    rounds = scope.size(full=24, quick=16)
    broken, widest = None, Fraction(0)
    with balls():
        for step in range(21):
            gamma = Fraction(step, 20)
            low, high = bernoulli_exponential_bounds(gamma, rounds)
            widest = max(widest, high - low)
            if not (
                bool(ball_of(low) <= ball_of(-gamma).exp())
                and bool(ball_of(-gamma).exp() <= ball_of(high))
            ):
                broken = {"gamma": str(gamma)}
    # For a gap above one the chance is a product: exp(−1) for each whole unit, times exp(−rest).
    return unless(
        broken,
        f"γ in twentieths up to 1, following the loop for {rounds} coins; larger γ are products of these",
        "the chance decided after that many coins encloses exp(−γ); what is left undecided is at most",
        undecided=f"{float(widest):.1e}",
    )


@claim("Pseudocode, lines 29 to 32")
def _pseudocode(_scope: Scope) -> Finding:
    """The loop visits candidates in shuffled order, flips Bern((best − score)/scale), and returns the
    first success."""
    # As printed, the coin's chance is γ itself: 0 for a best candidate, and above 1 for one far behind.
    ends_empty = {}
    for scores, scale in (((5, 5), 2), ((1, 0), 4), ((3, 2, 2), 3)):
        coins = [Fraction(max(scores) - score, scale) for score in scores]
        ends_empty[scores] = math.prod((1 - coin for coin in coins), start=Fraction(1))
    broken = {str(scores): str(chance) for scores, chance in ends_empty.items() if chance > 0}
    if not broken:
        return proved("three score vectors", "the loop always returns a candidate")
    return refuted(
        "as printed, on three score vectors",
        "read literally Bern(γ) never returns a best candidate: with tied scores the loop ends without a "
        "result, otherwise it returns a worse candidate or nothing (the numbers are the chances of no "
        "result). The intended coin is Bern(exp(−γ)), as in the document's second primitive; the other "
        "claims are checked with that coin",
        witness={"scores": [5, 5], "scale": 2, "coins as printed": [0, 0]},
        chance_of_no_result=broken,
    )


@claim("Lemma 2.2")
def _lemma_2_2(scope: Scope) -> Finding:
    """Permute-and-flip (the first listing) and noisy max with exponential noise (the second) choose each
    index with the same probability."""
    most = scope.size(full=6, quick=5)
    with_ties = (Problem(scores, unit_coin=rational("3/4")) for scores in lattice(4, 3))
    problems = (*affine_families(most), *with_ties)
    return unless(
        where_laws_differ(distribution_permute_and_flip, distribution_noisy_max, problems),
        f"every real score vector and every scale, n ≤ {most}",
        "the law over all shuffles equals the integral over the noise, at two values of every coin",
    )


@claim("Lemma 2.3")
def _lemma_2_3(scope: Scope) -> Finding:
    """For independent exponential X₁, X₂ of rate λ and Δ ≥ 0, Pr[X₁ − X₂ ≥ Δ] is exp(−λΔ) times
    Pr[X₁ ≥ X₂]."""
    from flint import acb, arb

    broken = None
    cases = list(product(map(Fraction, ("1/2", "1", "3")), map(Fraction, ("0", "1", "7/2"))))
    cases = cases[:: scope.size(full=1, quick=2)]
    with balls():
        for rate, shift in cases:
            scale, moved = ball_of(rate), ball_of(shift)

            def density(x: Any, _analytic: bool, *, scale: Any = scale, moved: Any = moved) -> Any:
                return scale * (-scale * x).exp() * (-scale * (x + moved)).exp()

            # Beyond 100/λ the integral is at most exp(−200).
            found = acb.integral(density, 0, acb(100 / scale)).real + arb(0, 1e-80)
            expected = (-scale * moved).exp() / 2
            if not found.overlaps(expected) or not bool(found.rad() < 1e-20):
                broken = {"rate": str(rate), "shift": str(shift)}
    return unless(
        broken,
        f"{len(cases)} pairs of λ and Δ, by rigorous integration over X₂",
        "Pr[X₁ − X₂ ≥ Δ] = exp(−λΔ)/2. The statement holds; the printed derivation starts from "
        "1 − Pr[X₁ ≥ Δ + X₂], which is the complement, and a second slip undoes the first",
    )


@claim("Theorem 2.4")
def _theorem_2_4(scope: Scope) -> Finding:
    """With noise scale d/ε, where d is the range distance, permute-and-flip is (ε, 0)-differentially
    private."""
    # One step of the grid is d, so x stands for exp(−ε). Moves of 0 or 1 step allow a factor of x.
    most = scope.size(full=4, quick=3)
    broken, pairs = not_private(range(2, most + 1), 3, moves=(0, 1), steps=1, both_ways=True)
    verdict = audit(PermuteAndFlip(epsilon=1), PureDP(1), n=2 if scope.quick else (2, 3, 4))
    if not verdict.holds:
        broken = {"audit": str(verdict.witness)}
    return unless(
        broken,
        f"every ε on the grid of d, n ≤ {most}; an audit of {verdict.pairs:,} pairs off the grid at ε = 1",
        f"{pairs} pairs of neighbours as polynomials in exp(−ε). The printed proof applies Lemma 2.3, about "
        "two noises, to the largest of several; memorylessness covers that step too, so the theorem stands",
        largest_loss_found=round(verdict.measured, 6),
    )


@claim("Postcondition")
def _postcondition(scope: Scope) -> Finding:
    """If inputs are d_in-close and privacy_map(d_in) ≤ d_out, outputs are d_out-close. The map is d/scale
    rounded up, where d is 2·d_in, or d_in if scores are monotonic. It never understates the loss, gives 0
    at 0 and refuses negative distances."""
    broken, cases = None, 0
    distances = [Fraction(k, 7) for k in range(scope.size(full=60, quick=20))]
    scales = [Fraction(1, 3), Fraction("0.1"), Fraction(2), Fraction(10**9, 7), Fraction(1, 10**12)]
    for distance, scale in product(distances, scales):
        for monotonic in (False, True):
            cases += 1
            mapped = PermuteAndFlip(scale=scale).privacy_map(distance, monotonic)
            exact = distance * (1 if monotonic else 2) / scale
            if Fraction(mapped) < exact or (distance == 0) != (mapped == 0):
                broken = {"distance": str(distance), "scale": str(scale)}
            if Fraction(math.nextafter(mapped, 0)) >= exact > 0:
                broken = {"not the least float above": str(exact)}
    try:
        PermuteAndFlip(scale=1).privacy_map(-1)
        broken = {"distance": "-1 accepted"}
    except ParameterError:
        pass
    return unless(
        broken,
        f"{cases} distances and scales",
        "the map is the least float at or above the exact quotient, and so never understates what "
        "Theorem 2.4 proves; scale 0 gives an infinite cost",
        cases=cases,
    )
