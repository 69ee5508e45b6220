"""Permute-and-flip, section 5 and appendix D: optimality on the 2Δ-lattice, by exact duality.

Let β = exp(−ε), and let q' be q with the score of r raised by t steps to the best score. A regular ε-DP
mechanism x satisfies x_r(q) ≥ β^t·x_r(q'), and its best candidates share the remaining probability. If all
dual prices y of these inequalities are non-negative, the prices give a lower bound on the weighted sum of all
expected errors. Permute-and-flip meets every constraint with equality, so it attains the bound. A recurrence
gives the prices as rational numbers, so their feasibility is decided exactly. (In Appendix D, the dual
constraint for a best candidate has a minus sign before the sum. The recurrence in the appendix and the one
here have the plus sign that duality gives.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from itertools import product as pairs

import numpy as np

from discreet.analysis import THRESHOLD, optimality_ratio, permute_and_flip_dual
from discreet.analysis.optimality import classes, dual_prices, orders
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.registry import Family
from discreet.papers.catalogue import claims_of, figure, judged
from discreet.papers.figure import Axis, Drawing, Floats, Line, Lines
from discreet.papers.findings import Finding, Scope, Witness, established, unless
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.problems import Number, Problem, rational

claim = claims_of("permute-and-flip")
supplement_claim = claims_of("permute-and-flip-supplement")


@dataclass(frozen=True, slots=True)
class Certificate:
    """The smallest dual prices on one lattice, both objective values and the number of classes of vectors."""

    least_price: Number
    lowest_share: Number
    primal: Number
    dual: Number
    vectors: int


def certificate(count: int, depth: int, beta: Number, *, growth: Number) -> Certificate:
    """Return the certificate for a lattice whose vectors with b best candidates have weight ``growth``^b."""
    least: Number = None
    lowest = primal = dual = rational(0)
    for (levels, level), price in dual_prices(beta, n=count, k=depth, growth=growth).items():
        best = levels.count(0)
        weight = growth**best
        if level:
            least = price / weight if least is None else min(least, price / weight)
            continue
        lowest = min(lowest, best * price / weight)
        law = distribution_noisy_max(Problem(tuple(-gap for gap in levels), unit_coin=beta))
        error = sum((gap * chance for gap, chance in zip(levels, law, strict=True)), rational(0))
        primal -= orders(levels) * weight * error
        dual += orders(levels) * best * price
    return Certificate(least, lowest, primal, dual, len(classes(count, depth)))


def _shapes(scope: Scope) -> list[tuple[int, int]]:
    return [(2, 4), (3, 3)] if scope.quick else [(2, 12), (3, 8), (4, 6), (5, 4)]


def _not_optimal(
    scope: Scope,
    betas: Iterable[Fraction | str],
    growth: Callable[[Number], Number],
    *,
    every_price_positive: bool = False,
) -> tuple[Witness, int]:
    """Return a lattice where the prices do not prove optimality, or None.

    The second value is the number of classes of vectors that were checked.
    """
    vectors = 0
    for (count, depth), beta in pairs(_shapes(scope), map(rational, betas)):
        found = certificate(count, depth, beta, growth=growth(beta))
        vectors += found.vectors
        low = found.least_price <= 0 if every_price_positive else found.least_price < 0
        if low or found.primal != found.dual:
            return {"n": count, "k": depth, "exp(-epsilon)": str(beta)}, vectors
    return None, vectors


_SMALL_AND_LARGE = ("1/10", "1/2", "9/10")


def _growth(beta: Number) -> Number:
    """Return the larger of 1 and Σ t·β^t over all t ≥ 1."""
    return max(rational(1), beta / (1 - beta) ** 2)


@claim("Proposition 6")
def _proposition_6(scope: Scope) -> Finding:
    """Permute-and-flip is Pareto optimal on the 2Δ-lattice: a regular ε-DP mechanism with a smaller expected
    error on one score vector has a larger expected error on another."""
    # It is enough to find positive weights under which permute-and-flip has the least weighted error.
    # A factor of max(1, Σ tβ^t) for each best candidate gives such weights, for every ε.
    broken, vectors = _not_optimal(scope, _SMALL_AND_LARGE, _growth)
    return unless(
        broken,
        f"exp(−ε) = 0.1, 0.5, 0.9 (ε = 2.3, 0.69, 0.11) on lattices (n, k) = {_shapes(scope)}",
        "there are positive weights under which permute-and-flip minimises the sum of expected errors over "
        "all regular ε-DP mechanisms: a dual solution with no negative price and the same value, exactly",
        vectors=vectors,
    )


@supplement_claim("Lemma 6")
def _lemma_6(scope: Scope) -> Finding:
    """If a regular ε-DP mechanism gives some candidate behind the best less probability than
    permute-and-flip does, its expected error is larger on some score vector."""
    # Suppose its error were nowhere larger. Under the weights of Proposition 6 it would then be optimal too.
    # By complementary slackness, every constraint with a positive price would be tight. If all are tight, the
    # recurrence has only one solution, permute-and-flip, and no probability is smaller.
    broken, _ = _not_optimal(
        scope, _SMALL_AND_LARGE, lambda beta: 2 * _growth(beta), every_price_positive=True
    )
    return unless(
        broken,
        f"exp(−ε) = 0.1, 0.5, 0.9 on lattices (n, k) = {_shapes(scope)}",
        "with weights that grow twice as fast every price is positive, so permute-and-flip is the only "
        "regular mechanism whose expected error is nowhere larger than its own",
    )


_THRESHOLD_BELOW = Fraction(381966011, 10**9)
"""Just below (3 − √5)/2 = exp(−ε) at the threshold ε = ln((3 + √5)/2)."""


@claim("Theorem 3")
def _theorem_3(scope: Scope) -> Finding:
    """For ε ≥ ln((3 + √5)/2) ≈ 0.96 no regular ε-DP mechanism has a smaller sum of expected errors than
    permute-and-flip over the vectors on the 2Δ-lattice whose scores are at most 2Δk behind the best."""
    betas = (_THRESHOLD_BELOW, "3/10", "1/50")
    broken, vectors = _not_optimal(scope, betas, lambda _: rational(1))
    # Below the threshold the same prices fail on a large enough lattice.
    below = certificate(3, 8, rational("1/2"), growth=rational(1))
    established(below.least_price < 0, "the prices are infeasible below the threshold")
    return unless(
        broken,
        f"ε = 0.9624 (the threshold), 1.2, 3.9 on lattices (n, k) = {_shapes(scope)}",
        f"a feasible dual solution with exactly permute-and-flip's value on {vectors} classes of vectors; "
        "at ε = 0.69 the same prices are infeasible, as the threshold says",
        threshold=0.9624,
    )


@supplement_claim("Equations 10 and 11")
def _equations_10_and_11(scope: Scope) -> Finding:
    """For ε ≥ ln((3 + √5)/2) the dual solution satisfies, by induction, −2Δ/n* ≤ y_r ≤ 0 for each of the n*
    best candidates and 0 ≤ y_r ≤ −q_r for the others."""
    broken, lowest = None, rational(0)
    for count, depth in _shapes(scope):
        found = certificate(count, depth, rational(_THRESHOLD_BELOW), growth=rational(1))
        lowest = min(lowest, found.lowest_share)
        # n*·y ≥ −1 in steps of 2Δ; the upper bounds follow from the signs.
        if found.lowest_share < -1 or found.least_price < 0:
            broken = {"n": count, "k": depth}
    return unless(
        broken,
        f"ε = 0.9624 on lattices (n, k) = {_shapes(scope)}",
        "all four bounds hold exactly; n*·y comes as low as the figure given, in units of 2Δ",
        lowest=round(float(Fraction(int(lowest.p), int(lowest.q))), 6),
    )


@supplement_claim("Lemma 7")
def _lemma_7(scope: Scope) -> Finding:
    """Σ k·exp(−kε) ≤ 1 for every ε ≥ ln((3 + √5)/2)."""
    from flint import fmpq_poly

    x = fmpq_poly([0, 1])
    # Σ kx^k = x/(1 − x)²: multiply out the first terms; the remainder is a multiple of x^(K+1).
    terms = scope.size(full=200, quick=50)
    partial = fmpq_poly([0, *range(1, terms + 1)])
    product = ((1 - x) ** 2 * partial).coeffs()
    series = product[: terms + 1] == [0, 1] + [0] * (terms - 1)
    # It is at most 1 when x² − 3x + 1 ≥ 0, that is, up to the smaller root (3 − √5)/2 = exp(−ε).
    quadratic = (1 - x) ** 2 - x
    below, above = rational(_THRESHOLD_BELOW), rational(_THRESHOLD_BELOW + Fraction(1, 10**9))
    root = quadratic == fmpq_poly([1, -3, 1]) and quadratic(below) > 0 > quadratic(above)
    # The other root is its reciprocal, which is above 1, so there is no sign change below the smaller root.
    only = quadratic(rational(1)) < 0 and quadratic(rational(0)) > 0
    return unless(
        None if series and root and only else {"series": series, "root": bool(root)},
        "every ε at or above the threshold",
        "the sum is x/(1 − x)² at x = exp(−ε), and is at most 1 exactly when x² − 3x + 1 ≥ 0; "
        "the root in (0, 1) is (3 − √5)/2, enclosed within 10⁻⁹",
    )


# ---- distance from the best possible mechanism (no data, but needs SciPy) ------------------------------

_RATIO = "Average error over the best possible average error."
_RULE = f"{_RATIO} Dotted rule: ε = ln((3+√5)/2)."
_PROGRAM = (
    "The ratio compares with the paper's linear program, which asks for privacy towards the worst "
    "neighbour of each vector only; its optimum need not be a private mechanism, so the ratio can "
    "only be overstated."
)
_DEPTHS = ((1, "1"), (2, "2"), (4, "3"), (8, "4"))


def _ratio_line(family: Family, epsilons: Floats, n: int, k: int, *, label: str, look: str) -> Line:
    ratios = [optimality_ratio(family, epsilon=epsilon, n=n, k=k) for epsilon in epsilons.tolist()]
    return Line(label, epsilons, np.array(ratios), look, markers=5)


def _depth_lines(family: Family, epsilons: Floats) -> list[Line]:
    return [_ratio_line(family, epsilons, 4, k, label=f"k = {k}", look=look) for k, look in _DEPTHS]


def _epsilons(scope: Scope) -> Floats:
    low = np.linspace(0.04, 1.0, scope.size(full=25, quick=9))
    high = np.linspace(1.0, 2.0, scope.size(full=9, quick=4))[1:]
    return np.concatenate([low, high]).round(6)


def _permute_and_flip_panel(drawing: Drawing, lines: list[Line]) -> None:
    """Draw permute-and-flip's optimality ratios up to ε = 2; check that they equal 1 above the threshold."""
    x, rules = Axis("ε", domain=(0.0, 2.0)), [(THRESHOLD, "0.962")]
    labelled = [_at_peak(line) for line in lines]
    drawing.row(Lines("", x, Axis("optimality ratio"), labelled, rules=rules))
    above = max(float(np.abs(line.ys[line.xs >= THRESHOLD] - 1).max()) for line in lines)
    drawing.statement(
        "PF beyond the threshold",
        paper="equal to 1 from ε = 0.96 on",
        ours=f"1 to within {above:.0e}",
        holds=above < 1e-6,
    )


def _at_peak(line: Line) -> Line:
    """Return the line with its label at the highest point, or at ε = 1.6 if the line is flat."""
    flat = line.ys.max() - line.ys.min() < 1e-6
    return replace(line, at=1.6 if flat else float(line.xs[int(line.ys.argmax())]))


def _largest(lines: list[Line]) -> str:
    return "largest ratio: " + ", ".join(f"{line.ys.max():.4f} ({line.label})" for line in lines)


@figure("pf-fig2a", "Optimality ratio of permute-and-flip, k = 4", subtitle=_RULE, weight=14)
def _figure_2a(drawing: Drawing) -> None:
    epsilons = _epsilons(drawing.scope)
    lines = [
        _ratio_line(PermuteAndFlip, epsilons, n, 4, label=f"n = {n}", look=str(n - 1))
        for n in (2, 3, 4, 5)
    ]
    _permute_and_flip_panel(drawing, lines)
    drawing.statement(
        "dependence on n",
        paper="none that is strong",
        ours=_largest(lines),
        holds=max(float(line.ys.max()) for line in lines) < 1.02,
    )
    drawing.remark(_PROGRAM)


@figure("pf-fig2b", "Optimality ratio of permute-and-flip, n = 4", subtitle=_RULE, weight=30)
def _figure_2b(drawing: Drawing) -> None:
    epsilons = _epsilons(drawing.scope)
    lines = _depth_lines(PermuteAndFlip, epsilons)
    where = float(epsilons[int(lines[-1].ys.argmax())])
    drawing.number(
        "largest optimality ratio of PF",
        paper="1.01",
        ours=float(lines[-1].ys.max()),
        remark=f"at n = 4, k = 8, ε = {where:.2f}",
    )
    just_below, just_above = (
        min(price for (_, level), price in permute_and_flip_dual(e, n=3, k=20).items() if level)
        for e in ("0.9624", "0.9625")
    )
    drawing.number(
        "the threshold ln((3+√5)/2)",
        paper="0.96",
        ours=THRESHOLD,
        remark="the dual solution of Appendix D turns non-negative between 0.9624 and 0.9625: "
        f"{just_below:.1e}, then {just_above:.1e}",
    )
    _permute_and_flip_panel(drawing, lines)
    drawing.statement(
        "dependence on k",
        paper="grows slowly",
        ours=_largest(lines),
        holds=all(a.ys.max() <= b.ys.max() + 1e-9 for a, b in pairwise(lines)),
    )
    drawing.remark(_PROGRAM)


@claim("Figure 2(a, b)")
def _figure_2ab(scope: Scope) -> Finding:
    """For ε ≥ ln((3 + √5)/2), permute-and-flip's sum of errors is optimal. Below that threshold, the largest
    optimality ratio measured is about 1.01; it grows slowly with k and barely depends on n."""
    evidence = "by linear programming in floats: one above the threshold, and nearly one as ε falls"
    return judged(scope, "pf-fig2a", "pf-fig2b", evidence=evidence)


@figure(
    "pf-fig2c",
    "Optimality ratio of the exponential mechanism, n = 4",
    subtitle=_RATIO,
    weight=30,
    claim="Figure 2(c)",
    evidence="by linear programming in floats: from nearly 1 towards 2, which it never passes",
)
def _figure_2c(drawing: Drawing) -> None:
    """The exponential mechanism is much further from optimal: its optimality ratio generally grows with ε,
    approaches two for larger k and ε, and tends to one as ε falls to 0."""
    epsilons = np.linspace(0.1, 8.0, drawing.scope.size(full=27, quick=9)).round(6)
    lines = _depth_lines(Exponential, epsilons)
    drawing.row(Lines("", Axis("ε", domain=(0.0, 8.0)), Axis("optimality ratio"), lines))
    last = lines[-1].ys
    drawing.statement(
        "EM",
        paper="well above 1, approaching 2 for larger k and ε, 1 as ε → 0",
        ours=f"k = 8: {last[0]:.3f} at ε = 0.1, {last.max():.3f} at its largest",
        holds=bool(1.8 < last.max() <= 2 and last[0] < 1.1),
    )
    drawing.remark(_PROGRAM)
