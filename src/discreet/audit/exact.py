"""The exact audit: search for neighbouring score vectors that refute a claimed guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import positive_distance, refuse, whole
from discreet.audit.losses import loss_for
from discreet.audit.regularity import DUST, Changes, Regular, regular_by_proof
from discreet.audit.relations import Neighbours, Relation, ScoreGrid
from discreet.audit.search import Certain, Progress, checked_effort, verdict_on
from discreet.audit.sequences import StreamSubject, audit_stream
from discreet.audit.subjects import Subject
from discreet.audit.tables import OfTables, Tables
from discreet.audit.vectors import scored
from discreet.audit.verdicts import Verdict
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, LaplaceDominated
from discreet.mechanisms.mechanism import facts_of
from discreet.scores import Scores

SIZES = (2, 3, 4, 5)
"""The numbers of candidates tried by default."""

_MOST_STEPS = 64


def audit(
    subject: Any,
    claim: Guarantee | Regular,
    *,
    sensitivity: object = 1,
    monotonic: bool | None = None,
    n: int | Iterable[int] | None = None,
    neighbours: Neighbours | None = None,
    inputs: Tables | None = None,
    effort: str = "usual",
    progress: Progress | None = None,
) -> Verdict:
    """Search neighbouring inputs for a pair that refutes the claim.

    The subject is a mechanism, a class (built with the claim's ε), an object with ``probabilities(scores)``,
    or a function of scores that returns probabilities: one per candidate, or a mapping from answers of any
    kind to their probabilities. It receives :class:`~discreet.Scores` that also behave as a NumPy array. An
    exception or a NaN is an answer like any other. If the subject is a watch or its rule, the audit tries all
    lists of answers to a stream of ``n`` values, with the rule's own sensitivity. ``docs/proofs/auditing.md``
    explains the three statuses, which inputs are searched, and how a witness is certified.

    Args:
        subject: the mechanism or function to audit.
        claim: ``PureDP``, ``BoundedRange``, ``ZCDP``, ``ApproxDP``, ``LaplaceDominated`` or ``Regular()``.
        sensitivity: Δ, the most that one person changes any score; or a list with one Δ for each candidate,
            which also sets the number of candidates.
        monotonic: whether one person moves all scores in the same direction; None tries both cases.
        n: one or more numbers of candidates; None tries 2 to 5, and up to 10,000 with few distinct scores.
        neighbours: your own neighbour relation: a function from a score vector to the neighbours to try.
        inputs: the tables to try, if the subject is a function of tables instead of scores.
        effort: ``"quick"``, ``"usual"`` or ``"thorough"``, which takes several times as long and searches
            more inputs. The same audit gives the same verdict each time.
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
    effort = checked_effort(effort)
    stream = getattr(subject, "rule", subject)
    if isinstance(stream, StreamSubject):
        if isinstance(claim, Regular) or neighbours is not None:
            raise ParameterError("for a stream only PureDP can be audited; leave ⟨neighbours⟩ out")
        return audit_stream(
            stream, claim, monotonic=monotonic, lengths=n, effort=effort, progress=progress
        )
    steps = _steps_of(sensitivity, n, neighbours, inputs, claim)
    if steps is not None:
        sensitivity, n = 1, len(steps)
    bound = positive_distance("sensitivity", sensitivity)
    sizes = numbers_of_candidates(n)
    relations = relations_for(monotonic, neighbours)
    prepared = Subject(subject, sensitivity=bound, epsilon=_epsilon_of(claim), steps=steps)
    grid = ScoreGrid.for_sensitivity(bound)
    told: dict[str, Any] = {
        "subject": prepared.name,
        "claim": claim,
        "evaluations": lambda: prepared.evaluations,
        "effort": effort,
        "progress": progress,
    }
    if isinstance(claim, Regular):
        if inputs is not None:
            raise ParameterError("Regular() is about scores: leave ⟨inputs⟩ out")
        return verdict_on(
            [Changes(prepared, claim, grid, sizes, relation) for relation in relations],
            claimed=0,
            symbol="log-ratio",
            proof=lambda: regular_by_proof(prepared),
            dust=DUST,
            **told,
        )
    loss = loss_for(claim)
    if inputs is not None:
        return verdict_on(
            [OfTables(prepared, loss, inputs, effort == "thorough")],
            claimed=loss.claimed,
            symbol=loss.symbol,
            proof=lambda: None,
            counted="rows",
            **told,
        )

    def kinds() -> Iterator[Certain]:
        for relation in relations:
            if relation.monotonic and len(relations) > 1 and not prepared.sees_relation:
                return  # same distribution, and general neighbours include monotonic ones
            yield from scored(
                prepared,
                loss,
                relation,
                grid,
                _noise_scale(prepared, claim, relation),
                sizes=None if n is None else sizes,
                usual=SIZES,
                thorough=effort == "thorough",
            )

    return verdict_on(
        kinds(),
        claimed=loss.claimed,
        symbol=loss.symbol,
        proof=lambda: None if neighbours else _proof(prepared, claim, relations),
        **told,
    )


def _steps_of(
    sensitivity: object,
    n: int | Iterable[int] | None,
    neighbours: Neighbours | None,
    inputs: Tables | None,
    claim: Guarantee | Regular,
) -> tuple[Fraction, ...] | None:
    """Return one sensitivity for each candidate if a list was given; None for a single number."""
    if not isinstance(sensitivity, list | tuple):
        return None
    steps = Scores([0] * len(sensitivity), sensitivity=sensitivity).sensitivity
    if isinstance(steps, Fraction):
        raise ParameterError(
            "equal sensitivities must be given as one number, with ⟨n⟩ as the number of candidates"
        )
    if neighbours or inputs or isinstance(claim, Regular) or n not in (None, len(sensitivity)):
        raise ParameterError(
            "a list of sensitivities already fixes the candidates and how they move: leave out ⟨n⟩, "
            "⟨neighbours⟩, ⟨inputs⟩ and Regular()"
        )
    if len(sensitivity) > _MOST_STEPS:
        raise refuse("sensitivity", f"{len(sensitivity)} numbers", f"at most {_MOST_STEPS}")
    return steps


def numbers_of_candidates(n: int | Iterable[int] | None) -> tuple[int, ...]:
    """Check and return the numbers of candidates to try."""
    if n is None:
        return SIZES
    given = (n,) if isinstance(n, int | np.integer) else tuple(n)
    if not given:
        raise ParameterError("n must name at least one number of candidates")
    return tuple(sorted({whole("n", size, least=2) for size in given}))


def relations_for(monotonic: bool | None, neighbours: Neighbours | None) -> list[Relation]:
    """Check the options and return the neighbour relations to try."""
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
    """Return the mechanism's noise scale; if it has none, the scale that the claim implies.

    The mechanism's scale is kept between Δ/1000 and 2¹² Δ.
    """
    mechanism = subject.mechanism
    if mechanism is None or mechanism.scale == 0:
        return claimed_noise_scale(claim, relation, subject.sensitivity)
    scale = mechanism.scale
    if scale is None:
        assert mechanism.epsilon is not None
        scale = subject.sensitivity * (1 if relation.monotonic else 2) / mechanism.epsilon
    return float(min(max(scale, subject.sensitivity / 10**3), subject.sensitivity * 2**12))


def claimed_noise_scale(claim: Guarantee, relation: Relation, sensitivity: Fraction) -> float:
    """Return roughly the noise scale that the claim implies: the range distance divided by ε or √(2ρ)."""
    figures = claim.figures
    cost = math.sqrt(2 * figures["rho"]) if "rho" in figures else float(figures["epsilon"])
    distance = float(sensitivity) * (1 if relation.monotonic else 2)
    return distance / min(max(cost, 1e-3), 1e3)


def _proof(subject: Subject, claim: Guarantee, relations: list[Relation]) -> str | None:
    """Return the proof of the mechanism's own guarantee, if that implies the claim under all relations."""
    mechanism = subject.mechanism
    # A subclass may behave differently and still state the same guarantee.
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
