"""Permute-and-flip, section 4.1: the worst case, and the curves of Figure 1.

The worst-case family has one best candidate and n − 1 others with the same coin p = exp(−y). Errors are in
units of the noise scale 2Δ/ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from discreet.papers.algorithms.noisy_max import distribution_noisy_max
from discreet.papers.algorithms.permute_and_flip import distribution_with_replacement
from discreet.papers.algorithms.problem import Number, balls, integral_of_products, rational
from discreet.papers.catalogue import Finding, Settings, claim, unless, unless_found
from discreet.papers.permute_and_flip.error import (
    Law,
    wrong_exponential,
    wrong_permute_and_flip,
)
from discreet.papers.polynomials import negative_point, polynomial, unknown
from discreet.sampling.refinement import ball

PAPER = "permute-and-flip"


@claim(
    PAPER,
    "Proposition 4",
    """Both mechanisms' expected error is largest when all but one candidate have the same score;
    there it is given by equations (7) and (8).""",
)
def _proposition_4(settings: Settings) -> Finding:
    most, parts = settings.size(full=5, quick=3), settings.size(full=10, quick=8)
    coin = unknown()
    broken: dict[str, Any] | None = None
    largest = settings.size(full=14, quick=8)
    for count in range(2, largest + 1):
        best = integral_of_products([coin] * (count - 1))
        # Equation (8) with both sides times np: np·Pr[best] = 1 − (1 − p)^n.
        if polynomial(count * coin * best) != polynomial(1 - (1 - coin) ** count):
            broken = {"equation": 8, "n": count}
    for count in range(2, most + 1):
        for wrong, law in (
            (wrong_exponential, distribution_with_replacement),
            (wrong_permute_and_flip, distribution_noisy_max),
        ):
            broken = broken or _above_family(count, parts, wrong, law)
    return unless(
        broken,
        f"equation (8) for every ε and c at n ≤ {largest}; the place of the maximum for all coin vectors in "
        f"{parts}ths, n ≤ {most}",
        "no other score vector has a larger expected error than the family's largest (7) or (8)",
    )


def _above_family(
    count: int, parts: int, wrong: Callable[[int, Number], Number], law: Law
) -> dict[str, Any] | None:
    """A vector of coins k/parts whose mean error exceeds what the equal-coin family reaches."""
    with balls():
        logs = {k: -ball(Fraction(k, parts)).log() for k in range(1, parts + 1)}
        fine = [Fraction(k, 400) for k in range(1, 400)]
        family = [-ball(p).log() * wrong(count, ball(p)) for p in fine]
        largest = max(family, key=float)
        for others in combinations_with_replacement(range(1, parts + 1), count - 1):
            coins = [rational(1), *(rational(Fraction(k, parts)) for k in others)]
            chances = law(_GivenCoins(coins))  # type: ignore[arg-type]  # a law reads coins() only
            mean = sum(logs[k] * p for k, p in zip(others, chances[1:], strict=True))
            if len(set(others)) > 1 and not bool(mean < largest):
                return {"coins": [f"{k}/{parts}" for k in others], "n": count}
    return None


class _GivenCoins:
    """The coins themselves, where a law asks a problem for them."""

    def __init__(self, coins: list[Number]) -> None:
        self._coins = coins

    def coins(self) -> list[Number]:
        """As given."""
        return self._coins


@claim(
    PAPER,
    "Proposition 5",
    """With n − 1 candidates (2Δ/ε) ln n behind the best, permute-and-flip errs by at least
    (Δ/(2ε)) ln n on average; so the upper bounds are tight up to a factor of four.""",
)
def _proposition_5(settings: Settings) -> Finding:
    most = settings.size(full=400, quick=100)
    broken, previous = None, rational(0)
    for count in range(2, most + 1):
        # p = 1/n in equation (8): the error is (2Δ/ε) ln n · (1 − 1/n)^n, to be at least a quarter.
        share = wrong_permute_and_flip(count, rational(Fraction(1, count)))
        survives = rational(Fraction(count - 1, count)) ** count
        if share != survives or share < rational("1/4") or share <= previous:
            broken = {"n": count}
        previous = share
    return unless(
        broken,
        f"n from 2 to {most}, any ε and Δ",
        "the mean error is (1 − 1/n)^n · (2Δ/ε) ln n exactly; the factor is ¼ at n = 2 and only grows",
        factor_at_2=0.25,
        factor_at_last=round(float(Fraction(int(previous.p), int(previous.q))), 6),
    )


def _largest(error: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The place and size of the largest value of a single-peaked function, by golden section."""
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-9 * (1 + high):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if error(left) < error(right):
            low = left
        else:
            high = right
    middle = (low + high) / 2
    return middle, error(middle)


def mean_errors(count: int) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The two mechanisms' mean errors in the worst-case family, as functions of y = ln(1/p)."""

    def exponential(y: float) -> float:
        return y * float(wrong_exponential(count, math.exp(-y)))

    def permute_and_flip(y: float) -> float:
        coin = math.exp(-y)
        if coin < 1e-8:  # 1 − (1 − (1 − p)^n)/(np) cancels: its expansion is (n − 1)p/2 − …
            return y * (count - 1) * coin / 2
        return y * (1 + math.expm1(count * math.log1p(-coin)) / (count * coin)) if coin < 1 else 0.0

    return exponential, permute_and_flip


def largest_mean_errors(count: int) -> tuple[float, float]:
    """The largest mean errors of the two mechanisms in the worst-case family, in noise scales."""
    exponential, permute_and_flip = (_largest(error, 1e-9, 60.0)[1] for error in mean_errors(count))
    return exponential, permute_and_flip


@claim(
    PAPER,
    "Figure 1(a)",
    """With three candidates both mechanisms' errors vanish at p = 0 and p = 1, permute-and-flip's is
    lower in between, and the largest lies typically near p = 1/n.""",
)
def _figure_1a(settings: Settings) -> Finding:
    peaks = {}
    for count in (2, 3, 10, 1000):
        exponential, permute_and_flip = mean_errors(count)
        peaks[count] = [
            round(count * math.exp(-_largest(error, 1e-9, 60.0)[0]), 3)
            for error in (exponential, permute_and_flip)
        ]
    exponential, permute_and_flip = mean_errors(3)
    grid = (k / 50 for k in range(1, settings.size(full=1500, quick=500)))
    above = next((y for y in grid if not 0 < permute_and_flip(y) < exponential(y)), None)
    return unless_found(
        None if above is None else {"ln(1/p)": above},
        "n = 3 on a grid of p from exp(−30) to 1; the peak for n = 2, 3, 10, 1000",
        "both curves are as described; n·p at the peak grows slowly with n (about ln n), so “near 1/n” "
        "is right for few candidates and within a factor of seven at n = 1000",
        **{f"n·p at the peak, n = {count}": value for count, value in peaks.items()},
    )


@claim(
    PAPER,
    "Figure 1(b)",
    """In the worst-case family the ratio of the two errors lies between one and two, tends to two as
    p falls to 0, and to one as n grows with p fixed.""",
)
def _figure_1b(settings: Settings) -> Finding:
    most = settings.size(full=24, quick=10)
    p, broken = unknown(), None
    for count in range(2, most + 1):
        missed = polynomial(1 - integral_of_products([p] * (count - 1)))
        worse = (count - 1) * p
        below = negative_point(worse - missed * (1 + worse))
        above = negative_point(2 * missed * (1 + worse) - worse)
        limit = worse.coeffs()[1] / missed.coeffs()[1]
        if below is not None or above is not None or limit != 2:
            broken = {"n": count}
    fixed = {}
    for count in (10, 1000, 10**6):
        exponential, permute_and_flip = mean_errors(count)
        fixed[count] = exponential(math.log(10)) / permute_and_flip(math.log(10))
    return unless(
        broken,
        f"every ε and c, n ≤ {most}; the limit in n at p = 0.1 up to a million candidates",
        "both inequalities hold as polynomials in p on [0, 1], and the ratio of their first terms is 2",
        **{f"ratio at p = 0.1, n = {count}": round(ratio, 5) for count, ratio in fixed.items()},
    )


@claim(
    PAPER,
    "Figure 1(c)",
    """The ratio of the two worst-case expected errors is largest at n = 2 and falls towards one as n
    grows.""",
)
def _figure_1c(_settings: Settings) -> Finding:
    ratios: dict[int, float] = {}
    broken, previous = None, math.inf
    for count in (2, 3, 4, 5, 7, 10, 20, 50, 100, 10**3, 10**4, 10**5, 10**6):
        exponential, permute_and_flip = largest_mean_errors(count)
        ratios[count] = exponential / permute_and_flip
        within = math.log(count) / 4 <= permute_and_flip <= exponential <= math.log(count)
        if not within or ratios[count] >= previous:
            broken = {"n": count}
        previous = ratios[count]
    return unless_found(
        broken,
        "thirteen values of n from 2 to a million, maximised numerically",
        "the ratio falls from its value at n = 2, slowly; all maxima lie within the analytic bounds",
        **{f"ratio at n = {count}": round(ratios[count], 4) for count in (2, 10, 1000, 10**6)},
    )
