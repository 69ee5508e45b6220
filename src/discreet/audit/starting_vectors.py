"""The score vectors that an audit starts from.

These are lattices, ties, two blocks, staircases, staircases with one step changed, scattered vectors, crowds
of equal scores, and very large scores. All scores except the very large ones are multiples of the grid's
step. In ties, blocks and staircases the best candidate comes first; ``shapes`` can add the reverse order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from discreet.audit.relations import Floats, ScoreGrid

LATTICES = {2: (4, 25), 3: (2, 9), 4: (1, 6), 5: (1, 4), 6: (1, 3)}
"""For each number of candidates: lattice steps per Δ, and points per side."""


def lattice(size: int, grid: ScoreGrid) -> Floats:
    """Return all points of the lattice, one per row; the last coordinate varies fastest."""
    per_delta, side = LATTICES[size]
    points = np.indices((side,) * size).reshape(size, -1).T
    return np.asarray(points * (grid.delta / per_delta), dtype=np.float64)


def shapes(
    size: int,
    grid: ScoreGrid,
    noise_scale: float,
    *,
    both_ways: bool = True,
    both_sides: bool = False,
) -> Floats:
    """Return the structured vectors for ``size`` candidates, one per row, without duplicates.

    ``both_ways`` adds each vector in reverse order, for subjects that may treat candidates differently.
    ``both_sides`` adds each vector shifted below zero, for subjects that may use a bound on the scores.
    """
    delta, hair = grid.delta, grid.step
    gaps = [delta, delta + hair, 2 * delta]
    gaps += [grid.snap(min(noise_scale * part, 256 * delta)) for part in (0.5, 2.0, 8.0)]
    rows = [np.zeros(size)]
    for gap in gaps:
        for leaders in _places(size):
            row = np.zeros(size)
            row[:leaders] = gap
            rows.append(row)
    # Two contenders with the rest far behind. A loss between two candidates also occurs with more candidates.
    for lead in (0.0, delta / 2, delta, 2 * delta):
        row = np.zeros(size)
        row[:2] = max(gaps) + lead, max(gaps)
        rows.append(row)
    for step in (delta, 2 * delta):
        rows.extend(_staircases(size, step, [delta, delta + hair, 2 * delta, -step]))
    if both_ways:
        rows += [row[::-1] for row in rows]
    if both_sides:
        rows += [row - row.max() - delta for row in rows]
    return np.unique(np.array(rows), axis=0)


def _places(size: int) -> list[int]:
    return sorted({1, size // 2, size - 1} & set(range(1, size)))


def _staircases(size: int, step: float, extras: list[float]) -> list[Floats]:
    """Return a staircase, and copies with one step lengthened or removed."""
    stairs = step * np.arange(size - 1, -1, -1, dtype=np.float64)
    rows = [stairs]
    for link in _places(size):
        for extra in extras:
            row = stairs.copy()
            row[:link] += extra
            rows.append(row)
    return rows


def scattered(size: int, grid: ScoreGrid, width: float, count: int) -> Floats:
    """Return ``count`` evenly scattered vectors (a Kronecker sequence), snapped to the grid."""
    # The generalised golden ratio gives the most even additive recurrence.
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (size + 1))
    slopes = ratio ** -np.arange(1, size + 1, dtype=np.float64)
    steps = np.arange(1, count + 1, dtype=np.float64)[:, None]
    points = np.mod(0.5 + steps * slopes, 1.0) * width
    return np.asarray(np.round(points / grid.step) * grid.step)


# ---- crowds ----------------------------------------------------------------------------------------------

LARGEST = 10_000
"""The largest number of candidates in a crowd."""

Levels = tuple[tuple[float, ...], tuple[int, ...]]
"""Scores, and the number of candidates with each."""


def crowds(total: int, gap: float) -> Iterator[Levels]:
    """Yield crowds of several shapes: a tie, outsiders, blocks and a staircase.

    A crowd has many candidates but few distinct scores. A property that holds for a few candidates can fail
    for many: as a crowd grows, the probability of choosing any one member falls, but the advantage that a
    mechanism gives the leader does not. One member of each level is listed separately, so that it can move
    alone.
    """
    half, third, (rungs, rest) = total // 2, total // 3, divmod(total, 5)
    shapes = [
        [(0.0, total)],
        [(0.0, total - 1), (-gap, 1)],
        [(gap, 1), (0.0, total - 1)],
        [(gap, half), (0.0, total - half)],
    ]
    if total > 6:
        shapes += [
            [(0.0, total - 2), (-gap, 1), (-2 * gap, 1)],
            [(gap, 1), (0.0, total - 2), (-gap, 1)],
            [(gap, third), (0.0, third), (-gap, total - 2 * third)],
            [(-gap * rung, rungs + (rung < rest)) for rung in range(5)],
        ]
    for levels in shapes:
        pieces = [(value, part) for value, count in levels for part in (1, count - 1) if part]
        values, counts = zip(*pieces, strict=True)
        yield values, counts


# ---- very large scores -----------------------------------------------------------------------------------

_OVERFLOWS = (30.0, 90.0, 350.0, 700.0, 712.0, 750.0, 1500.0)
"""Exponents near which powers of e overflow or underflow in float32 or float64."""

_POWERS = (10, 17, 24, 31, 40, 50)
_HUGE = (1e4, 2.0**31, 2.0**53, 1e16, 1e39, 1e100, 8e307, 1.7e308)


def offsets(noise_scale: float, delta: float) -> list[float]:
    """Return the offsets to add to all scores, ascending: near the overflow of e^x, and powers of two."""
    far = {round(part * noise_scale / delta) * delta for part in _OVERFLOWS}
    far |= {delta * 2.0**power for power in _POWERS} | {700 * delta, 1000 * delta}
    return [-value for value in sorted(far, reverse=True)] + [0.0, *sorted(far)]


def far_bases(size: int, grid: ScoreGrid) -> list[Floats]:
    """Return the vectors to which large offsets are added: a tie, and one candidate in the lead by Δ."""
    return [np.zeros(size), np.eye(1, size)[0] * grid.delta]


def far_rows(size: int, grid: ScoreGrid, noise_scale: float) -> Floats:
    """Return the base vectors shifted by each offset (smallest first), and vectors with enormous scores."""
    far = sorted(offsets(noise_scale, grid.delta), key=abs)
    moved = [base + offset for offset in far for base in far_bases(size, grid)]
    return np.concatenate([moved, _lopsided(size, grid.delta)])


def narrowed(
    low: float, high: float, delta: float, change: Callable[[float, float], float]
) -> tuple[float, float]:
    """Bisect between two offsets until they are Δ apart; keep the half where probabilities change more."""
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
