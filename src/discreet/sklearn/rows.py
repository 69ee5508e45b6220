"""Read a table of features, and a target, row by row, so no value in a row can raise an error.

The rules for a row's cells and label look only at that row, so neighbouring tables stay neighbours. A number,
or text that spells one, becomes that number; any other cell becomes NaN. A row is dropped if its label is
missing, or is neither text nor a whole number. Tables are refused only for their declared types and shapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError, missing_extra

try:
    from sklearn.utils import _safe_indexing
except ImportError:
    raise missing_extra("this needs scikit-learn", extra="sklearn") from None

_DECLARED = re.compile(
    r"u?int\d|float|double|half|bool|str|large_string|object|cat|enum|decimal|sparse|dictionary|null",
    re.IGNORECASE,
)
"""Prefixes of the declared column types that are accepted: numbers, booleans and text."""

_CONTINUOUS = re.compile(r"float|double|half|decimal", re.IGNORECASE)

_LABELS = frozenset({str, bytes, bool, int, float})


def as_array(name: str, data: Any, *, dimensions: int) -> NDArray[Any]:
    """Return ``data`` as an array of unchanged cells; refuse it only for its declared type or shape.

    A list declares no type, so its cells become objects: text in one cell does not change other cells.
    """
    if isinstance(data, list | tuple):
        return _listed(name, data, dimensions)
    if not isinstance(data, np.ndarray):
        for declared in _declared(data):
            if not _DECLARED.match(str(declared)):
                raise _refused_type(name, declared)
    array: NDArray[Any] = np.asarray(data)
    if array.dtype.kind in "mMV":
        raise _refused_type(name, array.dtype)
    return array


def require_table(table: Any, *, dimensions: set[int], sparse: bool) -> None:
    """Raise if the shape or declared type of ``table`` is not that of a table of features; read no cell."""
    if hasattr(table, "tocsr") and not sparse:
        raise ParameterError(
            "X: a sparse table is not allowed, because the estimator does not accept one"
        )
    shape = table.shape if hasattr(table, "shape") else as_array("X", table, dimensions=2).shape
    if len(shape) not in dimensions:
        raise ParameterError(
            f"X has {len(shape)} dimensions: it must have two, a row for each person. Reshape your data"
        )
    if shape[1:] == (0,):
        raise ParameterError(
            f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if getattr(getattr(table, "dtype", None), "kind", "") == "c":
        raise ParameterError("X: Complex data not supported")


def _declared(data: Any) -> list[Any]:
    """Return the declared types of a frame's columns, or of a single column."""
    found: Any = data.dtypes if hasattr(data, "dtypes") else getattr(data, "dtype", "object")
    several = hasattr(found, "__iter__") and not isinstance(found, str)
    return list(found) if several else [found]


def _refused_type(name: str, declared: object) -> ParameterError:
    return ParameterError(
        f"{name}: the type {declared} is not allowed: it must hold numbers, booleans or text"
    )


def _listed(name: str, data: Any, dimensions: int) -> NDArray[Any]:
    """Return a list of cells, or of rows of cells, as an array of objects."""
    if dimensions == 1 or not data or not hasattr(data[0], "__len__") or isinstance(data[0], str):
        cells = np.empty(len(data), dtype=object)
        for place, cell in enumerate(data):
            cells[place] = cell
        return cells
    width = len(data[0])
    if any(not hasattr(row, "__len__") or len(row) != width for row in data):
        raise ParameterError(f"{name} must be a table: every row as long as the first")
    table = np.empty((len(data), width), dtype=object)
    for place, row in enumerate(data):
        for column, cell in enumerate(row):
            table[place, column] = cell
    return table


def numbers(cells: NDArray[Any]) -> NDArray[Any]:
    """Return the cells as numbers; a cell that is not a number and does not spell one is NaN.

    Example:
        >>> numbers(np.array([[1, "2.5", "HIV positive", None]], dtype=object)).tolist()
        [[1.0, 2.5, nan, nan]]
    """
    if cells.dtype.kind in "biuf":
        return cells
    return np.fromiter(map(_number, cells.ravel()), np.float64, cells.size).reshape(cells.shape)


def _number(cell: object) -> float:
    try:
        return float(cell)  # type: ignore[arg-type]  # anything else is NaN below
    except Exception:  # a cell may have any type, and its error message may contain the cell
        return np.nan


def is_continuous(target: Any) -> bool:
    """Return whether a target's declared type is float or decimal; False for a list, which declares none."""
    if isinstance(target, list | tuple):
        return False
    return any(_CONTINUOUS.match(str(declared)) for declared in _declared(target))


def classes_between(target: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[Any]:
    """Return the number of public edges at or below each value; None for a value that is not a number.

    Example:
        >>> classes_between(np.array([1.0, 2.0, np.nan, 9.5]), np.array([2.0, 5.0])).tolist()
        [0, 1, None, 2]
    """
    values = numbers(target).astype(np.float64)
    classes = np.searchsorted(edges, values, side="right").astype(object)
    classes[np.isnan(values)] = None
    return classes


def classes_of(labels: NDArray[Any], *, fractions: bool = False) -> NDArray[np.int64]:
    """Return each label's class number; −1 if the label is missing or neither text nor a whole number.

    With ``fractions``, numbers with a fraction are labels too; this is for a user's own score function.

    Example:
        >>> classes_of(np.array(["a", None, 1, "a", 1.0, float("nan"), ["a"], 0.5], dtype=object)).tolist()
        [0, -1, 1, 0, 1, -1, -1, -1]
    """
    if labels.dtype.kind in "biuUS":
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    known: dict[object, int] = {}
    found = np.empty(labels.size, dtype=np.int64)
    for place, label in enumerate(labels.tolist()):
        plain = label.item() if isinstance(label, np.generic) else label
        counts = type(plain) in _LABELS
        if type(plain) is float:  # only NaN differs from itself
            counts = plain == plain if fractions else plain.is_integer()  # noqa: PLR0124
        found[place] = known.setdefault(plain, len(known)) if counts else -1
    return found


def said_yes(table: Any, cut: NDArray[np.float64]) -> Any:
    """Return a mask of the cells above the public ``cut``; NaN is not above it.

    For a sparse table, return a sparse matrix of the cells that are not on the same side of the cut as 0. A
    feature and its negation get the same count from ``rows_told_right``, so this is equivalent and stays
    sparse.
    """
    with np.errstate(invalid="ignore"):
        if isinstance(table, np.ndarray):
            return cut < numbers(table)
        cuts = np.broadcast_to(cut, table.shape[1])[table.indices]
        said = table.copy()
        said.data = (cuts < table.data) != (cuts < 0)
    said.eliminate_zeros()
    return said


def rows_told_right(features: Any, target: NDArray[Any]) -> NDArray[np.int64]:
    """Count, for each feature, the rows that the best rule "yes means this, no means that" gets right.

    The count is the size of the largest class among the rows that say yes, plus the same for no. ``features``
    is a boolean array or a sparse matrix of yes-or-no features. A row does not count if its label is missing
    or a number with a fraction. Adding a row raises each count by 0 or 1, so Δ = 1 and the counts are
    monotonic under adding or removing a row; replacing a row changes each count by at most 1. The time is
    proportional to the number of cells (stored cells, if sparse) plus classes times features.

    Example:
        >>> features = np.array([[True, True], [True, False], [False, True], [False, False]])
        >>> rows_told_right(features, np.array(["a", "a", "b", "b"])).tolist()
        [4, 2]
    """
    classes = classes_of(np.asarray(target))
    order = np.argsort(classes, kind="stable")
    missing = int(np.count_nonzero(classes < 0))
    sizes = np.bincount(classes[order[missing:]])
    ends = missing + np.cumsum(sizes)
    most_yes = np.zeros(features.shape[1], dtype=np.int64)
    most_no = np.zeros(features.shape[1], dtype=np.int64)
    # Process one class at a time, so memory does not grow with the number of classes.
    for start, end in zip(ends - sizes, ends, strict=True):
        some = features[order[start:end]]
        if isinstance(some, np.ndarray):
            yes = np.count_nonzero(some, axis=0)
        else:
            yes = np.bincount(some.indices, minlength=features.shape[1])
        np.maximum(most_yes, yes, out=most_yes)
        np.maximum(most_no, (end - start) - yes, out=most_no)
    return most_yes + most_no


def finite(table: Any) -> Any:
    """Return the table as numbers, with 0 for cells that are not finite, for a user's own score."""
    if not isinstance(table, np.ndarray):
        cleaned = table.copy()
        cleaned.data = finite(table.data)
        return cleaned
    cells = numbers(table)
    return np.where(np.isfinite(cells), cells, 0) if cells.dtype.kind == "f" else cells


def people_told_right(
    model: Any, rows: Any, labels: NDArray[Any], told_right: Callable[[Any, Any], Any]
) -> int:
    """Return the number of people predicted correctly; one person changes it by at most one."""
    predicted = _predictions(model, rows, len(labels))
    return sum(
        _says_yes(told_right, label, guess)
        for label, guess in zip(labels.tolist(), predicted, strict=True)
        if guess is not None
    )


def _says_yes(told_right: Callable[[Any, Any], Any], label: Any, guess: Any) -> bool:
    try:
        return bool(told_right(label, guess))
    except Exception:  # a label may have any type, and its error message may contain it
        return False


def _predictions(model: Any, rows: Any, people: int) -> list[Any]:
    """Predict all rows at once or, if that fails, one by one, so that no row affects another's prediction."""
    try:
        found: list[Any] = as_array("predictions", model.predict(rows), dimensions=1).tolist()
        if len(found) == people:
            return found
    except Exception:  # noqa: S110 - predicted row by row below
        pass
    return [_prediction(model, rows, place) for place in range(people)]


def _prediction(model: Any, rows: Any, place: int) -> Any:
    try:
        (found,) = np.asarray(model.predict(_safe_indexing(rows, [place]))).tolist()
    except Exception:  # the row counts as predicted wrongly
        return None
    return found
