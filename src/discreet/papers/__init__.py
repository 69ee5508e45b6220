"""Every numbered claim of the five papers as one executable check, with a verdict and its evidence."""

from __future__ import annotations

from discreet.papers.catalogue import (
    CONSISTENT,
    FAILED,
    NOT_CHECKABLE,
    PAPERS,
    PROVED,
    REFUTED,
    VERDICTS,
    Claim,
    Finding,
    Paper,
    Result,
    Settings,
    all_claims,
    chosen,
    run,
)

__all__ = [
    "CONSISTENT",
    "FAILED",
    "NOT_CHECKABLE",
    "PAPERS",
    "PROVED",
    "REFUTED",
    "VERDICTS",
    "Claim",
    "Finding",
    "Paper",
    "Result",
    "Settings",
    "all_claims",
    "chosen",
    "run",
]
