"""Permute-and-flip, section 5: how far from the best possible mechanism. No data needed, but SciPy."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from discreet.analysis import THRESHOLD, optimality_ratio, permute_and_flip_dual
from discreet.analysis.family import Family
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.papers.catalogue import claims_of, figure, judged
from discreet.papers.drawing.panels import Axis, Floats, Line, Lines
from discreet.papers.figure import Drawing
from discreet.papers.findings import Finding
from discreet.papers.scope import Scope

claim = claims_of("permute-and-flip")

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
    """The ratios up to ε = 2, and whether they are 1 from the threshold on."""
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
    """The line with its label where it is highest."""
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


@claim(
    "Figure 2(a, b)",
    """Permute-and-flip's sum of errors is optimal above the threshold and barely above it below: the
    largest ratio measured is about 1.01, growing slowly with k and hardly depending on n.""",
)
def _figure_2ab(scope: Scope) -> Finding:
    evidence = "by linear programming in floats: one above the threshold, and nearly one as ε falls"
    return judged(scope, "pf-fig2a", "pf-fig2b", evidence=evidence)


@figure(
    "pf-fig2c", "Optimality ratio of the exponential mechanism, n = 4", subtitle=_RATIO, weight=30
)
def _figure_2c(drawing: Drawing) -> None:
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


@claim(
    "Figure 2(c)",
    """The exponential mechanism is much further from optimal: its ratio generally grows with ε towards
    two for larger k and ε, and tends to one as ε falls to 0.""",
)
def _figure_2c_claim(scope: Scope) -> Finding:
    evidence = "by linear programming in floats: from nearly 1 towards 2, which it never passes"
    return judged(scope, "pf-fig2c", evidence=evidence)
