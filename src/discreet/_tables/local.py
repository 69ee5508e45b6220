"""Tables that a person holds in memory, as relations of DuckDB: pandas, Polars, Arrow, and what speaks Arrow.

What is known of a table comes from its declared schema; rows are handed over when a question was paid for,
and only those of the columns that it uses. Moments and spans are handed over as whole numbers: DuckDB's own
conversions raise at some of their values.

pandas is read column by column, and never by its own Arrow stream or by DuckDB's reader, which take the type
of a column of Python objects from its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from discreet._tables.arrays import Held, as_relation, of_array, texts_of
from discreet._tables.engines import kind_of, quoted
from discreet._tables.in_duckdb import DuckDB, connected, empty
from discreet.errors import ParameterError, missing_extra

_UNIT = re.compile(r"(?:time_unit='|\[)(s|ms|us|ns)\b")
_ZONE = re.compile(r"(?:time_zone='|tz=|64\[\w+, )([^'\],)]+)")
_SCANS_TEXT = re.compile(r"^\s*(Csv|NDJson) SCAN \[", re.MULTILINE)
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_ONCE = (
    "data of type {} is not allowed: it can be read only once, and a second question would find nothing; "
    "pyarrow.table(data) holds it"
)


class Stream:
    """What a DuckDB relation reads as often as it is asked: an Arrow stream that is opened anew each time."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream of what is held."""
        return self._held.__arrow_c_stream__(requested_schema)


class Scan:
    """The same of a data set, part by part, with some of its columns as whole numbers."""

    def __init__(self, data: Any, columns: Iterable[str], *, as_integers: Iterable[str]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._data, self._columns = data, {name: pc.field(name) for name in columns}
        self._columns |= {name: pc.field(name).cast(pa.int64()) for name in as_integers}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of these columns."""
        reader = self._data.scanner(columns=self._columns).to_reader()
        return reader.__arrow_c_stream__(requested_schema)


def require_names(columns: Iterable[str]) -> None:
    """Raise an error where two columns have one name: engines do not tell capital letters apart."""
    folded = [name.casefold() for name in columns]
    twice = next((name for name in columns if folded.count(name.casefold()) > 1), None)
    if twice is not None:
        raise ParameterError(
            f"two columns are named {twice!r} (capital letters do not count): rename one of them"
        )


def _engine(
    relation: Any,
    known_as: Mapping[str, str],
    load: Callable[[Iterable[str]], Any],
) -> DuckDB:
    """Local data with the columns of a relation, by their types as the person knows them."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    timed = {
        name: _TICKS[unit[1]]
        for name, declared in types.items()
        if declared.startswith(("TIMESTAMP", "INTERVAL")) and (unit := _UNIT.search(known_as[name]))
    }
    if timed:
        numbers = ", ".join(f"NULL::BIGINT AS {quoted(name)}" for name in timed)
        relation = relation.project(f"* REPLACE ({numbers})")
    engine = DuckDB(relation, load=load, as_ticks=timed)
    engine.kinds = {name: kind_of(types.get(name, "other")) for name in known_as}
    engine.known_as = known_as
    engine.zones = {
        name: zone[1]
        for name, declared in known_as.items()
        if engine.kinds[name] == "moment" and (zone := _ZONE.search(declared))
    }
    return engine


def _known_to_duckdb(names: Iterable[str], twin: Callable[[list[str]], Any]) -> Any:
    """A relation of the columns without rows, without those whose types DuckDB does not know."""
    wanted = list(names)
    try:
        return connected().from_arrow(twin(wanted))
    except Exception:  # of some type, and it does not say of which
        known = [name for name in wanted if _is_known(twin([name]))]
    return connected().from_arrow(twin(known)) if known else empty({"discreet_nothing": "INTEGER"})


def _is_known(twin: Any) -> bool:
    try:
        connected().from_arrow(twin)
    except Exception:
        return False
    return True


# ---- Polars ----------------------------------------------------------------------------------------------


def of_polars(frame: Any) -> DuckDB:
    """A Polars frame, eager or lazy."""
    import polars as pl

    if hasattr(frame, "explain") and _SCANS_TEXT.search(frame.explain(optimized=False)):
        raise ParameterError(
            "a lazy frame that scans a text file is not allowed: its types come from rows, and a row that "
            "does not fit them raises after the payment; give the path itself, or collect() the frame first"
        )
    schema = frame.collect_schema()
    require_names(schema)
    plain = {name: dtype for name, dtype in schema.items() if not dtype.is_object()}

    def load(columns: Iterable[str]) -> Any:
        timed = [name for name in columns if schema[name].is_temporal() and name in engine.as_ticks]
        chosen = frame.lazy().select(list(columns)).with_columns(pl.col(timed).to_physical())
        return connected().from_arrow(Stream(chosen.collect()))

    def twin(names: list[str]) -> Any:
        return Stream(pl.DataFrame(schema={name: plain[name] for name in names}))

    engine = _engine(
        _known_to_duckdb(plain, twin), {name: str(dtype) for name, dtype in schema.items()}, load
    )
    return engine


# ---- Arrow, and what speaks it ---------------------------------------------------------------------------


def of_arrow(data: Any) -> DuckDB:
    """An Arrow table or data set, or another object with a schema and a stream that can be opened again."""
    once = hasattr(data, "__next__") or hasattr(data, "read_all")
    if once:
        raise ParameterError(_ONCE.format(type(data).__name__))
    schema: Any = getattr(data, "schema", None)
    if not hasattr(schema, "empty_table"):
        schema = _schema_of(data)
    known_as = {each.name: str(each.type) for each in schema}
    require_names(schema.names)

    def load(columns: Iterable[str]) -> Any:
        chosen = list(columns)
        timed = [name for name in chosen if name in engine.as_ticks]
        if hasattr(data, "scanner"):
            # A data set: DuckDB reads it part by part, and only these columns.
            return connected().from_arrow(Scan(data, chosen, as_integers=timed) if timed else data)
        held = data
        if timed and not hasattr(data, "set_column"):
            import pyarrow as pa

            held = pa.table(data)
        return connected().from_arrow(
            _with_ticks(held, chosen, timed) if timed else _selected(held, chosen)
        )

    def twin(names: list[str]) -> Any:
        return schema.empty_table().select(names)

    engine = _engine(_known_to_duckdb(schema.names, twin), known_as, load)
    return engine


def _selected(data: Any, columns: list[str]) -> Any:
    return data.select(columns) if hasattr(data, "set_column") else Stream(data)


def _with_ticks(table: Any, columns: list[str], timed: list[str]) -> Any:
    import pyarrow as pa

    chosen = table.select(columns)
    for name in timed:
        ticks = pa.chunked_array(
            [chunk.view(pa.int64()) for chunk in chosen[name].chunks], pa.int64()
        )
        chosen = chosen.set_column(columns.index(name), name, ticks)
    return chosen


def _schema_of(data: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_extra("data that speaks Arrow needs PyArrow", extra="arrow") from None
    # Not by opening the stream, which may run a query.
    for holder in (data, getattr(data, "schema", None)):
        if hasattr(holder, "__arrow_c_schema__"):
            return pa.schema(holder)
    raise ParameterError(
        f"data of type {type(data).__name__} is not allowed: it does not state its schema before it is read; "
        "pyarrow.table(data) holds it"
    )


def of_memtable(native: Any) -> DuckDB:
    """A table of Ibis that is in no database: its rows are in memory."""
    import pyarrow as pa

    node, schema = native.op(), native.schema().to_pyarrow()
    if not hasattr(node, "data"):
        # Ibis computes it, which it cannot do for spans.
        schema = pa.schema([each for each in schema if not pa.types.is_duration(each.type)])

    def load(columns: Iterable[str]) -> Any:
        chosen = list(columns)
        timed = [name for name in chosen if name in engine.as_ticks]
        computed = not hasattr(node, "data")
        held = (
            native.select(*chosen).to_pyarrow() if computed else node.data.to_pyarrow(node.schema)
        )
        return connected().from_arrow(_with_ticks(held, chosen, timed))

    relation = _known_to_duckdb(schema.names, lambda names: schema.empty_table().select(names))
    known_as = {name: str(dtype) for name, dtype in native.schema().items()}
    engine = _engine(relation, known_as | {each.name: str(each.type) for each in schema}, load)
    return engine


# ---- pandas ----------------------------------------------------------------------------------------------


def of_pandas(frame: Any) -> DuckDB:
    """A pandas frame: each column by its declared type; of a column of objects the texts count."""
    if not all(isinstance(name, str) for name in frame.columns):
        raise ParameterError(
            "the columns of a frame must be named by texts, not by numbers or other things: "
            "frame.rename(columns=str) does that"
        )
    require_names(frame.columns)
    # A frame without rows has every column's type, and reading it reads none.
    twin = frame.iloc[:0]
    held = {name: _of_pandas(twin[name]) for name in frame.columns}
    known = {name: column for name, column in held.items() if column is not None}
    relation = as_relation(known) if known else empty({"discreet_nothing": "INTEGER"})

    def load(columns: Iterable[str]) -> Any:
        return as_relation({name: _of_pandas(frame[name]) for name in columns})

    known_as = {name: str(kind) for name, kind in frame.dtypes.items()}
    engine = _engine(relation, known_as, load)
    # These are whole numbers in the relation already.
    timed = {name: column for name, column in known.items() if column.ticks}
    engine.as_ticks = {name: column.ticks for name, column in timed.items()}
    engine.kinds |= {name: column.kind for name, column in timed.items()}
    engine.kinds |= {name: "object" for name, kind in known_as.items() if kind == "object"}
    engine.zones = {name: zone[1] for name in timed if (zone := _ZONE.search(known_as[name]))}
    return engine


def _of_pandas(series: Any) -> Held | None:
    """A column's values by its declared type; None for a type that cannot be asked about."""
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
