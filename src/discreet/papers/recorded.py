"""The verdicts of a full run, stored with the package so they can be shown without being recomputed.

The page of claims shows this record, which ``make pages`` writes. To write only the record, in a checkout::

    python -m discreet.papers.recorded

The tests check every claim at its full range and compare the outcome with the record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.papers.catalogue import all_claims
from discreet.papers.findings import FAILED, Scope
from discreet.papers.report import on_one_line
from discreet.papers.runner import CheckedClaim, check

FILE = "recorded.json"


RecordedFinding: TypeAlias = dict[str, str | None]
"""Verdict, range and evidence; numbers and witness on one line each, if any.

Times are omitted, so the file changes only when a finding does.
"""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A full run: the version of discreet, and the findings by claim id.

    Example:
        >>> recorded().findings["noisy-max/proposition-8"]["verdict"]
        'refuted'
    """

    version: str
    findings: dict[str, RecordedFinding]


def recorded() -> RecordedRun:
    """Return the recorded run that is stored in the package.

    Example:
        >>> len(recorded().findings) >= 45
        True
    """
    text = resources.files("discreet.papers").joinpath(FILE).read_text(encoding="utf-8")
    return RecordedRun(**json.loads(text))


def short(result: CheckedClaim) -> RecordedFinding:
    """Return a claim's result in the form in which the record stores it."""
    finding = result.finding
    return {
        "verdict": finding.verdict,
        "covered": finding.covered,
        "evidence": finding.evidence,
        "numbers": on_one_line(finding.numbers) or None,
        "witness": None if finding.witness is None else on_one_line(finding.witness),
    }


def text_of(results: Sequence[CheckedClaim]) -> str:
    """Return the text of the record file; raise an error if a check failed, because that is not a finding."""
    failed = [result.claim.id for result in results if result.finding.verdict == FAILED]
    if failed:
        raise DiscreetError("not recorded, because these checks failed: " + ", ".join(failed))
    run = RecordedRun(__version__, {result.claim.id: short(result) for result in results})
    return json.dumps(asdict(run), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write(results: Sequence[CheckedClaim]) -> None:
    """Write the record beside this module."""
    Path(__file__).with_name(FILE).write_text(text_of(results), encoding="utf-8")


if __name__ == "__main__":
    write(list(check(all_claims(), Scope())))
