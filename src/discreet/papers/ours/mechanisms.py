"""What the papers do not show: all private mechanisms, tails, finer bins, and where the recurrence breaks.

Scores here carry the noise they need and no more: counts are monotonic (range distance Δ), medians are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet.analysis import epsilon_for, error_distribution, error_quantile, expected_error
from discreet.analysis.family import Family, member
from discreet.distribution import permute_and_flip
from discreet.distribution.reference import dynamic_program_in_floats
from discreet.mechanisms import Exponential, LargeGap, NoisyMax, PermuteAndFlip
from discreet.papers.comparisons import Comparison, added, shown
from discreet.papers.curves import errors, useful_epsilons
from discreet.papers.drawing.panels import Axis, Floats, Line, Lines
from discreet.papers.figures import Drawn, Settings, figure
from discreet.papers.histograms import (
    NAMES,
    Counts,
    Histogram,
    made_up,
    median_scores,
    readable,
)
from discreet.scores import Scores

ScoresOf = Callable[[Counts], Scores]

_DELTA = "1e-6"
_LAPLACE = NoisyMax(epsilon=1, noise="laplace")
_GAP = LargeGap(epsilon=1, delta=_DELTA)
CONTENDERS: dict[str, tuple[Family, str]] = {
    "PF": (PermuteAndFlip, "pf"),
    "EM": (Exponential, "em"),
    "NM": (_LAPLACE, "laplace"),
    "gap": (_GAP, "gap"),
}
"""The private mechanisms with distributions of their own, by the name at their curve."""

_KEY = (
    "PF: permute-and-flip, which is noisy max with exponential noise. EM: exponential mechanism, "
    "which is noisy max with Gumbel noise.",
    f"NM: noisy max with Laplace noise. gap: the large-gap mechanism, (ε, δ = {_DELTA}).",
)


def mode_scores(counts: Counts) -> Scores:
    """The count, with the noise that one person more or less asks for: monotonic, d = Δ = 1."""
    return Scores(counts, sensitivity=1, monotonic=True)


def _all_mechanisms(settings: Settings, scores_of: ScoresOf) -> Drawn:
    found, troubles = readable(settings)
    panels, comparisons = [], []
    twins = 0.0
    for each in found:
        scores = scores_of(each.counts)
        epsilons = useful_epsilons(scores, settings.size(full=40, quick=10))
        curves = {
            name: errors(family, scores, epsilons) for name, (family, _) in CONTENDERS.items()
        }
        least = 0.5 * float(curves["PF"].min())
        y = Axis("expected error", log=True, domain=(least, 1.3 * float(curves["EM"].max())))
        x = Axis("ε", domain=(0.0, 1.02 * float(epsilons[-1])))
        lines = [
            Line(name, epsilons, ys, CONTENDERS[name][1], markers=5) for name, ys in curves.items()
        ]
        panels.append(Lines(each.title, x, y, lines, note=each.note))
        comparisons.append(_at_ten(each, scores))
        twins = max(twins, _twins(scores, float(epsilons[len(epsilons) // 2])))
    comparisons.append(
        added(
            "noisy max with exponential and with Gumbel noise",
            ours="the same errors as PF and EM"
            + (f", to {twins:.0e}" if twins else ", to the last digit"),
            remark="Theorem 5 of the noisy-max paper, and the Gumbel-max identity",
        )
    )
    return Drawn([panels], comparisons, (), made_up(found), troubles)


def _at_ten(each: Histogram, scores: Scores) -> Comparison:
    """The ε that each mechanism needs for an expected error of ten."""
    needed = {
        name: epsilon_for(family, scores, expected_error=10)
        for name, (family, _) in CONTENDERS.items()
    }
    ranked = sorted(needed, key=lambda name: needed[name])
    words = ", ".join(f"{name} {needed[name]:.3g}" for name in ranked)
    return added(
        f"ε for an expected error of 10, {each.title}",
        ours=words,
        remark=f"EM needs ×{needed['EM'] / needed['PF']:.2f} and NM ×{needed['NM'] / needed['PF']:.2f} "
        "of PF's",
    )


def _twins(scores: Scores, epsilon: float) -> float:
    """The largest relative difference between mechanisms that should be the same."""
    pairs = ((PermuteAndFlip, "exponential"), (Exponential, "gumbel"))
    differences = []
    for one, noise in pairs:
        error = expected_error(one(epsilon=epsilon), scores)
        other = expected_error(NoisyMax(epsilon=epsilon, noise=noise), scores)
        differences.append(abs(other / error - 1))
    return max(differences)


@figure(
    "beyond-mechanisms-mode",
    "Mode of five data sets: every private mechanism",
    subtitle=_KEY,
    needs=NAMES,
    weight=14,
)
def _mechanisms_mode(settings: Settings) -> Drawn:
    return _all_mechanisms(settings, mode_scores)


@figure(
    "beyond-mechanisms-median",
    "Median of five data sets: every private mechanism",
    subtitle=_KEY,
    needs=NAMES,
    weight=14,
)
def _mechanisms_median(settings: Settings) -> Drawn:
    return _all_mechanisms(settings, median_scores)


# ---- tails -----------------------------------------------------------------------------------------


def _tail(family: Family, scores: Scores, epsilon: float, ts: Floats) -> Floats:
    """Pr[error ≥ t] for each t."""
    possible, mass = error_distribution(member(family, epsilon), scores)
    tails = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    return tails[np.searchsorted(possible, ts)]


@figure(
    "beyond-tails",
    "Not only means: how likely is an error of t or more?",
    subtitle=_KEY,
    needs=("HEPTH",),
    weight=2,
)
def _tails(settings: Settings) -> Drawn:
    (found,), troubles = readable(settings, ("HEPTH",))
    panels, comparisons = [], []
    for what, scores_of, epsilon in (("mode", mode_scores, 0.04), ("median", median_scores, 0.01)):
        scores = scores_of(found.counts)
        last = max(
            error_quantile(family(epsilon=epsilon), scores, 1 - 1e-8)
            for family in (PermuteAndFlip, Exponential)
        )
        ts = np.linspace(0, last, settings.size(full=240, quick=80))
        lines = [
            Line(name, ts, _tail(family, scores, epsilon, ts), look, markers=5)
            for name, (family, look) in CONTENDERS.items()
        ]
        title = f"{found.title}, {what}, ε = {epsilon}"
        y = Axis("Pr[error ≥ t]", log=True, domain=(1e-9, 1.2))
        panels.append(Lines(title, Axis("t", domain=(0.0, last)), y, lines, note=found.note))
        for level in ("0.95", "0.999"):
            reached = {
                name: error_quantile(member(family, epsilon), scores, level)
                for name, (family, _) in CONTENDERS.items()
            }
            comparisons.append(
                added(
                    f"error not exceeded with probability {level}, {what}, ε = {epsilon}",
                    ours=", ".join(f"{name} {value:g}" for name, value in reached.items()),
                )
            )
    remark = (
        "Permute-and-flip is below the exponential mechanism at every t, not only on average (Theorem "
        "2 of its paper)."
    )
    return Drawn([panels], comparisons, [remark], made_up([found]), troubles)


# ---- finer bins ------------------------------------------------------------------------------------


@figure(
    "beyond-4096-bins",
    "Four times as many bins: the exact error at n = 4096",
    subtitle=(
        "PF: permute-and-flip. EM: exponential mechanism. Pale: the papers' 1024 bins.",
        "Upper row: mode (monotonic counts). Lower row: median.",
    ),
    needs=NAMES,
    weight=6,
)
def _finer(settings: Settings) -> Drawn:
    found, troubles = readable(settings)
    rows, comparisons = [], []
    for what, scores_of in (("mode", mode_scores), ("median", median_scores)):
        row = []
        for each in found:
            fine, coarse = scores_of(each.fine), scores_of(each.counts)
            epsilons = useful_epsilons(fine, settings.size(full=40, quick=10))
            lines = [
                Line("PF", epsilons, errors(PermuteAndFlip, fine, epsilons), "pf", markers=4),
                Line("EM", epsilons, errors(Exponential, fine, epsilons), "em", markers=4),
                Line(
                    "PF, 1024 bins",
                    epsilons,
                    errors(PermuteAndFlip, coarse, epsilons),
                    "pale pf",
                    quiet=True,
                ),
                Line(
                    "EM, 1024 bins",
                    epsilons,
                    errors(Exponential, coarse, epsilons),
                    "pale em",
                    quiet=True,
                ),
            ]
            lowest = 0.5 * float(lines[0].ys.min())
            highest = 1.3 * max(float(line.ys.max()) for line in lines)
            y = Axis("expected error", log=True, domain=(lowest, highest))
            x = Axis("ε", domain=(0.0, 1.02 * float(epsilons[-1])))
            row.append(Lines(f"{each.title}, {what}", x, y, lines, note=each.note))
        rows.append(row)
        ratios = {each.name: _ratio_at_fifty(scores_of(each.fine)) for each in found}
        comparisons.append(
            added(
                f"EM/PF at 4096 bins where EM errs by 50, {what}",
                ours=", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
            )
        )
    began = time.perf_counter()
    mechanism = PermuteAndFlip(epsilon="0.01")
    total = float(mechanism.probabilities(mode_scores(found[0].fine)).sum())
    took = time.perf_counter() - began
    comparisons.append(
        added(
            f"all 4096 probabilities of PF, {found[0].title}",
            ours=f"sum to 1 within {abs(total - 1):.0e}",
            remark=f"in about {max(1, round(took * 1000))} ms",
        )
    )
    return Drawn(rows, comparisons, (), made_up(found), troubles)


def _ratio_at_fifty(scores: Scores) -> float:
    epsilon = epsilon_for(Exponential, scores, expected_error=50)
    return 50 / expected_error(PermuteAndFlip(epsilon=epsilon), scores)


@figure(
    "beyond-recurrence",
    "Why the published recurrence cannot reach n = 1024",
    subtitle="Appendix E's dynamic program in float64, scores spread evenly over 3 units, ε = 1, Δ = 1.",
)
def _recurrence(settings: Settings) -> Drawn:
    sizes = [*range(5, 101, 5), *range(120, 201, settings.size(full=10, quick=40))]
    published, ours = [], []
    for n in sizes:
        gaps = np.linspace(0, 1.5, n)
        published.append(abs(float(dynamic_program_in_floats(np.exp(-gaps)).sum()) - 1))
        ours.append(max(abs(float(permute_and_flip(gaps).sum()) - 1), 1e-17))
    n_axis = np.array(sizes, dtype=np.float64)
    panel = Lines(
        "",
        Axis("number of candidates n", domain=(0.0, 205.0)),
        Axis("distance of Σ Pr from 1", log=True),
        [
            Line("recurrence", n_axis, np.array(published), "em"),
            Line("quadrature (ours)", n_axis, np.array(ours), "pf"),
        ],
    )
    at_hundred, at_last = published[sizes.index(100)], published[-1]
    return Drawn(
        [[panel]],
        [
            added(
                "the recurrence's probabilities",
                ours=f"sum to 1 ± {shown(at_hundred)} at n = 100, 1 ± {at_last:.0e} at n = 200",
                remark="alternating sums over subsets; it is right in exact arithmetic, and kept as a "
                "reference there",
            ),
            added("ours", ours=f"sum to 1 within {max(ours):.0e} at every n"),
        ],
    )
