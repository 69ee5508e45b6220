"""Feature selection for scikit-learn that says nothing of any one row: ``PrivateSelectKBest``.

The features are chosen by private top-k over a score that one row moves by at most a stated amount. The
scores are not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Event
from discreet.errors import MissingExtraError, ParameterError
from discreet.exact_numbers import positive, positive_distance, refuse, whole
from discreet.guarantees import PureDP
from discreet.questions.asking import Asker, Ledger, mechanism_at
from discreet.questions.neighbours import ADD_REMOVE, relation
from discreet.questions.top_k import ONE_SHOT, PEELING, one_shot, peel
from discreet.scores import Scores
from discreet.tables.quiet import quietly

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError(
        "PrivateSelectKBest needs scikit-learn: pip install 'discreet[sklearn]'"
    ) from None

__all__ = ["PrivateSelectKBest", "rows_told_right"]


def rows_told_right(features: NDArray[np.bool_], target: NDArray[Any]) -> NDArray[np.int64]:
    """For each yes-or-no feature, how many rows the best rule "yes means this, no means that" gets right.

    Σ over yes and no of the size of the largest class. One row more raises each by 0 or 1, so Δ = 1 and the
    scores are monotonic under adding or removing a row; replacing a row changes each by at most 1.

    Example:
        >>> features = np.array([[True, True], [True, False], [False, True], [False, False]])
        >>> rows_told_right(features, np.array(["a", "a", "b", "b"])).tolist()
        [4, 2]
    """
    _, classes = np.unique(target, return_inverse=True)
    sizes = np.bincount(classes)
    # Classes are told apart one at a time, so that memory does not grow with their number.
    most_yes = np.zeros(features.shape[1], dtype=np.int64)
    most_no = np.zeros(features.shape[1], dtype=np.int64)
    order = np.argsort(classes, kind="stable")
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        yes = np.count_nonzero(features[order[start:end]], axis=0)
        np.maximum(most_yes, yes, out=most_yes)
        np.maximum(most_no, (end - start) - yes, out=most_no)
    return most_yes + most_no


class PrivateSelectKBest(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Choose k features by a score of bounded sensitivity, privately. A row is one person's.

    By default a feature is cut at a public ``threshold`` into yes and no, and its score is the number of
    rows that the best rule on this feature alone tells right (``rows_told_right``). With ``score_func`` the
    scores are the user's own, ``score_func(X, y)``, one for each feature, and ``sensitivity`` and
    ``monotonic`` say how far one row moves them.

    The noise is fresh for every fit and takes no seed, so two fits may differ (the tag
    ``non_deterministic``). NaN counts as "no" and never raises. Neither the scores nor anything else about
    the rows is kept: only which features were chosen.

    Args:
        k: how many features; all of them if there are no more.
        epsilon: what one fit costs.
        threshold: the public cut of each feature: one number, or one for each.
        score_func: a score of one's own.
        sensitivity: for ``score_func``: Δ, the most by which one row changes any one score.
        monotonic: for ``score_func``: whether one row moves all scores the same way when added.
        neighbours: ``"add-remove"`` one row, or ``"replace"`` one.
        mechanism: for peeling: a registered name or a mechanism; permute-and-flip by default.
        method: ``"peeling"`` or ``"one-shot"``.
        ledger: who counts the budget of ``dataset``; None if nobody does.
        dataset: the data set's name in the ledger.

    Attributes:
        guarantee_: what the fit cost.
        entry_: the ledger's entry, or None.

    Example:
        >>> rows = np.arange(400)
        >>> X = np.column_stack([rows % 2, rows % 3 == 0, rows % 5 == 0])
        >>> selector = PrivateSelectKBest(k=1, epsilon=2, threshold=0.5).fit(X, rows % 2)
        >>> selector.get_support(indices=True), selector.guarantee_
        (array([0]), PureDP(2))
    """

    def __init__(
        self,
        k: int = 10,
        *,
        epsilon: object = 1.0,
        threshold: object = 0.0,
        score_func: Callable[[Any, Any], Any] | None = None,
        sensitivity: object = None,
        monotonic: bool = False,
        neighbours: str = ADD_REMOVE,
        mechanism: object = None,
        method: str = PEELING,
        ledger: Ledger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.k = k
        self.epsilon = epsilon
        self.threshold = threshold
        self.score_func = score_func
        self.sensitivity = sensitivity
        self.monotonic = monotonic
        self.neighbours = neighbours
        self.mechanism = mechanism
        self.method = method
        self.ledger = ledger
        self.dataset = dataset

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's own name
        """Spend, score, choose; keep only which features were chosen."""
        wanted = whole("k", self.k)
        epsilon = positive("epsilon", self.epsilon)
        neighbours = relation(self.neighbours)
        asker = Asker(self.ledger, self.dataset)
        statement = self._statement(neighbours)
        X, y = validate_data(  # noqa: N806 - as above
            self, X, y, ensure_all_finite="allow-nan", dtype="numeric", multi_output=False
        )
        features = X.shape[1]
        self.guarantee_ = PureDP(epsilon)
        self.entry_ = None
        if wanted >= features:
            # Everything is chosen whatever the rows say: nothing is released and nothing is spent.
            self.guarantee_ = PureDP(0)
            self._support = np.ones(features, dtype=bool)
            return self
        cut = self._cut(features)
        form = Scores(np.zeros(features, dtype=np.int64), **statement)
        if self.method == PEELING:
            made = mechanism_at(self.mechanism, epsilon / wanted)
            event = Event(
                made.promise_at(form.range_distance),
                mechanism=made.name,
                count=wanted,
                neighbours=neighbours,
            )
        elif self.method == ONE_SHOT:
            event = Event(
                PureDP(epsilon), mechanism="one-shot exponential noise", neighbours=neighbours
            )
        else:
            raise refuse("method", self.method, f'"{PEELING}" or "{ONE_SHOT}"')

        def work() -> list[int]:
            values = quietly(lambda: self._scores(X, y, cut), doing="scoring features")
            scores = Scores(values, **statement)
            if len(scores) != features:
                raise ParameterError("score_func must give one score for each feature")
            return (
                peel(scores, made, wanted)
                if self.method == PEELING
                else one_shot(scores, epsilon, wanted)
            )

        chosen, self.entry_ = asker.spending(event, f"choice of {wanted} features", work)
        self._support = np.zeros(features, dtype=bool)
        self._support[chosen] = True
        return self

    def _statement(self, neighbours: str) -> dict[str, Any]:
        if self.score_func is None:
            if self.sensitivity is not None or self.monotonic:
                raise ParameterError(
                    "sensitivity and monotonic go with score_func: the usual score has its own"
                )
            return {"sensitivity": 1, "monotonic": neighbours == ADD_REMOVE}
        if self.sensitivity is None:
            raise ParameterError(
                "score_func needs sensitivity: the most by which one row changes any one score"
            )
        return {
            "sensitivity": positive_distance("sensitivity", self.sensitivity),
            "monotonic": self.monotonic,
        }

    def _cut(self, features: int) -> NDArray[np.float64]:
        cut = np.asarray(self.threshold, dtype=np.float64)
        if cut.shape not in ((), (features,)) or not np.isfinite(cut).all():
            raise refuse("threshold", self.threshold, "one finite number, or one for each feature")
        return cut

    def _scores(self, X: Any, y: Any, cut: NDArray[np.float64]) -> Any:  # noqa: N803 - as above
        if self.score_func is not None:
            return np.asarray(self.score_func(X, y))
        with np.errstate(invalid="ignore"):
            return rows_told_right(cut < X, y)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "guarantee_")
        return self._support
