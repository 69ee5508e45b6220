"""A median or any one quantile of a numeric column, on a public grid."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from discreet.neighbours import ADD_REMOVE
from discreet.questions.answer import TableRelease
from discreet.questions.asking import AnyLedger, mechanism_at, prepare, sentence
from discreet.questions.promise import mixed
from discreet.questions.rules import OUTSIDE, PER_PERSON, about_values, rule_named
from discreet.questions.scoring import level_of, quantile_scores, quantile_sensitivity
from discreet.tables import Grid, people_per_grid_point
from discreet.tables.counts import Counts


def quantile(
    data: Any,
    *,
    column: str,
    at: object,
    bounds: object,
    epsilon: object,
    step: object = 1,
    user: str | None = None,
    one_row_per_user: bool = False,
    neighbours: str = ADD_REMOVE,
    mechanism: object = None,
    ledger: AnyLedger | None = None,
    dataset: str | None = None,
    per_person: str = "least",
    outside: str = "clamp",
    where: str | None = None,
    by: str | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    with_people: bool = False,
    people_share: object = "0.1",
    engine: str | None = None,
    purpose: str | None = None,
) -> TableRelease:
    """The grid point below which about a part ``at`` of the people lie, chosen privately.

    The candidates are the grid points between the public ``bounds``, ``step`` apart. Nulls, NaN, infinities
    and texts that spell no number are left out; a person counts with one number, made of their remaining
    values by the rule ``per_person``. The other arguments are those of ``mode``.

    Args:
        data: a path or glob, a DuckDB relation, or a Polars, pandas or PySpark frame.
        column: a numeric column (or any column of a text file).
        at: the level, strictly between 0 and 1; 0.5 is the median.
        bounds: the public bounds, ``(lower, upper)`` or ``"lower:upper"``.
        epsilon: what the whole question costs.
        step: the distance between grid points.
        user: the column that tells people apart.
        one_row_per_user: in place of ``user``: nobody has two rows.
        neighbours: ``"add-remove"`` one person, or ``"replace"`` one.
        mechanism: a registered name or a mechanism; permute-and-flip by default.
        ledger: who counts the budget of ``dataset``; None if nobody does.
        dataset: the data set's name in the ledger.
        per_person: what a person with several values counts with: the ``"least"``, the ``"largest"``, one at
            ``"random"`` (each different grid point alike), or the ``"mean"``, rounded to the grid.
        outside: values outside the bounds count as the nearer bound (``"clamp"``) or not at all (``"drop"``).
        where: a condition on single rows.
        by: one answer for each of the public ``groups`` of this column.
        groups: the public groups.
        groups_per_person: a person counts in so many groups at most.
        with_people: release a noisy number of the people who counted as well, for ``people_share`` of ε.
        people_share: the part of ε that this number gets.
        engine: who reads a path.
        purpose: what the ledger writes down.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"person": range(1000), "age": [20 + i % 41 for i in range(1000)]})
        >>> answer = quantile(people, column="age", at=0.9, bounds="0:120", epsilon=5, user="person").answer
        >>> 50 < answer < 61
        True
    """
    asking = prepare(
        data,
        columns=[column],
        epsilon=epsilon,
        user=user,
        one_row_per_user=one_row_per_user,
        neighbours=neighbours,
        ledger=ledger,
        dataset=dataset,
        where=where,
        by=by,
        groups=groups,
        groups_per_person=groups_per_person,
        with_people=with_people,
        people_share=people_share,
        engine=engine,
    )
    level = level_of(at)
    grid = Grid.between(bounds, step=step)
    chosen = rule_named("per_person", per_person, PER_PERSON)
    moved = rule_named("outside", outside, OUTSIDE)
    asking.table.require_number(column)
    chooser = mechanism_at(mechanism, asking.epsilon_each)

    @cache
    def counted() -> Counts:
        return people_per_grid_point(
            asking.table,
            asking.rows,
            column=column,
            grid=grid,
            per_person=chosen,
            outside=moved,
        )

    def work() -> list[int | float]:
        scores = [quantile_scores(row, level, neighbours=asking.inner) for row in counted()]
        return [grid.label(chooser.select_index(row)) for row in scores]

    promise = chooser.promise_at(Fraction(quantile_sensitivity(level, asking.inner).range_distance))
    if chosen == "random":
        promise = mixed(promise)
    name = "median" if level == Fraction(1, 2) else f"quantile {level}"
    reason = purpose or sentence({f"{name} of": column, "by": by, "where": where})
    event = asking.event((promise, 1), mechanism=chooser.name)
    found, terms = asking.released(event, reason, work, people=counted)
    return TableRelease(
        answer=asking.shaped(found),
        **terms,
        rules=asking.rules
        + about_values(grid, per_person=chosen, outside=moved, several=user is not None),
    )


def median(
    data: Any, *, column: str, bounds: object, epsilon: object, **options: Any
) -> TableRelease:
    """The median of a numeric column on a public grid: ``quantile`` at one half, with its options.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"person": range(1000), "age": [20 + i % 41 for i in range(1000)]})
        >>> 35 < median(people, column="age", bounds=(0, 120), epsilon=5, user="person").answer < 45
        True
    """
    return quantile(
        data, column=column, at=Fraction(1, 2), bounds=bounds, epsilon=epsilon, **options
    )
