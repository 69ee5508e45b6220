"""The search for the worst pair of neighbours: lattices, structured shapes, then climbing from the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.audit.losses import Loss
from discreet.audit.relations import Floats, Relation, ScoreGrid
from discreet.audit.shapes import lattice, lattice_shape, scattered, shapes
from discreet.audit.subjects import Subject
from discreet.audit.verdicts import Stage

Progress = Callable[[str, float], None]

_KEPT = 4
_CLIMB_BUDGET = 120
_WORTHWHILE = 1e-9


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring score vectors and their loss in floats."""

    value: float
    scores: tuple[float, ...]
    neighbour: tuple[float, ...]


@dataclass(slots=True)
class Search:
    """One subject, one loss, one neighbour relation."""

    subject: Subject
    loss: Loss
    relation: Relation
    grid: ScoreGrid
    noise_scale: float
    seed: int
    stages: list[Stage] = field(default_factory=list)
    found: list[Pair] = field(default_factory=list)

    def run(self, sizes: tuple[int, ...], starts: int) -> Iterator[str]:
        """All stages; yields the name of each as it begins, for progress."""
        for size in sizes:
            if lattice_shape(size) is not None:
                yield f"lattice, {size} candidates, {self.relation.name} neighbours"
                self._lattice(size)
            # Our own mechanisms see sorted gaps only; the lattice does for their middle sizes.
            if (
                not self.subject.canonical
                or size in (sizes[0], sizes[-1])
                or lattice_shape(size) is None
            ):
                yield f"structured vectors, {size} candidates, {self.relation.name} neighbours"
                self._structured(size)
        begin = sorted(self.found, key=lambda pair: -pair.value)[: max(1, starts // 2)]
        for size in sizes[: max(1, starts - len(begin))]:
            begin += self._scattered(size, max(1, (starts - len(begin)) // len(sizes)))
        for number, pair in enumerate(begin):
            yield f"climb {number + 1} of {len(begin)}, {self.relation.name} neighbours"
            self._climb(pair)

    # ---- stages --------------------------------------------------------------------------------

    def _masses(self, rows: Floats) -> Floats:
        return self.subject.log_masses(rows, monotonic=self.relation.monotonic)

    def _record(self, name: str, size: int, pairs: int, best: Pair | None) -> None:
        largest = 0.0 if best is None else best.value
        self.stages.append(
            Stage(name=name, relation=self.relation.name, size=size, pairs=pairs, largest=largest)
        )
        if best is not None:
            self.found.append(best)

    def _lattice(self, size: int) -> None:
        """Every point of a lattice against every neighbour on it."""
        if self.relation.custom is not None:
            self._against_neighbours("lattice", lattice(size, self.grid))
            return
        shape = lattice_shape(size)
        assert shape is not None
        reach, side = shape
        points = lattice(size, self.grid)
        table = self._masses(points).reshape((side,) * size + (size,))
        corner = points.reshape((side,) * size + (size,))
        pairs, best = 0, None
        for move in self.relation.lattice_moves(size, reach):
            here = tuple(slice(max(0, -part), side - max(0, part)) for part in move)
            there = tuple(slice(max(0, part), side - max(0, -part)) for part in move)
            first = table[here].reshape(-1, size)
            values = self.loss.values(first, table[there].reshape(-1, size))
            pairs += len(values)
            place = int(np.argmax(values))
            if best is None or values[place] > best.value * (1 + _WORTHWHILE):
                best = Pair(
                    float(values[place]),
                    tuple(corner[here].reshape(-1, size)[place].tolist()),
                    tuple(corner[there].reshape(-1, size)[place].tolist()),
                )
        self._record("lattice", size, pairs, best)

    def _structured(self, size: int) -> None:
        anything = not self.subject.canonical
        rows = shapes(size, self.grid, self.noise_scale, both_ways=anything, both_sides=anything)
        self._against_neighbours(
            "structured vectors", rows if self.subject.largest_is_best else -rows
        )

    def _against_neighbours(self, name: str, rows: Floats) -> None:
        """Rows against the neighbours that the relation proposes."""
        pairs, kept = 0, list[Pair]()
        for row in rows:
            neighbours = self.relation.structured(row, self.grid.delta)
            if not len(neighbours):
                continue
            masses = self._masses(np.concatenate([row[None], neighbours]))
            values = self.loss.values(np.broadcast_to(masses[0], masses[1:].shape), masses[1:])
            pairs += len(values)
            place = int(np.argmax(values))
            kept.append(
                Pair(float(values[place]), tuple(row.tolist()), tuple(neighbours[place].tolist()))
            )
        kept.sort(key=lambda pair: -pair.value)
        self._record(name, rows.shape[1], pairs, kept[0] if kept else None)
        self.found.extend(kept[1:_KEPT])

    def _scattered(self, size: int, count: int) -> list[Pair]:
        rows = scattered(size, self.grid, 4 * self.grid.delta, 3 * count, self.seed)
        before = len(self.found)
        self._against_neighbours("scattered vectors", rows)
        return self.found[before : before + count]

    def _climb(self, start: Pair) -> None:
        """Pattern search: move one coordinate of either vector, or of both, while the loss grows."""
        if not np.isfinite(start.value):
            return
        best, size = start, len(start.scores)
        evaluated, pairs = self.subject.evaluations, 0
        step = self.grid.delta / 2
        smallest = max(self.grid.step, self.grid.delta * 2.0**-10)
        # Beyond a dozen noise scales nothing changes any more but the number of digits.
        reach = max(12 * self.noise_scale + 4 * size * self.grid.delta, float(np.ptp(start.scores)))
        unit = np.eye(size)
        while step >= smallest and self.subject.evaluations - evaluated < _CLIMB_BUDGET:
            moves = np.concatenate([unit, -unit]) * step
            still = np.zeros_like(moves)
            here = np.array(best.scores) + np.concatenate([moves, still, moves])
            there = np.array(best.neighbour) + np.concatenate([still, moves, moves])
            near = np.ptp(here, axis=1) <= reach
            if not near.any():
                break
            here, there = here[near], there[near]
            better = self._best_of(here, there)
            pairs += len(here)
            if better is not None and better.value > best.value * (1 + _WORTHWHILE):
                # Where the loss only nears its supremum, long strides get there.
                best, step = better, min(2 * step, 4 * self.grid.delta)
            else:
                step /= 4
        self._record("climb", size, pairs, best if best is not start else None)

    def _best_of(self, here: Floats, there: Floats) -> Pair | None:
        if self.relation.custom is not None:
            found = list[Pair]()
            for row in np.unique(here, axis=0):
                neighbours = self.relation.structured(row, self.grid.delta)
                if len(neighbours):
                    found.extend(self._pairs(np.broadcast_to(row, neighbours.shape), neighbours))
            return max(found, key=lambda pair: pair.value, default=None)
        there = self.relation.clip(here, there, self.grid.delta)
        return max(self._pairs(here, there), key=lambda pair: pair.value)

    def _pairs(self, here: Floats, there: Floats) -> list[Pair]:
        values = self.loss.values(self._masses(here), self._masses(there))
        place = int(np.argmax(values))
        return [
            Pair(float(values[place]), tuple(here[place].tolist()), tuple(there[place].tolist()))
        ]
