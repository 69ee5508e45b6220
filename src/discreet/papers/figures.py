"""The list of figures: each is a function that computes its data; drawing and writing follow."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.exact_numbers import refuse
from discreet.papers.comparisons import Comparison
from discreet.papers.drawing.panels import Bars, Lines

PAPERS = {
    "pf": "PF: the permute-and-flip paper (McKenna and Sheldon, 2020)",
    "err": "ERR: the exponential randomized response paper (Munilla Garrido and Matthes, 2022)",
    "beyond": "Beyond the papers",
}
"""The parts of the report, by the prefix of their figures' ids."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How much to compute, and from which data.

    Attributes:
        quick: fewer points and repetitions.
        data: the folder of the DPBench histograms, or None for synthetic ones.
    """

    quick: bool = False
    data: Path | None = None

    def size(self, *, full: int, quick: int) -> int:
        """One of the two, as asked."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a figure's function returns.

    Attributes:
        rows: the panels, row by row.
        comparisons: the paper's numbers and statements beside ours.
        remarks: sentences for the reader of the report.
        synthetic: the data sets that were made up.
        troubles: what went wrong with single panels; the rest of the figure is there.
    """

    rows: Sequence[Sequence[Lines | Bars]]
    comparisons: Sequence[Comparison] = ()
    remarks: Sequence[str] = ()
    synthetic: Sequence[str] = ()
    troubles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a paper, or one of our own.

    Attributes:
        id: such as ``pf-fig3a``.
        title: what it shows, in a line.
        subtitle: how to read it, in a line or two.
        needs: the data sets that it reads.
        compute: from settings to panels and comparisons.
        weight: about how many seconds it takes, so that long ones start first.
    """

    id: str
    title: str
    subtitle: tuple[str, ...]
    needs: tuple[str, ...]
    compute: Callable[[Settings], Drawn]
    weight: float = 1.0

    @property
    def paper(self) -> str:
        """The part of the report it belongs to: a key of ``PAPERS``."""
        return self.id.partition("-")[0]

    @property
    def label(self) -> str:
        """Its name in the report: ``PF Figure 3a``, or nothing for one of our own."""
        match = re.search(r"-fig(\w+)$", self.id)
        return f"{self.paper.upper()} Figure {match.group(1)}" if match else ""

    @property
    def heading(self) -> str:
        """Label and title."""
        return f"{self.label}. {self.title}" if self.label else self.title


_FIGURES: dict[str, Figure] = {}
_MODULES = (
    "permute_and_flip.worst_case_figures",
    "permute_and_flip.optimality_figures",
    "permute_and_flip.data_figures",
    "randomized_response.disclosure_figures",
    "randomized_response.candidates_figures",
    "randomized_response.worst_case_figures",
    "randomized_response.data_figures",
    "ours.mechanisms",
    "ours.larger_algorithm",
)
"""The modules that register figures; imported only when the list is asked for."""


def figure(
    identifier: str,
    title: str,
    *,
    subtitle: str | tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    weight: float = 1.0,
) -> Callable[[Callable[[Settings], Drawn]], Callable[[Settings], Drawn]]:
    """Register a function as a figure."""

    def register(compute: Callable[[Settings], Drawn]) -> Callable[[Settings], Drawn]:
        assert identifier not in _FIGURES
        lines = (subtitle,) if isinstance(subtitle, str) else subtitle
        _FIGURES[identifier] = Figure(identifier, title, lines, needs, compute, weight)
        return compute

    return register


def figures() -> dict[str, Figure]:
    """All figures by id, in the order of the report."""
    for module in _MODULES:
        importlib.import_module(f"discreet.papers.{module}")
    return {found.id: found for found in sorted(_FIGURES.values(), key=_place)}


def _place(found: Figure) -> tuple[int, int, str]:
    digits = re.search(r"\d+", found.label)
    return list(PAPERS).index(found.paper), int(digits.group()) if digits else 0, found.id


def chosen(only: Iterable[str] = ()) -> list[Figure]:
    """The figures named: by id, by paper (``err``), by number (``fig3``: 3a, 3b, 3c), or by a word in the id.

    Example:
        >>> [found.id for found in chosen(["pf-fig3"])]
        ['pf-fig3a', 'pf-fig3b', 'pf-fig3c']
        >>> [found.id for found in chosen(["fig4"])]
        ['pf-fig4']
    """
    every = figures()
    wanted: set[str] = set()
    for name in only:
        pattern = re.compile(rf"(?:^|-){re.escape(name.lower())}(?![0-9])")
        found = {identifier for identifier in every if pattern.search(identifier)}
        if not found or not name:
            raise refuse(
                "only", name, "a paper or a figure, such as fig3, pf-fig3a or err; --list shows all"
            )
        wanted |= found
    return [found for identifier, found in every.items() if not wanted or identifier in wanted]
