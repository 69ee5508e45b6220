"""People counted: per candidate, or per grid point, in the engine, once for each person.

Every function returns an array with one row per group (a single row without groups) and one column per
candidate. Nothing else leaves the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.sampling import Bits
from discreet._tables.compared import condition_on
from discreet._tables.engines import (
    databases,
    finite,
    indexed,
)
from discreet._tables.grid import Grid
from discreet._tables.growing_grid import GrowingGrid
from discreet._tables.orders import KEY_BITS, with_choice, with_order
from discreet._tables.statements import columns_of, listed
from discreet._tables.table import Table
from discreet._tables.where import Condition, comparisons

Counts = NDArray[np.int64]
_DIGESTS = 1 << 30
_MANY_COUNTS = 100_000
MOST_COUNTED = 10**11
"""The most people that a row of a counted table stands for, and the most that are counted in one place.

Below 2⁵³, so that a sum of float64 is exact in any order up to there, and beyond it is cut off: no engine
rounds, overflows or raises. Twenty million places (``LARGEST_GRID``) together stay within 64 bits.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Which rows count, whose they are, and into which group they fall.

    Attributes:
        user: the column that tells whose a row is, or None where every row is another person's.
        counted: the column that tells how many people a row stands for, where that is not one.
        where: a condition on single rows.
        by: the column of the groups, or None.
        groups: the public groups, of the column's type.
        groups_per_person: a person counts in this many groups at most, drawn from those of their rows.
        key: what the draws depend on besides the person and the choice; fresh for each release.
    """

    user: str | None = None
    counted: str | None = None
    where: Condition | None = None
    by: str | None = None
    groups: tuple[Any, ...] = ()
    groups_per_person: int = 1
    key: int | None = field(default=None, repr=False)

    def keyed(self, bits: Bits) -> Rows:
        """The same rows with a fresh key."""
        return replace(self, key=bits.integer(KEY_BITS))

    @property
    def number_of_groups(self) -> int:
        """Groups, or one if there are none."""
        return len(self.groups) if self.by is not None else 1

    @property
    def assigns(self) -> bool:
        """Whether people are drawn into some of their groups: they may have more than they count in."""
        return self.user is not None and self.groups_per_person < len(self.groups)


def people_per_candidate(
    table: Table, rows: Rows, *, column: str, keys: Sequence[Any], other: bool = False
) -> Counts:
    """How many people have a row with each value; a person counts once for each.

    With ``other`` one more column: how many have a value that is none of these.
    """

    def steps() -> Any:
        many = rows.number_of_groups * len(keys) >= _MANY_COUNTS
        if many and table.engine == "duckdb" and not (other or rows.assigns):
            # Such lists hold most of what a column does: fewer counts than rows are then looked up.
            frame = _people_in(
                _selected(table, rows, column, indexing=False), rows, *_groups_of(rows), "value"
            )
            if rows.by is not None:
                frame = indexed(frame, "group", rows.groups, engine=table.engine)
            return indexed(frame, "value", keys, engine=table.engine)
        frame = _selected(table, rows, column)
        frame = indexed(frame, "value", keys, engine=table.engine, other=other)
        return _people_in(frame, rows, *_groups_of(rows), "value")

    width, doing = len(keys) + other, "counting people per candidate"
    return _counted(table, rows, steps, column, list(keys), other, width=width, doing=doing)


def people_per_grid_point(
    table: Table,
    rows: Rows,
    *,
    column: str,
    grid: Grid | GrowingGrid,
    per_person: str,
    outside: str = "drop",
) -> Counts:
    """How many people fall to each grid point: the least that is at or above their value.

    A person counts with one of the grid points that their values fall to: the ``least``, the ``largest``,
    one at ``random``, or the ``mean``. Values outside the bounds are ``drop``-ped or ``clamp``-ed.
    """

    def steps() -> Any:
        import narwhals as nw

        frame = _selected(table, rows, column, as_number=True)
        if outside == "clamp":
            frame = frame.with_columns(grid.clamped(nw.col("value")).alias("value"))
        frame = frame.filter(grid.contains(nw.col("value")))
        index = nw.col("index").cast(nw.Int64).alias("value")
        frame = grid.with_index(frame).select(*_people_of(rows), *_groups_of(rows), index)
        if rows.user is not None:
            frame = _one_each(frame, table.engine, rows, per_person, grid)
        return _people_in(frame, replace(rows, user=None), *_groups_of(rows), "value")

    return _counted(
        replace(table, execute=None) if per_person == "random" else table,
        rows,
        steps,
        *(column, grid, per_person, outside),
        width=len(grid),
        doing="counting people per grid point",
    )


def people_per_interval(table: Table, rows: Rows, *, column: str, grid: Grid) -> Counts:
    """How many people have a value in each interval from a grid point up to the next.

    A person counts once for each interval in which they have a value.
    """

    def steps() -> Any:
        import narwhals as nw

        frame = _selected(table, rows, column, as_number=True)
        frame = frame.filter(grid.contains(nw.col("value")))
        index = grid.index_below(nw.col("value")).cast(nw.Int64)
        frame = frame.select(*_people_of(rows), *_groups_of(rows), index.alias("value"))
        return _people_in(frame, rows, *_groups_of(rows), "value")

    doing = "counting people per interval"
    return _counted(table, rows, steps, column, grid, width=len(grid), doing=doing)


def people_with_any(
    table: Table,
    rows: Rows,
    *,
    column: str,
    keys: Sequence[Any] | None = None,
    grid: Grid | None = None,
) -> Counts:
    """How many people have a value at all: one of the keys, one on the grid, or any; in one column."""

    def steps() -> Any:
        import narwhals as nw

        frame = _selected(table, rows, column, as_number=grid is not None)
        if keys is not None:
            frame = indexed(frame, "value", keys, engine=table.engine)
        if grid is not None:
            frame = frame.filter(grid.contains(nw.col("value")))
        alike = frame.with_columns(nw.lit(0).alias("value"))
        return _people_in(alike, rows, *_groups_of(rows), "value")

    return _counted(table, rows, steps, column, keys, grid, width=1, doing="counting people")


def people_per_group(table: Table, rows: Rows) -> list[tuple[Any, int]]:
    """Every group that has people, with how many: a person counts in one of theirs, drawn at random.

    **The groups come from the data**: they are for a mechanism that says which of them may be named. The draw
    is a hash of person and group, so that it looks at nobody else.
    """
    alone = replace(rows, by=None)

    def steps() -> Any:
        import narwhals as nw

        frame = _selected(table, alone, str(rows.by))
        if rows.user is not None:
            frame = frame.group_by("user", "value").agg(nw.len().alias("rows"))
            digest = nw.col("order") % _DIGESTS
            names = {"person": nw.col("user"), "user": nw.col("value"), "nothing": nw.lit(0)}
            frame = frame.select(*(column.alias(name) for name, column in names.items()))
            frame = with_order(frame, table.engine, key=rows.key, choice="nothing", size=1)
            names = {"user": nw.col("person"), "value": nw.col("user"), "digest": digest}
            frame = frame.select(*(column.alias(name) for name, column in names.items()))
            frame = with_order(frame, table.engine, key=rows.key, choice="digest", size=_DIGESTS)
            for name in ("order", "value"):  # the second, should two groups have one digest
                frame = frame.filter(nw.col(name) == nw.col(name).min().over("user"))
        return _people_in(frame, replace(alone, user=None), "value")

    return listed(table, str(rows.by), steps, rows, doing="counting people per group")


def people_per_number_of_groups(table: Table, rows: Rows) -> Counts:
    """How many people have rows in one of the groups, in two of them, and so on."""

    def steps() -> Any:
        import narwhals as nw

        every = replace(rows, groups_per_person=len(rows.groups))
        frame = _selected(table, every, str(rows.by))
        frame = frame.group_by("user", "group").agg(nw.len().alias("rows"))
        frame = frame.group_by("user").agg(nw.len().alias("groups"))
        frame = frame.select((nw.col("groups") - 1).alias("value"))
        return frame.group_by("value").agg(nw.len().alias("people"))

    together, width = replace(rows, by=None), len(rows.groups)
    doing = "counting people by their groups"
    counts = _counted(table, together, steps, rows.by, rows.groups, width=width, doing=doing)
    return np.asarray(counts[0])


def counted_values(table: Table, rows: Rows, *, column: str) -> Any:
    """Every value with its number of people, as a lazy frame (``value``, ``people``) of the engine.

    **The values come from the data**: they are for joining with public candidates, or for a mechanism that
    is made for unknown domains.
    """
    return _people_in(_selected(table, rows, column), rows, "value")


def commonest_values(table: Table, rows: Rows, *, column: str, most: int) -> list[tuple[Any, int]]:
    """The ``most`` values with the most people, ties by the value's own order: for unknown domains."""

    def steps() -> Any:
        counted = counted_values(table, rows, column=column)
        return counted.sort("people", "value", descending=[True, False]).head(most)

    return listed(table, column, steps, rows, column, most, doing="counting people per value")


def commonest_in_groups(
    table: Table, rows: Rows, *, column: str, most: int
) -> list[list[tuple[Any, int]]]:
    """The commonest values of each group, or of all rows where there are no groups."""
    if rows.by is None:
        return [commonest_values(table, rows, column=column, most=most)]

    def steps() -> Any:
        import narwhals as nw

        counted = _people_in(_selected(table, rows, column), rows, "group", "value")
        above = nw.col("people").rank("min", descending=True).over("group")
        counted = counted.with_columns(above.alias("above")).filter(nw.col("above") <= most)
        return counted.select("value", "group", "people")

    doing = "counting people per value and group"
    found: list[list[tuple[Any, int]]] = [[] for _ in rows.groups]
    for (value, group), people in listed(table, column, steps, rows, column, most, doing=doing):
        found[group].append((value, people))
    return [these[:most] for these in found]


# ---- the steps -----------------------------------------------------------------------------------


def _selected(
    table: Table, rows: Rows, column: str, *, as_number: bool = False, indexing: bool = True
) -> Any:
    """The rows that count, with the columns value, user and group; ``indexing``, a group is its index."""
    import narwhals as nw

    named = {"value": column, "user": rows.user, "group": rows.by}
    used = [name for name in named.values() if name is not None]
    counted = [] if rows.counted is None else [rows.counted]
    compared = [] if rows.where is None else [part.column for part in comparisons(rows.where)]
    # A column of a text file is parsed as numbers only where it is compared or counted as such.
    parsed = [column] if as_number and not table.is_dated(column) else []
    numbers = parsed if table.is_text else used
    ready = table.prepared(
        texts=(*used, *compared),
        numbers=(*numbers, *compared, *counted),
        ordered=column if as_number else None,
    )
    frame = ready.frame()
    if rows.where is not None:
        frame = frame.filter(condition_on(ready, rows.where))
    columns = {name: ready.identity(given) for name, given in named.items() if given is not None}
    if as_number:
        columns["value"] = ready.position(column)
    if rows.counted is not None:
        columns["counted"] = ready.number(rows.counted)
    frame = frame.select(*(expression.alias(name) for name, expression in columns.items()))
    if rows.counted is not None:
        frame = _whole_counts(frame, table.engine)
    for name, given in (("user", rows.user), ("group", rows.by)):
        if given is not None:
            frame = frame.filter(ready.present(given, name))
    if rows.by is not None and indexing:
        frame = indexed(frame, "group", rows.groups, engine=table.engine)
        if rows.assigns:
            frame = _few_groups(frame, table.engine, rows)
    if as_number:
        return frame.filter(finite(nw.col("value"), engine=table.engine))
    return frame.filter(ready.present(column, "value"))


def _whole_counts(frame: Any, engine: str) -> Any:
    """Rows that stand for one person at least, each for a whole number of them."""
    import narwhals as nw

    number = nw.col("counted")
    frame = frame.filter(finite(number, engine=engine) & (number >= 1.0))
    return frame.with_columns(number.clip(1.0, float(MOST_COUNTED)).floor().alias("counted"))


def _few_groups(frame: Any, engine: str, rows: Rows) -> Any:
    """Each person's rows in at most so many of their groups, drawn by a rule that looks at nobody else."""
    import narwhals as nw

    order, most = nw.col("order"), rows.groups_per_person
    frame = with_order(frame, engine, key=rows.key, choice="group", size=len(rows.groups))
    if most == 1:
        # Not in the condition itself: databases know no windows there.
        least = frame.with_columns(order.min().over("user").alias("least"))
        return least.filter(order == nw.col("least")).drop("order", "least")
    ranked = frame.with_columns(order.rank("dense").over("user").alias("rank"))
    return ranked.filter(nw.col("rank") <= most).drop("order", "rank")


def _one_each(
    frame: Any, engine: str, rows: Rows, per_person: str, grid: Grid | GrowingGrid
) -> Any:
    """One grid index for each person and group: whole numbers only, so no order of rows matters."""
    import narwhals as nw

    value, kept = nw.col("value"), ("user", *_groups_of(rows))
    if per_person == "random":
        frame = with_order(frame, engine, key=rows.key, choice="value", size=len(grid))
        least = frame.group_by(*kept).agg(nw.col("order").min().alias("order"))
        return with_choice(least, engine, name="value", size=len(grid))
    if per_person == "mean":
        index = nw.col("index").cast(nw.Int64).alias("value")
        return grid.with_mean(frame, *kept).select(*kept, index)
    chosen = value.min() if per_person == "least" else value.max()
    return frame.group_by(*kept).agg(chosen.alias("value"))


def _people_of(rows: Rows) -> list[str]:
    return [name for name in ("user", "counted") if getattr(rows, name) is not None]


def _groups_of(rows: Rows) -> list[str]:
    return [] if rows.by is None else ["group"]


def _people_in(frame: Any, rows: Rows, *kept: str) -> Any:
    """People for each combination of the columns kept, as a lazy frame with the column ``people``.

    Two groupings mean the same as one with a distinct count, and are quicker in every engine but a database.
    """
    import narwhals as nw

    if rows.user is not None:
        if hasattr(native := frame.to_native(), "to_pyarrow_batches"):  # Ibis
            return nw.from_native(databases().distinct_people(native, *kept)).lazy()
        frame = frame.group_by(*kept, "user").agg(nw.len().alias("rows"))
    if rows.counted is None:
        return frame.group_by(*kept).agg(nw.len().alias("people"))
    frame = frame.group_by(*kept).agg(nw.col("counted").sum().alias("people"))
    cut = nw.col("people").clip(1.0, float(MOST_COUNTED)).cast(nw.Int64)
    return frame.with_columns(cut.alias("people"))


def _counted(
    table: Table, rows: Rows, steps: Callable[[], Any], *terms: object, width: int, doing: str
) -> Counts:
    """The people that the steps find at each index of a group and a candidate, and zeros elsewhere.

    Beside the table, the rows and what is done only the terms decide what the steps are.
    """
    if rows.assigns:
        table = replace(table, execute=None)
    columns = table.quietly(lambda: columns_of(table, steps, doing, rows, *terms), doing=doing)
    counts = np.zeros((rows.number_of_groups, width), dtype=np.int64)
    row = 0 if rows.by is None else columns["group"].astype(np.int64)
    counts[row, columns["value"].astype(np.int64)] = columns["people"]
    return counts
