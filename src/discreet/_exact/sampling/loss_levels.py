"""Propose levels of loss, for exponential mechanisms over tuples and over sets of candidates.

Each item (a tuple or a set) has a loss and is drawn with probability proportional to e^{−loss/scale}. First a
level v is drawn, with probability proportional to e^{−v/scale} times the number of items with loss at most v;
then one of these items is drawn uniformly. Levels are proposed in blocks, by floats with an error bound or by
interval arithmetic, and accepted by exact coins (docs/proofs/top-k.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import Ball, Uniform
from discreet._exact.sampling.discrete_noise import geometric

_NEGLIGIBLE = 45.0  # a block below e^−45 of the largest weight is rarely proposed and may stay wide
_SPLIT = 8
CELLS = 1 << 22

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Settings that affect how a level is searched for, but not the distribution.

    Attributes:
        word: the number of bits drawn at first for a uniform number.
        first: the largest number of blocks to begin with.
        width: a block of this width, in scales, need not be split.
        doubt: a factor on the error bound of floats; ``inf`` leaves everything to interval arithmetic.
    """

    word: int = 64
    first: int = 1024
    width: Fraction = Fraction(1, 2)
    doubt: float = 1.0


STANDARD_BLOCKS = Blocks()


class Ranked:
    """Sorted counts; ``fitting`` returns how many candidates fit each of ``k`` places within a loss."""

    __slots__ = ("_ascending", "_order", "counts", "k", "spread")

    def __init__(self, counts: Counts, k: int) -> None:
        self.counts = counts
        self.k = k
        least = int(counts.min())
        self.spread = int(counts.max()) - least
        self._order: Counts | None = None
        index_bits = len(counts).bit_length()
        if self.spread.bit_length() + index_bits < 64:
            # Sorting integers is much faster than argsort, so put the index in the lower bits.
            packed = (counts - least << index_bits) + np.arange(len(counts))
            if self.spread:
                packed.sort()
            self._order = packed & ((1 << index_bits) - 1)
            self._ascending = (packed >> index_bits) + least
        else:
            self._ascending = np.sort(counts)

    @property
    def steps(self) -> int:
        """The number of steps of work for one loss: one for each place, unless a subclass needs more."""
        return self.k

    def fitting(self, losses: Counts, *, first: int = 0, last: int | None = None) -> Counts:
        """Return how many candidates fit each place (rows) within each loss (columns).

        A candidate fits place i within a loss if its count is at least the i-th largest count minus the loss.
        """
        leading = self._ascending[: -self.k - 1 : -1][first:last]
        fit: Counts = len(self.counts) - np.searchsorted(self._ascending, leading[:, None] - losses)
        return fit

    def ranked(self, ranks: list[int]) -> list[int]:
        """Return the candidate at each rank, largest count first; ties have a fixed but arbitrary order."""
        if self._order is None:
            near = (self.counts >= self._ascending[-1 - max(ranks)]).nonzero()[0]
            order = near[np.argsort(self.counts[near])]
        else:
            order = self._order
        found: list[int] = order[-1 - np.array(ranks)].tolist()
        return found


class Weighed(Protocol):
    """Items, each of which is drawn with a probability that depends on its loss."""

    counts: Counts
    k: int
    spread: int

    @property
    def steps(self) -> int:
        """The approximate number of steps that ``logarithms`` takes for one loss."""

    def logarithms(self, losses: Counts) -> Floats:
        """Return the logarithm of ``number`` for each loss, up to an additive constant."""

    def number(self, loss: int) -> int:
        """Return the number of items with loss at most ``loss``, or an upper bound, times a constant."""


class LossLevels:
    """Levels of loss, cut into blocks: each block runs from one edge to the next, and the last has no end."""

    __slots__ = ("_blocks", "_doubt", "_edges", "_ends", "_rate", "_scale", "_weighed")

    def __init__(self, weighed: Weighed, scale: Fraction, blocks: Blocks) -> None:
        self._weighed, self._scale, self._blocks = weighed, scale, blocks
        # Beyond this many scales lies at most e^−45 of the weight, whatever the counts.
        reach = weighed.k * math.log(len(weighed.counts)) + _NEGLIGIBLE
        # Beyond the spread of the counts every candidate fits, so those levels are not distinguished.
        end = min(math.ceil(scale * Fraction(reach)), weighed.spread)
        narrow = max(1, math.floor(blocks.width * scale))
        number = max(64, min(blocks.first, CELLS // weighed.steps))
        width = max(narrow, -(-end // number))
        self._edges = np.array([*range(0, end, width), end], dtype=np.int64)
        self._rate = float(min(1 / scale, Fraction(1 << 60)))
        while True:
            heights = self._heights(reach)
            heavy = heights[:-1] > heights.max() - _NEGLIGIBLE
            wide = (heavy & (np.diff(self._edges) > narrow)).nonzero()[0]
            if not len(wide):
                break
            finer = [self._edges]
            for place in wide.tolist():
                low, high = self._edges[place : place + 2].tolist()
                finer.append(np.arange(low, high, max(narrow, -(-(high - low) // _SPLIT))))
            self._edges = np.unique(np.concatenate(finer))
        self._ends = np.cumsum(np.exp(heights - heights.max()))
        # The proof page's bound on a share's error in floats.
        steps = (weighed.k + 8) * (4 * reach + 200) + len(heights)
        self._doubt = 2 * blocks.doubt * steps * 2.0**-50

    def _heights(self, reach: float) -> Floats:
        """Return the logarithms of the blocks' weights; weights far below the largest may be inaccurate."""
        starts = np.minimum(self._edges * self._rate, 2 * reach + 100)
        found: Floats = -starts
        found[:-1] += np.maximum(
            np.log(-np.expm1(-np.diff(self._edges) * self._rate)), -reach - 100
        )
        lasts = np.append(self._edges[1:] - 1, self._weighed.spread)
        found += self._weighed.logarithms(lasts)
        return found

    def propose(self, bits: Bits) -> tuple[int, int]:
        """Propose a level; return it and the last level of its block."""
        place = self._block(bits)
        spread = self._weighed.spread
        start, after = (*self._edges[place : place + 2].tolist(), None)[:2]
        last = spread if after is None else after - 1
        if start == last:  # levels beyond the spread are treated as one
            return start, last
        further = geometric(bits, self._scale, word=self._blocks.word)
        if after is None:
            return min(start + further, spread), last
        # The remainder of a geometric number divided by the width is a geometric number below the width.
        return start + further % (after - start), last

    def _block(self, bits: Bits) -> int:
        """Choose a block in proportion to its weight, by floats if their error bound allows it."""
        word = self._blocks.word
        uniform = Uniform(bits, known=bits.integer(word), width=word, step=word)
        total = float(self._ends[-1])
        target = (uniform.known + 0.5) * 0.5**word * total
        doubt = total * (self._doubt + 2.0**-word)
        inner = self._ends[:-1]
        place = int(np.searchsorted(inner, target - doubt))
        if place < len(inner) and not inner[place] > target + doubt:
            return self._settle(uniform)
        return place

    def _settle(self, uniform: Uniform) -> int:
        """Return the first block whose cumulative share of the total weight exceeds the uniform number."""
        edges = self._edges.tolist()
        numbers = [self._weighed.number(after - 1) for after in edges[1:]]
        every = self._weighed.number(self._weighed.spread)

        def shares() -> list[Ball]:
            chances = [ball_of(-edge / self._scale).exp() for edge in edges]
            found = [
                ball_of(number) * chance * -ball_of((start - after) / self._scale).expm1()
                for number, chance, (start, after) in zip(
                    numbers, chances, pairwise(edges), strict=False
                )
            ]
            found = list(accumulate([*found, ball_of(every) * chances[-1]]))
            return [part / found[-1] for part in found]

        return bisect_left(
            range(len(numbers)),
            True,
            key=lambda place: uniform.is_below(lambda: shares()[place]),
        )
