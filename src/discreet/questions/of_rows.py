"""Base of all questions about a column: which rows count, in which groups, and how a plan is made."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import Number, probability, refuse, shown, whole
from discreet._exact.sampling.weighing import UNIT
from discreet._tables import Rows, Table
from discreet._tables.where import condition_text
from discreet.errors import ParameterError
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.asking import Asking
from discreet.questions.candidates import candidates_of
from discreet.questions.plan import Plan, Setting
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
from discreet.questions.rules import (
    Sentences,
    about_condition,
    about_period,
    about_public,
    about_rows,
    about_texts,
    about_types,
    about_undeclared,
)

NO_MATCH = (
    "If no row matches, the answer is {}. --with-people shows how many people counted, "
    "for a share of epsilon."
)
"""Help text for commands that also answer on an empty table."""
_PUBLIC = ("candidates", "groups", "bounds")
"""The parameters that would reveal values if they were made from the rows."""
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
    """Check a limit on the groups or values of one person: a whole number that is not too large."""
    number = whole(name, given)
    if number > _MOST_OF_ONE:
        raise refuse(name, given, f"a whole number from 1 to {_MOST_OF_ONE:,}")
    return number


def groups_each(name: str, given: Any) -> int | str:
    """Check a limit on the groups of one person: a whole number, or ``choose`` to find it privately."""
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
        check=condition_text,
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
        # Replacing a person removes one and adds another, perhaps in other groups, so both costs add up.
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
            rules=about_rows(rows, where=setting.where, epsilon_each=each)
            + about_public([name for name in _PUBLIC if self._states(name)])
            + spelled
            + periods
            + about_undeclared(table, (self.column, setting.user, by), setting.read_as)
            + doubts,
            doubts=doubts,
        )

    def _states(self, name: str) -> bool:
        """Whether the owner or the analyst stated this parameter; labels found in the data do not count."""
        given = getattr(self, name, None)
        return given is not None and not isinstance(given, FoundLabels)


@value
class Grouped(OfRows):
    """A question about a column that can be answered for each group of another column.

    Price with groups: a person counts in at most m = ``groups_per_person`` groups, so each group's answer
    gets ε/m. Under replacement it gets ε/(2m), because the new person may be in other groups
    (``answer_pure_dp``). Without a list of groups, finding them takes δ and a share of ε;
    ``found_groups_approx_dp`` then covers the whole answer (``docs/proofs/groups-from-the-data.md``).
    Without a list of values, naming them also takes δ: ``unknown_domain_rounds_approx_dp`` covers the choice,
    and ``unknown_domain_then_approx_dp`` covers counts or numbers of people as well
    (``docs/proofs/unknown-domain.md``).
    """

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
            raise ParameterError("⟨groups⟩ needs ⟨by⟩, the column of the groups")
        if self.groups_per_person != 1 and self.by is None:
            raise ParameterError("⟨groups_per_person⟩ needs ⟨by⟩ and ⟨user⟩")
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
                f'⟨groups_share⟩ needs ⟨by⟩ without ⟨groups⟩, or ⟨groups_per_person⟩"{CHOOSE}"'
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
        """The δ for finding groups: all of ``delta``, or half of it if values come from the data as well."""
        return Fraction(self.delta or 0) / (2 if self.names_values else 1)

    def given(self, name: str, answer: Any) -> Question:
        """Return the question with ``groups`` or ``groups_per_person`` set to an earlier answer."""
        delta = self.delta
        if name == "groups":  # the δ for finding groups is spent separately
            delta = self.delta_each if self.names_values else None
            answer = FoundLabels(answer)
        return self.changed(**{name: answer, "groups_share": None, "delta": delta})

    def asking(self, setting: Setting) -> Asking:
        """Open the table and determine which of its rows count in which groups; no row is read."""
        if self.groups_per_person != 1 and setting.user is None:
            raise ParameterError("⟨groups_per_person⟩ needs ⟨by⟩ and ⟨user⟩")
        most = whole("groups_per_person", self.groups_per_person)
        return self._asked(setting.narrowed(self.where), by=self.by, groups=self.groups, most=most)

    def plan(self, setting: Setting) -> Plan:
        """Plan the question; if ``groups`` or ``groups_per_person`` must be found first, plan that too."""
        from discreet.questions.then import in_bounded_groups, in_found_groups

        if self.by is not None and self.groups is None:
            return in_found_groups(self).plan(setting)
        if self.groups_per_person == CHOOSE:
            return in_bounded_groups(self).plan(setting)
        return self.planned(self.asking(setting))

    def public_values(self, table: Table) -> dict[str, list[Any]]:
        """Return the public groups under the name of their column, if there are any."""
        if self.by is None or self.groups is None:
            return {}
        public = candidates_of(table, self.groups, column=self.by, name="groups")
        return {self.by: list(public.values)}

    @abstractmethod
    def planned(self, asking: Asking) -> Plan:
        """Plan the question; ``asking`` states which rows count."""
