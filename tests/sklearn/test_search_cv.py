"""``PrivateSearchCV``: parallel over people, only bounded scores, the best of a random number of fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is absent")

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, make_scorer

from discreet import ZCDP, ApproxDP, BoundedRange, PermuteAndFlip, PureDP, Scores
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.sklearn import PrivateSearchCV
from discreet.sklearn.search_cv import _count_right
from discreet.tuning import Fixed, Geometric, cost_of_tuning

RUNS = Geometric(mean=10)


class CutVote(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The most common of two public labels on each side of a public cut: one person is on one side."""

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


def _search(**changes: Any) -> PrivateSearchCV:
    given: dict[str, Any] = {"cost": PureDP(1), "runs": RUNS, "score_epsilon": 1}
    settings = {"feature": [20, 22, 23, 27], "cut": [0.1, 0.15, 15.0, 17.0, 100.0, 880.0]}
    return PrivateSearchCV(CutVote(epsilon=1), settings, **given | changes)


def test_a_whole_search_on_data_of_scikit_learn(tmp_path: Path) -> None:
    """Forty runs in the mean: with all but a chance of 1e-9 one is better than the constant answer's 0.63."""
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
    """A row that makes ``predict`` fail for everybody at once is told wrong, and the others as before."""
    model = CutVote(feature=0, cut=0.5).fit(np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20))
    rows = np.array([[0.0], [1.0], [0.0], [1.0]])
    labels = model.predict(rows)
    rule = lambda label, guess: label == guess  # noqa: E731 - a rule is a function
    assert _count_right(model, rows, labels, rule) == 4
    broken = rows.copy()
    broken[1] = np.nan
    assert _count_right(model, broken, labels, rule) == 3
    odd = np.array([0, {"no": "label"}, 0, 1], dtype=object)
    assert 3 >= _count_right(model, rows, odd, lambda label, guess: 1 / (label == guess)) >= 0


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
