"""Our own figures: comparisons of mechanisms, error tails, 4096 bins, a recurrence that fails in floats.

Noise is scaled to the range distance, which is Δ for counts (they are monotonic) and 2Δ for median scores.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from discreet._exact.distribution import permute_and_flip
from discreet.analysis import epsilon_for, error_distribution, error_quantile, expected_error
from discreet.mechanisms import Exponential, LargeGap, Mechanism, NoisyMax, PermuteAndFlip
from discreet.papers.catalogue import figure
from discreet.papers.figure import (
    EM,
    PF,
    PF_AND_EM,
    Axis,
    Contender,
    Drawing,
    Floats,
    Line,
    Lines,
    ScoresOf,
    error_panel,
    listed,
    shown,
    useful_epsilons,
)
from discreet.papers.histograms import NAMES, Counts, Histogram, median_scores
from discreet.papers.permute_and_flip.supplement import dynamic_program_in_floats
from discreet.scores import Scores

_DELTA = "1e-6"
CONTENDERS = (
    PF,
    EM,
    Contender("NM", NoisyMax(epsilon=1, noise="laplace"), "laplace"),
    Contender("gap", LargeGap(epsilon=1, delta=_DELTA), "gap"),
)
"""The private mechanisms, one for each distribution."""

_KEY = (
    "PF: permute-and-flip, which is noisy max with exponential noise. EM: exponential mechanism, "
    "which is noisy max with Gumbel noise.",
    f"NM: noisy max with Laplace noise. gap: the large-gap mechanism, (ε, δ = {_DELTA}).",
)


def mode_scores(counts: Counts) -> Scores:
    """Return the counts as monotonic scores; their sensitivity and their range distance are both 1."""
    return Scores(counts, sensitivity=1, monotonic=True)


def _all_mechanisms(drawing: Drawing, scores_of: ScoresOf) -> None:
    panels, twins = [], 0.0
    for each in drawing.histograms:
        scores = scores_of(each.counts)
        epsilons = useful_epsilons(scores, drawing.scope.size(full=40, quick=10))
        lines = [each.error_line(scores, epsilons, markers=5) for each in CONTENDERS]
        domain = 0.5 * float(lines[0].ys.min()), 1.3 * float(lines[1].ys.max())
        panels.append(error_panel(each.title, epsilons, lines, note=each.note, domain=domain))
        _at_ten(drawing, each, scores)
        twins = max(twins, _twins(scores, float(epsilons[len(epsilons) // 2])))
    drawing.row(*panels)
    drawing.added(
        "noisy max with exponential and with Gumbel noise",
        ours="the same errors as PF and EM"
        + (f", to {twins:.0e}" if twins else ", to the last digit"),
        remark="Theorem 5 of the noisy-max paper, and the Gumbel-max identity",
    )


def _at_ten(drawing: Drawing, each: Histogram, scores: Scores) -> None:
    """Add to the drawing the ε at which each mechanism's expected error is ten."""
    needed = {one.label: epsilon_for(one.family, scores, expected_error=10) for one in CONTENDERS}
    drawing.added(
        f"ε for an expected error of 10, {each.title}",
        ours=listed(dict(sorted(needed.items(), key=lambda item: item[1])), ".3g"),
        remark=f"EM needs ×{needed['EM'] / needed['PF']:.2f} and NM ×{needed['NM'] / needed['PF']:.2f} "
        "of PF's",
    )


def _twins(scores: Scores, epsilon: float) -> float:
    """Return the largest relative difference between the errors of mechanisms that should be identical."""
    pairs = ((PermuteAndFlip, "exponential"), (Exponential, "gumbel"))
    differences = []
    for one, noise in pairs:
        error = expected_error(one(epsilon=epsilon), scores)
        other = expected_error(NoisyMax(epsilon=epsilon, noise=noise), scores)
        differences.append(abs(other / error - 1))
    return max(differences)


for _what, _scores_of in (("mode", mode_scores), ("median", median_scores)):
    figure(
        f"beyond-mechanisms-{_what}",
        f"{_what.capitalize()} of five data sets: every private mechanism",
        subtitle=_KEY,
        needs=NAMES,
        weight=14,
    )(partial(_all_mechanisms, scores_of=_scores_of))


def _tail(mechanism: Mechanism, scores: Scores, ts: Floats) -> Floats:
    """Return Pr[error ≥ t] for each t."""
    possible, mass = error_distribution(mechanism, scores)
    tails = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    return tails[np.searchsorted(possible, ts)]


@figure(
    "beyond-tails",
    "Not only means: how likely is an error of t or more?",
    subtitle=_KEY,
    needs=("HEPTH",),
    weight=2,
)
def _tails(drawing: Drawing) -> None:
    (found,) = drawing.histograms
    panels = []
    for what, scores_of, epsilon in (("mode", mode_scores, 0.04), ("median", median_scores, 0.01)):
        scores = scores_of(found.counts)
        last = max(error_quantile(each.at(epsilon), scores, 1 - 1e-8) for each in (PF, EM))
        ts = np.linspace(0, last, drawing.scope.size(full=240, quick=80))
        lines = [
            each.line(ts, _tail(each.at(epsilon), scores, ts), markers=5) for each in CONTENDERS
        ]
        title = f"{found.title}, {what}, ε = {epsilon}"
        y = Axis("Pr[error ≥ t]", log=True, domain=(1e-9, 1.2))
        panels.append(Lines(title, Axis("t", domain=(0.0, last)), y, lines, note=found.note))
        for level in ("0.95", "0.999"):
            reached = {
                each.label: error_quantile(each.at(epsilon), scores, level) for each in CONTENDERS
            }
            quantity = f"error not exceeded with probability {level}, {what}, ε = {epsilon}"
            drawing.added(quantity, ours=listed(reached, "g"))
    drawing.row(*panels)
    drawing.remark(
        "Permute-and-flip is below the exponential mechanism at every t, not only on average (Theorem "
        "2 of its paper)."
    )


@figure(
    "beyond-4096-bins",
    "Four times as many bins: the exact error at n = 4096",
    subtitle=(
        f"{PF_AND_EM} Pale: the papers' 1024 bins.",
        "Upper row: mode (monotonic counts). Lower row: median.",
    ),
    needs=NAMES,
    weight=6,
)
def _finer(drawing: Drawing) -> None:
    for what, scores_of in (("mode", mode_scores), ("median", median_scores)):
        row, ratios = [], {}
        for each in drawing.histograms:
            fine, coarse = scores_of(each.fine), scores_of(each.counts)
            epsilons = useful_epsilons(fine, drawing.scope.size(full=40, quick=10))
            lines = [one.error_line(fine, epsilons, markers=4) for one in (PF, EM)]
            for one in (PF, EM):
                pale = Contender(f"{one.label}, 1024 bins", one.family, f"pale {one.look}")
                lines.append(pale.error_line(coarse, epsilons, quiet=True))
            highest = 1.3 * max(float(line.ys.max()) for line in lines)
            domain = 0.5 * float(lines[0].ys.min()), highest
            title = f"{each.title}, {what}"
            row.append(error_panel(title, epsilons, lines, note=each.note, domain=domain))
            at_fifty = epsilon_for(Exponential, fine, expected_error=50)
            ratios[each.name] = 50 / expected_error(PF.at(at_fifty), fine)
        drawing.row(*row)
        drawing.added(f"EM/PF at 4096 bins where EM errs by 50, {what}", ours=listed(ratios))
    first = drawing.histograms[0]
    began = time.perf_counter()
    total = float(PermuteAndFlip(epsilon="0.01").probabilities(mode_scores(first.fine)).sum())
    took = time.perf_counter() - began
    drawing.added(
        f"all 4096 probabilities of PF, {first.title}",
        ours=f"sum to 1 within {abs(total - 1):.0e}",
        remark=f"in about {max(1, round(took * 1000))} ms",
    )


@figure(
    "beyond-recurrence",
    "Why the published recurrence cannot reach n = 1024",
    subtitle="Appendix E's dynamic program in float64, scores spread evenly over 3 units, ε = 1, Δ = 1.",
)
def _recurrence(drawing: Drawing) -> None:
    sizes = [*range(5, 101, 5), *range(120, 201, drawing.scope.size(full=10, quick=40))]
    published, ours = [], []
    for n in sizes:
        gaps = np.linspace(0, 1.5, n)
        published.append(abs(float(dynamic_program_in_floats(np.exp(-gaps)).sum()) - 1))
        ours.append(max(abs(float(permute_and_flip(gaps).sum()) - 1), 1e-17))
    n_axis = np.array(sizes, dtype=np.float64)
    lines = [
        Line("recurrence", n_axis, np.array(published), "em"),
        Line("quadrature (ours)", n_axis, np.array(ours), "pf"),
    ]
    x, y = Axis("number of candidates n", domain=(0.0, 205.0)), "distance of Σ Pr from 1"
    drawing.row(Lines("", x, Axis(y, log=True), lines))
    at_hundred, at_last = published[sizes.index(100)], published[-1]
    drawing.added(
        "the recurrence's probabilities",
        ours=f"sum to 1 ± {shown(at_hundred)} at n = 100, 1 ± {at_last:.0e} at n = 200",
        remark="alternating sums over subsets; it is right in exact arithmetic, and kept as a "
        "reference there",
    )
    drawing.added("ours", ours=f"sum to 1 within {max(ours):.0e} at every n")
