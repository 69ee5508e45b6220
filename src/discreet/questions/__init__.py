"""Questions that people ask of a table, each answered by one private, labelled release.

Example:
    >>> import polars as pl
    >>> visits = pl.DataFrame({"patient": list(range(200)), "diagnosis": ["flu"] * 180 + ["cold"] * 20})
    >>> mode(visits, column="diagnosis", candidates=["flu", "cold"], epsilon=1, user="patient").answer
    'flu'
"""

from __future__ import annotations

from discreet.parameters import explain
from discreet.questions.answer import NeverMatchesWarning, TableRelease
from discreet.questions.bound import bound
from discreet.questions.context import Terms
from discreet.questions.first_above import first_above
from discreet.questions.mode import mode
from discreet.questions.periods import periods
from discreet.questions.private_table import PrivateTable, table
from discreet.questions.quantiles import median, quantile, quantiles
from discreet.questions.select_by import select_by, select_from_file
from discreet.questions.sensitivity_check import SensitivityCheck, check_sensitivity
from discreet.questions.top_k import top_k
from discreet.questions.watch import AboveThreshold, SparseVector, WatchTerms
from discreet.tables import Grid

__all__ = [
    "AboveThreshold",
    "Grid",
    "NeverMatchesWarning",
    "PrivateTable",
    "SensitivityCheck",
    "SparseVector",
    "TableRelease",
    "Terms",
    "WatchTerms",
    "bound",
    "check_sensitivity",
    "first_above",
    "median",
    "mode",
    "periods",
    "quantile",
    "quantiles",
    "select_by",
    "select_from_file",
    "table",
    "top_k",
]

explain(globals())
