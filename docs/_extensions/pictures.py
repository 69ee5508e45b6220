"""Draw the site's pictures into ``docs/_static`` from what the library computes: ``make pages``."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from discreet import (
    ApproxDP,
    BoundedRange,
    ExponentialRandomizedResponse,
    PermuteAndFlip,
    PureDP,
    Scores,
    demo,
)
from discreet._exact.distribution import permute_and_flip
from discreet.analysis import compare, disclosure_bound
from discreet.analysis.charts import comparison_chart, crossover_chart, save_chart, split_chart
from discreet.analysis.charts.style import DASHES, SHADES
from discreet.audit import audit
from discreet.papers.permute_and_flip.supplement import dynamic_program_in_floats
from discreet.tuning.table import tuning_chart

FOLDER = Path(__file__).parent.parent / "_static"
PAPER = TerminalTheme(
    (255, 255, 255),
    (32, 32, 32),
    [(32, 32, 32), (160, 40, 40), (20, 110, 60), (150, 100, 0), (30, 70, 150), (110, 40, 110),
     (20, 90, 120), (90, 90, 90)],
)  # fmt: skip
# Rich's own frame asks a server for its font; this one asks nobody.
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect width="{width}" height="{height}" fill="#ffffff" stroke="#bbbbbb" rx="8"/>
<g transform="translate({terminal_x}, 12)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def draw_demo() -> None:
    """What ``make demo`` prints."""
    recorder = Console(
        record=True, width=82, file=io.StringIO(), force_terminal=True, highlight=False
    )
    demo.show("0.25", recorder)
    recorder.save_svg(str(FOLDER / "demo.svg"), theme=PAPER, code_format=FRAME, unique_id="demo")


def draw_bounded_range() -> None:
    """The range that the auditor finds for permute-and-flip, and the range that was published."""
    grid = [step / 4 for step in range(1, 17)]
    found = [audit(PermuteAndFlip(epsilon=e), BoundedRange(e), n=2).measured for e in grid]
    _plot(
        "bounded-range-refuted.svg",
        "Range of the privacy loss of permute-and-flip, by its ε",
        [
            ("what pure ε promises: 2ε", [(e, 2 * e) for e in grid]),
            ("found, and proved exact", list(zip(grid, found, strict=True))),
            ("published claim: ε", [(e, e) for e in grid]),
        ],
        x=(0, 4, [(e, str(e)) for e in range(5)]),
        y=(0, 8, [(e, str(e)) for e in range(0, 9, 2)]),
    )


def draw_randomized_response() -> None:
    """The loss of exponential randomized response on the staircase, as the candidates grow."""
    losses = []
    for n in range(10, 101, 10):
        mechanism = ExponentialRandomizedResponse(epsilon=1, truth="0.5")
        first, second = (
            mechanism.log_probabilities(Scores([top, *range(n - 1, 0, -1)], sensitivity=1))[-1]
            for top in (n + 1, n)
        )
        losses.append((n, abs(float(first - second))))
    _plot(
        "exponential-randomized-response.svg",
        "Privacy loss between two neighbours, by the number of candidates",
        [
            ("what the staircase shows", losses),
            ("published claim: ε = 1", [(n, 1) for n, _ in losses]),
        ],
        x=(0, 100, [(n, str(n)) for n in range(0, 101, 20)]),
        y=(0, 50, [(loss, str(loss)) for loss in range(0, 51, 10)]),
    )


def draw_recurrence() -> None:
    """How far from one the probabilities sum: the published recurrence in floats, and ours."""
    theirs, ours = [], []
    for n in range(20, 201, 20):
        gaps = np.linspace(0, 1.5, n)
        for curve, total in (
            (theirs, dynamic_program_in_floats(np.exp(-gaps)).sum()),
            (ours, permute_and_flip(gaps).sum()),
        ):
            curve.append((n, math.log10(max(abs(float(total) - 1), 1e-17))))
    _plot(
        "recurrence.svg",
        "How far from 1 the probabilities sum, by the number of candidates",
        [("Appendix E in float64", theirs), ("discreet", ours)],
        x=(0, 200, [(n, str(n)) for n in range(0, 201, 40)]),
        y=(-18, 20, [(power, f"10{_raised(power)}") for power in range(-15, 16, 5)]),
    )


def draw_attacker() -> None:
    """How sure an attacker can become about one person who was as likely in the data as not, by ε."""
    grid = [step / 20 for step in range(61)]
    curves = []
    for label, releases in (("after ten releases", 10), ("after one release", 1)):
        sure = [(e, 100 * disclosure_bound(e * releases, worlds=2) if e else 50) for e in grid]
        curves.append((label, sure))
    curves.append(("before: a coin", [(e, 50) for e in grid]))
    _plot(
        "attacker.svg",
        "The surest that anyone can become, in per cent, by ε of one release",
        curves,
        x=(0, 3, [(e, str(e)) for e in range(4)]),
        y=(40, 105, [(share, f"{share}%") for share in range(50, 101, 10)]),
    )


def draw_charts() -> None:
    """Charts of the command line, as a reader will see them."""
    names = ("permute-and-flip", "exponential", "noisy-max-laplace")
    scores = Scores(demo.CLINIC, sensitivity=1, monotonic=True)
    save_chart(comparison_chart(compare(scores, names, epsilons="0.05:1")), FOLDER / "compare.svg")
    save_chart(crossover_chart(ApproxDP(1, "1e-6"), n=100), FOLDER / "crossover.svg")
    laws = ("logarithmic", "negative-binomial:0.5", "geometric", "poisson", "fixed")
    save_chart(tuning_chart(PureDP(1), distributions=laws), FOLDER / "tuning.svg")


def draw_split() -> None:
    """How ε is shared out between a threshold and the values that are compared with it."""
    save_chart(split_chart(1), FOLDER / "threshold-split.svg")


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


Ends = tuple[float, float, list[tuple[float, str]]]
Curve = tuple[str, list[tuple[float, float]]]


def _told(title: str, curves: list[Curve], x: Ends, y: Ends) -> str:
    """The plot in words: each curve at the labelled places of the axis."""
    powers = any(
        label.startswith("10") and label[2:3] in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" for _, label in y[2] if label[2:]
    )
    lines = []
    for label, points in curves:
        known = dict(points)
        values = [
            f"{f'10{_raised(round(known[place]))}' if powers else f'{known[place]:.5g}'} at {tick}"
            for place, tick in x[2]
            if place in known
        ]
        lines.append(f"{label}: {', '.join(values)}")
    return f"{title}. {'; '.join(lines)}."


def _plot(
    name: str,
    title: str,
    curves: list[Curve],
    *,
    x: Ends,
    y: Ends,
) -> None:
    """Lines that differ in dash and shade, each labelled where it ends: no legend, no colour needed."""
    left, right, top, bottom = 60, 470, 45, 285

    def across(value: float) -> float:
        return round(left + (right - left) * (value - x[0]) / (x[1] - x[0]), 1)

    def down(value: float) -> float:
        return round(bottom - (bottom - top) * (value - y[0]) / (y[1] - y[0]), 1)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 690 320" font-size="14" role="img"',
        ' font-family="Helvetica, Arial, sans-serif">',
        f"<title>{title}</title><desc>{_told(title, curves, x, y)}</desc>",
        '<rect width="690" height="320" fill="#ffffff"/>',
        f'<text x="12" y="24" font-weight="bold" font-size="15">{title}</text>',
    ]
    for value, label in x[2]:
        parts.append(
            f'<path d="M{across(value)} {top}V{bottom}" stroke="#e6e6e6"/>'
            f'<text x="{across(value)}" y="{bottom + 20}" text-anchor="middle">{label}</text>'
        )
    for value, label in y[2]:
        parts.append(
            f'<path d="M{left} {down(value)}H{right}" stroke="#e6e6e6"/>'
            f'<text x="{left - 8}" y="{down(value) + 5}" text-anchor="end">{label}</text>'
        )
    for (label, points), shade, dash in zip(curves, SHADES, DASHES, strict=False):
        path = "L".join(f"{across(a)} {down(b)}" for a, b in points)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{shade}" stroke-width="2.4" '
            f'stroke-dasharray="{" ".join(map(str, dash))}"/>'
            f'<text x="{right + 10}" y="{down(points[-1][1]) + 5}" fill="{shade}">{label}</text>'
        )
    (FOLDER / name).write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    draw_demo()
    draw_bounded_range()
    draw_randomized_response()
    draw_recurrence()
    draw_attacker()
    draw_charts()
    draw_split()
