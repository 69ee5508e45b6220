"""Base of all questions about a column: which rows count, in which groups, and how a plan is made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import Number, probability, refuse, shown, whole
from discreet._exact.sampling import Bits
from discreet._exact.sampling.weighing import UNIT
from discreet._tables import Rows, Table
from discreet._tables.counts import Counts
from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.registry import mechanism_at
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.accuracy import Accuracy
from discreet.questions.answer import (
    about_condition,
    about_period,
    about_price,
    about_rows,
    about_texts,
    about_types,
    about_undeclared,
)
from discreet.questions.candidates import candidates_of
from discreet.questions.costs import Part, event_of, guarantee_of, in_groups
from discreet.questions.plan import USUAL_PEOPLE, Found, Plan, Reading, Sentences, Setting
from discreet.questions.question import (
    FoundLabels,
    Labels,
    Question,
    another_mechanism,
    field,
    flag,
    labels,
    level,
    share,
    value,
)
from discreet.questions.scoring import count_promise, noisy_count, within

NO_MATCH = "If no row matches, the answer is {}: --with-people says how many counted, for a share of epsilon."
"""Help text for commands that also answer on an empty table."""
CHOOSE = "choose"
"""The value of ``groups_per_person`` that requests a privately found bound."""
_MOST_OF_ONE = UNIT**2
"""A person in more groups than this would have a weight that rounds down to zero."""


def column_named(name: str, given: Any) -> str:
    """Check the name of a column."""
    if not isinstance(given, str):
        raise refuse(name, given, "the name of a column")
    return given


def of_one_person(name: str, given: Any) -> int:
    """Check a whole number of groups or values of one person."""
    number = whole(name, given)
    if number > _MOST_OF_ONE:
        raise refuse(name, given, f"a whole number from 1 to {_MOST_OF_ONE:,}")
    return number


def groups_each(name: str, given: Any) -> int | str:
    """Check a whole number of groups, or the word that requests a privately found bound."""
    return given if given == CHOOSE and isinstance(given, str) else of_one_person(name, given)


@value
class OfRows(Question):
    """A question about a column of a table."""

    column: str = field(
        "The column to ask about.",
        default="value",
        kw_only=False,
        check=column_named,
        takes="COLUMN",
        analyst=True,
    )
    where: str | None = field(
        'Only rows for which this holds, such as "age >= 18".',
        default=None,
        takes="CONDITION",
        analyst=True,
        group="data",
    )
    with_people: bool = flag(
        "Also release a noisy number of the people who counted, for a tenth of ⟨epsilon⟩: if it is "
        "near zero, no row matched and the answer is noise.",
        default=False,
        analyst=True,
    )
    people_share: Number = share("The part of ⟨epsilon⟩ for ⟨with_people⟩.", default="1/10")
    mechanism: Any = another_mechanism(default=None)

    def asking(self, setting: Setting) -> Asking:
        """Open the table and determine which of its rows count; no row is read."""
        return self._asked(setting.narrowed(self.where), by=None, groups=None, most=1)

    def _asked(self, setting: Setting, *, by: str | None, groups: Labels, most: int) -> Asking:
        table = setting.opened(self.column, tells_apart=(by,))
        group_labels, keys = (), ()  # type: tuple[Any, ...], tuple[Any, ...]
        period: str | None = None
        doubts, periods = (), ()  # type: Sentences, Sentences
        if by is not None:
            public = candidates_of(table, groups, column=by, name="groups")
            group_labels, keys, period = public.labels, public.keys, public.period
            known = setting.listed.get(by)
            doubts = about_types(table, by, public, name="groups", listed=known)
            periods = about_period(table, by, public)
        condition = setting.condition
        spelled: Sentences = ()
        if condition is not None:
            doubts += about_condition(table, condition, setting.listed)
            spelled = about_texts(table, condition)
        most = min(most, max(len(keys), 1))
        # Replacing a person removes one and adds another, perhaps in other groups: both costs add up.
        split = by is not None and setting.neighbours == REPLACE
        times = most * (2 if split else 1)
        rows = Rows(
            user=setting.user,
            counted=setting.counted,
            where=condition,
            by=by,
            groups=keys,
            period=period,
            groups_per_person=most,
        )
        part = Fraction(self.people_share) if self.with_people else Fraction(0)
        total = self.total
        each = total * (1 - part) / times
        return Asking(
            question=self,
            setting=setting,
            table=table,
            rows=rows,
            inner=ADD_REMOVE if split else setting.neighbours,
            epsilon_each=each,
            epsilon_people=total * part / times,
            times=times,
            group_labels=group_labels,
            rules=about_rows(rows, where=setting.where, epsilon=total, epsilon_each=each)
            + spelled
            + periods
            + about_undeclared(table, (self.column, setting.user, by), setting.read_as)
            + doubts,
            doubts=doubts,
        )


@value
class Grouped(OfRows):
    """A question about a column that can be answered for each group of another column."""

    by: str | None = field(
        "One answer for each group of this column: see ⟨groups⟩.",
        default=None,
        check=column_named,
        takes="COLUMN",
        analyst=True,
        group="groups",
    )
    groups: Labels = field(
        "With ⟨by⟩: the public groups, as a list, a range such as 1980:1987, or a file. Without "
        "them, with ⟨delta⟩, the groups in the data with enough people to be named.",
        default=None,
        check=labels,
        takes="LIST",
        group="groups",
    )
    groups_per_person: int | str = field(
        "Each person counts in at most this many of their groups, drawn at random, and ⟨epsilon⟩ is "
        "shared accordingly; with choose the bound is found privately.",
        default=1,
        check=groups_each,
        takes="COUNT",
        group="groups",
        advanced=True,
    )
    groups_share: Number | None = share(
        "The part of ⟨epsilon⟩ for finding groups (a half by default) or for choosing their bound (a tenth).",
        default=None,
    )
    delta: Number | None = field(
        "Without a public list: the largest probability with which the guarantee may fail.",
        default=None,
        check=level,
        takes="NUMBER",
        group="groups",
        advanced=True,
    )

    def _require(self) -> None:
        super()._require()
        if self.by is None and self.groups is not None:
            raise ParameterError("⟨groups⟩ go with ⟨by⟩, the column that they are of")
        if self.groups_per_person != 1 and self.by is None:
            raise ParameterError("⟨groups_per_person⟩ goes with ⟨by⟩ and ⟨user⟩")
        finding = self.by is not None and self.groups is None
        if finding and self.groups_per_person == CHOOSE:
            raise ParameterError(f'⟨groups_per_person⟩"{CHOOSE}" needs public ⟨groups⟩')
        if finding and self.delta is None:
            raise ParameterError(
                "⟨by⟩ needs ⟨groups⟩, a public list, or ⟨delta⟩: groups from the data are named with a "
                "probability of failure"
            )
        if not finding and self.groups_per_person != CHOOSE and self.groups_share is not None:
            raise ParameterError(
                f'⟨groups_share⟩ goes with ⟨by⟩ without ⟨groups⟩, or ⟨groups_per_person⟩"{CHOOSE}"'
            )
        if not finding and self.delta is not None and not self.names_values:
            stated = shown(probability("delta", self.delta))
            raise ParameterError(
                f"⟨delta⟩{stated} is not used here: it is for candidates or groups from the data"
            )

    @property
    def names_values(self) -> bool:
        """Whether the answers themselves come from the data, which requires a δ."""
        return False

    @property
    def delta_each(self) -> Fraction:
        """δ for finding groups: half of the total if values come from the data as well."""
        return Fraction(self.delta or 0) / (2 if self.names_values else 1)

    def given(self, name: str, answer: Any) -> Question:
        """Return the question for groups that were found, or within a bound that was chosen."""
        delta = self.delta
        if name == "groups":  # the δ for finding groups is spent separately
            delta = self.delta_each if self.names_values else None
            answer = FoundLabels(answer)
        return self.changed(**{name: answer, "groups_share": None, "delta": delta})

    def asking(self, setting: Setting) -> Asking:
        """Open the table and determine which of its rows count in which groups; no row is read."""
        if self.groups_per_person != 1 and setting.user is None:
            raise ParameterError("⟨groups_per_person⟩ goes with ⟨by⟩ and ⟨user⟩")
        most = whole("groups_per_person", self.groups_per_person)
        return self._asked(setting.narrowed(self.where), by=self.by, groups=self.groups, most=most)

    def plan(self, setting: Setting) -> Plan:
        """Plan the question; groups or bounds that are not given are found first."""
        from discreet.questions.then import in_bounded_groups, in_found_groups

        if self.by is not None and self.groups is None:
            return in_found_groups(self).plan(setting)
        if self.groups_per_person == CHOOSE:
            return in_bounded_groups(self).plan(setting)
        return self.planned(self.asking(setting))

    def public_values(self, table: Table) -> dict[str, list[Any]]:
        """The public groups."""
        if self.by is None or self.groups is None:
            return {}
        public = candidates_of(table, self.groups, column=self.by, name="groups")
        return {self.by: list(public.values)}

    @abstractmethod
    def planned(self, asking: Asking) -> Plan:
        """Plan the question, once it is known which rows count."""


Pick = Callable[[Any, Bits], Iterable[tuple[list[tuple[Any, int]], Found]]]
"""Takes what was read and random bits; yields, for each group, the chosen labels with their true counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question about one table: which rows count, and what each group's answer may cost.

    Attributes:
        question: the question.
        setting: the setting, with the question's own condition on rows.
        table: the table.
        rows: the rows that count, and the people they belong to.
        inner: the neighbour relation for which the sensitivity of each group's scores is stated.
        epsilon_each: the ε of one group's answer.
        epsilon_people: the ε of one group's noisy number of people, or zero.
        times: the number of answers that one person can affect; their costs add up.
        group_labels: the public groups as the user writes them.
        rules: which rows count, in sentences.
        doubts: warnings about groups and conditions that the declared types rule out.
    """

    question: OfRows
    setting: Setting
    table: Table
    rows: Rows
    inner: str
    epsilon_each: Fraction
    epsilon_people: Fraction
    times: int
    group_labels: tuple[Any, ...]
    rules: Sentences
    doubts: Sentences = ()

    @property
    def everybody(self) -> int:
        """The stated number of people, or the default."""
        return self.setting.people or USUAL_PEOPLE

    @property
    def people(self) -> int:
        """The average number of people per group, from the stated number of people or its default."""
        return max(1, (self.setting.people or USUAL_PEOPLE) // self.rows.number_of_groups)

    @property
    def listed(self) -> Sequence[Any] | None:
        """The owner's list of the column's values, if there is one."""
        return self.setting.listed.get(self.question.column)

    @property
    def several_rows(self) -> bool:
        """Whether a person may have several rows."""
        return self.rows.user is not None

    def chooser(self, epsilon: Fraction, *, besides: str | None = None) -> Mechanism:
        """Return the requested mechanism at this ε."""
        return mechanism_at(self.question.mechanism, epsilon, besides=besides)

    def naming(
        self, pick: Pick, part: Part, *, share: Fraction = Fraction(0), k: int | None = None
    ) -> dict[str, Any]:
        """Release the ``k`` labels that ``pick`` chooses, or one; noisy counts take a ``share`` of ε."""
        each = self.epsilon_each * share / (k or 1)

        def choose(counted: Any, bits: Bits) -> Iterable[Found]:
            for chosen, besides in pick(counted, bits):
                if k is None and not share:
                    yield {"answer": chosen[0][0] if chosen else None, **besides}
                    continue
                found: Found = {"answer": tuple(label for label, _ in chosen)}
                if share:
                    found["count"] = tuple(
                        noisy_count(count, each, bits=bits) for _, count in chosen
                    )
                if k is None:
                    found = {name: values[0] if values else None for name, values in found.items()}
                yield found | besides

        return {
            "parts": [part, (count_promise(each), k or 1)] if share else [part],
            "choose": choose,
            "count_within": within(each) if share else None,
        }

    def plan(
        self,
        what: str,
        *,
        parts: Sequence[Part],
        mechanism: str,
        read: Callable[[Table, Rows], Any],
        choose: Callable[[Any, Bits], Iterable[Found]],
        people: Callable[[Table, Rows], Counts] | None = None,
        table: Table | None = None,
        rules: Sentences = (),
        rules_after: Callable[[Any], Sentences] = lambda _answer: (),
        doubts: Sentences = (),
        accuracy: Accuracy | None = None,
        **shape: Any,
    ) -> Plan:
        """Assemble the plan; ``people`` counts the people who take part, if ``read`` does not.

        Both read ``table``, by default the opened table.

        A group's promise holds for the inner relation. If the question uses the other relation, one change in
        that relation is two steps of the inner one, which cost as much as two people
        (``docs/proofs/question-sensitivities.md``).
        """
        rows, setting = self.rows, self.setting
        grouped = rows.by is not None
        if self.epsilon_people:
            parts = (*parts, (count_promise(self.epsilon_people), 1))
        steps = 1 if self.inner == setting.neighbours else 2
        event = event_of(
            [
                (
                    in_groups(promise, steps) if grouped else promise,
                    count * self.times // steps,
                )
                for promise, count in parts
            ],
            mechanism=mechanism,
            neighbours=setting.neighbours,
        )

        def reading(bits: Bits) -> Reading:
            # Each release assigns people to groups again, because a plan holds no randomness.
            fresh = rows.keyed(bits)

            def counts(table: Table) -> tuple[Any, list[int]]:
                counted = read(table, fresh)
                if not self.epsilon_people:
                    return counted, []
                anybody = counted if people is None else people(table, fresh)
                return counted, anybody.sum(axis=1).tolist()

            return Reading(counts, table or self.table, setting.seconds)

        def choosing(counted: tuple[Any, list[int]], bits: Bits) -> Iterable[Found]:
            for place, found in enumerate(choose(counted[0], bits)):
                if self.epsilon_people:
                    found["people"] = noisy_count(counted[1][place], self.epsilon_people, bits=bits)
                yield found

        asked = {f"{what} of": self.question.column, "by": rows.by, "where": setting.where}
        narrowed = [
            f", {name} {each}" for name, each in asked.items() if each and name in ("by", "where")
        ]
        guarantee = guarantee_of(event, parts, grouped=grouped, assumes=setting.assumes)
        return Plan(
            question=self.question,
            title=self.question.title + "".join(narrowed),
            words=", ".join(f"{name} {each}" for name, each in asked.items() if each is not None),
            event=event,
            guarantee=guarantee,
            read=reading,
            choose=choosing,
            rules=tuple(dict.fromkeys(self.rules + rules + about_price(guarantee, setting.people))),
            rules_after=rules_after,
            doubts=self.doubts + doubts,
            accuracy=accuracy,
            groups=self.group_labels if grouped else None,
            shape={
                **shape,
                "by": rows.by,
                "engine": self.table.frames,
                "assigned": rows.assigns if grouped else None,
                "people_within": within(self.epsilon_people) if self.epsilon_people else None,
            },
        )
