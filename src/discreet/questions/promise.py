"""What a question promises: the mechanisms' own promises, added up in this one place.

A question names no guarantee of its own. It says which releases one person touches, each with the promise
of the mechanism that makes it; the ledger is told that, and the answer carries the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.accounting import Event, compose
from discreet.errors import ParameterError
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    Proof,
    PureDP,
)
from discreet.guarantees.proofs import step_from

_QUESTIONS = "docs/proofs/question-sensitivities.md"
Part = tuple[Guarantee, int]
"""What each of some releases promises, and how many of them one person touches."""


def event_of(parts: Sequence[Part], *, mechanism: str, neighbours: str) -> Event:
    """What a ledger is told: equal releases as they are, different ones as their sum.

    Example:
        >>> from discreet import ApproxDP
        >>> event_of([(ApproxDP(1, "1e-6"), 2), (PureDP(1), 1)], mechanism="two choices and a count",
        ...          neighbours="add-remove").guarantee
        ApproxDP(3, 2e-06)
    """
    events = [
        Event(promise, mechanism=mechanism, count=count, neighbours=neighbours)
        for promise, count in parts
    ]
    return (
        events[0]
        if len(events) == 1
        else Event(_sum(events), mechanism=mechanism, neighbours=neighbours)
    )


def guarantee_of(event: Event) -> Guarantee:
    """What an answer says that it cost: pure ε where that is promised, else what is.

    Example:
        >>> guarantee_of(Event(FlippedCoins("0.5"), count=2))
        PureDP(1)
    """
    return _sum([event])


def _sum(events: Sequence[Event]) -> Guarantee:
    together = compose(events)
    epsilon, delta = together.approx.exact
    if together.pure.exact < math.inf:
        return together.pure.resting_on(_proof(events, PureDP))
    if epsilon < math.inf and delta < 1:
        return together.approx.resting_on(_proof(events, ApproxDP))
    if together.zcdp.exact < math.inf:
        return together.zcdp.resting_on(_proof(events, ZCDP))
    raise ParameterError(
        f"{events[0].mechanism} promises nothing for so many answers: ask for fewer, or with a smaller δ"
    )


def _proof(events: Sequence[Event], measure: type[Guarantee]) -> Proof:
    """What every release's promise rests on, their sum, and what one person moves."""
    proof: Proof | None = None
    for event in events:
        promise = event.guarantee
        own = (
            promise
            if isinstance(promise, ApproxDP)
            else promise.to(measure if measure is ZCDP else PureDP)
        )
        part = own.proof or Proof(_QUESTIONS)
        proof = part if proof is None else proof.then(part)
    assert proof is not None
    if len(events) > 1 or events[0].count > 1:
        proof = step_from(proof, measure.__name__, "sum") or Proof(_QUESTIONS)
    return proof.then(Proof(_QUESTIONS))


def mixed(promise: Guarantee) -> Guarantee:
    """What is left when people are first told apart by coins that nobody is shown.

    Averages keep (ε, δ), ρ and Laplace dominance, but no range: ``docs/proofs/neighbours.md``.
    """
    if isinstance(promise, FlippedCoins):
        return LaplaceDominated(promise.exact)
    return promise.to(PureDP) if isinstance(promise, BoundedRange) else promise
