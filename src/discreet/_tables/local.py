"""Tables in memory as DuckDB relations: pandas, Polars, Arrow, and anything that exports Arrow.

Before the payment, only a table's declared schema is used. After the payment, DuckDB gets the rows, but only
the columns that the question uses. Moments and spans become whole numbers, because DuckDB's own conversions
raise errors at some values.

A pandas frame is read column by column, and never through its own Arrow stream or DuckDB's reader, which
infer the type of a column of Python objects from its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from discreet._tables.arrays import TICKS, Held, of_array, of_columns, texts_of, ticks_of
from discreet._tables.engines import kind_of, quoted, require_names
from discreet._tables.in_duckdb import DuckDB, empty, holding, of_known, of_rows
from discreet.errors import ParameterError, missing_extra

_UNIT = re.compile(r"(?:time_unit='|\[)(s|ms|us|ns)\b")
_SCANS_TEXT = re.compile(r"^\s*(Csv|NDJson) SCAN \[", re.MULTILINE)
_ONCE = (
    "data of type {} is not allowed: it can be read only once, and a second question would find nothing; "
    "load it with pyarrow.table(data)"
)


class Stream:
    """An Arrow stream that is opened again each time a DuckDB relation reads it."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a new stream of the data."""
        return self._held.__arrow_c_stream__(requested_schema)


class Chosen(Stream):
    """A stream of the chosen columns only, because DuckDB may fail on the type of another column."""

    def __init__(self, held: Any, columns: list[str]) -> None:
        super().__init__(held)
        self._columns = columns

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a new stream of the chosen columns."""
        import pyarrow as pa

        whole = pa.RecordBatchReader.from_stream(self._held)
        schema = pa.schema([whole.schema.field(name) for name in self._columns])
        batches = (batch.select(self._columns) for batch in whole)
        return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__(
            requested_schema
        )


class Scan:
    """A stream of an Arrow data set, read part by part; the columns ``as_integers`` become whole numbers."""

    def __init__(self, data: Any, columns: Iterable[str], *, as_integers: Iterable[str]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._data, self._columns = data, {name: pc.field(name) for name in columns}
        self._columns |= {name: pc.field(name).cast(pa.int64()) for name in as_integers}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a new stream of the columns, read part by part."""
        reader = self._data.scanner(columns=self._columns).to_reader()
        return reader.__arrow_c_stream__(requested_schema)


def _of_arrow(
    known_as: Mapping[str, str],
    names: Iterable[str],
    twin: Callable[[list[str]], Any],
    load: Callable[[list[str], list[str]], Any],
) -> DuckDB:
    """Open data that DuckDB reads through Arrow.

    ``twin(names)`` returns these columns without rows. ``load(names, timed)`` returns them with their rows,
    and those in ``timed`` (moments and spans) as whole numbers.
    """
    wanted = list(names)
    held = of_known(twin(wanted)) if wanted else empty({})
    if held is None:
        wanted = [name for name in wanted if of_known(twin([name])) is not None]
        held = holding(twin(wanted)) if wanted else empty({})
    types = held.sql("FROM discreet_rows").types
    kinds = {name: kind_of(str(kind)) for name, kind in zip(wanted, types, strict=False)}
    ticks = {
        name: TICKS[unit[1]]
        for name, kind in kinds.items()
        if kind in ("moment", "span") and (unit := _UNIT.search(known_as[name]))
    }
    if ticks:
        numbers = ", ".join(f"NULL::BIGINT AS {quoted(name)}" for name in ticks)
        held = holding(twin(wanted), f"* REPLACE ({numbers})")

    def rows(columns: Iterable[str]) -> Any:
        chosen = list(columns)
        return holding(load(chosen, [name for name in chosen if name in ticks]))

    return of_rows(held, rows, known_as=known_as, kinds=kinds, ticks=ticks)


# ---- Polars ----------------------------------------------------------------------------------------------


def of_polars(frame: Any) -> DuckDB:
    """Open a Polars frame, eager or lazy."""
    import polars as pl

    if hasattr(frame, "explain") and _SCANS_TEXT.search(frame.explain(optimized=False)):
        # Even with a stated schema and ignore_errors=True, the field "x"y stops Polars.
        raise ParameterError(
            "a lazy frame that scans a text file is not allowed: a malformed row would make it fail after "
            "the payment, even with a stated schema. Give the path itself, which no row can make fail "
            "(TextFile states the types of its columns), or collect() the frame first"
        )
    schema = frame.collect_schema()
    require_names(schema.names())
    plain = {name: dtype for name, dtype in schema.items() if not dtype.is_object()}

    def twin(names: list[str]) -> Any:
        return Stream(pl.DataFrame(schema={name: plain[name] for name in names}))

    def load(columns: list[str], timed: list[str]) -> Any:
        chosen = frame.lazy().select(columns).with_columns(pl.col(timed).to_physical())
        return Stream(chosen.collect())

    return _of_arrow({name: str(dtype) for name, dtype in schema.items()}, plain, twin, load)


# ---- Arrow, and data that exports it ---------------------------------------------------------------------


def of_arrow(data: Any) -> DuckDB:
    """Open an Arrow table or data set, or another object with a schema and a reopenable stream."""
    once = hasattr(data, "__next__") or hasattr(data, "read_all")
    if once:
        raise ParameterError(_ONCE.format(type(data).__name__))
    schema: Any = getattr(data, "schema", None)
    if not hasattr(schema, "empty_table"):
        schema = _schema_of(data)
    require_names(schema.names)

    def load(columns: list[str], timed: list[str]) -> Any:
        if hasattr(data, "scanner"):
            # A data set: DuckDB reads it part by part, and only these columns.
            return Scan(data, columns, as_integers=timed)
        if hasattr(data, "set_column"):
            return _with_ticks(data, columns, timed)
        if not timed:
            return Chosen(data, columns)
        import pyarrow as pa

        return _with_ticks(pa.table(data), columns, timed)

    known_as = {each.name: str(each.type) for each in schema}
    return _of_arrow(known_as, schema.names, lambda names: schema.empty_table().select(names), load)


def _with_ticks(table: Any, columns: list[str], timed: list[str]) -> Any:
    """Select columns of an Arrow table; turn those in ``timed`` (moments and spans) into whole numbers."""
    chosen = table.select(columns)
    for name in timed:
        chosen = chosen.set_column(columns.index(name), name, ticks_of(chosen[name]))
    return chosen


def _schema_of(data: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_extra("reading data through Arrow needs PyArrow", extra="arrow") from None
    # Do not open the stream for this, because opening it may run a query.
    for holder in (data, getattr(data, "schema", None)):
        if hasattr(holder, "__arrow_c_schema__"):
            return pa.schema(holder)
    raise ParameterError(
        f"data of type {type(data).__name__} is not allowed: it does not state its schema before it is read; "
        "load it with pyarrow.table(data)"
    )


def of_memtable(native: Any) -> DuckDB:
    """Open an Ibis table whose rows are in memory, not in a database."""
    import pyarrow as pa

    node, schema = native.op(), native.schema().to_pyarrow()
    computed = not hasattr(node, "data")
    if computed:  # Ibis computes the rows, but cannot do it for spans
        schema = pa.schema([each for each in schema if not pa.types.is_duration(each.type)])

    def load(columns: list[str], timed: list[str]) -> Any:
        held = (
            native.select(*columns).to_pyarrow() if computed else node.data.to_pyarrow(node.schema)
        )
        return _with_ticks(held, columns, timed)

    known_as = {name: str(dtype) for name, dtype in native.schema().items()}
    known_as |= {each.name: str(each.type) for each in schema}
    return _of_arrow(known_as, schema.names, lambda names: schema.empty_table().select(names), load)


# ---- pandas ----------------------------------------------------------------------------------------------


def of_pandas(frame: Any) -> DuckDB:
    """Open a pandas frame, each column by its declared type; in a column of objects only texts count."""
    if not all(isinstance(name, str) for name in frame.columns):
        raise ParameterError(
            "the column names of a frame must be texts, not numbers or other objects: "
            "frame.rename(columns=str) makes them texts"
        )
    require_names(frame.columns)
    known_as = {name: str(kind) for name, kind in frame.dtypes.items()}
    # A frame without rows has every column's type, and reading it reads no row.
    return of_columns(
        {name: _of_pandas(frame[name].iloc[:0]) for name in frame.columns},
        known_as,
        lambda name: _of_pandas(frame[name]),
        kinds={name: "object" for name, kind in known_as.items() if kind == "object"},
    )


def _of_pandas(series: Any) -> Held | None:
    """Return a column's values, read by its declared type; None for a type that no question can use."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = _of_pandas(pd.Series(dtype.categories))
        return None if categories is None else categories.taken(series.cat.codes.to_numpy())
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow":
        return Held.of_arrow(series.array.__arrow_array__())
    if str(dtype) == "object" or isinstance(dtype, pd.StringDtype):
        return texts_of(series.array)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return of_array(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, np.dtype):
        return of_array(series.to_numpy())
    plain = getattr(dtype, "numpy_dtype", None)
    if plain is None:
        return None
    missing = series.isna().to_numpy()
    return of_array(np.ma.array(series.to_numpy(dtype=plain, na_value=plain.type()), mask=missing))
