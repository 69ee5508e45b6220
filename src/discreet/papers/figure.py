"""A figure while its function fills it in: panels, and what the paper says beside what we compute."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.numbers.printing import measured
from discreet.papers.drawing.panels import Bars, Lines
from discreet.papers.histograms import Histogram, readable
from discreet.papers.scope import Scope

AGREES = "agrees"
CLOSE = "close"
DIFFERS = "differs"
NEW = "new"
NOT_COMPARED = "not compared"

_CLOSE = 0.02


@dataclass(frozen=True, slots=True)
class PaperValue:
    """One number or one sentence of a paper beside ours.

    Attributes:
        quantity: what is compared.
        paper: the paper's value or words, in short; empty where the paper has none.
        ours: what we computed.
        difference: ours relative to the paper's, where both are numbers.
        verdict: ``"agrees"`` (equal in the digits printed, or the statement holds), ``"close"`` (within
            two percent), ``"differs"``, ``"new"`` (nothing to compare with) or ``"not compared"`` (synthetic
            data).
        remark: why they differ, or what the number means.
    """

    quantity: str
    paper: str
    ours: str
    difference: str
    verdict: str
    remark: str = ""


@dataclass
class Drawing:
    """The panels of a figure row by row, its comparisons, and sentences for the reader of the report.

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
        """The data sets that were made up."""
        return [found.name for found in self.histograms if found.synthetic]

    @property
    def note(self) -> str:
        """What a panel of several data sets says inside."""
        return "synthetic" if self.synthetic else ""

    def row(self, *panels: Lines | Bars) -> None:
        """Another row of panels."""
        self.rows.append(panels)

    def remark(self, text: str) -> None:
        """A sentence for the reader of the report."""
        self.remarks.append(text)

    def number(self, quantity: str, *, paper: str, ours: float, remark: str = "") -> None:
        """A printed number beside ours; ``paper`` is as printed, so that its digits are known."""
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
        """Something a paper says in words, and whether our curves bear it out."""
        verdict = AGREES if holds else DIFFERS
        self._compare(PaperValue(quantity, paper, ours, "", verdict, remark))

    def _compare(self, row: PaperValue) -> None:
        if self.synthetic:
            row = PaperValue(row.quantity, row.paper, row.ours, "", NOT_COMPARED, "synthetic data")
        self.comparisons.append(row)

    def added(self, quantity: str, *, ours: str, remark: str = "") -> None:
        """A finding with no counterpart in a paper."""
        self.comparisons.append(PaperValue(quantity, "", ours, "", NEW, remark))


def shown(value: float) -> str:
    """Four significant digits, with a power of ten where the number asks for one.

    Example:
        >>> shown(5.32281), shown(1.2e-40), shown(float("inf"))
        ('5.323', '1.2e-40', '∞')
    """
    if 0 < abs(value) < 1e-4:
        return measured(value, digits=2)
    return measured(value).replace("-", "−")
