"""Permute-and-flip, Section 4 and Appendix F: one best candidate, all others tied. No data needed."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from discreet.analysis import (
    expected_error_bound,
    worst_case,
    worst_case_error,
    worst_case_lower_bound,
)
from discreet.distribution.one_best import (
    Chance,
    exponential_missed,
    laplace_missed,
    permute_and_flip_missed,
)
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.papers.comparisons import added, shown, statement
from discreet.papers.drawing.panels import Axis, Floats, Line, Lines
from discreet.papers.figures import Drawn, Settings, figure

_SCALE = 2.0
"""The noise scale 2Δ/ε at ε = Δ = 1, which all of these figures use."""


def _error(chance: Chance, gaps: Floats) -> Floats:
    """The expected error on scores (−c, …, −c, 0) for each gap c."""
    return np.array([c * chance(c / _SCALE) for c in gaps.tolist()])


@figure(
    "pf-fig1a",
    "Expected error on scores (c, c, 0) against p = exp(εc/2Δ)",
    subtitle="n = 3, ε = 1, Δ = 1. PF: permute-and-flip. EM: exponential mechanism.",
)
def _figure_1a(settings: Settings) -> Drawn:
    p = np.linspace(0, 1, settings.size(full=200, quick=60) + 1)[1:]
    gaps = -_SCALE * np.log(p)
    flip = _error(partial(permute_and_flip_missed, 3), gaps)
    plain = _error(partial(exponential_missed, 3), gaps)
    peaks = [worst_case(mechanism(epsilon=1), 3) for mechanism in (PermuteAndFlip, Exponential)]
    at_third = float(
        _error(partial(permute_and_flip_missed, 3), np.array([_SCALE * math.log(3)]))[0]
    )
    panel = Lines(
        "",
        Axis("p", domain=(0.0, 1.0)),
        Axis("expected error", domain=(0.0, 1.05 * peaks[1].error)),
        [
            Line("PF", p, flip, "pf", at=0.45, shift=(-16.0, 12.0)),
            Line("EM", p, plain, "em", at=0.5),
        ],
    )
    return Drawn(
        [[panel]],
        [
            statement(
                "error at the ends p → 0 and p = 1",
                paper="0 for both",
                ours=f"0 at p = 1; at p = {p[0]:.3g} {shown(float(flip[0]))} and "
                f"{shown(float(plain[0]))}, falling to 0",
                holds=flip[-1] == plain[-1] == 0,
            ),
            statement(
                "PF below EM",
                paper="always",
                ours=f"at all {len(p) - 1} points with p < 1",
                holds=bool((flip[:-1] < plain[:-1]).all()),
            ),
            statement(
                "where the error is largest",
                paper="typically near p = 1/n = 0.333",
                ours=f"PF {peaks[0].error:.4f} at p = {peaks[0].p:.3f}; EM {peaks[1].error:.4f} at p = "
                f"{peaks[1].p:.3f}",
                holds=all(0.5 < 3 * peak.p < 1.5 for peak in peaks),
            ),
            statement(
                "Proposition 5: PF at p = 1/n",
                paper=f"at least (Δ/2ε) ln n = {worst_case_lower_bound(1, 3):.4f}",
                ours=f"{at_third:.4f}",
                holds=at_third >= worst_case_lower_bound(1, 3),
            ),
        ],
    )


@figure(
    "pf-fig1b",
    "EM error over PF error on scores (c, …, c, 0)",
    subtitle="The ratio depends on ε and Δ through p = exp(εc/2Δ) alone.",
)
def _figure_1b(settings: Settings) -> Drawn:
    p = np.geomspace(1e-4, 1, settings.size(full=160, quick=50))
    p = np.unique(np.concatenate([p, np.linspace(0.02, 1, 50)]))
    gammas = -np.log(p)
    lines, largest, least = [], 0.0, math.inf
    for look, n in zip("12345", (2, 3, 10, 100, 1000), strict=True):
        chances = [
            np.array([chance(n, g) for g in gammas.tolist()])
            for chance in (exponential_missed, permute_and_flip_missed)
        ]
        ratio = chances[0] / chances[1]
        largest, least = max(largest, float(ratio.max())), min(least, float(ratio.min()))
        lines.append(
            Line(f"n = {n}", p, ratio, look, at=float(p[np.abs(ratio - 1.4).argmin()]), markers=5)
        )
    ratio_axis = Axis("error of EM / error of PF", domain=(0.98, 2.05))
    panels = [
        Lines("as in the paper", Axis("p", domain=(0.0, 1.0)), ratio_axis, lines),
        Lines("small p", Axis("p", log=True, domain=(1e-4, 1.0)), ratio_axis, lines),
    ]
    return Drawn(
        [panels],
        [
            statement(
                "the ratio",
                paper="between 1 and 2, approaching 2 as p → 0",
                ours=f"from {least:.4f} to {largest:.4f} (n = 2 at p = 10⁻⁴)",
                holds=least >= 1 - 1e-12 and 1.99 < largest <= 2 + 1e-12,
            ),
            statement(
                "with more candidates",
                paper="the p needed for a given ratio falls; the ratio tends to 1 for every p > 0",
                ours=f"at p = 0.1: {_ratio_at(2, 0.1):.3f} (n = 2), {_ratio_at(100, 0.1):.3f} (n = "
                f"100), {_ratio_at(10**6, 0.1):.6f} (n = 10⁶)",
                holds=_ratio_at(2, 0.1) > _ratio_at(100, 0.1) > _ratio_at(10**6, 0.1) >= 1,
            ),
        ],
    )


def _ratio_at(n: int, p: float) -> float:
    gamma = -math.log(p)
    return exponential_missed(n, gamma) / permute_and_flip_missed(n, gamma)


@figure(
    "pf-fig1c",
    "The worst that any scores can do, against n",
    subtitle="ε = 1, Δ = 1. Grey: the bounds (2Δ/ε) ln n and (Δ/2ε) ln n.",
)
def _figure_1c(settings: Settings) -> Drawn:
    sizes = np.unique(np.geomspace(2, 1e6, settings.size(full=40, quick=14)).round()).astype(int)
    flip = np.array([worst_case_error(PermuteAndFlip(epsilon=1), n) for n in sizes.tolist()])
    plain = np.array([worst_case_error(Exponential(epsilon=1), n) for n in sizes.tolist()])
    upper = np.array([expected_error_bound(1, n) for n in sizes.tolist()])
    lower = np.array([worst_case_lower_bound(1, n) for n in sizes.tolist()])
    n = sizes.astype(np.float64)
    panel = Lines(
        "",
        Axis("number of candidates n", log=True),
        Axis("worst-case expected error"),
        [
            Line("PF", n, flip, "pf"),
            Line("EM", n, plain, "em"),
            Line("upper bound", n, upper, "bound"),
            Line("lower bound", n, lower, "bound"),
        ],
    )
    ratios = plain / flip
    return Drawn(
        [[panel]],
        [
            statement(
                "ratio of the worst cases EM/PF",
                paper="largest at n = 2, decaying towards 1",
                ours=f"{ratios[0]:.4f} at n = 2, {ratios[-1]:.4f} at n = 10⁶",
                holds=bool((np.diff(ratios) < 0).all()) and ratios[-1] > 1,
            ),
            statement(
                "both between the bounds",
                paper="yes",
                ours=f"at {len(sizes)} values of n up to 10⁶",
                holds=bool((lower <= flip).all() and (plain <= upper).all()),
            ),
        ],
    )


@figure(
    "pf-fig4",
    "Three mechanisms on scores (c, c, 0)",
    subtitle="ε = 1, Δ = 1. PF: permute-and-flip. EM: exponential mechanism. NM: noisy max, Laplace noise.",
)
def _figure_4(settings: Settings) -> Drawn:
    gaps = np.linspace(0, 20, settings.size(full=201, quick=81))
    flip, plain, noisy = (
        _error(partial(chance, 3), gaps)
        for chance in (permute_and_flip_missed, exponential_missed, laplace_missed)
    )
    inside = slice(1, None)
    signs = noisy[inside] < plain[inside]
    crossing = _crossing()
    panel = Lines(
        "",
        Axis("c", domain=(-20.0, 0.0)),
        Axis("expected error", domain=(0.0, 1.05 * float(max(plain.max(), noisy.max())))),
        [
            Line("PF", -gaps, flip, "pf", at=-5.0, shift=(4.0, 8.0)),
            Line("EM", -gaps, plain, "em", at=-2.0, shift=(4.0, -6.0)),
            Line("NM", -gaps, noisy, "laplace", at=-8.0, shift=(-26.0, -4.0)),
        ],
        rules=[(-crossing, "EM = NM")],
    )
    return Drawn(
        [[panel]],
        [
            statement(
                "NM against EM",
                paper="better for c near 0, worse far below: neither dominates",
                ours=f"NM is better for c above {-crossing:.3f}, worse below",
                holds=bool(signs[0] and not signs[-1]),
            ),
            statement(
                "PF against both",
                paper="always better",
                ours="at every c drawn",
                holds=bool((flip[inside] < np.minimum(plain, noisy)[inside]).all()),
            ),
            added(
                "largest errors",
                ours=f"PF {flip.max():.3f}, EM {plain.max():.3f}, NM {noisy.max():.3f}",
            ),
        ],
    )


def _crossing() -> float:
    """The gap at which noisy max and the exponential mechanism are equally good, n = 3."""
    low, high = 0.5, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        better = laplace_missed(3, middle / _SCALE) < exponential_missed(3, middle / _SCALE)
        low, high = (middle, high) if better else (low, middle)
    return high
