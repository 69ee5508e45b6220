"""Private selection for scikit-learn: features, parameters and models."""

from discreet.sklearn.model_choice import PrivateModelChoice
from discreet.sklearn.rows import rows_told_right
from discreet.sklearn.search_cv import NotPrivateWarning, PrivateSearchCV
from discreet.sklearn.select_k_best import PrivateSelectKBest

__all__ = [
    "NotPrivateWarning",
    "PrivateModelChoice",
    "PrivateSearchCV",
    "PrivateSelectKBest",
    "rows_told_right",
]
