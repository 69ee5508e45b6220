"""Five papers on private selection: every claim is checked and every figure redrawn.

This package is for study. Its figures read histograms without spending budget, so the results are
**not private**. Drawing needs Altair and vl-convert (``discreet[charts]``); optimality ratios need SciPy
(``discreet[optimality]``).
"""

from __future__ import annotations

from discreet.papers.catalogue import (
    PAPERS,
    Claim,
    Figure,
    Paper,
    all_claims,
    all_figures,
    chosen_claims,
    chosen_figures,
)
from discreet.papers.findings import (
    CONSISTENT,
    FAILED,
    NOT_CHECKABLE,
    PROVED,
    REFUTED,
    VERDICTS,
    Finding,
    Scope,
)
from discreet.papers.runner import CheckedClaim, DrawnFigure, check, draw, finished

__all__ = [
    "CONSISTENT",
    "FAILED",
    "NOT_CHECKABLE",
    "PAPERS",
    "PROVED",
    "REFUTED",
    "VERDICTS",
    "CheckedClaim",
    "Claim",
    "DrawnFigure",
    "Figure",
    "Finding",
    "Paper",
    "Scope",
    "all_claims",
    "all_figures",
    "check",
    "chosen_claims",
    "chosen_figures",
    "draw",
    "finished",
]
