"""Analysis before spending budget: error, planning, comparison, optimality, disclosure risk.

Functions that take ``Scores`` read data without spending budget: their results are **not private**.
Functions that take ``n`` and a sensitivity read no data. Nothing here touches a ledger.
"""

from discreet.analysis.comparison import Comparison, ComparisonRow, compare
from discreet.analysis.disclosure import (
    DisclosureRisk,
    disclosure_bound,
    disclosure_risk,
    epsilon_for_risk,
)
from discreet.analysis.error import (
    error_distribution,
    error_quantile,
    error_tail,
    error_variance,
    expected_error,
)
from discreet.analysis.optimality import (
    SHARP_THRESHOLD,
    THRESHOLD,
    OptimalMechanism,
    optimal_mechanism,
    optimality_ratio,
    permute_and_flip_dual,
    permute_and_flip_threshold,
)
from discreet.analysis.planning import budget_ratio, epsilon_for
from discreet.analysis.rank_error import epsilon_for_rank_error, rank_error
from discreet.analysis.recommendation import Recommendation, recommend
from discreet.analysis.thresholds import (
    ThresholdAdvice,
    ThresholdErrors,
    epsilon_for_threshold,
    recommend_threshold,
    threshold_errors,
)
from discreet.analysis.worst_case import (
    WorstCase,
    error_bound,
    expected_error_bound,
    worst_case,
    worst_case_error,
    worst_case_lower_bound,
    worst_case_tail,
)

__all__ = [
    "SHARP_THRESHOLD",
    "THRESHOLD",
    "Comparison",
    "ComparisonRow",
    "DisclosureRisk",
    "OptimalMechanism",
    "Recommendation",
    "ThresholdAdvice",
    "ThresholdErrors",
    "WorstCase",
    "budget_ratio",
    "compare",
    "disclosure_bound",
    "disclosure_risk",
    "epsilon_for",
    "epsilon_for_rank_error",
    "epsilon_for_risk",
    "epsilon_for_threshold",
    "error_bound",
    "error_distribution",
    "error_quantile",
    "error_tail",
    "error_variance",
    "expected_error",
    "expected_error_bound",
    "optimal_mechanism",
    "optimality_ratio",
    "permute_and_flip_dual",
    "permute_and_flip_threshold",
    "rank_error",
    "recommend",
    "recommend_threshold",
    "threshold_errors",
    "worst_case",
    "worst_case_error",
    "worst_case_lower_bound",
    "worst_case_tail",
]
