"""Gaps for many rows of scores at once; each gap is to the best score of the same row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps.arithmetic import Flags, FloatArithmetic, Floats, Values, arithmetic_for
from discreet._exact.gaps.gaps import Gaps, Indices, require_finite

_FEW_COLUMNS = 64
_FLOAT64 = np.dtype(np.float64)


class Scratch:
    """Two buffers that successive blocks of rows reuse, because allocating memory is slow."""

    __slots__ = ("_buffers",)

    def __init__(self) -> None:
        self._buffers: list[Floats] = [np.empty(0)] * 2

    def __call__(self, number: int, size: int) -> Floats:
        """Return the first ``size`` entries of buffer ``number``; enlarge it if necessary."""
        if len(self._buffers[number]) < size:
            self._buffers[number] = np.empty(size)
        return self._buffers[number][:size]


class RowGaps:
    """The gap γ ≥ 0 from every score to the best score in its row; ``Gaps`` does this for one row.

    A *place* is a position in the array of all scores.

    Args:
        values: the scores of all rows, one row after another, in a type that ``Gaps`` accepts.
        starts: where each row begins; no row is empty.
        width: the length of the rows if all are equally long, else None.
        scale: the noise scale s, a positive rational.
        largest_is_best: whether the best score of a row is the largest; otherwise the least.
        scratch: working memory, shared with other blocks.

    Example:
        >>> rows = RowGaps(np.array([3, 7, 5, 9]), starts=np.array([0, 3]), width=None, scale=Fraction(2))
        >>> rows.bests, rows.gather(np.array([0, 2, 3])), rows.exact(0)
        (array([7, 9]), array([2., 1., 0.]), Fraction(2, 1))
    """

    __slots__ = (
        "_arithmetic",
        "_largest_is_best",
        "_scratch",
        "_values",
        "_width",
        "bests",
        "scale",
        "size",
        "starts",
    )

    def __init__(
        self,
        values: Values,
        *,
        starts: Indices,
        width: int | None,
        scale: Fraction,
        largest_is_best: bool = True,
        scratch: Scratch | None = None,
    ) -> None:
        self._values = values
        self._scratch = Scratch() if scratch is None else scratch
        self._width = width
        self._largest_is_best = largest_is_best
        self.scale = scale
        self.starts = starts
        self.size = len(values)
        require_finite(values)
        self.bests: Values = self._best_of_each(np.maximum if largest_is_best else np.minimum)
        arithmetic = arithmetic_for(_FLOAT64, scale.numerator, scale.denominator, largest_is_best)
        assert isinstance(arithmetic, FloatArithmetic)
        self._arithmetic = arithmetic

    @property
    def lengths(self) -> Indices:
        """The length of each row."""
        return np.diff(self.starts, append=self.size)

    def _best_of_each(self, better: np.ufunc) -> Values:
        # Both branches are faster than a reduction along the second axis.
        if self._width is None or self._width > _FEW_COLUMNS:
            found: Values = better.reduceat(self._values, self.starts)
            return found
        table = self._values.reshape(-1, self._width)
        bests = table[:, 0].copy()
        for column in range(1, self._width):
            better(bests, table[:, column], out=bests)
        return bests

    @property
    def ordinary(self) -> bool:
        """Whether the error bounds of floats hold for these scores and this scale; if not, use ``Gaps``."""
        kind = self._values.dtype.kind
        if kind == "f" and not self._arithmetic.cannot_overflow(float(np.abs(self.bests).max())):
            return False
        return kind != "O" and self._arithmetic.ordinary

    def row(self, number: int) -> Gaps:
        """Return the gaps of one row."""
        start = int(self.starts[number])
        stop = self.size if number + 1 == len(self.starts) else int(self.starts[number + 1])
        return Gaps(
            self._values[start:stop], scale=self.scale, largest_is_best=self._largest_is_best
        )

    def row_of(self, places: Indices) -> Indices:
        """Return the row that contains each place."""
        if self._width is not None:
            return places // self._width
        found: Indices = np.searchsorted(self.starts, places, side="right") - 1
        return found

    def places_of(self, rows: Indices) -> Indices:
        """Return all places of these rows, one row after another."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        places: Indices = np.arange(int(ends[-1]) if len(ends) else 0)
        places += np.repeat(self.starts[rows] - (ends - lengths), lengths)
        return places

    def exact(self, place: int) -> Fraction:
        """Return γ of one score, exactly."""
        row = int(self.row_of(np.array([place]))[0])
        difference = Fraction(self.bests.item(row)) - Fraction(self._values.item(place))
        return (difference if self._largest_is_best else -difference) / self.scale

    def gather(self, places: Indices) -> Floats:
        """Return γ of these scores to within 2⁻⁵¹·γ + 2⁻⁹⁰ (lemma 4), clipped at ``FARTHEST_GAP``."""
        found = np.empty(len(places))
        self._behind(
            self._values[places], self.bests[self.row_of(places)], found, np.empty_like(found)
        )
        return self._arithmetic.from_differences(found)

    def gammas(self) -> Floats:
        """Return γ of all scores, the same numbers as in ``gather``; the next call overwrites the array."""
        return self._arithmetic.from_differences(self._all_behind())

    def within(self, bounds: Floats, words: NDArray[Any]) -> tuple[Indices, Floats]:
        """Return the places p whose γ is at most ``bounds[words[p]]``, and γ of each of them.

        Bounds decrease: the first is infinite, the others go from 500 down to 2⁻⁸. The result is correct if γ
        differs from its bound by more than 2⁻⁴⁸ times the bound (lemma 4).
        """
        behind = self._all_behind()
        limits = self._arithmetic.as_differences(bounds)
        # Most scores exceed every bound but the first; only the rest are compared with their own bound.
        near: Flags = behind <= limits[1]
        near |= words == 0
        places = near.nonzero()[0]
        behind = behind.take(places)
        kept = (behind <= limits.take(words.take(places))).nonzero()[0]
        return places.take(kept), self._arithmetic.from_differences(behind.take(kept))

    def is_best(self) -> Flags:
        """Return whether each score is the best of its row."""
        flags: Flags = self._shaped(self._values) == self._beside(self.bests)
        return flags.ravel()

    def _all_behind(self) -> Floats:
        found, spare = (self._scratch(number, self.size) for number in (0, 1))
        values, bests = self._shaped(self._values), self._beside(self.bests)
        self._behind(values, bests, self._shaped(found), self._shaped(spare))
        return found

    def _shaped(self, values: Values) -> Values:
        """Return an array of all scores as a table if all rows are equally long, else unchanged."""
        return values if self._width is None else values.reshape(-1, self._width)

    def _beside(self, bests: Values) -> Values:
        """Return the best score of each row, in a shape that broadcasts with that of ``_shaped``."""
        return np.repeat(bests, self.lengths) if self._width is None else bests[:, None]

    def _behind(self, values: Values, bests: Values, out: Floats, spare: Floats) -> None:
        """Write to ``out`` how far each score is behind the best of its row, rounded at most once."""
        better, worse = (bests, values) if self._largest_is_best else (values, bests)
        if values.dtype.kind != "f" and values.dtype.itemsize == 8:
            # Subtracting modulo 2⁶⁴ is exact for a non-negative difference.
            exact = np.subtract(
                better.view(np.uint64), worse.view(np.uint64), out=spare.view(np.uint64)
            )
            out[...] = exact
        else:
            # Narrower types are widened first, which is exact.
            np.subtract(better, worse, out=out, dtype=np.float64)


def in_blocks(starts: Indices, size: int, most: int) -> Sequence[tuple[int, int]]:
    """Split the rows into ranges with at most ``most`` scores each; a longer row is a range of its own.

    Example:
        >>> in_blocks(np.array([0, 3, 6, 20]), 22, 7)
        [(0, 2), (2, 3), (3, 4)]
    """
    ends = np.append(starts[1:], size)
    blocks: list[tuple[int, int]] = []
    first = 0
    while first < len(starts):
        fitting = int(np.searchsorted(ends, int(starts[first]) + most, side="right"))
        last = max(fitting, first + 1)
        blocks.append((first, last))
        first = last
    return blocks
