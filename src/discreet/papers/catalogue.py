"""The catalogue: what a claim is, what checking one finds, and the list of all of them.

A claim is a small function that takes :class:`Settings` and returns a :class:`Finding`; the decorator
:func:`claim` enters it under its paper and number. A verdict always says on what range it was reached:
``proved by computation`` means that exact or ball arithmetic decided every case of that range.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from discreet.errors import DiscreetError
from discreet.exact_numbers import refuse

PROVED = "proved by computation"
CONSISTENT = "consistent with a search"
REFUTED = "refuted"
NOT_CHECKABLE = "not checkable"
FAILED = "failed"
VERDICTS = (PROVED, CONSISTENT, REFUTED, NOT_CHECKABLE)

_MODULES = (
    "permute_and_flip.privacy",
    "permute_and_flip.error",
    "permute_and_flip.worst_case",
    "permute_and_flip.supplement",
    "permute_and_flip.optimality",
    "permute_and_flip.experiments",
    "noisy_max.equivalence",
    "noisy_max.privacy",
    "opendp_proof",
    "randomized_response.algorithms",
    "randomized_response.privacy",
    "randomized_response.disclosure",
    "randomized_response.error",
    "randomized_response.experiments",
    "ours.statements",
)


@dataclass(frozen=True, slots=True)
class Paper:
    """Where claims come from.

    Example:
        >>> PAPERS["noisy-max"].key
        'noisy-max'
    """

    key: str
    title: str
    authors: str


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "permute-and-flip",
            "Permute-and-Flip: A new mechanism for differentially private selection",
            "McKenna and Sheldon",
        ),
        Paper(
            "permute-and-flip-supplement",
            "Supplement to Permute-and-Flip",
            "McKenna and Sheldon",
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
        ),
        Paper("discreet", "What discreet claims instead", "the discreet developers"),
    )
}
"""The five papers, and our own statements held to the same standard."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How much to check: ``quick`` takes small ranges; ``data`` is a folder of DPBench histograms.

    Example:
        >>> Settings(quick=True).size(full=7, quick=4)
        4
    """

    quick: bool = False
    data: Path | None = None

    def size(self, *, full: int, quick: int) -> int:
        """The bound of a range."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Example:
        >>> Finding(verdict=CONSISTENT, covered="n = 3", evidence="nothing found").verdict
        'consistent with a search'
    """

    verdict: str
    covered: str
    evidence: str
    numbers: dict[str, Any] = field(default_factory=dict)
    witness: dict[str, Any] | None = None


Check: TypeAlias = Callable[[Settings], Finding]


@dataclass(frozen=True, slots=True)
class Claim:
    """One numbered statement of a paper, and its check.

    Example:
        >>> chosen(only=["noisy-max/proposition-8"])[0].id
        'noisy-max/proposition-8'
    """

    paper: str
    number: str
    statement: str
    check: Check

    @property
    def id(self) -> str:
        """The name by which ``--only`` knows it."""
        return f"{self.paper}/{re.sub(r'[^a-z0-9.]+', '-', self.number.lower()).strip('-')}"


@dataclass(frozen=True, slots=True)
class Result:
    """A claim with what was found, and how long that took.

    Example:
        >>> result = next(run(chosen(only=["noisy-max/proposition-8"]), Settings(quick=True)))
        >>> result.as_json()["id"], result.finding.verdict
        ('noisy-max/proposition-8', 'refuted')
    """

    claim: Claim
    finding: Finding
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """One object of ``discreet claims --json``."""
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "number": self.claim.number,
            "statement": self.claim.statement,
            "verdict": self.finding.verdict,
            "covered": self.finding.covered,
            "evidence": self.finding.evidence,
            "numbers": self.finding.numbers,
            "witness": self.finding.witness,
            "seconds": round(self.seconds, 3),
        }


_REGISTRY: dict[str, Claim] = {}


def claim(paper: str, number: str, statement: str) -> Callable[[Check], Check]:
    """Enter a check into the catalogue."""
    assert paper in PAPERS, paper

    def enter(check: Check) -> Check:
        entry = Claim(paper, number, " ".join(statement.split()), check)
        assert entry.id not in _REGISTRY, entry.id
        _REGISTRY[entry.id] = entry
        return check

    return enter


def all_claims() -> tuple[Claim, ...]:
    """Every claim, in the order of the papers.

    Example:
        >>> len(all_claims()) >= 45
        True
    """
    names = [f"discreet.papers.{module}" for module in _MODULES]
    for name in names:
        import_module(name)
    papers = list(PAPERS)
    places = {name: place for place, name in enumerate(names)}

    def place(entry: Claim) -> tuple[int, int]:
        # Not the order of imports: somebody may have imported a later module first.
        return papers.index(entry.paper), places.get(entry.check.__module__, len(names))

    return tuple(sorted(_REGISTRY.values(), key=place))


def chosen(*, papers: Sequence[str] = (), only: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The claims of some papers, or those whose id or number is named in ``only``.

    Example:
        >>> [entry.number for entry in chosen(only=["noisy-max/proposition-8"])]
        ['Proposition 8']
    """
    for paper in papers:
        if paper not in PAPERS:
            raise refuse("paper", paper, "one of " + ", ".join(PAPERS))
    entries = [entry for entry in all_claims() if not papers or entry.paper in papers]
    if not only:
        return tuple(entries)
    found = []
    for name in only:
        matching = [
            entry
            for entry in entries
            if name in (entry.id, entry.id.partition("/")[2], entry.number)
        ]
        if not matching:
            raise refuse("only", name, "a claim's id; `discreet claims --list` shows them")
        found += [entry for entry in matching if entry not in found]
    return tuple(found)


def run(claims: Iterable[Claim], settings: Settings) -> Iterator[Result]:
    """Check claims one after the other. A check that breaks is reported as failed, not hidden.

    Example:
        >>> for result in run(chosen(only=["noisy-max/proposition-8"]), Settings(quick=True)):
        ...     print(result.claim.number, result.finding.verdict)
        Proposition 8 refuted
    """
    for entry in claims:
        start = time.perf_counter()
        try:
            finding = entry.check(settings)
        except (DiscreetError, ArithmeticError, AssertionError, OSError, ValueError) as error:
            finding = Finding(
                FAILED, "", f"the check itself failed: {type(error).__name__}: {error}"
            )
        yield Result(entry, finding, time.perf_counter() - start)


def established(fact: object, what: str) -> None:
    """Stop the check if something that its evidence says on the side is not so."""
    if not fact:
        raise DiscreetError(f"could not establish that {what}")


def proved(covered: str, evidence: str, **numbers: Any) -> Finding:
    """Every case of the range was decided by exact or ball arithmetic, and all agree."""
    return Finding(PROVED, covered, evidence, numbers)


def consistent(covered: str, evidence: str, **numbers: Any) -> Finding:
    """A search found nothing against it."""
    return Finding(CONSISTENT, covered, evidence, numbers)


def refuted(
    covered: str, evidence: str, *, witness: dict[str, Any] | None = None, **numbers: Any
) -> Finding:
    """A counterexample, checked in exact or ball arithmetic."""
    return Finding(REFUTED, covered, evidence, numbers, witness)


def not_checkable(why: str) -> Finding:
    """Nothing here can decide it; say why."""
    return Finding(NOT_CHECKABLE, "", why)


def unless(
    counterexample: dict[str, Any] | None, covered: str, evidence: str, **numbers: Any
) -> Finding:
    """``proved``, unless an exhaustive check came back with a counterexample."""
    if counterexample is not None:
        return refuted(covered, "a counterexample was found", witness=counterexample, **numbers)
    return proved(covered, evidence, **numbers)


def unless_found(
    counterexample: dict[str, Any] | None, covered: str, evidence: str, **numbers: Any
) -> Finding:
    """``consistent``, unless a search came back with a counterexample."""
    if counterexample is not None:
        return refuted(covered, "a counterexample was found", witness=counterexample, **numbers)
    return consistent(covered, evidence, **numbers)
