"""``PrivateSearchCV``: disjoint people for fit and score, bounded scores, a random number of fits."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is absent")

from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from discreet import ZCDP, ApproxDP, BoundedRange, PermuteAndFlip, PureDP, Scores
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.sklearn import NotPrivateWarning, PrivateSearchCV
from discreet.sklearn.rows import people_told_right
from discreet.tuning import Fixed, Geometric, cost_of_tuning

RUNS = Geometric(mean=10)


class CutVote(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the most common of two public labels on each side of a public cut."""

    def __init__(self, epsilon: float = 1.0, feature: int = 0, cut: float = 0.0) -> None:
        self.epsilon = epsilon
        self.feature = feature
        self.cut = cut

    def fit(self, X: Any, y: Any) -> CutVote:  # noqa: N803 - scikit-learn's own name
        chooser = PermuteAndFlip(epsilon=self.epsilon)
        above = X[:, self.feature] > self.cut
        self.votes_ = [
            chooser.select(
                Scores(
                    {label: int(np.sum((above == side) & (y == label))) for label in (0, 1)},
                    sensitivity=1,
                    monotonic=True,
                )
            )
            for side in (False, True)
        ]
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803 - as above
        if not np.isfinite(X).all():
            raise ValueError("a value of the row")
        return np.where(X[:, self.feature] > self.cut, self.votes_[1], self.votes_[0])


class Always(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the same answer for everyone, as a list."""

    def __init__(self, answer: int = 0) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> Always:  # noqa: N803 - scikit-learn's own name
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803 - as above
        return [self.answer] * len(X)


def _search(**changes: Any) -> PrivateSearchCV:
    given: dict[str, Any] = {"cost": PureDP(1), "runs": RUNS, "score_epsilon": 1}
    settings = {"feature": [20, 22, 23, 27], "cut": [0.1, 0.15, 15.0, 17.0, 100.0, 880.0]}
    return PrivateSearchCV(CutVote(epsilon=1), settings, **given | changes)


def test_a_whole_search_on_data_of_scikit_learn(tmp_path: Path) -> None:
    """With forty runs on average, one beats the constant answer's 0.63, except with probability 1e-9."""
    X, y = load_breast_cancer(return_X_y=True)  # noqa: N806 - as above
    with Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        ledger.create("tumours", PureDP(3))
        search = _search(runs=Geometric(mean=40), ledger=ledger, dataset="tumours").fit(X, y)
        assert search.entry_ is not None
    assert search.guarantee_ == cost_of_tuning(PureDP(1), runs=Geometric(mean=40))
    assert set(search.best_params_) == {"feature", "cut"}
    assert isinstance(search.best_score_, int)
    assert search.predict(X).shape == y.shape
    assert list(search.classes_) == [0, 1]
    assert clone(_search()).get_params()["cost"] == PureDP(1)


def test_the_dearer_of_fit_and_score_is_paid_not_both() -> None:
    X, y = np.zeros((60, 28)), np.arange(60) % 2  # noqa: N806 - as above
    for score, expected in (("0.5", 1), (2, 2)):
        found = _search(score_epsilon=score).fit(X, y).guarantee_
        assert found == cost_of_tuning(PureDP(expected), runs=RUNS)
    both = _search(held_out=None).fit(X, y).guarantee_
    assert isinstance(both, PureDP)
    assert both == cost_of_tuning(PureDP(2), runs=RUNS)


def test_fits_in_other_measures() -> None:
    X, y = np.zeros((60, 28)), np.arange(60) % 2  # noqa: N806 - as above
    for cost in (ZCDP("0.1"), ApproxDP(1, "1e-8"), BoundedRange(1), [BoundedRange("0.1")] * 5):
        found = _search(cost=cost, score_epsilon="0.1", delta="1e-5").fit(X, y).guarantee_
        alone = cost_of_tuning(cost, runs=RUNS, delta="1e-5")
        assert isinstance(found, ApproxDP)
        assert isinstance(alone, ApproxDP)
        assert alone.epsilon * 0.999 <= found.epsilon <= alone.epsilon * 1.05
    paid = _search(cost=ZCDP("0.1"), held_out=None, delta="1e-5").fit(X, y).guarantee_
    more = cost_of_tuning([ZCDP("0.1"), PureDP(1).to(ZCDP)], runs=RUNS, delta="1e-5")
    assert paid == more


def test_one_person_moves_the_count_by_one_whatever_the_row_holds() -> None:
    """A row that makes ``predict`` fail for all rows counts as wrong; the others are unaffected."""
    model = CutVote(feature=0, cut=0.5).fit(np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20))
    rows = np.array([[0.0], [1.0], [0.0], [1.0]])
    labels = model.predict(rows)
    rule = lambda label, guess: label == guess  # noqa: E731 - a rule is a function
    assert people_told_right(model, rows, labels, rule) == 4
    broken = rows.copy()
    broken[1] = np.nan
    assert people_told_right(model, broken, labels, rule) == 3
    odd = np.array([0, {"no": "label"}, 0, 1], dtype=object)
    assert 3 >= people_told_right(model, rows, odd, lambda label, guess: 1 / (label == guess)) >= 0


@pytest.mark.parametrize("odd", ["secret", None, b"", 2**64, 0.5, [1]])
def test_a_label_of_another_kind_counts_for_nobody_else(odd: Any) -> None:
    """A list has no declared type, and one string in it once turned a hundred whole numbers into strings."""
    given: dict[str, Any] = {"cost": PureDP(0), "runs": Fixed(1), "score_epsilon": 50}
    search = PrivateSearchCV(Always(), {"answer": [2**53 + 1]}, held_out=None, **given)
    # The noise is 0, except once in 10²¹ times.
    assert search.fit(np.zeros((101, 1)), [2**53 + 1] * 100 + [odd]).best_score_ == 100


@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "f1", None, 3, f1_score, make_scorer(f1_score)],
    ids=["a rank", "a ratio", "none", "a number", "a function", "a scorer"],  # no address in a name
)
def test_a_score_that_cannot_be_bounded_is_refused(scoring: Any) -> None:
    with pytest.raises(ParameterError, match="how far one person moves"):
        _search(scoring=scoring).fit(np.zeros((4, 28)), np.zeros(4))


def test_a_score_of_ones_own() -> None:
    X, y = np.zeros((200, 28)), np.ones(200)  # noqa: N806 - as above
    search = _search(scoring=lambda label, guess: abs(label - guess) <= 1, score_epsilon=8).fit(
        X, y
    )
    assert search.best_score_ is not None
    assert 10 < search.best_score_ < 120, "about a quarter are held out, and all are told right"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"held_out": 1}, "held_out"),
        ({"held_out": 0}, "held_out"),
        ({"score_epsilon": 0}, "score_epsilon"),
        ({"cost": PureDP(float("inf"))}, "finite"),
        ({"cost": ZCDP(1)}, "delta= is needed"),
        ({"cost": ZCDP(1), "runs": Fixed(3)}, "random"),
        ({"neighbours": "cousins"}, "neighbours"),
        ({"param_distributions": {"depth": [1]}}, "depth"),
        ({"param_distributions": {"cut": []}}, "a list for each parameter"),
        ({"param_distributions": "cut"}, "a dictionary of lists"),
    ],
)
def test_wrong_parameters_are_told_before_anything_is_spent(
    changes: dict[str, Any], words: str
) -> None:
    search = _search().set_params(**changes)
    with pytest.raises(ParameterError, match=words):
        search.fit(np.zeros((4, 28)), np.zeros(4))


def test_no_winner_predicts_nothing() -> None:
    class Failing(CutVote):
        def fit(self, X: Any, y: Any) -> CutVote:  # noqa: N803 - as above
            raise ValueError("patient 17")

    search = PrivateSearchCV(Failing(), [{"cut": 1.0}], cost=PureDP(1), runs=Fixed(2))
    search.fit(np.zeros((4, 1)), np.zeros(4))
    assert search.best_estimator_ is None
    with pytest.raises(ParameterError, match="none"):
        search.predict(np.zeros((1, 1)))


# ---- inside scikit-learn ---------------------------------------------------------------------


class Promised(LogisticRegression):  # type: ignore[misc]
    """A stand-in for a private estimator, for tests of everything around it."""


def _around(estimator: Any = None, **changes: Any) -> PrivateSearchCV:
    """Return a search that repeats itself except for its noise: all people train and are counted."""
    terms: dict[str, Any] = {"cost": PureDP(1), "runs": Fixed(1), "held_out": None}
    return PrivateSearchCV(estimator or Promised(), [{}], **terms | changes)


ROWS_DECIDE = {
    "check_dtype_object": "asks for an error where a cell is no number",
    "check_estimators_nan_inf": "asks for an error where a cell is NaN or infinite",
    "check_supervised_y_no_nan": "asks for an error where a label is infinite",
    "check_classifiers_regression_target": "asks for an error where labels are not whole numbers",
    "check_classifiers_one_label": "asks for an error, or a model, where all labels are the same",
    "check_estimators_empty_data_messages": "asks for an error where there are no rows",
}
"""Checks that are left out, with reasons: they make rows decide whether ``fit`` raises."""

SKIPPED_BY_TAG = {"check_pipeline_consistency": "non_deterministic"}
"""Checks that scikit-learn itself skips because of the estimator's tags."""


def _name(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("search", "check"),
    [
        pytest.param(search, check, id=f"{number}-{_name(check)}")
        for number, (search, check) in enumerate(estimator_checks_generator(_around()))
    ],
)
def test_estimator_checks(search: Any, check: Any) -> None:
    if _name(check) in ROWS_DECIDE:
        with pytest.raises((AssertionError, ParameterError)):  # so no entry is superfluous
            check(search)
        return
    try:
        check(search)
    except SkipTest as skipped:
        assert _name(check) in SKIPPED_BY_TAG or "ARRAY_API" in str(skipped)  # noqa: PT017 - it is no error


def _table() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)  # noqa: N806 - as above
    return (X[:200] - X.mean(axis=0)) / X.std(axis=0), y[:200]


USES = {
    "cross_val_score": lambda search, x, y: cross_val_score(
        search, x, y, cv=3, error_score="raise"
    ),
    "in other processes": lambda search, x, y: cross_val_score(
        search, x, y, cv=2, n_jobs=2, error_score="raise"
    ),
    "by probabilities": lambda search, x, y: cross_val_score(
        search, x, y, cv=3, scoring="roc_auc", error_score="raise"
    ),
    "cross_val_predict": lambda search, x, y: (
        cross_val_predict(search, x, y, cv=3, method="decision_function").shape == y.shape
    ),
    "score": lambda search, x, y: search.fit(x, y).score(x, y),
    "Pipeline.score": lambda search, x, y: (
        make_pipeline(StandardScaler(), search).fit(x, y).score(x, y)
    ),
    "calibration": lambda search, x, y: CalibratedClassifierCV(search, cv=2).fit(x, y).score(x, y),
    "voting": lambda search, x, y: (
        VotingClassifier([("a", search), ("b", clone(search))], voting="soft").fit(x, y).score(x, y)
    ),
    "stacking": lambda search, x, y: (
        StackingClassifier([("a", search)], Promised(), cv=2).fit(x, y).score(x, y)
    ),
    "bagging": lambda search, x, y: BaggingClassifier(search, 2).fit(x, y).score(x, y),
    "one versus the rest": lambda search, x, y: (
        OneVsRestClassifier(search).fit(x, y % 2 + (x[:, 0] > 1)).score(x, y % 2 + (x[:, 0] > 1))
    ),
    "a search around it": lambda search, x, y: (
        GridSearchCV(search, {"score_epsilon": [1, 2]}, cv=2, error_score="raise")
        .fit(x, y)
        .score(x, y)
    ),
}


@pytest.mark.parametrize("use", USES)
def test_it_works_inside_scikit_learn_with_a_ledger(use: str, tmp_path: Path) -> None:
    """With a linear model on two nearly separable classes, every use scores well above chance."""
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("tumours", PureDP(100))
        search = _around(ledger=ledger, dataset="tumours")
        assert np.mean(USES[use](search, *_table())) > 0.8
        assert len(ledger.history("tumours")) > 1
        assert ledger.verify("tumours").holds


def test_a_copy_and_a_pickle_take_the_ledger_along(tmp_path: Path) -> None:
    X, y = _table()  # noqa: N806 - as above
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("tumours", PureDP(100))
        search = clone(_around(ledger=ledger, dataset="tumours"))
        assert search.ledger is ledger
        fitted = pickle.loads(pickle.dumps(search.fit(X, y)))  # noqa: S301 - our own
        assert (fitted.predict(X) == search.predict(X)).all()
        assert fitted.entry_ == search.entry_
        assert fitted.fit(X, y).entry_.sequence == 3
        assert ledger.show("tumours").left == "ε = 96"


def test_what_it_is_and_has_follows_the_estimator() -> None:
    X, y = _table()  # noqa: N806 - as above
    assert is_classifier(_around())
    assert is_regressor(_around(LinearRegression()))
    search = _around()
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.fit(X, y)
    assert search.n_features_in_ == 30
    assert search.decision_function(X).shape == y.shape
    assert np.allclose(np.exp(search.predict_log_proba(X)), search.predict_proba(X))
    assert not hasattr(_around(CutVote()), "predict_proba")
    near = _around(Promised(), scoring=lambda label, guess: abs(label - guess) <= 1).fit(X, y)
    assert near.score(X, y) == 1, "the share of rows that the rule of the search calls right"


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.zeros((9, 2)), np.zeros((9, 2)), "1d array"),
        (np.zeros(9), np.zeros(9), "1 dimensions"),
        ([0.0] * 9, np.zeros(9), "1 dimensions"),
        (np.zeros((9, 2, 2)), np.zeros(9), "3 dimensions"),
        (np.zeros((9, 0)), np.zeros(9), "0 feature"),
        (np.zeros((9, 2)), np.zeros(8), "inconsistent numbers"),
        (np.zeros((9, 2)), None, "requires y"),
        (np.zeros((9, 2), dtype=complex), np.zeros(9), "Complex data"),
        (np.zeros((9, 2)), np.zeros(9, dtype="M8[D]"), "numbers, booleans or text"),
    ],
)
def test_public_mistakes_cost_nothing(X: Any, y: Any, words: str) -> None:  # noqa: N803 - as above
    class Never:
        def spend(self, *_: Any, **__: Any) -> None:
            raise AssertionError("spent")

        def fail(self, _: Any) -> None: ...

    with pytest.raises(ValueError, match=words):
        _around(ledger=Never(), dataset="x").fit(X, y)


def test_distances_between_people_are_refused() -> None:
    """A column would then belong to another person, and a row to more than one person."""
    with pytest.raises(ParameterError, match="another person's"):
        _around(KNeighborsClassifier(metric="precomputed")).fit(np.zeros((9, 9)), np.zeros(9))


def test_texts_are_one_column() -> None:
    texts, y = ["a cold", "the flu"] * 50, [0, 1] * 50
    search = _around(make_pipeline(HashingVectorizer(), Promised(C=100)))
    assert search.fit(texts, y).score(texts, y) == 1


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (LogisticRegression(), "LogisticRegression"),
        (make_pipeline(StandardScaler(), CutVote()), "StandardScaler"),
        (
            make_pipeline(CountVectorizer(), LogisticRegression()),
            "CountVectorizer, LogisticRegression",
        ),
        (VotingClassifier([("a", Promised()), ("b", LogisticRegression())]), "LogisticRegression"),
    ],
)
def test_an_estimator_that_is_not_private_is_warned_of(estimator: Any, named: str) -> None:
    """The warning comes before anything is spent, so turning it into an error stops the fit."""
    X, y = _table()  # noqa: N806 - as above
    with pytest.warns(NotPrivateWarning, match=f"^{named}: .* not private"):
        _around(estimator).fit(X, y)


@pytest.mark.parametrize(
    "estimator", [Promised(), CutVote(), make_pipeline(FunctionTransformer(), Promised())]
)
def test_no_warning_of_what_may_be_private(estimator: Any) -> None:
    X, y = _table()  # noqa: N806 - as above
    _around(estimator).fit(X, y)  # warnings are errors
