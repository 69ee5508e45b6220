"""Count people, not rows, per candidate or per grid point, inside the engine.

For public groups and candidates, all that leaves the engine is an array with one row per group (a single row
without groups) and one column per candidate. The functions whose values or groups come from the data say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.sampling import Bits
from discreet._tables.compared import steps_to
from discreet._tables.engines import KEY_BITS, quietly
from discreet._tables.grid import Grid, clipped
from discreet._tables.growing_grid import GrowingGrid
from discreet._tables.query import Query
from discreet._tables.table import Table
from discreet._tables.where import Condition, comparisons, expression

Counts = NDArray[np.int64]
_GROUP = "group_place"
_DIGEST_BITS = 30
_MANY_COUNTS = 100_000
MOST_COUNTED = 10**11
"""The most people that a row of a counted table can stand for, and the largest count of a candidate.

It is below 2⁵³, so float64 sums up to it are exact in any order; larger sums are cut off. With this limit no
engine rounds, overflows or raises an error. Twenty million such counts (``LARGEST_GRID``) add up within 64
bits.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows that count, the people they belong to, and the groups they fall into.

    Attributes:
        user: the column that identifies a row's person, or None if every row is a different person.
        counted: the column with the number of people that a row stands for, or None.
        where: a condition that is checked on each row by itself.
        by: the column of the groups, or None.
        groups: the public groups, of the column's type.
        period: the kind of period, if the groups are periods of time; ``groups`` then holds their numbers.
        groups_per_person: each person counts in at most this many of their groups, drawn at random.
        key: the key for drawing groups or values at random, new for each release. A draw depends only on this
            key, the person, and the group or value.
    """

    user: str | None = None
    counted: str | None = None
    where: Condition | None = None
    by: str | None = None
    groups: tuple[Any, ...] = ()
    period: str | None = None
    groups_per_person: int = 1
    key: int | None = field(default=None, repr=False)

    def keyed(self, bits: Bits) -> Rows:
        """Return the same rows with a new key."""
        return replace(self, key=bits.integer(KEY_BITS))

    @property
    def number_of_groups(self) -> int:
        """The number of groups, or one if there are none."""
        return len(self.groups) if self.by is not None else 1

    @property
    def assigns(self) -> bool:
        """Whether people may have more groups than they count in; their groups are then drawn at random."""
        return self.user is not None and self.groups_per_person < len(self.groups)


def people_per_candidate(
    table: Table,
    rows: Rows,
    *,
    column: str,
    keys: Sequence[Any],
    other: bool = False,
    period: str | None = None,
) -> Counts:
    """Count, for each key, the people who have it in ``column``; a person counts at most once for each key.

    With ``other``, one more column counts people with a value that is not a key. With ``period``, the keys
    are numbers of periods of this kind, and a value counts for the period that contains it.
    """
    asked = {"rows": rows, "column": column, "other": other, "period": period}
    query = table.written(_per_candidate, **asked, keys=tuple(keys))
    doing = "counting people per candidate"
    return _counted(table, rows, query, column, width=len(keys) + other, doing=doing)


def _per_candidate(
    table: Table,
    *,
    rows: Rows,
    column: str,
    keys: Sequence[Any],
    other: bool,
    period: str | None,
) -> Query:
    """Return the query that counts the people for each key, by group."""
    many = rows.number_of_groups * len(keys) >= _MANY_COUNTS
    if many and table.engine.name == "duckdb" and not (other or rows.assigns):
        # A list this long has most of the column's values, so counting first saves lookups.
        query = _selected(table, rows, column, period=period, indexing=False)
        query = _people_in(table, query, rows, *_groups_of(rows), "value")
        if rows.by is not None:
            query = _indexed(table, query, _GROUP, rows.by, rows.groups, period=rows.period)
        return _indexed(table, query, "value", column, keys, period=period)
    query = _selected(table, rows, column, period=period)
    query = _indexed(table, query, "value", column, keys, other=other, period=period)
    return _people_in(table, query, rows, *_groups_of(rows), "value")


def people_per_grid_point(
    table: Table,
    rows: Rows,
    *,
    column: str,
    grid: Grid | GrowingGrid,
    per_person: str,
    outside: str = "drop",
) -> Counts:
    """Count the people at each grid point; a value belongs to the least point at or above it.

    Each person counts at one grid point: the ``least`` or the ``largest`` of the points of their values, one
    of these points drawn at ``random``, or the grid point nearest to the ``mean`` of these points. Values
    outside the bounds are dropped (``drop``) or moved to the nearest bound (``clamp``).
    """
    query = _selected(table, rows, column, as_number=True)
    if outside == "clamp":
        query = query.set({"value": grid.clamped(table.engine)})
    query = grid.with_index(query.where(grid.contains(table.engine)), table.engine)
    query = query.select({name: name for name in _kept(rows)} | {"value": "CAST(place AS BIGINT)"})
    if rows.user is not None:
        query = _one_each(table, query, rows, per_person, grid)
    query = _people_in(table, query, replace(rows, user=None), *_groups_of(rows), "value")
    doing = "counting people per grid point"
    return _counted(table, rows, query, column, width=len(grid), doing=doing)


def people_per_interval(table: Table, rows: Rows, *, column: str, grid: Grid) -> Counts:
    """Count, for each interval from one grid point to the next, the people who have a value in it.

    A person counts once for each interval in which they have a value.
    """
    query = _selected(table, rows, column, as_number=True).where(grid.contains(table.engine))
    query = grid.with_index_below(query, table.engine)
    query = query.select({name: name for name in _kept(rows)} | {"value": "CAST(place AS BIGINT)"})
    doing = "counting people per interval"
    return _people_at(table, rows, query, column, width=len(grid), doing=doing)


def people_with_any(
    table: Table,
    rows: Rows,
    *,
    column: str,
    keys: Sequence[Any] | None = None,
    grid: Grid | None = None,
    period: str | None = None,
) -> Counts:
    """Count the people with any value, or with a value in ``keys`` or within ``grid``; return one column."""
    query = _selected(table, rows, column, as_number=grid is not None, period=period)
    if keys is not None:
        query = _indexed(table, query, "value", column, keys, period=period)
    if grid is not None:
        query = query.where(grid.contains(table.engine))
    query = query.set({"value": "0"})
    return _people_at(table, rows, query, column, width=1, doing="counting people")


def people_per_group(table: Table, rows: Rows) -> list[tuple[Any, int]]:
    """Return every group that has people, with its number of people.

    Each person counts in one of their groups, drawn at random. The draw is a hash of person and group, so
    that it does not depend on anyone else. **The groups come from the data**: they are for a mechanism that
    decides which of them may be named.
    """
    assert rows.by is not None
    alone = replace(rows, by=None)
    query = _selected(table, alone, rows.by)
    if rows.user is not None:
        query = _drawn_groups(table, query, rows)
        for name in ("draw", "value"):  # if two digests are equal, "value" decides
            query = query.set({"first": f"min({name}) OVER (PARTITION BY person)"})
            query = query.where(f"{name} = first")
    query = _people_in(table, query, replace(alone, user=None), "value")
    return _listed(table, rows, query, rows.by, doing="counting people per group")


def people_per_group_and_share(
    table: Table, rows: Rows, *, without: Sequence[Any] = ()
) -> list[tuple[tuple[Any, int], int]]:
    """Return ((group, m), people) pairs: how many people count in this group, and in m groups altogether.

    A person counts in at most ``groups_per_person`` of their groups, drawn as for ``people_per_group``. Rows
    in the groups ``without`` are left out first.
    """
    assert rows.by is not None
    assert rows.user is not None
    alone = replace(rows, by=None)
    query = _selected(table, alone, rows.by)
    if without:
        query = query.set({"left_out": "value"})
        query = _indexed(table, query, "left_out", rows.by, without, other=True)
        query = query.where(f"left_out = {len(without)}")
    query = _drawn_groups(table, query, rows)
    place = "row_number() OVER (PARTITION BY person ORDER BY draw, value)"
    query = query.set({"first": place}).where(f"first <= {rows.groups_per_person}")
    query = query.set({"share": "count(*) OVER (PARTITION BY person)"})
    query = query.grouped("value", "share", people="count(*)")
    found = _listed(table, rows, query, rows.by, doing="counting people per group")
    # Texts that are not valid Unicode may share a label; in a sum, one person would count several times.
    return [each for each in found if "\ufffd" not in str(each[0][0])]


def _drawn_groups(table: Table, query: Query, rows: Rows) -> Query:
    """Return each person's groups without duplicates, with a hash that decides which groups are drawn."""
    query = query.grouped("person", "value", number="count(*)")
    digest = table.engine.hashed(f"'{_key(rows):x}'", "value", bits=_DIGEST_BITS)
    query = query.set({"digest": f"CAST({digest} AS BIGINT)"})
    return query.set({"draw": table.engine.drawn(_key(rows), "digest", 1 << _DIGEST_BITS)})


def people_per_number_of_groups(table: Table, rows: Rows) -> Counts:
    """Count the people who have rows in exactly one of the groups, in exactly two, and so on."""
    assert rows.by is not None
    every = replace(rows, groups_per_person=len(rows.groups))
    query = _selected(table, every, rows.by).grouped("person", _GROUP, number="count(*)")
    query = query.grouped("person", number="count(*)").select({"value": "number - 1"})
    query = query.grouped("value", people="count(*)")
    together, width = replace(rows, by=None), len(rows.groups)
    doing = "counting people by their groups"
    counts = _counted(table, together, query, rows.by, width=width, doing=doing)
    return np.asarray(counts[0])


def counted_values(table: Table, rows: Rows, *, column: str) -> Query:
    """Return a query of every value with its number of people (``value``, ``people``).

    **The values come from the data**: they are for joining with public candidates, or for a mechanism that
    is made for unknown domains.
    """
    return _people_in(table, _selected(table, rows, column), rows, "value")


def commonest_in_groups(
    table: Table, rows: Rows, *, column: str, most: int
) -> list[list[tuple[Any, int]]]:
    """Return the commonest values of each group, or of the table if ungrouped; ties are ordered by value."""
    if rows.by is None:
        return [commonest_values(table, rows, column=column, most=most)]
    query = _people_in(table, _selected(table, rows, column), rows, _GROUP, "value")
    above = f"rank() OVER (PARTITION BY {_GROUP} ORDER BY people DESC)"
    query = query.set({"above": above}).where(f"above <= {most}")
    query = query.select({name: name for name in ("value", _GROUP, "people")})
    doing = "counting people per value and group"
    found: list[list[tuple[Any, int]]] = [[] for _ in rows.groups]
    for (value, group), people in _listed(table, rows, query, column, doing=doing):
        found[group].append((value, people))
    return [these[:most] for these in found]


def commonest_values(table: Table, rows: Rows, *, column: str, most: int) -> list[tuple[Any, int]]:
    """Return up to ``most`` values, those with the most people; ties are ordered by value."""
    query = counted_values(table, rows, column=column)
    doing = "counting people per value"
    return _listed(table, rows, query, column, most=most, doing=doing)


# ---- the steps -----------------------------------------------------------------------------------


def _selected(
    table: Table,
    rows: Rows,
    column: str,
    *,
    as_number: bool = False,
    period: str | None = None,
    indexing: bool = True,
) -> Query:
    """Select value, person and group of each row that counts; ``indexing`` turns groups into positions."""
    engine = table.engine
    given = {"value": column} | _kept(rows)
    ways: dict[str, Sequence[str]] = {name: (table.identity(each),) for name, each in given.items()}
    present = {name: table.present(each, name) for name, each in given.items()}
    if as_number:
        ways["value"], present["value"] = table.position(column), engine.finite("value")
    for name, kind in (("value", period), (_GROUP, rows.period)):
        if kind is not None:
            ways[name] = table.period(given[name], kind, name=name)
            if table.is_dated(given[name]):
                present[name] = f"{name} IS NOT NULL"
    kept = {name: name for name in given}
    if rows.counted is not None:
        ways["counted"] = (table.number(rows.counted),)
        # Keep rows that stand for at least one person, each for a whole number of people.
        present["counted"] = f"counted >= 1 AND {engine.finite('counted')}"
        kept["counted"] = f"floor({clipped(engine, 'counted', 1.0, float(MOST_COUNTED))})"
    there, conditions = present.pop("value"), list(present.values())
    if rows.where is not None:
        tests = {f"test_{place}": each for place, each in enumerate(comparisons(rows.where))}
        ways |= {name: steps_to(table, each, name=name) for name, each in tests.items()}
        names = iter(tests)
        conditions.append(expression(rows.where, lambda _comparison: next(names)))
    query = Query.of(engine.source, {name: first for name, (first, *_) in ways.items()})
    for place in range(1, max(map(len, ways.values()))):
        further = {name: steps[place] for name, steps in ways.items() if place < len(steps)}
        query = query.set(further)
    if conditions:
        query = query.select(kept, where=" AND ".join(conditions))
    if rows.by is not None and indexing:
        query = _indexed(table, query, _GROUP, rows.by, rows.groups, period=rows.period)
        if rows.assigns:
            query = _few_groups(table, query, rows)
    # This comes last, so that a person's groups do not depend on the requested values.
    return query.where(there)


def _indexed(
    table: Table,
    query: Query,
    name: str,
    column: str,
    keys: Sequence[Any],
    *,
    other: bool = False,
    period: str | None = None,
) -> Query:
    """Replace each value of ``name`` by the position of the equal key; drop rows whose value is not a key.

    With ``other``, such rows are kept, and their position is the number of keys.
    """
    like = table.like(column, period)
    # Texts need no check: the word of a text that no row can have is None.
    sure = period is not None or like[0] == "text"
    cannot = set() if sure else {id(key) for key in table.cannot_hold(column, keys)}
    held = [
        (word, place)
        for place, (key, word) in enumerate(zip(keys, table.engine.words(keys), strict=True))
        if word is not None and id(key) not in cannot
    ]
    rest = len(keys) if other else None
    return table.engine.indexed(query, name, held, like=like, rest=rest)


def _key(rows: Rows) -> int:
    assert rows.key is not None, "rows are keyed afresh for each release"
    return rows.key


def _few_groups(table: Table, query: Query, rows: Rows) -> Query:
    """Keep each person's rows in at most ``groups_per_person`` groups, drawn independently of anyone else."""
    names = query.columns
    query = query.set({"draw": table.engine.drawn(_key(rows), _GROUP, len(rows.groups))})
    if rows.groups_per_person == 1:
        query = query.set({"first": "min(draw) OVER (PARTITION BY person)"}).where("draw = first")
    else:
        query = query.set({"first": "dense_rank() OVER (PARTITION BY person ORDER BY draw)"})
        query = query.where(f"first <= {rows.groups_per_person}")
    return query.select({name: name for name in names})


def _one_each(
    table: Table, query: Query, rows: Rows, per_person: str, grid: Grid | GrowingGrid
) -> Query:
    """Return one grid index for each person and group, chosen as ``per_person`` says.

    Indices are integers, so the order of the rows does not matter.
    """
    kept = ("person", *_groups_of(rows))
    if per_person == "random":
        query = query.set({"draw": table.engine.drawn(_key(rows), "value", len(grid))})
        query = query.grouped(*kept, draw="min(draw)")
        return query.set({"value": table.engine.choice_drawn(len(grid))})
    if per_person == "mean":
        query = grid.with_mean(query, table.engine, *kept)
        return query.select({name: name for name in kept} | {"value": "CAST(place AS BIGINT)"})
    chosen = "min(value)" if per_person == "least" else "max(value)"
    return query.grouped(*kept, value=chosen)


def _kept(rows: Rows) -> dict[str, str]:
    """Return the columns that a query keeps beside ``value``: each name in the query and its table column."""
    there = {"person": rows.user, _GROUP: rows.by, "counted": rows.counted}
    return {name: column for name, column in there.items() if column is not None}


def _groups_of(rows: Rows) -> list[str]:
    return [] if rows.by is None else [_GROUP]


def _people_in(table: Table, query: Query, rows: Rows, *kept: str) -> Query:
    """Count the people for each combination of the kept columns, in the column ``people``.

    Two groupings are equivalent to one with a distinct count, and faster in every engine except a database.
    """
    if rows.counted is not None:
        query = query.grouped(*kept, people="sum(counted)")
        people = clipped(table.engine, "people", 1.0, float(MOST_COUNTED))
        return query.set({"people": f"CAST({people} AS BIGINT)"})
    if rows.user is not None and table.engine.counts_distinct:
        return query.grouped(*kept, people="count(DISTINCT person)")
    if rows.user is not None:
        query = query.grouped(*kept, "person", number="count(*)")
    return query.grouped(*kept, people="count(*)")


# ---- what comes back -----------------------------------------------------------------------------


def _used(rows: Rows, column: str) -> list[str]:
    compared = [] if rows.where is None else [part.column for part in comparisons(rows.where)]
    given = (column, rows.user, rows.by, rows.counted, *compared)
    return list(dict.fromkeys(name for name in given if name is not None))


def _people_at(
    table: Table, rows: Rows, query: Query, column: str, *, width: int, doing: str
) -> Counts:
    """Count the people at each index in the column ``value``, by group."""
    query = _people_in(table, query, rows, *_groups_of(rows), "value")
    return _counted(table, rows, query, column, width=width, doing=doing)


def _counted(
    table: Table, rows: Rows, query: Query, column: str, *, width: int, doing: str
) -> Counts:
    """Run a query and return the number of people per group and candidate; missing rows count as zero."""
    counts = np.zeros((rows.number_of_groups, width), dtype=np.int64)

    def run() -> None:
        if table.is_trial:
            table.engine.try_out(query.statement)
            return
        columns = table.engine.loaded(_used(rows, column)).columns(query.statement, query.columns)
        row = 0 if rows.by is None else columns[_GROUP].astype(np.int64)
        counts[row, columns["value"].astype(np.int64)] = columns["people"]

    quietly(run, doing=doing, telling=table.is_trial)
    return counts


def _listed(
    table: Table, rows: Rows, query: Query, column: str, *, most: int | None = None, doing: str
) -> list[tuple[Any, int]]:
    """Run a query and return (value, people) pairs, commonest first.

    If the query keeps further columns, the value and these columns form a tuple. The values are Python
    objects, because NumPy cannot hold a wide integer, a decimal or a NUL exactly.
    """
    rest = "" if most is None else f" ORDER BY people DESC, value LIMIT {most}"
    statement = query.statement + rest

    def found() -> list[tuple[Any, int]]:
        if table.is_trial:
            table.engine.try_out(statement)
            return []
        pairs = []
        for value, *beside, people in table.engine.loaded(_used(rows, column)).rows(statement):
            plain = table.plain(column, value)
            pairs.append(((plain, *map(int, beside)) if beside else plain, int(people)))
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    return quietly(found, doing=doing, telling=table.is_trial)
