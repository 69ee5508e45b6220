"""Score vectors as a kind of input: lattices, shapes, enormous or scattered scores, and crowds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.crowds import (
    FEW_TOTALS,
    LARGEST,
    TOTALS,
    Crowd,
    crowds,
    far_bases,
    far_rows,
    narrowed,
    offsets,
)
from discreet.audit.losses import Loss
from discreet.audit.relations import (
    Floats,
    Relation,
    ScoreGrid,
    lattice,
    lattice_shape,
    scattered,
    shapes,
)
from discreet.audit.search import Batch, Kind, certified
from discreet.audit.subjects import Subject, stacked
from discreet.audit.verdicts import Witness, in_blocks, plain

Row = tuple[float, ...]
Pair = tuple[Row, Row]

_FEW = 64
"""A vector with more candidates than this is treated as a crowd, which has few distinct scores."""
_DEEPEST = -1e5
_FARTHEST = 2**20


@dataclass(slots=True)
class Scored:
    """Score vectors for one subject, one loss and one neighbour relation."""

    subject: Subject
    loss: Loss
    among: Relation
    grid: ScoreGrid
    noise_scale: float
    sizes: tuple[int, ...]
    thorough: bool

    @property
    def relation(self) -> str:
        """The neighbour relation in one word."""
        return self.among.name

    def masses(self, rows: Floats, *, plainly: bool = False) -> Floats:
        """Return log-probabilities, one row per row of scores."""
        logs = self.subject.log_masses(rows, monotonic=self.among.monotonic, plainly=plainly)
        # Logarithms below this are rounded too coarsely, so their differences are meaningless.
        return np.where((logs < _DEEPEST) & (logs > -np.inf), _DEEPEST, logs) if plainly else logs

    def in_balls(self, rows: Floats) -> tuple[Witness, bool]:
        """Return two rows with their certified loss, and whether the loss certainly exceeds the claim."""
        subject, monotonic = self.subject, self.among.monotonic
        shown = [_shown(subject.in_scores(row).tolist()) for row in rows]
        if not self.among.contains(shown[0], shown[1], subject.steps or subject.sensitivity):
            raise AssertionError("the search left the neighbour relation")
        witness, refutes = certified(
            subject,
            self.loss,
            subject.log_masses(rows, monotonic=monotonic, plainly=True),
            [subject.scores(row, monotonic=monotonic) for row in rows],
            size=rows.shape[1],
            shown=shown,
            relation=self.among.name,
        )
        return in_blocks(witness), refutes


class Vectors(Scored):
    """Vectors of a few candidates."""

    finest, patience, part = 2.0**-10, 180, 1

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield the stages: lattices, structured vectors, very large scores, and scattered vectors."""
        sizes, anything = self.sizes, not self.subject.canonical
        for size in sizes:
            if lattice_shape(size) is not None:
                yield "lattice", size, self._lattice(size)
            # Our own mechanisms depend only on sorted gaps, so for intermediate sizes the lattice is enough.
            if anything or size in (sizes[0], sizes[-1]) or lattice_shape(size) is None:
                # If a subject uses a bound on the scores, few candidates are enough to show it.
                sides = anything and (self.thorough or size == sizes[0])
                rows = shapes(
                    size, self.grid, self.noise_scale, both_ways=anything, both_sides=sides
                )
                signed = rows if self.subject.largest_is_best else -rows
                yield "structured vectors", size, [self._near(signed)]
        far = {sizes[0], sizes[-1]} if self.thorough else {min(sizes[0], 8)}
        # If sensitivities differ, no offset is common to all candidates, and large products are rounded.
        for size in sorted(far) if self.subject.steps is None else ():
            yield "far out", size, self._far_out(size)
        for size in sizes:
            rows = scattered(size, self.grid, 4 * self.grid.delta, 12 if self.thorough else 3)
            yield "scattered vectors", size, [self._near(rows)]

    def around(self, pair: Pair, step: float) -> Iterator[Batch]:
        """Yield pairs with one coordinate of either vector, or of both, moved by a step."""
        scores, neighbour = map(np.array, pair)
        size, delta = len(scores), self.grid.delta
        if np.abs(scores).max() > _FARTHEST * delta or step * delta < self.grid.step:
            return
        moves = np.concatenate([np.eye(size), -np.eye(size)]) * step * delta
        still = np.zeros_like(moves)
        here = scores + np.concatenate([moves, still, moves])
        there = neighbour + np.concatenate([still, moves, moves])
        # Beyond a dozen noise scales, larger gaps only make probabilities smaller.
        reach = max(12 * self.noise_scale + 4 * size * delta, float(np.ptp(scores)))
        near = np.ptp(here, axis=1) <= reach
        if self.among.custom is not None:
            yield self._near(np.unique(here[near], axis=0))
        elif near.any():
            here = here[near]
            yield self._batch(here, self.among.clip(here, there[near], delta))

    def size(self, pair: Pair) -> int:
        """Return the number of candidates."""
        return len(pair[0])

    def certified(self, pair: Pair) -> tuple[Witness, bool]:
        """Return the pair with its certified loss, and whether the loss certainly exceeds the claim."""
        return self.in_balls(np.array(pair))

    def _lattice(self, size: int) -> Iterator[Batch]:
        """Compare every point of a lattice with every neighbour on it."""
        points = lattice(size, self.grid)
        if self.among.custom is not None:
            yield self._near(points)
            return
        shape = lattice_shape(size)
        assert shape is not None
        reach, side = shape
        flat = self.masses(points)
        table = flat.reshape((side,) * size + flat.shape[1:])
        corner = points.reshape((side,) * size + (size,))
        for move in self.among.lattice_moves(size, reach):
            here = tuple(slice(max(0, -part), side - max(0, part)) for part in move)
            there = tuple(slice(max(0, part), side - max(0, -part)) for part in move)
            losses = self.loss.values(
                table[here].reshape(-1, flat.shape[1]), table[there].reshape(-1, flat.shape[1])
            )
            ends = corner[here].reshape(-1, size), corner[there].reshape(-1, size)
            yield _of_rows(losses, *ends, float(points.max()))

    def _near(self, rows: Floats, *, plainly: bool = False) -> Batch:
        """Compare rows with the neighbours that the relation proposes."""
        here, there = list[Floats](), list[Floats]()
        for row in rows:
            neighbours = self.among.structured(row, self.grid.delta)
            if plainly:
                # Large sums of floats are rounded; skip pairs that are no longer neighbours.
                neighbours = neighbours[[self._is_neighbour(row, other) for other in neighbours]]
            here += [row] * len(neighbours)
            there += list(neighbours)
        return self._batch(
            np.array(here).reshape(-1, rows.shape[1]),
            np.array(there).reshape(-1, rows.shape[1]),
            plainly=plainly,
        )

    def _batch(self, here: Floats, there: Floats, *, plainly: bool = False) -> Batch:
        if not len(here):
            return _of_rows(np.empty(0), here, there, 0.0)
        masses = self.masses(np.concatenate([here, there]), plainly=plainly)
        losses = self.loss.values(masses[: len(here)], masses[len(here) :])
        return _of_rows(losses, here, there, float(np.abs(here).max()))

    def _is_neighbour(self, row: Floats, other: Floats) -> bool:
        return bool(np.isfinite(other).all()) and self.among.contains(
            row.tolist(), other.tolist(), self.grid.sensitivity
        )

    def _far_out(self, size: int) -> Iterator[Batch]:
        """Yield common offsets, enormous scores, and the boundaries between offsets where answers change."""
        rows = far_rows(size, self.grid, self.noise_scale)
        if self.subject.canonical and not self.thorough:
            rows = rows[::7]  # offsets provably do not matter, except in floats
        yield self._near(rows, plainly=True)
        if self.among.custom is None:
            far = offsets(self.noise_scale, self.grid.delta)
            for base in far_bases(size, self.grid):
                yield self._boundary(base, far)

    def _boundary(self, base: Floats, far: list[float]) -> Batch:
        """Return two vectors that differ by a common Δ, at the offset where probabilities change most."""
        masses = self.masses(np.array([base + offset for offset in far]), plainly=True)
        values = self.loss.values(masses[:-1], masses[1:])
        place, nothing = int(np.argmax(values)), np.empty((0, len(base)))
        if not values[place] > 0:
            return self._batch(nothing, nothing)

        def change(low: float, high: float) -> float:
            ends = self.masses(base + np.array([[low], [high]]), plainly=True)
            return float(self.loss.values(ends[:1], ends[1:])[0])

        low, high = narrowed(far[place], far[place + 1], self.grid.delta, change)
        first, second = base + low, base + high
        if not self._is_neighbour(first, second):
            return self._batch(nothing, nothing)
        return self._batch(first[None], second[None], plainly=True)


def _shown(row: list[float]) -> tuple[Any, ...]:
    """Return scores as people write them, converting each distinct score once."""
    different = list(set(row))
    short = dict(zip(different, plain(different), strict=True))
    return tuple(map(short.__getitem__, row))


def _of_rows(losses: Floats, here: Floats, there: Floats, magnitude: float) -> Batch:
    def pair(place: int) -> Pair:
        return tuple(here[place].tolist()), tuple(there[place].tolist())

    return Batch(losses, pair, len(losses), magnitude)


class Crowds(Scored):
    """Vectors with few levels, each with any number of candidates."""

    finest, patience, part = 2.0**-8, 100, 3

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield the catalogue of crowds for each number of candidates."""
        delta, hair = self.grid.delta, self.grid.step
        wide, wider = (self.grid.snap(min(part * self.noise_scale, 256 * delta)) for part in (2, 8))
        every = [2 * delta - hair, wide, delta, 2 * delta + hair, wider]
        known = self.subject.canonical and not self.thorough
        for total in self.sizes:
            # Large crowds are slow: only two gaps are tried, and for our own proved mechanisms only some
            # crowds.
            gaps = every if self.thorough or total == TOTALS[1] else every[:2]
            several = list(crowds(total, self.grid, every[:2] if known else gaps, self.among))
            yield "crowds", total, [self._batch(several[:: 5 if known else 1])]

    def around(self, pair: Crowd, step: float) -> Iterator[Batch]:
        """Yield crowds with one block moved (in either vector or in both) or resized."""
        grow = min(4.0, max(1.25, 4 * (2 * step) ** 0.5))
        near = [
            moved.clipped(self.among, self.grid.delta)
            for moved in pair.around(step * self.grid.delta, grow)
        ]
        yield self._batch([one for one in near if one.size <= LARGEST])

    def size(self, pair: Crowd) -> int:
        """Return the number of candidates."""
        return pair.size

    def certified(self, pair: Crowd) -> tuple[Witness, bool]:
        """Return the pair with its certified loss, and whether the loss certainly exceeds the claim."""
        return self.in_balls(self._sign * np.stack(pair.rows()))

    @property
    def _sign(self) -> float:
        return 1.0 if self.subject.largest_is_best else -1.0

    def _batch(self, several: list[Crowd]) -> Batch:
        magnitude = max(abs(block[0]) for crowd in several for block in crowd.blocks)
        sides = [
            (
                self._sign * np.array([block[side] for block in crowd.blocks]),
                [count for *_, count in crowd.blocks],
            )
            for crowd in several
            for side in (0, 1)
        ]
        laws = self.subject.log_blocks(sides, monotonic=self.among.monotonic)
        pairs = list[tuple[Floats, Floats]]()
        for crowd, first, second in zip(several, laws[::2], laws[1::2], strict=True):
            if first is None or second is None:
                members = self.masses(self._sign * np.stack(crowd.rows()))
                pairs.append((members[0], members[1]))
            else:
                pairs.append((first, second))
        # Missing blocks are padded as answers with probability zero.
        losses = self.loss.values(*map(stacked, zip(*pairs, strict=True)))
        return Batch(losses, several.__getitem__, len(several), magnitude)


def scored(
    subject: Subject,
    loss: Loss,
    relation: Relation,
    grid: ScoreGrid,
    noise_scale: float,
    *,
    sizes: tuple[int, ...] | None,
    usual: tuple[int, ...],
    thorough: bool,
) -> Iterator[Kind]:
    """Yield the searches among small vectors and crowds; ``sizes=None`` uses the default sizes."""
    custom = relation.custom is not None
    few = tuple(size for size in sizes or usual if size <= _FEW or custom)
    if few:
        yield Vectors(subject, loss, relation, grid, noise_scale, few, thorough)
    many = tuple(size for size in sizes or () if size > _FEW)
    if sizes is None:
        many = FEW_TOTALS if subject.canonical and not thorough else TOTALS
    if many and not custom:
        yield Crowds(subject, loss, relation, grid, noise_scale, many, thorough)
