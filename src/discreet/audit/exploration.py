"""The pairs that a statistical audit tries: small vectors, crowds of equal scores, and very large scores.

The few most informative pairs become suspects. These are judged on new draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from discreet.audit.bounds import AnswerSet, LossBound
from discreet.audit.crowds import crowds, far_bases, far_rows, narrowed
from discreet.audit.relations import Floats, Relation, ScoreGrid, shapes
from discreet.audit.samplers import Counts, OutOfTime, Sampler
from discreet.audit.verdicts import Stage

Proposal = tuple[tuple[float, ...], tuple[float, ...], Relation]
"""Two score vectors and the relation under which they are neighbours."""

FEW = 16
"""A vector with more candidates than this is a crowd."""

FAR = 4
"""Pairs with very large scores get 1/FAR of the draws; there are many, and defects are obvious."""

_PAIRS = 96
_KEPT = (12, 3)
_STANDS_OUT = 3.0
"""A change at very large scores is followed up if it exceeds this many standard deviations."""


def proposed(size: int, relation: Relation, grid: ScoreGrid, noise_scale: float) -> list[Proposal]:
    """Return pairs with this many candidates; if there are too many pairs, a sample of every kind."""
    if size > FEW and relation.custom is None:
        outsiders = crowds(size, grid, [2 * grid.delta - grid.step], relation)
        found = [_pair_of(*crowd.rows(), relation) for crowd in outsiders]
        return found[:: max(1, len(found) // (_PAIRS // 3))]
    found = [
        _pair_of(row, neighbour, relation)
        for row in shapes(size, grid, noise_scale)
        for neighbour in relation.structured(row, grid.delta)
    ]
    # With a stride that divides neither the rows nor the neighbours of a row, every kind is included.
    stride = len(found) // _PAIRS
    return found[:: stride + (stride % 2 == 0)] if stride > 1 else found


def far_out(
    size: int, relation: Relation, grid: ScoreGrid, noise_scale: float
) -> Iterator[Proposal]:
    """Yield pairs with large offsets or enormous scores; all move together, or the first against the rest.

    Such large sums of floats may be rounded. Pairs that are no longer neighbours are skipped.
    """
    against = np.full(size, 0.0 if relation.monotonic else -grid.delta)
    against[0] = grid.delta
    for row in far_rows(size, grid, noise_scale):
        for move in (grid.delta, -grid.delta, against):
            near = row + move
            if np.isfinite(near).all() and relation.contains(
                row.tolist(), near.tolist(), grid.sensitivity
            ):
                yield _pair_of(row, near, relation)


def _pair_of(first: Floats, second: Floats, relation: Relation) -> Proposal:
    return tuple(first.tolist()), tuple(second.tolist()), relation


@dataclass(frozen=True, slots=True)
class Suspect:
    """A pair of neighbours, and an event that distinguishes them and is more likely on the first."""

    pair: Proposal
    event: AnswerSet


@dataclass(slots=True)
class Exploration:
    """The search for the most informative pairs, with only a few draws for each."""

    sampler: Sampler
    bound: LossBound
    claimed: float
    size: int
    stages: list[Stage] = field(default_factory=list)
    found: list[tuple[float, Suspect]] = field(default_factory=list)

    def look(self, name: str, relation: Relation, pairs: list[Proposal], part: int = 1) -> None:
        """Add the most informative of these pairs to ``found``, using 1/``part`` of the draws."""
        ranked, looked = self._ranked(pairs, self.size // part)
        self.found += ranked[: _KEPT[0] // part]
        if looked:
            seen = np.array([scores for scores, *_ in pairs[:looked]])
            self.stages.append(
                Stage(
                    name=name,
                    relation=relation.name,
                    size=seen.shape[1],
                    pairs=looked,
                    largest=0.0,
                    magnitude=float(np.abs(seen).max()),
                )
            )

    def _ranked(self, pairs: list[Proposal], size: int) -> tuple[list[tuple[float, Suspect]], int]:
        """Rank both directions of the pairs, most informative first; count the pairs compared in time."""
        found = list[tuple[float, Suspect]]()
        for looked, (scores, neighbour, relation) in enumerate(pairs):
            try:
                one, two = self.sampler.both(scores, neighbour, size, monotonic=relation.monotonic)
            except OutOfTime:
                return _sorted(found), looked
            for first, second, pair in (
                (one, two, (scores, neighbour, relation)),
                (two, one, (neighbour, scores, relation)),
            ):
                stands_out, event = self._best_event(first, second, self.claimed)
                found.append((stands_out, Suspect(pair, event)))
        return _sorted(found), len(pairs)

    def _best_event(self, first: Counts, second: Counts, claimed: float) -> tuple[float, AnswerSet]:
        """Return the most standard deviations by which an event exceeds the claim, and the event."""
        ranked = [
            ((value - claimed) / max(spread, 1e-12), event)
            for event in self.bound.events(first, second)
            for value, spread in [self.bound.estimate(first, second, event)]
        ]
        return max(ranked, key=lambda entry: entry[0])

    def look_for_boundaries(
        self, candidates: int, relation: Relation, grid: ScoreGrid, far: list[float]
    ) -> None:
        """Find the offset where adding Δ to all scores changes the answers, and try that pair."""
        try:
            pairs = [
                self._boundary(base, relation, grid, side)
                for base in far_bases(candidates, grid)
                for side in ([c for c in far if c <= 0], [c for c in far if c >= 0])
            ]
        except OutOfTime:
            return
        self.look("boundaries far out", relation, [pair for pair in pairs if pair is not None])

    def _boundary(
        self, base: Floats, relation: Relation, grid: ScoreGrid, far: list[float]
    ) -> Proposal | None:
        def change(low: float, high: float) -> float:
            here, there = ((base + offset).tolist() for offset in (low, high))
            one, two = self.sampler.both(
                here, there, self.size // FAR, monotonic=relation.monotonic
            )
            return max(self._best_event(*way, 0.0)[0] for way in ((one, two), (two, one)))

        low, high = max(pairwise(far), key=lambda ends: change(*ends))
        if change(low, high) < _STANDS_OUT:
            return None
        low, high = narrowed(low, high, grid.delta, change)
        first, second = ((base + offset).tolist() for offset in (low, high))
        near = relation.contains(first, second, grid.sensitivity)
        return (tuple(first), tuple(second), relation) if near else None

    def finalists(self) -> list[Suspect]:
        """Return the few pairs that are still conspicuous after sixteen times as many new draws."""
        self.sampler.forget()
        suspects = [suspect for _, suspect in _sorted(self.found)]
        pairs = list(dict.fromkeys(suspect.pair for suspect in suspects))
        again, _ = self._ranked(pairs, 16 * self.size)
        chosen = [suspect for _, suspect in again] or suspects
        return chosen[: _KEPT[1]]


def _sorted(found: list[tuple[float, Suspect]]) -> list[tuple[float, Suspect]]:
    return sorted(found, key=lambda entry: -entry[0])
