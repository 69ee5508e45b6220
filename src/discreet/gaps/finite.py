"""The best of each row of scores, and the refusal of floats that are not finite, in few passes."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ScoresError

Values: TypeAlias = NDArray[Any]

_ROW = 4096
_ROWS_AT_ONCE = 256


def best_of_rows(rows: Values, *, largest_is_best: bool) -> Values:
    """The best number of each row of a two-dimensional array; a NaN or an infinite best is refused.

    An infinity on the losing side is for ``require_finite``, when the scores are handed over: here it is
    only the worst of scores, and nobody chooses it.

    Example:
        >>> best_of_rows(np.array([[1.0, 3.0], [-2.0, -1.0]]), largest_is_best=True)
        array([ 3., -1.])
    """
    # A NaN in a row is the row's maximum and minimum.
    bests: Values = (np.maximum if largest_is_best else np.minimum).reduce(rows, axis=1)
    if rows.dtype.kind == "f" and np.count_nonzero(np.isfinite(bests)) < len(bests):
        raise ScoresError("scores must be finite")
    return bests


def best_of(values: Values, *, largest_is_best: bool) -> Any:
    """As ``best_of_rows`` for one row, as a Python number.

    Example:
        >>> best_of(np.array([1.0, 3.0]), largest_is_best=True)
        3.0
    """
    best = (np.maximum if largest_is_best else np.minimum).reduce(values)
    kind = values.dtype.kind
    if kind == "f" and not math.isfinite(best):
        raise ScoresError("scores must be finite")
    return best if kind == "O" else best.item()


@np.errstate(all="ignore")
def require_finite(values: Values) -> None:
    """Refuse NaN and infinities among scores of any native type, in one quick pass.

    Example:
        >>> require_finite(np.array([1.0, 2.0]))
    """
    if values.dtype.kind != "f":
        return
    whole = len(values) // _ROW * _ROW
    rows = values[:whole].reshape(-1, _ROW)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        _refuse_infinite(rows[start : start + _ROWS_AT_ONCE])
    if whole < len(values):
        _refuse_infinite(values[None, whole:])


def _refuse_infinite(rows: Values) -> None:
    """Refuse NaN and infinities in a two-dimensional array of floats.

    A sum in any order is finite only if every term is: infinities and NaN never leave a sum. The
    converse fails when finite terms overflow, so a sum that is not finite is looked into.
    """
    # Quicker than `sum`, and on one thread: BLAS would wait for its threads on a busy machine.
    if rows.dtype.itemsize >= 4 and np.isfinite(np.einsum("ij->i", rows)).all():
        return
    if not np.isfinite(rows).all():
        raise ScoresError("scores must be finite")
