"""What every question shares, in this order: check parameters and schema, spend, read, choose, release."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, TypedDict

from discreet.errors import ParameterError
from discreet.guarantees import PureDP
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.numbers.exact import positive, refuse, whole
from discreet.questions.answer import Sentences, TableRelease, about_rows, about_types
from discreet.questions.candidates import public_candidates
from discreet.questions.scoring import noisy_count, share_of, within
from discreet.questions.spending import AnyLedger, Asker, Part, event_of, mixed
from discreet.tables import Rows, Table, open_table
from discreet.tables.compared import require_condition
from discreet.tables.where import Condition, comparisons, parse

WATCH: ContextVar[Callable[[Iterable[Any], int], Iterable[Any]]] = ContextVar(
    "discreet_watch", default=lambda groups, _number: groups
)
"""What the loop over groups goes through, with how many there are: the command line draws a bar."""


class _SelectionTerms(TypedDict, total=False):
    neighbours: str
    mechanism: object
    dataset: str | None
    purpose: str | None


class SelectionTerms(_SelectionTerms, total=False):
    """What a selection by scores of one's own may be told: a part of ``Terms``."""

    ledger: AnyLedger | None


class TableTerms(_SelectionTerms, total=False):
    """What a table in hand may be told besides its ledger: ``Terms`` without ``ledger``."""

    user: str | None
    one_row_per_user: bool
    counted: str | None
    where: str | None
    by: str | None
    groups: object
    groups_per_person: int | str
    groups_share: object
    with_people: bool
    people_share: object
    engine: str | None
    table: str | None
    time_limit: object


class Terms(TableTerms, total=False):
    """What every question about a table may be told, by keyword.

    Attributes:
        user: the column that tells people apart.
        one_row_per_user: in place of ``user``: nobody has two rows.
        counted: in place of ``user``, for a table that is counted already: the column that says how many
            people a row stands for. Each person counts in one row only, which you state.
        neighbours: ``"add-remove"`` one person (by default), or ``"replace"`` one.
        mechanism: a registered name or a mechanism; permute-and-flip by default.
        ledger: who counts the budget of ``dataset``: a ledger, or the address of one; by default nobody
            does, and the answer says so.
        dataset: the data set's name in the ledger.
        where: a condition on single rows, such as ``"age >= 18 and clinic in ('north', 'south')"``.
        by: one answer for each of the public ``groups`` of this column.
        groups: the public groups: whatever ``candidates`` may be, but for a grid. None, with ``delta``: those
            of the data that have enough people to be named (``docs/proofs/groups-from-the-data.md``).
        groups_per_person: a person counts in so many groups at most (one by default), drawn at random from
            those of their rows, and the budget is shared out accordingly; ``"choose"`` finds a bound
            privately within which about nine of ten people count in all of their groups.
        groups_share: the part of ε that finding groups (a half by default) or choosing the bound (a tenth)
            gets.
        with_people: release a noisy number of the people who counted as well, for ``people_share`` of ε:
            near zero it says that the answer is noise, because no row matched.
        people_share: the part of ε that this number gets, a tenth by default; the rest is what is shared
            out otherwise.
        engine: who reads a path: ``duckdb`` (default), ``polars``, ``pandas`` or ``spark``.
        table: with the address of a database, or a SQLAlchemy engine: the table's name, ``schema.name`` where
            it has a schema.
        time_limit: a database may work for so many seconds; after that nothing is released.
        purpose: what the ledger writes down; by default the question in words.

    Example:
        >>> import polars as pl
        >>> from discreet.questions import mode
        >>> visits = pl.DataFrame({"patient": range(200), "age": [20] * 200, "code": ["flu"] * 200})
        >>> adults: Terms = {"user": "patient", "where": "age >= 18", "neighbours": "replace"}
        >>> mode(visits, column="code", candidates=["flu", "cold"], epsilon=1, **adults).answer
        'flu'
    """

    ledger: AnyLedger | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Context(Asker):
    """A table and the terms on which it is asked, checked as far as they are public; see ``Terms``."""

    data: Any
    user: str | None = None
    one_row_per_user: bool = False
    counted: str | None = None
    where: str | None = None
    by: str | None = None
    groups: object = None
    groups_per_person: int | str = 1
    groups_share: object = None
    with_people: bool = False
    people_share: object = "0.1"
    engine: str | None = None
    table: str | None = None
    time_limit: object = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.one_row_per_user, bool):
            raise refuse("one_row_per_user", self.one_row_per_user, "True or False")
        if [self.user is not None, self.one_row_per_user, self.counted is not None].count(
            True
        ) != 1:
            raise ParameterError(
                "say whose a row is: either ⟨user⟩ names the column that tells people apart, or "
                "⟨one_row_per_user=True⟩ says that no person has two rows, or ⟨counted⟩ names the column "
                "that says how many people a row stands for"
            )
        if self.by is None and self.groups is not None:
            raise ParameterError("⟨groups⟩ go with ⟨by⟩, the column that they are of")
        if whole("groups_per_person", self.groups_per_person) > 1 and None in (self.by, self.user):
            raise ParameterError("⟨groups_per_person⟩ goes with ⟨by⟩ and ⟨user⟩")
        share_of(self.with_people, self.people_share, name="people_share")
        if self.time_limit is not None:
            positive("time_limit", self.time_limit)

    @staticmethod
    def of(data: Any, terms: Terms | SelectionTerms) -> Context:
        """The context of a question: a table with its terms, or one in hand with those of the question."""
        if not isinstance(data, Context):
            return Context(data=data, **terms)
        said = {"ledger", "dataset", "user", "one_row_per_user", "counted", "neighbours", "engine"}
        said.add("table")
        for name in sorted(said & terms.keys()):
            raise ParameterError(f"⟨{name}⟩ is said once, when the table is made: make another")
        merged: dict[str, Any] = dict(terms)
        if data.where is not None and merged.get("where") is not None:
            merged["where"] = f"({data.where}) and ({merged['where']})"
        return replace(data, **merged)

    @property
    def condition(self) -> Condition | None:
        """The condition on rows, read."""
        return None if self.where is None else parse(self.where)

    def opened(self, *columns: object) -> Table:
        """The table with the columns that a question needs; no row is read."""
        condition = self.condition
        used = [
            column
            for column in (*columns, self.user, self.counted, self.by)
            if isinstance(column, str)
        ]
        if condition is not None:
            used += [comparison.column for comparison in comparisons(condition)]
        table = open_table(self.data, needed=used, engine=self.engine, table=self.table)
        table.require_time_limit(self.time_limit)
        for name, told_apart in (("user", self.user), ("by", self.by)):
            if told_apart is not None:
                table.require_told_apart(told_apart, name=name)
        if self.counted is not None:
            table.require_number(self.counted)
        if condition is not None:
            require_condition(table, condition)
        return table

    def asking(self, column: str, epsilon: object) -> Asking:
        """One question about a column; no row has been read when this returns."""
        total = positive("epsilon", epsilon)
        if self.by is not None and self.groups is None:
            raise ParameterError("⟨by⟩ needs ⟨groups⟩ here: a public list")
        if self.groups_share is not None:
            raise ParameterError("⟨groups_share⟩ goes with groups that nobody listed")
        table = self.opened(column)
        labels, keys, doubts = (), (), ()  # type: tuple[Any, ...], tuple[Any, ...], Sentences
        if self.by is not None:
            kind = table.kind(self.by, name="by")
            found = public_candidates(self.groups, column=self.by, kind=kind, name="groups")
            labels, keys = found.labels, found.keys
            doubts = about_types(table, self.by, found, name="groups")
        most = min(whole("groups_per_person", self.groups_per_person), max(len(keys), 1))
        part = share_of(self.with_people, self.people_share, name="people_share")
        # Replacing a person is removing one and adding another, perhaps elsewhere: the two dearest add up.
        split = self.by is not None and self.neighbours == REPLACE
        times = most * (2 if split else 1)
        rows = Rows(
            user=self.user,
            counted=self.counted,
            where=self.condition,
            by=self.by,
            groups=keys,
            groups_per_person=most,
        )
        each = total * (1 - part) / times
        return Asking(
            context=self,
            column=column,
            table=table,
            rows=rows,
            inner=ADD_REMOVE if split else self.neighbours,
            epsilon_each=each,
            epsilon_people=total * part / times,
            times=times,
            group_labels=labels,
            rules=about_rows(rows, where=self.where, epsilon=total, epsilon_each=each) + doubts,
        )


def stated(data: Any, terms: SelectionTerms) -> tuple[Asker, Any]:
    """Who counts a selection by scores of one's own, and what the scores are computed from."""
    if not isinstance(data, Context):
        return Asker(**terms), data
    context = Context.of(data, terms)
    if context.where is not None or context.by is not None or context.with_people:
        raise ParameterError(
            "a score of one's own reads the whole table: leave ⟨where⟩, ⟨by⟩ and ⟨with_people⟩ out"
        )
    return context, context.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question within its context.

    Attributes:
        context: the context.
        column: the column asked about.
        table: the table.
        rows: which rows count and whose they are.
        inner: the relation for which each group's scores state their sensitivity.
        epsilon_each: what one group's answer may cost.
        epsilon_people: what one group's noisy number of the people who counted may cost, or zero.
        times: how often one person is counted: the sum of the answers' costs that a person can touch.
        group_labels: the public groups as the user knows them.
        rules: which rows count, in sentences.
    """

    context: Context
    column: str
    table: Table
    rows: Rows
    inner: str
    epsilon_each: Fraction
    epsilon_people: Fraction
    times: int
    group_labels: tuple[Any, ...]
    rules: Sentences

    def naming(
        self,
        part: Part,
        choose: Callable[[Any], tuple[list[tuple[Any, int]], dict[str, Any]]],
        *,
        share: Fraction,
        k: int | None = None,
    ) -> dict[str, Any]:
        """How to release what ``choose`` names: ``k`` things or one, each with a noisy count for a ``share``.

        ``choose`` gives labels with their true counts, and what else is released of them.
        """
        each = self.epsilon_each * share / (k or 1)

        def answer(counted: Any) -> dict[str, Any]:
            chosen, besides = choose(counted)
            if k is None and not share:
                return {"answer": chosen[0][0] if chosen else None, **besides}
            found: dict[str, Any] = {"answer": tuple(label for label, _ in chosen)}
            if share:
                found["count"] = tuple(noisy_count(count, each) for _, count in chosen)
            if k is None:
                found = {name: values[0] if values else None for name, values in found.items()}
            return found | besides

        return {
            "parts": [part, (PureDP(each), k or 1)] if share else [part],
            "answer": answer,
            "count_within": within(each) if share else None,
        }

    def release(
        self,
        what: str,
        *,
        parts: Iterable[Part],
        mechanism: str,
        read: Callable[[], Any],
        answer: Callable[[Any], dict[str, Any]],
        choose_each: Callable[[Any], Iterable[Any]] = iter,
        people: Callable[[], Any] | None = None,
        rules: Sentences = (),
        **fields: Any,
    ) -> TableRelease:
        """Spend, read, answer for each group; ``people`` counts who counted at all, as ``read`` may.

        ``choose_each`` turns what was read of all groups into what ``answer`` takes of each.

        A group's promise holds for the inner relation: two steps of it, where that is not the question's,
        are what two people cost (``docs/proofs/question-sensitivities.md``).
        """
        if self.epsilon_people:
            parts = (*parts, (PureDP(self.epsilon_people), 1))
        steps = 1 if self.inner == self.context.neighbours else 2
        grouped = self.rows.by is not None
        event = event_of(
            [
                (
                    (mixed(promise) if grouped else promise).for_people(steps),
                    count * self.times // steps,
                )
                for promise, count in parts
            ],
            mechanism=mechanism,
            neighbours=self.context.neighbours,
        )
        once = cache(read)

        def work() -> list[dict[str, Any]]:
            limit = self.context.time_limit
            with self.table.reading(
                None if limit is None else float(positive("time_limit", limit))
            ):
                counted = (people or once)().sum(axis=1).tolist() if self.epsilon_people else []
                read_once = once()
            chosen = choose_each(read_once)
            found = [answer(each) for each in WATCH.get()(chosen, self.rows.number_of_groups)]
            for each, number in zip(found, counted, strict=False):
                each["people"] = noisy_count(number, self.epsilon_people)
            return found

        found, terms = self.context.spending(event, self._purpose(what), work)
        for name in found[0]:
            terms[name] = self._shaped([each[name] for each in found])
        if grouped:
            terms["assigned"] = self.rows.assigns
        if self.epsilon_people:
            terms["people_within"] = within(self.epsilon_people)
        return TableRelease(
            **terms, **fields, rules=self.rules + rules, by=self.rows.by, engine=self.table.engine
        )

    def _purpose(self, what: str) -> str:
        """What the ledger writes down: public words only."""
        parts = {f"{what} of": self.column, "by": self.rows.by, "where": self.context.where}
        words = ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)
        return self.context.purpose or words

    def _shaped(self, answers: list[Any]) -> Any:
        """One answer, or a mapping from group to answer."""
        if self.rows.by is None:
            return answers[0]
        return dict(zip(self.group_labels, answers, strict=True))
