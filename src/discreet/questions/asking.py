"""A question about an opened table: which rows count, what an answer may cost, and how a plan is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet._exact.sampling import Bits
from discreet._tables import Rows, Table
from discreet._tables.counts import Counts
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.registry import mechanism_at
from discreet.questions.accuracy import Accuracy
from discreet.questions.costs import Part, event_of, guarantee_of, in_groups
from discreet.questions.plan import USUAL_PEOPLE, Found, Plan, Reading, Setting
from discreet.questions.rules import Sentences, about_price
from discreet.questions.scoring import count_promise, noisy_count, within

if TYPE_CHECKING:
    from discreet.questions.of_rows import OfRows

Pick = Callable[[Any, Bits], Iterable[tuple[list[tuple[Any, int]], Found]]]
"""A function from what was read, and random bits, to each group's chosen labels with their true counts."""


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
        doubts: warnings about groups and conditions that the declared types or the owner's lists rule out.
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
        """The number of people in the table, as the owner states it; by default 1000."""
        return self.setting.people or USUAL_PEOPLE

    @property
    def people(self) -> int:
        """The number of people per group: ``everybody`` divided by the number of groups, at least 1."""
        return max(1, (self.setting.people or USUAL_PEOPLE) // self.rows.number_of_groups)

    @property
    def assuming(self) -> str:
        """The assumption about people that typical errors rely on, in words; empty if there is none."""
        where, groups = self.question.where, self.rows.number_of_groups
        if self.setting.people:  # how many of them meet a condition is not public
            return "" if where is None else "that everybody meets the condition"
        people = f"{USUAL_PEOPLE:,} people" + ("" if where is None else " who meet the condition")
        return people if groups == 1 else f"{people} in {groups:,} groups"

    @property
    def listed(self) -> Sequence[Any] | None:
        """The owner's list of the column's values, if there is one."""
        return self.setting.listed.get(self.question.column)

    @property
    def several_rows(self) -> bool:
        """Whether a person may have several rows."""
        return self.rows.user is not None

    def chooser(self, epsilon: Fraction, *, besides: str | None = None) -> Mechanism:
        """Return the requested mechanism at this ε, by default permute-and-flip; see ``mechanism_at``."""
        return mechanism_at(self.question.mechanism, epsilon, besides=besides)

    def naming(
        self, pick: Pick, part: Part, *, share: Fraction = Fraction(0), k: int | None = None
    ) -> dict[str, Any]:
        """Return the arguments that make ``plan`` release the labels chosen by ``pick``.

        With ``k`` the answer is a tuple of labels, otherwise a single label. With ``share``, their noisy
        counts are released too, for this share of ε. ``part`` is the guarantee of the choice.
        """
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
        """Assemble the plan from its parts and from the functions that count and choose.

        ``read`` and ``people`` count in ``table``, by default the opened table. ``people`` counts all who
        take part; without it, their number is the sum of the counts from ``read``.

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
