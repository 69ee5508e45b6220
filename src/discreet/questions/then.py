"""A question that follows another: the first one's answer becomes a field of the second.

This is how groups are found without a public list, and how a bound on groups per person is chosen. Both
questions together have one price, known before anything is paid: the second is planned for the most expensive
answer of the first. ``docs/proofs/groups-from-the-data.md`` proves the guarantee.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import Number, refuse, whole
from discreet._exact.sampling import Bits, SecureBits
from discreet._exact.sampling.keeping import kept
from discreet._tables import Rows, Table
from discreet._tables.counts import (
    Counts,
    people_per_group,
    people_per_number_of_groups,
)
from discreet.accounting import Event
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, ApproxZCDP, PureDP
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms import PermuteAndFlip
from discreet.questions.candidates import candidates_of
from discreet.questions.costs import IN_ANSWERS, event_of, guarantee_of
from discreet.questions.of_rows import Grouped, column_named, of_one_person
from discreet.questions.plan import Found, Plan, Reading, Setting, plan_of
from discreet.questions.question import Labels, Question, field, fields_of, labels, level, value
from discreet.questions.rules import about_chosen_bound, about_found_groups
from discreet.questions.scoring import quantile_scores
from discreet.questions.unknown_domain import (
    BY_WEIGHTS,
    EXAMPLES,
    KEPT,
    KEPT_BY,
    WEIGHED,
    keeping_at,
    kept_by_weights,
    read_shares,
    weighings_for,
)

COVERED = Fraction(9, 10)
"""The share of people who should count in all of their groups, if the bound is chosen privately."""
_FINDING, _CHOOSING = Fraction(1, 2), Fraction(1, 10)
_MOST_LISTED = 1_000_000
"""The largest ``groups_per_person`` allowed: a plan made before groups are found lists this many samples."""


@value
class _First(Question):
    """A question that is asked before another one, about the groups of a column."""

    by: str = field("The column of the groups.", kw_only=False, check=column_named, takes="COLUMN")
    where: str | None = field("Only rows for which this holds.", default=None, takes="CONDITION")

    @abstractmethod
    def dearest(self, setting: Setting, second: Question) -> list[Any]:
        """Return a few possible answers; one of them makes the second question as expensive as it can be.

        ε is the same for all answers, and δ is a convex function of the number of groups in which a person
        counts, so either the smallest or the largest number costs the most
        (``docs/proofs/groups-from-the-data.md``).
        """


@value
class FoundGroups(_First, kind="groups"):
    """The groups of a column that have enough people to be named safely."""

    delta: Number = field(
        "The largest probability with which the guarantee may fail.", check=level, takes="NUMBER"
    )
    groups_per_person: int = field(
        "Each person counts in at most this many of their groups, drawn at random.",
        default=1,
        check=of_one_person,
        takes="COUNT",
    )

    def dearest(self, setting: Setting, second: Question) -> list[Any]:
        """Return sample answers: as many groups as a person may count in and, if different, one group."""
        kind = setting.opened(tells_apart=(self.by,)).kind(self.by, name="by")
        if kind not in EXAMPLES:
            raise refuse("by", self.by, "a column of texts, whole numbers, decimals or dates")
        assert isinstance(second, Grouped)
        most = whole("groups_per_person", second.groups_per_person)
        if most > _MOST_LISTED:
            raise refuse("groups_per_person", most, f"a whole number from 1 to {_MOST_LISTED:,}")
        groups = tuple(map(EXAMPLES[kind], range(min(most, 2) if kind == "boolean" else most)))
        return [groups, groups[:1]] if most > 1 else [groups]

    def plan(self, setting: Setting) -> Plan:
        """Plan to find groups; public facts decide whether each person counts in one group or in several."""
        setting = setting.narrowed(self.where)
        table = setting.opened(tells_apart=(self.by,))
        if not table.engine.finds_groups:
            raise ParameterError("in a database ⟨by⟩ needs ⟨groups⟩, a public list")
        delta, most = Fraction(self.delta), self.groups_per_person
        keeping = keeping_at(self.total, delta, setting.neighbours)
        weighings = None
        if setting.user is not None:
            weighings = weighings_for(keeping, self.total, delta, setting.neighbours, most)
        rows = Rows(
            user=setting.user,
            counted=setting.counted,
            where=setting.condition,
            by=self.by,
            groups_per_person=most,
        )

        def choose(counted: Any, bits: Bits) -> Iterable[Found]:
            if weighings is None:
                named = {label: people for label, people in counted if _is_a_name(label)}
                sizes = np.array(list(named.values()), dtype=np.int64)
                safe = kept(sizes, keeping=keeping, bits=bits)
                groups = {label for label, is_safe in zip(named, safe, strict=True) if is_safe}
            else:
                groups = kept_by_weights(counted, weighings, bits, is_name=_is_a_name)
            # Sort by label: an order by number of people would reveal something about these numbers.
            yield {"answer": tuple(sorted(groups))}

        proof = KEPT if weighings is None else WEIGHED
        stated = ApproxDP(self.total, delta).resting_on(proof, {"then": proof})
        promise = stated
        if weighings is not None:
            promise = ApproxZCDP(*stated.exact, weighings.rho, weighings.unsafe)
            promise = promise.resting_on(proof, stated.direct)
        read = people_per_group if weighings is None else read_shares
        how = KEPT_BY[setting.neighbours] if weighings is None else BY_WEIGHTS
        return Plan(
            question=self,
            title=f"groups of {self.by}",
            words=f"groups of {self.by}",
            event=Event(promise, mechanism=f"groups {how}", neighbours=setting.neighbours),
            guarantee=stated,
            read=lambda bits: _reading(read, table, rows.keyed(bits), setting),
            choose=choose,
            rules=about_found_groups(
                self.by,
                one=setting.several_rows and weighings is None,
                weighed=None
                if weighings is None
                else (
                    most,
                    weighings.people(most),
                    weighings.people_for_sure(most),
                    most * (keeping.turn + 1),
                ),
            ),
        )


def _reading(
    count: Callable[[Table, Rows], Any], table: Table, rows: Rows, setting: Setting
) -> Reading:
    return Reading(lambda asked: count(asked, rows), table, setting.seconds)


def _is_a_name(label: Any) -> bool:
    """Return whether a group can be named; a blank or misencoded text cannot."""
    return not isinstance(label, str) or bool(
        label.strip() and "\N{REPLACEMENT CHARACTER}" not in label
    )


@value
class ChosenBound(_First, kind="groups_per_person"):
    """A bound on groups per person that about nine in ten people do not exceed."""

    groups: Labels = field("The public groups.", check=labels, takes="LIST")

    def dearest(self, setting: Setting, second: Question) -> list[Any]:  # noqa: ARG002 - same as others
        """Return two possible bounds, the number of all groups and 1; one of them costs the most."""
        return sorted({len(self._rows(setting).groups), 1}, reverse=True)

    def _rows(self, setting: Setting) -> Rows:
        table = setting.opened(tells_apart=(self.by,))
        public = candidates_of(table, self.groups, column=self.by, name="groups")
        return Rows(
            user=setting.user,
            where=setting.condition,
            by=self.by,
            groups=public.keys,
            period=public.period,
        )

    def plan(self, setting: Setting) -> Plan:
        """Plan to choose the bound privately, as a quantile of the number of groups per person."""
        if setting.user is None:
            raise ParameterError("⟨groups_per_person⟩ needs ⟨by⟩ and ⟨user⟩")
        setting = setting.narrowed(self.where)
        table, rows = setting.opened(tells_apart=(self.by,)), self._rows(setting)
        chooser = PermuteAndFlip(epsilon=self.total)

        def choose(people: Counts, bits: Bits) -> Iterable[Found]:
            scores = quantile_scores(people, COVERED, neighbours=setting.neighbours)
            yield {"answer": chooser._choose(scores, bits) + 1}

        promise = PureDP(self.total).resting_on(CLAIMS["chosen bound", "PureDP"], IN_ANSWERS)
        return Plan(
            question=self,
            title=f"groups of {self.by} for each person",
            words=f"groups of {self.by} for each person",
            event=Event(
                promise,
                mechanism="a bound on groups by permute-and-flip",
                neighbours=setting.neighbours,
            ),
            guarantee=promise,
            read=lambda bits: _reading(
                people_per_number_of_groups, table, rows.keyed(bits), setting
            ),
            choose=choose,
            rules=(),
            rules_after=lambda most: about_chosen_bound(most, self.total, COVERED),
        )


@value
class Then(Question, kind="then"):
    """Two questions: the second uses the first one's answer, and is not asked if the first finds nothing.

    Example:
        >>> from discreet.questions import Mode
        >>> codes = Mode("diagnosis", candidates=["flu", "cold"], by="clinic", delta="1e-6", epsilon=1)
        >>> from discreet.questions.then import in_found_groups
        >>> in_found_groups(codes).first
        FoundGroups('clinic', delta=1e-06, epsilon=0.5)
    """

    first: Question = field("The question that is asked first.")
    second: Question = field("The question that is asked second.")
    into: str = field("The field of the second question that takes the answer of the first.")

    def __post_init__(self) -> None:
        if not isinstance(self.first, _First) or self.first.epsilon is None:
            allowed = "a question that finds groups or a bound on them, with its ⟨epsilon⟩"
            raise refuse("first", self.first, allowed)
        if not isinstance(self.second, Question) or self.second.epsilon is None:
            raise refuse("second", self.second, "a question with its ⟨epsilon⟩")
        if self.into not in [each.name for each in fields_of(type(self.second))]:
            raise refuse("into", self.into, f"a field of {type(self.second).__name__}")
        object.__setattr__(self, "epsilon", self.first.total + self.second.total)
        object.__setattr__(self, "purpose", self.purpose or self.second.purpose)
        super().__post_init__()

    def plan(self, setting: Setting) -> Plan:
        """Plan both questions; the price is the sum of their prices."""
        assert isinstance(self.first, _First)
        # The second question is charged by its ε, because it is not known yet which answers it will give.
        setting = replace(setting, accountant=None)
        first = plan_of(self.first, setting)
        ends = [
            plan_of(self._second(answer), setting)
            for answer in self.first.dearest(setting, self.second)
        ]
        second = max(ends, key=lambda plan: plan.guarantee.figures.get("delta", 0))
        inner = second.guarantee
        if not isinstance(inner, PureDP | ApproxDP):
            raise ParameterError(
                f"{second.event.mechanism} has no guarantee in ε for groups found in this way"
            )
        parts = [(first.event.guarantee, 1), (inner, 1)]
        event = event_of(
            parts,
            mechanism=f"{second.event.mechanism}; {first.event.mechanism}",
            neighbours=setting.neighbours,
        )
        return Plan(
            question=self,
            title=second.title,
            words=f"{second.words}, {first.event.mechanism}",
            event=event,
            guarantee=guarantee_of(event, parts, assumes=setting.assumes),
            # Both are paid for at once, so both are tried out first.
            read=lambda bits: replace(
                first.read(bits), following=lambda: second.read(SecureBits())
            ),
            choose=first.choose,
            rules=first.rules,
            rules_after=first.rules_after,
            doubts=second.doubts,
            accuracy=second.accuracy,
            then=lambda answer: plan_of(self._second(answer), setting) if answer else None,
        )

    def _second(self, answer: Any) -> Question:
        return self.second.given(self.into, answer)


def in_found_groups(question: Grouped) -> Then:
    """Return a question that uses δ and part of ε to find the groups of ``by``, then asks ``question``."""
    assert question.by is not None
    part = _FINDING if question.groups_share is None else Fraction(question.groups_share)
    finding = FoundGroups(
        question.by,
        epsilon=question.total * part,
        delta=question.delta_each,
        where=question.where,
        groups_per_person=whole("groups_per_person", question.groups_per_person),
    )
    rest = question.changed(epsilon=question.total * (1 - part))
    return Then(first=finding, second=rest, into="groups")


def in_bounded_groups(question: Grouped) -> Then:
    """Return a question that uses part of ε to choose ``groups_per_person``, then asks ``question``."""
    assert question.by is not None
    part = _CHOOSING if question.groups_share is None else Fraction(question.groups_share)
    bound = ChosenBound(
        question.by, groups=question.groups, epsilon=question.total * part, where=question.where
    )
    rest = question.changed(epsilon=question.total * (1 - part))
    return Then(first=bound, second=rest, into="groups_per_person")
