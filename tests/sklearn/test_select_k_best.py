"""The transformer passes scikit-learn's estimator checks, keeps no scores, and its score is 1-sensitive."""

from __future__ import annotations

from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from discreet import PureDP
from discreet.errors import ParameterError, TableError
from discreet.sklearn import PrivateSelectKBest

ESTIMATORS = (
    PrivateSelectKBest(threshold=0.0),
    PrivateSelectKBest(k=1, threshold=0.0),
    PrivateSelectKBest(k=2, threshold=0.0, method="one-shot", neighbours="replace"),
)

FRESH_NOISE = {"check_fit_idempotent"}
"""Checks that are left out unless all features are chosen: a second fit draws other noise."""

ROWS_NEVER_RAISE = {
    "check_dtype_object",  # requires an error that names a cell that is not a number
    "check_estimators_empty_data_messages",  # requires an error for a table without rows
}
"""Checks that are left out: they make rows decide whether there is an error."""

SKIPPED_BY_TAG = {
    "check_estimators_nan_inf",  # allow_nan: an error about a NaN would reveal a row
    "check_methods_sample_order_invariance",  # non_deterministic, like all below
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
}
"""Checks that scikit-learn itself skips because of the estimator's tags."""


def _name(check: Any) -> str:
    return str(getattr(check, "func", check).__name__)


def _checks() -> list[Any]:
    return [
        pytest.param(estimator, check, id=f"{estimator}-{_name(check)}")
        for estimator in ESTIMATORS
        for estimator, check in estimator_checks_generator(estimator)
        if _name(check) not in ROWS_NEVER_RAISE
        and (estimator.k >= 10 or _name(check) not in FRESH_NOISE)
    ]


@pytest.mark.parametrize(("estimator", "check"), _checks())
def test_estimator_checks(estimator: Any, check: Any) -> None:
    try:
        check(estimator)
    except SkipTest as skipped:
        assert _name(check) in SKIPPED_BY_TAG or "ARRAY_API" in str(skipped)  # noqa: PT017 - it is no error


def test_the_list_of_skipped_checks_is_not_too_long() -> None:
    ours = {_name(check): check for _, check in estimator_checks_generator(ESTIMATORS[1])}
    for name in SKIPPED_BY_TAG & set(ours):
        with pytest.raises(SkipTest):
            ours[name](ESTIMATORS[1])


def _informative(rows: int = 600) -> tuple[Any, Any]:
    generator = np.random.default_rng(1)
    target = generator.integers(0, 3, rows)
    noise = generator.normal(size=(rows, 20))
    noise[:, 4] = target == 1
    noise[:, 11] = (target == 2) - 0.5
    return noise, target


@pytest.mark.parametrize("method", ["peeling", "one-shot"])
def test_it_finds_what_matters(method: str) -> None:
    X, y = _informative()  # noqa: N806 - scikit-learn's own name
    selector = PrivateSelectKBest(k=2, epsilon=3, threshold=0.0, method=method).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [4, 11]
    assert selector.transform(X).shape == (600, 2)
    assert selector.guarantee_ == PureDP(3)
    pipeline = make_pipeline(clone(selector), DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert pipeline.score(X, y) > 0.9


def test_nothing_about_the_rows_is_kept() -> None:
    X, y = _informative()  # noqa: N806 - scikit-learn's own name
    fitted = PrivateSelectKBest(k=2, threshold=0.0).fit(X, y)
    learned = {name for name in vars(fitted) if name not in fitted.get_params()}
    assert learned == {"guarantee_", "entry_", "_support", "n_features_in_"}


def test_all_features_cost_nothing() -> None:
    X, y = _informative()  # noqa: N806 - scikit-learn's own name

    class Never:
        def spend(self, *_: Any, **__: Any) -> None:
            raise AssertionError("spent")

        def fail(self, _: Any) -> None: ...

    for k in (20, "all"):
        fitted = PrivateSelectKBest(k=k, ledger=Never(), dataset="x").fit(X, y)
        assert fitted.guarantee_ == PureDP(0)
        assert fitted.get_support().all()


@pytest.mark.parametrize("threshold", [0.0, -0.25])
def test_a_sparse_table_is_scored_as_its_dense_twin(threshold: float) -> None:
    X, y = _informative()  # noqa: N806 - scikit-learn's own name
    sparse = csr_array(np.where(np.abs(X) < 0.3, 0, X))
    selector = PrivateSelectKBest(k=2, epsilon=3, threshold=threshold)
    ours, dense = (
        selector._scores(*selector._table(table, y), selector._cut(20)).tolist()
        for table in (sparse, sparse.toarray())
    )
    assert ours == dense
    assert selector.fit(sparse, y).transform(sparse).shape == (600, 2)


def test_a_score_of_ones_own() -> None:
    X, y = _informative()  # noqa: N806 - scikit-learn's own name

    def agreeing(X: Any, y: Any) -> Any:  # noqa: N803 - scikit-learn's own name
        return ((X > 0) == (y == 1)[:, None]).sum(axis=0)

    spends: list[Any] = []

    class Notebook:
        def spend(self, dataset: str, event: Any, *, purpose: str) -> str:
            spends.append((dataset, event, purpose))
            return "entry 1"

        def fail(self, entry: Any) -> None:
            spends.append(entry)

    options: dict[str, Any] = {
        "sensitivity": 1,
        "monotonic": True,
        "ledger": Notebook(),
        "dataset": "d",
    }
    fitted = PrivateSelectKBest(k=1, epsilon=2, score_func=agreeing, **options).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [4]
    assert fitted.entry_ == "entry 1"
    assert spends[0][1].guarantee.to(PureDP) == PureDP(2)

    def fails(X: Any, _: Any) -> Any:  # noqa: N803 - scikit-learn's own name
        raise ValueError(f"secret {X[0, 0]}")

    with pytest.raises(TableError) as caught:
        PrivateSelectKBest(k=1, score_func=fails, **options).fit(X, y)
    assert "secret" not in str(caught.value)
    assert spends[-1] == "entry 1"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k=0"),
        ({"k": "most"}, "k='most'"),
        ({"epsilon": float("inf")}, "epsilon=inf"),
        ({"threshold": [1, 2]}, "threshold"),
        ({"threshold": None}, "threshold= must be given: a public number inside the range"),
        ({"target_edges": [2, 1]}, "rising order"),
        ({"target_edges": [1, float("nan")]}, "rising order"),
        ({"target_edges": "x"}, "rising order"),
        ({"target_edges": []}, "rising order"),
        (
            {"target_edges": [1], "score_func": max, "sensitivity": 1},
            "target_edges= cannot be combined",
        ),
        ({"method": "x"}, "method='x'"),
        ({"sensitivity": 1}, "only be used with score_func"),
        ({"score_func": max}, "needs sensitivity"),
        ({"score_func": lambda *_: [1, 2], "sensitivity": 1}, "one score for each"),
        ({"dataset": "x"}, "go together"),
        ({"neighbours": "x"}, "neighbours"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    X, y = _informative(30)  # noqa: N806 - scikit-learn's own name
    with pytest.raises(ParameterError, match=words):
        PrivateSelectKBest(**{"k": 1, "threshold": 0.0, **options}).fit(X, y)


def test_a_threshold_has_no_default() -> None:
    """A default of 0 chose at random among features without negative values."""
    with pytest.raises(ParameterError, match="threshold= must be given"):
        PrivateSelectKBest(k=1, epsilon=1).fit(*_informative(30))


@pytest.mark.parametrize(
    "continuous",
    [
        lambda y: y + 0.5,
        lambda y: y.astype(float),
        lambda y: pd.Series(y, dtype="Float64"),
        lambda y: pl.Series(y, dtype=pl.Float32),
    ],
)
def test_a_continuous_target_is_refused_or_cut_at_public_edges(continuous: Any) -> None:
    """Only the declared type decides, because whether values have fractions depends on the rows."""
    X, y = _informative()  # noqa: N806 - scikit-learn's own name
    selector = PrivateSelectKBest(k=2, epsilon=3, threshold=0.0)
    with pytest.raises(ParameterError, match=r"declared as floats.*target_edges="):
        selector.fit(X, continuous(y))
    cut = clone(selector).set_params(target_edges=[0.9, 1.9]).fit(X, continuous(y))
    assert cut.get_support(indices=True).tolist() == [4, 11]


def test_a_score_of_ones_own_sees_a_continuous_target() -> None:
    X, y = _informative()  # noqa: N806 - scikit-learn's own name
    seen: list[int] = []

    def near(X: Any, y: Any) -> Any:  # noqa: N803 - scikit-learn's own name
        seen.append(len(y))
        return (np.abs(X - y[:, None]) < 1).sum(axis=0)

    PrivateSelectKBest(k=1, score_func=near, sensitivity=1).fit(X, y + 0.25)
    assert seen == [600]


def test_a_list_declares_nothing_so_a_fraction_in_it_is_a_missing_label() -> None:
    X, y = _informative(60)  # noqa: N806 - scikit-learn's own name
    selector = PrivateSelectKBest(k=1, threshold=0.0)

    def scores(labels: list[Any]) -> list[int]:
        found: list[int] = selector._scores(*selector._table(X, labels), selector._cut(20)).tolist()
        return found

    whole = scores(y.tolist())
    one_changed = scores([0.5, *y.tolist()[1:]])
    assert all(0 <= before - after <= 1 for before, after in zip(whole, one_changed, strict=True))
    assert scores([0.5] * 60) == [0] * 20
