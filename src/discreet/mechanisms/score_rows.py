"""Many rows of scores, with one choice in each. They are validated once, frozen, and read in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._displays import counted
from discreet._exact.gaps import Indices, RowGaps, Scratch, Values, in_blocks
from discreet.errors import ParameterError, ScoresError
from discreet.scores import Scores, borrowed, distances_of

BLOCK = 1 << 17
"""The number of scores processed together: large enough to make NumPy's call overhead small, and small
enough for caches.
"""

_BLOCKS = 4  # cut large inputs into at least this many blocks, to use less memory


class ScoreRows:
    """The scores of many choices, one row for each, and a bound on what one person can change in a row.

    Args:
        values: a two-dimensional table with a row for each choice; or, with ``offsets``, one long array.
        offsets: where each row of the long array begins, followed by the array's length, as in Arrow lists
            and sparse matrices.
        sensitivity: Δ, the most by which one person can change any score of a row.
        monotonic: whether one person moves all scores of a row in the same direction.
        range_distance: d, the most by which one person can move two scores of a row apart; instead of
            ``sensitivity``.

    Example:
        >>> rows = ScoreRows([3, 7, 5, 9, 1], offsets=[0, 3, 5], sensitivity=1)
        >>> rows, rows.row(1).values.tolist()
        (ScoreRows(2 rows, int64, range_distance=2), [9, 1])
    """

    __slots__ = ("_offsets", "_range_distance", "_stated", "_values", "_width")
    _offsets: Indices
    _range_distance: Fraction
    _stated: dict[str, Any]
    _values: Values
    _width: int | None

    def __init__(
        self,
        values: Any,
        *,
        offsets: Any = None,
        sensitivity: object = None,
        monotonic: bool = False,
        range_distance: object = None,
    ) -> None:
        delta, distance = distances_of(sensitivity, monotonic, range_distance)
        stated = {"sensitivity": delta, "monotonic": monotonic}
        if offsets is None:
            flat, rows, width = _flattened(values)
            starts: Indices = np.arange(0, rows + 1, dtype=np.int64) * width
            set_width: int | None = width
        else:
            flat = borrowed(values, finite=False)
            starts, set_width = _offsets_of(offsets, len(flat)), None
        for name, value in (
            ("_values", flat),
            ("_offsets", starts),
            ("_width", set_width),
            ("_range_distance", distance),
            ("_stated", stated if delta is not None else {"range_distance": distance}),
        ):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("ScoreRows are frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("ScoreRows are frozen")

    @property
    def range_distance(self) -> Fraction:
        """d, the most by which two scores of a row can move apart between neighbours."""
        return self._range_distance

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __repr__(self) -> str:
        return (
            f"ScoreRows({counted(len(self), 'row')}, {self._values.dtype}, "
            f"range_distance={self._range_distance})"
        )

    def row(self, number: int) -> Scores:
        """Return the scores of one row."""
        part = self._values[self._offsets[number] : self._offsets[number + 1]]
        return Scores(part, **self._stated)

    def blocks(self, scale: Fraction, *, largest_is_best: bool) -> Iterator[tuple[slice, RowGaps]]:
        """Yield the rows in blocks: for each block, the slice of its row numbers and the gaps of its rows."""
        starts, scratch = self._offsets[:-1], Scratch()
        most = min(BLOCK, max(len(self._values) // _BLOCKS, BLOCK >> 5))
        for first, last in in_blocks(starts, len(self._values), most):
            begin, end = int(self._offsets[first]), int(self._offsets[last])
            yield (
                slice(first, last),
                RowGaps(
                    self._values[begin:end],
                    starts=starts[first:last] - begin,
                    width=self._width,
                    scale=scale,
                    largest_is_best=largest_is_best,
                    scratch=scratch,
                ),
            )


def _flattened(values: Any) -> tuple[Values, int, int]:
    """Return a table as one array, not copied if possible, with the number of rows and their length."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if not isinstance(values, np.ndarray):
        return _of_lists(values)
    if values.ndim != 2:
        raise ScoresError("scores must have two dimensions, or one with offsets=")
    rows, width = values.shape
    if rows and not width:
        raise ScoresError("there must be at least one candidate in every row")
    return borrowed(np.ascontiguousarray(values).reshape(-1), finite=False), rows, max(width, 1)


def _of_lists(values: Any) -> tuple[Values, int, int]:
    """Do the same as ``_flattened`` for lists, whose numbers may be too large for a machine type."""
    try:
        lists = [list(row) for row in values]
    except Exception:
        # An exception from a foreign iterator may contain a score in its message.
        raise ScoresError("scores must be a table of numbers, or an array with offsets=") from None
    widths = {len(row) for row in lists}
    if len(widths) > 1:
        raise ScoresError("rows of different lengths must be passed as one array with offsets=")
    if widths == {0}:
        raise ScoresError("there must be at least one candidate in every row")
    flat = [number for row in lists for number in row]
    return borrowed(flat), len(lists), max(widths, default=1)


def _offsets_of(given: Any, size: int) -> Indices:
    """Return the offsets after checking that they cut all ``size`` scores into non-empty rows."""
    offsets: npt.NDArray[Any] = np.asarray(given)
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or not len(offsets):
        raise ParameterError("⟨offsets⟩ must be whole numbers, one more than there are rows")
    found: Indices = offsets.astype(np.int64)
    if found[0] != 0 or found[-1] != size:
        raise ParameterError(
            "⟨offsets⟩ must begin with 0 and end with the number of scores: row i runs from offsets[i] "
            "up to offsets[i + 1]"
        )
    if len(found) > 1 and np.diff(found).min() < 1:
        raise ScoresError("there must be at least one candidate in every row")
    return found
