"""Composition of events in pure DP, zCDP and (ε, δ), by every bound that is valid for the list.

The proofs are in ``docs/proofs/composition.md``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from discreet._displays import counted
from discreet._exact.numbers.exact import Exact, probability, refuse
from discreet.accounting.events import Event, core, events_of
from discreet.accounting.fixed_lists import EpsilonBound, fixed_list_bounds, left_out
from discreet.guarantees import ZCDP, ApproxDP, Guarantee, Proof, PureDP
from discreet.guarantees.claims import ADDED_UP, CLAIMS
from discreet.guarantees.conversions import epsilon_of_zcdp
from discreet.neighbours import ADD_REMOVE

QUESTIONS = "questions"
OF_EPSILON, OF_RHO = "the sum of ε", "the sum of ρ, converted"
_CHOSEN = {
    True: "each release may have been chosen after seeing the earlier answers",
    QUESTIONS: "the mechanisms and their ε were fixed in advance, the questions were not",
    False: "the list was fixed in advance",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The total cost of a list of releases.

    Attributes:
        pure: the cost in pure DP (infinite if an event has none).
        zcdp: the cost in zCDP (infinite if an event has none).
        approx: the cost in (ε, δ) at the requested δ, by the best valid bound.
        best: the figure to report.
        reason: why this is the figure to report, in words.
        adaptive: True, ``"questions"`` or False, as given to ``compose``.
        count: the number of releases.
        neighbours: the neighbour relation for which the figures hold.
        bounds: every bound that was valid, with its name.
        untried: the names of bounds that might be tighter but were not computed; empty if there are none.

    Example:
        >>> from discreet import PureDP
        >>> total = compose([PureDP("0.1"), PureDP("0.2")], delta="1e-6")
        >>> total.pure, total.count
        (PureDP(0.3), 2)
    """

    pure: PureDP
    zcdp: ZCDP
    approx: ApproxDP
    best: Guarantee
    reason: str
    adaptive: bool | str
    count: int
    neighbours: str
    bounds: tuple[EpsilonBound, ...]
    untried: str = ""

    @property
    def fixed_in_advance(self) -> bool:
        """Whether the figures hold only for a list that was fixed before the first answer."""
        return self.adaptive is False

    def __str__(self) -> str:
        looser = f" A tighter bound was not computed: {self.untried}." if self.untried else ""
        return (
            f"{counted(self.count, 'release')}: {self.best!r}: {self.reason}. "
            f"Here {_CHOSEN[self.adaptive]}.{looser}"
        )


def compose(
    events: Iterable[object], adaptive: bool | str = True, *, delta: object = None
) -> Composition:
    """Return the total cost of a list of releases; every figure is an upper bound.

    Args:
        events: events, guarantees, releases, or (mechanism, scores) pairs.
        adaptive: True if a release may have been chosen after seeing earlier answers (the usual case);
            then only the sums of ε and of ρ are used, which are privacy filters. ``"questions"`` if the
            kinds of mechanism and their ε were fixed in advance and only the questions were chosen along
            the way (as in peeling). False if the whole list was fixed in advance, questions included.
        delta: the δ allowed in ``approx``; by default the sum of the events' own δ.

    With ``adaptive=True`` the figures hold only if they were set as caps in advance, as in a ledger.

    Example:
        >>> from discreet import BoundedRange
        >>> hundred = [Event(BoundedRange("0.1"), count=100)]
        >>> for adaptive in (True, "questions", False):
        ...     print(adaptive, round(compose(hundred, adaptive, delta="1e-6").approx.epsilon, 3))
        True 2.419
        questions 2.419
        False 2.246
    """
    if adaptive not in (True, False, QUESTIONS) or isinstance(adaptive, int) != isinstance(
        adaptive, bool
    ):
        raise refuse("adaptive", adaptive, 'True, "questions" or False')
    listed = _merged(events_of(events))
    lost = sum((_delta(event) * event.count for event in listed), Fraction(0))
    target = min(lost, Fraction(1)) if delta is None else probability("delta", delta)
    pure = _total((event.guarantee.exact_in(PureDP), event.count) for event in listed)
    rho = _total((event.guarantee.exact_in(ZCDP), event.count) for event in listed)
    bounds = _sums(listed, target, lost)
    if adaptive is not True and lost <= target:
        bounds += fixed_list_bounds(listed, target - lost, questions_chosen=adaptive == QUESTIONS)
    untried = ""
    if adaptive is not True and lost < target:
        untried = left_out(bounds, (core(event.guarantee) for event in listed), adaptive)
    least = min(bounds, key=lambda bound: bound.epsilon)
    exact = PureDP(pure).resting_on(_proof(listed, PureDP))
    zcdp = ZCDP(rho).resting_on(_proof(listed, ZCDP))
    approx = ApproxDP(least.epsilon, target).resting_on(_proof(listed, ApproxDP, least))
    best, reason = _best(exact, zcdp, approx, least)
    return Composition(
        pure=exact,
        zcdp=zcdp,
        approx=approx,
        best=best,
        reason=reason,
        adaptive=adaptive,
        count=sum(event.count for event in listed),
        neighbours=listed[0].neighbours if listed else ADD_REMOVE,
        bounds=bounds,
        untried=untried,
    )


def sum_of_epsilon(events: Sequence[Event]) -> PureDP:
    """Return the sum of all ε, with its proof; infinite if a release is not pure DP.

    Example:
        >>> sum_of_epsilon([Event(PureDP("0.1")), Event(PureDP("0.2"), count=2)])
        PureDP(0.5)
    """
    listed = _merged(tuple(events))
    total = _total((event.guarantee.exact_in(PureDP), event.count) for event in listed)
    return PureDP(total).resting_on(_proof(listed, PureDP))


def _merged(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Merge events with equal guarantees and equal proofs into one event with their total count."""
    if len(events) == 1:
        return events
    counts: Counter[tuple[Guarantee, Proof | None]] = Counter()
    for event in events:
        counts[event.guarantee, event.guarantee.proof] += event.count
    relation = events[0].neighbours if events else ADD_REMOVE
    return tuple(
        Event(promise, count=count, neighbours=relation) for (promise, _), count in counts.items()
    )


def _proof(
    events: Sequence[Event], measure: type[Guarantee], bound: EpsilonBound | None = None
) -> Proof | None:
    """Return the proof of the total cost in ``measure``; guarantees without a proof become assumptions."""
    if bound is not None and bound.name == OF_RHO:
        measure = ZCDP
    needed = ZCDP if measure is ZCDP else PureDP
    proofs = [
        own.proof if isinstance(own, ApproxDP | needed) else own.proof_in(needed)
        for own in (event.guarantee for event in events)
    ]
    own = bound is None or bound.name == OF_EPSILON
    # One theorem covers all the rounds of an answer.
    whole = CLAIMS.get(("answer", measure.__name__))
    if len(events) == 1 and own and (events[0].count == 1 or proofs[0] == whole is not None):
        return proofs[0]
    steps = [CLAIMS[measure.__name__, "sum"]]
    if bound is not None and bound.name not in (OF_EPSILON, OF_RHO):
        steps = [CLAIMS["fixed list", "sum"]]
    elif bound is not None and measure is ZCDP:
        steps.append(CLAIMS["ZCDP", "ApproxDP"])
    whole = reduce(Proof.then, [*(proof for proof in proofs if proof is not None), *steps])
    return whole.assuming(*whole.assumes, ADDED_UP) if None in proofs else whole


def _delta(event: Event) -> Fraction:
    return event.guarantee.exact[1] if isinstance(event.guarantee, ApproxDP) else Fraction(0)


def _total(costs: Iterable[tuple[Exact, int]]) -> Exact:
    """Return the exact sum of each cost times its count; infinite if one of the costs is."""
    listed = [(cost, count) for cost, count in costs if count]
    # Infinity is a float, and adding a float to a very large rational overflows.
    if any(cost == math.inf for cost, _ in listed):
        return math.inf
    return sum((Fraction(cost) * count for cost, count in listed), Fraction(0))


def _sums(events: tuple[Event, ...], target: Fraction, lost: Fraction) -> tuple[EpsilonBound, ...]:
    """Return the bounds from privacy filters: the sum of ε, and the sum of ρ converted to (ε, δ)."""
    if lost > target:
        return (EpsilonBound("the events' own δ add up to more than the δ allowed", math.inf),)
    epsilon = _total((core(e.guarantee).exact_in(PureDP), e.count) for e in events)
    rho = _total((core(e.guarantee).exact_in(ZCDP), e.count) for e in events)
    return (
        EpsilonBound(OF_EPSILON, epsilon),
        EpsilonBound(OF_RHO, epsilon_of_zcdp(rho, target - lost)),
    )


def _best(pure: PureDP, zcdp: ZCDP, approx: ApproxDP, least: EpsilonBound) -> tuple[Guarantee, str]:
    if pure.exact <= approx.exact[0] and pure.exact < math.inf:
        if approx.exact[1] == 0:
            return pure, "no δ is allowed, and the sum of ε needs none"
        return pure, "the sum of ε is the least, and needs no δ"
    if approx.exact[0] < math.inf:
        return approx, f"the least ε at δ = {approx.delta:g} comes from {least.name}"
    if zcdp.exact < math.inf:
        return zcdp, "only zCDP is finite: allow a δ to state it as (ε, δ)"
    return approx, "no finite bound is known"
