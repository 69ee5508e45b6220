"""No value in a row raises, and one row moves a score by at most 1, whatever it contains."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_array, csr_array

from discreet.errors import ParameterError
from discreet.sklearn import PrivateSelectKBest, rows_told_right
from discreet.sklearn.rows import as_array, said_yes


def test_the_usual_score_over_all_small_tables() -> None:
    """Adding a row raises every score by 0 or 1; replacing one moves each by at most 1, up or down."""
    kinds = [
        (bits, label)
        for bits in itertools.product((False, True), repeat=2)
        for label in ("a", "b", None)
    ]

    def scores(rows: tuple[Any, ...]) -> Any:
        features = np.array([bits for bits, _ in rows], dtype=bool).reshape(-1, 2)
        return rows_told_right(features, np.array([label for _, label in rows], dtype=object))

    reached = set()
    for size in range(4):
        for rows in itertools.combinations_with_replacement(kinds, size):
            before = scores(rows)
            for row in kinds:
                change = tuple((scores((*rows, row)) - before).tolist())
                assert set(change) <= {0, 1}
                reached.add(change)
    assert len(reached) == 4


class _Hostile:
    def __float__(self) -> float:
        raise RuntimeError("HIV positive")

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("HIV positive")


NUMBERS = [np.nan, np.inf, -np.inf, -0.0, 1e308, 5e-324]
ANYTHING = [
    *NUMBERS,
    "HIV positive",
    "2.5",
    "nan",
    "\ud800",
    b"\xff",
    None,
    True,
    10**400,
    Decimal("sNaN"),
    1j,
    [1, 2],
    {"HIV": "positive"},
    np.array([1, 2]),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT", "D"),
    _Hostile(),
]
BASE = [([1.0, -1.0, 0.5], "a"), ([2.0, 1.0, 0.0], "b"), ([-1.0, 3.0, 0.0], "a")]


def _objects(rows: list[list[Any]]) -> Any:
    return as_array("X", rows, dimensions=2)


ANY_FORM: dict[str, Callable[[list[list[Any]]], Any]] = {
    "lists": lambda rows: rows,
    "objects": _objects,
    "pandas": lambda rows: pd.DataFrame(_objects(rows), columns=list("xyz"), dtype=object),
}
NUMBER_FORM: dict[str, Callable[[list[list[Any]]], Any]] = {
    "floats": lambda rows: np.array(rows, dtype=float),
    "short floats": lambda rows: np.clip(np.array(rows), -1e38, 1e38).astype(np.float32),
    "csr": lambda rows: csr_array(np.array(rows, dtype=float)),
    "csc": lambda rows: csc_array(np.array(rows, dtype=float)),
    "coordinates": lambda rows: coo_array(np.array(rows, dtype=float)),
    "nullable": lambda rows: pd.DataFrame(np.array(rows), columns=list("xyz")).astype("Float64"),
    "polars": lambda rows: pl.DataFrame(np.array(rows, dtype=float), schema=list("xyz")),
    "polars text": lambda rows: pl.DataFrame(np.array(rows).astype(str), schema=list("xyz")),
}
LABEL_FORM: dict[str, Callable[[list[Any]], Any]] = {
    "list": lambda labels: labels,
    "objects": lambda labels: as_array("y", labels, dimensions=1),
    "pandas": lambda labels: pd.Series(as_array("y", labels, dimensions=1), dtype=object),
}


def _scores(X: Any, y: Any, threshold: float) -> Any:  # noqa: N803 - scikit-learn's own name
    """Return the scores, and check that a whole fit gives an answer; warnings are errors here."""
    selector = PrivateSelectKBest(k=1, threshold=threshold).fit(X, y)
    assert selector.get_support().sum() == 1
    return selector._scores(*selector._table(X, y), selector._cut(3))


@pytest.mark.parametrize("threshold", [0.0, -0.5])
@pytest.mark.parametrize("form", [*ANY_FORM, *NUMBER_FORM])
def test_no_cell_raises_and_one_row_moves_a_score_by_one(form: str, threshold: float) -> None:
    make = ANY_FORM.get(form) or NUMBER_FORM[form]
    for size in range(len(BASE) + 1):
        cells, labels = [row for row, _ in BASE[:size]], [label for _, label in BASE[:size]]
        before = _scores(make(cells), labels, threshold) if size else np.zeros(3)
        for nasty in ANYTHING if form in ANY_FORM else NUMBERS:
            for label in ("a", "c"):
                after = _scores(make([*cells, [nasty, 1.0, nasty]]), [*labels, label], threshold)
                assert set((after - before).tolist()) <= {0, 1}


@pytest.mark.parametrize("form", LABEL_FORM)
def test_no_label_raises_and_one_row_moves_a_score_by_one(form: str) -> None:
    make = LABEL_FORM[form]
    cells, labels = [row for row, _ in BASE], [label for _, label in BASE]
    before = _scores(cells, make(labels), 0.0)
    for nasty in ANYTHING:
        after = _scores([*cells, [1.0, 1.0, 1.0]], make([*labels, nasty]), 0.0)
        assert set((after - before).tolist()) <= {0, 1}
    numeric = _scores(cells, as_array("y", [1.0, np.nan, np.inf], dimensions=1), 0.0)
    assert numeric.tolist() == [1, 1, 1]


def test_no_rows_give_an_answer() -> None:
    for table in (np.empty((0, 3)), csr_array((0, 3)), pd.DataFrame({"x": [], "y": [], "z": []})):
        assert _scores(table, [], 0.0).tolist() == [0, 0, 0]


def test_a_score_of_ones_own_sees_finite_numbers_and_labelled_rows() -> None:
    seen: list[Any] = []

    def watch(X: Any, y: Any) -> Any:  # noqa: N803 - scikit-learn's own name
        seen.append((np.asarray(X.todense() if hasattr(X, "todense") else X).tolist(), y.tolist()))
        return [1, 2, 3]

    selector = PrivateSelectKBest(k=1, score_func=watch, sensitivity=1)
    selector.fit([["HIV positive", np.inf, 2], [1, 1, 1]], ["a", None])
    selector.fit(csr_array(np.array([[np.nan, np.inf, 2], [1, 1, 1]])), ["a", None])
    assert seen == [([[0, 0, 2]], ["a"])] * 2


def test_declared_types_and_shapes_are_refused_without_a_value() -> None:
    days = pd.DataFrame({"x": pd.to_datetime(["2020-01-01"]), "y": [1]})
    for table, words in (
        (days, "datetime64"),
        (pl.DataFrame({"x": [[1, 2]], "y": [1]}), "List"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "datetime64"),
    ):
        with pytest.raises(ParameterError, match=words) as caught:
            PrivateSelectKBest(k=1).fit(table, [1])
        assert "2020" not in str(caught.value)
    with pytest.raises(ValueError, match="Complex data"):
        PrivateSelectKBest(k=1).fit(np.array([[1j, 2]]), [1])
    with pytest.raises(ParameterError, match="as long as the first"):
        PrivateSelectKBest(k=1).fit([[1, 2], [3]], [1, 2])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PrivateSelectKBest(k=1).fit([[1, 2], [3, 4]], [1])


def test_a_sparse_table_says_what_differs_from_its_zeros() -> None:
    table = csr_array(np.array([[0.0, 1.0], [-2.0, 0.0]]))
    for cut, different in (
        (-0.5, [[0, 0], [1, 0]]),
        (0.0, [[0, 1], [0, 0]]),
        (3.0, np.zeros((2, 2))),
    ):
        assert (said_yes(table, np.array([cut])).toarray() == np.array(different)).all()
