"""Explore pairs of score vectors for the statistical audit: estimate the loss of each from a few draws.

The few most informative pairs become suspects, which are judged on new draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from discreet.audit.bounds import AnswerSet, LossBound
from discreet.audit.relations import Floats
from discreet.audit.samplers import OutOfTime, Sampler
from discreet.audit.search import Batch, Found
from discreet.audit.starting_vectors import crowds, shapes
from discreet.audit.vectors import Counts, ScoreVectors

_FEW = 16
"""A vector with more candidates than this is a crowd."""

_FAR = 4
"""Pairs with very large scores get a quarter of the draws, so that four times as many pairs can be tried."""

_PAIRS = 96
_PAIRS_OF_CROWD = 8
_AGAIN = 16
_FINALISTS = 3
_STANDS_OUT = 3.0
"""A change at very large scores is followed up if it exceeds this many standard deviations."""

_value = itemgetter(0)


class Suspect(NamedTuple):
    """Two neighbours, and an event that distinguishes them and is more likely on the first."""

    scores: tuple[float, ...]
    neighbour: tuple[float, ...]
    event: AnswerSet


@dataclass(slots=True, eq=False)
class Drawn(ScoreVectors):
    """Score vectors to try on a sampler; losses are measured in standard deviations above the claim.

    ``draws`` is the number of draws for each vector. ``until`` holds the times at which the two stages end:
    small vectors and crowds (more than 16 candidates, few distinct scores), then very large scores.
    """

    sampler: Sampler
    bound: LossBound
    claimed: float
    draws: int
    until: tuple[float, float]
    kept = 12  # with few draws, a rank is partly chance

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield the stages: small vectors and crowds, then very large scores for the smallest vectors."""
        for size in self.sizes:
            self.sampler.until = self.until[0]
            if size > _FEW and self.among.custom is None:
                some = crowds(size, 2 * self.grid.delta - self.grid.step)
                batches: Iterable[Batch] = (self.near(np.array([row]), many) for row, many in some)
            else:
                batches = [self.near(shapes(size, self.grid, self.noise_scale))]
            yield "explored", size, batches
        if self.among.custom is None and self.sizes[0] <= _FEW:
            self.sampler.until = self.until[1]
            yield "far out", self.sizes[0], self._in_time(self.far_out(self.sizes[0]))

    def size(self, pair: Suspect) -> int:
        """Return the number of candidates."""
        return len(pair.scores)

    def batch(
        self, here: Floats, there: Floats, counts: Counts = (), *, plainly: bool = False
    ) -> Batch:
        """Estimate the losses of some of these pairs; if time runs out, return the estimates so far."""
        most = _PAIRS_OF_CROWD if counts else _PAIRS * (_FAR if plainly else 1)
        # With an odd stride, neighbours of every kind are included.
        stride = len(here) // most | 1
        rows = [np.repeat(side[::stride], counts or 1, axis=1) for side in (here, there)]
        found = list[tuple[float, Suspect]]()
        with suppress(OutOfTime):
            for scores, neighbour in zip(*(side.tolist() for side in rows), strict=True):
                draws = self.draws // (_FAR if plainly else 1)
                found.append(
                    max(self.both_ways(scores, neighbour, draws, self.claimed), key=_value)
                )
        values = np.array([value for value, _ in found])
        magnitude = float(np.abs(rows[0][: len(found)]).max(initial=0.0))
        return Batch(values, lambda place: found[place][1], len(found), magnitude)

    def changes(self, here: Floats, there: Floats) -> Floats:
        """Return how much each pair's answers differ, in standard deviations, minus ``_STANDS_OUT``."""
        ends = zip(here.tolist(), there.tolist(), strict=True)
        ways = [self.both_ways(*pair, self.draws // _FAR, 0.0) for pair in ends]
        return np.array([max(map(_value, both)) for both in ways]) - _STANDS_OUT

    def both_ways(
        self, scores: list[float], neighbour: list[float], draws: int, claimed: float
    ) -> list[tuple[float, Suspect]]:
        """Find, for each direction, the event whose loss is the most standard deviations above the claim."""
        one, two = self.sampler.both(scores, neighbour, draws, monotonic=self.among.monotonic)
        found = list[tuple[float, Suspect]]()
        for first, second, pair in (
            (one, two, (scores, neighbour)),
            (two, one, (neighbour, scores)),
        ):
            ranked = [
                ((value - claimed) / max(spread, 1e-12), event)
                for event in self.bound.events(first, second)
                for value, spread in [self.bound.estimate(first, second, event)]
            ]
            value, event = max(ranked, key=_value)
            found.append((value, Suspect(tuple(pair[0]), tuple(pair[1]), event)))
        return found

    @staticmethod
    def _in_time(batches: Iterable[Batch]) -> Iterator[Batch]:
        with suppress(OutOfTime):
            yield from batches


def finalists(found: list[Found], sampler: Sampler) -> list[Found]:
    """Estimate all pairs again from sixteen times as many new draws; return the few that stand out most."""
    sampler.forget()
    ranked, again = sorted(found, key=_value, reverse=True), list[Found]()
    pairs = dict.fromkeys((one.pair[:2], one.kind) for one in ranked)
    with suppress(OutOfTime):
        for (scores, neighbour), kind in pairs:
            both = kind.both_ways(list(scores), list(neighbour), _AGAIN * kind.draws, kind.claimed)
            again += [Found(value, suspect, kind) for value, suspect in both]
    return sorted(again, key=_value, reverse=True)[:_FINALISTS] or ranked[:_FINALISTS]
