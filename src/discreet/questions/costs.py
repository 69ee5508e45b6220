"""The cost of a question: the sum of the guarantees of all releases that one person can affect.

A question states no guarantee itself. It lists the releases that one person can affect, each with the
guarantee of its mechanism. The ledger charges these guarantees, and the answer states them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from discreet.accounting import Event, compose
from discreet.accounting.composition import sum_of_epsilon
from discreet.accounting.events import core
from discreet.errors import ParameterError
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
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
"""The guarantee of each of several equal releases, and how many of them one person can affect."""
ANSWER = CLAIMS["answer", "PureDP"]
"""The theorem that covers a whole answer, starting from the table."""
WITH_A_GAP = {"answer": ANSWER}
"""The entry for ``ANSWER`` in ``direct``, a promise's dict of proofs, if it covers the promise's law.

Two further entries cover several releases: ``then`` proves this promise followed by others that have
``whole``, and ``rounds`` proves several equal releases of this promise.
"""
IN_RHO = {"ZCDP": CLAIMS["answer", "ZCDP"]}
"""The entry in ``direct`` if a single theorem covers everything from the table to the ρ of the releases."""
IN_ANSWERS = WITH_A_GAP | {"whole": CLAIMS["answer", "ZCDP"]}
"""Entries in ``direct`` if the probabilities of the promise's law also sum to one.

All parts of an answer together then cost the ρ of their total ε.
"""


def event_of(parts: Sequence[Part], *, mechanism: str, neighbours: str) -> Event:
    """Make the event that a ledger charges: a single part with its count, or the sum of several parts.

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
    together = _sum(events)
    if isinstance(together, PureDP) and _whole(parts):
        together = together.resting_on(together.proof, IN_RHO)
    if isinstance(together, ApproxDP) and any(isinstance(own, ApproxZCDP) for own, _ in parts):
        together = concentrated(together, parts)
    return Event(together, mechanism=mechanism, neighbours=neighbours)


def concentrated(together: ApproxDP, parts: Sequence[Part]) -> ApproxZCDP:
    """Add to an (ε, δ) promise the total ρ of its parts, and the probability with which ρ may fail.

    Example:
        >>> found = concentrated(ApproxDP(1, "1e-6"), [
        ...     (ApproxZCDP("0.5", "1e-6", "0.03", "5e-7"), 1), (PureDP("0.5"), 1)])
        >>> round(found.figures["rho"] - PureDP("0.5").exact_in(ZCDP), 6), float(found.figures["beyond"])
        (Fraction(3, 100), 5e-07)
    """
    rho = beyond = Fraction(0)
    for own, count in parts:
        if isinstance(own, ApproxZCDP):
            cost, outside = own.concentrated
        else:
            cost = core(own).exact_in(ZCDP)
            outside = own.exact[1] if isinstance(own, ApproxDP) else Fraction(0)
        rho += Fraction(cost) * count
        beyond += outside * count
    return ApproxZCDP(*together.exact, rho, beyond).resting_on(together.proof, together.direct)


def guarantee_of(
    event: Event,
    parts: Sequence[Part] = (),
    *,
    grouped: bool = False,
    assumes: Sequence[str] = (),
) -> Guarantee:
    """Return the guarantee that an answer states: pure ε if that is finite, otherwise (ε, δ) or ρ.

    ``parts`` are the releases that the event joins; if one theorem covers them all, it is the proof of the
    answer. ``assumes`` lists what is taken on trust about the data.

    Example:
        >>> guarantee_of(Event(FlippedCoins("0.5"), count=2))
        PureDP(1)
    """
    promise = _sum([event])
    whole = _proof_of(parts, grouped=grouped) or promise.proof
    if whole is None:
        return promise
    trusted = dict.fromkeys((*whole.assumes, *assumes))
    direct = IN_ANSWERS if _whole(parts) else WITH_A_GAP if parts and _in_answers(parts) else {}
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
        f"{events[0].mechanism} has no guarantee for this many answers: ask for fewer, or with a smaller δ"
    )


def mixed(promise: Guarantee) -> Guarantee:
    """Return the guarantee that remains after averaging over secret coins, such as those that assign groups.

    Averaging preserves (ε, δ), ρ and Laplace dominance. It preserves everything that a bounded range implies,
    but not the range itself (``docs/proofs/neighbours.md``).
    """
    if not isinstance(promise, FlippedCoins | BoundedRange):
        return promise
    kind = LaplaceDominated if isinstance(promise, FlippedCoins) else AveragedRange
    left = CLAIMS["hidden coins", kind.__name__]
    return kind(promise.exact).resting_on(promise.proof and promise.proof.then(left))


def in_groups(promise: Guarantee, steps: int) -> Guarantee:
    """Return the promise for data sets ``steps`` apart, if secret coins first assign people to groups.

    For Laplace-dominated promises, a single theorem covers everything from the table to ρ, for one step and
    for two (``laplace_pair_of_two``). For other promises, such a theorem covers at most one step.
    """
    left = mixed(promise).for_people(steps)
    kept = {name: proof for name, proof in promise.direct.items() if name in IN_ANSWERS}
    if kept and (isinstance(left, LaplaceDominated) or (steps == 1 and "ZCDP" in promise.direct)):
        kept |= IN_RHO
    return left.resting_on(left.proof, {**left.direct, **kept})


def _whole(parts: Sequence[Part]) -> bool:
    return bool(parts) and all("whole" in promise.direct for promise, _ in parts)


def _in_answers(parts: Sequence[Part]) -> bool:
    return all("answer" in promise.direct for promise, _ in parts)


def _proof_of(parts: Sequence[Part], *, grouped: bool) -> Proof | None:
    """Return one proof that covers every part of an answer, or None if there is none.

    It is a single theorem if possible. With groups it may be the proofs of the parts, followed by the proof
    that the costs of groups add up. The caller replaces None with the event's own proof.
    """
    if not parts or (len(parts) == parts[0][1] == 1 and not grouped):
        return None
    if _in_answers(parts):
        return ANSWER
    if not grouped:
        (first, _), *others = parts
        covered = not others or _whole(others)
        return first.direct.get("then" if others else "rounds") if covered else None
    stated = (each if isinstance(each, ApproxDP) else each.to(PureDP) for each, _ in parts)
    proofs = [each.proof for each in stated]
    if None in proofs:
        return None
    return reduce(Proof.then, [*filter(None, proofs), CLAIMS["groups", "sum"]])
