"""Permute-and-flip, section 4.1: the worst case, and the curves of Figures 1 and 4.

In the worst-case family, one candidate is best and the n − 1 others have the same coin p = exp(−y). Errors
are in units of the noise scale 2Δ/ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement
from types import SimpleNamespace
from typing import Any

import numpy as np

from discreet._exact.distribution.closed_form import (
    exponential_missed,
    laplace_missed,
    permute_and_flip_missed,
)
from discreet._exact.numbers.balls import ball_of
from discreet._exact.numbers.searches import bisected
from discreet.analysis import (
    expected_error_bound,
    worst_case,
    worst_case_error,
    worst_case_lower_bound,
)
from discreet.papers.catalogue import claims_of, figure
from discreet.papers.figure import EM, PF, PF_AND_EM, Axis, Drawing, Floats, Line, Lines, shown
from discreet.papers.findings import Finding, Scope, unless
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.permute_and_flip.algorithms import distribution_with_replacement
from discreet.papers.permute_and_flip.error import wrong_exponential, wrong_permute_and_flip
from discreet.papers.polynomials import negative_point, polynomial, unknown
from discreet.papers.problems import Law, Number, balls, integral_of_products, rational

claim = claims_of("permute-and-flip")


@claim("Proposition 4")
def _proposition_4(scope: Scope) -> Finding:
    """The expected errors of the exponential mechanism and of permute-and-flip are largest when all
    candidates but the best have the same score; equations (7) and (8) give these errors."""
    most, parts = scope.size(full=5, quick=3), scope.size(full=10, quick=8)
    coin = unknown()
    broken: dict[str, Any] | None = None
    largest = scope.size(full=14, quick=8)
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
    """Return unequal coins k/``parts`` whose mean error may reach the maximum for equal coins, or None."""
    with balls():
        logs = {k: -ball_of(Fraction(k, parts)).log() for k in range(1, parts + 1)}
        fine = [Fraction(k, 400) for k in range(1, 400)]
        family = [-ball_of(p).log() * wrong(count, ball_of(p)) for p in fine]
        largest = max(family, key=float)
        for others in combinations_with_replacement(range(1, parts + 1), count - 1):
            coins = [rational(1), *(rational(Fraction(k, parts)) for k in others)]
            chances = law(SimpleNamespace(coins=coins.copy))  # type: ignore[arg-type]  # only coins are used
            mean = sum(logs[k] * p for k, p in zip(others, chances[1:], strict=True))
            if len(set(others)) > 1 and not bool(mean < largest):
                return {"coins": [f"{k}/{parts}" for k in others], "n": count}
    return None


@claim("Proposition 5")
def _proposition_5(scope: Scope) -> Finding:
    """With n − 1 candidates (2Δ/ε) ln n behind the best, permute-and-flip's expected error is at least
    (Δ/(2ε)) ln n; so the upper bound (2Δ/ε) ln n is tight up to a factor of four."""
    most = scope.size(full=400, quick=100)
    broken, previous = None, rational(0)
    for count in range(2, most + 1):
        # With p = 1/n in equation (8) the error is (2Δ/ε) ln n · (1 − 1/n)^n; the power must be at least ¼.
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


_SCALE = 2.0
"""The noise scale 2Δ/ε at ε = Δ = 1, used in all of the figures."""


def _error(chance: Callable[[int, float], float], gaps: Floats, n: int = 3) -> Floats:
    """Return the expected error on scores (−c, …, −c, 0) for each gap c."""
    return np.array([c * chance(n, c / _SCALE) for c in gaps.tolist()])


@figure(
    "pf-fig1a",
    "Expected error on scores (c, c, 0) against p = exp(εc/2Δ)",
    subtitle=f"n = 3, ε = 1, Δ = 1. {PF_AND_EM}",
    claim="Figure 1(a)",
    evidence="both curves are as described; n·p at the peak grows slowly with n (about ln n), so “near 1/n” "
    "is right for few candidates and within a factor of seven at n = 1000",
)
def _figure_1a(drawing: Drawing) -> None:
    """With three candidates the errors of the exponential mechanism and permute-and-flip vanish at p = 0 and
    p = 1, permute-and-flip's is lower in between, and both are typically largest near p = 1/n."""
    p = np.linspace(0, 1, drawing.scope.size(full=200, quick=60) + 1)[1:]
    gaps = -_SCALE * np.log(p)
    flip, plain = _error(permute_and_flip_missed, gaps), _error(exponential_missed, gaps)
    peaks = {n: [worst_case(each.at(1), n) for each in (PF, EM)] for n in (2, 3, 10, 1000)}
    own, other = peaks[3]
    lines = [
        PF.line(p, flip, at=0.45, shift=(-16.0, 12.0)),
        EM.line(p, plain, at=0.5),
    ]
    y = Axis("expected error", domain=(0.0, 1.05 * other.error))
    drawing.row(Lines("", Axis("p", domain=(0.0, 1.0)), y, lines))
    drawing.statement(
        "error at the ends p → 0 and p = 1",
        paper="0 for both",
        ours=f"0 at p = 1; {shown(float(flip[0]))} and {shown(float(plain[0]))} at p = {p[0]:.3g}, "
        "and tending to 0",
        holds=flip[-1] == plain[-1] == 0,
    )
    drawing.statement(
        "PF below EM",
        paper="always",
        ours=f"at all {len(p) - 1} points with p < 1",
        holds=bool((flip[:-1] < plain[:-1]).all()),
    )
    drawing.statement(
        "where the error is largest",
        paper="typically near p = 1/n = 0.333",
        ours=f"PF {own.error:.4f} at p = {own.p:.3f}; EM {other.error:.4f} at p = {other.p:.3f}",
        holds=all(0.5 < 3 * peak.p < 1.5 for peak in peaks[3]),
    )
    places = (f"{n * a.p:.2f} and {n * b.p:.2f} (n = {n})" for n, (a, b) in peaks.items())
    drawing.added(
        "n·p where the error is largest, PF and EM",
        ours=", ".join(places),
        remark="it grows like ln n: “near 1/n” is right for few candidates",
    )
    at_third = float(_error(permute_and_flip_missed, np.array([_SCALE * math.log(3)]))[0])
    drawing.statement(
        "Proposition 5: PF at p = 1/n",
        paper=f"at least (Δ/2ε) ln n = {worst_case_lower_bound(1, 3):.4f}",
        ours=f"{at_third:.4f}",
        holds=at_third >= worst_case_lower_bound(1, 3),
    )


@figure(
    "pf-fig1b",
    "EM error over PF error on scores (c, …, c, 0)",
    subtitle="The ratio depends on ε and Δ through p = exp(εc/2Δ) alone.",
)
def _figure_1b(drawing: Drawing) -> None:
    p = np.geomspace(1e-4, 1, drawing.scope.size(full=160, quick=50))
    p = np.unique(np.concatenate([p, np.linspace(0.02, 1, 50)]))
    lines = []
    for look, n in zip("12345", (2, 3, 10, 100, 1000), strict=True):
        ratio = np.array([_ratio_at(n, coin) for coin in p.tolist()])
        at = float(p[np.abs(ratio - 1.4).argmin()])
        lines.append(Line(f"n = {n}", p, ratio, look, at=at, markers=5))
    y = Axis("error of EM / error of PF", domain=(0.98, 2.05))
    drawing.row(
        Lines("as in the paper", Axis("p", domain=(0.0, 1.0)), y, lines),
        Lines("small p", Axis("p", log=True, domain=(1e-4, 1.0)), y, lines),
    )
    largest = max(float(line.ys.max()) for line in lines)
    least = min(float(line.ys.min()) for line in lines)
    drawing.statement(
        "the ratio",
        paper="between 1 and 2, approaching 2 as p → 0",
        ours=f"from {least:.4f} to {largest:.4f} (n = 2 at p = 10⁻⁴)",
        holds=least >= 1 - 1e-12 and 1.99 < largest <= 2 + 1e-12,
    )
    few, some, many = (_ratio_at(n, 0.1) for n in (2, 100, 10**6))
    drawing.statement(
        "with more candidates",
        paper="the p needed for a given ratio falls; the ratio tends to 1 for every p > 0",
        ours=f"at p = 0.1: {few:.3f} (n = 2), {some:.3f} (n = 100), {many:.6f} (n = 10⁶)",
        holds=few > some > many >= 1,
    )


def _ratio_at(n: int, p: float) -> float:
    gamma = -math.log(p)
    return exponential_missed(n, gamma) / permute_and_flip_missed(n, gamma)


@claim("Figure 1(b)")
def _figure_1b_claim(scope: Scope) -> Finding:
    """In the worst-case family the ratio of the exponential mechanism's error to permute-and-flip's lies
    between one and two. It tends to two as p falls to 0, and to one as n grows with p fixed."""
    most = scope.size(full=24, quick=10)
    p, broken = unknown(), None
    for count in range(2, most + 1):
        missed = polynomial(1 - integral_of_products([p] * (count - 1)))
        worse = (count - 1) * p
        below = negative_point(worse - missed * (1 + worse))
        above = negative_point(2 * missed * (1 + worse) - worse)
        limit = worse.coeffs()[1] / missed.coeffs()[1]
        if below is not None or above is not None or limit != 2:
            broken = {"n": count}
    fixed = {f"ratio at p = 0.1, n = {n}": round(_ratio_at(n, 0.1), 5) for n in (10, 1000, 10**6)}
    return unless(
        broken,
        f"every ε and c, n ≤ {most}; the limit in n at p = 0.1 up to a million candidates",
        "both inequalities hold as polynomials in p on [0, 1], and the ratio of their first terms is 2",
        **fixed,
    )


@figure(
    "pf-fig1c",
    "The worst that any scores can do, against n",
    subtitle="ε = 1, Δ = 1. Grey: the bounds (2Δ/ε) ln n and (Δ/2ε) ln n.",
    claim="Figure 1(c)",
    evidence="maximised numerically: the ratio falls from its value at n = 2, slowly; all maxima lie within "
    "the analytic bounds",
)
def _figure_1c(drawing: Drawing) -> None:
    """The ratio of the exponential mechanism's worst-case expected error to permute-and-flip's is largest at
    n = 2 and falls towards one as n grows."""
    count = drawing.scope.size(full=40, quick=14)
    sizes = np.unique(np.geomspace(2, 1e6, count).round()).astype(int).tolist()
    flip, plain, upper, lower = (
        np.array([error(n) for n in sizes])
        for error in (
            partial(worst_case_error, PF.at(1)),
            partial(worst_case_error, EM.at(1)),
            partial(expected_error_bound, 1),
            partial(worst_case_lower_bound, 1),
        )
    )
    n = np.array(sizes, dtype=np.float64)
    lines = [
        PF.line(n, flip),
        EM.line(n, plain),
        Line("upper bound", n, upper, "bound"),
        Line("lower bound", n, lower, "bound"),
    ]
    x = Axis("number of candidates n", log=True)
    drawing.row(Lines("", x, Axis("worst-case expected error"), lines))
    ratios = plain / flip
    drawing.statement(
        "ratio of the worst cases EM/PF",
        paper="largest at n = 2, decaying towards 1",
        ours=f"{ratios[0]:.4f} at n = 2, {ratios[-1]:.4f} at n = 10⁶",
        holds=bool((np.diff(ratios) < 0).all() and ratios[-1] > 1),
    )
    drawing.statement(
        "both between the bounds",
        paper="yes",
        ours=f"at {len(sizes)} values of n up to 10⁶",
        holds=bool((lower <= flip).all() and (plain <= upper).all()),
    )


@figure(
    "pf-fig4",
    "Three mechanisms on scores (c, c, 0)",
    subtitle=f"ε = 1, Δ = 1. {PF_AND_EM} NM: noisy max, Laplace noise.",
)
def _figure_4(drawing: Drawing) -> None:
    gaps = np.linspace(0, 20, drawing.scope.size(full=201, quick=81))
    flip, plain, noisy = (
        _error(chance, gaps)
        for chance in (permute_and_flip_missed, exponential_missed, laplace_missed)
    )
    crossing = _crossing()
    lines = [
        PF.line(-gaps, flip, at=-5.0, shift=(4.0, 8.0)),
        EM.line(-gaps, plain, at=-2.0, shift=(4.0, -6.0)),
        Line("NM", -gaps, noisy, "laplace", at=-8.0, shift=(-26.0, -4.0)),
    ]
    y = Axis("expected error", domain=(0.0, 1.05 * float(max(plain.max(), noisy.max()))))
    rules = [(-crossing, "EM = NM")]
    drawing.row(Lines("", Axis("c", domain=(-20.0, 0.0)), y, lines, rules=rules))
    drawing.statement(
        "NM against EM",
        paper="better for c near 0, worse far below: neither dominates",
        ours=f"NM is better for c above {-crossing:.3f}, worse below",
        holds=bool(noisy[1] < plain[1] and noisy[-1] >= plain[-1]),
    )
    drawing.statement(
        "PF against both",
        paper="always better",
        ours="at every c drawn",
        holds=bool((flip[1:] < np.minimum(plain, noisy)[1:]).all()),
    )
    drawing.added(
        "largest errors", ours=f"PF {flip.max():.3f}, EM {plain.max():.3f}, NM {noisy.max():.3f}"
    )


def _crossing() -> float:
    """Return the gap at which Laplace noisy max and the exponential mechanism have equal error, for n = 3."""

    def worse(gap: float) -> bool:
        return laplace_missed(3, gap / _SCALE) >= exponential_missed(3, gap / _SCALE)

    return bisected(worse, 0.5, 20.0)[1]
