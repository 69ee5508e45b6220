"""Exponential randomized response, appendix C: its error in the best and worst case, and the closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, consistent, refuted, unless
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.permute_and_flip.algorithms import distribution_with_replacement
from discreet.papers.permute_and_flip.error import wrong_exponential, wrong_permute_and_flip
from discreet.papers.permute_and_flip.supplement import positive_partial_sum
from discreet.papers.polynomials import (
    negative_point,
    permute_and_flip_polynomials,
    polynomial,
    unknown,
)
from discreet.papers.problems import Number, Problem, balls, lattices, rational
from discreet.papers.randomized_response.algorithms import chain, lemma_1

claim = claims_of("exponential-randomized-response")
_TRUTHS = tuple(map(Fraction, ("0", "1/4", "1/2", "3/4", "9/10")))


def _mean(scores: tuple[int, ...], law: list[Number]) -> Number:
    best = max(scores)
    return sum(
        (chance * (best - score) for score, chance in zip(scores, law, strict=True)), rational(0)
    )


def _alone(scores: tuple[int, ...]) -> bool:
    """Return whether T, by the chain reading, has one member."""
    return len(chain(Problem(scores, epsilon=Fraction(1)))) == 1


@claim("Proposition 1")
def _proposition_1(_scope: Scope) -> Finding:
    """The expected error of exponential randomized response is least for score vectors with a single
    candidate in T, and largest for those with all candidates in T."""
    epsilon, truth = Fraction(1, 10), Fraction(1, 2)
    with balls():
        errors = {
            scores: _mean(scores, lemma_1(Problem(scores, epsilon=epsilon), truth=truth))
            for scores in ((0, 0), (0, -1), (0, -25))
        }
        least = bool(errors[0, 0] < errors[0, -25])
        most = bool(errors[0, -25] > errors[0, -1])
    if not (least and most):
        return consistent("three score vectors", "none refutes it")
    return refuted(
        "two candidates, ε = 0.1, π = ½, Δ = 1, by the algorithm's T; in ball arithmetic",
        "tied scores have both candidates in T and no error, less than any with |T| = 1 and a gap. And with "
        "both in T the error is at most Δ/2 on average, while (0, −25Δ), with |T| = 1, has the error given: "
        "for few candidates and small ε the largest error is where |T| = 1. It is true that for one and the "
        "same score vector a smaller T of the best would give a smaller error",
        witness={str(scores): round(float(value), 4) for scores, value in errors.items()},
    )


@claim("Lemma 4")
def _lemma_4(scope: Scope) -> Finding:
    """The partial sums of a non-decreasing sequence whose total is zero are never positive."""
    most = scope.size(full=60, quick=20)
    return unless(
        positive_partial_sum(most),
        f"every sequence of at most {most} real numbers",
        "checked on the edges of the cone of such sequences. (As printed the condition is that the partial "
        "sum itself is zero, which makes the statement empty; the total is meant, as in its source)",
    )


@claim("Theorem 3")
def _theorem_3(scope: Scope) -> Finding:
    """When T has one member, exponential randomized response is never worse than the exponential mechanism:
    not in expected error, and not in the chance of an error of t or more, for any t > 0."""
    broken, vectors = None, 0
    for scores in filter(_alone, lattices(4, scope.size(full=6, quick=4))):
        problem = Problem(scores, unit_coin=rational("1/2"))
        plain = distribution_with_replacement(problem)
        for truth in _TRUTHS:
            vectors += 1
            mixed, factor = lemma_1(problem, truth=truth), rational(1 - truth)
            if mixed[1:] != [factor * chance for chance in plain[1:]]:
                broken = {"scores": list(scores), "truth": str(truth)}
    return unless(
        broken,
        "n ≤ 4 on the grid of Δ, five values of π, exp(−ε/2) = ½",
        "every candidate but the best has exactly 1 − π times its probability, so the mean and every tail "
        f"shrink by that factor, 1/(1 − π) better ({vectors} cases). It is the utility of a mechanism that "
        "is not private",
        cases=vectors,
    )


@claim("Lemma 5")
def _lemma_5(scope: Scope) -> Finding:
    """When T has one member there is always a range of π in which exponential randomized response is
    never worse than permute-and-flip."""
    # Its error is (1 − π) times the exponential mechanism's, which is at most twice permute-and-flip's.
    broken, vectors, x = None, 0, unknown()
    for scores in filter(_alone, lattices(4, scope.size(full=5, quick=3))):
        vectors += 1
        coins = [x ** (-score) for score in scores]
        total = sum(coins, polynomial(0))
        rows = zip(scores, permute_and_flip_polynomials(scores), coins, strict=True)
        gain = sum((-q * (2 * total * chance - coin) for q, chance, coin in rows), polynomial(0))
        if negative_point(gain) is not None:
            broken = {"scores": list(scores)}
    return unless(
        broken,
        f"every ε; n ≤ 4 on the grid of Δ ({vectors} score vectors with |T| = 1), expected error",
        "every π from ½ to 1 is in the range, whatever the scores: the exponential mechanism's error is at "
        "most twice permute-and-flip's (“Open question” of permute-and-flip)",
        vectors=vectors,
    )


@claim("Lemma 6")
def _lemma_6(_scope: Scope) -> Finding:
    """When T has several members, exponential randomized response can be worse than the exponential
    mechanism."""
    worse: dict[str, Any] = {}
    with balls():
        for scores in ((0, -1), (0, -1, -2, -3), tuple(range(0, -20, -1))):
            problem = Problem(scores, epsilon=Fraction(1))
            mixed = _mean(scores, lemma_1(problem, truth=Fraction(3, 4)))
            plain = _mean(scores, distribution_with_replacement(problem))
            if bool(mixed > plain):
                worse[f"n = {len(scores)}"] = [round(float(mixed), 4), round(float(plain), 4)]
    return unless(
        None if worse else {"scores": [0, -1]},
        "three staircases, ε = 1, π = ¾, in ball arithmetic",
        "it is worse on all of them: the figures are the two expected errors",
        **worse,
    )


@claim("Equations 12 and 13")
def _equations_12_and_13(scope: Scope) -> Finding:
    """On (v, …, v, 0) the errors of the exponential mechanism and permute-and-flip are given by the closed
    forms of the permute-and-flip paper."""
    broken, most = None, scope.size(full=11, quick=6)
    for count in range(2, most + 1):
        for behind in (1, 2, 3):
            problem = Problem((0, *[-behind] * (count - 1)), unit_coin=rational("2/3"))
            coin = rational("2/3") ** behind
            for law, wrong in (
                (distribution_with_replacement, wrong_exponential),
                (distribution_noisy_max, wrong_permute_and_flip),
            ):
                if 1 - law(problem)[0] != wrong(count, coin):
                    broken = {"n": count, "v": -behind}
    return unless(
        broken,
        f"n from 2 to {most}, v = −Δ, −2Δ, −3Δ, exp(−ε/2) = ⅔ (as polynomials in p': Proposition 4 there)",
        "the chance of missing the best is the bracket of each formula, exactly",
    )


@claim("Proposition 2")
def _proposition_2(scope: Scope) -> Finding:
    """Equation (14): on (v, …, v, 0) the expected error of exponential randomized response is (1 − π) times
    the exponential mechanism's, plus (π/m)(m − 1)|v|, where m is the size of T."""
    broken, cases, most = None, 0, scope.size(full=11, quick=6)
    for count in range(2, most + 1):
        for behind in (0, 1, 2, 5):
            scores = (0, *[-behind] * (count - 1))
            problem = Problem(scores, unit_coin=rational("2/3"))
            size = len(chain(problem))
            for truth in _TRUTHS:
                cases += 1
                stated = behind * (
                    rational(1 - truth) * wrong_exponential(count, problem.coins()[-1])
                    + rational(truth * (size - 1) / size)
                )
                if _mean(scores, lemma_1(problem, truth=truth)) != stated:
                    broken = {"scores": list(scores), "truth": str(truth)}
    return unless(
        broken,
        f"n from 2 to {most}, v = 0, −Δ, −2Δ, −5Δ, five values of π, exp(−ε/2) = ⅔",
        f"equation (14) equals the mean of Lemma 1's distribution in {cases} cases, exactly",
        cases=cases,
    )


@claim("Equations 15 and 16")
def _equations_15_and_16(scope: Scope) -> Finding:
    """Equation (14) becomes (15) when T = {best}. When T contains all candidates, it becomes (16):
    |v| times (n − 1)(np' + π − πp')/(n(np' − p' + 1))."""
    # Both sides of (16) are quotients of polynomials, of degree one in π and two in p'; nine points are
    # enough.
    broken, most = None, scope.size(full=60, quick=20)
    for count in range(2, most + 1):
        for truth in map(rational, ("0", "1/3", "1")):
            for coin in map(rational, ("1/7", "1/2", "1")):
                general = (1 - truth) * wrong_exponential(count, coin) + truth * (count - 1) / count
                merged = (count - 1) * (count * coin + truth - truth * coin)
                if general != merged / (count * (count * coin - coin + 1)):
                    broken = {"n": count}
    return unless(
        broken,
        f"every ε, v and π, n from 2 to {most}",
        "(15) is (14) at m = 1; (16) is (14) at m = n, an identity of rational functions (one printed "
        "intermediate line has a k where n is meant)",
    )
