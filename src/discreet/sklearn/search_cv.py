"""``PrivateSearchCV``: a parameter search like scikit-learn's, for estimators that are themselves private."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.exact import positive, probability, refuse
from discreet._exact.sampling import biased_coins
from discreet._exact.sampling.bits import Bits, SecureBits, uniform_below
from discreet._exact.sampling.discrete_noise import discrete_laplace
from discreet.errors import ParameterError, missing_extra
from discreet.guarantees import ZCDP, PureDP
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.run import AnyLedger
from discreet.sklearn.rows import as_array, people_told_right, require_table
from discreet.tuning.choose import choose_run
from discreet.tuning.laws import Fixed, RunCount
from discreet.tuning.profiles import in_parallel, profile_of

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
    from sklearn.utils import _safe_indexing, get_tags, indexable
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise missing_extra("PrivateSearchCV needs scikit-learn", extra="sklearn") from None

ACCURACY = "accuracy"


class NotPrivateWarning(UserWarning):
    """A search uses one of scikit-learn's own estimators, whose ``fit`` is not private.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", NotPrivateWarning)  # to stop before anything is spent
    """


def _of_the_winner(name: str, words: str) -> Any:
    """Return a method that calls the winner's method ``name``; it is hidden if the estimator has none."""

    def method(self: PrivateSearchCV, X: Any) -> Any:  # noqa: N803 - scikit-learn's own name
        return getattr(self._winner(), name)(X)

    method.__name__, method.__doc__ = name, words
    method.__qualname__ = f"PrivateSearchCV.{name}"
    return available_if(lambda search: hasattr(search.estimator, name))(method)


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Random search over parameters at its true privacy cost. Each row is one person.

    Use it where you would use ``RandomizedSearchCV``, with an estimator whose ``fit`` is itself private.
    People are split once into a training part and a held-out part, by an independent coin for each person.
    There are no folds. Every run draws parameters, fits on the training part, and counts, with exact noise,
    the held-out people that its model predicts correctly. Each person is in only one part, so a run costs the
    larger of its two costs (fit and count), not their sum. The best of a random number of runs is kept;
    ``discreet.tuning.cost_of_tuning`` computes what this costs. Nothing is refitted, because that would cost
    more.

    One person changes a count of people by at most one, so ``scoring`` must be "accuracy", or a function of
    one person's label and prediction that returns yes or no. Any other scorer is refused.

    The caller promises that the cost of ``fit``, including its error messages, is at most ``cost``, and that
    ``predict`` handles each row independently of the others. scikit-learn's own estimators and scalers break
    this promise: ``fit`` then warns (``NotPrivateWarning``), and ``guarantee_`` does not hold. A row that
    cannot be predicted counts as wrong. ``X`` and ``y`` can be refused only for their shape or declared type,
    before anything is spent.

    The search is a classifier if the estimator is one. It works in pipelines, ensembles, calibration and
    cross-validation, but each fit that they make is a separate search and is paid for again: five folds on
    one data set cost five searches. Copies of a search, even in other processes, use the same ledger.

    Args:
        estimator: the estimator, private at ``cost`` for every parameter that may be drawn.
        param_distributions: a dictionary that gives each parameter a list or an object with ``rvs``; or a
            list of settings.
        cost: the cost of one fit: a guarantee, a list of releases, or an event of dp-accounting.
        runs: the distribution of the number of runs.
        scoring: "accuracy", or a function of a label and a prediction.
        score_epsilon: ε of the noisy count of each run.
        held_out: the chance that a person is held out. With None, runs are scored on the training people, and
            the costs of fit and count add up.
        delta: the δ allowed, for fits that are not purely private.
        neighbours: how two neighbouring tables differ in one row: ``"add-remove"`` or ``"replace"``.
        ledger: the ledger that counts the budget of ``dataset``, or its address. Without one, nothing is
            counted, and ``entry_`` is None.
        dataset: the data set's name in the ledger.

    Attributes:
        best_estimator_: the fitted winner; None if every run failed or there were no runs.
        best_params_: the winner's parameters.
        best_score_: the noisy number of held-out people that it predicted correctly; it may be negative.
        guarantee_: the cost of the search.
        entry_: the ledger's entry; None without a ledger.
        n_features_in_: the number of columns of ``X``; ``feature_names_in_`` has their names.

    Example:
        >>> import numpy as np
        >>> from sklearn.base import BaseEstimator, ClassifierMixin
        >>> from discreet.tuning import Geometric
        >>> class Always(ClassifierMixin, BaseEstimator):
        ...     "Reads no row, so that its fit costs nothing."
        ...     def __init__(self, label=0):
        ...         self.label = label
        ...     def fit(self, X, y):
        ...         return self
        ...     def predict(self, X):
        ...         return np.full(len(X), self.label)
        >>> search = PrivateSearchCV(
        ...     Always(), {"label": [0, 1]}, cost=PureDP(0), runs=Geometric(mean=10), score_epsilon=1)
        >>> X, y = np.zeros((400, 1)), np.ones(400, dtype=int)
        >>> search.fit(X, y).guarantee_ < PureDP(3)
        True
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        cost: object,
        runs: RunCount,
        scoring: object = ACCURACY,
        score_epsilon: object = 1.0,
        held_out: object = 0.25,
        delta: object = None,
        neighbours: str = ADD_REMOVE.value,  # scikit-learn expects plain text
        ledger: AnyLedger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.cost = cost
        self.runs = runs
        self.scoring = scoring
        self.score_epsilon = score_epsilon
        self.held_out = held_out
        self.delta = delta
        self.neighbours = neighbours
        self.ledger = ledger
        self.dataset = dataset

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "input_tags"):
            setattr(tags, name, deepcopy(getattr(inner, name)))
        tags.target_tags.required = True
        tags.non_deterministic = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - scikit-learn's own name
        """Spend the budget, split the people, make the runs, and keep only the best."""
        told_right = _rule(self.scoring)
        epsilon = positive("score_epsilon", self.score_epsilon)
        cost = self._cost_of_a_run(epsilon)
        draw = self._drawer()
        X, y, labels = self._checked(X, y)  # noqa: N806 - as above
        _warn_unless_private(self.estimator)
        bits = SecureBits()
        train, test = self._parts(len(labels), bits)

        def run(setting: dict[str, Any]) -> tuple[int, tuple[Any, int]]:
            model = clone(self.estimator).set_params(**setting)
            model.fit(_safe_indexing(X, train), _safe_indexing(y, train))
            right = people_told_right(model, _safe_indexing(X, test), labels[test], told_right)
            noisy = right + discrete_laplace(bits, 1 / epsilon)
            return noisy, (model, noisy)

        best = choose_run(
            run,
            lambda: draw(bits),
            cost=cost,
            runs=self.runs,
            delta=self.delta,
            neighbours=Neighbours.named(self.neighbours),
            ledger=self.ledger,
            dataset=self.dataset,
            purpose="search for parameters",
        )
        self.best_params_ = best.setting
        winner: tuple[Any, int | None] = best.result or (None, None)
        self.best_estimator_, self.best_score_ = winner
        self.guarantee_, self.entry_ = best.guarantee, best.entry
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any, NDArray[Any]]:  # noqa: N803 - as above
        """Check only the shape and declared type of X and y; return X, y, and y as an array of labels."""
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None")
        X, y = indexable(X, y)  # noqa: N806 - as above
        tags = get_tags(self).input_tags
        if tags.pairwise:
            raise ParameterError(
                "estimator: one that takes distances between rows is not allowed, because a column of X is "
                "then another person's"
            )
        dimensions = {2} | _further_dimensions(self.estimator)
        require_table(X, dimensions=dimensions, sparse=tags.sparse)
        labels = column_or_1d(as_array("y", y, dimensions=1), warn=True)
        validate_data(self, X, skip_check_array=True)
        return X, y, labels

    def _cost_of_a_run(self, epsilon: Fraction) -> object:
        score = PureDP(epsilon)
        if self.held_out is None:
            if isinstance(self.cost, ZCDP):
                return [self.cost, score.to(ZCDP)]
            return [*(self.cost if isinstance(self.cost, Iterable) else [self.cost]), score]
        if isinstance(self.cost, PureDP):
            # Each person is in only one part, so the larger of the two guarantees is enough.
            return max(self.cost, score)
        if isinstance(self.runs, Fixed):
            raise refuse("runs", self.runs, "random, for fits that are not stated as PureDP")
        return in_parallel(profile_of(self.cost), profile_of(score))

    def _parts(self, people: int, bits: Bits) -> tuple[NDArray[Any], NDArray[Any]]:
        """Split people by independent coins; return the row numbers of the training and the held-out part."""
        everyone = np.arange(people)
        if self.held_out is None:
            return everyone, everyone
        held = biased_coins(bits, self._share(), count=people)
        return everyone[~held], everyone[held]

    def _share(self) -> Fraction:
        share = probability("held_out", self.held_out)
        if not 0 < share < 1:
            raise refuse("held_out", self.held_out, "a number between 0 and 1, or None")
        return share

    def _drawer(self) -> Callable[[Bits], dict[str, Any]]:
        """Return a function that draws a setting; try it once, so that errors come before any spending."""
        if self.held_out is not None:
            self._share()
        draw = _draws(self.param_distributions)
        try:
            clone(self.estimator).set_params(**draw(SecureBits()))
        except (TypeError, ValueError) as error:
            raise ParameterError(f"⟨param_distributions⟩: {error}") from None
        return draw

    predict = _of_the_winner("predict", "Return the winner's predictions.")
    predict_proba = _of_the_winner("predict_proba", "Return the winner's class probabilities.")
    predict_log_proba = _of_the_winner(
        "predict_log_proba", "Return the logarithms of the winner's class probabilities."
    )
    decision_function = _of_the_winner(
        "decision_function", "Return the winner's decision function."
    )

    @available_if(lambda search: hasattr(search.estimator, "predict"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:  # noqa: N803 - as above
        """Return the share of rows that the winner predicts correctly, by ``scoring``. **Not private**.

        It reads the rows without noise and spends no budget, so use it only on public rows.
        """
        told_right, labels = (
            _rule(self.scoring),
            column_or_1d(as_array("y", y, dimensions=1)).tolist(),
        )
        predicted = as_array("predictions", self.predict(X), dimensions=1).tolist()
        return float(
            np.mean([bool(told_right(*pair)) for pair in zip(labels, predicted, strict=True)])
        )

    @property
    def classes_(self) -> Any:
        """The classes of the winning estimator."""
        return self._winner().classes_

    def _winner(self) -> Any:
        check_is_fitted(self, "guarantee_")
        if self.best_estimator_ is None:
            raise ParameterError("the search ended with the answer none: there is no estimator")
        return self.best_estimator_


def _rule(scoring: object) -> Callable[[Any, Any], Any]:
    if scoring == ACCURACY:
        return lambda label, predicted: label == predicted
    foreign = str(getattr(scoring, "__module__", "")).partition(".")[0] == "sklearn"
    if not callable(scoring) or foreign:
        raise refuse(
            "scoring",
            scoring,
            f'"{ACCURACY}", or a function of one person\'s label and prediction that says yes or no: for '
            "other scores it is not known how far one person moves them",
        )
    return scoring


def _draws(given: Any) -> Callable[[Bits], dict[str, Any]]:
    if isinstance(given, Mapping) and given:
        columns = {name: _column(name, values) for name, values in given.items()}
        return lambda bits: {name: draw(bits) for name, draw in columns.items()}
    if (
        isinstance(given, list | tuple)
        and given
        and all(isinstance(each, Mapping) for each in given)
    ):
        return lambda bits: dict(given[uniform_below(bits, len(given))])
    raise refuse("param_distributions", given, "a dictionary of lists, or a list of settings")


def _column(name: str, values: Any) -> Callable[[Bits], Any]:
    if hasattr(values, "rvs"):
        return lambda bits: values.rvs(random_state=bits.integer(32))
    try:
        listed = list(values)
    except TypeError:
        listed = []
    if not listed or isinstance(values, str):
        raise refuse(
            "param_distributions", {name: values}, "a list for each parameter, or have rvs"
        )
    return lambda bits: listed[uniform_below(bits, len(listed))]


def _further_dimensions(estimator: Any) -> set[int]:
    """Return the numbers of dimensions that X may have besides 2, such as 1 if the estimator takes texts."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[0][1]
    tags = get_tags(estimator).input_tags
    one = tags.one_d_array or tags.string or tags.dict
    return ({1} if one else set()) | ({3} if tags.three_d_array else set())


def _warn_unless_private(estimator: Any) -> None:
    """Warn if a part of the estimator is scikit-learn's own and learns from rows, which is not private."""
    parts = [estimator, *estimator.get_params(deep=True).values()]
    own = sorted(
        {
            type(part).__name__
            for part in parts
            if type(part).__module__.partition(".")[0] == "sklearn"
            and hasattr(part, "fit")
            # An estimator that only combines others learns nothing itself.
            and not any(hasattr(inner, "fit") for inner in part.get_params(deep=True).values())
            and get_tags(part).requires_fit
        }
    )
    if own:
        warnings.warn(
            f"{', '.join(own)}: scikit-learn's own fit is not private, so guarantee_ does not "
            "hold; give an estimator whose fit is private at the stated cost",
            NotPrivateWarning,
            stacklevel=3,
        )
