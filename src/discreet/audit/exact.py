"""The exact audit: does a claimed guarantee hold for every pair of neighbouring score vectors?"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from discreet._exact.numbers.balls import precision
from discreet._exact.numbers.exact import float_up, positive_distance, refuse, whole
from discreet.audit.losses import Loss, as_float, exceeds, loss_for
from discreet.audit.regularity import Regular, audit_regularity
from discreet.audit.relations import Neighbours, Relation, ScoreGrid
from discreet.audit.search import Pair, Progress, Search, silent
from discreet.audit.sequences import StreamSubject, audit_stream
from discreet.audit.subjects import BITS, FLOATS, Subject
from discreet.audit.tables import Found, Inputs, InputSearch
from discreet.audit.verdicts import Verdict, Witness, in_blocks, plain
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, LaplaceDominated
from discreet.mechanisms.mechanism import facts_of
from discreet.scores import Scores

F = TypeVar("F", Pair, Found)

SIZES = (2, 3, 4, 5)
"""How many candidates are tried by default."""

_MOST_STEPS = 64

_CLIMBS = {"quick": 1, "usual": 6, "thorough": 18}
"""How many climbs are made for each relation, by the effort."""


def audit(
    subject: Any,
    claim: Guarantee | Regular,
    *,
    sensitivity: object = 1,
    monotonic: bool | None = None,
    n: int | Iterable[int] | None = None,
    neighbours: Neighbours | None = None,
    inputs: Inputs | None = None,
    effort: str = "usual",
    progress: Progress | None = None,
) -> Verdict:
    """Search neighbouring inputs for a pair that refutes the claim.

    The subject is a mechanism, a class (built with the claim's ε), an object with
    ``probabilities(scores)`` or a function of scores that returns the probabilities: one per candidate, or
    a mapping from answers of any kind to theirs. The scores it is given are :class:`~discreet.Scores`
    that also behave as a NumPy array. An exception or a NaN is an answer like any other. A watch or
    its rule, which answers a stream, is audited by all lists of answers, with its own sensitivity and
    ``n`` values. What the three statuses mean, where it looks and how a witness is certified is in
    ``docs/proofs/auditing.md``.

    Args:
        subject: what to audit.
        claim: ``PureDP``, ``BoundedRange``, ``ZCDP``, ``ApproxDP``, ``LaplaceDominated`` or ``Regular()``.
        sensitivity: Δ, the most that one person changes any one score; or a list with one for each
            candidate, which says how many there are.
        monotonic: whether all scores move in one direction; None tries both.
        n: how many candidates, a number or several; None tries 2 to 5, and crowds of up to 10,000.
        neighbours: a neighbour relation of one's own, from a score vector to the neighbours to try.
        inputs: what the subject is a function of, if not of scores: a kind of input such as
            :class:`~discreet.audit.Tables`.
        effort: ``"quick"``, ``"usual"`` or ``"thorough"``, which looks several times as long and in more
            places. The same audit gives the same verdict each time.
        progress: called with the stage and the fraction done.

    Example:
        >>> from discreet import BoundedRange, PermuteAndFlip, PureDP
        >>> audit(PermuteAndFlip(epsilon=1), PureDP(1), n=3).status
        'proved'
        >>> verdict = audit(PermuteAndFlip(epsilon=1), BoundedRange(1), n=2)
        >>> verdict.holds, round(verdict.measured, 4)
        (False, 1.6636)
        >>> audit(lambda scores: np.full(len(scores), 1 / len(scores)), PureDP(0), n=3).status
        'not refuted'
    """
    began = time.perf_counter()
    if effort not in _CLIMBS:
        raise refuse("effort", effort, " or ".join(f'"{each}"' for each in _CLIMBS))
    climbs, thorough = _CLIMBS[effort], effort == "thorough"
    stream = getattr(subject, "rule", subject)
    if isinstance(stream, StreamSubject):
        if isinstance(claim, Regular) or neighbours is not None:
            raise ParameterError("of a stream PureDP is audited, for all neighbours")
        return audit_stream(stream, claim, monotonic=monotonic, lengths=n, progress=progress)
    steps = _steps_of(sensitivity, n, neighbours, inputs, claim)
    if steps is not None:
        sensitivity, n = 1, len(steps)
    bound = positive_distance("sensitivity", sensitivity)
    sizes = numbers_of_candidates(n)
    relations = relations_for(monotonic, neighbours)
    prepared = Subject(subject, sensitivity=bound, epsilon=_epsilon_of(claim), steps=steps)
    grid = ScoreGrid.for_sensitivity(bound)
    if isinstance(claim, Regular):
        if inputs is not None:
            raise ParameterError("Regular() is about scores: leave ⟨inputs⟩ out")
        return audit_regularity(
            prepared,
            claim,
            grid=grid,
            sizes=sizes,
            relations=relations,
            progress=progress,
            began=began,
        )
    loss = loss_for(claim)
    tell = progress or silent
    searches: list[Search] = []
    if inputs is None:
        searches = [
            Search(
                prepared,
                loss,
                relation,
                grid,
                _noise_scale(prepared, claim, relation),
                thorough,
            )
            for relation in relations
        ]
        _run(searches, sizes, climbs, tell, in_crowds=n is None)
        stages = [stage for search in searches for stage in search.stages]
        by_pair = {pair: search.relation for search in searches for pair in search.found}
        checked = [
            certify(prepared, loss, pair, by_pair[pair]) for pair in doubtful(loss, list(by_pair))
        ]
    else:
        search = InputSearch(prepared, loss, inputs, thorough)
        for number, stage in enumerate(search.run(climbs)):
            tell(stage, 1 - 0.8**number)
        stages = search.stages
        checked = [
            certify_inputs(prepared, loss, inputs, found.couple)
            for found in doubtful(loss, search.found)
        ]
    tell("certificate", 1.0)
    # Rounding can put a pair first in floats that the balls put second.
    worst, refuted = max(checked, key=lambda pair: (pair[1], pair[0].value), default=(None, False))
    claimed = float_up(loss.claimed)
    # Above the claim but not certainly so: no proof is named beside such a figure.
    above = worst is not None and worst.value > claimed
    proof = None if above or refuted or neighbours or inputs else _proof(prepared, claim, relations)
    return Verdict(
        subject=prepared.name,
        claim=repr(claim),
        status="refuted" if refuted else "proved" if proof else "not refuted",
        measured=0.0 if worst is None else worst.value,
        claimed=claimed,
        symbol=loss.symbol,
        witness=worst if refuted else None,
        worst=worst,
        proof=proof,
        stages=tuple(stages),
        evaluations=prepared.evaluations,
        seconds=time.perf_counter() - began,
        counted="candidates" if inputs is None else inputs.counted,
    )


def _steps_of(
    sensitivity: object,
    n: int | Iterable[int] | None,
    neighbours: Neighbours | None,
    inputs: Inputs | None,
    claim: Guarantee | Regular,
) -> tuple[Fraction, ...] | None:
    """One sensitivity for each candidate, where they differ; None where one number is given."""
    if not isinstance(sensitivity, list | tuple):
        return None
    steps = Scores([0] * len(sensitivity), sensitivity=sensitivity).sensitivity
    if isinstance(steps, Fraction):
        raise ParameterError("equal sensitivities are given as one number, with ⟨n⟩ for how many")
    if neighbours or inputs or isinstance(claim, Regular) or n not in (None, len(sensitivity)):
        raise ParameterError(
            "a list of sensitivities says how many candidates there are and how they move: leave ⟨n⟩, "
            "⟨neighbours⟩, ⟨inputs⟩ and Regular() out"
        )
    if len(sensitivity) > _MOST_STEPS:
        raise refuse("sensitivity", f"{len(sensitivity)} numbers", f"at most {_MOST_STEPS}")
    return steps


def numbers_of_candidates(n: int | Iterable[int] | None) -> tuple[int, ...]:
    """The sizes to try, checked."""
    if n is None:
        return SIZES
    given = (n,) if isinstance(n, int | np.integer) else tuple(n)
    if not given:
        raise ParameterError("n must name at least one number of candidates")
    return tuple(sorted({whole("n", size, least=2) for size in given}))


def relations_for(monotonic: bool | None, neighbours: Neighbours | None) -> list[Relation]:
    """The neighbour relations to try, checked."""
    if monotonic not in (None, True, False):
        raise refuse("monotonic", monotonic, "True, False or None (both)")
    if neighbours is None:
        return [
            Relation(flag) for flag in ((False, True) if monotonic is None else (bool(monotonic),))
        ]
    if not callable(neighbours):
        raise ParameterError(
            "neighbours must be a function from a score vector to the neighbouring vectors to try"
        )
    return [Relation(bool(monotonic), neighbours)]


def _epsilon_of(claim: Guarantee | Regular) -> Fraction | None:
    epsilon = claim.figures.get("epsilon") if isinstance(claim, Guarantee) else None
    return epsilon if isinstance(epsilon, Fraction) and epsilon else None


def _noise_scale(subject: Subject, claim: Guarantee, relation: Relation) -> float:
    """The mechanism's own noise scale where it has one; at most 2¹² Δ, as the grid reaches no further."""
    mechanism = subject.mechanism
    if mechanism is None or mechanism.scale == 0:
        return claimed_noise_scale(claim, relation, subject.sensitivity)
    scale = mechanism.scale
    if scale is None:
        assert mechanism.epsilon is not None
        scale = subject.sensitivity * (1 if relation.monotonic else 2) / mechanism.epsilon
    return float(min(max(scale, subject.sensitivity / 10**3), subject.sensitivity * 2**12))


def claimed_noise_scale(claim: Guarantee, relation: Relation, sensitivity: Fraction) -> float:
    """About the noise scale that the claim asks for: gaps beyond a few of these are all alike."""
    figures = claim.figures
    cost = math.sqrt(2 * figures["rho"]) if "rho" in figures else float(figures["epsilon"])
    distance = float(sensitivity) * (1 if relation.monotonic else 2)
    return distance / min(max(cost, 1e-3), 1e3)


def _run(
    searches: list[Search], sizes: tuple[int, ...], starts: int, tell: Progress, *, in_crowds: bool
) -> None:
    expected = len(searches) * (2 * len(sizes) + 1 + starts + 6 * in_crowds)
    done = 0
    for search in searches:
        for stage in search.run(sizes, starts, in_crowds=in_crowds):
            tell(stage, min(done / expected, 1.0))
            done += 1


def doubtful(loss: Loss, found: list[F]) -> list[F]:
    """The pairs whose loss is worth a look in balls, the largest in floats first.

    Only a pair at the very edge of the claim can change the verdict by being looked at.
    """
    ranked = sorted(found, key=lambda pair: -pair.value)[:5]
    edge = float(loss.claimed) * (1 - 1e-12)
    return [pair for pair in ranked if pair.value >= edge] or ranked[:1]


def certify(subject: Subject, loss: Loss, pair: Pair, relation: Relation) -> tuple[Witness, bool]:
    """The pair with its loss in ball arithmetic, and whether that certainly exceeds the claim."""
    rows = np.array([pair.scores, pair.neighbour])
    shown = [plain(subject.in_scores(row).tolist()) for row in rows]
    if not relation.contains(shown[0], shown[1], subject.steps or subject.sensitivity):
        raise AssertionError("the search left the neighbour relation")
    witness, refutes = _certified(
        subject,
        loss,
        subject.log_masses(rows, monotonic=relation.monotonic, plainly=True),
        [subject.scores(row, monotonic=relation.monotonic) for row in rows],
        size=len(pair.scores),
        shown=shown,
        relation=relation.name,
    )
    return in_blocks(witness), refutes


def certify_inputs(
    subject: Subject, loss: Loss, inputs: Inputs, couple: tuple[Any, Any]
) -> tuple[Witness, bool]:
    """The same for inputs of another kind."""
    if not inputs.contains(couple):
        raise AssertionError("the search left the neighbour relation")
    shown = [inputs.shown(one) for one in couple]
    logs = subject.log_laws(couple)
    return _certified(subject, loss, logs, couple, size=0, shown=shown, relation=inputs.relation)


def _certified(
    subject: Subject,
    loss: Loss,
    logs: Any,
    given: Iterable[Any],
    *,
    size: int,
    shown: list[tuple[Any, ...]],
    relation: str,
) -> tuple[Witness, bool]:
    from flint import arb

    detail = loss.detail(logs[0], logs[1])
    with precision(BITS):
        balls = [subject.balls(one, size) for one in given]
        width = max(logs.shape[1], *(len(part) for part, _ in balls))
        first, second = (part + [arb(0)] * (width - len(part)) for part, _ in balls)
        way = (second, first) if detail.swapped else (first, second)
        value = loss.ball(*way, detail)
        refutes = exceeds(value, loss.claimed)
    middles = [tuple(_middle(ball) for ball in part) for part in (first, second)]
    answers = tuple(subject.answers(size))
    return (
        Witness(
            scores=shown[0],
            neighbour=shown[1],
            relation=relation,
            outcome=detail.outcome,
            probability=middles[0][detail.outcome],
            neighbour_probability=middles[1][detail.outcome],
            value=as_float(value),
            certainty=FLOATS if FLOATS in (balls[0][1], balls[1][1]) else balls[0][1],
            probabilities=middles[0],
            neighbour_probabilities=middles[1],
            other=detail.other,
            order=detail.order,
            event=detail.event,
            answers=() if answers == tuple(range(size)) else answers,
        ),
        refutes,
    )


def _middle(ball: Any) -> float:
    """What a probability is shown as: zero where it may be zero."""
    return float(ball.mid()) if ball > 0 else 0.0


def _proof(subject: Subject, claim: Guarantee, relations: list[Relation]) -> str | None:
    """What proves this very class's guarantee, if that is within this very claim under every relation."""
    mechanism = subject.mechanism
    # A subclass may do something else under the same promise.
    if mechanism is None or facts_of(mechanism) is None or not mechanism.private:
        return None
    own: Guarantee | None = None
    for relation in relations:
        zeros = [0.0] * len(subject.steps or (0, 0))
        scores = subject.scores(zeros, monotonic=relation.monotonic)
        if isinstance(claim, LaplaceDominated):
            own = mechanism.promise_for(scores)
            covered = isinstance(own, type(claim)) and own.exact <= claim.exact
        elif isinstance(claim, ApproxDP):
            own = mechanism.guarantee(scores, ApproxDP, delta=claim.exact[1])
            covered = own <= claim
        else:
            own = mechanism.guarantee(scores, type(claim))
            covered = own.exact <= claim.exact  # type: ignore[attr-defined]  # guarantees of one number
        if not covered:
            return None
    return None if own is None or own.proof is None else str(own.proof)
