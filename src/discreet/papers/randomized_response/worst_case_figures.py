"""Exponential randomized response, Section V-C: one best candidate, all others tied, beside the real ε."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.analysis import (
    expected_error,
    expected_error_bound,
    worst_case_error,
    worst_case_lower_bound,
)
from discreet.analysis.one_best import missed_chance
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.papers.comparisons import added, number, shown, statement
from discreet.papers.curves import KEY, STATED, TRUTHS, response_label, response_look, responses
from discreet.papers.drawing.panels import Axis, Floats, Line, Lines
from discreet.papers.figures import Drawn, Settings, figure
from discreet.papers.randomized_response.real_cost import loss_at, real_epsilon
from discreet.scores import Scores

_SCALE = 20.0


def _errors(mechanism: Mechanism, n: int, gaps: Floats, scale: float = _SCALE) -> Floats:
    """The expected error on scores (v, …, v, 0) for each v = −gap."""
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
)
def _figure_7(settings: Settings) -> Drawn:
    gaps = np.unique(
        np.concatenate(
            [
                np.linspace(0, 200, settings.size(full=160, quick=60)),
                np.linspace(0, 4, settings.size(full=40, quick=16)),
                [1.0, np.nextafter(1.0, 2.0)],
            ]
        )
    )
    v = Axis("v", domain=(-200.0, 0.0))
    error = Axis("expected error")
    flip = _errors(PermuteAndFlip(epsilon=STATED), 10, gaps)
    plain = _errors(Exponential(epsilon=STATED), 10, gaps)
    mixed = {truth: _errors(response, 10, gaps) for truth, response in responses().items()}
    spent = real_epsilon(0.1, truth=0.75, n=10)
    matched = _errors(PermuteAndFlip(epsilon=spent), 10, gaps, scale=2 / spent)

    def labelled(at: float) -> list[Line]:
        return [
            Line(
                response_label(truth),
                -gaps,
                ys,
                response_look(truth),
                at=at - 10 * place,
                shift=(-40.0, -6.0),
            )
            for place, (truth, ys) in enumerate(mixed.items())
        ]

    upper = [
        Lines(
            "against EM, n = 10",
            v,
            error,
            [Line("EM", -gaps, plain, "em", at=-75.0, shift=(-26.0, -6.0)), *labelled(-80.0)],
        ),
        Lines(
            "against PF, n = 10",
            v,
            error,
            [
                Line("PF", -gaps, flip, "pf", at=-20.0, shift=(6.0, -6.0)),
                *labelled(-80.0),
                Line(f"PF at ε = {spent:.2f}", -gaps, matched, "truth", at=-110.0),
            ],
        ),
    ]
    near = Axis("v", domain=(-60.0, 0.0))
    ratio_axis = Axis("ratio", domain=(0.9, 4.2))
    middle = []
    top: dict[tuple[str, int], float] = {}
    within: dict[tuple[str, int], float] = {}
    for name, other in (("EM", Exponential), ("PF", PermuteAndFlip)):
        lines: list[Line] = []
        for look, n in zip("123", (3, 10, 100), strict=True):
            below = _errors(responses()["0.75"], n, gaps[1:])
            ratio = _errors(other(epsilon=STATED), n, gaps[1:]) / below
            top[name, n] = float(ratio.max())
            within[name, n] = float(ratio[gaps[1:] <= 1].min())
            lines.append(Line(f"n = {n}", -gaps[1:], ratio, look, at=-35.0 - 8 * len(lines)))
        middle.append(Lines(f"error of {name} / error of ERR ¾", near, ratio_axis, lines))
    lower = _spent_panels(settings, spent)
    always = all(bool((mixed[truth][gaps > 1] < plain[gaps > 1]).all()) for truth in TRUTHS)
    beats = all(bool((mixed[truth][gaps > 1] <= flip[gaps > 1]).all()) for truth in ("0.5", "0.75"))
    return Drawn(
        [upper, middle, lower],
        [
            statement(
                "ERR against EM (coin ≥ ¼) and PF (coin ≥ ½), v < −Δ",
                paper="always better",
                ours="yes" if always and beats else "no",
                holds=always and beats,
            ),
            number(
                "largest EM/ERR ratio, coin ¾",
                paper="4",
                ours=top["EM", 10],
                remark="exactly 1/(1 − π)",
            ),
            statement(
                "the ratios as n grows",
                paper="increase in favour of ERR",
                ours=f"PF/ERR at most {top['PF', 3]:.2f} (n = 3), {top['PF', 10]:.2f} (n = 10), "
                f"{top['PF', 100]:.2f} (n = 100); EM/ERR is 4 for every n",
                holds=top["PF", 3] < top["PF", 10] < top["PF", 100],
                remark="true of PF; for EM the ratio does not depend on n",
            ),
            statement(
                "within −Δ ≤ v < 0",
                paper="the ratios hover around 1",
                ours=f"EM/ERR falls to {within['EM', 10]:.3f}, PF/ERR to {within['PF', 10]:.3f}",
                holds=0.9 < within["PF", 10] <= within["EM", 10] < 1.01,
                remark="just below 1: there ERR is the worse one",
            ),
            added(
                "real ε of ERR ¾ with 10 candidates",
                ours=f"at least {spent:.3g} instead of 0.1",
                remark=f"at that ε the largest error of permute-and-flip here is {matched.max():.2f}, "
                f"that of ERR ¾ {mixed['0.75'].max():.2f}",
            ),
        ],
        [
            "The paper does not say which curves its two upper panels hold; ours compare with one "
            "mechanism each.",
            "Where v < −2Δ no neighbour of these scores changes the top set, and the loss *at* these "
            "scores stays below 0.1; near v = 0, and for other scores with as many candidates, it "
            "does not. A guarantee has to hold for all of them.",
        ],
    )


def _spent_panels(settings: Settings, spent: float) -> list[Lines]:
    """The loss at the scores of the figure, along v, below what other scores with 10 candidates lose."""
    gaps = np.linspace(0, 6, settings.size(full=49, quick=17))
    lines = []
    for truth, response in responses().items():
        losses = [
            loss_at(response, Scores([0.0, *[-gap] * 9], sensitivity=1)) for gap in gaps.tolist()
        ]
        lines.append(
            Line(
                response_label(truth),
                -gaps,
                np.array(losses),
                response_look(truth),
                at=-1.9,
                shift=(-54.0, 0.0),
            )
        )
    flat = np.array([-6.0, 0.0])
    lines.append(Line("claimed: 0.1", flat, np.full(2, 0.1), "bound", at=-6.0))
    lines.append(
        Line("ERR ¾ on other scores", flat, np.full(2, spent), "truth", at=-6.0, shift=(4.0, 12.0))
    )
    axis = Axis("v", domain=(-6.0, 0.0))
    return [Lines("ε really spent at these scores, n = 10", axis, Axis("ε", log=True), lines)]


@figure(
    "err-fig8",
    "Worst-case expected error against n",
    subtitle=(
        f"ε = 0.1. {KEY}",
        "Grey: the bounds (2Δ/ε) ln n and (Δ/2ε) ln n of the other two mechanisms.",
    ),
    weight=2,
)
def _figure_8(settings: Settings) -> Drawn:
    sizes = (
        np.unique(np.geomspace(2, 1000, settings.size(full=36, quick=12)).round())
        .astype(int)
        .tolist()
    )
    n = np.array(sizes, dtype=np.float64)
    plain = np.array([worst_case_error(Exponential(epsilon=STATED), size) for size in sizes])
    flip = np.array([worst_case_error(PermuteAndFlip(epsilon=STATED), size) for size in sizes])
    upper = np.array([expected_error_bound(STATED, size) for size in sizes])
    lower = np.array([worst_case_lower_bound(STATED, size) for size in sizes])
    gaps = np.unique(np.concatenate([np.linspace(0, 1, 11), np.geomspace(1 + 1e-9, 240, 1200)]))
    family = {
        truth: np.array([_errors(response, size, gaps).max() for size in sizes])
        for truth, response in responses().items()
    }
    stairs = np.array([_stairs_error(size) for size in sizes])
    spent = [real_epsilon(0.1, truth=0.75, n=size) for size in sizes]
    matched = np.array(
        [
            worst_case_error(PermuteAndFlip(epsilon=e), size)
            for e, size in zip(spent, sizes, strict=True)
        ]
    )
    axis = Axis("number of candidates n", log=True)
    mixes = [
        Line(response_label(truth), n, ys, response_look(truth)) for truth, ys in family.items()
    ]
    bounds = [Line("upper", n, upper, "bound"), Line("lower", n, lower, "bound")]
    others = [Line("EM", n, plain, "em"), Line("PF", n, flip, "pf")]
    printed = Lines(
        "as printed: worst over v",
        axis,
        Axis("worst-case expected error"),
        [*others, *mixes, *bounds],
    )
    really = Lines(
        "really",
        axis,
        Axis("worst-case expected error", log=True, domain=(0.1, 600.0)),
        [
            Line("PF", n, flip, "pf", at=3.0),
            Line(
                "ERR ¾, on (v, …, v, 0)", n, family["0.75"], "err75", at=150.0, shift=(-30.0, 14.0)
            ),
            Line("ERR ¾, on a staircase", n, stairs, "err50", at=100.0, shift=(-120.0, -10.0)),
            Line("PF at the real ε of ERR ¾", n, matched, "truth", at=12.0, shift=(-20.0, -20.0)),
        ],
    )
    beats = bool((family["0.75"][n >= 10] < lower[n >= 10]).all())
    last = -1
    return Drawn(
        [[printed, really]],
        [
            statement(
                "ERR below the lower bound of the others",
                paper="for some coins",
                ours=f"coin ¾: {family['0.75'][last]:.1f} against {lower[last]:.1f} at n = 1000",
                holds=beats,
            ),
            statement(
                "gain of PF over EM, and of ERR, as n grows",
                paper="the first decays, the second does not",
                ours=f"EM/PF from {plain[0] / flip[0]:.2f} to {plain[last] / flip[last]:.2f}; EM/ERR ¾ "
                f"{plain[last] / family['0.75'][last]:.2f} at n = 1000",
                holds=bool((np.diff(plain / flip) < 0).all())
                and plain[last] / family["0.75"][last] > 3.9,
            ),
            statement(
                "worst case of ERR",
                paper="the curve drawn",
                ours=f"a staircase gives {stairs[last]:.0f} at n = 1000, against "
                f"{family['0.75'][last]:.1f} drawn",
                holds=bool((stairs <= family["0.75"]).all()),
                remark="(v, …, v, 0) is the worst case of the other two mechanisms; ERR's error grows "
                "like πnΔ/2",
            ),
            added(
                "real ε of ERR ¾ at n = 1000",
                ours=f"at least {spent[last]:.3g} instead of 0.1",
                remark=f"the worst error of permute-and-flip at that ε is {shown(float(matched[last]))}",
            ),
        ],
    )


def _stairs_error(n: int) -> float:
    return expected_error(responses()["0.75"], Scores(list(range(n, 0, -1)), sensitivity=1))
