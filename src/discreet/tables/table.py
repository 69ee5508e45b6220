"""A table of any engine, seen through Narwhals: its declared columns and expressions on them.

Nothing here reads a row. Kinds come from declared types only: a pandas column of Python objects is kind
``object`` whatever it holds, since a type guessed from the rows would tell about them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import ParameterError, missing_extra
from discreet.numbers.exact import refuse
from discreet.tables.arrays import in_duckdb
from discreet.tables.engines import (
    as_text,
    databases,
    finite,
    fitting,
    quietly,
    with_numbers,
    with_text,
)
from discreet.tables.files import OpenedTable, TextFile, is_address, open_files
from discreet.tables.moments import DATED, with_time

_NUMBER_SUFFIX = " (discreet: as a number)"
_TEXT_SUFFIX = " (discreet: as a text)"
_ORDER_SUFFIX = " (discreet: in order)"
NUMBERS = ("integer", "float", "decimal")
TEXTS = ("text", "object")
_KINDS = {  # of types that Narwhals does not know
    "duckdb": {"UUID": "uuid", "TIME_NS": "time"},
    "pyspark": {"time": "time", "daytimeinterval": "span"},
}
_TOLD_APART = (*TEXTS, *NUMBERS, "boolean", "date", "moment", "uuid")


@dataclass(frozen=True, slots=True)
class Table:
    """A native frame with what is declared of it.

    Attributes:
        native: the engine's own frame or relation.
        engine: ``duckdb``, ``polars``, ``pandas``, ``pyspark`` or, for a database, ``ibis``.
        kinds: column name to ``text``, ``integer``, ``float``, ``decimal``, ``boolean``, ``date``,
            ``moment``, ``time``, ``span``, ``uuid``, ``object`` (pandas: what is no text in it is null), or
            ``other``.
        is_text: whether the table comes from a text file, in which every column is text.
        load: what reads the rows, where ``native`` is only an empty frame of the declared schema.
        read_as: of a text file: what a column's texts spell where its order is asked for, by its name.
        execute: of a file in DuckDB: what runs a statement where ``native`` would run.
    """

    native: Any
    engine: str
    kinds: Mapping[str, str]
    is_text: bool = False
    load: Callable[[], Any] | None = None
    read_as: Mapping[str, str] = field(default_factory=dict)
    execute: Callable[[str], Any] | None = None

    def ordered_kind(self, column: str) -> str:
        """The kind by which a column is ordered: the declared one, or what a text file's texts spell."""
        return self.read_as.get(column, self.kind(column))

    def is_dated(self, column: str) -> bool:
        """Whether a column is ordered by time."""
        return self.ordered_kind(column) in DATED

    def kind(self, column: object, *, name: str = "column") -> str:
        """The declared kind of a column; an error if there is none of that name."""
        if not isinstance(column, str) or column not in self.kinds:
            known = ", ".join(map(repr, list(self.kinds)[:20]))
            raise refuse(name, column, f"one of the table's columns ({known})")
        return self.kinds[column]

    def frame(self) -> Any:
        """The table as a Narwhals LazyFrame."""
        import narwhals as nw

        return nw.from_native(self.native).lazy()

    def reading(self, seconds: float | None = None) -> AbstractContextManager[None]:
        """What reads inside sees one state of the data, changes nothing and ends in time, in a database."""
        if self.engine == "ibis":
            return databases().reading(self.native, seconds)  # type: ignore[no-any-return]  # see there
        return nullcontext()

    def require_time_limit(self, limit: object) -> None:
        """An error where there is a limit and nobody to keep it."""
        if limit is not None and not (
            self.engine == "ibis" and databases().keeps_time(self.native)
        ):
            raise ParameterError(
                "⟨time_limit⟩ goes with PostgreSQL, SQLite and DuckDB, through Ibis"
            )

    def prepared(
        self,
        *,
        texts: Iterable[str] = (),
        numbers: Iterable[str] = (),
        ordered: str | None = None,
    ) -> Table:
        """The table with further columns: what ``text`` and ``number`` of these columns stand for.

        An ``ordered`` column may also be one of dates, times or time spans, declared or spelled.

        This is the first thing that may read rows.
        """
        table = self if self.load is None else replace(self, native=self.load(), load=None)
        for column in sorted(set(texts)):
            if self.kind(column) in TEXTS:
                table = table._with(column, _TEXT_SUFFIX, with_text, kind="text")
        for column in sorted(set(numbers)):
            kind = self.kind(column)
            if (kind == "text" and self.is_text) or (
                kind in NUMBERS and self.engine in ("pandas", "ibis")
            ):
                table = table._with(column, _NUMBER_SUFFIX, with_numbers, kind="float")
        if ordered is not None and self.is_dated(ordered):
            table = table._with(ordered, _ORDER_SUFFIX, self._time_in(ordered), kind="float")
        return table

    def _time_in(self, column: str) -> Any:
        if column not in self.read_as:
            return with_time
        from discreet.tables.spelled import with_spelled_time

        return partial(with_spelled_time, kind=self.read_as[column])

    def _with(self, column: str, suffix: str, make: Any, *, kind: str) -> Table:
        name = column + suffix
        native = make(self.native, column, name=name, engine=self.engine)
        return replace(self, native=native, kinds={**self.kinds, name: kind})

    def text(self, column: str) -> Any:
        """A prepared text column as an expression: it compares as bytes."""
        import narwhals as nw

        return nw.col(column + _TEXT_SUFFIX)

    def number(self, column: str) -> Any:
        """A prepared column as a float64 expression."""
        import narwhals as nw

        if column + _NUMBER_SUFFIX in self.kinds:
            return nw.col(column + _NUMBER_SUFFIX)
        return nw.col(column).cast(nw.Float64)

    def position(self, column: str) -> Any:
        """A prepared column as the float64 expression that orders it."""
        import narwhals as nw

        if column + _ORDER_SUFFIX in self.kinds:
            return nw.col(column + _ORDER_SUFFIX)
        return self.number(column)

    def identity(self, column: str) -> Any:
        """A prepared column as an expression of its own type that tells its values apart."""
        import narwhals as nw

        kind = self.kinds[column]
        if kind in TEXTS:
            return self.text(column)
        # Adding zero turns a negative zero into zero, which some engines tell apart.
        return self.number(column) + 0.0 if kind == "float" else nw.col(column)

    def present(self, column: str, name: str) -> Any:
        """Whether the identity of a column, named ``name``, is a value.

        Not null, NaN or infinite, nor (in a text file) empty, nor a date outside the years 1 to 9999,
        which an engine may hold and Python does not.
        """
        import narwhals as nw

        expression = nw.col(name)
        if self.kinds[column] == "float":
            return finite(expression, engine=self.engine) & ~expression.is_null()
        if self.kinds[column] == "date":
            first, last = self.day(datetime.date.min), self.day(datetime.date.max)
            return ~expression.is_null() & (expression >= first) & (expression <= last)
        if self.is_text:
            return ~expression.is_null() & (expression != as_text("", engine=self.engine))
        return ~expression.is_null()

    def day(self, day: datetime.date) -> Any:
        """A date as an expression; Spark's own literals do not reach back to the year 1."""
        import narwhals as nw

        return nw.lit(day.isoformat()).cast(nw.Date) if self.engine == "pyspark" else nw.lit(day)

    def require_told_apart(self, column: object, *, name: str) -> None:
        """An error unless the declared type is one whose values every engine tells apart exactly."""
        kind = self.kind(column, name=name)
        if kind not in _TOLD_APART:
            raise refuse(name, column, "a column of texts, numbers, dates, times or identifiers")

    def cannot_hold(self, column: str, keys: Sequence[Any]) -> list[Any]:
        """The keys that no row can have, by the declared type of the column."""
        if self.kinds[column] not in NUMBERS:
            return []
        fits = fitting(self._declared(column))
        return [key for key in keys if not fits(key)]

    def has_zone(self, column: str) -> bool:
        """Whether a column of times is declared with a time zone."""
        return getattr(self._declared(column), "time_zone", None) is not None

    def _declared(self, column: str) -> Any:
        """A column's type, as Narwhals names it."""
        frame = self.frame()
        # Elsewhere another column may have a type that is told by looking at rows, or not at all.
        return (frame if self.engine == "duckdb" else frame.select(column)).collect_schema()[column]

    def require_order(self, column: str) -> None:
        """An error unless the column is one of numbers, dates, times or time spans."""
        known = self.is_dated(column)
        if known and self.engine == "ibis":
            from discreet.tables.database_times import orders_time

            known = orders_time(self.native)
        if not known:
            self.require_number(column)

    def require_number(self, column: object) -> None:
        """An error unless the column is declared numeric, or comes from a text file."""
        kind = self.kind(column)
        if kind not in NUMBERS and not self.is_text:
            raise ParameterError(
                f"⟨column⟩{column!r} is not allowed: it is declared {kind}, and the question needs numbers"
            )


def open_table(
    data: Any, *, needed: Iterable[str], engine: str | None = None, table: str | None = None
) -> Table:
    """A table over a path or glob, a relation or frame of an engine, or a table of a database.

    ``needed`` names the columns that a question uses; a JSON lines file declares no others. ``table`` goes
    with the address of a database, or with a SQLAlchemy engine.
    """
    try:
        import narwhals as nw
    except ImportError:
        raise missing_extra("asking a table needs Narwhals", extra="tables") from None
    opened, read_as = OpenedTable(None), {}  # type: OpenedTable, Mapping[str, str]
    is_engine = _module(data) == "sqlalchemy" and hasattr(data, "url")
    if is_engine or is_address(data):
        data = databases().open_database(data, table)
    elif table is not None:
        raise ParameterError(
            f"⟨table⟩{table!r} is not allowed: it goes with the address of a database, or a SQLAlchemy engine"
        )
    elif isinstance(data, str | Path | TextFile):
        opened = open_files(data, needed=needed, engine=engine or "duckdb")
        read_as = data.read_as if isinstance(data, TextFile) else {}
        data, engine = opened.native, None
    elif _module(data) == "pyarrow" or isinstance(data, list | np.ndarray):
        data = in_duckdb(data)
    if engine is not None:
        raise ParameterError(
            f"⟨engine⟩{engine!r} is not allowed: it goes with a path; a frame has its own"
        )
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        _require_names(list(native.columns))
    frame = nw.from_native(native, pass_through=True)
    name = frame.implementation.value if isinstance(frame, nw.DataFrame | nw.LazyFrame) else ""
    engine_name = "pyspark" if name.startswith("pyspark") else name
    if engine_name not in ("duckdb", "polars", "pandas", "pyspark", "ibis"):
        raise ParameterError(
            f"data of type {type(data).__name__} is not allowed: give a path, a DuckDB relation, a Polars, "
            "pandas or PySpark frame, an Arrow table or data set, a table of Ibis, or a database's address "
            "with ⟨table⟩"
        )
    return Table(
        native,
        engine_name,
        _kinds(native, frame, engine_name),
        is_text=opened.is_text,
        load=opened.load,
        read_as=read_as,
        execute=opened.execute,
    )


def _module(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _require_names(columns: list[Any]) -> None:
    """Column names are schema: public, and shown."""
    if not all(isinstance(name, str) for name in columns):
        raise ParameterError(
            "the columns of a frame must be named by texts, not by numbers or other things: "
            "frame.rename(columns=str) does that"
        )
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"two columns are named {twice!r}: rename one of them")


def _kinds(native: Any, frame: Any, engine: str) -> dict[str, str]:
    import narwhals as nw

    kinds: dict[str, str] = {}
    if engine == "pandas":
        # Narwhals would look at the rows of an object column; the declared type is all we may use.
        kinds = {str(name): _pandas_kind(dtype) for name, dtype in native.dtypes.items()}
        plain = [name for name, dtype in native.dtypes.items() if not _pandas_kind(dtype)]
        frame = quietly(lambda: nw.from_native(native[plain]), doing="reading the columns' names")
    if engine == "ibis":
        kinds = databases().kinds_of(native)
        plain = [name for name in native.columns if name not in kinds]
        frame = nw.from_native(native.select(*plain)) if plain else None
    if engine in _KINDS:
        types = (
            zip(native.columns, map(str, native.types), strict=True)
            if engine == "duckdb"
            else ((column.name, column.dataType.typeName()) for column in native.schema)
        )
        kinds = {name: _KINDS[engine][kind] for name, kind in types if kind in _KINDS[engine]}
    schema = (
        {} if frame is None else quietly(frame.collect_schema, doing="reading the columns' types")
    )
    declared = {name: _kind(dtype) for name, dtype in schema.items()}
    return {**declared, **{name: kind for name, kind in kinds.items() if kind}}


def _pandas_kind(dtype: Any) -> str:
    """The kind of a pandas type that Narwhals does not tell from the type alone, else an empty text."""
    if str(dtype) == "object":
        return "object"
    if str(dtype) != "category":
        return ""
    held = str(dtype.categories.dtype)
    return "text" if held.startswith(("object", "str")) else "other"


def _kind(dtype: Any) -> str:
    import narwhals as nw

    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "float"
    kinds = {nw.Decimal: "decimal", nw.Boolean: "boolean", nw.Date: "date", nw.Datetime: "moment"}
    kinds |= {nw.Duration: "span", nw.Time: "time"}
    return next((kind for known, kind in kinds.items() if dtype == known), "other")
