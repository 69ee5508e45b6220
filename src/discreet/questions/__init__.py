"""Questions about a table, as values that can be planned, priced, asked and stored.

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

from discreet._tables import Grid, TextFile
from discreet.questions import functions, kinds
from discreet.questions.accuracy import Accuracy
from discreet.questions.answer import TableRelease
from discreet.questions.functions import *  # noqa: F403  # one for each kind: its ``__all__`` is added below
from discreet.questions.kinds import *  # noqa: F403
from discreet.questions.periods import periods
from discreet.questions.plan import Plan
from discreet.questions.private_table import OtherTableWarning, PrivateTable, table
from discreet.questions.question import Question
from discreet.questions.run import NeverMatchesWarning
from discreet.questions.select_by import select_from_file
from discreet.questions.sensitivity_check import SensitivityCheck, check_sensitivity
from discreet.questions.then import Then
from discreet.questions.vote import recommended_blocks
from discreet.questions.watch import AboveThreshold, SparseVector, WatchTerms

__all__ = [
    "AboveThreshold",
    "Accuracy",
    "Grid",
    "NeverMatchesWarning",
    "OtherTableWarning",
    "Plan",
    "PrivateTable",
    "Question",
    "SensitivityCheck",
    "SparseVector",
    "TableRelease",
    "TextFile",
    "Then",
    "WatchTerms",
    "check_sensitivity",
    "periods",
    "recommended_blocks",
    "select_from_file",
    "table",
]
__all__ += functions.__all__
__all__ += kinds.__all__
