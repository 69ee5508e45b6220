"""Questions that people ask of a table: values that are planned, priced, asked and written down.

Example:
    >>> import discreet, polars as pl
    >>> visits = pl.DataFrame({"patient": list(range(200)), "diagnosis": ["flu"] * 180 + ["cold"] * 20})
    >>> table = discreet.table(visits, user="patient", ledger=None)
    >>> table.ask(Mode("diagnosis", candidates=["flu", "cold"], epsilon=1)).answer
    'flu'
    >>> mode(visits, column="diagnosis", candidates=["flu", "cold"], epsilon=1, user="patient").answer
    'flu'
"""

from __future__ import annotations

from discreet._tables import Grid
from discreet.questions.accuracy import Accuracy
from discreet.questions.answer import NeverMatchesWarning, OtherTableWarning, TableRelease
from discreet.questions.bound import Bound
from discreet.questions.first_above import FirstAbove
from discreet.questions.functions import (
    bound,
    first_above,
    median,
    mode,
    quantile,
    quantiles,
    select_by,
    top_k,
    vote,
)
from discreet.questions.mode import Mode
from discreet.questions.periods import periods
from discreet.questions.plan import Plan
from discreet.questions.private_table import PrivateTable, table
from discreet.questions.quantiles import Median, Quantile, Quantiles
from discreet.questions.question import Question
from discreet.questions.select_by import SelectBy, select_from_file
from discreet.questions.sensitivity_check import SensitivityCheck, check_sensitivity
from discreet.questions.then import Then
from discreet.questions.top_k import TopK
from discreet.questions.vote import Vote, recommended_blocks
from discreet.questions.watch import AboveThreshold, SparseVector, WatchTerms

__all__ = [
    "AboveThreshold",
    "Accuracy",
    "Bound",
    "FirstAbove",
    "Grid",
    "Median",
    "Mode",
    "NeverMatchesWarning",
    "OtherTableWarning",
    "Plan",
    "PrivateTable",
    "Quantile",
    "Quantiles",
    "Question",
    "SelectBy",
    "SensitivityCheck",
    "SparseVector",
    "TableRelease",
    "Then",
    "TopK",
    "Vote",
    "WatchTerms",
    "bound",
    "check_sensitivity",
    "first_above",
    "median",
    "mode",
    "periods",
    "quantile",
    "quantiles",
    "recommended_blocks",
    "select_by",
    "select_from_file",
    "table",
    "top_k",
    "vote",
]
