"""The exponential mechanism over sets of k candidates: an unordered top-k.

The loss of a set is max_i (c_(i) − c(S)_(i)): the i-th largest of all counts minus the i-th largest in the
set. A set is drawn in proportion to e^{−loss/scale}. The sets up to a given loss are counted in one pass over
the k places: as a logarithm in floats to propose a level of loss, and as an exact integer to accept it
(docs/proofs/top-k.md).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet._exact.sampling.bits import Bits, uniform_below
from discreet._exact.sampling.loss_levels import (
    STANDARD_BLOCKS,
    Blocks,
    Counts,
    Floats,
    LossLevels,
    Ranked,
)

_PARTS = 60  # binary places in the bound on the number of sets
_COLUMNS = 1 << 18  # losses times places counted at once


@np.errstate(all="ignore")
def joint_set(
    counts: Counts, k: int, *, scale: Fraction, bits: Bits, blocks: Blocks = STANDARD_BLOCKS
) -> list[int]:
    """Draw ``k`` candidates, in ascending order, in proportion to e^{−max_i (c_(i) − c(S)_(i))/scale}.

    ``counts`` are whole numbers from 0 to 2⁶². The running time depends on them.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> joint_set(np.array([5, 900, 300, 2000, 0]), 3, scale=Fraction(2), bits=SecureBits())
        [1, 2, 3]
    """
    sets = Sets(counts, k)
    levels = LossLevels(sets, scale, blocks)
    while True:
        level, last = levels.propose(bits)
        # The block was proposed as if each of its levels had the bound of the last level.
        ways = sets.ways(level)
        if _happens(ways[-1][k] << _PARTS, sets.number(last), bits, blocks.word):
            return sorted(sets.ranked(sets.uniform(level, ways, bits)))


class Sets(Ranked):
    """The sets of ``k`` candidates; counts those with at most a given loss, and draws one of them uniformly.

    A set has a loss of at most v if, for every i, its i-th best is among the t_i(v) candidates that fit place
    i. The ranks from t_{i−1} up to t_i form block i, so at least i ranks of the set are in blocks 1 to i.
    """

    __slots__ = ("_logarithms",)

    def __init__(self, counts: Counts, k: int) -> None:
        super().__init__(counts, k)
        self._logarithms: dict[int, float] = {}

    @property
    def steps(self) -> int:
        """A bound on the work for one loss: places × ranks taken so far × ranks taken from a block."""
        return self.k**3

    def logarithms(self, losses: Counts) -> Floats:
        """Return, for each loss, the log of a close upper bound on the number of sets with no larger loss."""
        new = np.array([loss for loss in losses.tolist() if loss not in self._logarithms], np.int64)
        # This covers all rounding errors of the pass, so the bound is above the number
        # (docs/proofs/top-k.md).
        rounding = self.k**2 * (self.k * math.log(len(self.counts)) + 100) * 2.0**-46
        step = max(1, _COLUMNS // self.k)
        for at in range(0, len(new), step):
            some = new[at : at + step]
            counted = self._counted(some) + rounding
            self._logarithms.update(zip(some.tolist(), counted.tolist(), strict=True))
        return np.array([self._logarithms[loss] for loss in losses.tolist()])

    @np.errstate(divide="ignore")
    def _counted(self, losses: Counts) -> Floats:
        """Return, for each loss, the log of the number of sets with at most this loss, with rounding errors.

        After block i, ``ways[m]`` is the logarithm of the number of ways to take m ranks from blocks 1 to i,
        for m from i to k.
        """
        k, fit = self.k, self.fitting(losses)
        sizes = np.diff(fit, axis=0, prepend=0)
        takes = np.arange(1, k + 1)[:, None]
        ways = np.full((k + 1, len(losses)), -np.inf)
        ways[0] = 0.0
        for place in range(1, k + 1):
            size = sizes[place - 1]
            if not size.any():
                ways[:place] = -np.inf
                continue
            # C(b, m), the ways to take m of a block of b, is the product of (b − m + 1)/m.
            chances = np.log(np.maximum(size - takes + 1, 0) / takes).cumsum(axis=0)
            after = ways.copy()
            after[:place] = -np.inf
            for taken in range(1, min(k, int(size.max())) + 1):
                lowest = max(place, taken)
                more = ways[lowest - taken : k + 1 - taken] + chances[taken - 1]
                after[lowest:] = np.logaddexp(after[lowest:], more)
            ways = after
        found: Floats = ways[k]
        return found

    def number(self, loss: int) -> int:
        """Return 2⁶⁰ times the bound that ``logarithms`` computed for this loss, rounded up."""
        whole, part = divmod(self._logarithms[loss] / math.log(2), 1.0)
        return (math.floor(math.ldexp(2.0**part, _PARTS)) + 1) << int(whole)

    def ways(self, loss: int) -> list[list[int]]:
        """Return lists: entry m of list i is the number of allowed ways to take m ranks from blocks 1 to i.

        Both i and m go from 0 to k. The last entry of the last list is the number of sets.
        """
        k = self.k
        ways = [[1] + [0] * k]
        for place, size in enumerate(self._sizes(loss), start=1):
            before, after = ways[-1], [0] * (k + 1)
            chances = [math.comb(size, taken) for taken in range(min(k, size) + 1)]
            for number in range(place, k + 1):
                after[number] = sum(
                    chance * before[number - taken]
                    for taken, chance in enumerate(chances[: number + 1])
                    if before[number - taken]
                )
            ways.append(after)
        return ways

    def uniform(self, loss: int, ways: list[list[int]], bits: Bits) -> list[int]:
        """Draw one of the sets with at most this loss, uniformly; return its ranks.

        From the last block to the first, draw how many ranks the block contributes, and then which ones.
        """
        left, ranks = self.k, list[int]()
        sizes = self._sizes(loss)
        end = sum(sizes)
        for place in range(self.k, 0, -1):
            size, before = sizes[place - 1], ways[place - 1]
            taken = 0
            if place == 1:
                taken = left
            elif size:
                at = uniform_below(bits, ways[place][left])
                while (here := math.comb(size, taken) * before[left - taken]) <= at:
                    at, taken = at - here, taken + 1
            end -= size
            ranks += [end + rank for rank in _some(size, taken, bits)]
            left -= taken
        return ranks

    def _sizes(self, loss: int) -> list[int]:
        sizes: list[int] = np.diff(self.fitting(np.array([loss]))[:, 0], prepend=0).tolist()
        return sizes


def _happens(chances: int, among: int, bits: Bits, word: int) -> bool:
    """Flip a coin with probability ``chances / among``, using as many words of bits as needed."""
    while chances:
        digit, chances = divmod(chances << word, among)
        drawn = bits.integer(word)
        if drawn != digit:
            return drawn < digit
    return False


def _some(size: int, taken: int, bits: Bits) -> set[int]:
    """Draw a set of ``taken`` different numbers below ``size``, uniformly among all such sets."""
    found: set[int] = set()
    for last in range(size - taken, size):
        drawn = uniform_below(bits, last + 1)
        found.add(last if drawn in found else drawn)
    return found
