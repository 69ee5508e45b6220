"""The plan of a question: what it will do and cost. It is frozen, reads no row and draws nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as plain_field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet._exact.sampling import Bits
from discreet._tables import Table
from discreet.accounting import Event
from discreet.guarantees import Guarantee, Proof
from discreet.questions.accuracy import Accuracy, least_epsilon
from discreet.questions.question import Question

if TYPE_CHECKING:
    from discreet.questions.answer import Meter, TableRelease
    from discreet.questions.card import Card
    from discreet.questions.private_table import PrivateTable
    from discreet.questions.setting import Setting


Watch: TypeAlias = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and its total."""


def unwatched(_doing: str, _done: int, _all: int) -> None:
    """Ignore progress reports."""


@dataclass(frozen=True)
class Reading:
    """What a question counts, ready to run: the table, and a function of it.

    Attributes:
        counts: counts in the table that it is given.
        table: the table; None where the question reads something else.
        seconds: how long a database may work.
        following: prepares what a following question counts, so that both can be tried out.
    """

    counts: Callable[[Any], Any]
    table: Table | None = None
    seconds: float | None = None
    following: Callable[[], Reading] | None = None

    def __call__(self, _watch: Watch = unwatched) -> Any:
        """Count, in one state of the data and within the time limit."""
        if self.table is None:
            return self.counts(None)
        with self.table.engine.reading(self.seconds):
            return self.counts(self.table)

    def try_out(self) -> None:
        """Count over no rows, so that an error of the engine appears before anything is spent."""
        if self.table is not None:
            trial = replace(self.table, is_trial=True)
            trial.quietly(
                replace(self, table=trial).__call__, doing="trying the question on no rows"
            )
        if self.following is not None:
            self.following().try_out()

    def close(self) -> None:
        """Release what the trial started."""


Found = dict[str, Any]
"""What is released for one group, by name: ``answer``, and what goes with it."""
Sentences = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan:
    """A question ready to be paid for.

    Attributes:
        question: the question; ``error_at_most`` has become the ε that it takes.
        title: the question in words, as people read it.
        words: the question in words, as the ledger will write it.
        event: what the ledger will charge, exactly.
        guarantee: the guarantee that the answer will state, with its proof.
        read: prepares what the question counts; the bits assign people to groups.
        choose: turns what was read and random bits into what is released for each group.
        rules: what is left out, moved, assigned or taken on trust, in sentences.
        rules_after: further rules that depend on the answer, and on nothing else.
        doubts: reasons from public facts why the answer may be pure noise.
        accuracy: how good the answer will be; None if unknown.
        chosen: how ε was found, if ``error_at_most`` was given instead.
        groups: the labels of the groups, or None for one answer.
        shape: what the release says besides the answer.
        then: turns the answer into the plan that follows, already paid for; it returns None to end.
        table: the table that the plan is for.
        meter: the budget as it would be after the payment; None without a ledger.
        left: what the ledger has left for the data set; None without a ledger.
        fits: whether that is enough; None without a ledger.

    Example:
        >>> import discreet, polars as pl
        >>> from discreet.questions import Mode
        >>> visits = pl.DataFrame({"patient": [1, 2], "diagnosis": ["flu", "cold"]})
        >>> table = discreet.table(visits, user="patient", ledger=None)
        >>> plan = table.plan(Mode("diagnosis", candidates=["flu", "cold"], epsilon=0.5))
        >>> plan.guarantee, plan.title
        (PureDP(0.5), 'most common diagnosis')
    """

    question: Question
    title: str
    words: str
    event: Event
    guarantee: Guarantee
    read: Callable[[Bits], Reading]
    choose: Callable[[Any, Bits], Iterable[Found]]
    rules: Sentences
    rules_after: Callable[[Any], Sentences] = lambda _answer: ()
    doubts: Sentences = ()
    accuracy: Accuracy | None = None
    chosen: str | None = None
    groups: tuple[Any, ...] | None = None
    shape: Mapping[str, Any] = plain_field(default_factory=dict)
    then: Callable[[Any], Plan | None] | None = None
    table: PrivateTable | None = None
    meter: Meter | None = None
    left: str | None = None
    fits: bool | None = None

    @property
    def proof(self) -> Proof | None:
        """What the guarantee rests on."""
        return self.guarantee.proof

    @property
    def price(self) -> Fraction | float:
        """The price, exactly as the ledger will charge it; ε without a ledger."""
        if self.meter is not None:
            return self.meter.this
        return self.guarantee.figures.get("epsilon", next(iter(self.guarantee.figures.values())))

    @property
    def card(self) -> Card:
        """What a person sees of the plan."""
        from discreet.questions.card import Card

        return Card.of_plan(self)

    def __repr__(self) -> str:
        return self.card.in_text(None)

    def _repr_html_(self) -> str:
        return self.card.in_html()

    def as_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return self.card.as_data() | {"question": self.question.to_dict(), "left": self.left}

    @property
    def answers(self) -> int:
        """How many answers there will be: one, or one for each group."""
        return 1 if self.groups is None else len(self.groups)

    def said(self, found: list[Found]) -> dict[str, Any]:
        """Return what the release says: one answer, or a mapping from group to answer."""
        if self.groups is None:
            return {**self.shape, **found[0]}
        by_group = {
            name: dict(zip(self.groups, (each[name] for each in found), strict=True))
            for name in found[0]
        }
        return {**self.shape, **by_group}

    def run(self) -> TableRelease:
        """Ask the question of the plan's table: the schema is checked again, and each run is paid for."""
        assert self.table is not None
        return self.table.ask(self.question)


def plan_of(question: Question, setting: Setting) -> Plan:
    """Plan a question; if an error is given, at the smallest ε that achieves it."""
    setting = setting.opening_once()
    if question.error_at_most is None:
        return question.plan(setting)

    def accuracy_at(epsilon: object) -> Accuracy:
        plan = question.changed(epsilon=epsilon, error_at_most=None).plan(setting)
        level = Fraction(question.with_probability)
        return plan.accuracy or Accuracy(None, level, ("", ""), "", "")

    wanted = Fraction(question.error_at_most)
    enough = least_epsilon(accuracy_at, error=wanted, typical=question.typical)
    plan = question.changed(epsilon=enough, error_at_most=None, typical=False).plan(setting)
    assert plan.accuracy is not None
    within = f"{plan.accuracy.in_units(float(wanted))} off, {plan.accuracy.how_often}"
    data = "on typical data; not proved for all data" if question.typical else "on any data"
    return replace(plan, chosen=f"the least ε for at most {within}, {data}")
