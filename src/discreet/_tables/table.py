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
from typing import Any, TypeVar

import numpy as np

from discreet._exact.numbers.exact import echo, refuse
from discreet._tables.arrays import declares_nothing, in_duckdb
from discreet._tables.engines import (
    as_text,
    databases,
    encoding_of,
    finite,
    fitting,
    quietly,
    with_numbers,
    with_text,
)
from discreet._tables.files import OpenedTable, TextFile, is_address, open_files
from discreet._tables.moments import DATED, with_time
from discreet.errors import ParameterError, UnknownColumnError, missing_extra

T = TypeVar("T")
_NUMBER_SUFFIX = " (discreet: as a number)"
_TEXT_SUFFIX = " (discreet: as a text)"
_ORDER_SUFFIX = " (discreet: in order)"
NUMBERS = ("integer", "float", "decimal")
TEXTS = ("text", "object")
_OBJECTS = (
    'declared object, in which only texts count (astype("Int64"), astype("datetime64[us]") or the like, or '
    "convert_dtypes() gives it a type)"
)
_KINDS = {  # of types that Narwhals does not know
    "duckdb": {"UUID": "uuid", "TIME_NS": "time"},
    "pyspark": {"time": "time", "daytimeinterval": "span"},
}
_LISTS = (
    'without a declared type, so that only texts count (read_as="integer", "number", "date" or the like '
    "states one; a NumPy array has its own)"
)
_OPENING = "reading the columns' types"
_TOLD_APART = (*TEXTS, *NUMBERS, "boolean", "date", "moment", "uuid")


@dataclass(frozen=True, slots=True)
class Table:
    """A native frame with what is declared of it.

    Attributes:
        native: the engine's own frame or relation.
        engine: ``duckdb``, ``polars``, ``pandas``, ``pyspark`` or, for a database, ``ibis``.
        kinds: column name to ``text``, ``integer``, ``float``, ``decimal``, ``boolean``, ``date``,
            ``moment``, ``time``, ``span``, ``uuid``, ``object`` (it declares no type: texts count, and
            everything else is null), or ``other``.
        is_text: whether the table comes from a text file, in which every column is text.
        load: what reads the rows, where ``native`` is only an empty frame of the declared schema.
        read_as: of a text file: what a column's texts spell where its order is asked for, by its name.
        execute: of a file in DuckDB: what runs a statement where ``native`` would run.
        undeclared: what a column of kind ``object`` is, and how to give it a type, in words.
        is_trial: whether statements are only tried, which reads no row: see ``trials``.
        tried: the statements that were tried, ready to run.
    """

    native: Any
    engine: str
    kinds: Mapping[str, str]
    is_text: bool = False
    load: Callable[[], Any] | None = None
    read_as: Mapping[str, str] = field(default_factory=dict)
    execute: Callable[[str], Any] | None = None
    undeclared: str = _OBJECTS
    is_trial: bool = False
    tried: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def quietly(self, work: Callable[[], T], *, doing: str) -> T:
        """The result of ``work``; what the engine says when it fails is told only where it read no row."""
        return quietly(work, doing=doing, telling=self.is_trial)

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
            raise UnknownColumnError(
                f"⟨{name}⟩{echo(column)} is not allowed: it must be one of the table's columns ({known})"
            )
        return self.kinds[column]

    def described(self, column: str) -> str:
        """What a column is declared, in words; if it has no type, how to give it one."""
        kind = self.kinds[column]
        return self.undeclared if kind == "object" else f"declared {kind}"

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
        keeps = self.engine == "ibis" and databases().keeps_time(self.native)
        if limit is not None and not keeps:
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
        texts, numbers = sorted(set(texts)), sorted(set(numbers))
        if ordered is not None and self.is_dated(ordered):
            table = table._with(ordered, _ORDER_SUFFIX, self._time_in(ordered), kind="float")
        if self.engine == "ibis":
            from discreet._tables.database_types import cleaned

            table = replace(table, native=cleaned(table.native, {*texts, *numbers}))
        for column in texts:
            if self.kind(column) in TEXTS:
                table = table._with(column, _TEXT_SUFFIX, with_text, kind="text")
        for column in numbers:
            kind = self.kind(column)
            if (kind == "text" and self.is_text) or (
                kind in NUMBERS and self.engine in ("pandas", "ibis")
            ):
                table = table._with(column, _NUMBER_SUFFIX, with_numbers, kind="float")
        return table

    def _time_in(self, column: str) -> Any:
        if column not in self.read_as:
            return with_time
        from discreet._tables.spelled import with_spelled_time

        return partial(with_spelled_time, kind=self.read_as[column])

    def _with(self, column: str, suffix: str, make: Any, *, kind: str) -> Table:
        name = column + suffix
        native = make(self.native, column, name=name, engine=self.engine)
        return replace(self, native=native, kinds={**self.kinds, name: kind})

    @property
    def encoding(self) -> str:
        """How texts are encoded where the table is."""
        return encoding_of(self.native, engine=self.engine)

    def as_text(self, text: str) -> str | bytes | None:
        """A text as ``text`` has it, to be compared with; None for one that no row can have."""
        return as_text(text, engine=self.engine, encoding=self.encoding)

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
            return ~expression.is_null() & (expression != self.as_text(""))
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
        if self.kinds[column] in TEXTS:
            codec = self.encoding
            told = (as_text(key, engine=self.engine, encoding=codec) for key in keys)
            return [key for key, text in zip(keys, told, strict=True) if text is None]
        if self.kinds[column] not in NUMBERS:
            return []
        in_database = self.engine == "ibis"
        fits = fitting(self.native[column].type() if in_database else self._declared(column))
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
            from discreet._tables.database_times import orders_time

            known = orders_time(self.native)
        if not known:
            self.require_number(column)

    def require_number(self, column: object) -> None:
        """An error unless the column is declared numeric, or comes from a text file."""
        kind = self.kind(column)
        if kind not in NUMBERS and not self.is_text:
            raise ParameterError(
                f"⟨column⟩{column!r} is not allowed: it is {self.described(str(column))}, and the question "
                "needs numbers"
            )


def open_table(
    data: Any,
    *,
    needed: Iterable[str],
    engine: str | None = None,
    table: str | None = None,
    read_as: str | None = None,
) -> Table:
    """A table over a path or glob, a relation or frame of an engine, or a table of a database.

    ``needed`` names the columns that a question uses; a JSON lines file declares no others. ``table`` goes
    with the address of a database, or with a SQLAlchemy engine, ``read_as`` with a list.
    """
    try:
        import narwhals as nw
    except ImportError:
        raise missing_extra("asking a table needs Narwhals", extra="tables") from None
    opened = OpenedTable(None)
    spelled: Mapping[str, str] = {}
    undeclared = isinstance(data, list | np.ndarray) and declares_nothing(data)
    if read_as is not None and not undeclared:
        raise ParameterError(
            f"⟨read_as⟩{read_as!r} is not allowed: it goes with a list; for a text file write "
            "TextFile(path, ⟨read_as⟩{column: type}), and other data declares its types"
        )
    is_engine = _module(data) == "sqlalchemy" and hasattr(data, "url")
    in_database = is_engine or is_address(data)
    if in_database:
        data = databases().open_database(data, table)
    elif table is not None:
        raise ParameterError(
            f"⟨table⟩{table!r} is not allowed: it goes with the address of a database, or a SQLAlchemy engine"
        )
    elif isinstance(data, str | Path | TextFile):
        opened = open_files(data, needed=needed, engine=engine or "duckdb")
        spelled = data.read_as if isinstance(data, TextFile) else {}
        data, engine = opened.native, None
    elif _module(data) == "pyarrow" or isinstance(data, list | np.ndarray):
        data = in_duckdb(data, read_as)
    if engine is not None:
        raise ParameterError(
            f"⟨engine⟩{engine!r} is not allowed: it goes with a path; a frame has its own"
        )
    native = nw.to_native(data, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        from discreet._tables.pandas_columns import require_names

        require_names(list(native.columns))
    frame = nw.from_native(native, pass_through=True)
    name = frame.implementation.value if isinstance(frame, nw.DataFrame | nw.LazyFrame) else ""
    engine_name = "pyspark" if name.startswith("pyspark") else name
    if engine_name == "ibis" and not in_database:
        from discreet._tables.database_types import as_declared

        native = as_declared(native)
    if engine_name not in ("duckdb", "polars", "pandas", "pyspark", "ibis"):
        raise ParameterError(
            f"data of type {type(data).__name__} is not allowed: give a path, a DuckDB relation, a Polars, "
            "pandas or PySpark frame, an Arrow table or data set, a table of Ibis, or a database's address "
            "with ⟨table⟩"
        )
    kinds = quietly(lambda: _kinds(native, frame, engine_name), doing=_OPENING, telling=True)
    return Table(
        native,
        engine_name,
        {"value": "object"} if undeclared and read_as is None else kinds,
        is_text=opened.is_text,
        load=opened.load,
        read_as=spelled,
        execute=opened.execute,
        undeclared=_LISTS if undeclared else _OBJECTS,
    )


def _module(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _kinds(native: Any, frame: Any, engine: str) -> dict[str, str]:
    import narwhals as nw

    kinds: dict[str, str] = {}
    if engine == "pandas":
        from discreet._tables.pandas_columns import undeclared_kinds

        kinds = undeclared_kinds(native)
        frame = nw.from_native(native.drop(columns=list(kinds)))
    if engine == "ibis":
        from discreet._tables.database_types import kinds_of

        return kinds_of(native)
    if engine in _KINDS:
        types = (
            zip(native.columns, map(str, native.types), strict=True)
            if engine == "duckdb"
            else ((column.name, column.dataType.typeName()) for column in native.schema)
        )
        kinds = {name: _KINDS[engine][kind] for name, kind in types if kind in _KINDS[engine]}
    declared = {name: _kind(dtype) for name, dtype in frame.collect_schema().items()}
    return {**declared, **kinds}


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
