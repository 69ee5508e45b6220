"""The supplement to permute-and-flip: probability formulas, regularity, noisy max with Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet._exact.distribution.reference import noisy_max_laplace_ball
from discreet.errors import ScoresError
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, Witness, unless
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.permute_and_flip.algorithms import (
    distribution_by_permutation,
    distribution_with_replacement,
    distribution_without_replacement,
)
from discreet.papers.permute_and_flip.privacy import not_private
from discreet.papers.polynomials import negative_point, polynomial, unknown
from discreet.papers.problems import (
    Law,
    Number,
    Problem,
    affine_families,
    balls,
    integral_of_products,
    rational,
    vertices,
    where_laws_differ,
)

claim = claims_of("permute-and-flip-supplement")


Formula: TypeAlias = Callable[[Sequence[Number]], list[Number]]
"""A function from exact rational coins p_r (fractions or flint's) to probabilities; the largest coin is 1."""


def _checked(coins: Iterable[Number]) -> list[Number]:
    values = list(coins)
    if not values or min(values) < 0 or max(values) != 1:
        raise ScoresError("coins must be probabilities, and the largest exactly one")
    return values


def sum_over_permutations(coins: Sequence[Number]) -> list[Number]:
    """Return for each r the probability that its coin is heads and all coins before it are tails (Lemma 1).

    All n! orders are equally likely. In |S|!·(n − 1 − |S|)! of them, the candidates before r are the set S.
    """
    coins = _checked(coins)
    last, every = len(coins) - 1, math.factorial(len(coins))
    orders = [math.factorial(size) * math.factorial(last - size) for size in range(len(coins))]
    return _over_sets(coins, [1 - coin for coin in coins], [(count, every) for count in orders])


def sum_over_subsets(coins: Sequence[Number]) -> list[Number]:
    """Return p_r Σ_S (−1)^|S|/(|S|+1) Π_S p_s for every r, over all sets S of other candidates (Lemma 2)."""
    coins = _checked(coins)
    return _over_sets(coins, coins, [((-1) ** size, size + 1) for size in range(len(coins))])


def _over_sets(
    coins: list[Number], factors: list[Number], shares: list[tuple[int, int]]
) -> list[Number]:
    """Return p_r Σ_S share(|S|) Π_S factor for every r, over all sets S of other candidates."""
    return [
        sum(
            math.prod(members, start=coin) * over / under
            for size, (over, under) in enumerate(shares)
            for members in combinations(factors[:r] + factors[r + 1 :], size)
        )
        for r, coin in enumerate(coins)
    ]


def recurrence(coins: Sequence[Number]) -> list[Number]:
    """Solve recurrence (6); by Proposition 3, the solution is permute-and-flip's distribution.

    A candidate behind the best has p_r times the probability that it would have if raised to the best. The
    best candidates share the remaining probability equally.
    """
    one = max(_checked(coins))

    @cache
    def solve(values: tuple[Number, ...]) -> tuple[Number, ...]:
        behind = {
            r: coin * solve((*values[:r], one, *values[r + 1 :]))[r]
            for r, coin in enumerate(values)
            if coin < 1
        }
        share = (one - sum(behind.values())) / (len(values) - len(behind))
        return tuple(behind.get(r, share) for r in range(len(values)))

    return list(solve(tuple(coins)))


def dynamic_program(coins: Sequence[Number]) -> list[Number]:
    """Return the probabilities by Appendix E's dynamic program, in O(n²) operations; exact for exact coins.

    ``all_subsets[k]`` is the sum, over all subsets of size k, of the product of their coins; ``without`` is
    the same sum over the subsets that do not contain r.
    """
    one = max(_checked(coins))
    all_subsets = [one]
    for coin in coins:
        with_coin = [coin * product for product in all_subsets]
        all_subsets.append(one - one)
        for size, product in enumerate(with_coin, start=1):
            all_subsets[size] += product
    result = []
    for coin in coins:
        without = total = one
        for size in range(1, len(coins)):
            without = all_subsets[size] - coin * without
            total += without / (size + 1) if size % 2 == 0 else -without / (size + 1)
        result.append(coin * total)
    return result


def dynamic_program_in_floats(coins: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Run Appendix E's dynamic program in float64, only to show that floats fail; the library never uses it.

    The terms of its sums alternate in sign and can be as large as the number of subsets. With 60
    candidates, ten digits are lost. With 100, all digits are lost: the "probabilities" do not even sum to
    one.

    Example:
        >>> coins = np.exp(-np.linspace(0, 1.5, 100))
        >>> bool(abs(dynamic_program_in_floats(coins).sum() - 1) > 0.5)
        True
    """
    return np.array(dynamic_program(np.asarray(coins, dtype=np.float64).tolist()))


def _disagreement(formula: Formula, law: Law, most: int) -> Witness:
    return where_laws_differ(lambda problem: formula(problem.coins()), law, affine_families(most))


@claim("Lemma 1")
def _lemma_1(scope: Scope) -> Finding:
    """Permute-and-flip chooses r with probability p_r times the average, over all orders, of the chance
    that all coins before r are tails."""
    most = scope.size(full=7, quick=5)
    return unless(
        _disagreement(sum_over_permutations, distribution_without_replacement, most),
        f"every real score vector and every ε, n ≤ {most}",
        "the formula equals the law of Algorithm 3 followed state by state; both have degree one in each "
        "coin, so agreement at two values of every coin is agreement everywhere",
    )


@claim("Lemma 2")
def _lemma_2(scope: Scope) -> Finding:
    """Permute-and-flip chooses r with probability p_r Σ (−1)^|S|/(|S|+1) Π_{s in S} p_s, where the sum is
    over all sets S of other candidates."""
    most = scope.size(full=7, quick=5)
    return unless(
        _disagreement(sum_over_subsets, distribution_by_permutation, most),
        f"every real score vector and every ε, n ≤ {most}",
        "inclusion and exclusion equals Algorithm 1 followed order by order, at two values of every coin",
    )


@claim("Lemma 3")
def _lemma_3(scope: Scope) -> Finding:
    """Permute-and-flip is regular: symmetric, shift-invariant, and monotonic (raising r or lowering
    another never makes r less likely)."""
    most = scope.size(full=8, quick=6)
    broken: Witness = None
    for count in range(most - 1):
        # Pr[r] has degree one in each coin, so the corners decide whether it grows with another's coin.
        for rest in (list(map(rational, corner)) for corner in vertices(count)):
            if integral_of_products([*rest, rational(1)]) > integral_of_products(
                [*rest, rational(0)]
            ):
                broken = {"coins": list(map(str, rest))}
    x = unknown()
    # Raising a rival that leads multiplies every other coin, also r's, by λ < 1. The derivative of
    # λ∫(1 − u)Π(1 − uλp_t)du in λ has degree one in each p_t, so it is enough to check corners with j ones.
    for ones in range(most - 1):
        scaled = x * polynomial(integral_of_products([polynomial(1), *[x] * ones]))
        if negative_point(scaled.derivative()) is not None:
            broken = {"rivals at the best": ones}
    for scores in ((0, -1, -3), (0, -2, -2, -5)):
        # Symmetry and shift invariance are checked on the algorithm itself.
        law = distribution_by_permutation(Problem(scores, unit_coin=rational("1/2")))
        turned = tuple(score + 7 for score in reversed(scores))
        if law[::-1] != distribution_by_permutation(Problem(turned, unit_coin=rational("1/2"))):
            broken = {"scores": list(scores)}
    return unless(
        broken,
        f"every real score vector and every ε, n ≤ {most}",
        "all four moves (r rises behind or ahead; a rival falls behind or from the lead) have derivatives "
        "of the right sign at every corner of the cube of coins; the printed proof leaves out the last",
    )


@claim("Remark 1")
def _remark_1(scope: Scope) -> Finding:
    """If one person can only raise scores (or only lower them), noise of scale 2Δ/ε gives
    ε/2-differential privacy."""
    most, depth = scope.size(full=4, quick=3), scope.size(full=4, quick=2)
    # The factor is exp(−ε/2) = x; general neighbours need x².
    broken, pairs = not_private(range(2, most + 1), depth, moves=(0, 1), steps=1, both_ways=True)
    return unless(
        broken,
        f"every ε; n ≤ {most}, scores to {depth}Δ behind the best, all monotonic neighbours",
        f"{pairs} pairs in both directions, as polynomials in exp(−ε/2)",
        pairs=pairs,
    )


@claim("Lemma 4")
def _lemma_4(scope: Scope) -> Finding:
    """The factor g_r in Pr[r] = p_r·g_r does not decrease with the score: q_r ≤ q_s implies
    g_r ≤ g_s."""
    # g_s − g_r = (p_s − p_r)·∫ u Π_{t≠r,s} (1 − u·p_t) du: degree one in each coin on both sides, and the
    # integral is least at a corner of the cube.
    most = scope.size(full=7, quick=5)
    broken: Witness = None
    for problem in affine_families(most):
        coins = problem.coins()
        factors = [integral_of_products([*coins[:r], *coins[r + 1 :]]) for r in range(len(coins))]
        for r, s in combinations(range(len(coins)), 2):
            rest = [coin for t, coin in enumerate(coins) if t not in (r, s)]
            if factors[s] - factors[r] != (coins[s] - coins[r]) * _first_moment(rest):
                broken = {"scores": list(problem.scores), "r": r, "s": s}
    for count in range(2, most + 1):
        for corner in vertices(count - 2):
            if _first_moment([rational(coin) for coin in corner]) < 0:
                broken = {"coins": list(corner)}
    return unless(
        broken,
        f"every real score vector and every ε, n ≤ {most}",
        "g_s − g_r is (p_s − p_r) times an integral that is positive at every corner of the cube of coins",
    )


def _first_moment(coins: list[Number]) -> Number:
    """Return ∫₀¹ u Π (1 − u·c) du over the given coins."""
    return integral_of_products(coins) - integral_of_products([*coins, rational(1)])


def positive_partial_sum(most: int) -> Witness:
    """Return a non-decreasing sequence with sum zero and a positive partial sum, or None.

    Non-decreasing sequences of length n with sum zero form a cone. Each of its n − 1 edges is a sequence of
    k terms −(n − k) followed by n − k terms k. Partial sums are linear, so checking the edges is enough.
    """
    for length in range(2, most + 1):
        for low in range(1, length):
            edge = [low - length] * low + [low] * (length - low)
            if max(accumulate(edge)) > 0 or sum(edge) != 0:
                return {"sequence": edge}
    return None


@claim("Lemma 5")
def _lemma_5(scope: Scope) -> Finding:
    """The partial sums of a non-decreasing sequence whose total is zero are never positive."""
    most = scope.size(full=60, quick=20)
    return unless(
        positive_partial_sum(most),
        f"every sequence of at most {most} real numbers",
        "checked on the edges of the cone of such sequences, which is enough as sums are linear",
    )


@claim("Appendix E")
def _appendix_e(scope: Scope) -> Finding:
    """A dynamic program over subset sizes computes all of permute-and-flip's probabilities in O(n²)
    operations."""
    most = scope.size(full=7, quick=5)
    broken = _disagreement(dynamic_program, distribution_by_permutation, most)
    sums = {}
    for count in (60, 100, 200):
        # Rounded, so the numbers do not depend on the last digit of a processor's exp.
        coins = np.exp(-np.linspace(0, 1.5, count)).round(6)
        total = math.fsum(dynamic_program_in_floats(coins))
        sums[f"sum of the probabilities in floats, n = {count}"] = float(f"{total:.4g}")
    return unless(
        broken,
        f"every real score vector and every ε, n ≤ {most}, on exact rationals",
        "the recurrences are right in exact arithmetic; in float64 their alternating sums lose every digit "
        "near a hundred candidates, as the sums given (which should be 1) show",
        **sums,
    )


@claim("Appendix F")
def _appendix_f(scope: Scope) -> Finding:
    """Noisy max with Laplace noise, computed by a one-dimensional integral, beats the exponential mechanism
    on (c, c, 0) when c is near 0 and loses to it when c is far below 0; permute-and-flip beats both for
    all c (ε = Δ = 1)."""
    steps = scope.size(full=120, quick=24)
    better: dict[Fraction, bool] = {}
    broken: Witness = None
    with balls():
        for behind in (Fraction(30 * step, steps) for step in range(1, steps + 1)):
            problem = Problem((0, -behind, -behind), epsilon=Fraction(1))
            gammas = [problem.gap(r) for r in range(3)]
            # All errors are c·(1 − Pr[best]), so comparing the chances of the best is enough.
            laplace = noisy_max_laplace_ball(gammas, bits=128)[0]
            exponential = distribution_with_replacement(problem)[0]
            best = distribution_noisy_max(problem)[0]
            if not (bool(best > laplace) and bool(best > exponential)):
                broken = {"c": f"-{behind}"}
            better[behind] = bool(laplace > exponential)
            if not better[behind] and not bool(laplace < exponential):
                broken = {"undecided at c": f"-{behind}"}
    turns = [behind for last, behind in pairwise(better) if better[last] != better[behind]]
    if len(turns) != 1 or not next(iter(better.values())):
        broken = broken or {"crossings": [str(turn) for turn in turns]}
    return unless(
        broken,
        f"{steps} values of c from −{Fraction(30, steps)} to −30, in ball arithmetic",
        "permute-and-flip is best throughout; Laplace noise is better than the exponential mechanism until "
        "c falls to the crossing given, and worse from there on",
        crossing_near=f"-{float(turns[0]):g}" if turns else "none",
    )
