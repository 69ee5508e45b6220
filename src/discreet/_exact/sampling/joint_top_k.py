"""The joint exponential mechanism for top-k: draw an ordered tuple of k candidates at once.

The loss of a tuple (s_1, ..., s_k) is max_i (c_(i) − c_{s_i}), where c_(1) ≥ c_(2) ≥ ... are the sorted
counts. A tuple is drawn in proportion to e^{−loss/scale} (docs/proofs/top-k.md).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet._exact.sampling.bits import Bits, uniform_below
from discreet._exact.sampling.loss_levels import (
    CELLS,
    STANDARD_BLOCKS,
    Blocks,
    Counts,
    Floats,
    LossLevels,
    Ranked,
)


@np.errstate(all="ignore")
def joint_first(
    counts: Counts, k: int, *, scale: Fraction, bits: Bits, blocks: Blocks = STANDARD_BLOCKS
) -> list[int]:
    """Draw ``k`` distinct candidates in order, in proportion to e^{−max_i (c_(i) − c_{s_i})/scale}.

    ``counts`` are whole numbers from 0 to 2⁶². The running time depends on them.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> joint_first(np.array([5, 900, 300, 2000, 0]), 3, scale=Fraction(2), bits=SecureBits())
        [3, 1, 2]
    """
    tuples = Tuples(counts, k)
    levels = LossLevels(tuples, scale, blocks)
    while True:
        level, last = levels.propose(bits)
        if level == last:
            return tuples.uniform(level, bits)
        # The block was proposed as if each of its levels had as many tuples as the last level.
        here, there = tuples.free(level), tuples.free(last)
        if all(
            uniform_below(bits, most) < now
            for now, most in zip(here, there, strict=True)
            if now < most
        ):
            return tuples.uniform(level, bits)


class Tuples(Ranked):
    """Ordered tuples of ``k`` candidates; counts those with at most a given loss, and draws one uniformly."""

    __slots__ = ()

    def within(self, losses: Counts, *, first: int = 0, last: int | None = None) -> Counts:
        """Return how many candidates are left for each place (rows) at each loss (columns).

        A candidate that fits one place fits every later place, so each earlier choice removes one candidate.
        """
        fit = self.fitting(losses, first=first, last=last)
        return fit - np.arange(first, first + len(fit))[:, None]

    def free(self, loss: int) -> list[int]:
        """Return the numbers of candidates left for each place; their product is the number of tuples."""
        found: list[int] = self.within(np.array([loss]))[:, 0].tolist()
        return found

    def number(self, loss: int) -> int:
        """Return the number of tuples with at most this loss."""
        return math.prod(self.free(loss))

    def logarithms(self, losses: Counts) -> Floats:
        """Return, for each loss, the logarithm of the number of tuples with at most this loss."""
        found = np.zeros(len(losses))
        rows = max(1, CELLS // len(losses))
        for first in range(0, self.k, rows):
            found += np.log(self.within(losses, first=first, last=first + rows)).sum(axis=0)
        return found

    def uniform(self, loss: int, bits: Bits) -> list[int]:
        """Draw one of the tuples with at most this loss, uniformly.

        Ranks are assigned by swaps, as in a shuffle: the ranks still available for place i are at the
        positions from i up to the number of candidates that fit place i.
        """
        moved: dict[int, int] = {}
        ranks = []
        for place, left in enumerate(self.free(loss)):
            at = place + uniform_below(bits, left)
            ranks.append(moved.get(at, at))
            moved[at] = moved.get(place, place)
        return self.ranked(ranks)
