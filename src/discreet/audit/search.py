"""The search for the worst pair of neighbouring score vectors: lattices, shapes, crowds, far out, climbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.audit.crowds import (
    FEW_TOTALS,
    LARGEST,
    TOTALS,
    Crowd,
    crowds,
    far_bases,
    lopsided,
    offsets,
)
from discreet.audit.losses import Loss, collapsed
from discreet.audit.relations import (
    Floats,
    Relation,
    ScoreGrid,
    lattice,
    lattice_shape,
    scattered,
    shapes,
)
from discreet.audit.subjects import Subject
from discreet.audit.verdicts import Stage

Progress = Callable[[str, float], None]


def silent(_stage: str, _share: float) -> None:
    """Progress is not reported."""


_KEPT = 4
_FEW = 64
"""Beyond so many candidates a vector is a crowd: few levels."""
_CLIMB_BUDGET = 120
_CROWD_BUDGET = 100
_WORTHWHILE = 1e-9
_DEEPEST = -1e5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring score vectors and their loss in floats."""

    value: float
    scores: tuple[float, ...]
    neighbour: tuple[float, ...]

    @classmethod
    def of(cls, value: float, scores: Floats, neighbour: Floats) -> Pair:
        """Two rows of arrays, and the loss found there."""
        return cls(float(value), tuple(scores.tolist()), tuple(neighbour.tolist()))


@dataclass(slots=True)
class Search:
    """One subject, one loss, one neighbour relation."""

    subject: Subject
    loss: Loss
    relation: Relation
    grid: ScoreGrid
    noise_scale: float
    thorough: bool = False
    stages: list[Stage] = field(default_factory=list)
    found: list[Pair] = field(default_factory=list)

    def run(self, sizes: tuple[int, ...], starts: int, *, in_crowds: bool) -> Iterator[str]:
        """All stages; yields the name of each as it begins, for progress."""
        few = tuple(size for size in sizes if size <= _FEW or self.relation.custom is not None)
        if few:
            yield from self._in_small(few, starts)
        totals = tuple(size for size in sizes if size > _FEW)
        if in_crowds:
            totals = FEW_TOTALS if self.subject.canonical and not self.thorough else TOTALS
        if self.relation.custom is None:
            yield from self._in_crowds(totals)

    def _in_small(self, sizes: tuple[int, ...], starts: int) -> Iterator[str]:
        what = f"{self.relation.name} neighbours"
        for size in sizes:
            if lattice_shape(size) is not None:
                yield f"lattice, {size} candidates, {what}"
                self._lattice(size)
            # Our own mechanisms see sorted gaps only; the lattice does for their middle sizes.
            if (
                not self.subject.canonical
                or size in (sizes[0], sizes[-1])
                or lattice_shape(size) is None
            ):
                yield f"structured vectors, {size} candidates, {what}"
                self._structured(size)
        far = {sizes[0], sizes[-1]} if self.thorough else {min(sizes[0], 8)}
        # In units that differ there is no common offset, and large products would be rounded.
        for size in sorted(far) if self.subject.steps is None else ():
            yield f"far out, {size} candidates, {what}"
            self._far_out(size)
        climbs = list(self._starts(sizes, starts))
        for number, pair in enumerate(climbs):
            yield f"climb {number + 1} of {len(climbs)}, {what}"
            self._climb(pair)

    def _in_crowds(self, totals: tuple[int, ...]) -> Iterator[str]:
        what, best = f"{self.relation.name} neighbours", list[tuple[float, Crowd]]()
        for total in totals:
            yield f"crowds of {total:,} candidates, {what}"
            best += self._crowds(total)
        best.sort(key=lambda entry: -entry[0])
        for number, (value, crowd) in enumerate(best[: 6 if self.thorough else 2]):
            yield f"climb {number + 1} in crowds, {what}"
            self._climb_in_crowds(value, crowd)

    # ---- stages --------------------------------------------------------------------------------

    def _masses(self, rows: Floats, *, plainly: bool = False) -> Floats:
        logs = self.subject.log_masses(rows, monotonic=self.relation.monotonic, plainly=plainly)
        # A logarithm beyond this is rounded too coarsely for a difference to mean anything.
        return np.where((logs < _DEEPEST) & (logs > -np.inf), _DEEPEST, logs) if plainly else logs

    def _record(
        self, name: str, size: int, pairs: int, best: Pair | None, magnitude: float
    ) -> None:
        largest = 0.0 if best is None else best.value
        self.stages.append(
            Stage(
                name=name,
                relation=self.relation.name,
                size=size,
                pairs=pairs,
                largest=largest,
                magnitude=magnitude,
            )
        )
        if best is not None:
            self.found.append(best)

    def _lattice(self, size: int) -> None:
        """Every point of a lattice against every neighbour on it."""
        points = lattice(size, self.grid)
        if self.relation.custom is not None:
            self._against_neighbours("lattice", points)
            return
        shape = lattice_shape(size)
        assert shape is not None
        reach, side = shape
        flat = self._masses(points)
        table = flat.reshape((side,) * size + flat.shape[1:])
        corner = points.reshape((side,) * size + (size,))
        pairs, best = 0, None
        for move in self.relation.lattice_moves(size, reach):
            here = tuple(slice(max(0, -part), side - max(0, part)) for part in move)
            there = tuple(slice(max(0, part), side - max(0, -part)) for part in move)
            first = table[here].reshape(-1, flat.shape[1])
            values = self.loss.values(first, table[there].reshape(-1, flat.shape[1]))
            pairs += len(values)
            place = int(np.argmax(values))
            if best is None or values[place] > best.value * (1 + _WORTHWHILE):
                ends = (corner[part].reshape(-1, size)[place] for part in (here, there))
                best = Pair.of(values[place], *ends)
        self._record("lattice", size, pairs, best, float(points.max()))

    def _structured(self, size: int) -> None:
        anything = not self.subject.canonical
        rows = shapes(size, self.grid, self.noise_scale, both_ways=anything, both_sides=anything)
        self._against_neighbours(
            "structured vectors", rows if self.subject.largest_is_best else -rows
        )

    def _against_neighbours(self, name: str, rows: Floats, *, plainly: bool = False) -> None:
        """Rows against the neighbours that the relation proposes."""
        pairs, kept = 0, list[Pair]()
        for row in rows:
            neighbours = self.relation.structured(row, self.grid.delta)
            if plainly:
                # Far out a sum of floats is rounded: what is no neighbour then is left out.
                near = [self._is_neighbour(row, other) for other in neighbours]
                neighbours = neighbours[near]
            if len(neighbours):
                pairs += len(neighbours)
                kept.append(self._worst(row[None], neighbours, plainly=plainly))
        kept.sort(key=lambda pair: -pair.value)
        magnitude = float(np.abs(rows).max())
        self._record(name, rows.shape[1], pairs, kept[0] if kept else None, magnitude)
        self.found.extend(kept[1:_KEPT])

    def _is_neighbour(self, row: Floats, other: Floats) -> bool:
        return bool(np.isfinite(other).all()) and self.relation.contains(
            row.tolist(), other.tolist(), self.grid.sensitivity
        )

    def _far_out(self, size: int) -> None:
        """Common offsets, enormous scores, and the places between offsets where the law changes."""
        delta = self.grid.delta
        far = offsets(self.noise_scale, delta)
        bases = far_bases(size, self.grid)
        rows = np.concatenate(
            [[base + c for c in sorted(far, key=abs) for base in bases], lopsided(size, delta)]
        )
        if self.subject.canonical and not self.thorough:
            rows = rows[::7]  # the law is proved to know no offset; only floats could
        self._against_neighbours("far out", rows, plainly=True)
        if self.relation.custom is None:
            pairs = [self._boundary(base, far) for base in bases]
            found = [pair for pair in pairs if pair is not None]
            best = max(found, key=lambda pair: pair.value, default=None)
            self._record("boundaries far out", size, len(found), best, max(far))

    def _boundary(self, base: Floats, far: list[float]) -> Pair | None:
        """Two vectors that differ by a common Δ, where the law changes most along the common offset."""
        masses = self._masses(np.array([base + offset for offset in far]), plainly=True)
        values = self.loss.values(masses[:-1], masses[1:])
        place = int(np.argmax(values))
        if not values[place] > 0:
            return None
        low, high = far[place], far[place + 1]
        while high - low > self.grid.delta:
            middle = low + max(1.0, (high - low) / self.grid.delta // 2) * self.grid.delta
            three = self._masses(base + np.array([[low], [middle], [high]]), plainly=True)
            below, above = self.loss.values(three[:-1], three[1:])
            low, high = (low, middle) if below >= above else (middle, high)
        first, second = base + low, base + high
        if not self._is_neighbour(first, second):
            return None
        return self._worst(first[None], second[None], plainly=True)

    # ---- climbing ------------------------------------------------------------------------------

    def _starts(self, sizes: tuple[int, ...], starts: int) -> Iterator[Pair]:
        begin = sorted(self.found, key=lambda pair: -pair.value)[: max(1, starts // 2)]
        yield from begin
        for size in sizes[: max(1, starts - len(begin))]:
            count = max(1, (starts - len(begin)) // len(sizes))
            rows = scattered(size, self.grid, 4 * self.grid.delta, 3 * count)
            before = len(self.found)
            self._against_neighbours("scattered vectors", rows)
            yield from self.found[before : before + count]

    def _climb(self, start: Pair) -> None:
        """Pattern search: move one coordinate of either vector, or of both, while the loss grows."""
        if not np.isfinite(start.value) or np.abs(start.scores).max() > 2**20 * self.grid.delta:
            return
        best, size = start, len(start.scores)
        evaluated, pairs = self.subject.evaluations, 0
        step = self.grid.delta / 2
        smallest = max(self.grid.step, self.grid.delta * 2.0**-10)
        # Beyond a dozen noise scales nothing changes any more but the number of digits.
        reach = max(12 * self.noise_scale + 4 * size * self.grid.delta, float(np.ptp(start.scores)))
        unit = np.eye(size)
        budget = _CLIMB_BUDGET * (4 if self.thorough else 1)
        while step >= smallest and self.subject.evaluations - evaluated < budget:
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
        magnitude = float(np.abs(best.scores).max())
        self._record("climb", size, pairs, best if best is not start else None, magnitude)

    def _best_of(self, here: Floats, there: Floats) -> Pair | None:
        if self.relation.custom is not None:
            found = [
                self._worst(row[None], neighbours)
                for row in np.unique(here, axis=0)
                if len(neighbours := self.relation.structured(row, self.grid.delta))
            ]
            return max(found, key=lambda pair: pair.value, default=None)
        return self._worst(here, self.relation.clip(here, there, self.grid.delta))

    def _worst(self, here: Floats, there: Floats, *, plainly: bool = False) -> Pair:
        """The worst of pairs of rows; a single row ``here`` stands against all."""
        masses = self._masses(np.concatenate([here, there]), plainly=plainly)
        first, second = masses[: len(here)], masses[len(here) :]
        values = self.loss.values(np.broadcast_to(first, second.shape), second)
        place = int(np.argmax(values))
        return Pair.of(values[place], np.broadcast_to(here, there.shape)[place], there[place])

    # ---- crowds --------------------------------------------------------------------------------

    def _crowd_value(self, crowd: Crowd) -> float:
        sign = 1.0 if self.subject.largest_is_best else -1.0
        counts = [count for *_, count in crowd.blocks]
        if self.subject.canonical:
            first, second = (
                self.subject.log_blocks(
                    sign * np.array([block[side] for block in crowd.blocks]),
                    counts,
                    monotonic=self.relation.monotonic,
                )
                + np.log(counts)
                for side in (0, 1)
            )
            return float(self.loss.values(first[None], second[None])[0])
        masses = self._masses(sign * np.stack(crowd.rows()))
        together = collapsed(masses, counts)
        return float(self.loss.values(together[:1], together[1:])[0])

    def _keep_crowd(self, name: str, pairs: int, value: float, crowd: Crowd) -> None:
        sign = 1.0 if self.subject.largest_is_best else -1.0
        first, second = (sign * row for row in crowd.rows())
        magnitude = float(np.abs(first).max())
        self._record(name, crowd.size, pairs, Pair.of(value, first, second), magnitude)

    def _crowds(self, total: int) -> list[tuple[float, Crowd]]:
        delta, hair = self.grid.delta, self.grid.step
        gaps = [2 * delta - hair, self.grid.snap(min(2 * self.noise_scale, 256 * delta))]
        if self.thorough or not self.subject.canonical:
            gaps += [
                delta,
                2 * delta + hair,
                self.grid.snap(min(8 * self.noise_scale, 256 * delta)),
            ]
        valued = [
            (self._crowd_value(crowd), crowd)
            for crowd in crowds(total, self.grid, gaps, self.relation)
        ]
        best = sorted(valued, key=lambda entry: -entry[0])[:_KEPT]
        self._keep_crowd("crowds", len(valued), *best[0])
        return best

    def _climb_in_crowds(self, value: float, crowd: Crowd) -> None:
        """Pattern search over the scores of the blocks, before and after, and how many have them."""
        step, grow, pairs = self.grid.delta / 2, 4.0, 0
        budget = _CROWD_BUDGET * (4 if self.thorough else 1)
        while np.isfinite(value) and step >= self.grid.delta * 2.0**-8 and pairs < budget:
            near = [
                moved.clipped(self.relation, self.grid.delta) for moved in crowd.around(step, grow)
            ]
            valued = [(self._crowd_value(one), one) for one in near if one.size <= LARGEST]
            pairs += len(valued)
            best = max(valued, key=lambda entry: entry[0])
            if best[0] > value * (1 + _WORTHWHILE):
                value, crowd = best
            else:
                step, grow = step / 4, max(1.25, grow / 2)
        self._keep_crowd("climb in crowds", pairs, value, crowd)
