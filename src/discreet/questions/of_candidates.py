"""Questions whose answers are public candidates, points of a public grid, or values that are safe to name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import Number, refuse, whole
from discreet._tables import Table
from discreet._tables.counts import Counts
from discreet._tables.moments import RECURRING
from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism
from discreet.questions.accuracy import (
    PEOPLE,
    Accuracy,
    Errors,
    falling_counts,
    few_places,
    nearly_equal_counts,
    proved_bound,
)
from discreet.questions.asking import Asking
from discreet.questions.candidates import Contest, contest_of, in_the_cluster
from discreet.questions.of_rows import Grouped
from discreet.questions.plan import Plan
from discreet.questions.question import Labels, field, flag, labels, share, value
from discreet.questions.rules import Sentences, of_people
from discreet.questions.unknown_domain import CONSIDERED


def recurring(name: str, given: Any) -> str:
    """Check that this names a kind of recurring period, such as ``weekday``."""
    if not isinstance(given, str) or given not in RECURRING:
        raise refuse(name, given, "one of " + ", ".join(RECURRING))
    return given


def label(name: str, given: Any) -> str:
    """Check the label of an additional candidate."""
    if not isinstance(given, str) or not given.strip():
        raise refuse(name, given, "a label, such as 'other'")
    return given


@value
class OfCandidates(Grouped):
    """A question that chooses among candidates by the number of people who have each."""

    candidates: Labels = field(
        "The public candidates: a list, a range such as 1980:1987, or a file with one on each line. "
        "Without them, with ⟨delta⟩, only values with enough people are named.",
        default=None,
        check=labels,
        takes="LIST",
    )
    period: str | None = field(
        "Instead of ⟨candidates⟩, for a column of dates or moments: weekday, hour of day or month of year.",
        default=None,
        check=recurring,
        takes="NAME",
        advanced=True,
    )
    bounds: Labels = field(
        "Instead of ⟨candidates⟩: the public bounds of a grid; a value counts for the grid point at or below "
        "it.",
        default=None,
        check=labels,
        takes="LOWER:UPPER",
        advanced=True,
    )
    step: Any = field(
        "With ⟨bounds⟩: the distance between grid points, such as 5, 1d or 15min.",
        default=1,
        takes="NUMBER",
        advanced=True,
    )
    other: str | None = field(
        "With ⟨candidates⟩: the label of one more candidate, for every value that is not on the list.",
        default=None,
        check=label,
        takes="LABEL",
        advanced=True,
    )
    considered: int = field(
        "Without ⟨candidates⟩: at most this many values compete.",
        default=CONSIDERED,
        check=whole,
        takes="COUNT",
        option=False,
    )
    with_count: bool = flag(
        "Also release a noisy count of each answer, for a quarter of ⟨epsilon⟩.",
        default=False,
        analyst=True,
    )
    count_share: Number = share("The part of ⟨epsilon⟩ for ⟨with_count⟩.", default="1/4")

    @property
    def names_values(self) -> bool:
        """Whether the answers themselves come from the data, which requires a δ."""
        public = (self.candidates, self.bounds, self.period)
        return all(given is None for given in public) and self.delta is not None

    @property
    def counting_share(self) -> Fraction:
        """The part of ε that is spent on noisy counts."""
        return Fraction(self.count_share) if self.with_count else Fraction(0)

    def _require(self) -> None:
        super()._require()
        if self.period is not None and (self.candidates, self.bounds) != (None, None):
            raise ParameterError("give one of ⟨candidates⟩, ⟨bounds⟩ and ⟨period⟩")
        if self.by is not None and self.groups is None:
            return  # finding the groups also takes δ, so this is checked again afterwards
        if self.delta is not None and not self.names_values:
            raise refuse("delta", self.delta, "left out with public candidates")
        if self.names_values and self.other is not None:
            raise ParameterError("⟨other⟩ needs public candidates")

    def public_values(self, table: Table) -> dict[str, list[Any]]:
        """Return the public groups and candidates (at most 512) by column."""
        groups = super().public_values(table)
        if self.names_values or in_the_cluster(self.candidates):
            return groups
        contest = self.contest(table)
        return groups | {self.column: [contest.label(place) for place in few_places(len(contest))]}

    def contest(self, table: Table, *, listed: Sequence[Any] | None = None) -> Contest:
        """Return the candidates and the functions that count their people; ``listed`` is the owner's list."""
        if self.period is not None and table.ordered_kind(self.column) not in ("date", "moment"):
            raise ParameterError(
                f"⟨period⟩ needs a column of dates or moments, and {self.column!r} is "
                f"{table.described(self.column)}"
            )
        return contest_of(
            table,
            self.column,
            self.candidates if self.period is None else self.period,
            bounds=self.bounds,
            step=self.step,
            other=self.other,
            listed=listed,
        )

    def plan_among(
        self, asking: Asking, contest: Contest, what: str, *, rules: Sentences = (), **terms: Any
    ) -> Plan:
        """Plan to choose among the candidates of a contest, by how many people have each."""
        return asking.plan(
            what,
            table=contest.table,
            read=contest.count,
            people=contest.anybody,
            rules=contest.rules + rules,
            rules_after=contest.remarks,
            doubts=contest.doubts,
            **terms,
        )

    def accuracy(
        self,
        asking: Asking,
        epsilon: Fraction,
        *,
        ways: int,
        distance: int,
        size: int,
        errors: Callable[[Counts], Errors],
        chooser: Mechanism | None = None,
        meaning: str,
    ) -> Accuracy:
        """Return the accuracy of one choice among ``ways`` options: by how many people it falls short.

        ``distance`` is the range distance of the scores. ``errors`` returns the distribution of the shortfall
        on given counts of ``size`` candidates.
        """
        people, level = asking.people, Fraction(self.with_probability)
        return Accuracy(
            proved_bound(chooser, distance / epsilon, ways, level),
            level,
            PEOPLE,
            meaning,
            f"{of_people(f'{people:,}')} whose counts fall off as 1, 1/2, 1/3, ...",
            lambda: errors(falling_counts(people, size)),
            most=asking.setting.people,
            assuming=asking.assuming,
            among=people,
            flat=lambda: errors(nearly_equal_counts(people, size)),
            caution="there is only one candidate, so the answer is known without asking"
            if size == 1
            else "",
        )


def set_shortfall(counts: Counts, chosen: Any) -> float:
    """Compute the shortfall of an unordered choice, after sorting the chosen candidates by their counts."""
    return shortfall(counts, np.array(chosen)[np.argsort(-counts[list(chosen)])])


def shortfall(counts: Counts, chosen: Any) -> float:
    """Compute the largest amount by which a chosen count is below the true count of its rank."""
    best = np.sort(counts)[::-1][: len(chosen)]
    return max(0.0, float((best - counts[list(chosen)]).max()))
