"""People counted: per candidate, or per grid point, in the engine, once for each person.

Every function returns an array with one row per group (a single row without groups) and one column per
candidate. Nothing else leaves the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.tables.grid import Grid
from discreet.tables.quiet import quietly
from discreet.tables.table import Table
from discreet.tables.where import Condition

Counts = NDArray[np.int64]

LISTED_AT_MOST = 2_000
"""So many candidates go into the query itself; more are joined as a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Which rows count, whose they are, and into which group they fall.

    Attributes:
        user: the column that tells whose a row is, or None where every row is another person's.
        where: a condition on single rows.
        by: the column of the groups, or None.
        groups: the public groups, of the column's type.
        groups_per_person: a person counts in this many groups at most, the least ones of their rows.
    """

    user: str | None = None
    where: Condition | None = None
    by: str | None = None
    groups: tuple[Any, ...] = ()
    groups_per_person: int = 1

    @property
    def number_of_groups(self) -> int:
        """Groups, or one if there are none."""
        return len(self.groups) if self.by is not None else 1


def people_per_candidate(table: Table, rows: Rows, *, column: str, keys: Sequence[Any]) -> Counts:
    """How many people have a row with each value; a person counts once for each."""
    counts = np.zeros((rows.number_of_groups, len(keys)), dtype=np.int64)
    possible = _that_fit(table, column, keys)
    if not possible:
        return counts

    def query() -> dict[str, Any]:
        frame, ready = _selected(table, rows, column)
        frame = _only(frame, ready, possible)
        return collected(_people_in(frame, rows, *_groups_of(rows), "value"))

    found = quietly(query, doing="counting people per candidate")
    place = {_identity(key): index for index, key in enumerate(keys)}
    _fill(counts, found, rows, lambda value: place.get(_identity(value)))
    return counts


def people_per_grid_point(
    table: Table, rows: Rows, *, column: str, grid: Grid, per_person: str
) -> Counts:
    """How many people fall to each grid point: the least that is at or above their value.

    A person contributes one value, the ``least`` or the ``largest`` of theirs within the bounds.
    """

    def query() -> dict[str, Any]:
        import narwhals as nw

        frame, _ = _selected(table, rows, column, as_number=True)
        frame = frame.filter(grid.contains(nw.col("value")))
        if rows.user is not None:
            value = nw.col("value").min() if per_person == "least" else nw.col("value").max()
            frame = frame.group_by("user", *_groups_of(rows)).agg(value.alias("value"))
        kept = _groups_of(rows)
        index = grid.index_above(nw.col("value")).cast(nw.Int64)
        frame = frame.select(*kept, index.alias("value"))
        return collected(frame.group_by(*kept, "value").agg(nw.len().alias("people")))

    found = quietly(query, doing="counting people per grid point")
    counts = np.zeros((rows.number_of_groups, len(grid)), dtype=np.int64)
    if rows.by is None:
        counts[0, found["value"].astype(np.int64)] = found["people"]
    else:
        _fill(counts, found, rows, int)
    return counts


def people_per_interval(table: Table, rows: Rows, *, column: str, grid: Grid) -> Counts:
    """How many people have a value in each interval from a grid point up to the next.

    A person counts once for each interval in which they have a value.
    """

    def query() -> dict[str, Any]:
        import narwhals as nw

        frame, _ = _selected(table, rows, column, as_number=True)
        frame = frame.filter(grid.contains(nw.col("value")))
        kept = [
            name for name, used in (("user", rows.user), ("group", rows.by)) if used is not None
        ]
        index = grid.index_below(nw.col("value")).cast(nw.Int64)
        frame = frame.select(*kept, index.alias("value"))
        return collected(_people_in(frame, rows, *_groups_of(rows), "value"))

    found = quietly(query, doing="counting people per interval")
    counts = np.zeros((rows.number_of_groups, len(grid)), dtype=np.int64)
    _fill(counts, found, rows, int)
    return counts


def counted_values(table: Table, rows: Rows, *, column: str) -> Any:
    """Every value with its number of people, as a lazy frame (``value``, ``people``) of the engine.

    **The values come from the data**: they are for joining with public candidates, or for a mechanism that
    is made for unknown domains.
    """
    frame, _ = _selected(table, rows, column)
    return _people_in(frame, rows, "value")


def commonest_values(table: Table, rows: Rows, *, column: str, most: int) -> list[tuple[Any, int]]:
    """The ``most`` values with the most people, ties by the value's own order: for unknown domains."""

    def query() -> dict[str, Any]:
        counted = counted_values(table, rows, column=column)
        return collected(counted.sort("people", "value", descending=[True, False]).head(most))

    found = quietly(query, doing="counting people per value")
    values = [_plain(value) for value in found["value"]]
    pairs = zip(values, map(int, found["people"]), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def collected(frame: Any) -> dict[str, Any]:
    """A small result as NumPy columns."""
    native = frame.to_native()
    if hasattr(native, "fetchnumpy"):  # DuckDB, without going through Arrow
        columns: dict[str, Any] = native.fetchnumpy()
        return columns
    result = frame.collect()
    return {name: result.get_column(name).to_numpy() for name in result.columns}


# ---- the steps -----------------------------------------------------------------------------------


def _selected(
    table: Table, rows: Rows, column: str, *, as_number: bool = False
) -> tuple[Any, Table]:
    """The rows that count, with the columns value, user and group; and the table as it was prepared."""
    import narwhals as nw

    numbers = table.number_columns(rows.where) if rows.where is not None else set()
    ready = table.with_numbers(numbers | ({column} if as_number else set()))
    texts = {name for name in (column, rows.user, rows.by) if name is not None}
    ready = ready.keeping_text(texts)
    frame = ready.frame()
    if rows.where is not None:
        frame = frame.filter(ready.condition(rows.where))
    value = ready.number(column) if as_number else _plain_value(ready, column)
    chosen = [value.alias("value")]
    if rows.user is not None:
        chosen.append(_plain_value(ready, rows.user).alias("user"))
    if rows.by is not None:
        chosen.append(_plain_value(ready, rows.by).alias("group"))
    frame = frame.select(*chosen)
    if rows.user is not None:
        frame = frame.filter(_present(ready, rows.user, "user"))
    if rows.by is not None:
        frame = frame.filter(
            _present(ready, rows.by, "group") & nw.col("group").is_in(list(rows.groups))
        )
        if rows.user is not None and rows.groups_per_person < len(rows.groups):
            frame = _few_groups(frame, rows.groups_per_person)
    if not as_number:
        frame = frame.filter(_present(ready, column, "value"))
    return frame, ready


def _few_groups(frame: Any, most: int) -> Any:
    """Each person's rows in the least ``most`` of their groups: a rule that looks at nobody else."""
    import narwhals as nw

    group = nw.col("group")
    if most == 1:
        return frame.filter(group == group.min().over("user"))
    ranked = frame.with_columns(group.rank("dense").over("user").alias("rank"))
    return ranked.filter(nw.col("rank") <= most).drop("rank")


def _groups_of(rows: Rows) -> list[str]:
    return [] if rows.by is None else ["group"]


def _plain_value(table: Table, column: str) -> Any:
    import narwhals as nw

    if table.kinds[column] == "text":
        return table.text(column)
    if table.kinds[column] == "float":
        # Adding zero turns a negative zero into zero, which some engines tell apart.
        return table.number(column) + 0.0
    return nw.col(column)


def _present(table: Table, column: str, name: str) -> Any:
    """Neither null, nor NaN or infinite, nor (in a text file) empty."""
    import narwhals as nw

    expression = nw.col(name)
    if table.kinds[column] == "float":
        return expression.is_finite() & ~expression.is_null()
    if table.is_text:
        return ~expression.is_null() & (expression != "")
    return ~expression.is_null()


def _only(frame: Any, table: Table, keys: Sequence[Any]) -> Any:
    """The rows whose value is one of the keys."""
    import narwhals as nw

    if len(keys) <= LISTED_AT_MOST:
        return frame.filter(nw.col("value").is_in(list(keys)))
    from discreet.tables.key_tables import keys_beside

    return keys_beside(frame, table.engine, keys)


def _people_in(frame: Any, rows: Rows, *kept: str) -> Any:
    """People for each combination of the columns kept, as a lazy frame with the column ``people``.

    Two groupings are quicker in every engine than one with a distinct count, and mean the same: there is one
    group for each combination and person.
    """
    import narwhals as nw

    if rows.user is not None:
        frame = frame.group_by(*kept, "user").agg(nw.len().alias("rows"))
    return frame.group_by(*kept).agg(nw.len().alias("people"))


def _fill(counts: Counts, found: dict[str, Any], rows: Rows, place: Any) -> None:
    group_place = {_identity(group): index for index, group in enumerate(rows.groups)}
    groups: Iterable[Any] = found["group"] if rows.by is not None else [None] * len(found["value"])
    for group, value, people in zip(groups, found["value"], found["people"], strict=True):
        row = 0 if rows.by is None else group_place[_identity(group)]
        index = place(value)
        if index is not None:
            counts[row, index] = people


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _identity(value: Any) -> Any:
    """What makes two values the same candidate: dates come back from engines in several types."""
    value = (
        value.astype("datetime64[D]").item() if isinstance(value, np.datetime64) else _plain(value)
    )
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    return value.date() if hasattr(value, "hour") and hasattr(value, "date") else value


_LIMITS = {f"{sign}Int{size}": size for sign in ("", "U") for size in (8, 16, 32, 64, 128)}


def _that_fit(table: Table, column: str, keys: Sequence[Any]) -> list[Any]:
    """The keys that the column's declared type can hold; nobody has the others."""
    if table.kinds[column] != "integer":
        return list(keys)
    dtype = str(table.frame().collect_schema()[column])
    bits = min(_LIMITS[dtype], 64)
    least, most = (
        (0, 1 << min(bits, 63)) if dtype.startswith("U") else (-(1 << (bits - 1)), 1 << (bits - 1))
    )
    return [key for key in keys if least <= int(key) < most]
