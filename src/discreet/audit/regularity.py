"""Regularity, as the permute-and-flip paper defines it: symmetry, shift invariance, monotonicity."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from discreet._exact.numbers.balls import precision
from discreet.audit.losses import as_float, ball_log_ratio, exceeds
from discreet.audit.relations import Floats, Relation, ScoreGrid, scattered, shapes
from discreet.audit.search import Progress
from discreet.audit.subjects import BITS, Subject
from discreet.audit.verdicts import Stage, Verdict, Witness, plain
from discreet.mechanisms.mechanism import facts_of

_MOST_ROWS = 32
_PROOF = "docs/proofs/auditing.md"
_DUST = 2.0**-100  # what 200 bits may leave of a log-ratio that is zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Regular:
    """The claim that a mechanism is regular, or some of its three parts.

    Symmetric: exchanging two candidates exchanges their probabilities. Shift-invariant: adding the same
    number to all scores changes nothing. Monotonic: raising a candidate, or lowering another, never
    makes it less likely.

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


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of scores after which ``outcome``'s probability must be (at least) that of ``image``."""

    scores: Floats
    changed: Floats
    outcome: int
    image: int
    one_sided: bool = False


def audit_regularity(
    subject: Subject,
    claim: Regular,
    *,
    grid: ScoreGrid,
    sizes: tuple[int, ...],
    relations: list[Relation],
    progress: Progress | None,
    began: float,
) -> Verdict:
    """Search for a change of scores that breaks one of the rules; the loss is a log-ratio."""
    stages, worst = list[Stage](), list[tuple[float, str, _Change, Relation]]()
    turns = list(product(relations, sizes))
    for turn, (relation, size) in enumerate(turns):
        if progress is not None:
            progress(f"regularity, {size} candidates", turn / len(turns))
        rules: dict[str, list[_Change]] = {}
        for row in _rows(size, grid):
            for rule, change in _changes(claim, row, grid, subject.largest_is_best):
                rules.setdefault(rule, []).append(change)
        for rule, changes in rules.items():
            value, change = _largest(subject, relation, changes)
            stages.append(
                Stage(
                    name=rule, relation=relation.name, size=size, pairs=len(changes), largest=value
                )
            )
            worst.append((value, rule, change, relation))
    worst.sort(key=lambda entry: -entry[0])
    witness, refuted = None, False
    for _value, rule, change, relation in worst[:5]:
        found, breaks = _certified(subject, rule, change, relation)
        if witness is None or (breaks, found.value) > (refuted, witness.value):
            witness, refuted = found, breaks
    measured = 0.0 if witness is None else max(0.0, witness.value)
    facts = facts_of(subject.audited)
    proved = not refuted and measured <= _DUST and facts is not None and facts.regular
    return Verdict(
        subject=subject.name,
        claim=repr(claim),
        status="refuted" if refuted else "proved" if proved else "not refuted",
        measured=measured,
        claimed=0.0,
        symbol="log-ratio",
        witness=witness if refuted else None,
        worst=witness,
        proof=_PROOF if proved else None,
        stages=tuple(stages),
        evaluations=subject.evaluations,
        seconds=time.perf_counter() - began,
    )


def _rows(size: int, grid: ScoreGrid) -> Floats:
    rows = np.concatenate(
        [shapes(size, grid, 2 * grid.delta), scattered(size, grid, 4 * grid.delta, 24)]
    )
    stride = max(1, len(rows) // _MOST_ROWS)
    return rows[::stride]


def _changes(
    claim: Regular, row: Floats, grid: ScoreGrid, largest: bool
) -> Iterator[tuple[str, _Change]]:
    """Changes of one score vector, each with the rule that it tries."""
    places = range(len(row))
    if claim.symmetric:
        for place in places[1:]:
            changed = row.copy()
            changed[[0, place]] = row[[place, 0]]
            # Everyone's probability must move with them.
            for outcome in places:
                image = {0: place, place: 0}.get(outcome, outcome)
                yield "symmetry", _Change(row, changed, outcome, image)
    if claim.shift_invariant:
        for shift in (grid.delta, -3.5 * grid.delta, 100 * grid.delta):
            for outcome in places:
                yield "shift invariance", _Change(row, row + shift, outcome, outcome)
    if claim.monotonic:
        # Any change that must not hurt r is a sequence of moves of one candidate.
        for place, move in product(places, (grid.delta, grid.delta / 2)):
            raised = row.copy()
            raised[place] += move if largest else -move
            for outcome in places:
                pair = (row, raised) if outcome == place else (raised, row)
                yield "monotonicity", _Change(*pair, outcome, outcome, one_sided=True)


def _largest(subject: Subject, relation: Relation, changes: list[_Change]) -> tuple[float, _Change]:
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
    values = np.where(both_ways, np.abs(falls), falls)
    place = int(np.argmax(values))
    return max(0.0, float(values[place])), changes[place]


def _certified(
    subject: Subject, rule: str, change: _Change, relation: Relation
) -> tuple[Witness, bool]:
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
            relation=rule,
            outcome=change.outcome,
            probability=first[change.outcome],
            neighbour_probability=second[change.image],
            value=as_float(value),
            certainty=balls[0][1],
            probabilities=tuple(first),
            neighbour_probabilities=tuple(second),
            other=change.image,
        ),
        breaks,
    )
