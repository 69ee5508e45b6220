"""The catalogue of the papers, their claims and their figures.

A claim is a small function from :class:`Scope` to :class:`Finding`. Its docstring is the paper's statement.
:func:`claims_of` returns a paper's decorator, which registers a claim under its number. A figure is a
function that fills a :class:`Drawing`; :func:`figure` registers it. If a figure is also a claim, its
docstring is the statement. What a paper says about a figure is checked by the code of that figure; a claim
about figures takes its verdict from their comparisons through :func:`judged`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib import import_module
from typing import TypeAlias

from discreet._exact.numbers.exact import refuse
from discreet.errors import DiscreetError, MissingExtraError
from discreet.papers.figure import DIFFERS, Drawing
from discreet.papers.findings import CONSISTENT, Finding, Scope, not_checkable, refuted
from discreet.papers.histograms import absent

_MODULES = (
    "permute_and_flip.privacy",
    "permute_and_flip.algorithms",
    "permute_and_flip.error",
    "permute_and_flip.worst_case",
    "permute_and_flip.supplement",
    "permute_and_flip.optimality",
    "permute_and_flip.data",
    "noisy_max.algorithms",
    "noisy_max.privacy",
    "opendp_proof",
    "randomized_response.algorithms",
    "randomized_response.privacy",
    "randomized_response.disclosure",
    "randomized_response.error",
    "randomized_response.candidates",
    "randomized_response.worst_case",
    "randomized_response.data",
    "sparse_vector",
    "ours.statements",
    "ours.mechanisms",
    "ours.larger_algorithm",
)
"""Modules to import when the catalogue is first used."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, as the source of claims and figures.

    Attributes:
        key: the paper's name in the ids of claims.
        title, authors: as printed.
        prefix: the paper's name in the ids of figures; empty if it has no figures.
        part: the heading of the paper's figures in the report.

    Example:
        >>> PAPERS["noisy-max"].key
        'noisy-max'
    """

    key: str
    title: str
    authors: str
    prefix: str = ""
    part: str = ""


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "permute-and-flip",
            "Permute-and-Flip: A new mechanism for differentially private selection",
            "McKenna and Sheldon",
            "pf",
            "PF: the permute-and-flip paper (McKenna and Sheldon, 2020)",
        ),
        Paper(
            "permute-and-flip-supplement", "Supplement to Permute-and-Flip", "McKenna and Sheldon"
        ),
        Paper(
            "noisy-max",
            "The permute-and-flip mechanism is identical to report-noisy-max with exponential noise",
            "Ding, Kifer, Saghaian, Steinke, Wang, Xiao and Zhang",
        ),
        Paper("opendp-proof", "fn make_permute_and_flip (OpenDP)", "Cebere"),
        Paper(
            "exponential-randomized-response",
            "Exponential Randomized Response: Boosting Utility in Differentially Private Selection",
            "Munilla Garrido and Matthes",
            "err",
            "ERR: the exponential randomized response paper (Munilla Garrido and Matthes, 2022)",
        ),
        Paper(
            "sparse-vector",
            "Understanding the Sparse Vector Technique for Differential Privacy",
            "Lyu, Su and Li",
        ),
        Paper(
            "discreet",
            "What discreet claims instead",
            "the discreet developers",
            "beyond",
            "Beyond the papers",
        ),
    )
}
"""The papers, and our own statements, which are checked to the same standard."""

_BY_PREFIX = {paper.prefix: paper for paper in PAPERS.values() if paper.prefix}

Check: TypeAlias = Callable[[Scope], Finding]
Fill: TypeAlias = Callable[[Drawing], None]


@dataclass(frozen=True, slots=True)
class Claim:
    """One numbered statement of a paper, with its check.

    Example:
        >>> chosen_claims(only=["noisy-max/proposition-8"])[0].id
        'noisy-max/proposition-8'
    """

    paper: str
    number: str
    statement: str
    check: Check

    @property
    def id(self) -> str:
        """The claim's name for ``--only``."""
        return f"{self.paper}/{re.sub(r'[^a-z0-9.]+', '-', self.number.lower()).strip('-')}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a paper, or one of our own.

    Attributes:
        id: such as ``pf-fig3a``.
        title: one line that says what it shows.
        subtitle: one or two lines that say how to read it.
        needs: the data sets that it reads.
        fill: adds panels and comparisons to a drawing.
        weight: the approximate running time in seconds; long figures start first.

    Example:
        >>> all_figures()["pf-fig3a"].label
        'PF Figure 3a'
    """

    id: str
    title: str
    subtitle: tuple[str, ...]
    needs: tuple[str, ...]
    fill: Fill
    weight: float = 1.0

    def compute(self, scope: Scope) -> Drawing:
        """Return the figure's panels and comparisons."""
        drawing = Drawing(scope, self.needs)
        self.fill(drawing)
        return drawing

    @property
    def paper(self) -> Paper:
        """The paper that the figure comes from."""
        return _BY_PREFIX[self.id.partition("-")[0]]

    @property
    def label(self) -> str:
        """The figure's name in the report; empty for our own figures."""
        match = re.search(r"-fig(\w+)$", self.id)
        return f"{self.paper.prefix.upper()} Figure {match.group(1)}" if match else ""

    @property
    def heading(self) -> str:
        """The label, if there is one, and the title."""
        return f"{self.label}. {self.title}" if self.label else self.title


_CLAIMS: dict[str, Claim] = {}
_FIGURES: dict[str, Figure] = {}


def claims_of(paper: str) -> Callable[[str], Callable[[Check], Check]]:
    """Return the decorator that registers a paper's checks; a check's docstring is the paper's statement."""
    assert paper in PAPERS, paper

    def claim(number: str) -> Callable[[Check], Check]:
        def enter(check: Check) -> Check:
            entry = Claim(paper, number, " ".join((check.__doc__ or "").split()), check)
            assert entry.id not in _CLAIMS, entry.id
            _CLAIMS[entry.id] = entry
            return check

        return enter

    return claim


def figure(
    identifier: str,
    title: str,
    *,
    subtitle: str | tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    weight: float = 1.0,
    claim: str = "",
    evidence: str = "",
) -> Callable[[Fill], Fill]:
    """Return a decorator that registers a figure, and the paper's claim about it if ``claim`` is given.

    ``claim`` is the number of the claim, which is then judged by the figure's comparisons.
    """

    def enter(fill: Fill) -> Fill:
        assert identifier not in _FIGURES, identifier
        lines = (subtitle,) if isinstance(subtitle, str) else subtitle
        found = Figure(identifier, title, lines, needs, fill, weight)
        _FIGURES[identifier] = found
        if claim:

            @wraps(fill)
            def check(scope: Scope) -> Finding:
                return judged(scope, identifier, evidence=evidence)

            claims_of(found.paper.key)(claim)(check)
        return fill

    return enter


@cache
def _places() -> dict[str, int]:
    """Import every module of the catalogue; return each module's position in ``_MODULES`` by name."""
    names = [f"discreet.papers.{module}" for module in _MODULES]
    return {import_module(name).__name__: place for place, name in enumerate(names)}


def all_claims() -> tuple[Claim, ...]:
    """Return every claim, in the order of the papers.

    Example:
        >>> len(all_claims()) >= 45
        True
    """
    places, papers = _places(), list(PAPERS)

    def place(entry: Claim) -> tuple[int, int]:
        # The order of imports is not used, because a later module may have been imported first.
        return papers.index(entry.paper), places.get(entry.check.__module__, len(places))

    return tuple(sorted(_CLAIMS.values(), key=place))


def all_figures() -> dict[str, Figure]:
    """Return all figures by id, in the order of the report.

    Example:
        >>> next(iter(all_figures()))
        'pf-fig1a'
    """
    _places()
    return {found.id: found for found in sorted(_FIGURES.values(), key=_figure_place)}


def _figure_place(found: Figure) -> tuple[int, int, str]:
    digits = re.search(r"\d+", found.label)
    order = list(_BY_PREFIX).index(found.paper.prefix)
    return order, int(digits.group()) if digits else 0, found.id


def chosen_claims(*, papers: Sequence[str] = (), only: Sequence[str] = ()) -> tuple[Claim, ...]:
    """Return the claims of these papers whose id or number is in ``only``; an empty argument means all.

    Example:
        >>> [entry.number for entry in chosen_claims(only=["noisy-max/proposition-8"])]
        ['Proposition 8']
    """
    for paper in papers:
        if paper not in PAPERS:
            raise refuse("paper", paper, "one of " + ", ".join(PAPERS))
    entries = [entry for entry in all_claims() if not papers or entry.paper in papers]
    if not only:
        return tuple(entries)
    found: dict[str, Claim] = {}
    for name in only:
        matching = {e.id: e for e in entries if name in (e.id, e.id.partition("/")[2], e.number)}
        if not matching:
            raise refuse("only", name, "a claim's id; `discreet claims --list` shows them")
        found |= matching
    return tuple(found.values())


def chosen_figures(only: Iterable[str] = ()) -> list[Figure]:
    """Return the figures that match any of the names in ``only``, in the order of the report; by default all.

    A name is an id, a paper (``err``), a number (``fig3`` for 3a, 3b and 3c) or a word in the id.

    Example:
        >>> [found.id for found in chosen_figures(["pf-fig3"])]
        ['pf-fig3a', 'pf-fig3b', 'pf-fig3c']
        >>> [found.id for found in chosen_figures(["fig4"])]
        ['pf-fig4']
    """
    every = all_figures()
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


def judged(
    scope: Scope, *identifiers: str, evidence: str, about: str = "", holds: str = CONSISTENT
) -> Finding:
    """Judge a claim by its figures: the verdict is ``holds`` unless a value of the paper differs from ours.

    Only a few points are computed, as in a quick run, because the full figures take minutes. If ``about`` is
    given, only comparisons whose quantity contains it count.
    """
    shown = [all_figures()[identifier] for identifier in identifiers]
    why = absent(scope, {name: None for found in shown for name in found.needs})
    if why:
        return not_checkable(why)
    numbers, witness = {}, {}
    for found in shown:
        try:
            drawing = found.compute(replace(scope, quick=True))
        except MissingExtraError as error:
            return not_checkable(str(error))
        if drawing.troubles:
            raise DiscreetError("; ".join(drawing.troubles))
        for row in drawing.comparisons:
            if about in row.quantity:
                name = f"{found.label}: {row.quantity}" if len(shown) > 1 else row.quantity
                said = f"; the paper: {row.paper}" if row.paper else ""
                numbers[name] = row.ours + said
                if row.verdict == DIFFERS:
                    witness[name] = numbers[name]
    covered = f"the points that `discreet reproduce --quick` draws of {', '.join(identifiers)}"
    if witness:
        return refuted(covered, evidence, witness=witness, **numbers)
    return Finding(holds, covered, evidence, numbers)
