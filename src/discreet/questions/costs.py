"""What a question costs: the promises of its releases, added up as one person can touch them.

A question names no guarantee of its own. It says which releases one person touches, each with the promise of
the mechanism that makes it; the ledger is told that, and the answer carries the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

from discreet.accounting import Event, compose
from discreet.accounting.composition import sum_of_epsilon
from discreet.errors import ParameterError
from discreet.guarantees import (
    ApproxDP,
    AveragedRange,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    Proof,
    PureDP,
)
from discreet.guarantees.claims import CLAIMS

Part = tuple[Guarantee, int]
"""What each of some releases promises, and how many of them one person touches."""
ANSWER = CLAIMS["answer", "PureDP"]
"""The theorem from a table to everything that one answer says."""
IN_ANSWERS = {"answer": ANSWER}
"""What a promise carries (``direct``) whose law is among those of that theorem.

Another that carries ``then`` is proved together with any of these after it, and one that carries ``rounds``
together with others like it.
"""
IN_RHO = {"ZCDP": CLAIMS["answer", "ZCDP"]}
"""What a promise also carries if one theorem leads from the table to its ρ, for one release or several."""


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
    if len(events) == 1:
        return events[0]
    return Event(_sum(events), mechanism=mechanism, neighbours=neighbours)


def guarantee_of(
    event: Event,
    parts: Sequence[Part] = (),
    *,
    grouped: bool = False,
    assumes: Sequence[str] = (),
) -> Guarantee:
    """What an answer says that it cost: pure ε where that is promised, else what is.

    ``parts`` are what it is put together from, before they are made one event, and may have one proof that
    is shorter than theirs together; ``assumes`` is what is taken on trust about the data.

    Example:
        >>> guarantee_of(Event(FlippedCoins("0.5"), count=2))
        PureDP(1)
    """
    promise = _sum([event])
    whole = _proof_of(parts, grouped=grouped) or promise.proof
    if whole is None:
        return promise
    trusted = dict.fromkeys((*whole.assumes, *assumes))
    direct = IN_ANSWERS if parts and _in_answers(parts) else {}
    return promise.resting_on(whole.assuming(*trusted), direct)


def _sum(events: Sequence[Event]) -> Guarantee:
    pure = sum_of_epsilon(events)
    if pure.exact < math.inf:
        return pure
    together = compose(events)
    epsilon, delta = together.approx.exact
    if epsilon < math.inf and delta < 1:
        return together.approx
    if together.zcdp.exact < math.inf:
        return together.zcdp
    raise ParameterError(
        f"{events[0].mechanism} promises nothing for so many answers: ask for fewer, or with a smaller δ"
    )


def mixed(promise: Guarantee) -> Guarantee:
    """What is left when people are first told apart by coins that nobody is shown.

    Averages keep (ε, δ), ρ, Laplace dominance, and of a range all but the range itself:
    ``docs/proofs/neighbours.md``.
    """
    if not isinstance(promise, FlippedCoins | BoundedRange):
        return promise
    kind = LaplaceDominated if isinstance(promise, FlippedCoins) else AveragedRange
    left = CLAIMS["hidden coins", kind.__name__]
    return kind(promise.exact).resting_on(promise.proof and promise.proof.then(left))


def _in_answers(parts: Sequence[Part]) -> bool:
    return all("answer" in promise.direct for promise, _ in parts)


def _proof_of(parts: Sequence[Part], *, grouped: bool) -> Proof | None:
    """What proves all that an answer says: one theorem if it covers every part, or the pages of groups.

    None where the proof is that of the parts, one after the other.
    """
    if not parts or (len(parts) == parts[0][1] == 1 and not grouped):
        return None
    if _in_answers(parts):
        return ANSWER
    if not grouped:
        (first, _), *others = parts
        return first.direct.get("then" if others else "rounds") if _in_answers(others) else None
    stated = (each if isinstance(each, ApproxDP) else each.to(PureDP) for each, _ in parts)
    proofs = [each.proof for each in stated]
    if None in proofs:
        return None
    return reduce(Proof.then, [*filter(None, proofs), CLAIMS["groups", "sum"]])
