"""Know before you spend: error, planning, comparison, optimality, disclosure risk.

What takes ``Scores`` here reads data without spending budget: its results are **not private**. What takes
``n`` and a sensitivity reads nothing. Nothing here touches a ledger.
"""

from discreet.analysis.bounds import error_bound, expected_error_bound, worst_case_lower_bound
from discreet.analysis.comparison import Comparison, ComparisonRow, compare
from discreet.analysis.error import (
    error_distribution,
    error_quantile,
    error_tail,
    error_variance,
    expected_error,
)
from discreet.analysis.planning import budget_ratio, epsilon_for
from discreet.analysis.worst_case import WorstCase, worst_case, worst_case_error, worst_case_tail

__all__ = [
    "Comparison",
    "ComparisonRow",
    "WorstCase",
    "budget_ratio",
    "compare",
    "epsilon_for",
    "error_bound",
    "error_distribution",
    "error_quantile",
    "error_tail",
    "error_variance",
    "expected_error",
    "expected_error_bound",
    "worst_case",
    "worst_case_error",
    "worst_case_lower_bound",
    "worst_case_tail",
]
