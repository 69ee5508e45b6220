"""What a function may take into a block's process, and what is refused."""

from __future__ import annotations

import functools
import io
import math
import operator
import pickle
import statistics
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from discreet._isolated.captured import MOST_CARRIED, packed
from discreet.errors import ParameterError

FACTOR = 3
FRAME = pd.DataFrame({"a": [1]})
NAMES = ["a", "b"]


def made(function: Any) -> Any:
    return pickle.loads(packed(function))  # noqa: S301 - packed just now


def helper(number: int) -> int:
    return FACTOR * number


def countdown(number: int) -> int:
    return 0 if number == 0 else countdown(number - 1) + 1


def test_functions_arrive_with_what_they_use() -> None:
    low, limit = 2, Decimal("1.5")

    def nested(rows: list[int], *, most: int = 9) -> Any:
        return [helper(each) for each in rows if low < each < most and each > limit], NAMES

    assert made(nested)([1, 3, 5, 9]) == ([9, 15], ["a", "b"])
    assert made(countdown)(5) == 5
    assert made(functools.partial(helper))(2) == 6
    assert made(lambda rows: statistics.median(rows) + math.pi)([1]) == 1 + math.pi
    assert made(statistics.mean)([1, 3]) == 2
    assert made(operator.itemgetter) is operator.itemgetter


@functools.cache
def remembered(number: int) -> list[int]:
    return [number]


def test_what_a_function_remembers_stays_here() -> None:
    remembered(77)
    assert made(lambda number: [*remembered(number), 1])(3) == [3, 1]
    assert b"77" not in packed(lambda number: [*remembered(number), 1])


def test_an_attribute_that_is_named_as_a_frame_is_not_carried() -> None:
    assert made(lambda rows: rows.FRAME)(type("Rows", (), {"FRAME": 7})) == 7


def test_estimators_that_were_never_fitted_are_carried() -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))
    score = make_scorer(f1_score, average="macro")

    def best(rows: Any) -> Any:
        return pipeline, score, rows

    arrived, scorer, _ = made(best)(1)
    assert arrived.get_params()["logisticregression__C"] == 0.5
    assert scorer._kwargs == {"average": "macro"}


FITTED = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
DULL = DummyClassifier().fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (FRAME, "DataFrame"),
        (FRAME["a"], "Series"),
        (pl.DataFrame({"a": [1]}), "DataFrame"),
        (np.zeros(2), "ndarray"),
        (FITTED, "fitted LogisticRegression"),
        (DULL, "fitted DummyClassifier"),
        (make_pipeline(StandardScaler(), FITTED), "fitted LogisticRegression"),
        ({"deep": [(np.zeros(2),)]}, "ndarray"),
        (FRAME.sum, "DataFrame"),
        (np.zeros(2).sum, "ndarray"),
        (functools.partial(len, FRAME), "DataFrame"),
        (io.StringIO("rows"), "StringIO"),
        (iter([1, 2]), "iterator"),
        (FITTED.predict, "fitted"),
        (list(range(MOST_CARRIED)), "more than 100 kB"),
        (object(), "object"),
    ],
)
def test_whatever_may_hold_rows_is_refused(held: Any, words: str) -> None:
    for function in (lambda rows: (rows, held), lambda rows, kept=held: (rows, kept)):
        with pytest.raises(ParameterError, match=words):
            packed(function)


def test_a_frame_in_the_module_is_refused_where_it_is_used() -> None:
    def through_another(rows: Any) -> Any:
        return uses_the_frame(rows)

    with pytest.raises(ParameterError, match="DataFrame"):
        packed(through_another)


def uses_the_frame(rows: Any) -> Any:
    return FRAME, rows


@pytest.mark.parametrize("given", ["trend", 3, None])
def test_what_is_not_a_function_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError, match="it must be a function"):
        packed(given)


def test_every_unfitted_estimator_of_scikit_learn_is_carried() -> None:
    """Some have attributes besides their parameters even before a fit: forests, machines, neighbours."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import Lars, Lasso
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    kinds = (GradientBoostingClassifier, RandomForestClassifier, Lars, Lasso)
    for kind in (*kinds, KNeighborsClassifier, MLPClassifier, SVC):
        estimator = kind()
        made = pickle.loads(packed(lambda _rows, estimator=estimator: estimator))  # noqa: S301  # our own
        assert made.__defaults__[0].get_params() == estimator.get_params()
