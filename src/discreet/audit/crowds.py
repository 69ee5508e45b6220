"""Crowds: score vectors with many candidates but few distinct scores (levels), and their neighbours.

A property that holds for a few candidates can fail for many. As a crowd grows, the probability of choosing
any one member falls, but the advantage that a mechanism gives the leader does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet.audit.relations import Floats, Relation, ScoreGrid

LARGEST = 10_000
"""The largest number of candidates in a crowd."""

TOTALS = (7, 30, 300, LARGEST)
FEW_TOTALS = (30, LARGEST)

Block = tuple[float, float, int]
"""A score, the score of the same candidates in the neighbour, and the number of these candidates."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """A pair of neighbouring score vectors with few distinct scores, stored as blocks."""

    blocks: tuple[Block, ...]

    @property
    def size(self) -> int:
        """The number of candidates."""
        return sum(count for *_, count in self.blocks)

    def rows(self) -> tuple[Floats, Floats]:
        """Return the two score vectors, with one entry per candidate."""
        counts = [count for *_, count in self.blocks]
        first, second = ([block[side] for block in self.blocks] for side in (0, 1))
        return np.repeat(first, counts), np.repeat(second, counts)

    def around(self, step: float, grow: float) -> Iterator[Crowd]:
        """Yield crowds with one block moved (in either vector or in both) or resized."""
        for place, (here, there, count) in enumerate(self.blocks):
            rest = self.blocks[:place], self.blocks[place + 1 :]
            for move in (step, -step):
                for moved in (
                    (here + move, there, count),
                    (here, there + move, count),
                    (here + move, there + move, count),
                ):
                    yield Crowd((*rest[0], moved, *rest[1]))
            for many in {round(count * grow), round(count / grow)} - {count}:
                if 1 <= many <= LARGEST + count - self.size:
                    yield Crowd((*rest[0], (here, there, many), *rest[1]))

    def clipped(self, relation: Relation, delta: float) -> Crowd:
        """Return the nearest crowd whose two vectors are neighbours."""
        here = np.array([block[0] for block in self.blocks])
        there = relation.clip(here, np.array([block[1] for block in self.blocks]), delta)
        counts = [block[2] for block in self.blocks]
        return Crowd(tuple(zip(here.tolist(), there.tolist(), counts, strict=True)))


def crowds(total: int, grid: ScoreGrid, gaps: list[float], relation: Relation) -> Iterator[Crowd]:
    """Yield crowds of several shapes (an outsider, blocks, a staircase), with neighbours of every kind."""
    seen = set[tuple[tuple[float, int], ...]]()
    for gap in gaps:
        for levels in _shapes(total, gap):
            if levels not in seen:
                seen.add(levels)
                yield from _against(levels, relation, grid.delta)


def _shapes(total: int, gap: float) -> Iterator[tuple[tuple[float, int], ...]]:
    half, third = total // 2, total // 3
    yield ((0.0, total),)
    yield (0.0, total - 1), (-gap, 1)
    yield (gap, 1), (0.0, total - 1)
    yield (gap, half), (0.0, total - half)
    if total > 6:
        yield (0.0, total - 2), (-gap, 1), (-2 * gap, 1)
        yield (gap, 1), (0.0, total - 2), (-gap, 1)
        yield (gap, third), (0.0, third), (-gap, total - 2 * third)
        rungs, rest = divmod(total, 5)
        yield tuple((-gap * rung, rungs + (rung < rest)) for rung in range(5))


def _against(
    levels: tuple[tuple[float, int], ...], relation: Relation, delta: float
) -> Iterator[Crowd]:
    """Move a block, one member of it, or the top of the ranking against the rest."""
    pieces: list[tuple[float, int]] = []
    places: list[int] = []
    for place, (value, count) in enumerate(levels):
        split = [(value, 1), (value, count - 1)] if count > 1 else [(value, 1)]
        pieces += split
        places += [place] * len(split)
    moved = [{place} for place in range(len(pieces))]
    for level in range(len(levels)):
        moved.append({piece for piece, place in enumerate(places) if place <= level})
        moved.append({piece for piece, place in enumerate(places) if place == level})
    whole = set(range(len(pieces)))
    for members in {frozenset(part) for part in moved if part != whole}:
        for inside, outside in relation.ways(delta):
            yield merged(
                [
                    (value, value + (inside if piece in members else outside), count)
                    for piece, (value, count) in enumerate(pieces)
                ]
            )


def merged(blocks: list[Block]) -> Crowd:
    """Merge blocks that have the same two scores.

    Example:
        >>> merged([(0.0, 1.0, 1), (0.0, 1.0, 5), (2.0, 1.0, 1)]).blocks
        ((0.0, 1.0, 6), (2.0, 1.0, 1))
    """
    counts: dict[tuple[float, float], int] = {}
    for here, there, count in blocks:
        counts[here, there] = counts.get((here, there), 0) + count
    return Crowd(tuple((*pair, count) for pair, count in counts.items()))


# ---- very large scores -----------------------------------------------------------------------------------

_OVERFLOWS = (30.0, 90.0, 350.0, 700.0, 712.0, 750.0, 1500.0)
"""Exponents near which powers of e overflow or underflow in float32 or float64."""

_POWERS = (10, 17, 24, 31, 40, 50)
_HUGE = (1e4, 2.0**31, 2.0**53, 1e16, 1e39, 1e100, 8e307, 1.7e308)


def offsets(noise_scale: float, delta: float) -> list[float]:
    """Return common offsets to try, in ascending order: where exponentials overflow, and powers of two."""
    far = {round(part * noise_scale / delta) * delta for part in _OVERFLOWS}
    far |= {delta * 2.0**power for power in _POWERS} | {700 * delta, 1000 * delta}
    return [-value for value in sorted(far, reverse=True)] + [0.0, *sorted(far)]


def far_bases(size: int, grid: ScoreGrid) -> list[Floats]:
    """Return the vectors to which large offsets are added: a tie, and a lead of Δ."""
    return [np.zeros(size), np.eye(1, size)[0] * grid.delta]


def far_rows(size: int, grid: ScoreGrid, noise_scale: float) -> Floats:
    """Return the base vectors at all common offsets, nearest first, and vectors with enormous scores."""
    far = sorted(offsets(noise_scale, grid.delta), key=abs)
    moved = [base + offset for offset in far for base in far_bases(size, grid)]
    return np.concatenate([moved, _lopsided(size, grid.delta)])


def narrowed(
    low: float, high: float, delta: float, change: Callable[[float, float], float]
) -> tuple[float, float]:
    """Bisect between two offsets down to one Δ, always keeping the half where probabilities change more."""
    while high - low > delta:
        middle = low + max(1.0, (high - low) / delta // 2) * delta
        low, high = (low, middle) if change(low, middle) >= change(middle, high) else (middle, high)
    return low, high


def _lopsided(size: int, delta: float) -> Floats:
    """Return vectors in which one or two scores are enormous and the others are not."""
    rows = []
    for huge, sign in product(_HUGE, (1.0, -1.0)):
        for lead in (0.0, delta):
            row = np.zeros(size)
            row[-1] = lead
            row[0] = sign * huge
            rows.append(row)
        both = np.zeros(size)
        both[:2] = sign * huge, (sign if size > 2 else -sign) * huge
        rows.append(both)
    return np.array(rows)
