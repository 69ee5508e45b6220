"""Who counts a release, what it promises, and that it is counted before anything is read.

A question names no guarantee of its own. It says which releases one person touches, each with the promise
of the mechanism that makes it; the ledger is told that, and the answer carries the same. An error before the
spend spends nothing. After it, the spend stays, the entry is marked as failed, and the error carries nothing
of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from discreet.accounting import Event, compose
from discreet.errors import DiscreetError, LedgerError, NotPrivateError, ParameterError, TableError
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
from discreet.guarantees.conversions import step_from
from discreet.mechanisms import PermuteAndFlip
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.registry import mechanism_named
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.numbers.exact import refuse
from discreet.numbers.printing import figure
from discreet.questions.answer import TableRelease
from discreet.scores import Scores

T = TypeVar("T")
_QUESTIONS = "docs/proofs/question-sensitivities.md"


class SpendingLedger(Protocol):
    """All that a question needs of a ledger."""

    def spend(self, dataset: str, event: Event, *, purpose: str) -> Any:
        """Commit a spend, or raise; the entry is what the release carries."""

    def fail(self, entry: Any) -> Any:
        """Record that the release which an entry paid for failed; the spend stays."""


AnyLedger: TypeAlias = SpendingLedger | str | Path
"""An open ledger, or the address of one that is opened for the question."""


@dataclass(frozen=True)
class Asker:
    """Who counts the budget of which data set, under which relation, by which mechanism and what for."""

    ledger: AnyLedger | None = None
    dataset: str | None = None
    _: KW_ONLY
    neighbours: str = ADD_REMOVE
    mechanism: object = None
    purpose: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours.named(self.neighbours))
        known = self.ledger is None or isinstance(self.ledger, str | Path)
        if not known and not hasattr(self.ledger, "spend"):
            raise refuse("ledger", self.ledger, "a ledger, or the address of one")
        if (self.ledger is None) != (self.dataset is None):
            raise ParameterError(
                "⟨ledger⟩ and ⟨dataset⟩ go together: a ledger counts for a named data set"
            )

    def spending(
        self, event: Event, purpose: str, work: Callable[[], T]
    ) -> tuple[T, dict[str, Any]]:
        """The result of ``work``, and what a release of it says: its guarantee is the event's."""
        if isinstance(self.ledger, str | Path):
            # Not at the top: without a ledger nobody needs its database library.
            from discreet.ledger import Ledger

            with Ledger.open(self.ledger, create=False) as opened:
                return replace(self, ledger=opened).spending(event, purpose, work)
        terms: dict[str, Any] = {
            "guarantee": guarantee_of(event),
            "mechanism": event.mechanism,
            "neighbours": event.neighbours,
        }
        entry = None
        if self.ledger is not None and self.dataset is not None:
            try:
                entry = self.ledger.spend(self.dataset, event, purpose=purpose)
            except KeyboardInterrupt as stopped:
                stopped.args = (f"the history of {self.dataset!r} shows whether it was spent",)
                raise
        failure: BaseException
        try:
            return work(), {**terms, "entry": entry}
        except (DiscreetError, KeyboardInterrupt, SystemExit) as error:
            failure = error
        except BaseException:
            # Whatever it says may quote the data.
            failure = TableError("the question failed while it read the data; nothing is released")
        if self.ledger is not None:
            # Whether or not the failure can be noted, the spend stays, and the failure is what is told.
            with suppress(LedgerError):
                self.ledger.fail(entry)
        if not isinstance(failure, SystemExit):
            said = [str(each) for each in failure.args] + [self._spent(terms["guarantee"], entry)]
            failure.args = ("; ".join(said),)
        # Raised anew, outside the handlers: no cause and no context that would quote an engine.
        failure.__cause__ = failure.__context__ = None
        raise failure.with_traceback(None)

    def _spent(self, guarantee: Guarantee, entry: Any) -> str:
        """What a release that failed has cost, and where that is to be seen."""
        symbols = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
        figures = ", ".join(
            f"{symbols[name]} = {figure(number)}" for name, number in guarantee.figures.items()
        )
        if entry is None:
            return f"count {figures} as spent (no ledger does)"
        return f"{figures} stays spent: {self.dataset}, entry {getattr(entry, 'sequence', entry)}"

    @property
    def left(self) -> str | None:
        """What the ledger has left for the data set, such as ``"ε = 2"``; None where nobody counts."""
        budget = self._budget()
        return None if budget is None else str(budget.left)

    @property
    def adds_up_rho(self) -> bool:
        """Whether the budget is one of ρ, so that many small costs add up to less than their ε do."""
        budget = self._budget()
        return budget is not None and budget.accountant in ("rho", "rho-delta")

    def _budget(self) -> Any:
        """The state of the data set's budget; None where nobody counts."""
        ledger: Any = self.ledger
        if isinstance(ledger, str | Path):
            from discreet.ledger import Ledger

            with Ledger.open(ledger, create=False) as opened:
                return opened.show(str(self.dataset))
        return None if ledger is None or not hasattr(ledger, "show") else ledger.show(self.dataset)

    def release(
        self,
        chooser: Mechanism,
        form: Scores,
        what: str,
        work: Callable[[], Any],
        rules: tuple[str, ...],
    ) -> TableRelease:
        """Release one choice among scores of a stated ``form``, such as zeros."""
        promise = chooser.promise_at(form.range_distance)
        event = Event(promise, mechanism=chooser.name, neighbours=self.neighbours)
        answer, terms = self.spending(event, self.purpose or what, work)
        return TableRelease(answer=answer, **terms, rules=rules)

    def chooser(
        self, epsilon: Fraction, *, optimize: str = "max", besides: str | None = None
    ) -> Mechanism:
        """The mechanism that was asked for, at this ε."""
        return mechanism_at(self.mechanism, epsilon, optimize=optimize, besides=besides)


def mechanism_at(
    mechanism: object, epsilon: Fraction, *, optimize: str = "max", besides: str | None = None
) -> Mechanism:
    """The mechanism meant by None, a registered name, a class or an instance, at this ε.

    ``besides`` names what else of the question reads the scores, or draws noise that an answer shows: its
    time tells about them, so a steady mechanism is refused beside it (docs/proofs/sampling.md, lemma 15).
    """
    if mechanism is None:
        return PermuteAndFlip(epsilon=epsilon, optimize=optimize)
    if isinstance(mechanism, str):
        made = mechanism_named(mechanism, epsilon=epsilon, optimize=optimize)
    elif isinstance(mechanism, Mechanism):
        made = mechanism.with_epsilon(epsilon)
    elif isinstance(mechanism, type) and issubclass(mechanism, Mechanism):
        made = mechanism(epsilon=epsilon, optimize=optimize)
    else:
        raise refuse("mechanism", mechanism, "a registered name, or a mechanism")
    if not made.private:
        raise NotPrivateError(
            f"{made.name} has no privacy guarantee, so it answers no question about data"
        )
    if made.optimize != optimize:
        looks = "largest" if optimize == "max" else "smallest"
        raise ParameterError(
            f'mechanism: ⟨optimize⟩"{made.optimize}" is not allowed: the question looks for the {looks} score'
        )
    if besides is not None and getattr(made, "steady", False):
        raise ParameterError(
            f"mechanism: ⟨steady=True⟩ is not allowed with {besides}, whose time depends on the scores"
        )
    return made


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
    if len(events) == 1:
        return events[0]
    return Event(_sum(events), mechanism=mechanism, neighbours=neighbours)


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
        own = event.guarantee
        if not isinstance(own, ApproxDP):
            own = own.to(measure if measure is ZCDP else PureDP)
        part = own.proof or Proof(_QUESTIONS)
        proof = part if proof is None else proof.then(part)
    assert proof is not None
    if len(events) > 1 or events[0].count > 1:
        proof = step_from(proof, measure.__name__, "sum") or Proof(_QUESTIONS)
    # A question that names the theorem for its scores has done so already.
    return proof if _QUESTIONS in proof.pages else proof.then(Proof(_QUESTIONS))


def mixed(promise: Guarantee) -> Guarantee:
    """What is left when people are first told apart by coins that nobody is shown.

    Averages keep (ε, δ), ρ and Laplace dominance, but no range: ``docs/proofs/neighbours.md``.
    """
    if isinstance(promise, FlippedCoins):
        return LaplaceDominated(promise.exact)
    return promise.to(PureDP) if isinstance(promise, BoundedRange) else promise
