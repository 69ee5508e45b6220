"""A figure under construction: panels of lines or bars, and the paper's values beside ours.

Errors at each ε are computed from probabilities, not sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.printing import measured
from discreet.analysis import epsilon_for, expected_error
from discreet.mechanisms import (
    Exponential,
    ExponentialRandomizedResponse,
    Mechanism,
    PermuteAndFlip,
)
from discreet.mechanisms.registry import Family, member
from discreet.papers.findings import Scope
from discreet.papers.histograms import Counts, Histogram, readable
from discreet.scores import Scores

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a panel.

    Attributes:
        title: the quantity on the axis.
        log: whether it is logarithmic.
        domain: its range; None to fit the data.
    """

    title: str
    log: bool = False
    domain: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        label: the text at its end, and its name in the table.
        xs, ys: its points; those that are not finite, or not positive on a logarithmic axis, are left out.
        look: its dash, shade and marker (see ``drawing.LOOKS``).
        low, high: the ends of error bars.
        at: the x position of the label; None for the end of the line.
        shift: an offset of the label to the right and down, in pixels.
        markers: the number of markers along the line.
        quiet: whether the label appears only in the table, not on the figure.
    """

    label: str
    xs: Floats
    ys: Floats
    look: str
    low: Floats | None = None
    high: Floats | None = None
    at: float | None = None
    shift: tuple[float, float] = (4.0, -10.0)
    markers: int = 6
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """A panel of curves.

    Attributes:
        title: the text above it.
        x, y: the axes.
        lines: the curves.
        rules: vertical rules, each with position and label.
        note: a short text inside the panel, such as *synthetic*.
        width, height: the panel's size in pixels; None for the figure's usual size.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    rules: Sequence[tuple[float, str]] = ()
    note: str = ""
    width: int | None = None
    height: int | None = None

    def table(self) -> Iterator[dict[str, Any]]:
        """Yield one row per point."""
        for line in self.lines:
            for place, (x, y) in enumerate(zip(line.xs.tolist(), line.ys.tolist(), strict=True)):
                row: dict[str, Any] = {"panel": self.title, "series": line.label}
                row |= {"x_axis": self.x.title, "x": x, "y_axis": self.y.title, "y": y}
                if line.low is not None and line.high is not None:
                    row |= {"low": float(line.low[place]), "high": float(line.high[place])}
                yield row


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel of grouped bars.

    Attributes:
        title: the text above it.
        y: the axis of the values.
        groups: the names along the x axis.
        series: the values of each series by name, one for each group.
        looks: the shade of each series (see ``drawing.LOOKS``).
        note: a short text inside the panel.
        width, height: the panel's size in pixels; None for the figure's usual size.
    """

    title: str
    y: Axis
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]
    looks: Sequence[str]
    note: str = ""
    width: int | None = None
    height: int | None = None

    def table(self) -> Iterator[dict[str, Any]]:
        """Yield one row per bar."""
        for label, values in self.series.items():
            for group, value in zip(self.groups, values, strict=True):
                row: dict[str, Any] = {"panel": self.title, "series": label}
                yield row | {"x_axis": "data set", "x": group, "y_axis": self.y.title, "y": value}


AGREES = "agrees"
CLOSE = "close"
DIFFERS = "differs"
NEW = "new"
NOT_COMPARED = "not compared"

_CLOSE = 0.02


@dataclass(frozen=True, slots=True)
class PaperValue:
    """One number or statement of a paper, compared with our result.

    Attributes:
        quantity: the quantity compared.
        paper: the paper's value or its words, shortened; empty if the paper has none.
        ours: our result.
        difference: the relative difference of our number from the paper's; empty unless both are numbers.
        verdict: ``"agrees"`` (equal in the digits printed, or the statement holds), ``"close"`` (within
            two percent), ``"differs"``, ``"new"`` (nothing to compare with) or ``"not compared"`` (synthetic
            data).
        remark: the reason for a difference, or the meaning of the number.
    """

    quantity: str
    paper: str
    ours: str
    difference: str
    verdict: str
    remark: str = ""


@dataclass
class Drawing:
    """The content of a figure: rows of panels, comparisons with the paper, and remarks for the report.

    Example:
        >>> drawing = Drawing(Scope())
        >>> drawing.number("ratio", paper="1.84", ours=1.8404)
        >>> drawing.number("error", paper="5.4", ours=5.323)
        >>> drawing.statement("ratio", paper="at most 2", ours="2.1", holds=False)
        >>> [(row.verdict, row.difference) for row in drawing.comparisons]
        [('agrees', '+0.0%'), ('close', '−1.4%'), ('differs', '')]
    """

    scope: Scope
    needs: tuple[str, ...] = ()
    rows: list[tuple[Lines | Bars, ...]] = field(default_factory=list)
    comparisons: list[PaperValue] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    histograms: list[Histogram] = field(init=False)
    troubles: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.histograms, self.troubles = readable(self.scope, self.needs)

    @property
    def synthetic(self) -> list[str]:
        """The names of the data sets that are made up."""
        return [found.name for found in self.histograms if found.synthetic]

    @property
    def note(self) -> str:
        """The note for a panel with several data sets: *synthetic* if any is made up, else empty."""
        return "synthetic" if self.synthetic else ""

    def row(self, *panels: Lines | Bars) -> None:
        """Add a row of panels."""
        self.rows.append(panels)

    def remark(self, text: str) -> None:
        """Add a sentence for readers of the report."""
        self.remarks.append(text)

    def number(self, quantity: str, *, paper: str, ours: float, remark: str = "") -> None:
        """Compare a printed number with ours; ``paper`` is the number exactly as printed."""
        decimals = len(paper.partition(".")[2])
        relative = ours / float(paper) - 1
        verdict = CLOSE if abs(relative) <= _CLOSE else DIFFERS
        if f"{ours:.{decimals}f}" == paper:
            verdict = AGREES
        difference = f"{relative:+.1%}".replace("-", "−")
        self._compare(PaperValue(quantity, paper, shown(ours), difference, verdict, remark))

    def statement(
        self, quantity: str, *, paper: str, ours: str, holds: bool, remark: str = ""
    ) -> None:
        """Add a statement of the paper and whether our curves support it."""
        verdict = AGREES if holds else DIFFERS
        self._compare(PaperValue(quantity, paper, ours, "", verdict, remark))

    def _compare(self, row: PaperValue) -> None:
        if self.synthetic:
            row = PaperValue(row.quantity, row.paper, row.ours, "", NOT_COMPARED, "synthetic data")
        self.comparisons.append(row)

    def added(self, quantity: str, *, ours: str, remark: str = "") -> None:
        """Add a result of ours that no paper has."""
        self.comparisons.append(PaperValue(quantity, "", ours, "", NEW, remark))


def shown(value: float) -> str:
    """Return the number as text with four significant digits, or with two if it is below 10⁻⁴.

    Example:
        >>> shown(5.32281), shown(1.2e-40), shown(float("inf"))
        ('5.323', '1.2e-40', '∞')
    """
    if 0 < abs(value) < 1e-4:
        return measured(value, digits=2)
    return measured(value).replace("-", "−")


ScoresOf: TypeAlias = Callable[[Counts], Scores]
"""A function from a histogram to the scores of its bins."""

STATED = "0.1"
"""The ε of the randomized-response figures that need no data; with Δ = 1 the noise scale is 2Δ/ε = 20."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A mechanism that the figures show, with its label and look.

    Attributes:
        label: its name on the curves.
        family: the mechanism and its options, without ε.
        look: its dash, shade and marker (see ``drawing.LOOKS``).
    """

    label: str
    family: Family
    look: str

    def at(self, epsilon: object) -> Mechanism:
        """Return the mechanism at this ε."""
        return member(self.family, epsilon)

    def line(self, xs: Floats, ys: Floats, **options: Any) -> Line:
        """Return a curve with this mechanism's label and look."""
        return Line(self.label, xs, ys, self.look, **options)

    def errors(self, scores: Scores, epsilons: Sequence[float] | Floats) -> Floats:
        """Return the expected error at each ε. **Not private**."""
        return np.array([expected_error(self.at(float(e)), scores) for e in epsilons])

    def error_line(self, scores: Scores, epsilons: Floats, **options: Any) -> Line:
        """Return the curve of ``errors`` against ε."""
        return self.line(epsilons, self.errors(scores, epsilons), **options)


PF = Contender("PF", PermuteAndFlip, "pf")
EM = Contender("EM", Exponential, "em")
ERR = {
    truth: Contender(f"ERR {coin}", partial(ExponentialRandomizedResponse, truth=str(truth)), look)
    for truth, coin, look in ((0.25, "¼", "err25"), (0.5, "½", "err50"), (0.75, "¾", "err75"))
}
"""Exponential randomized response with the coin probabilities of its paper."""

PF_AND_EM = f"PF: {PermuteAndFlip.facts.title}. EM: {Exponential.facts.title}."
KEY = f"{PF_AND_EM} ERR: {ERR[0.5].at(1).facts.title}, coin ¼, ½, ¾."
"""The meaning of the labels on the curves."""


def useful_epsilons(scores: Scores, count: int, *, least_error: float = 1.0) -> Floats:
    """Return ``count`` equally spaced ε, up to the one at which EM's expected error is ``least_error``.

    The papers end their plots there.
    """
    last = epsilon_for(Exponential, scores, expected_error=least_error)
    return last * np.arange(1, count + 1) / count


def error_panel(
    title: str,
    epsilons: Floats,
    lines: Sequence[Line],
    *,
    note: str,
    x: str = "ε",
    domain: tuple[float, float] | None = None,
) -> Lines:
    """Return a panel of errors (on a logarithmic scale) against ε, from 0 to the last of ``epsilons``."""
    across = Axis(x, domain=(0.0, 1.02 * float(epsilons[-1])))
    return Lines(title, across, Axis("expected error", log=True, domain=domain), lines, note=note)


def listed(values: Mapping[str, float], form: str = ".2f") -> str:
    """Return names and numbers as text, separated by commas.

    Example:
        >>> listed({"PF": 1.234, "EM": 2})
        'PF 1.23, EM 2.00'
    """
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())
