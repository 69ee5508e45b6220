"""The first public group, in a given order, whose number of people reaches a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet._exact.numbers.exact import Number, finite, float_up, refuse, whole
from discreet._exact.sampling import Bits
from discreet._tables import Table, people_per_candidate
from discreet._tables.counts import Counts, people_with_any
from discreet.analysis import epsilon_for_threshold
from discreet.errors import ParameterError
from discreet.mechanisms.above_threshold import CrossingRule
from discreet.mechanisms.registry import STREAMS
from discreet.questions.accuracy import MOST_POINTS, PEOPLE, Accuracy, drawn
from discreet.questions.candidates import Candidates, candidates_of
from discreet.questions.costs import ANSWER, IN_ANSWERS, IN_RHO, WITH_A_GAP
from discreet.questions.of_rows import OfRows
from discreet.questions.plan import Found, Plan, Setting
from discreet.questions.question import Labels, field, flag, labels, value
from discreet.questions.rules import about_period, about_threshold, about_types, of_people
from discreet.questions.scoring import count_sensitivity, resting


def stream_named(name: str, given: Any) -> str:
    """Check that this is the name of a registered above-threshold mechanism."""
    if not isinstance(given, str) or given not in STREAMS:
        raise refuse(name, given, "one of " + ", ".join(STREAMS))
    return given


@value
class FirstAbove(OfRows, kind="first_above", label="First group with enough people"):
    """The first of a column's public ``groups`` that has enough people, or none.

    Each group, in the order given, is compared with the threshold ``above``, with noise. A person counts once
    in each group in which they have rows. ε does not grow with the number of groups.

    Price: the threshold's noise costs one part of ε, and each group that may be named costs another. Groups
    below the threshold cost nothing. ``answer_pure_dp`` covers all steps from the table to ε
    (``docs/proofs/above-threshold.md``).

    Example:
        >>> import discreet, polars as pl
        >>> weeks = [f"2026-W{week:02}" for week in (1, 2, 3) for _ in range(300 * week)]
        >>> visits = pl.DataFrame({"patient": range(1800), "week": weeks})
        >>> table = discreet.table(visits, user="patient", ledger=None)
        >>> release = table.ask(FirstAbove("week", groups="2026-W01:2026-W04", above=500, epsilon=1))
        >>> release.answer, release.guarantee
        ('2026-W02', PureDP(1))
    """

    completed_by: ClassVar[tuple[str, ...]] = ("groups",)
    command: ClassVar[tuple[str, str, str] | None] = (
        "first",
        "The first of several ordered groups that has enough people, or none.\n\n"
        "A person counts once in each group in which they have rows. The cost is the same for any "
        "number of groups.",
        "discreet first visits.parquet --dataset clinic --column week --user patient_id "
        "--groups 2026-W01:2026-W52 --where \"diagnosis = 'flu'\" --above 500 --epsilon 0.5",
    )

    groups: Labels = field(
        "The public values of the column in their order: a list, a file, or a range such as "
        "2026-W01:2026-W52.",
        default=None,
        check=labels,
        takes="LIST",
    )
    above: Number = field(
        "The number of people to reach; it is public.",
        check=finite,
        takes="NUMBER",
        example="100",
        analyst=True,
    )
    crossings: int | None = field(
        "Name up to this many groups, in their order; by default only the first, as a single value.",
        default=None,
        check=whole,
        takes="COUNT",
        analyst=True,
    )
    with_gap: bool = flag(
        "Also release, at no extra cost, by how many people each named group passes the threshold, "
        "with noise.",
        default=False,
    )
    mechanism: Any = field(
        "above-threshold-laplace, for comparison.",
        default=None,
        check=stream_named,
        takes="NAME",
        advanced=True,
    )

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"first {self.column} with {of_people(f'{float(self.above):g}')} or more"

    def _public(self, table: Table) -> Candidates:
        return candidates_of(table, self.groups, column=self.column, name="groups")

    def public_values(self, table: Table) -> dict[str, list[Any]]:
        """Return the public groups, under the name of the column."""
        return {self.column: list(self._public(table).values)}

    def plan(self, setting: Setting) -> Plan:
        """Plan to compare the groups with the threshold, in their order."""
        if self.groups is None:
            raise ParameterError(
                "⟨groups⟩ must be given: the values of the column in their order, as a list, a file, or a "
                "range such as 2026-W01:2026-W52; groups read from the data would show that "
                "somebody has that value"
            )
        asking = self.asking(setting)
        table, column = asking.table, self.column
        moved = count_sensitivity(asking.inner)
        public = self._public(table)
        rule = STREAMS[self.mechanism or "above-threshold"](
            asking.epsilon_each,
            threshold=self.above,
            sensitivity=moved.delta,
            crossings=self.crossings or 1,
            monotonic=moved.monotonic,
        )
        if rule.crossings > len(public):  # further crossings would only waste ε
            raise refuse(
                "crossings", self.crossings, f"at most the number of groups, {len(public)}"
            )

        promise = resting(rule.guarantee(), moved)
        if rule.noise == "exponential":
            promise = promise.resting_on(
                ANSWER, WITH_A_GAP if self.with_gap else IN_ANSWERS | IN_RHO
            )

        def choose(counted: Counts, bits: Bits) -> Iterable[Found]:
            for people in counted:
                drawn = rule.draw(bits)
                if self.with_gap:
                    found: list[tuple[int, int]] = []
                    for place, count in enumerate(people.tolist()):
                        gap = drawn.gap(count, rule.sensitivity)
                        if gap is not None:
                            found.append((place, gap))
                        if len(found) == rule.crossings:
                            break
                    places, gaps = [place for place, _ in found], tuple(gap for _, gap in found)
                else:
                    places, gaps = drawn.crossings(people, rule.crossings), ()
                said: Found = {"answer": tuple(public.labels[place] for place in places)}
                if self.with_gap:
                    said["gap"] = gaps
                if self.crossings is None:
                    said = {name: values[0] if values else None for name, values in said.items()}
                yield said

        doubts = about_types(table, column, public, name="groups", listed=asking.listed)
        return asking.plan(
            f"first above {rule.threshold}",
            parts=[(promise, 1)],
            mechanism=rule.name,
            read=lambda table, rows: people_per_candidate(
                table, rows, column=column, keys=public.keys, period=public.period
            ),
            people=lambda table, rows: people_with_any(
                table, rows, column=column, keys=public.keys, period=public.period
            ),
            choose=choose,
            rules=about_threshold(rule, len(public)) + about_period(table, column, public) + doubts,
            doubts=doubts,
            threshold=rule.threshold,
            accuracy=self._accuracy(rule, asking.epsilon_each, len(public)),
        )

    def _accuracy(self, rule: CrossingRule, epsilon: Fraction, groups: int) -> Accuracy | None:
        if self.crossings is not None:
            return None
        threshold = float(rule.threshold)
        stated = threshold < 2.0**60  # no table has more people
        highest = max(2 * threshold, 2.0) if stated else 0.0
        rising: Counts = np.linspace(0, highest, min(groups, MOST_POINTS)).astype(np.int64)

        def name_first(counted: Counts, bits: Bits) -> Iterable[list[int]]:
            return (rule.draw(bits).crossings(people, 1) for people in counted)

        def error(counts: Counts, named: Sequence[int]) -> float:
            """Return by how many people the named group is too small, or a skipped group too large."""
            place = named[0] if len(named) else len(counts)
            below = [threshold - counts[place]] if place < len(counts) else []
            return float(max([0.0, *below, *(counts[:place] - threshold)]))

        # Only the product of ε and the margin matters.
        needed = epsilon_for_threshold(
            self.mechanism or "above-threshold",
            n=groups,
            margin=1,
            with_probability=self.with_probability,
            monotonic=rule.monotonic,
        )
        return Accuracy(
            float_up(Fraction(needed) / epsilon),
            Fraction(self.with_probability),
            PEOPLE,
            f"the answer is right if the counts of all {groups:,} groups are at least this far from the "
            "threshold",
            "groups whose numbers of people rise evenly from none to twice the threshold",
            (lambda: drawn(rising, name_first, error, 1)) if stated else None,
            among=math.ceil(highest) if stated else None,
        )
