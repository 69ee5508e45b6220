"""The gap from each score to the best score, computed on demand and, if requested, exactly.

Every mechanism depends on the scores q only through γ_r = (q* − q_r)/s, where q* is the best score and s the
noise scale. :class:`Gaps` does not copy the scores. It reads them once to find the best score overall and in
every block, and then computes only the gaps that a sampler requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps.arithmetic import Flags, Floats, Scalar, Values, arithmetic_for
from discreet.errors import ParameterError, ScoresError

_ROW = 4096
_ROWS_AT_ONCE = 256


def best_of_rows(rows: Values, *, largest_is_best: bool) -> Values:
    """Return the best number of each row of a two-dimensional array; refuse NaN and an infinite best.

    An infinite score that is not the best is allowed here, because it is never chosen. ``require_finite``
    refuses it when the scores are passed in.

    Example:
        >>> best_of_rows(np.array([[1.0, 3.0], [-2.0, -1.0]]), largest_is_best=True)
        array([ 3., -1.])
    """
    # If a row contains NaN, its maximum and minimum are NaN.
    bests: Values = (np.maximum if largest_is_best else np.minimum).reduce(rows, axis=1)
    if rows.dtype.kind == "f" and np.count_nonzero(np.isfinite(bests)) < len(bests):
        raise ScoresError("scores must be finite")
    return bests


def best_of(values: Values, *, largest_is_best: bool) -> Any:
    """Return the best number of one row as a Python number; see ``best_of_rows``.

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
    """Refuse NaN and infinities among scores of any native type, in one fast pass.

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

    If a sum is finite, so is every term. A non-finite sum may also come from an overflow of finite terms, so
    its terms are then checked one by one.
    """
    # Faster than `sum`, and single-threaded: BLAS would wait for its threads on a busy machine.
    if rows.dtype.itemsize >= 4 and np.isfinite(np.einsum("ij->i", rows)).all():
        return
    if not np.isfinite(rows).all():
        raise ScoresError("scores must be finite")


Indices: TypeAlias = NDArray[np.int64]

BLOCK = 2048
"""The number of candidates in a block; a sampler skips blocks whose best score is too far behind."""

_BLOCKS_AT_ONCE = 256
# Arrays of this length for computing pairs fit in the second-level cache.
_PAIRS_AT_ONCE = 1 << 14
_FEW_BLOCKS = 48
_NARROW = 256
_CLOSE = 2


class Gaps:
    """The gap γ_r ≥ 0 from each candidate's score to the best score, in units of the noise scale.

    Args:
        values: one-dimensional array of a native integer or float type, or of Python integers and
            Fractions (``dtype=object``). It is not copied, so it must not change during a release.
        scale: the noise scale s, a positive rational.
        largest_is_best: whether the best score is the largest; otherwise the least.
        block: the number of candidates in a block; tests use small blocks.

    Example:
        >>> gaps = Gaps(np.array([3, 7, 5]), scale=Fraction(2))
        >>> gaps.best, gaps.exact(0), gaps.gather(np.array([0, 2]))
        (7, Fraction(2, 1), array([2., 1.]))
    """

    __slots__ = (
        "_arithmetic",
        "_best",
        "_block_bests",
        "_block_size",
        "_is_near",
        "_largest_is_best",
        "_values",
        "scale",
        "size",
    )

    def __init__(
        self,
        values: Values,
        *,
        scale: Fraction,
        largest_is_best: bool = True,
        block: int = BLOCK,
    ) -> None:
        if scale.numerator <= 0:
            raise ParameterError(f"scale must be positive, not {scale}")
        dtype = values.dtype
        if values.ndim != 1 or dtype.kind not in "iufO" or dtype.itemsize > 8 or not dtype.isnative:
            raise ScoresError(
                "scores must be one-dimensional and of a native integer or float type"
            )
        if not len(values):
            raise ScoresError("there must be at least one score")
        self._values = values
        self.scale = scale
        self.size = len(values)
        self._largest_is_best = largest_is_best
        self._is_near: np.ufunc = np.greater_equal if largest_is_best else np.less_equal
        self._block_size = block
        self._arithmetic = arithmetic_for(
            values.dtype, scale.numerator, scale.denominator, largest_is_best
        )
        self._best: Scalar = None
        self._block_bests: Values | None = None

    @property
    def native(self) -> bool:
        """Whether the scores are machine numbers, not Python objects with slow exact arithmetic."""
        return self._values.dtype.kind != "O"

    @property
    def best(self) -> Scalar:
        """The best score as a Python number. The first use reads and checks all scores."""
        if self._best is None:
            self._scan()
        return self._best

    # ---- one pass over the scores ----

    def _scan(self) -> None:
        values = self._values
        if self.size >= 8 * self._block_size:
            self._block_bests = values = self._bests(self._block_size)
        self._best = best_of(values, largest_is_best=self._largest_is_best)

    def _bests(self, width: int) -> Values:
        """Return the best score of every ``width`` consecutive candidates; the last group may be shorter."""
        values, largest = self._values, self._largest_is_best
        whole = self.size // width
        bests = best_of_rows(values[: whole * width].reshape(whole, width), largest_is_best=largest)
        if whole * width < self.size:
            last = best_of_rows(values[None, whole * width :], largest_is_best=largest)
            bests = np.concatenate([bests, last])
        return bests

    # ---- single gaps ----

    def exact(self, index: int) -> Fraction:
        """Return γ of one candidate, exactly."""
        try:
            difference = Fraction(self.best) - Fraction(self._values.item(index))
        except (OverflowError, ValueError):
            raise ScoresError("scores must be finite") from None
        return (difference if self._largest_is_best else -difference) / self.scale

    def gamma(self, index: int) -> float:
        """Return γ of one candidate as a float, the same number as in ``gather``."""
        return self._arithmetic.gamma(self._values.item(index), self.best)

    def gather(self, indices: Indices) -> Floats:
        """Return γ of these candidates to within 2⁻⁵¹·γ + 2⁻⁹⁰, clipped at ``FARTHEST_GAP``."""
        return self._arithmetic.gammas(self._values[indices], self.best)

    def stretch(self, start: int, stop: int) -> Floats:
        """Return γ of the candidates in ``range(start, stop)``, the same numbers as in ``gather``."""
        return self._arithmetic.gammas(self._values[start:stop], self.best)

    def steady_stretch(self, start: int, stop: int) -> Floats:
        """Return γ as in ``stretch``, clipped to [2⁻¹⁰⁰, 150]; no operation depends on the scores."""
        return self._arithmetic.steady_gammas(self._values[start:stop], self.best)

    def within(self, bounds: Floats, places: NDArray[Any]) -> Flags:
        """Return, for each candidate i, whether its γ is at most ``bounds[places[i]]``.

        Each bound is between 2⁻⁸ and 500, or infinite. The result is correct if γ differs from the bound by
        more than 2⁻⁴⁸ times the bound.
        """
        return self._arithmetic.within(self._values, self.best, bounds, places)

    def gammas(self) -> tuple[Floats, Floats]:
        """Return two arrays whose sum is γ of every candidate, to within about 2⁻¹⁰⁰·γ + 2⁻⁵⁰⁰.

        The term 2⁻⁵⁰⁰ matters only if scores differ by a subnormal number. Gaps are clipped to 2⁹⁰⁰. This
        computes the gap of every candidate; most samplers need far fewer.
        """
        with np.errstate(all="ignore"):
            best = self.best
            if self.size <= _PAIRS_AT_ONCE:
                return self._arithmetic.pairs(self._values, best)
            high = np.empty(self.size)
            low = np.empty(self.size)
            for start in range(0, self.size, _PAIRS_AT_ONCE):
                part = slice(start, start + _PAIRS_AT_ONCE)
                high[part], low[part] = self._arithmetic.pairs(self._values[part], best)
            return high, low

    # ---- thresholds: a candidate that is far at a level has exp(−γ) < 2^−level ----

    def threshold(self, level: int) -> Scalar:
        """Return a number such that every worse score has exp(−γ) < 2^−level."""
        return self._arithmetic.threshold(self.best, level)

    def is_far(self, indices: Indices, level: int) -> Flags:
        """Return a mask of the candidates whose score is worse than ``threshold(level)``."""
        worse = np.less if self._largest_is_best else np.greater
        return worse(self._values[indices], self.threshold(level))

    def blocks(self, *, narrow: bool = False) -> tuple[int, Indices, Floats]:
        """Return the blocks' width, their starts and the smallest γ in each; the last block may be shorter.

        Narrow blocks need another pass over the scores. With few scores, blocks are always narrow.
        """
        width, bests = self._block_size, self._block_bests
        if bests is None or narrow:
            width = min(self.size, _NARROW)
            bests = self._bests(width)
        starts = np.arange(0, self.size, width)
        return width, starts, self._arithmetic.gammas(bests, self.best)

    def parts(self, starts: Indices, width: int, count: int) -> Floats:
        """Cut each of these blocks into ``count`` equal parts; return the smallest γ in each part."""
        stretches = [self._values[start : start + width] for start in starts.tolist()]
        rows = np.concatenate(stretches).reshape(-1, width // count)
        bests = best_of_rows(rows, largest_is_best=self._largest_is_best)
        return self._arithmetic.gammas(bests, self.best)

    def few_near(self, level: int, *, most: int) -> Indices | None:
        """Return all candidates with scores no worse than ``threshold(level)``, or None.

        None means that there are more than ``most``, or that finding them would be slow.
        """
        bests, threshold = self._block_bests, self.threshold(level)
        if bests is None:
            flags = self._is_near(self._values, threshold)
            return flags.nonzero()[0] if np.count_nonzero(flags) <= most else None
        blocks = self._is_near(bests, threshold).nonzero()[0]
        if len(blocks) > _FEW_BLOCKS:
            return None
        found = self._listed(blocks, threshold, self._is_near)
        return found if len(found) <= most else None

    def some_near(self, level: int, *, count: int) -> bool:
        """Return whether any of about ``count`` evenly spaced candidates reaches ``threshold(level)``."""
        some = self._values[:: max(1, self.size // count)]
        return bool(self._is_near(some, self.threshold(level)).any())

    def ties(self) -> Iterator[Indices]:
        """Yield the candidates with the best score, in several arrays of bounded length."""
        bests = self._block_bests
        if bests is None:
            yield (self._values == self.best).nonzero()[0]
            return
        wanted = (bests == self.best).nonzero()[0]
        for start in range(0, len(wanted), _BLOCKS_AT_ONCE):
            yield self._listed(wanted[start : start + _BLOCKS_AT_ONCE], self.best, np.equal)

    def _listed(self, blocks: Indices, threshold: Scalar, test: Any) -> Indices:
        """Return the candidates in these blocks that pass ``test(score, threshold)``."""
        size = self._block_size
        first, last = int(blocks[0]), int(blocks[-1]) + 1
        if last - first <= _CLOSE * len(blocks):
            # The blocks are close together, so reading the ones between them is faster than skipping them.
            found: Indices = test(self._values[first * size : last * size], threshold).nonzero()[0]
            found += first * size
            return found
        whole = self.size // size
        if last > whole:
            # The last block is short.
            rest = self._listed(blocks[-1:], threshold, test)
            return np.concatenate([self._listed(blocks[:-1], threshold, test), rest])
        rows = self._values[: whole * size].reshape(whole, size)[blocks]
        found = test(rows, threshold).ravel().nonzero()[0]
        row = found // size
        found += (blocks[row] - row) * size
        return found
