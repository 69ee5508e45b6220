"""``PrivateSelectKBest``: a private version of scikit-learn's ``SelectKBest``.

The features are chosen by private top-k. One row changes a feature's score by at most a stated amount. The
scores are not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.exact import positive, positive_distance, refuse, whole
from discreet._exact.sampling import SecureBits
from discreet._tables.engines import quietly
from discreet.errors import ParameterError, missing_extra
from discreet.guarantees import PureDP
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.costs import event_of
from discreet.questions.run import AnyLedger, paid, require_counted
from discreet.questions.top_k import PEELING, way_to_choose
from discreet.scores import Scores
from discreet.sklearn.rows import (
    as_array,
    classes_between,
    classes_of,
    finite,
    is_continuous,
    rows_told_right,
    said_yes,
)

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import (
        check_array,
        check_consistent_length,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )
except ImportError:
    raise missing_extra("PrivateSelectKBest needs scikit-learn", extra="sklearn") from None

__all__ = ["PrivateSelectKBest"]

ALL = "all"


class PrivateSelectKBest(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Choose k features privately, by a score with bounded sensitivity. Each row is one person.

    Each feature is cut at a public ``threshold`` into yes and no. Its score is the number of rows that the
    best rule on this feature alone gets right (``rows_told_right``). The threshold must lie inside the
    feature's range: if all rows are on one side, features are chosen at random. With ``score_func``, the user
    provides the scores as ``score_func(X, y)``, one for each feature. ``sensitivity`` and ``monotonic`` then
    describe how one row changes them.

    The noise is drawn afresh for every fit, without a seed, so two fits may differ (the tag
    ``non_deterministic``). Only the choice of features is stored, not the scores or anything else about the
    rows.

    No value in a row raises an error, but declared types and shapes may. A cell that is not a number and does
    not spell one counts as NaN, which is "no"; ±∞ are numbers. A row does not count if its label is missing
    (None, NaN) or is neither text nor a whole number. A table without rows gives an answer like any other.
    ``score_func`` gets only rows with a label, and 0 for every cell that is not a finite number. The user
    promises that it never raises and that one row changes a score by at most ``sensitivity``. A sparse table
    stays sparse and costs the same ε.

    A target declared as floats is refused, unless ``target_edges`` cut it into classes at public numbers. A
    list declares no type, so a number with a fraction in a list counts as a missing label.

    Earlier steps of a pipeline, such as a scaler or an imputer, also read the rows. scikit-learn's own steps
    are not private, and nothing counts what they reveal. Scale by public numbers, with
    ``FunctionTransformer``, or give ``threshold`` in the units of the data.

    Args:
        k: the number of features to keep; keeping all (``"all"``, or a number that is large enough) costs
            nothing.
        epsilon: the cost of one fit.
        threshold: the public number at which a feature is cut: one for all features, or one for each. It has
            no default, because no number lies inside every feature's range.
        target_edges: public numbers in ascending order that cut a continuous ``y`` into classes; a value
            equal to an edge belongs to the class above it.
        score_func: your own score function.
        sensitivity: for ``score_func``: Δ, the most by which one row changes any score.
        monotonic: for ``score_func``: whether adding a row changes all scores in the same direction.
        neighbours: how two neighbouring tables differ in one row: ``"add-remove"`` or ``"replace"``.
        mechanism: for peeling: a registered name or a mechanism; permute-and-flip by default.
        method: ``"peeling"`` or ``"one-shot"``.
        ledger: the ledger that counts the budget of ``dataset``, or its address. Without one, nothing is
            counted, and ``entry_`` is None.
        dataset: the data set's name in the ledger.

    Attributes:
        guarantee_: the cost of the fit.
        entry_: the ledger's entry; None without a ledger.

    Example:
        >>> rows = np.arange(400)
        >>> X = np.column_stack([rows % 2, rows % 3 == 0, rows % 5 == 0])
        >>> selector = PrivateSelectKBest(k=1, epsilon=2, threshold=0.5).fit(X, rows % 2)
        >>> selector.get_support(indices=True), selector.guarantee_
        (array([0]), PureDP(2))
    """

    def __init__(
        self,
        k: int | str = 10,
        *,
        epsilon: object = 1.0,
        threshold: object = None,
        target_edges: object = None,
        score_func: Callable[[Any, Any], Any] | None = None,
        sensitivity: object = None,
        monotonic: bool = False,
        neighbours: str = ADD_REMOVE.value,  # scikit-learn expects plain text
        mechanism: object = None,
        method: str = PEELING,
        ledger: AnyLedger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.k = k
        self.epsilon = epsilon
        self.threshold = threshold
        self.target_edges = target_edges
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
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's own name
        """Spend the budget, compute the scores and choose; store only the choice of features."""
        wanted = None if self.k == ALL else whole("k", self.k)
        epsilon = positive("epsilon", self.epsilon)
        neighbours = Neighbours.named(self.neighbours)
        require_counted(self.ledger, self.dataset)
        statement = self._statement(neighbours)
        self._edges()
        X, y = self._table(X, y)  # noqa: N806 - as above
        features = X.shape[1]
        if wanted is None or wanted >= features:
            # All features are chosen whatever the rows contain, so nothing is released and nothing is spent.
            self.guarantee_, self.entry_ = PureDP(0), None
            self._support = np.ones(features, dtype=bool)
            return self
        cut = None if self.score_func is not None else self._cut(features)
        form = Scores(np.zeros(features, dtype=np.int64), **statement)
        choose, part, name = way_to_choose(
            self.method, self.mechanism, epsilon, wanted, form.range_distance
        )
        event = event_of([part], mechanism=name, neighbours=neighbours)

        def work() -> list[int]:
            values = quietly(
                lambda: self._scores(X, y, cut),
                doing="scoring features",
                foreign=self.score_func is not None,
            )
            scores = Scores(values, **statement)
            if len(scores) != features:
                raise ParameterError("score_func must give one score for each feature")
            return next(iter(choose(scores.values[None, :], SecureBits())))

        chosen, terms = paid(
            event,
            f"choice of {wanted} features",
            work,
            ledger=self.ledger,
            dataset=self.dataset,
        )
        self.guarantee_, self.entry_ = terms["guarantee"], terms["entry"]
        self._support = np.zeros(features, dtype=bool)
        self._support[chosen] = True
        return self

    def _statement(self, neighbours: str) -> dict[str, Any]:
        if self.score_func is None:
            if self.sensitivity is not None or self.monotonic:
                raise ParameterError(
                    "sensitivity and monotonic can only be used with score_func: the usual score has its own"
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
        if self.threshold is None:
            raise ParameterError(
                "⟨threshold⟩ must be given: a public number inside the range of every feature, or one for "
                "each; where all rows are on one side of it, the choice is random"
            )
        cut = np.asarray(self.threshold, dtype=np.float64)
        if cut.shape not in ((), (features,)) or not np.isfinite(cut).all():
            raise refuse("threshold", self.threshold, "one finite number, or one for each feature")
        return cut

    def _edges(self) -> NDArray[np.float64] | None:
        if self.target_edges is None:
            return None
        if self.score_func is not None:
            raise ParameterError("⟨target_edges⟩ cannot be combined with ⟨score_func⟩")
        try:
            edges = np.asarray(self.target_edges, dtype=np.float64)
        except (TypeError, ValueError):
            edges = np.empty(0)
        if (
            edges.ndim != 1
            or not edges.size
            or not np.isfinite(edges).all()
            or (np.diff(edges) <= 0).any()
        ):
            raise refuse("target_edges", self.target_edges, "finite numbers in rising order")
        return edges

    def _table(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:  # noqa: N803 - as above
        """Check names, shapes and declared types; return X (may be sparse) and y as arrays; read no cell."""
        validate_data(self, X, y, skip_check_array=True)
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None")
        checked: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}
        table = check_array(
            X if hasattr(X, "tocsr") else as_array("X", X, dimensions=2),
            accept_sparse="csr",
            ensure_min_samples=0,
            estimator=self,
            input_name="X",
            **checked,
        )
        labels = column_or_1d(as_array("y", y, dimensions=1), warn=True)
        check_consistent_length(table, labels)
        if self.score_func is None and self.target_edges is None and is_continuous(y):
            raise ParameterError(
                "y is declared as floats, so every value would be a class of its own: give whole numbers, "
                "text or ⟨target_edges⟩, public numbers at which it is cut into classes"
            )
        return table, labels

    def _scores(self, X: Any, y: NDArray[Any], cut: NDArray[np.float64] | None) -> Any:  # noqa: N803
        if not isinstance(X, np.ndarray):
            X = X.copy()  # noqa: N806 - as above
            X.sum_duplicates()
        if cut is not None:
            edges = self._edges()
            target = y if edges is None else classes_between(y, edges)
            return rows_told_right(said_yes(X, cut), target)
        assert self.score_func is not None
        labelled = classes_of(y, fractions=True) >= 0
        return np.asarray(self.score_func(finite(X[labelled]), y[labelled]))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "guarantee_")
        return self._support
