"""``PrivateModelChoice``: blocks cross-validate and vote, without assumptions about the models."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from discreet import PureDP
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.sklearn import PrivateModelChoice
from discreet.sklearn.model_choice import best_in_block

MODELS = {"bayes": GaussianNB(), "dummy": DummyClassifier()}


def blobs(rows: int = 240) -> tuple[Any, Any]:
    numbers = np.arange(rows)
    y = numbers % 2
    return np.column_stack([y + (numbers * 7 % 11) / 22, (numbers * 3 % 5) / 5]), y


def in_block(X: Any, y: Any, person: Any = None) -> pa.Table:  # noqa: N803 - scikit-learn's own name
    columns = {f"x{place}": X[:, place] for place in range(X.shape[1])} | {"target": y}
    return pa.table(columns if person is None else columns | {"person": person})


def test_the_better_model_wins_and_is_paid_for_once(tmp_path: Path) -> None:
    X, y = blobs()  # noqa: N806 - as above
    with Ledger.open(str(tmp_path / "budget.db")) as ledger:
        ledger.create("blobs", PureDP(9))
        choice = PrivateModelChoice(
            MODELS, epsilon=8, blocks=6, cv=2, people=240, ledger=ledger, dataset="blobs"
        )
        assert "6 blocks" in str(choice.plan(X, y))
        assert choice.fit(X, y).best_name_ == "bayes"
        assert ledger.show("blobs").left == "ε = 1"
    assert choice.guarantee_ == PureDP(8)
    assert choice.entry_ is not None
    assert not hasattr(choice.best_estimator_, "classes_"), "the winner is not fitted"


class FirstOfAll:
    """A BlockRunner in which all blocks vote for the first candidate, at once."""

    def __init__(self, _function: bytes, **_terms: Any) -> None:
        pass

    def rehearse(self, _rows: bytes, **_terms: Any) -> int:
        return 0

    def votes(self, blocks: Any, _ended: Any) -> list[int]:
        return [0] * len(blocks)

    def close(self) -> None:
        pass


def test_a_grid_is_chosen_by_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["discreet.questions.vote"], "BlockRunner", FirstOfAll)
    X, y = blobs(120)  # noqa: N806 - as above
    grid = {"strategy": ["most_frequent"], "random_state": [0]}
    choice = PrivateModelChoice(DummyClassifier(), grid, epsilon=1, blocks=2, cv=2).fit(X, y)
    assert choice.best_params_ == {"strategy": "most_frequent", "random_state": 0}
    assert choice.best_estimator_.strategy == "most_frequent"


def test_a_block_votes_for_the_best_mean_score() -> None:
    X, y = blobs(60)  # noqa: N806 - as above
    terms: Any = {"scoring": None, "folds": 3}
    assert best_in_block(in_block(X, y), candidates=MODELS, **terms) == "bayes"
    numbers = {"line": LinearRegression(), "mean": DummyRegressor()}
    target = X[:, 0] * 3.0
    assert best_in_block(in_block(X, target), candidates=numbers, **terms) == "line"
    people = [f"p{row // 3}" for row in range(60)]
    scored: Any = {"scoring": "balanced_accuracy", "folds": 3}
    assert best_in_block(in_block(X, y, people), candidates=MODELS, **scored) == "bayes"


def test_a_block_with_one_class_or_without_rows_raises_and_so_does_not_vote() -> None:
    X, _ = blobs(40)  # noqa: N806 - as above
    terms: Any = {"candidates": {"line": LogisticRegression()}, "scoring": None, "folds": 3}
    with pytest.raises(ValueError, match="one class"):
        best_in_block(in_block(X, np.zeros(40, int)), **terms)
    with pytest.raises(ValueError, match="0 sample"):
        best_in_block(in_block(X[:0], np.zeros(0, int)), **terms)


def test_people_with_several_rows_stay_together() -> None:
    X, y = blobs(120)  # noqa: N806 - as above
    groups = np.arange(120) // 4
    plan = PrivateModelChoice(MODELS, epsilon=1, blocks=3).plan(X, y, groups)
    assert "The column person tells people apart" in str(plan)


@pytest.mark.parametrize(
    ("estimators", "terms", "words"),
    [
        (GaussianNB(), {}, "estimators by their names"),
        ([], {}, "estimators by their names"),
        (GaussianNB(), {"param_grid": {"no_such": [1]}}, "no_such"),
        (MODELS, {"cv": 1}, "two folds"),
        ({"fitted": GaussianNB().fit([[0.0], [1.0]], [0, 1])}, {}, "fitted GaussianNB"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_read(
    estimators: Any, terms: dict[str, Any], words: str
) -> None:
    X, y = blobs(40)  # noqa: N806 - as above
    with pytest.raises(ParameterError, match=words):
        PrivateModelChoice(estimators, epsilon=1, **terms).fit(X, y)


def test_a_target_without_a_type_is_refused() -> None:
    X, y = blobs(40)  # noqa: N806 - as above
    with pytest.raises(ParameterError, match="states one"):
        PrivateModelChoice(MODELS, epsilon=1).fit(X, y.tolist())


def test_a_model_that_fails_is_told_in_the_rehearsal_and_nothing_is_paid() -> None:
    X, y = blobs(40)  # noqa: N806 - as above
    broken = {"broken": GaussianNB(var_smoothing="many")}
    with pytest.raises(ParameterError, match="cast no vote in the rehearsal"):
        PrivateModelChoice(broken, epsilon=1, blocks=2).fit(X, y)


def test_it_is_cloned_with_its_settings() -> None:
    choice = PrivateModelChoice(MODELS, epsilon=2, blocks=7)
    assert clone(choice).get_params(deep=False)["blocks"] == 7
