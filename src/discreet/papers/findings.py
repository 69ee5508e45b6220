"""The scope of a run, and the result of a check: a verdict, its range and the evidence.

Every verdict states its range. ``proved by computation`` means that exact or interval arithmetic decided
every case in that range.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from discreet.errors import DiscreetError


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a run: how much to check or draw.

    ``quick`` uses small ranges and few points; ``data`` is a folder of DPBench histograms, or None.

    Example:
        >>> Scope(quick=True).size(full=7, quick=4)
        4
    """

    quick: bool = False
    data: Path | None = None

    def size(self, *, full: int, quick: int) -> int:
        """Return ``quick`` in a quick run, else ``full``: the limit of a range or a number of points."""
        return quick if self.quick else full


PROVED = "proved by computation"
CONSISTENT = "consistent with a search"
REFUTED = "refuted"
NOT_CHECKABLE = "not checkable"
FAILED = "failed"
VERDICTS = (PROVED, CONSISTENT, REFUTED, NOT_CHECKABLE)

Witness: TypeAlias = dict[str, Any] | None
"""A counterexample, or None."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check.

    Example:
        >>> Finding(verdict=CONSISTENT, covered="n = 3", evidence="nothing found").verdict
        'consistent with a search'
    """

    verdict: str
    covered: str
    evidence: str
    numbers: dict[str, Any] = field(default_factory=dict)
    witness: Witness = None


def established(fact: object, what: str) -> None:
    """Raise an error unless ``fact``, on which the evidence relies, is true."""
    if not fact:
        raise DiscreetError(f"could not establish that {what}")


def proved(covered: str, evidence: str, **numbers: Any) -> Finding:
    """Return the finding that exact or interval arithmetic confirmed every case of the range."""
    return Finding(PROVED, covered, evidence, numbers)


def consistent(covered: str, evidence: str, **numbers: Any) -> Finding:
    """Return the finding that a search found no counterexample."""
    return Finding(CONSISTENT, covered, evidence, numbers)


def refuted(covered: str, evidence: str, *, witness: Witness = None, **numbers: Any) -> Finding:
    """Return the finding that there is a counterexample, checked in exact or interval arithmetic."""
    return Finding(REFUTED, covered, evidence, numbers, witness)


def not_checkable(why: str) -> Finding:
    """Return the finding that the claim cannot be decided here, for the stated reason."""
    return Finding(NOT_CHECKABLE, "", why)


def unless(counterexample: Witness, covered: str, evidence: str, **numbers: Any) -> Finding:
    """Return ``proved``, or ``refuted`` if an exhaustive check found a counterexample."""
    if counterexample is not None:
        return refuted(covered, "a counterexample was found", witness=counterexample, **numbers)
    return proved(covered, evidence, **numbers)


def unless_found(counterexample: Witness, covered: str, evidence: str, **numbers: Any) -> Finding:
    """Return ``consistent``, or ``refuted`` if a search found a counterexample."""
    if counterexample is not None:
        return refuted(covered, "a counterexample was found", witness=counterexample, **numbers)
    return consistent(covered, evidence, **numbers)
