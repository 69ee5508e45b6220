"""The statistical audit: a black box that only samples, against a claimed guarantee."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.bounds import AnswerSet, LossBound, bound_for, frequencies
from discreet.audit.crowds import crowds
from discreet.audit.exact import claimed_noise_scale, numbers_of_candidates, relations_for
from discreet.audit.relations import Neighbours, Relation, ScoreGrid
from discreet.audit.samplers import Sampler
from discreet.audit.search import Progress
from discreet.audit.shapes import shapes
from discreet.audit.verdicts import Stage, Verdict, Witness, plain
from discreet.guarantees import Guarantee
from discreet.numbers.exact import positive_distance, refuse, whole

SIZES = (2, 3, 5)
_CROWD, _FEW = 30, 16
_KEPT = (12, 3)
_FIRST_ROUND = 20_000
_PAIRS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalVerdict(Verdict):
    """The outcome of a statistical audit.

    ``measured`` is a lower confidence bound: the true loss is larger, but for a chance of at most
    ``false_alarm`` over the whole audit. ``estimate`` is what the same draws suggest.

    Example:
        >>> from discreet import PureDP
        >>> verdict = statistical_audit(lambda scores: int(scores.argmax()), PureDP(1), n=2, samples=2000)
        >>> verdict.holds, verdict.false_alarm
        (False, 1e-09)
    """

    draws: int = 0
    false_alarm: float = 0.0
    estimate: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain values, ready for JSON."""
        # The zero-argument super() does not survive the rebuilding of a class with slots.
        told = Verdict.as_dict(self)
        return {
            **told,
            "draws": self.draws,
            "false_alarm": self.false_alarm,
            "estimate": self.estimate,
        }


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A pair of neighbours and the event that tells them apart, the likelier side first."""

    scores: tuple[float, ...]
    neighbour: tuple[float, ...]
    relation: Relation
    event: AnswerSet


def statistical_audit(
    function: Any,
    claim: Guarantee,
    *,
    sensitivity: object = 1,
    monotonic: bool | None = None,
    n: int | Iterable[int] | None = None,
    neighbours: Neighbours | None = None,
    samples: int = 500_000,
    false_alarm: float = 1e-9,
    explore: int = 500,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> StatisticalVerdict:
    """Reject a claim by sampling: a lower confidence bound on the loss, on the worst pairs found.

    Pairs are found with ``explore`` draws for each score vector; the most telling few are then judged on
    fresh draws only, in rounds of growing size. Every bound is that of Clopper and Pearson, and all bounds
    of all rounds share ``false_alarm`` equally (Bonferroni), so that a true claim is rejected with at
    most that probability, however the pairs were found (``docs/proofs/auditing.md``).

    Args:
        function: a mechanism, ``function(scores, size)`` that returns positions or a list of answers of any
            kind, or ``function(scores)`` that returns one; an exception is an answer like any other.
        claim: ``PureDP``, ``BoundedRange``, ``ZCDP`` or ``ApproxDP``.
        sensitivity: Δ, the most that one person changes any one score.
        monotonic: whether all scores move in one direction; None tries both.
        n: how many candidates, a number or several; None tries 2, 3 and 5, and crowds of 30.
        neighbours: a neighbour relation of one's own.
        samples: the most draws for one score vector.
        false_alarm: the largest probability of rejecting a claim that is true.
        explore: draws for each score vector while looking for the worst pairs.
        seconds: stop looking after about half of this time and drawing after all of it; None for no limit.
        progress: called with the stage and the fraction done.

    Example:
        >>> from discreet import PureDP
        >>> verdict = statistical_audit(lambda scores: int(scores.argmax()), PureDP(1), n=2, samples=2000)
        >>> verdict.status, verdict.measured > 1
        ('refuted', True)
    """
    began = time.perf_counter()
    distance = positive_distance("sensitivity", sensitivity)
    samples = whole("samples", samples, least=100)
    explore = whole("explore", explore, least=100)
    if not isinstance(false_alarm, float | int) or not 0 < false_alarm < 1:
        raise refuse("false_alarm", false_alarm, "a probability between 0 and 1")
    if seconds is not None and not (isinstance(seconds, float | int) and seconds > 0):
        raise refuse("seconds", seconds, "a time above zero, or None")
    bound, claimed = bound_for(claim)
    sampler = Sampler(function, sensitivity=distance)
    grid = ScoreGrid.for_sensitivity(distance)
    tell: Progress = progress if progress is not None else _silent
    suspects, stages = list[_Suspect](), list[Stage]()
    sizes = (*SIZES, _CROWD) if n is None else numbers_of_candidates(n)

    def late(share: float) -> bool:
        return seconds is not None and time.perf_counter() - began > share * seconds

    relations = relations_for(monotonic, neighbours)
    for number, relation in enumerate(relations):
        for place, size in enumerate(sizes):
            tell(f"explore {size} candidates", (number + place / len(sizes)) / len(relations) / 2)
            if late(0.5):
                break
            if size > _FEW and relation.custom is None:
                found = _crowd_pairs(size, relation, grid)
            else:
                rows = shapes(size, grid, claimed_noise_scale(claim, relation, distance))
                found = _pairs(rows, relation, grid)
            stages.append(
                Stage(
                    name="explored",
                    relation=relation.name,
                    size=size,
                    pairs=len(found),
                    largest=0.0,
                )
            )
            suspects += _most_telling(
                sampler, bound, found, claimed=claimed, size=explore, keep=_KEPT[0]
            )
    finalists = _finalists(sampler, bound, suspects, claimed, explore)
    sampler.forget()
    rounds = _rounds(samples)
    error = false_alarm / (len(rounds) * max(1, len(finalists)))
    best: tuple[float, _Suspect] | None = None
    size = rounds[0]
    for turn, size in enumerate(rounds):
        tell(f"judge with {size:,} draws", 0.5 + turn / len(rounds) / 2)
        judged = [(_judge(sampler, bound, suspect, size, error), suspect) for suspect in finalists]
        best = max([*judged, *([best] if best else [])], key=lambda entry: entry[0], default=None)
        if (best is not None and best[0] > claimed) or late(1.0):
            break
    tell("done", 1.0)
    witness, estimate = (
        (None, 0.0) if best is None else _witness(sampler, bound, best, size, false_alarm)
    )
    refuted = best is not None and best[0] > claimed
    return StatisticalVerdict(
        subject=sampler.name,
        claim=repr(claim),
        status="refuted" if refuted else "not refuted",
        measured=0.0 if best is None else max(0.0, best[0]),
        claimed=claimed,
        symbol=f"{_symbol(claim)} (lower confidence bound)",
        witness=witness if refuted else None,
        worst=witness,
        stages=tuple(stages),
        evaluations=sum(stage.pairs for stage in stages),
        seconds=time.perf_counter() - began,
        notes=(
            f"a true claim is rejected with probability at most {false_alarm:g}",
            *(("stopped by its time limit",) if late(1.0) else ()),
        ),
        draws=sampler.draws,
        false_alarm=float(false_alarm),
        estimate=estimate,
    )


def _silent(_stage: str, _share: float) -> None:
    """Progress is not reported."""


def _symbol(claim: Guarantee) -> str:
    return "δ" if claim.symbol == "(ε, δ)" else claim.symbol


def _rounds(samples: int) -> list[int]:
    """Sizes that grow fourfold up to ``samples``."""
    sizes = [samples]
    while sizes[0] // 4 >= _FIRST_ROUND:
        sizes.insert(0, sizes[0] // 4)
    return sizes


def _pairs(
    rows: Any, relation: Relation, grid: ScoreGrid
) -> list[tuple[tuple[float, ...], tuple[float, ...], Relation]]:
    """Structured pairs; of very many, some of every kind."""
    found = [
        (tuple(row.tolist()), tuple(neighbour.tolist()), relation)
        for row in rows
        for neighbour in relation.structured(row, grid.delta)
    ]
    # A stride that divides neither the rows nor the neighbours of a row visits all kinds.
    stride = len(found) // _PAIRS
    return found[:: stride + (stride % 2 == 0)] if stride > 1 else found


def _crowd_pairs(
    size: int, relation: Relation, grid: ScoreGrid
) -> list[tuple[tuple[float, ...], tuple[float, ...], Relation]]:
    """An outsider, two blocks, a ladder, each moved against the rest."""
    found = [
        (tuple(first.tolist()), tuple(second.tolist()), relation)
        for first, second in (
            crowd.rows() for crowd in crowds(size, grid, [2 * grid.delta - grid.step], relation)
        )
    ]
    return found[:: max(1, len(found) // (_PAIRS // 3))]


def _score(bound: LossBound, first: Any, second: Any, event: AnswerSet, claimed: float) -> float:
    """By how many standard deviations the counts suggest more than the claim."""
    value, spread = bound.estimate(first, second, event)
    return (value - claimed) / max(spread, 1e-12)


def _most_telling(
    sampler: Sampler, bound: LossBound, pairs: Any, *, claimed: float, size: int, keep: int
) -> list[_Suspect]:
    found = list[tuple[float, _Suspect]]()
    for scores, neighbour, relation in pairs:
        one, two = sampler.both(scores, neighbour, size, monotonic=relation.monotonic)
        for first, second, a, b in ((one, two, scores, neighbour), (two, one, neighbour, scores)):
            events = bound.events(first, second)
            ranked = [(_score(bound, first, second, event, claimed), event) for event in events]
            best = max(ranked, key=lambda entry: entry[0])
            found.append((best[0], _Suspect(a, b, relation, best[1])))
    found.sort(key=lambda entry: -entry[0])
    return [suspect for _, suspect in found[:keep]]


def _finalists(
    sampler: Sampler, bound: LossBound, suspects: list[_Suspect], claimed: float, size: int
) -> list[_Suspect]:
    """The few that still stand out after sixteen times as many draws, made afresh."""
    sampler.forget()
    pairs = list(dict.fromkeys((s.scores, s.neighbour, s.relation) for s in suspects))
    return _most_telling(sampler, bound, pairs, claimed=claimed, size=16 * size, keep=_KEPT[1])


def _judge(sampler: Sampler, bound: LossBound, suspect: _Suspect, size: int, error: float) -> float:
    first, second = sampler.both(
        suspect.scores, suspect.neighbour, size, monotonic=suspect.relation.monotonic
    )
    return bound.proved(first, second, suspect.event, error)


def _witness(
    sampler: Sampler, bound: LossBound, best: tuple[float, _Suspect], size: int, false_alarm: float
) -> tuple[Witness, float]:
    value, suspect = best
    first, second = sampler.both(
        suspect.scores, suspect.neighbour, size, monotonic=suspect.relation.monotonic
    )
    shares = frequencies(first), frequencies(second)
    outcome = max(
        suspect.event.members, key=lambda place: float(shares[0][place] - shares[1][place])
    )
    # An event that was chosen on earlier draws may name answers that these draws have not seen.
    witness = Witness(
        scores=plain(suspect.scores),
        neighbour=plain(suspect.neighbour),
        relation=suspect.relation.name,
        outcome=outcome,
        probability=float(shares[0][outcome]),
        neighbour_probability=float(shares[1][outcome]),
        value=value,
        certainty=f"{size:,} draws of each, with confidence 1 − {false_alarm:g}",
        probabilities=tuple(shares[0].tolist()),
        neighbour_probabilities=tuple(shares[1].tolist()),
        other=suspect.event.other,
        event=suspect.event.members if len(suspect.event.members) > 1 else (),
        answers=sampler.answers(len(suspect.scores)),
    )
    return witness, float(np.float64(bound.estimate(first, second, suspect.event)[0]))
