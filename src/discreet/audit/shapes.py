"""The score vectors that audits start from: ties, two blocks, staircases, and points around their links.

All are multiples of the grid's step, best candidate first; the search turns them around as well.
"""

from __future__ import annotations

import numpy as np

from discreet.audit.relations import Floats, ScoreGrid

_LATTICES = {2: (4, 25), 3: (2, 9), 4: (1, 6), 5: (1, 4), 6: (1, 3)}
"""Candidates: steps to a Δ, and points to a side, of the exhaustive lattice."""


def lattice_shape(size: int) -> tuple[int, int] | None:
    """Steps per Δ and points per side, or None where a lattice would be too large."""
    return _LATTICES.get(size)


def lattice(size: int, grid: ScoreGrid) -> Floats:
    """All points of the lattice, one per row, the last coordinate moving fastest."""
    per_delta, side = _LATTICES[size]
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
    """The structured vectors for ``size`` candidates, one per row, without repetition.

    ``both_ways`` adds each in reverse order, for subjects that may treat candidates differently;
    ``both_sides`` adds each below zero, where its neighbours reach, for subjects that may know a bound.
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
    # Two contenders and a rest far behind: whatever two candidates can show, more can.
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
    """A staircase, and the same with one link longer (or closed): where a chain breaks."""
    stairs = step * np.arange(size - 1, -1, -1, dtype=np.float64)
    rows = [stairs]
    for link in _places(size):
        for extra in extras:
            row = stairs.copy()
            row[:link] += extra
            rows.append(row)
    return rows


def scattered(size: int, grid: ScoreGrid, width: float, count: int, seed: int) -> Floats:
    """Evenly scattered vectors (a Kronecker sequence shifted by the seed), snapped to the grid."""
    # The generalised golden ratio gives the most evenly spread additive recurrence.
    ratio = 2.0
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (size + 1))
    slopes = ratio ** -np.arange(1, size + 1, dtype=np.float64)
    steps = np.arange(1, count + 1, dtype=np.float64)[:, None] + 1000.0 * (seed % 100_003)
    points = np.mod(0.5 + steps * slopes, 1.0) * width
    return np.asarray(np.round(points / grid.step) * grid.step)
