"""Neighbouring tables with unusual values for testing pipelines, generated from a schema or a table.

Two neighbouring tables differ in one person, who is added, removed or replaced. Unusual values can occur in a
column, but the pipeline's author may not have considered them: values at or beyond the bounds, NaN, infinite,
enormous or empty values.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from discreet.audit.search import checked_effort
from discreet.errors import ParameterError
from discreet.neighbours import ADD_REMOVE, Neighbours

Row = dict[Any, Any]

_BASES = {"quick": (0, 3), "usual": (0, 1, 3, 20), "thorough": (0, 1, 3, 20, 200)}
_MANY = 50
"""The number of rows of a made-up person who has many rows."""
_STRANGER = "another person"
_TRIALS = 100
"""The number of ids tried for a new person."""

_NUMBERS = (float("nan"), float("inf"), -float("inf"), 1.7e308, -1.7e308, 5e-324, -0.0, 1e16)
_WHOLES = (2**53 + 1, 2**63 - 1, -(2**63), 0)
_TEXTS = ("", "a\0", " a", "A", "e\u0301", "NaN", "x" * 10_000)
_KINDS: dict[type, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    bool: ((True, False), ()),
    int: ((1, 2, 3), _WHOLES),
    float: ((1.0, 2.5, 0.5), _NUMBERS),
    str: (("a", "b"), _TEXTS),
    datetime.date: (
        (datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)),
        (datetime.date.min, datetime.date.max),
    ),
    datetime.datetime: (
        (datetime.datetime(2024, 1, 1), datetime.datetime(2025, 1, 1)),
        (datetime.datetime.min, datetime.datetime.max),
    ),
}
"""Plain and unusual values of each type."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column's ordinary and unusual values."""

    plain: tuple[Any, ...]
    nasty: tuple[Any, ...]


class Schema:
    """The columns of a table, from which made-up tables are generated.

    Args:
        make: turns a list of rows, each a dictionary, into the type that the pipeline takes, such as
            ``pandas.DataFrame``; by default the pipeline gets the list itself.
        missing: whether a value may be None.
        columns: for each column a type (``int``, ``float``, ``str``, ``bool``, ``date``, ``datetime``), two
            numbers as ``(lowest, highest)``, or a list of labels.

    Example:
        >>> schema = Schema(age=(0, 120), diagnosis=["flu", "cold"])
        >>> first, second = next(schema.pairs())
        >>> first, second
        ([], [{'age': 0, 'diagnosis': 'flu'}])
    """

    generated = True

    def __init__(
        self,
        make: Callable[[list[Row]], Any] | None = None,
        *,
        missing: bool = False,
        **columns: Any,
    ) -> None:
        if not columns:
            raise ParameterError("a schema needs at least one column, as in Schema(age=(0, 120))")
        self._make = make or list
        self._said = ", ".join(f"{name}={what!r}" for name, what in columns.items())
        blank = (None,) if missing else ()
        self._columns = {name: _column(name, what, blank) for name, what in columns.items()}

    def __repr__(self) -> str:
        return f"Schema({self._said})"

    def pairs(
        self, *, user: str | None = None, neighbours: str = ADD_REMOVE, effort: str = "usual"
    ) -> Iterator[tuple[Any, Any]]:
        """Yield pairs of neighbouring made-up tables of several sizes, with ordinary and unusual values.

        Args:
            user: the name of an extra column that identifies the person of each row.
            neighbours: ``"add-remove"`` or ``"replace"``.
            effort: ``"quick"``, ``"usual"`` or ``"thorough"``; sets the size of the tables.
        """
        for size in _BASES[checked_effort(effort)]:
            plain = [islice(cycle(c.plain), size) for c in self._columns.values()]
            rows = [dict(zip(self._columns, row, strict=True)) for row in zip(*plain, strict=True)]
            if user is not None:
                rows = [{**row, user: f"person {place}"} for place, row in enumerate(rows)]
            for first, second in _neighbours(rows, self._columns, user, neighbours, _STRANGER):
                yield self._make(first), self._make(second)


def _column(name: str, what: Any, blank: tuple[Any, ...]) -> _Column:
    if isinstance(what, type) and what in _KINDS:
        plain, nasty = _KINDS[what]
        return _Column(plain, nasty + blank)
    if isinstance(what, tuple) and len(what) == 2 and what[0] <= what[1]:
        low, high = what
        middle = low + (high - low) // 2 if isinstance(low, int) else (low + high) / 2
        further = _WHOLES if isinstance(low, int) and isinstance(high, int) else _NUMBERS
        return _Column((low, middle, high), (high, low, high + 1, low - 1, *further, *blank))
    if isinstance(what, list) and what:
        return _Column(tuple(what), ("", "a label that is not on the list", *blank))
    raise ParameterError(
        f"⟨{name}⟩{what!r} is not allowed: give a type, two numbers as (lowest, highest), or a list of labels"
    )


class _Given:
    """A table from the caller, and a function that makes other tables of the same type."""

    generated = False

    def __init__(self, table: Any) -> None:
        kind = type(table).__module__.partition(".")[0]
        self._make: Callable[[list[Row]], Any] = type(table)
        if kind == "pandas":
            names, types = list(table.columns), table.dtypes
            self._rows = table.to_dict("records")
            self._make = lambda rows: type(table)(rows, columns=names).astype(types)
        elif kind == "polars":
            self._rows, schema = table.to_dicts(), table.schema
            self._make = lambda rows: type(table)(rows, schema=schema)
        elif isinstance(table, Sequence | np.ndarray) and not isinstance(table, str | bytes):
            plain = table.tolist() if isinstance(table, np.ndarray) else list(table)
            self._rows = [_as_row(row) for row in plain]
            bare = [_bare(row) for row in plain[:1]]

            def made(rows: list[Row]) -> Any:
                values = [bare[0](row) if bare else row for row in rows]
                if isinstance(table, np.ndarray):
                    return np.array(values, dtype=table.dtype).reshape(-1, *table.shape[1:])
                return type(table)(values)  # type: ignore[call-arg]  # a list or a tuple

            self._make = made
        else:
            raise ParameterError(
                f"a table of type {type(table).__name__} is not allowed: give a Schema, a list of rows, a "
                "NumPy array, or a frame of pandas or Polars"
            )
        if not self._rows:
            raise ParameterError("the table has no rows: give a Schema, or a table with some")
        self._columns = {name: _seen([row[name] for row in self._rows]) for name in self._rows[0]}

    def pairs(
        self, *, user: Any = None, neighbours: str = ADD_REMOVE, effort: str = "usual"
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the table paired with each of its generated neighbours."""
        checked_effort(effort)
        stranger = None if user is None else self._stranger(user)
        for first, second in _neighbours(self._rows, self._columns, user, neighbours, stranger):
            try:
                pair = self._make(first), self._make(second)
            except Exception as error:
                if _does_not_fit(error):  # skip values that this type of table cannot hold
                    continue
                raise
            yield pair

    def _stranger(self, user: Any) -> Any:
        """Return an id that no row has and that the column of ids can hold."""
        if user not in self._columns:
            raise ParameterError(f"⟨user⟩{user!r} is not allowed: it must be a column of the table")
        row = self._rows[0]
        taken = {each[user] for each in self._rows}
        unused = (value for value in _ids_like(taken) if value not in taken)
        for value in islice(unused, _TRIALS):
            # A column may cut a text short, or replace a value that it cannot hold by a missing one.
            with suppress(Exception):
                if _same(_Given(self._make([{**row, user: value}]))._rows[0][user], value):
                    return value
        raise ParameterError(
            f"⟨user⟩{user!r} is not allowed: its column cannot hold the id of one more person. Give the ids "
            "as text or as larger integers"
        )


def _does_not_fit(error: Exception) -> bool:
    # The errors of Polars share a base class, which is not a ValueError.
    return isinstance(error, TypeError | ValueError | OverflowError) or any(
        kind.__name__ == "PolarsError" for kind in type(error).__mro__
    )


def _ids_like(taken: Collection[Any]) -> Iterator[Any]:
    """Yield values of the type that the ids have; some of them may be taken."""
    known: dict[type, list[Any]] = {}
    for value in filter(_is_present, taken):
        known.setdefault(type(value), []).append(value)
    for kind, ids in known.items():
        if issubclass(kind, str):
            yield _STRANGER
        # Some types cannot be made from a number, or have no further value.
        with suppress(Exception):
            if issubclass(kind, datetime.date):
                yield max(ids) + datetime.timedelta(days=1)
                yield min(ids) - datetime.timedelta(days=1)
            elif issubclass(kind, bool):
                yield from (False, True)
            else:
                yield from map(kind, range(1, len(taken) + 2))


def _is_present(value: Any) -> bool:
    with suppress(TypeError):  # of pandas, when a comparison with a missing value is itself missing
        return value is not None and bool(value == value)  # noqa: PLR0124 - NaN differs
    return False


def _as_row(row: Any) -> Row:
    if isinstance(row, Mapping):
        return dict(row)
    return dict(enumerate(row)) if isinstance(row, list | tuple) else {"value": row}


def _bare(row: Any) -> Callable[[Row], Any]:
    if isinstance(row, Mapping):
        return dict
    if isinstance(row, list | tuple):
        return lambda one: type(row)(one.values())
    return lambda one: one["value"]


def _seen(values: list[Any]) -> _Column:
    """Infer a column from its values: the type, and the smallest and the largest value."""
    kind = next((type(value) for value in values if value is not None), str)
    _, nasty = next(
        (both for one, both in _KINDS.items() if issubclass(kind, one)), ((), _KINDS[str][1])
    )
    with suppress(TypeError):
        return _Column((values[0], min(values), max(values)), nasty)
    return _Column((values[0],), nasty)


def tables_of(data: Any) -> Schema | _Given:
    """Return a schema unchanged; wrap a table so that it can be varied."""
    return data if isinstance(data, Schema) else _Given(data)


def _neighbours(
    rows: list[Row], columns: Mapping[Any, _Column], user: Any, neighbours: str, stranger: Any
) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield pairs (rows, copy); in each copy one person is added, removed or replaced."""
    relation = Neighbours.named(neighbours)
    people: dict[Any, list[Row]] = {}
    for place, row in enumerate(rows):
        people.setdefault(place if user is None else row[user], []).append(row)
    names = list(people)
    telling = {0, len(names) - 1} & set(range(len(names)))
    for name, column in columns.items():
        # Removing the largest or the least value changes the bounds of the data.
        for extreme in column.plain[1:]:
            telling |= {
                n
                for n, who in enumerate(names)
                if any(_same(r[name], extreme) for r in people[who])
            }
    ends = sorted(telling)[:2] + sorted(telling)[-2:]
    for left_out in dict.fromkeys(names[place] for place in ends):
        rest = [row for who, theirs in people.items() if who != left_out for row in theirs]
        if relation == ADD_REMOVE:
            yield rows, rest
        else:
            for newcomer in _newcomers(columns, user, stranger):
                yield rows, rest + newcomer
    if relation == ADD_REMOVE:
        for newcomer in _newcomers(columns, user, stranger):
            yield rows, rows + newcomer


def _newcomers(columns: Mapping[Any, _Column], user: Any, stranger: Any) -> Iterator[list[Row]]:
    """Yield the rows of a new person: plain values, one unusual value, only unusual values, or many rows.

    ``stranger`` is the new person's id in the column ``user``.
    """
    plain = {name: column.plain[0] for name, column in columns.items()}
    if user is not None:
        plain[user] = stranger
    yield [plain]
    values = {name: (*c.plain[1:], *c.nasty) for name, c in columns.items() if name != user}
    for name, several in values.items():
        yield from ([{**plain, name: value}] for value in several)
    if len(values) > 1:
        longest = max(map(len, values.values()))
        together = (
            islice(cycle(several or (plain[name],)), longest) for name, several in values.items()
        )
        for row in zip(*together, strict=True):
            yield [{**plain, **dict(zip(values, row, strict=True))}]
    if user is not None:
        last = {name: column.plain[-1] for name, column in columns.items()}
        yield [{**last, user: plain[user]}] * _MANY


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
