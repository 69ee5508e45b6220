"""Exponential randomized response, section V-C: one best candidate, all others tied, with the actual ε."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from discreet.analysis import (
    expected_error,
    expected_error_bound,
    worst_case_error,
    worst_case_lower_bound,
)
from discreet.analysis.worst_case import missed_chance
from discreet.mechanisms import Mechanism
from discreet.papers.catalogue import claims_of, figure
from discreet.papers.figure import (
    EM,
    ERR,
    KEY,
    PF,
    STATED,
    Axis,
    Drawing,
    Floats,
    Line,
    Lines,
    shown,
)
from discreet.papers.findings import Scope
from discreet.papers.randomized_response.privacy import loss_at, real_epsilon
from discreet.scores import Scores

claim = claims_of("exponential-randomized-response")

_SCALE = 20.0


def _errors(mechanism: Mechanism, n: int, gaps: Floats, scale: float = _SCALE) -> Floats:
    """Return the expected error on scores (v, …, v, 0) for each v = −gap."""
    step = Fraction(1 / scale)
    chance = missed_chance(mechanism, n, step=step, distance=2 * step)
    return np.array([gap * chance(gap / scale) for gap in gaps.tolist()])


@figure(
    "err-fig7",
    "Scores (v, …, v, 0)",
    subtitle=(
        f"ε = 0.1. {KEY}",
        "Upper panels: n = 10. Middle: coin ¾, several n. Lower: what is really spent.",
    ),
    weight=3,
    claim="Figure 7",
    evidence="beyond Δ all of it holds, with exactly the factor 1/(1 − π). “Always” fails for −Δ ≤ v < 0, "
    "where T is everyone and randomized response is slightly worse (by far more on staircases)",
)
def _figure_7(drawing: Drawing) -> None:
    """On (v, …, v, 0) randomized response is always better than the exponential mechanism for π ≥ 0.25 and
    than permute-and-flip for π ≥ 0.5, by a factor of up to 1/(1 − π). For −Δ ≤ v ≤ 0 the error ratios are
    about 1."""
    far = np.linspace(0, 200, drawing.scope.size(full=160, quick=60))
    near = np.linspace(0, 4, drawing.scope.size(full=40, quick=16))
    gaps = np.unique(np.concatenate([far, near, [1.0, np.nextafter(1.0, 2.0)]]))
    spent = real_epsilon(0.1, truth=0.75, n=10)
    flip, plain = (_errors(each.at(STATED), 10, gaps) for each in (PF, EM))
    mixed = {truth: _errors(each.at(STATED), 10, gaps) for truth, each in ERR.items()}
    matched = _errors(PF.at(spent), 10, gaps, scale=2 / spent)
    labelled = [
        each.line(-gaps, mixed[truth], at=-80.0 - 10 * place, shift=(-40.0, -6.0))
        for place, (truth, each) in enumerate(ERR.items())
    ]
    v, error = Axis("v", domain=(-200.0, 0.0)), Axis("expected error")
    other = EM.line(-gaps, plain, at=-75.0, shift=(-26.0, -6.0))
    own = PF.line(-gaps, flip, at=-20.0, shift=(6.0, -6.0))
    equal = Line(f"PF at ε = {spent:.2f}", -gaps, matched, "pf matched", at=-110.0)
    drawing.row(
        Lines("against EM, n = 10", v, error, [other, *labelled]),
        Lines("against PF, n = 10", v, error, [own, *labelled, equal]),
    )
    top, within = _ratio_panels(drawing, gaps[1:])
    drawing.row(_spent_panel(drawing.scope, spent))
    out = gaps > 1
    always = all(bool((ys[out] < plain[out]).all()) for ys in mixed.values())
    beats = all(bool((mixed[truth][out] <= flip[out]).all()) for truth in (0.5, 0.75))
    drawing.statement(
        "ERR against EM (coin ≥ ¼) and PF (coin ≥ ½), v < −Δ",
        paper="always better",
        ours="yes" if always and beats else "no",
        holds=always and beats,
    )
    inside = (gaps > 0) & (gaps <= 1)
    excess, at = max(zip(mixed[0.75][inside] / plain[inside], gaps[inside], strict=True))
    drawing.statement(
        "ERR ¾ against EM, −Δ ≤ v < 0",
        paper="always better",
        ours=f"with n = 10 it errs {excess:.5f} times as much at v = −{at:g}",
        holds=bool(excess < 1),
        remark="there T is everyone",
    )
    drawing.number(
        "largest EM/ERR ratio, coin ¾", paper="4", ours=top["EM", 10], remark="exactly 1/(1 − π)"
    )
    drawing.statement(
        "the ratios as n grows",
        paper="increase in favour of ERR",
        ours=f"PF/ERR at most {top['PF', 3]:.2f} (n = 3), {top['PF', 10]:.2f} (n = 10), "
        f"{top['PF', 100]:.2f} (n = 100); EM/ERR is 4 for every n",
        holds=top["PF", 3] < top["PF", 10] < top["PF", 100],
        remark="true of PF; for EM the ratio does not depend on n",
    )
    drawing.statement(
        "within −Δ ≤ v < 0",
        paper="the ratios hover around 1",
        ours=f"EM/ERR falls to {within['EM', 10]:.3f}, PF/ERR to {within['PF', 10]:.3f}",
        holds=0.9 < within["PF", 10] <= within["EM", 10] < 1.01,
        remark="just below 1: there ERR is the worse one",
    )
    drawing.added(
        "real ε of ERR ¾ with 10 candidates",
        ours=f"at least {spent:.3g} instead of 0.1",
        remark=f"at that ε the largest error of permute-and-flip here is {matched.max():.2f}, "
        f"that of ERR ¾ {mixed[0.75].max():.2f}",
    )
    drawing.remark(
        "The paper does not say which curves its two upper panels hold; ours compare with one "
        "mechanism each."
    )
    drawing.remark(
        "Where v < −2Δ no neighbour of these scores changes the top set, and the loss *at* these "
        "scores stays below 0.1; near v = 0, and for other scores with the same number of candidates, it "
        "does not. A guarantee has to hold for all of them."
    )


Ratios = dict[tuple[str, int], float]


def _ratio_panels(drawing: Drawing, gaps: Floats) -> tuple[Ratios, Ratios]:
    """Draw the ratios of EM's and PF's errors to ERR ¾'s; return the largest, and the least where v ≥ −Δ."""
    top: Ratios = {}
    within: Ratios = {}
    panels = []
    for each in (EM, PF):
        name = each.label
        lines: list[Line] = []
        for look, n in zip("123", (3, 10, 100), strict=True):
            ratio = _errors(each.at(STATED), n, gaps) / _errors(ERR[0.75].at(STATED), n, gaps)
            top[name, n] = float(ratio.max())
            within[name, n] = float(ratio[gaps <= 1].min())
            lines.append(Line(f"n = {n}", -gaps, ratio, look, at=-35.0 - 8 * len(lines)))
        x, y = Axis("v", domain=(-60.0, 0.0)), Axis("ratio", domain=(0.9, 4.2))
        panels.append(Lines(f"error of {name} / error of ERR ¾", x, y, lines))
    drawing.row(*panels)
    return top, within


def _spent_panel(scope: Scope, spent: float) -> Lines:
    """Return a panel of ERR's loss at the scores (v, …, v, 0), against v.

    A horizontal line shows ``spent``, a loss of ERR ¾ at other scores of 10 candidates.
    """
    gaps = np.linspace(0, 6, scope.size(full=49, quick=17))
    every = [Scores([0.0, *[-gap] * 9], sensitivity=1) for gap in gaps.tolist()]
    flat = np.array([-6.0, 0.0])
    lines = [
        *(
            each.line(
                -gaps,
                np.array([loss_at(each.at(STATED), scores) for scores in every]),
                at=-1.9,
                shift=(-54.0, 0.0),
            )
            for each in ERR.values()
        ),
        Line("claimed: 0.1", flat, np.full(2, 0.1), "bound", at=-6.0),
        Line(
            "ERR ¾ on other scores",
            flat,
            np.full(2, spent),
            "err elsewhere",
            at=-6.0,
            shift=(4.0, 12.0),
        ),
    ]
    axis = Axis("v", domain=(-6.0, 0.0))
    return Lines("ε really spent at these scores, n = 10", axis, Axis("ε", log=True), lines)


@figure(
    "err-fig8",
    "Worst-case expected error against n",
    subtitle=(
        f"ε = 0.1. {KEY}",
        "Grey: the bounds (2Δ/ε) ln n and (Δ/2ε) ln n of the other two mechanisms.",
    ),
    weight=2,
    claim="Figure 8",
    evidence="on the family (v, …, v, 0) the curve is as described, but that family is the worst case of the "
    "other mechanisms, not of this one: on a staircase its error grows linearly with n and passes the "
    "curve, the lower bound and both other mechanisms",
)
def _figure_8(drawing: Drawing) -> None:
    """For some π, the worst-case expected error of randomized response, as a function of n, lies below the
    lower bound for the exponential mechanism and permute-and-flip, and the advantage does not decay with
    n."""
    count = drawing.scope.size(full=36, quick=12)
    sizes = np.unique(np.geomspace(2, 1000, count).round()).astype(int).tolist()
    n = np.array(sizes, dtype=np.float64)
    gaps = np.unique(np.concatenate([np.linspace(0, 1, 11), np.geomspace(1 + 1e-9, 240, 1200)]))
    plain, flip, upper, lower, stairs, spent = (
        np.array([error(size) for size in sizes])
        for error in (
            partial(worst_case_error, EM.at(STATED)),
            partial(worst_case_error, PF.at(STATED)),
            partial(expected_error_bound, STATED),
            partial(worst_case_lower_bound, STATED),
            _stairs_error,
            lambda size: real_epsilon(0.1, truth=0.75, n=size),
        )
    )
    family = [
        each.line(n, np.array([_errors(each.at(STATED), size, gaps).max() for size in sizes]))
        for each in ERR.values()
    ]
    own = family[-1].ys
    pairs = zip(spent.tolist(), sizes, strict=True)
    matched = np.array([worst_case_error(PF.at(e), size) for e, size in pairs])
    printed = [
        EM.line(n, plain),
        PF.line(n, flip),
        *family,
        Line("upper", n, upper, "bound"),
        Line("lower", n, lower, "bound"),
    ]
    really = [
        PF.line(n, flip, at=3.0),
        Line("ERR ¾, on (v, …, v, 0)", n, own, "err75", at=150.0, shift=(-30.0, 14.0)),
        Line("ERR ¾, on a staircase", n, stairs, "err elsewhere", at=100.0, shift=(-120.0, -10.0)),
        Line("PF at the real ε of ERR ¾", n, matched, "pf matched", at=12.0, shift=(-20.0, -20.0)),
    ]
    x, title = Axis("number of candidates n", log=True), "worst-case expected error"
    drawing.row(
        Lines("as printed: worst over v", x, Axis(title), printed),
        Lines("really", x, Axis(title, log=True, domain=(0.1, 600.0)), really),
    )
    drawing.statement(
        "ERR below the lower bound of the others",
        paper="for some coins",
        ours=f"coin ¾: {own[-1]:.1f} against {lower[-1]:.1f} at n = 1000",
        holds=bool((own[n >= 10] < lower[n >= 10]).all()),
    )
    drawing.statement(
        "gain of PF over EM, and of ERR, as n grows",
        paper="the first decays, the second does not",
        ours=f"EM/PF from {plain[0] / flip[0]:.2f} to {plain[-1] / flip[-1]:.2f}; EM/ERR ¾ "
        f"{plain[-1] / own[-1]:.2f} at n = 1000",
        holds=bool((np.diff(plain / flip) < 0).all() and plain[-1] / own[-1] > 3.9),
    )
    drawing.statement(
        "worst case of ERR",
        paper="the curve drawn",
        ours=f"a staircase gives {stairs[-1]:.0f} at n = 1000, against {own[-1]:.1f} drawn",
        holds=bool((stairs <= own).all()),
        remark="(v, …, v, 0) is the worst case of the other two mechanisms; ERR's error grows "
        "like πnΔ/2",
    )
    drawing.added(
        "real ε of ERR ¾ at n = 1000",
        ours=f"at least {spent[-1]:.3g} instead of 0.1",
        remark=f"the worst error of permute-and-flip at that ε is {shown(float(matched[-1]))}",
    )


def _stairs_error(n: int) -> float:
    return expected_error(ERR[0.75].at(STATED), Scores(list(range(n, 0, -1)), sensitivity=1))
