"""Audits over score vectors: lattices, structured vectors, enormous or scattered scores, and crowds.

A crowd is a vector with many candidates but few distinct scores (its levels). It is stored as the levels and
the number of candidates at each.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discreet.audit.losses import Loss
from discreet.audit.relations import Floats, Relation, ScoreGrid
from discreet.audit.search import Batch, Certain, Kind, certified
from discreet.audit.starting_vectors import (
    LARGEST,
    LATTICES,
    crowds,
    far_bases,
    far_rows,
    lattice,
    narrowed,
    offsets,
    scattered,
    shapes,
)
from discreet.audit.subjects import Subject
from discreet.audit.verdicts import Witness, in_blocks, plain

Counts = tuple[int, ...]
"""The number of candidates with each score; empty if there is one candidate per score."""

TOTALS = (7, 30, 300, LARGEST)
_FEW_TOTALS = (30, LARGEST)
"""The sizes of crowds for our own mechanisms; few are enough, because their guarantees are proved."""

_FEW = 64
"""A vector with more candidates than this is treated as a crowd."""
_DEEPEST = -1e5
_FARTHEST = 2**20


class Pair(NamedTuple):
    """Two neighbouring score vectors."""

    scores: tuple[float, ...]
    neighbour: tuple[float, ...]
    counts: Counts = ()


@dataclass(slots=True, eq=False)
class ScoreVectors(Kind):
    """The base class of searches among score vectors: it proposes pairs of neighbours under one relation."""

    among: Relation
    grid: ScoreGrid
    noise_scale: float
    sizes: tuple[int, ...]

    @property
    def relation(self) -> str:
        """The neighbour relation in one word."""
        return self.among.name

    @abstractmethod
    def batch(
        self, here: Floats, there: Floats, counts: Counts = (), *, plainly: bool = False
    ) -> Batch:
        """Compare the rows of ``here`` and ``there`` in pairs; set ``plainly`` if scores may be enormous."""

    @abstractmethod
    def changes(self, here: Floats, there: Floats) -> Floats:
        """Return how clearly the answers to each pair of rows differ; 0 or less counts as no difference."""

    def near(self, rows: Floats, counts: Counts = (), *, plainly: bool = False) -> Batch:
        """Compare each row with the neighbours that the relation proposes for it."""
        pairs = [
            (row, other)
            for row in rows
            for other in self.among.structured(row, self.grid.delta)
            # Large sums of floats are rounded; skip pairs that are no longer neighbours.
            if not plainly or self._is_neighbour(row, other)
        ]
        found = np.array(pairs).reshape(-1, 2, rows.shape[1])
        return self.batch(found[:, 0], found[:, 1], counts, plainly=plainly)

    def far_out(self, size: int, every: int = 1) -> Iterator[Batch]:
        """Yield pairs of neighbours with very large scores; ``every=7`` uses every seventh vector.

        Either all scores have the same large offset, or one or two scores are enormous. Further pairs are
        taken at the offset where the answers change most.
        """
        yield self.near(far_rows(size, self.grid, self.noise_scale)[::every], plainly=True)
        if self.among.custom is None:
            for base in far_bases(size, self.grid):
                yield from self._boundary(base)

    def _boundary(self, base: Floats) -> Iterator[Batch]:
        """Compare two vectors whose scores all differ by Δ, at the offset where the answers change most."""
        far = offsets(self.noise_scale, self.grid.delta)
        moved = base + np.array(far)[:, None]
        values = self.changes(moved[:-1], moved[1:])
        place = int(np.argmax(values))
        if not values[place] > 0:
            return

        def change(low: float, high: float) -> float:
            return float(self.changes(base[None] + low, base[None] + high)[0])

        low, high = narrowed(far[place], far[place + 1], self.grid.delta, change)
        if self._is_neighbour(base + low, base + high):
            yield self.batch(base[None] + low, base[None] + high, plainly=True)

    def _is_neighbour(self, row: Floats, other: Floats) -> bool:
        return bool(np.isfinite(other).all()) and self.among.contains(
            row.tolist(), other.tolist(), self.grid.sensitivity
        )


@dataclass(slots=True)
class Vectors(ScoreVectors):
    """The search among vectors of a few candidates, for one subject and one loss."""

    subject: Subject
    loss: Loss
    thorough: bool
    finest, patience, part = 2.0**-10, 180, 1

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield the stages: lattices, structured vectors, very large scores, and scattered vectors."""
        sizes, anything = self.sizes, not self.subject.canonical
        for size in sizes:
            if size in LATTICES:
                yield "lattice", size, self._lattice(size)
            # Our own mechanisms depend only on sorted gaps, so for intermediate sizes the lattice is enough.
            if anything or size in (sizes[0], sizes[-1]) or size not in LATTICES:
                # If a subject uses a bound on the scores, few candidates are enough to show it.
                sides = anything and (self.thorough or size == sizes[0])
                rows = shapes(
                    size, self.grid, self.noise_scale, both_ways=anything, both_sides=sides
                )
                yield "structured vectors", size, [self.near(self._sign * rows)]
        far = {sizes[0], sizes[-1]} if self.thorough else {min(sizes[0], 8)}
        # If sensitivities differ, no offset is common to all candidates, and large products are rounded.
        for size in sorted(far) if self.subject.steps is None else ():
            # For our own mechanisms offsets provably do not matter, except in floats.
            yield "far out", size, self.far_out(size, 1 if anything or self.thorough else 7)
        for size in sizes:
            rows = scattered(size, self.grid, 4 * self.grid.delta, 12 if self.thorough else 3)
            yield "scattered vectors", size, [self.near(rows)]

    def around(self, pair: Pair, step: float) -> Iterator[Batch]:
        """Yield pairs with one score of either vector, or of both, moved by a step."""
        scores, neighbour = np.array(pair.scores), np.array(pair.neighbour)
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
            yield self.near(np.unique(here[near], axis=0))
        elif near.any():
            here = here[near]
            yield self.batch(here, self.among.clip(here, there[near], delta), pair.counts)

    def size(self, pair: Pair) -> int:
        """Return the number of candidates."""
        return sum(pair.counts) or len(pair.scores)

    def certified(self, pair: Pair) -> tuple[Witness, bool]:
        """Return the pair with its certified loss, and whether the loss certainly exceeds the claim."""
        subject, monotonic = self.subject, self.among.monotonic
        rows = np.array([pair.scores, pair.neighbour])
        rows = np.repeat(rows, pair.counts, axis=1) if pair.counts else rows
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

    def batch(
        self, here: Floats, there: Floats, counts: Counts = (), *, plainly: bool = False
    ) -> Batch:
        """Compare each row of ``here`` with the same row of ``there``."""
        if not len(here):
            return _listed(np.empty(0), here, there)
        masses = self._masses(np.concatenate([here, there]), counts, plainly=plainly)
        losses = self.loss.values(masses[: len(here)], masses[len(here) :])
        return _listed(losses, here, there, counts)

    def changes(self, here: Floats, there: Floats) -> Floats:
        """Return the loss of each pair of rows; the larger it is, the more clearly the answers differ."""
        return self.batch(here, there, plainly=True).losses

    @property
    def _sign(self) -> float:
        return 1.0 if self.subject.largest_is_best else -1.0

    def _masses(self, rows: Floats, counts: Counts = (), *, plainly: bool = False) -> Floats:
        """Return log-probabilities, one row per row of scores."""
        if counts:
            return self.subject.log_blocks(rows, counts, monotonic=self.among.monotonic)
        logs = self.subject.log_masses(rows, monotonic=self.among.monotonic, plainly=plainly)
        # Logarithms below this are rounded too coarsely, so their differences are meaningless.
        return np.where((logs < _DEEPEST) & (logs > -np.inf), _DEEPEST, logs) if plainly else logs

    def _lattice(self, size: int) -> Iterator[Batch]:
        """Compare every point of a lattice with all its neighbours on the lattice."""
        points = lattice(size, self.grid)
        if self.among.custom is not None:
            yield self.near(points)
            return
        reach, side = LATTICES[size]
        flat = self._masses(points)
        table = flat.reshape((side,) * size + flat.shape[1:])
        corner = points.reshape((side,) * size + (size,))
        for move in self.among.lattice_moves(size, reach):
            here = tuple(slice(max(0, -part), side - max(0, part)) for part in move)
            there = tuple(slice(max(0, part), side - max(0, -part)) for part in move)
            losses = self.loss.values(
                table[here].reshape(-1, flat.shape[1]), table[there].reshape(-1, flat.shape[1])
            )
            yield _listed(losses, corner[here].reshape(-1, size), corner[there].reshape(-1, size))


def _shown(row: list[float]) -> tuple[Any, ...]:
    """Return scores as ``plain`` does, but convert each distinct score only once."""
    different = list(set(row))
    short = dict(zip(different, plain(different), strict=True))
    return tuple(map(short.__getitem__, row))


def _listed(losses: Floats, here: Floats, there: Floats, counts: Counts = ()) -> Batch:
    def pair(place: int) -> Pair:
        return Pair(tuple(here[place].tolist()), tuple(there[place].tolist()), counts)

    return Batch(losses, pair, len(losses), float(np.abs(here).max(initial=0.0)))


class Crowds(Vectors):
    """The search among crowds: vectors with few levels, each with any number of candidates."""

    finest, patience, part = 2.0**-8, 100, 3

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield a stage for each number of candidates, with crowds of several shapes."""
        delta, hair = self.grid.delta, self.grid.step
        wide, wider = (self.grid.snap(min(part * self.noise_scale, 256 * delta)) for part in (2, 8))
        every = [2 * delta - hair, wide, delta, 2 * delta + hair, wider]
        known = self.subject.canonical and not self.thorough
        for total in self.sizes:
            # Large crowds are slow: fewer gaps are tried, and for our own proved mechanisms only one.
            gaps = every if self.thorough or total == TOTALS[1] else every[:2]
            several = [
                crowd for gap in (every[:1] if known else gaps) for crowd in crowds(total, gap)
            ]
            yield (
                "crowds",
                total,
                (
                    self.near(self._sign * np.array([levels]), counts)
                    for levels, counts in dict.fromkeys(several)
                ),
            )

    def around(self, pair: Pair, step: float) -> Iterator[Batch]:
        """Yield pairs of crowds with one level moved (in either crowd or in both) or resized in both."""
        yield from super().around(pair, step)
        grow = min(4.0, max(1.25, 4 * (2 * step) ** 0.5))
        ends = np.array([pair.scores]), np.array([pair.neighbour])
        for place, count in enumerate(pair.counts):
            for many in {round(count * grow), round(count / grow)} - {count}:
                counts = (*pair.counts[:place], many, *pair.counts[place + 1 :])
                if many and sum(counts) <= LARGEST:
                    yield self.batch(*ends, counts)


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
) -> Iterator[Certain]:
    """Yield the searches among small vectors and crowds; ``sizes=None`` uses the default sizes."""
    custom = relation.custom is not None
    few = tuple(size for size in sizes or usual if size <= _FEW or custom)
    if few:
        yield Vectors(relation, grid, noise_scale, few, subject, loss, thorough)
    many = tuple(size for size in sizes or () if size > _FEW)
    if sizes is None:
        many = _FEW_TOTALS if subject.canonical and not thorough else TOTALS
    if many and not custom:
        yield Crowds(relation, grid, noise_scale, many, subject, loss, thorough)
