"""Regularity, as the permute-and-flip paper defines it: symmetry, shift invariance, monotonicity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet._exact.numbers.balls import precision
from discreet.audit.losses import as_float, ball_log_ratio, exceeds
from discreet.audit.relations import Floats, Relation, ScoreGrid, scattered, shapes
from discreet.audit.search import Batch
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
    number to all scores changes nothing. Monotonic: improving a candidate's score, or
    worsening another's, never makes that candidate less likely.

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
    """A change of scores that must leave ``image`` as likely as ``outcome`` was (``one_sided``: or more)."""

    rule: str
    scores: Floats
    changed: Floats
    outcome: int
    image: int
    one_sided: bool = False


@dataclass(slots=True)
class Changes:
    """Changes of scores that test whether a mechanism is regular.

    The loss is the log-ratio of the two probabilities that a change compares.
    """

    subject: Subject
    claim: Regular
    grid: ScoreGrid
    sizes: tuple[int, ...]
    among: Relation
    finest, patience, part = 1.0, 0, 1

    @property
    def relation(self) -> str:
        """The neighbour relation in one word."""
        return self.among.name

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield one stage for each of the three rules and each number of candidates."""
        for size in self.sizes:
            rules: dict[str, list[_Change]] = {}
            for row in _rows(size, self.grid):
                for change in _changes(self.claim, row, self.grid, self.subject.largest_is_best):
                    rules.setdefault(change.rule, []).append(change)
            for rule, changes in rules.items():
                losses = _falls(self.subject, self.among, changes)
                yield rule, size, [Batch(losses, changes.__getitem__, len(changes))]

    def around(self, _pair: _Change, _step: float) -> Iterable[Batch]:
        """Return nothing: a rule is either broken or not, so there is no worse pair to climb to."""
        return ()

    def size(self, pair: _Change) -> int:
        """The number of candidates."""
        return len(pair.scores)

    def certified(self, pair: _Change) -> tuple[Witness, bool]:
        """Return the certified change, and whether it breaks the rule."""
        return _certified(self.subject, pair, self.among)


def regular_by_proof(subject: Subject) -> str | None:
    """Return the page that proves the subject regular; None if there is no proof."""
    facts = facts_of(subject.audited)
    return _PROOF if facts is not None and facts.regular else None


def _rows(size: int, grid: ScoreGrid) -> Floats:
    rows = np.concatenate(
        [shapes(size, grid, 2 * grid.delta), scattered(size, grid, 4 * grid.delta, 24)]
    )
    stride = max(1, len(rows) // _MOST_ROWS)
    return rows[::stride]


def _changes(claim: Regular, row: Floats, grid: ScoreGrid, largest: bool) -> Iterator[_Change]:
    """Yield changes of one score vector, each with the rule it tests."""
    places = range(len(row))
    if claim.symmetric:
        for place in places[1:]:
            changed = row.copy()
            changed[[0, place]] = row[[place, 0]]
            # All probabilities must be permuted in the same way.
            for outcome in places:
                image = {0: place, place: 0}.get(outcome, outcome)
                yield _Change("symmetry", row, changed, outcome, image)
    if claim.shift_invariant:
        for shift in (grid.delta, -3.5 * grid.delta, 100 * grid.delta):
            for outcome in places:
                yield _Change("shift invariance", row, row + shift, outcome, outcome)
    if claim.monotonic:
        # Any change that must not make r less likely is a sequence of moves of single candidates.
        for place, move in product(places, (grid.delta, grid.delta / 2)):
            raised = row.copy()
            raised[place] += move if largest else -move
            for outcome in places:
                pair = (row, raised) if outcome == place else (raised, row)
                yield _Change("monotonicity", *pair, outcome, outcome, one_sided=True)


def _falls(subject: Subject, relation: Relation, changes: list[_Change]) -> Floats:
    before, after = (
        subject.log_masses(np.array(rows), monotonic=relation.monotonic, plainly=True)
        for rows in zip(*((change.scores, change.changed) for change in changes), strict=True)
    )
    places = np.arange(len(changes))
    with np.errstate(invalid="ignore"):
        falls = (
            before[places, [change.outcome for change in changes]]
            - after[places, [change.image for change in changes]]
        )
    falls = np.nan_to_num(falls, nan=0.0, posinf=np.inf, neginf=-np.inf)
    both_ways = np.array([not change.one_sided for change in changes])
    return np.maximum(np.where(both_ways, np.abs(falls), falls), 0.0)


def _certified(subject: Subject, change: _Change, relation: Relation) -> tuple[Witness, bool]:
    with precision(BITS):
        balls = [
            subject.balls(subject.scores(row, monotonic=relation.monotonic), len(row))
            for row in (change.scores, change.changed)
        ]
        before, after = balls[0][0][change.outcome], balls[1][0][change.image]
        value = ball_log_ratio(before, after)
        if not change.one_sided and not exceeds(value, 0):
            value = ball_log_ratio(after, before)
        breaks = exceeds(value, 0)
    first, second = ([float(ball) for ball in part] for part, _ in balls)
    return (
        Witness(
            scores=plain(change.scores),
            neighbour=plain(change.changed),
            relation=change.rule,
            outcome=change.outcome,
            probability=first[change.outcome],
            neighbour_probability=second[change.image],
            value=max(0.0, as_float(value)),
            certainty=balls[0][1],
            probabilities=tuple(first),
            neighbour_probabilities=tuple(second),
            other=change.image,
        ),
        breaks,
    )
