"""A median or any one quantile of a numeric column, on a public grid."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Unpack

from discreet.questions.answer import TableRelease
from discreet.questions.context import Context, Terms
from discreet.questions.found_groups import in_groups, require_no_delta
from discreet.questions.quantiles import of_levels
from discreet.questions.scoring import level_of


@in_groups
def quantile(
    data: Any,
    column: str,
    *,
    at: object,
    bounds: object,
    epsilon: object,
    step: object = 1,
    per_person: str = "least",
    outside: str = "clamp",
    delta: object = None,
    **terms: Unpack[Terms],
) -> TableRelease:
    """The grid point below which about a part ``at`` of the people lie, chosen privately.

    The candidates are the grid points between the public ``bounds``, ``step`` apart. Nulls, NaN, infinities
    and texts that spell no number are left out; a person counts with one number, made of their remaining
    values by the rule ``per_person``.

    Args:
        data: a path or glob, a DuckDB relation, or a Polars, pandas or PySpark frame.
        column: a numeric column (or any column of a text file).
        at: the level, strictly between 0 and 1; 0.5 is the median.
        bounds: the public bounds, ``(lower, upper)`` or ``"lower:upper"``, or a ``Grid``.
        epsilon: what the whole question costs.
        step: the distance between grid points.
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
    what = "median" if level == Fraction(1, 2) else f"quantile {level}"
    return of_levels(
        asking, what, [level], bounds, step=step, per_person=per_person, outside=outside, one=True
    )


def median(
    data: Any,
    column: str,
    *,
    bounds: object,
    epsilon: object,
    step: object = 1,
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
        per_person=per_person,
        outside=outside,
        delta=delta,
        **terms,
    )
