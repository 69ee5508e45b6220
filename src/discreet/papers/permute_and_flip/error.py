"""Permute-and-flip, section 4: comparison with the exponential mechanism's error, and the worst case.

Errors are in units of the noise scale 2Δ/ε. In the worst-case family, one candidate is best, and the n − 1
others are all y behind it, with the same coin p = exp(−y).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from discreet._exact.numbers.balls import ball_of
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, Witness, unless
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.permute_and_flip.algorithms import distribution_with_replacement
from discreet.papers.polynomials import (
    negative_point,
    permute_and_flip_polynomials,
    polynomial,
    unknown,
)
from discreet.papers.problems import Law, Number, Problem, balls, lattices

claim = claims_of("permute-and-flip")

_EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(5))


def wrong_exponential(count: int, coin: Number) -> Number:
    """Return the chance that the exponential mechanism misses the best candidate in the worst-case family."""
    return (count - 1) * coin / (1 + (count - 1) * coin)


def wrong_permute_and_flip(count: int, coin: Number) -> Number:
    """Return the chance that permute-and-flip misses the best candidate in the worst-case family.

    It is 1 − (1 − (1 − p)^n)/(np), where n is ``count`` and p is ``coin``.
    """
    return 1 - (1 - (1 - coin) ** count) / (count * coin)


def _above_bound(count: int, wrong: Callable[[int, Number], Number], cells: int) -> float | None:
    """Return a y at which y·wrong(exp(−y)) might exceed ln n, or None if it certainly never does.

    ``wrong`` decreases in y, so on [a, b] the error is at most b·wrong(exp(−a)). Beyond the last cell the
    error is at most y·n·exp(−y), which decreases.
    """
    last = Fraction(2 * math.ceil(math.log(count)) + 4)
    with balls():
        bound = ball_of(Fraction(count)).log()
        for step in range(cells):
            lower, upper = last * step / cells, last * (step + 1) / cells
            if not bool(ball_of(upper) * wrong(count, ball_of(-lower).exp()) < bound):
                return float(lower)
        if not bool(ball_of(last) * count * ball_of(-last).exp() < bound):
            return float(last)
    return None


def _mean_above_bound(law: Law, *, most: int, depth: int) -> Witness:
    """Return a lattice vector and an ε for which the mean error may exceed ln n noise scales, or None."""
    for scores, epsilon in product(lattices(most, depth), _EPSILONS):
        problem = Problem(scores, epsilon=epsilon)
        with balls():
            mean = sum(ball_of(problem.gap(r)) * p for r, p in enumerate(law(problem)))
            if not bool(mean <= ball_of(Fraction(len(scores))).log()):
                return {"scores": list(scores), "epsilon": str(epsilon)}
    return None


def _tail_above_bound(*, exponential: bool, most: int, depth: int) -> Witness:
    """Return a lattice vector and a gap y with Pr[error ≥ y] > n·exp(−y) for some ε, or None.

    With y = ln n + t, that bound is exp(−t). Tails change only at the scores themselves, so checking y = γ_r
    is enough.
    """
    x = unknown()
    for scores in lattices(most, depth):
        coins = [x ** (-score) for score in scores]
        law: Sequence[Number] = coins if exponential else permute_and_flip_polynomials(scores)
        total = sum(coins, polynomial(0)) if exponential else polynomial(1)
        for start, score in enumerate(scores):
            tail = sum(law[start:], polynomial(0))
            if negative_point(len(scores) * coins[start] * total - tail) is not None:
                return {"scores": list(scores), "behind": -score}
    return None


def utility(scope: Scope, *, exponential: bool) -> Finding:
    """Check Proposition 1's two bounds on the error for the exponential mechanism or permute-and-flip."""
    most, depth = scope.size(full=5, quick=3), scope.size(full=4, quick=2)
    law = distribution_with_replacement if exponential else distribution_noisy_max
    wrong = wrong_exponential if exponential else wrong_permute_and_flip
    counts = (2, 3, 5, 10, 100, 1000) if scope.quick else (2, 3, 4, 5, 7, 10, 30, 100, 1000, 10**6)
    cells = scope.size(full=400, quick=150)
    worst = next((n for n in counts if _above_bound(n, wrong, cells) is not None), None)
    return unless(
        _mean_above_bound(law, most=most, depth=depth)
        or _tail_above_bound(exponential=exponential, most=most, depth=depth)
        or (None if worst is None else {"worst-case family, n": worst}),
        f"mean: n ≤ {most}, scores to {depth}Δ behind, ε = 0.1, 1, 5, and the whole worst-case family for "
        f"n up to {counts[-1]}; tail: the same lattice, every ε",
        "the mean error is at most ln n noise scales, and the error reaches ln n + t scales with "
        "probability at most exp(−t), in ball arithmetic and as polynomial inequalities",
    )


@claim("Proposition 1")
def _proposition_1(scope: Scope) -> Finding:
    """The exponential mechanism's expected error is at most (2Δ/ε) ln n, and the chance of an error of
    (2Δ/ε)(ln n + t) or more is at most exp(−t)."""
    return utility(scope, exponential=True)


@claim("Corollary 1")
def _corollary_1(scope: Scope) -> Finding:
    """Permute-and-flip satisfies the same two bounds on its error as the exponential mechanism."""
    return utility(scope, exponential=False)


@claim("Theorem 2")
def _theorem_2(scope: Scope) -> Finding:
    """Permute-and-flip is never worse than the exponential mechanism at the same ε: not in expected
    error, and not in the chance of an error of t or more, for any t."""
    most, depth = scope.size(full=5, quick=3), scope.size(full=4, quick=3)
    x, tails, broken = unknown(), 0, None
    for scores in lattices(most, depth):
        coins = [x ** (-score) for score in scores]
        law = permute_and_flip_polynomials(scores)
        total = sum(coins, polynomial(0))
        for start in range(1, len(scores)):
            tails += 1
            # Σ_tail p/Σp − Σ_tail PF ≥ 0, times Σp.
            worse = sum(coins[start:], polynomial(0)) - total * sum(law[start:], polynomial(0))
            if negative_point(worse) is not None:
                broken = {"scores": list(scores), "behind": -scores[start]}
    return unless(
        broken,
        f"every ε; n ≤ {most}, scores to {depth}Δ behind the best (and, by Lemmas 4 and 5, every real "
        "score vector for the n checked there)",
        f"{tails} tails compared as polynomials in exp(−ε/2); the means follow, being sums of tails",
        tails=tails,
    )


@claim("Open question (section 4.1)")
def _open_question(scope: Scope) -> Finding:
    """The authors never found scores for which the exponential mechanism's expected error is more than twice
    permute-and-flip's, and leave open whether such scores exist."""
    # It cannot. Pr_PF[r] = p_r E[1/(1 + N)], where N counts the other heads, and a best candidate's coin
    # is always heads; so by Jensen Pr_PF[r] ≥ p_r/(2 + Σ_{t≠r,*} p_t) = p_r/(1 + Σp − p_r) ≥ p_r/(2Σp),
    # because Σp ≥ 1. So no candidate behind the best is over twice as likely under the other mechanism.
    most, depth = scope.size(full=5, quick=3), scope.size(full=4, quick=3)
    x, looked, broken = unknown(), 0, None
    for scores in lattices(most, depth):
        coins = [x ** (-score) for score in scores]
        total = sum(coins, polynomial(0))
        for r, chance in enumerate(permute_and_flip_polynomials(scores)):
            if scores[r] == 0:
                continue
            looked += 1
            if negative_point(chance * (1 + total - coins[r]) - coins[r]) is not None:
                broken = {"scores": list(scores), "outcome": r}
    return unless(
        broken,
        f"every ε; n ≤ {most}, scores to {depth}Δ behind (the argument in the evidence covers every n)",
        "never above 2, and the question is settled: Pr_PF[r] = p_r·E[1/(1+N)] with N ≥ 1 other heads, so by "
        "Jensen's inequality Pr_PF[r] ≥ p_r/(1 + Σp − p_r) ≥ ½·p_r/Σp for every r behind the best: each tail "
        f"of the error at most doubles. Checked as polynomials for {looked} outcomes",
        outcomes=looked,
    )
