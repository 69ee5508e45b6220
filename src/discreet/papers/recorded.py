"""The verdicts of a full run, kept with the package, so that they can be shown without half a minute's work.

``make pages`` writes the record from the run that writes ``docs/claims.md``; by hand, in a checkout::

    python -m discreet.papers.recorded

The tests check every claim at its full range and hold the outcome against the record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.papers.catalogue import all_claims
from discreet.papers.findings import FAILED, Scope
from discreet.papers.report import on_one_line
from discreet.papers.runner import CheckedClaim, check

FILE = "recorded.json"


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """What the run found for one claim. Without times: the file changes only when a finding does.

    Attributes:
        verdict: one of :data:`discreet.papers.VERDICTS`.
        covered: the range on which it was reached.
        evidence: the sentence.
        numbers: the figures that go with it, on one line, if there are any.
        witness: the counterexample on one line, if there is one.
    """

    verdict: str
    covered: str
    evidence: str
    numbers: str | None
    witness: str | None


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A full run: which version of discreet it was, and what it found, by the claims' ids.

    Example:
        >>> recorded().findings["noisy-max/proposition-8"].verdict
        'refuted'
    """

    version: str
    findings: dict[str, RecordedFinding]


def recorded() -> RecordedRun:
    """The record that came with the package.

    Example:
        >>> len(recorded().findings) >= 45
        True
    """
    text = resources.files("discreet.papers").joinpath(FILE).read_text(encoding="utf-8")
    content = json.loads(text)
    findings = {name: RecordedFinding(**parts) for name, parts in content["findings"].items()}
    return RecordedRun(content["version"], findings)


def short(result: CheckedClaim) -> RecordedFinding:
    """A result as it is recorded."""
    finding = result.finding
    numbers = on_one_line(finding.numbers) if finding.numbers else None
    witness = None if finding.witness is None else on_one_line(finding.witness)
    return RecordedFinding(finding.verdict, finding.covered, finding.evidence, numbers, witness)


def text_of(results: Sequence[CheckedClaim]) -> str:
    """The file's text; a check that failed is no finding, and stops the record."""
    failed = [result.claim.id for result in results if result.finding.verdict == FAILED]
    if failed:
        raise DiscreetError("not recorded, because these checks failed: " + ", ".join(failed))
    findings = {result.claim.id: asdict(short(result)) for result in results}
    content = {"version": __version__, "findings": findings}
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write(results: Sequence[CheckedClaim]) -> None:
    """Put the record beside this module."""
    Path(__file__).with_name(FILE).write_text(text_of(results), encoding="utf-8")


if __name__ == "__main__":
    write(list(check(all_claims(), Scope())))
