"""A median, a quantile or several of a numeric column, on a public grid.

Several are found by the recursive scheme that shares the budget over the levels. After Kaplan, Schnapp and
Stemmer (2022): the middle quantile first, then the lower ones among the people below it and the upper ones
among the people above it. At each depth a person is in one part only, so that the cost is that of the
depth, not of the number of quantiles. ``docs/proofs/quantiles.md`` proves it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.answer import OUTSIDE, PER_PERSON, TableRelease, about_values, rule_named
from discreet.questions.context import Asking, Context, Terms
from discreet.questions.found_groups import in_groups, require_no_delta
from discreet.questions.ordered import ColumnGrid, column_grid
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
from discreet.questions.spending import mixed
from discreet.sampling import Bits, SecureBits
from discreet.sampling.discrete_noise import halved
from discreet.tables import people_per_grid_point
from discreet.tables.counts import Counts
from discreet.tables.growing_grid import GrowingGrid

LARGEST_LINE = 1 << 22
"""Places on the line at most, unless the grid itself has more."""

FINEST = 6
"""People who share a value are spread over at most 2⁶ places."""


@in_groups
def quantiles(
    data: Any,
    column: str = "value",
    *,
    at: Sequence[object],
    bounds: object = None,
    epsilon: object,
    step: object = 1,
    unit: object = 1,
    largest: object = None,
    per_person: str = "least",
    outside: str = "clamp",
    delta: object = None,
    **terms: Unpack[Terms],
) -> TableRelease:
    """Several quantiles of a numeric column on a public grid, never decreasing, chosen privately.

    The budget is shared over ⌈log₂(m + 1)⌉ depths for m quantiles. People who share a value are told apart
    by coins of their own, so that a value that half of them have does not spoil the quantiles beside it.
    The other arguments are those of ``quantile``.

    Args:
        at: the levels, in increasing order.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"person": range(2000), "age": [20 + i % 41 for i in range(2000)]})
        >>> low, middle, high = quantiles(people, column="age", at=[0.1, 0.5, 0.9], bounds="0:120", epsilon=8,
        ...                               user="person").answer
        >>> 20 < low < 28 < 35 < middle < 45 < 52 < high < 60
        True
    """
    require_no_delta(delta)
    asking = Context.of(data, terms).asking(column, epsilon)
    if isinstance(at, str) or not isinstance(at, Sequence) or not at:
        raise ParameterError(
            f"⟨at⟩{at!r} is not allowed: give a list of levels, such as [0.1, 0.5, 0.9]"
        )
    levels = [level_of(level) for level in at]
    if sorted(set(levels)) != levels:
        raise ParameterError(f"⟨at⟩{at!r} is not allowed: levels must increase")
    if math.lcm(*(level.denominator for level in levels)) > LARGEST_DENOMINATOR:
        raise ParameterError(
            f"⟨at⟩{at!r} is not allowed: their common denominator is above a million"
        )
    what = "quantiles " + ", ".join(map(label_of, levels))
    axis = column_grid(asking.table, column, bounds=bounds, step=step, unit=unit, largest=largest)
    return of_levels(asking, what, levels, axis, per_person=per_person, outside=outside)


def of_levels(
    asking: Asking,
    what: str,
    levels: Sequence[Fraction],
    axis: ColumnGrid,
    *,
    per_person: str,
    outside: str,
    one: bool = False,
) -> TableRelease:
    """Release the quantiles at these levels, or the ``one`` without its label."""
    grid = axis.grid
    chosen = rule_named("per_person", per_person, PER_PERSON)
    if chosen == "mean" and isinstance(grid, GrowingGrid):
        raise ParameterError('⟨per_person⟩"mean" needs ⟨bounds⟩: a growing grid has no even steps')
    moved = rule_named("outside", outside, OUTSIDE)
    depths = len(levels).bit_length()
    # Within a depth a replaced person may leave one part and enter another, which is two steps of the
    # other relation; a single quantile has one part only, and its own sensitivity.
    steps = 2 if asking.inner == REPLACE and depths > 1 else 1
    inner = ADD_REMOVE if steps == 2 else asking.inner
    chooser = asking.context.chooser(
        asking.epsilon_each / (depths * steps), besides="several quantiles" if depths > 1 else None
    )
    # The chooser has an ε of its own, so that its promise is the same at every distance.
    promise = chooser.promise_at(Fraction(1))
    if depths > 1 or chosen == "random":
        promise = mixed(promise).for_people(steps)
    else:
        promise = resting(promise, quantile_sensitivity(levels[0], inner))

    def choose_each(people: Counts) -> Iterable[list[int]]:
        if depths > 1:
            return (recursive(row, levels, chooser, neighbours=inner) for row in people)
        values = quantile_values(people, levels[0])
        return (
            [place] for place in choices(chooser, values, quantile_sensitivity(levels[0], inner))
        )

    def answer(places: list[int]) -> dict[str, Any]:
        found = tuple(map(axis.label, places))
        return {"answer": found[0] if one else found}

    return asking.release(
        what,
        parts=[(promise, depths)],
        mechanism=chooser.name if depths == 1 else f"{chooser.name}, recursive, {depths} depths",
        read=lambda: people_per_grid_point(
            axis.table,
            asking.rows,
            column=asking.column,
            grid=grid,
            per_person=chosen,
            outside=moved,
        ),
        answer=answer,
        choose_each=choose_each,
        rules=about_values(
            axis.shown_bounds,
            per_person=chosen,
            outside=moved,
            several=asking.rows.user is not None,
        )
        + axis.left_out
        + axis.rules,
        labels=None if one else tuple(map(label_of, levels)),
    )


def recursive(
    people: Counts,
    levels: Sequence[Fraction],
    chooser: Mechanism,
    *,
    neighbours: str,
    bits: Bits | None = None,
) -> list[int]:
    """The grid index of each quantile, by recursion on the people spread over a line."""
    fineness = 0
    if len(levels) > 1:
        fineness = min(FINEST, max(0, (LARGEST_LINE // len(people)).bit_length() - 1))
    line = spread_out(people, fineness, SecureBits() if bits is None else bits)

    def places(
        line: Counts, low: Fraction, high: Fraction, levels: Sequence[Fraction]
    ) -> list[int]:
        """The places of ``levels`` on a stretch that holds the people between two levels."""
        if not levels:
            return []
        middle = len(levels) // 2
        level = levels[middle]
        scores = quantile_scores(line, (level - low) / (high - low), neighbours=neighbours)
        place = chooser.select_index(scores)
        # The lower part has the people up to the place; the upper part starts there, without them.
        upper = line[place:].copy()
        upper[0] = 0
        below = places(line[: place + 1], low, level, levels[:middle])
        above = places(upper, level, high, levels[middle + 1 :])
        return [*below, place, *(place + further for further in above)]

    found = places(line, Fraction(0), Fraction(1), levels)
    return [place >> fineness for place in found]


def spread_out(people: Counts, fineness: int, bits: Bits) -> Counts:
    """Each grid point replaced by 2^fineness places; each of its people goes to one, by fair coins."""
    for _ in range(fineness):
        first = halved(people, bits)
        finer = np.empty(2 * len(people), dtype=np.int64)
        finer[0::2] = first
        np.subtract(people, first, out=finer[1::2])
        people = finer
    return people


@in_groups
def quantile(
    data: Any,
    column: str = "value",
    *,
    at: object,
    bounds: object = None,
    epsilon: object,
    step: object = 1,
    unit: object = 1,
    largest: object = None,
    per_person: str = "least",
    outside: str = "clamp",
    delta: object = None,
    **terms: Unpack[Terms],
) -> TableRelease:
    """The grid point below which about a part ``at`` of the people lie, chosen privately.

    The candidates are the grid points between the public ``bounds``, ``step`` apart. Nulls, NaN, infinities
    and texts that spell no number are left out; a person counts with one number, made of their remaining
    values by the rule ``per_person``. The table is given as for ``mode``.

    Args:
        column: a column of numbers, decimals, dates, times or time spans. In a text file the way in which
            ``bounds`` are written, or ``TextFile.read_as``, says which of these its texts spell.
        at: the level, strictly between 0 and 1; 0.5 is the median.
        bounds: the public bounds, ``(lower, upper)`` or ``"lower:upper"``, such as ``"0:120"``,
            ``"2020-01-01:2024-12-31"`` or ``"08:00/18:00"``, or a ``Grid``. None: a grid that needs none, see
            ``unit``; with bounds the answer is better.
        step: the distance between grid points; ``"1d"`` or ``"15min"`` for dates, times and spans.
        unit: without ``bounds``: the distance between grid points near zero; beyond 2048 units they lie a
            thousandth apart.
        largest: without ``bounds``: the largest magnitude, 10¹² units by default.
        per_person: what a person with several values counts with: the ``"least"``, the ``"largest"``, one at
            ``"random"`` (each different grid point alike), or the ``"mean"``, rounded to the grid.
        outside: values outside the bounds count as the nearer bound (``"clamp"``) or not at all (``"drop"``).
        delta: only for groups that nobody listed, see ``Terms``.
        **terms: what every question is told, see ``Terms``.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"person": range(1000), "age": [20 + i % 41 for i in range(1000)]})
        >>> answer = quantile(people, column="age", at=0.9, bounds="0:120", epsilon=5, user="person").answer
        >>> 50 < answer < 61
        True
    """
    require_no_delta(delta)
    asking = Context.of(data, terms).asking(column, epsilon)
    level = level_of(at)
    what = "median" if level == Fraction(1, 2) else f"quantile {label_of(level)}"
    axis = column_grid(asking.table, column, bounds=bounds, step=step, unit=unit, largest=largest)
    return of_levels(asking, what, [level], axis, per_person=per_person, outside=outside, one=True)


def median(
    data: Any,
    column: str = "value",
    *,
    bounds: object = None,
    epsilon: object,
    step: object = 1,
    unit: object = 1,
    largest: object = None,
    per_person: str = "least",
    outside: str = "clamp",
    delta: object = None,
    **terms: Unpack[Terms],
) -> TableRelease:
    """The median of a numeric column on a public grid: ``quantile`` at one half, with its options.

    Example:
        >>> import polars as pl
        >>> people = pl.DataFrame({"person": range(1000), "age": [20 + i % 41 for i in range(1000)]})
        >>> 35 < median(people, column="age", bounds=(0, 120), epsilon=5, user="person").answer < 45
        True
    """
    return quantile(
        data,
        column,
        at=Fraction(1, 2),
        bounds=bounds,
        epsilon=epsilon,
        step=step,
        unit=unit,
        largest=largest,
        per_person=per_person,
        outside=outside,
        delta=delta,
        **terms,
    )
