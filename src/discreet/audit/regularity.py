"""Regularity, as the permute-and-flip paper defines it: symmetry, shift invariance, monotonicity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.balls import precision
from discreet.audit.losses import as_float, ball_log_ratio, exceeds
from discreet.audit.relations import Floats, Relation, ScoreGrid
from discreet.audit.search import Batch, Kind
from discreet.audit.starting_vectors import scattered, shapes
from discreet.audit.subjects import BITS, Subject
from discreet.audit.verdicts import Witness, plain
from discreet.mechanisms.mechanism import facts_of

_MOST_ROWS = 32
_PROOF = "docs/proofs/auditing.md"
DUST = 2.0**-100  # at 200 bits, a log-ratio of zero may be computed as this


@dataclass(frozen=True, slots=True, kw_only=True)
class Regular:
    """The claim that a mechanism has all three properties of regularity, or only some of them.

    Symmetric: exchanging two candidates exchanges their probabilities. Shift-invariant: adding the same
    number to all scores changes no probability. Monotonic: improving a candidate's score, or worsening
    another candidate's, never makes the first candidate less likely.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> from discreet.audit import audit
        >>> audit(PermuteAndFlip(epsilon=1), Regular(), n=3).holds
        True
        >>> Regular(monotonic=False)
        Regular(symmetric, shift_invariant only)
    """

    symmetric: bool = True
    shift_invariant: bool = True
    monotonic: bool = True

    def __repr__(self) -> str:
        rules = [name for name in self.__slots__ if getattr(self, name)]
        return "Regular()" if len(rules) == 3 else f"Regular({', '.join(rules)} only)"


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A change of scores, after which answer ``images[i]`` must be as likely as answer i was before.

    If ``signs[i]`` is 1, that answer may also be more likely; if −1, less likely; if 0, neither.
    """

    rule: str
    scores: Floats
    changed: Floats
    images: npt.NDArray[np.int64]
    signs: npt.NDArray[np.int64]


@dataclass(slots=True)
class Changes(Kind):
    """Changes of scores that test whether a mechanism is regular.

    The loss is the largest log-ratio that a rule forbids. A rule is either broken or not, so the search does
    not climb to worse pairs.
    """

    subject: Subject
    claim: Regular
    grid: ScoreGrid
    sizes: tuple[int, ...]
    among: Relation

    @property
    def relation(self) -> str:
        """The neighbour relation in one word."""
        return self.among.name

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield one stage for each claimed rule and each number of candidates."""
        for size in self.sizes:
            rules: dict[str, list[_Change]] = {}
            for row in _rows(size, self.grid):
                for change in _changes(self.claim, row, self.grid, self.subject.largest_is_best):
                    rules.setdefault(change.rule, []).append(change)
            for rule, changes in rules.items():
                losses = self._breaches(changes).max(axis=1)
                yield rule, size, [Batch(losses, changes.__getitem__, len(changes))]

    def size(self, pair: _Change) -> int:
        """Return the number of candidates."""
        return len(pair.scores)

    def certified(self, pair: _Change) -> tuple[Witness, bool]:
        """Return the change as a witness with a certified loss, and whether it breaks the rule."""
        outcome = int(self._breaches([pair])[0].argmax())
        image, sign = int(pair.images[outcome]), pair.signs[outcome]
        with precision(BITS):
            (first, certainty), (second, _) = (
                self.subject.balls(scores, len(scores))
                for scores in self._scores(pair.scores, pair.changed)
            )
            falls, rises = (first[outcome], second[image]), (second[image], first[outcome])
            forbidden = {0: (falls, rises), 1: (falls,), -1: (rises,)}[sign]
            values = [ball_log_ratio(*way) for way in forbidden]
            value = next((one for one in values if exceeds(one, 0)), values[-1])
            breaks = exceeds(value, 0)
        laws = [tuple(map(float, law)) for law in (first, second)]
        return (
            Witness(
                scores=plain(pair.scores),
                neighbour=plain(pair.changed),
                relation=pair.rule,
                outcome=outcome,
                probability=laws[0][outcome],
                neighbour_probability=laws[1][image],
                value=max(0.0, as_float(value)),
                certainty=certainty,
                probabilities=laws[0],
                neighbour_probabilities=laws[1],
                other=image,
            ),
            breaks,
        )

    def _scores(self, *rows: Floats) -> list[Any]:
        return [self.subject.scores(row, monotonic=self.among.monotonic) for row in rows]

    def _breaches(self, changes: list[_Change]) -> Floats:
        """Return how much of each answer's log-ratio the rule forbids, one row per change."""
        scores, changed, images, signs = (
            np.array([getattr(one, part) for one in changes])
            for part in ("scores", "changed", "images", "signs")
        )
        before, after = (
            self.subject.log_masses(rows, monotonic=self.among.monotonic, plainly=True)
            for rows in (scores, changed)
        )
        with np.errstate(invalid="ignore"):
            falls = before[:, : scores.shape[1]] - np.take_along_axis(after, images, axis=1)
        falls = np.nan_to_num(falls, nan=0.0, posinf=np.inf, neginf=-np.inf)
        forbidden: Floats = np.where(signs == 0, np.abs(falls), np.maximum(falls * signs, 0.0))
        return forbidden


def regular_by_proof(subject: Subject) -> str | None:
    """Return the page that proves the subject regular; None if there is no proof."""
    facts = facts_of(subject.audited)
    return _PROOF if facts is not None and facts.regular else None


def _rows(size: int, grid: ScoreGrid) -> Floats:
    rows = np.concatenate(
        [shapes(size, grid, 2 * grid.delta), scattered(size, grid, 4 * grid.delta, 24)]
    )
    return rows[:: max(1, len(rows) // _MOST_ROWS)]


def _changes(claim: Regular, row: Floats, grid: ScoreGrid, largest: bool) -> Iterator[_Change]:
    """Yield changes of one score vector, each with the rule it tests."""
    places = np.arange(len(row))
    nothing = np.zeros_like(places)
    if claim.symmetric:
        for place in places[1:]:
            swapped = places.copy()
            swapped[[0, place]] = place, 0
            yield _Change("symmetry", row, row[swapped], swapped, nothing)
    if claim.shift_invariant:
        for shift in (grid.delta, -3.5 * grid.delta, 100 * grid.delta):
            yield _Change("shift invariance", row, row + shift, places, nothing)
    if claim.monotonic:
        # Any change that must not make r less likely is a sequence of moves of single candidates.
        for place, move in product(places, (grid.delta, grid.delta / 2)):
            improved = np.where(places == place, row + (move if largest else -move), row)
            signs = np.where(places == place, 1, -1)
            yield _Change("monotonicity", row, improved, places, signs)
