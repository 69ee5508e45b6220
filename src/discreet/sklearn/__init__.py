"""Choices for scikit-learn that say nothing of any one row: ``PrivateSelectKBest``, ``PrivateSearchCV``."""

from discreet.sklearn.rows import rows_told_right
from discreet.sklearn.search_cv import NotPrivateWarning, PrivateSearchCV
from discreet.sklearn.select_k_best import PrivateSelectKBest

__all__ = ["NotPrivateWarning", "PrivateSearchCV", "PrivateSelectKBest", "rows_told_right"]
