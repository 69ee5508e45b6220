"""The plan of a question in its setting: what it will do and cost. Planning reads no row and draws no bits.

A setting consists of the declared table, its person column, the neighbour relation and the way costs add up.
It has no ledger and no randomness, and a plan uses only what is public about the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as plain_field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from discreet._exact.numbers.exact import positive, refuse, whole
from discreet._exact.sampling import Bits
from discreet._tables import Table, open_table
from discreet._tables.compared import require_condition
from discreet._tables.engines import quietly
from discreet._tables.where import Condition, comparisons, condition_text, parse
from discreet.accounting import Event
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee, Proof
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.accuracy import Accuracy, least_epsilon
from discreet.questions.question import Question
from discreet.questions.rules import Sentences

if TYPE_CHECKING:
    from discreet.questions.answer import Meter, TableRelease
    from discreet.questions.card import Card
    from discreet.questions.private_table import PrivateTable

USUAL_PEOPLE = 1000
"""The default number of people for which a typical error is computed."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Setting:
    """A table and the facts that its owner states once, under the same names as in ``discreet.table``.

    The ledger is not part of it: a plan knows only the name of the ledger's ``accountant``, which adds up
    costs (None without a ledger). With the dictionary ``kept``, each table is opened once and then reused.
    """

    data: Any
    user: str | None = None
    one_row_per_user: bool = False
    counted: str | None = None
    neighbours: str = ADD_REMOVE
    where: str | None = None
    engine: str | None = None
    table: str | None = None
    read_as: str | None = None
    time_limit: object = None
    people: int | None = None
    listed: Mapping[str, Sequence[Any]] = plain_field(default_factory=dict)
    accountant: str | None = None
    kept: dict[Any, Table] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Neighbours):
            object.__setattr__(self, "neighbours", Neighbours.named(self.neighbours))
        if not isinstance(self.one_row_per_user, bool):
            raise refuse("one_row_per_user", self.one_row_per_user, "True or False")
        if [self.user is not None, self.one_row_per_user, self.counted is not None].count(
            True
        ) != 1:
            raise ParameterError(
                "say which person a row belongs to: ⟨user⟩ names the column that tells people "
                "apart, ⟨one_row_per_user=True⟩ says that no person has two rows, or ⟨counted⟩ "
                "names the column with the number of people that a row stands for"
            )
        if self.where is not None:
            condition_text("where", self.where)
        if self.time_limit is not None:
            positive("time_limit", self.time_limit)
        for column, values in self.listed.items():
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise refuse("listed", values, f"a list of the values of {column!r}")
        if self.people is not None:
            object.__setattr__(self, "people", whole("people", self.people))

    @property
    def adds_up_rho(self) -> bool:
        """Whether the budget adds up ρ; for many small costs, this is cheaper than adding up ε."""
        return self.accountant in ("rho", "rho-delta")

    @cached_property
    def condition(self) -> Condition | None:
        """The condition on rows, parsed."""
        return None if self.where is None else parse(self.where)

    @property
    def several_rows(self) -> bool:
        """Whether a person may have several rows."""
        return self.user is not None

    @property
    def assumes(self) -> tuple[str, ...]:
        """The owner's statement about rows and people, on which the guarantee relies."""
        if self.user is not None:
            return (f"the column {self.user} tells people apart",)
        return ("nobody has two rows" if self.counted is None else "nobody counts in two rows",)

    def narrowed(self, where: str | None) -> Self:
        """Return the same setting with a further condition on rows."""
        if where is None:
            return self
        both = where if self.where is None else f"({self.where}) and ({where})"
        return replace(self, where=both)

    def opened(self, *columns: str | None, tells_apart: Iterable[str | None] = ()) -> Table:
        """Open the table with the columns that a question needs; no row is read."""
        tells_apart = tuple(tells_apart)
        key = (id(self.data), columns, tells_apart, self.where)
        if self.kept is not None and key in self.kept:
            return self.kept[key]
        condition = self.condition
        used = [
            name for name in (*columns, self.user, self.counted, *tells_apart) if name is not None
        ]
        if condition is not None:
            used += [comparison.column for comparison in comparisons(condition)]
        table = open_table(
            self.data, needed=used, engine=self.engine, table=self.table, read_as=self.read_as
        )
        table.require_time_limit(self.time_limit)
        if self.user is not None:
            table.require_told_apart(self.user, name="user")
        for by in tells_apart:
            if by is not None:
                table.require_told_apart(by, name="by")
        if self.counted is not None:
            table.require_number(self.counted)
        if condition is not None:
            require_condition(table, condition)
        if self.kept is not None:
            self.kept[key] = table
        return table

    @property
    def seconds(self) -> float | None:
        """The time limit as a float."""
        return None if self.time_limit is None else float(positive("time_limit", self.time_limit))


# ---- the plan ------------------------------------------------------------------------------------------

Watch: TypeAlias = Callable[[str, int, int], None]
"""A function that is called with the current step, how much of it is done, and its total."""


def unwatched(_doing: str, _done: int, _all: int) -> None:
    """Ignore progress reports."""


@dataclass(frozen=True)
class Reading:
    """The counting step of a question, ready to run: the table, and the function that counts in it.

    Attributes:
        counts: the function that counts in a given table.
        table: the table; None if the question reads something else.
        seconds: the time limit for a database; None for no limit.
        following: prepares the counting step of the next question, so that both can be tried out.
    """

    counts: Callable[[Any], Any]
    table: Table | None = None
    seconds: float | None = None
    following: Callable[[], Reading] | None = None

    def __call__(self, _watch: Watch = unwatched) -> Any:
        """Count in one snapshot of the data, within the time limit."""
        if self.table is None:
            return self.counts(None)
        with self.table.engine.reading(self.seconds):
            return self.counts(self.table)

    def try_out(self) -> None:
        """Count over no rows, so that an error of the engine shows up before anything is spent."""
        if self.table is not None:
            trial = replace(self.table, is_trial=True)
            quietly(
                replace(self, table=trial), doing="trying the question on no rows", telling=True
            )
        if self.following is not None:
            self.following().try_out()

    def close(self) -> None:
        """End anything that ``try_out`` started, such as a process; by default, do nothing."""


Found = dict[str, Any]
"""The values released for one group, by name: ``answer`` and anything released with it."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan:
    """A question ready to be paid for.

    Attributes:
        question: the question; an ``error_at_most`` is already replaced by the ε that it needs.
        title: the question in words, as people read it.
        words: the question in words, as the ledger will record it.
        event: the event that the ledger will charge, exactly.
        guarantee: the guarantee that the answer will state, with its proof.
        read: prepares the counting step; its random bits assign people to groups.
        choose: returns what is released for each group, from the counts and random bits.
        rules: what is left out, moved, assigned or taken on trust, in sentences.
        rules_after: further rules that depend on the answer, and on nothing else.
        doubts: reasons from public facts why the answer may be pure noise.
        accuracy: the accuracy of the answer; None if unknown.
        chosen: a sentence about how ε was found, if ``error_at_most`` was given instead.
        groups: the labels of the groups, or None for one answer.
        shape: fields of the release that are known before the question is asked.
        then: makes the next plan from the answer, or returns None to stop; one payment covers both plans.
        table: the table that the plan is for.
        meter: the budget as it would be after the payment; None without a ledger.
        left: the data set's remaining budget; None without a ledger.
        fits: whether ``left`` is enough; None without a ledger.

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
        """The proof of the guarantee."""
        return self.guarantee.proof

    @property
    def price(self) -> Fraction | float:
        """The price, exactly as the ledger will charge it; without a ledger, the guarantee's ε (or ρ)."""
        if self.meter is not None:
            return self.meter.this
        return self.guarantee.figures.get("epsilon", next(iter(self.guarantee.figures.values())))

    @property
    def card(self) -> Card:
        """The plan in the form shown to people."""
        from discreet.questions.card import Card

        return Card.of_plan(self)

    def __repr__(self) -> str:
        return self.card.in_text(None)

    def _repr_html_(self) -> str:
        return self.card.in_html()

    def as_data(self) -> dict[str, Any]:
        """Return the plan as plain data, for JSON."""
        return self.card.as_data() | {"question": self.question.to_dict(), "left": self.left}

    @property
    def answers(self) -> int:
        """The number of answers: one, or one for each group."""
        return 1 if self.groups is None else len(self.groups)

    def said(self, found: list[Found]) -> dict[str, Any]:
        """Return the release's fields; with groups, each field in ``found`` becomes a dictionary by group."""
        if self.groups is None:
            return {**self.shape, **found[0]}
        by_group = {
            name: dict(zip(self.groups, (each[name] for each in found), strict=True))
            for name in found[0]
        }
        return {**self.shape, **by_group}

    def run(self) -> TableRelease:
        """Ask the question; the table's schema is checked again, and every run is paid for."""
        assert self.table is not None
        return self.table.ask(self.question)


def plan_of(question: Question, setting: Setting) -> Plan:
    """Plan a question; if a largest error is given, use the smallest ε that achieves it."""
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
