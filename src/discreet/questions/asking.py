"""What every question does, in this order: check parameters and schema, spend, read, choose, release.

An error before the spend spends nothing. After it, the spend stays, the entry is marked as failed, and the
error carries nothing of the data (DESIGN: errors and data).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from discreet.accounting import Event
from discreet.errors import DiscreetError, LedgerError, NotPrivateError, ParameterError, TableError
from discreet.guarantees import PureDP
from discreet.guarantees.words import figure
from discreet.mechanisms import PermuteAndFlip
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.registry import mechanism_named
from discreet.neighbours import ADD_REMOVE, REPLACE, Neighbours
from discreet.numbers.exact import positive, refuse, whole
from discreet.questions.candidates import public_candidates
from discreet.questions.counting import noisy_count, share_of, within
from discreet.questions.promise import Part, event_of, guarantee_of, mixed
from discreet.questions.rules import about_rows, about_types
from discreet.tables import Rows, Table, open_table
from discreet.tables.counts import Counts
from discreet.tables.where import comparisons, parse

T = TypeVar("T")


class Ledger(Protocol):
    """All that a question needs of a ledger."""

    def spend(self, dataset: str, event: Event, *, purpose: str) -> Any:
        """Commit a spend, or raise; the entry is what the release carries."""

    def fail(self, entry: Any) -> Any:
        """Record that the release which an entry paid for failed; the spend stays."""


AnyLedger: TypeAlias = Ledger | str | Path
"""An open ledger, or the address of one that is opened for the question."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who counts the budget, and for which data set."""

    ledger: AnyLedger | None
    dataset: str | None

    def __post_init__(self) -> None:
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
            from discreet.ledger import Ledger as StoredLedger

            with StoredLedger.open(self.ledger, create=False) as opened:
                return Asker(opened, self.dataset).spending(event, purpose, work)
        terms = {
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

    def _spent(self, guarantee: Any, entry: Any) -> str:
        """What a release that failed has cost, and where that is to be seen."""
        figures = ", ".join(
            f"{symbol} = {figure(getattr(guarantee, name))}"
            for name, symbol in (("epsilon", "ε"), ("rho", "ρ"), ("delta", "δ"))
            if hasattr(guarantee, name)
        )
        if entry is None:
            return f"count {figures} as spent (no ledger does)"
        return f"{figures} stays spent: {self.dataset}, entry {getattr(entry, 'sequence', entry)}"


@dataclass(frozen=True, slots=True)
class Asking:
    """A question's checked surroundings.

    Attributes:
        table: the table.
        rows: which rows count and whose they are.
        epsilon: what the whole question costs.
        neighbours: the relation for which it costs that.
        inner: the relation for which each group's scores state their sensitivity.
        people_share: the part of ε that a noisy number of the people who counted gets, or zero.
        times: how often one person is counted: the sum of the answers' costs that a person can touch.
        group_labels: the public groups as the user knows them.
        asker: who counts.
        rules: which rows count, in sentences.
    """

    table: Table
    rows: Rows
    epsilon: Fraction
    neighbours: str
    inner: str
    people_share: Fraction
    times: int
    group_labels: tuple[Any, ...]
    asker: Asker
    rules: tuple[str, ...] = ()

    @property
    def epsilon_each(self) -> Fraction:
        """What one group's answer may cost."""
        return self.epsilon * (1 - self.people_share) / self.times

    @property
    def epsilon_people(self) -> Fraction:
        """What one group's number of people may cost."""
        return self.epsilon * self.people_share / self.times

    def shaped(self, answers: list[Any]) -> Any:
        """One answer, or a mapping from group to answer."""
        return (
            answers[0]
            if self.rows.by is None
            else dict(zip(self.group_labels, answers, strict=True))
        )

    def event(self, *parts: Part, mechanism: str) -> Event:
        """What the ledger is told of releases that each group gets, for all groups of one person.

        A group's promise holds for the inner relation: two steps of it, where that is not the question's,
        are what two people cost (``docs/proofs/question-sensitivities.md``).
        """
        if self.people_share:
            parts = (*parts, (PureDP(self.epsilon_people), 1))
        steps = 1 if self.inner == self.neighbours else 2
        grouped = self.rows.by is not None
        return event_of(
            [
                (
                    (mixed(promise) if grouped else promise).for_people(steps),
                    count * self.times // steps,
                )
                for promise, count in parts
            ],
            mechanism=mechanism,
            neighbours=self.neighbours,
        )

    def released(
        self, event: Event, purpose: str, work: Callable[[], T], *, people: Callable[[], Counts]
    ) -> tuple[T, dict[str, Any]]:
        """The result of ``work``, and what a release of it says; ``people`` counts who counted at all."""

        def both() -> tuple[T, list[int]]:
            counted = people().sum(axis=1).tolist() if self.people_share else []
            return work(), [noisy_count(number, self.epsilon_people) for number in counted]

        (found, numbers), terms = self.asker.spending(event, purpose, both)
        if self.rows.by is not None:
            terms["assigned"] = self.rows.assigns
        if self.people_share:
            terms |= {
                "people": self.shaped(numbers),
                "people_within": within(self.epsilon_people),
            }
        return found, terms


def prepare(
    data: Any,
    *,
    columns: Iterable[object],
    epsilon: object,
    user: str | None,
    one_row_per_user: bool,
    neighbours: str,
    ledger: AnyLedger | None,
    dataset: str | None,
    where: str | None,
    by: str | None,
    groups: object,
    groups_per_person: int,
    with_people: bool,
    people_share: object,
    engine: str | None,
) -> Asking:
    """Check everything that is public; no row has been read when this returns."""
    total = positive("epsilon", epsilon)
    named = Neighbours.named(neighbours)
    asker = Asker(ledger, dataset)
    part = share_of(with_people, people_share, name="people_share")
    if not isinstance(one_row_per_user, bool):
        raise refuse("one_row_per_user", one_row_per_user, "True or False")
    if (user is None) == (not one_row_per_user):
        raise ParameterError(
            "say whose a row is: either ⟨user⟩ names the column that tells people apart, or "
            "⟨one_row_per_user=True⟩ says that no person has two rows"
        )
    if (by is None) != (groups is None):
        raise ParameterError(
            "⟨by⟩ and ⟨groups⟩ go together: the groups that get an answer are a public list"
        )
    most = whole("groups_per_person", groups_per_person)
    if most > 1 and (by is None or user is None):
        raise ParameterError("⟨groups_per_person⟩ goes with ⟨by⟩ and ⟨user⟩")
    condition = None if where is None else parse(where)
    used = [column for column in (*columns, user, by) if isinstance(column, str)]
    if condition is not None:
        used += [comparison.column for comparison in comparisons(condition)]
    table = open_table(data, needed=used, engine=engine)
    for name, told_apart in (("user", user), ("by", by)):
        if told_apart is not None:
            table.require_told_apart(told_apart, name=name)
    if condition is not None:
        table.require_condition(condition)
    doubts: tuple[str, ...] = ()
    labels: tuple[Any, ...] = ()
    keys: tuple[Any, ...] = ()
    if by is not None:
        found = public_candidates(groups, column=by, kind=table.kind(by, name="by"), name="groups")
        labels, keys = found.labels, found.keys
        doubts = about_types(table, by, found, name="groups")
    most = min(most, max(len(keys), 1))
    # Replacing a person is removing one and adding another, perhaps elsewhere: the two dearest add up.
    split = by is not None and named == REPLACE
    times = most * (2 if split else 1)
    rows = Rows(user=user, where=condition, by=by, groups=keys, groups_per_person=most)
    return Asking(
        table=table,
        rows=rows,
        epsilon=total,
        people_share=part,
        neighbours=named,
        inner=ADD_REMOVE if split else named,
        times=times,
        group_labels=labels,
        asker=asker,
        rules=about_rows(rows, where=where, epsilon=total, epsilon_each=total * (1 - part) / times)
        + doubts,
    )


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


def sentence(parts: Mapping[str, object]) -> str:
    """A purpose for the ledger: public words only."""
    return ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)
