"""Questions for the median, one quantile or several quantiles of a column, on a public grid.

Several quantiles are found by the recursive scheme of Kaplan, Schnapp and Stemmer (2022), which shares the
budget over its depths. It finds the middle quantile first, then the lower ones among the people below it and
the upper ones among the people above it. At each depth a person is in one part only, so the cost grows with
the depth, not with the number of quantiles (``docs/proofs/quantiles.md``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet._exact.numbers.exact import Number
from discreet._exact.sampling import Bits
from discreet._exact.sampling.discrete_noise import halved
from discreet._tables import Table, people_per_grid_point
from discreet._tables.counts import Counts
from discreet.analysis.rank_error import FINEST, USUAL, fineness, most_sharing, rank_error
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, LaplaceDominated
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms.mechanism import Mechanism
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.accuracy import (
    BOUNDED,
    PEOPLE,
    Accuracy,
    Errors,
    drawn,
    even_counts,
    exactly,
    few_places,
)
from discreet.questions.asking import Asking
from discreet.questions.costs import ANSWER, IN_ANSWERS, IN_RHO, mixed
from discreet.questions.of_rows import NO_MATCH, Grouped
from discreet.questions.ordered import ColumnGrid, column_grid
from discreet.questions.plan import Found, Plan
from discreet.questions.question import Labels, field, labels, one_of, value
from discreet.questions.rules import (
    OUTSIDE,
    PER_PERSON,
    about_ends,
    about_several,
    about_values,
    of_people,
)
from discreet.questions.scoring import (
    LARGEST_DENOMINATOR,
    choices,
    label_of,
    level_of,
    quantile_scores,
    quantile_sensitivity,
    quantile_values,
    resting,
)


def levels(name: str, given: Any) -> tuple[Fraction, ...]:
    """Return the levels as fractions; they must increase and have a common denominator up to a million."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ParameterError(
            f"⟨{name}⟩{given!r} is not allowed: give a list of levels, such as [0.1, 0.5, 0.9]"
        )
    found = tuple(level_of(each, name=name) for each in given)
    if sorted(set(found)) != list(found):
        raise ParameterError(f"⟨{name}⟩{given!r} is not allowed: levels must increase")
    if math.lcm(*(each.denominator for each in found)) > LARGEST_DENOMINATOR:
        raise ParameterError(
            f"⟨{name}⟩{given!r} is not allowed: their common denominator is above a million"
        )
    return found


@value
class OnGrid(Grouped):
    """A question about the order of a column's values, answered by points of a public grid.

    The candidates are the grid points between the public ``bounds``, ``step`` apart; without bounds they are
    the points of a default grid. Nulls, NaN, infinities and texts that are not numbers are left out; a person
    counts with one number, computed from their remaining values by the rule ``per_person``. The column holds
    numbers, decimals, dates, times or time spans; in a text file the notation of ``bounds``, or
    ``TextFile.read_as``, determines which.

    Price: a person has a single place on the grid. For a level a/b the scores are in units of 1/b. Adding or
    removing a person moves each score by at most max(a, b − a), and replacing one moves it by at most b, in
    either direction. A choice with noise for twice that distance costs ε: ``quantile_pure_dp``
    (``docs/proofs/question-sensitivities.md``).
    """

    bounds: Labels = field(
        "The public bounds, such as 0:120, 2020-01-01:2024-12-31 or 08:00/18:00. The answer is more "
        "accurate with bounds.",
        default=None,
        check=labels,
        takes="LOWER:UPPER",
    )
    step: Any = field(
        "The distance between grid points, such as 5, 1d or 15min.", default=1, takes="NUMBER"
    )
    unit: Any = field(
        "Without ⟨bounds⟩: the distance between grid points near zero; beyond 2048 units it is "
        "about a thousandth of the value.",
        default=1,
        takes="NUMBER",
        option=False,
    )
    largest: Any = field(
        "Without ⟨bounds⟩: the largest magnitude, 10¹² units by default.",
        default=None,
        takes="NUMBER",
        option=False,
    )
    per_person: str = field(
        "The value that counts for a person who has several: their mean, rounded to the grid, the "
        "least, the largest, or one at random.",
        default="mean",
        check=one_of(PER_PERSON),
        takes="NAME",
        advanced=True,
    )
    outside: str = field(
        "Values outside the bounds count as the nearer bound (clamp) or not at all (drop).",
        default="clamp",
        check=one_of(OUTSIDE),
        takes="NAME",
        advanced=True,
    )

    def _axis(self, table: Table) -> ColumnGrid:
        return column_grid(
            table,
            self.column,
            bounds=self.bounds,
            step=self.step,
            unit=self.unit,
            largest=self.largest,
        )

    def public_values(self, table: Table) -> dict[str, list[Any]]:
        """Return the public groups, and grid points (at most 512) if there are bounds, by column."""
        groups = super().public_values(table)
        if self.bounds is None:
            return groups
        axis = self._axis(table)
        return groups | {self.column: [axis.label(place) for place in few_places(len(axis))]}

    def of_levels(
        self, asking: Asking, what: str, at: Sequence[Fraction], *, one: bool = False
    ) -> Plan:
        """Plan the quantiles at these levels; with ``one``, a single quantile without its label."""
        column, axis = self.column, self._axis(asking.table)
        grid = axis.grid
        if asking.several_rows:
            asking = replace(asking, rules=about_several(self.per_person) + asking.rules)
        depths = len(at).bit_length()
        # At one depth, a replaced person may leave one part and enter another, which is two steps of the
        # add-remove relation. A single quantile has only one part and its own sensitivity.
        steps = 2 if asking.inner == REPLACE and depths > 1 else 1
        inner = ADD_REMOVE if steps == 2 else asking.inner
        moved = quantile_sensitivity(at[0], inner)
        chooser = asking.chooser(
            asking.epsilon_each / (depths * steps),
            besides="several quantiles" if depths > 1 else None,
        )
        # The chooser is made from ε, not from a noise scale, so its promise is the same at every distance.
        promise = chooser.promise_at(Fraction(1))
        by_steps = promise.proof and promise.proof.assuming()
        # Proofs that remain valid after averaging over hidden coins; one theorem covers ε in both cases.
        direct = {"PureDP": ANSWER, **IN_ANSWERS} if "PureDP" in promise.direct else {}
        if direct and isinstance(mixed(promise), LaplaceDominated):
            direct |= IN_RHO
        if depths > 1:
            whole = by_steps and by_steps.then(CLAIMS["several quantiles", "steps"])
            promise = mixed(promise).for_people(steps).resting_on(whole, direct)
        else:
            promise = resting(promise, moved)
            if self.per_person == "random":
                hidden = mixed(promise)
                proof = hidden.proof
                if isinstance(hidden, ApproxDP) and proof is not None:  # averaging keeps (ε, δ)
                    proof = proof.then(CLAIMS["hidden coins", "ApproxDP"])
                promise = hidden.resting_on(proof, direct)

        def places(people: Counts, bits: Bits, finest: int = FINEST) -> Iterable[list[int]]:
            if depths > 1:
                coins = min(finest, fineness(people.shape[1], asking.rows.number_of_groups))
                return (
                    recursive(row, at, chooser, neighbours=inner, bits=bits, coins=coins)
                    for row in people
                )
            values = quantile_values(people, at[0])
            return ([place] for place in choices(chooser, values, moved.range_distance, bits))

        def choose(people: Counts, bits: Bits) -> Iterable[Found]:
            for found in places(people, bits):
                named = tuple(map(axis.label, found))
                yield {"answer": named[0] if one else named}

        def errors() -> Errors:
            like = even_counts(asking.people, len(axis))
            if depths > 1:
                # Splitting grid points further changes nothing once each stated person has their own cell.
                enough = max(USUAL, int(like.max()).bit_length())
                return drawn(
                    like,
                    lambda row, bits: places(row, bits, enough),
                    lambda row, found: rank_errors(row, at, found),
                    len(at),
                )
            sizes = [rank_errors(like, at, [place]) for place in range(len(like))]
            return exactly(chooser, quantile_scores(like, at[0], neighbours=inner), sizes)

        return asking.plan(
            what,
            parts=[(promise, depths)],
            mechanism=chooser.name
            if depths == 1
            else f"{chooser.name}, recursive, {depths} depths",
            table=axis.table,
            read=lambda table, rows: people_per_grid_point(
                table,
                rows,
                column=column,
                grid=grid,
                per_person=self.per_person,
                outside=self.outside,
            ),
            choose=choose,
            rules=about_values(axis.shown_bounds, outside=self.outside)
            + axis.left_out
            + axis.rules,
            rules_after=about_ends(axis.label(0), axis.label(len(axis) - 1)),
            labels=None if one else tuple(map(label_of, at)),
            accuracy=Accuracy(
                self._worst(asking, at, axis, chooser),
                Fraction(self.with_probability),
                PEOPLE,
                "how far an answer's rank is off, in people"
                + ("" if one else f"; at worst among {asking.everybody:,} people at most"),
                f"{of_people(f'{asking.people:,}')} spread evenly over the grid",
                errors,
                most=asking.setting.people,
                assuming=asking.assuming,
                among=asking.people,
            ),
        )

    def _worst(
        self, asking: Asking, at: Sequence[Fraction], axis: ColumnGrid, chooser: Mechanism
    ) -> float | None:
        if chooser.facts.law not in BOUNDED:
            return None
        fails, sharing = 1 - Fraction(self.with_probability), 0
        if len(at) > 1:  # half of this covers how many people the coins leave in one cell
            fails /= 2
            groups = asking.rows.number_of_groups
            sharing = most_sharing(asking.everybody, points=len(axis), groups=groups, fails=fails)
        return rank_error(
            at,
            points=len(axis),
            epsilon=asking.epsilon_each,
            with_probability=1 - fails,
            neighbours=asking.inner,
            sharing=sharing,
        )


def rank_errors(row: Counts, at: Sequence[Fraction], places: Sequence[int]) -> float:
    """Compute the largest distance between an answer's rank and the rank of its level, in people."""
    up_to: list[int] = np.cumsum(row).tolist()
    there = int(row.sum())
    pairs = zip((level * there for level in at), sorted(places), strict=True)
    return max(
        float(max(Fraction(), rank - up_to[place], up_to[place] - int(row[place]) - rank))
        for rank, place in pairs
    )


@value
class Quantiles(OnGrid, kind="quantiles", label="Several quantiles"):
    """Several quantiles of a numeric column on a public grid, in order, chosen privately.

    The budget is shared over ⌈log₂(m + 1)⌉ depths for m quantiles. Secret coins order the people who share a
    value, so that one very common value does not spoil the quantiles next to it.

    Price: at each depth a person is in one part of the grid only, so a depth costs the same however many
    quantiles it finds. The costs of the depths add up to ε: ``answer_pure_dp``
    (``docs/proofs/quantiles.md``).

    Example:
        >>> import discreet, polars as pl
        >>> people = pl.DataFrame({"person": range(2000), "age": [20 + i % 41 for i in range(2000)]})
        >>> table = discreet.table(people, user="person", ledger=None)
        >>> deciles = Quantiles("age", at=[0.1, 0.5, 0.9], bounds="0:120", epsilon=8)
        >>> low, middle, high = table.ask(deciles).answer
        >>> 20 < low < 28 < 35 < middle < 45 < 52 < high < 60
        True
    """

    completed_by: ClassVar[tuple[str, ...]] = ("bounds",)
    command: ClassVar[tuple[str, str, str] | None] = (
        "quantiles",
        "Several quantiles of a column at once, on a public grid: of numbers, dates, times or time spans."
        f"\n\n{NO_MATCH.format('a list of random grid points')}",
        "discreet quantiles pay.parquet --dataset staff --column salary --user person_id --at 0.1,0.5,0.9 "
        "--bounds 0:500000 --step 1000 --epsilon 1",
    )

    at: Sequence[Number] = field(
        "The levels in increasing order, such as 0.1,0.5,0.9.",
        check=levels,
        takes="NUMBERS",
        example="0.25, 0.5, 0.75",
        analyst=True,
    )

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"quantiles of {self.column}"

    def planned(self, asking: Asking) -> Plan:
        """Plan the quantiles, the middle one first."""
        at = [Fraction(level) for level in self.at]
        return self.of_levels(asking, "quantiles " + ", ".join(map(label_of, at)), at)


def recursive(
    people: Counts,
    levels: Sequence[Fraction],
    chooser: Mechanism,
    *,
    neighbours: str,
    bits: Bits,
    coins: int | None = None,
) -> list[int]:
    """Find the grid index of each quantile recursively; ``coins`` coin flips per person break ties."""
    if coins is None:
        coins = fineness(len(people)) if len(levels) > 1 else 0
    line = spread_out(people, coins, bits)

    def places(
        line: Counts, low: Fraction, high: Fraction, levels: Sequence[Fraction]
    ) -> list[int]:
        """Return each level's index in ``line``, the counts of people between levels ``low`` and ``high``."""
        if not levels:
            return []
        middle = len(levels) // 2
        level = levels[middle]
        scores = quantile_scores(line, (level - low) / (high - low), neighbours=neighbours)
        place = chooser._choose(scores, bits)
        # The lower part has the people up to this index; the upper part starts there without them.
        upper = line[place:].copy()
        upper[0] = 0
        below = places(line[: place + 1], low, level, levels[:middle])
        above = places(upper, level, high, levels[middle + 1 :])
        return [*below, place, *(place + further for further in above)]

    found = places(line, Fraction(0), Fraction(1), levels)
    return [place >> coins for place in found]


def spread_out(people: Counts, coins: int, bits: Bits) -> Counts:
    """Split each grid point into 2^coins cells and assign each of its people to a cell by fair coins."""
    for _ in range(coins):
        first = halved(people, bits)
        finer = np.empty(2 * len(people), dtype=np.int64)
        finer[0::2] = first
        np.subtract(people, first, out=finer[1::2])
        people = finer
    return people


@value
class Quantile(OnGrid, kind="quantile", label="One quantile"):
    """One quantile of a numeric column on a public grid, chosen privately.

    The share of people below the answer is about ``at``.

    Example:
        >>> import discreet, polars as pl
        >>> people = pl.DataFrame({"person": range(1000), "age": [20 + i % 41 for i in range(1000)]})
        >>> table = discreet.table(people, user="person", ledger=None)
        >>> 50 < table.ask(Quantile("age", at=0.9, bounds="0:120", epsilon=5)).answer < 61
        True
    """

    completed_by: ClassVar[tuple[str, ...]] = ("bounds",)
    one_choice: ClassVar[bool] = True

    at: Number = field(
        "The level, strictly between 0 and 1; 0.5 is the median.",
        check=lambda name, given: level_of(given, name=name),
        takes="NUMBER",
        example="0.9",
        analyst=True,
    )

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"quantile {label_of(Fraction(self.at))} of {self.column}"

    def planned(self, asking: Asking) -> Plan:
        """Plan one quantile."""
        level = Fraction(self.at)
        what = "median" if level == Fraction(1, 2) else f"quantile {label_of(level)}"
        return self.of_levels(asking, what, [level], one=True)


@value
class Median(OnGrid, kind="median"):
    """The median of a numeric column on a public grid, chosen privately.

    Example:
        >>> import discreet, polars as pl
        >>> people = pl.DataFrame({"person": range(1000), "age": [20 + i % 41 for i in range(1000)]})
        >>> table = discreet.table(people, user="person", ledger=None)
        >>> 35 < table.ask(Median("age", bounds=(0, 120), epsilon=5)).answer < 45
        True
    """

    completed_by: ClassVar[tuple[str, ...]] = ("bounds",)
    command: ClassVar[tuple[str, str, str] | None] = (
        "median",
        "The median of a column, on a public grid: of numbers, decimals, dates, times or time spans.\n\n"
        + NO_MATCH.format("a random grid point"),
        "discreet median people.csv --dataset staff --column age --user person_id --bounds 0:120 "
        "--epsilon 0.5",
    )
    one_choice: ClassVar[bool] = True

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"median of {self.column}"

    def planned(self, asking: Asking) -> Plan:
        """Plan the quantile at one half."""
        return self.of_levels(asking, "median", [Fraction(1, 2)], one=True)
