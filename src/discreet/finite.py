"""The best of each row of scores, and the refusal of floats that are not finite, in few passes.

Read as unsigned integers, floats of one sign are ordered by their size, and every negative float lies
above every other one; infinities and NaN lie above all finite floats of their sign. So the largest word
of a row tells whether a number with its sign bit set is there, and whether that is −∞ or a NaN. If none
is there, it is also the word of the largest float, and nothing more needs to be read.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ScoresError

Values: TypeAlias = NDArray[Any]

ROWS_AT_ONCE = 256
"""Rows read together: what is read twice is still in the cache the second time."""
_ROW = 4096

# For each size in bytes: the type of the words, the sign bit, and the word of +∞.
_WORDS: dict[int, tuple[Any, Any, Any]] = {
    size: (word, word(1 << (8 * size - 1)), word(np.array(np.inf, dtype=number).view(word)))
    for size, word, number in (
        (2, np.uint16, np.float16),
        (4, np.uint32, np.float32),
        (8, np.uint64, np.float64),
    )
}


def best_of_rows(rows: Values, *, largest_is_best: bool) -> Values:
    """The best number of each row of a two-dimensional array; floats must be finite.

    Example:
        >>> best_of_rows(np.array([[1.0, 3.0], [-2.0, -1.0]]), largest_is_best=True)
        array([ 3., -1.])
    """
    if rows.dtype.kind == "f":
        if largest_is_best:
            return _largest_of_rows(rows)
        _refuse_infinite(rows)
    bests: Values = (np.maximum if largest_is_best else np.minimum).reduce(rows, axis=1)
    return bests


def _largest_of_rows(rows: Values) -> Values:
    word, sign, infinity = _WORDS[rows.dtype.itemsize]
    top = np.maximum.reduce(rows.view(word), axis=1)
    if np.count_nonzero((top & ~sign) >= infinity):
        raise ScoresError("scores must be finite")
    bests: Values = top.view(rows.dtype)
    signed = (top >= sign).nonzero()[0]
    if len(signed):
        # Here the largest word belonged to the number farthest below zero.
        some = rows if 2 * len(signed) > len(rows) else rows[signed]
        largest: Values = np.maximum.reduce(some, axis=1)
        if np.count_nonzero(np.isfinite(largest)) < len(largest):
            raise ScoresError("scores must be finite")
        if some is rows:
            return largest
        bests[signed] = largest
    return bests


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
    for start in range(0, len(rows), ROWS_AT_ONCE):
        _refuse_infinite(rows[start : start + ROWS_AT_ONCE])
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
