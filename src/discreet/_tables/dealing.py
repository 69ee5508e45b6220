"""Deal people into blocks: each person's block is chosen by secret random bits of their own.

The rows of a block are shuffled, because a row's position in the table would reveal something about other
rows. A block's content depends only on the rows of its own people and on secret random bits
(``docs/proofs/votes.md``).
"""

from __future__ import annotations

import contextlib
import io
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.sampling import Bits
from discreet._exact.sampling.bits import uniform_indices
from discreet._tables.compared import steps_to
from discreet._tables.counts import Rows
from discreet._tables.engines import quietly
from discreet._tables.query import Query
from discreet._tables.table import Table, open_table
from discreet._tables.where import comparisons, expression
from discreet.errors import ParameterError, missing_extra

_PLACE = "discreet_place"
_DEALT = ("text", "object", "integer", "float", "decimal", "boolean", "date", "moment")
"""Kinds of columns that a function can receive."""
_ARROW, _PICKLED, _FRAME, _LAZY = b"a", b"p", b"f", b"l"
"""The formats for sending rows: an Arrow stream, a pickle, or a Polars frame, eager or lazy."""

Pieces = list[Callable[[], bytes]]


@dataclass(frozen=True, slots=True)
class Dealer:
    """A table whose rows can be dealt into blocks.

    Attributes:
        data: the table as it was given.
        table: the same table, opened.
        rows: the rows that count, and the people they belong to.
        columns: the columns that are given to the function.
    """

    data: Any
    table: Table
    rows: Rows
    columns: tuple[str, ...]

    def try_out(self) -> None:
        """Have the engine check the statement that will read the rows, without reading any."""
        if not _in_hand(self.data):
            query = _read(self.table, self.rows, self.columns)
            quietly(
                lambda: self.table.engine.try_out(query.statement),
                doing="trying the question on no rows",
                telling=True,
            )

    def deal(self, blocks: int, bits: Bits) -> Pieces:
        """Read the rows and deal their people into blocks.

        Return one function for each block, which returns the block's rows as bytes.
        """
        whose, send = quietly(self._held, doing="reading the rows")
        people = int(whose.max(initial=-1)) + 1
        block = uniform_indices(bits, blocks, count=people)[whose]
        order = _shuffled(len(whose), bits)
        by_block = order[np.argsort(block[order], kind="stable")]
        ends = np.searchsorted(block[by_block], np.arange(blocks + 1))
        return [
            lambda places=by_block[start:end]: send(places)  # type: ignore[misc]  # bound now
            for start, end in pairwise(ends.tolist())
        ]

    def _held(self) -> tuple[NDArray[np.int64], Callable[[Any], bytes]]:
        """Return the person of each row, numbered from zero, and a function that serialises rows."""
        used = _used(self.rows)
        if _in_hand(self.data):
            data = self.data
            if hasattr(data, "collect"):  # only once: a second run may reorder the rows
                data = data.select(list(dict.fromkeys([*self.columns, *used]))).collect()
            frame = _Held(data, self.columns, lazy=data is not self.data)
            if not used:
                return np.arange(len(frame)), frame.sent
            places, whose = self._kept(data, used)
            return whose, lambda chosen: frame.sent(places[chosen])
        whose, read = _arrow_of(self.table, self.rows, self.columns)
        held = _Held(read, self.columns)
        return np.arange(len(whose)) if self.rows.user is None else whose, held.sent

    def _kept(self, data: Any, used: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of a frame's rows that count, and the person of each of these rows."""
        table = open_table(_numbered(data, used), needed=[*used, _PLACE])
        query = _chosen(table, self.rows, {"place": (table.engine.column(_PLACE),)})
        engine = table.engine.loaded([*used, _PLACE])
        read = engine.columns(query.statement, query.columns)
        places = np.asarray(read["place"], dtype=np.int64)
        whose = np.asarray(read["person"], dtype=np.int64)
        return places, np.arange(len(places)) if self.rows.user is None else whose

    def example(self, columns: dict[str, list[Any]]) -> Any:
        """Convert invented columns to the table's kind of data, with its declared types where they fit."""
        library = type(self.data).__module__.partition(".")[0]
        if library == "pandas":
            import pandas as pd

            frame = pd.DataFrame(columns)
            for name in columns:
                with contextlib.suppress(TypeError, ValueError):
                    frame[name] = frame[name].astype(self.data.dtypes[name])
            return frame
        if library == "polars":
            import polars as pl

            made, schema = pl.DataFrame(columns), self.data.collect_schema()
            for name in columns:
                with contextlib.suppress(pl.exceptions.PolarsError):
                    made = made.with_columns(pl.col(name).cast(schema[name], strict=False))
            return made.lazy() if hasattr(self.data, "collect") else made
        if isinstance(self.data, list | np.ndarray):
            (values,) = columns.values()
            return (
                np.array(values, dtype=self.data.dtype) if hasattr(self.data, "dtype") else values
            )
        pa = _pyarrow()
        if self.table.is_text:
            columns = {name: [str(value) for value in values] for name, values in columns.items()}
        table = pa.table(columns)
        for place, name in enumerate(
            columns if library == "pyarrow" and _in_hand(self.data) else ()
        ):
            with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                kind = self.data.schema.field(name).type
                table = table.set_column(place, name, table[name].cast(kind))
        return table

    def send(self, data: Any) -> bytes:
        """Return public rows as bytes in the format of a block; rows of a file are sent as Arrow."""
        if isinstance(data, str | Path):
            opened = open_table(data, needed=self.columns)
            _, data = _arrow_of(opened, Rows(), self.columns)
        held = _Held(data, self.columns)
        return held.sent(np.arange(len(held)))


def dealer(data: Any, table: Table, rows: Rows, columns: Sequence[str] | None) -> Dealer:
    """Return a dealer for a table's rows; the declared columns are checked before any row is read."""
    if type(data).__module__.partition(".")[0] == "narwhals":
        data = data.to_native()
    if table.engine.name == "spark":
        raise ParameterError(
            "votes of blocks do not run in a cluster, because the rows of a block must come to this machine: "
            "write the rows that you need to a file, and ask about that file"
        )
    if isinstance(data, list | np.ndarray) and rows.where is not None:
        raise ParameterError("⟨where⟩ needs a table with columns: leave it out for a list")
    known = [name for name, kind in table.kinds.items() if kind in _DEALT]
    for name in columns or ():
        table.kind(name, name="columns")
        if name not in known:
            raise ParameterError(
                f"⟨columns⟩ names {name!r}, which is {table.described(name)} and cannot be passed to a "
                "function"
            )
    if not _in_hand(data) or type(data).__module__.startswith("pyarrow"):
        _pyarrow()
    return Dealer(data, table, rows, tuple(known if columns is None else columns))


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_extra(
            "rows of a file or a database are given as Arrow", extra="arrow"
        ) from None
    return pa


def _in_hand(data: Any) -> bool:
    """Return whether rows are sent in the data's own format: a list, array, frame or Arrow table."""
    library, name = type(data).__module__.partition(".")[0], type(data).__name__
    return (
        isinstance(data, list | np.ndarray)
        or (library == "pandas" and name == "DataFrame")
        or (library == "polars" and name in ("DataFrame", "LazyFrame"))
        or (library == "pyarrow" and name == "Table")
    )


def _shuffled(count: int, bits: Bits) -> NDArray[np.int64]:
    """Return all positions in uniformly random order, by sorting distinct random words."""
    words = bits.words(count)
    while len(np.unique(words)) < count:
        words = bits.words(count)
    return np.argsort(words, kind="stable").astype(np.int64)


# ---- rows in memory ----------------------------------------------------------------------------------------


class _Held:
    """Rows in memory; a selection of them is sent without anything that reveals the other rows."""

    def __init__(self, data: Any, columns: Iterable[str], *, lazy: bool = False) -> None:
        library = type(data).__module__.partition(".")[0]
        self._how = _PICKLED
        self._held = data
        if library == "pandas":
            self._held = data[list(columns)]
        elif library == "polars":
            self._how = _LAZY if lazy or hasattr(data, "collect") else _FRAME
            self._held = data.lazy().select(list(columns)).collect()
        elif library == "pyarrow":
            self._how, self._held = _ARROW, data.select(list(columns))

    def __len__(self) -> int:
        return len(self._held)

    def sent(self, places: NDArray[np.int64]) -> bytes:
        """Return the rows at these positions, as bytes."""
        kind = type(self._held).__module__.partition(".")[0]
        if kind == "pandas":
            return self._how + pickle.dumps(_bare(self._held.iloc[places]))
        if kind == "polars":
            import polars as pl

            # The list of categories may contain values that do not occur in these rows.
            rows = self._held[places].with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
            stream = io.BytesIO()
            rows.write_ipc_stream(stream)
            return self._how + stream.getvalue()
        if kind == "pyarrow":
            return self._how + _in_arrow(self._held, places)
        if not isinstance(self._held, np.ndarray):
            return self._how + pickle.dumps([self._held[place] for place in places])
        chosen = self._held[places]
        if chosen.dtype.kind in "SU":  # the longest text of all rows determines the array's width
            chosen = np.array(chosen.tolist(), dtype=chosen.dtype.kind)
        return self._how + pickle.dumps(chosen)


def _bare(frame: Any) -> Any:
    """Return a pandas frame without index, attributes, unused categories, or objects that are not texts."""
    frame = frame.reset_index(drop=True)
    frame.attrs = {}
    for name in frame.columns:
        if hasattr(frame[name].dtype, "categories"):
            values, own = frame[name].cat, frame[name].dropna().unique()
            # Categories that are not declared as ordered may be listed in the order of the table's rows.
            frame[name] = (
                values.remove_unused_categories()
                if values.ordered
                else values.set_categories(list(own))
            )
        elif frame[name].dtype == object:  # in a column of objects only texts count
            texts = [each if isinstance(each, str) else None for each in frame[name]]
            frame[name] = type(frame[name])(texts, dtype=object)
    return frame


def _in_arrow(table: Any, places: NDArray[np.int64]) -> bytes:
    import pyarrow as pa

    rows = table.replace_schema_metadata(None).take(pa.array(places))
    for place, each in enumerate(rows.schema):
        if pa.types.is_dictionary(each.type):  # it may list values that are not in these rows
            plain = rows.column(place).cast(each.type.value_type)
            rows = rows.set_column(place, each.name, plain)
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, rows.schema) as writer:
        writer.write_table(rows)
    return stream.getvalue()


def _numbered(data: Any, used: list[str]) -> Any:
    """Return the columns ``used`` of a frame, with a column of the rows' positions."""
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        return data[used].assign(**{_PLACE: np.arange(len(data))})
    if library == "polars":
        return data.select(used).with_row_index(_PLACE)
    import pyarrow as pa

    return data.select(used).append_column(_PLACE, pa.array(np.arange(len(data))))


# ---- rows of a file or a database --------------------------------------------------------------------------


def _used(rows: Rows) -> list[str]:
    compared = [] if rows.where is None else [part.column for part in comparisons(rows.where)]
    return list(dict.fromkeys(name for name in (rows.user, *compared) if name is not None))


def _chosen(table: Table, rows: Rows, beside: Mapping[str, Sequence[str]]) -> Query:
    """Select the rows that count, with the columns ``beside`` and a number for each person (``person``)."""
    ways = dict(beside)
    conditions = []
    if rows.user is not None:
        ways["who"] = (table.identity(rows.user),)
        conditions.append(table.present(rows.user, "who"))
    if rows.where is not None:
        tests = {f"test_{place}": each for place, each in enumerate(comparisons(rows.where))}
        ways |= {name: steps_to(table, each, name=name) for name, each in tests.items()}
        names = iter(tests)
        conditions.append(expression(rows.where, lambda _comparison: next(names)))
    query = Query.of(table.engine.source, {name: first for name, (first, *_) in ways.items()})
    for place in range(1, max(map(len, ways.values()))):
        query = query.set({name: each[place] for name, each in ways.items() if place < len(each)})
    if conditions:
        query = query.where(" AND ".join(conditions))
    person = "0" if rows.user is None else "dense_rank() OVER (ORDER BY who) - 1"
    return query.select({name: name for name in beside} | {"person": f"CAST({person} AS BIGINT)"})


def _read(table: Table, rows: Rows, columns: Sequence[str]) -> Query:
    """Return a query for the rows that count; values that are not of their column's type become null."""
    return _chosen(
        table,
        rows,
        {f"c{place}": _value(table, name, f"c{place}") for place, name in enumerate(columns)},
    )


def _value(table: Table, column: str, name: str) -> tuple[str, str]:
    """Return SQL, in two steps, for a column's identity (a moment's seconds since 1970); null if missing."""
    if table.kinds[column] == "moment":
        held, there = table.engine.position(column), table.engine.finite(name)
    else:
        held, there = table.identity(column), table.present(column, name)
    return held, f"CASE WHEN {there} THEN {name} END"


def _arrow_of(table: Table, rows: Rows, columns: Sequence[str]) -> tuple[NDArray[np.int64], Any]:
    """Return the person of each row that counts, and these rows as an Arrow table with declared types."""
    pa = _pyarrow()
    query, used = _read(table, rows, columns), dict.fromkeys([*columns, *_used(rows)])
    read = list(zip(*table.engine.loaded(list(used)).rows(query.statement), strict=True))
    *values, whose = read or [()] * len(query.columns)
    made = {}
    for name, held in zip(columns, values, strict=True):
        kind, turn = _TYPES.get(table.kinds[name], ("string", str))
        made[name] = pa.array([_turned(table, name, each, turn) for each in held], kind)
    return np.array(whose, dtype=np.int64), pa.table(made)


def _turned(table: Table, name: str, value: Any, turn: Callable[[Any], Any]) -> Any:
    """Convert a value to its column's type; None if Python cannot represent it, such as February 31."""
    try:
        return None if value is None else turn(table.plain(name, value))
    except (ValueError, ArithmeticError, TypeError):
        return None


def _whole(number: Any) -> int | None:
    return int(number) if -(2**63) <= number < 2**63 else None


_TYPES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "integer": ("int64", _whole),
    "float": ("float64", float),
    "decimal": ("float64", float),
    "boolean": ("bool", bool),
    "date": ("date32", lambda day: day),
    "moment": ("timestamp[us]", lambda seconds: _whole(round(float(seconds) * 10**6))),
}
"""The Arrow type for each kind of column, and the function that converts a value to it (or to None)."""
