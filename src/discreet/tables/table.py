"""A table of any engine, seen through Narwhals: its declared columns and expressions on them.

Nothing here reads a row. Kinds come from declared types only: a pandas column of Python objects is kind
``object`` whatever it holds, since a type guessed from the rows would tell about them.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import ParameterError, missing_extra
from discreet.numbers.exact import refuse
from discreet.tables import where as conditions
from discreet.tables.arrays import in_duckdb
from discreet.tables.engines import (
    as_text,
    databases,
    finite,
    fitting,
    is_encodable,
    quietly,
    with_numbers,
    with_text,
)
from discreet.tables.files import TextFile, is_address, open_files
from discreet.tables.moments import DATED, with_time

_NUMBER_SUFFIX = " (discreet: as a number)"
_TEXT_SUFFIX = " (discreet: as a text)"
_NUMBERS = ("integer", "float", "decimal")
_TEXTS = ("text", "object")
_TOLD_APART = (*_TEXTS, *_NUMBERS, "boolean", "date", "moment", "uuid")
_INT64 = (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Table:
    """A native frame with what is declared of it.

    Attributes:
        native: the engine's own frame or relation.
        engine: ``duckdb``, ``polars``, ``pandas``, ``pyspark`` or, for a database, ``ibis``.
        kinds: column name to ``text``, ``integer``, ``float``, ``decimal``, ``boolean``, ``date``,
            ``moment``, ``uuid``, ``object`` (pandas: what is no text in it is null), or ``other``.
        is_text: whether the table comes from a text file, in which every column is text.
        load: what reads the rows, where ``native`` is only an empty frame of the declared schema.
    """

    native: Any
    engine: str
    kinds: Mapping[str, str]
    is_text: bool = False
    load: Callable[[], Any] | None = None

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

        An ``ordered`` column may also be one of dates, times or time spans.

        This is the first thing that may read rows.
        """
        table = self if self.load is None else replace(self, native=self.load(), load=None)
        for column in sorted(set(texts)):
            if self.kind(column) in _TEXTS:
                table = table._with(column, _TEXT_SUFFIX, with_text, kind="text")
        for column in sorted(set(numbers)):
            kind = self.kind(column)
            if (kind == "text" and self.is_text) or (
                kind in _NUMBERS and self.engine in ("pandas", "ibis")
            ):
                table = table._with(column, _NUMBER_SUFFIX, with_numbers, kind="float")
        if ordered is not None and self.kind(ordered) in DATED:
            table = table._with(ordered, _NUMBER_SUFFIX, with_time, kind="float")
        return table

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

    def identity(self, column: str) -> Any:
        """A prepared column as an expression of its own type that tells its values apart."""
        import narwhals as nw

        kind = self.kinds[column]
        if kind in _TEXTS:
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
            first, last = self._day(datetime.date.min), self._day(datetime.date.max)
            return ~expression.is_null() & (expression >= first) & (expression <= last)
        if self.is_text:
            return ~expression.is_null() & (expression != as_text("", engine=self.engine))
        return ~expression.is_null()

    def _day(self, day: datetime.date) -> Any:
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
        if self.kinds[column] not in _NUMBERS:
            return []
        dtype = self.frame().select(column).collect_schema()[column]
        fits = fitting(dtype)
        return [key for key in keys if not fits(key)]

    def time_zone(self, column: str) -> str | None:
        """The declared time zone of a column of times, if it has one."""
        dtype = self.frame().select(column).collect_schema()[column]
        zone: str | None = getattr(dtype, "time_zone", None)
        return zone

    def require_number(self, column: object) -> None:
        """An error unless the column is declared numeric, or comes from a text file."""
        kind = self.kind(column)
        if kind not in _NUMBERS and not self.is_text:
            raise ParameterError(
                f"⟨column⟩{column!r} is not allowed: it is declared {kind}, and the question needs numbers"
            )

    # ---- conditions ----------------------------------------------------------------------------

    def require_condition(self, condition: conditions.Condition) -> None:
        """An error unless every comparison fits the declared type of its column."""
        for comparison in conditions.comparisons(condition):
            self._converted(comparison)

    def condition(self, condition: conditions.Condition) -> Any:
        """The condition as a Narwhals expression that is never null."""
        return conditions.expression(condition, self._compare)

    def _converted(self, comparison: conditions.ColumnComparison) -> tuple[Any, ...]:
        kind = self.kind(comparison.column, name="where")
        values: tuple[Any, ...] = comparison.literals
        if kind in _TEXTS and all(isinstance(value, str) for value in values):
            if not all(is_encodable(value) for value in values):
                raise ParameterError("where has a text with a lone surrogate, which is no Unicode")
            return tuple(as_text(value, engine=self.engine) for value in values)
        if kind in _NUMBERS or (kind == "text" and self.is_text):
            whole = all(isinstance(value, int) for value in values)
            if all(_is_number(value) for value in values):
                if (
                    kind == "integer"
                    and whole
                    and all(_INT64[0] <= value <= _INT64[1] for value in values)
                ):
                    return values
                return tuple(float(value) for value in values)
        if kind == "boolean" and all(isinstance(value, bool) for value in values):
            return values
        if kind == "date" and all(isinstance(value, str) for value in values):
            return tuple(self._day(_date(value)) for value in values)
        raise ParameterError(
            f"where compares column {comparison.column!r}, declared {kind}, with "
            f"{', '.join(map(repr, comparison.literals))}: a text stands in single quotes, a number does not"
        )

    def _compare(self, comparison: conditions.ColumnComparison) -> Any:
        import narwhals as nw

        column, kind = comparison.column, self.kinds[comparison.column]
        values = self._converted(comparison)
        expression = nw.col(column)
        if kind in _TEXTS and not any(isinstance(value, float) for value in values):
            expression = self.text(column)
            missing = expression.is_null()
            if self.is_text:
                missing = missing | (expression == as_text("", engine=self.engine))
        elif (kind != "integer" and kind in (*_NUMBERS, "text")) or any(
            isinstance(value, float) for value in values
        ):
            expression = self.number(column)
            missing = expression.is_null() | ~finite(expression, engine=self.engine)
        else:
            missing = expression.is_null()
        # A null makes some engines' comparisons null: both steps below turn that into false.
        absent = nw.when(missing).then(nw.lit(True)).otherwise(nw.lit(False))
        if comparison.operator == "null":
            return absent
        if comparison.operator != "in":
            holds = _OPERATORS[comparison.operator](expression, values[0])
        elif kind == "date":
            holds = nw.any_horizontal(*(expression == day for day in values), ignore_nulls=False)
        else:
            holds = expression.is_in(list(values))
        return nw.when(~absent & holds).then(nw.lit(True)).otherwise(nw.lit(False))


_OPERATORS: Mapping[str, Any] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise refuse("where", text, "a date such as '2024-12-31'") from None


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
    is_text, load = False, None
    is_engine = _module(data) == "sqlalchemy" and hasattr(data, "url")
    if is_engine or is_address(data):
        data = databases().open_database(data, table)
    elif table is not None:
        raise ParameterError(
            f"⟨table⟩{table!r} is not allowed: it goes with the address of a database, or a SQLAlchemy engine"
        )
    elif isinstance(data, str | Path | TextFile):
        opened = open_files(data, needed=needed, engine=engine or "duckdb")
        data, is_text, load = opened.native, opened.is_text, opened.load
        engine = None
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
    return Table(native, engine_name, _kinds(native, frame, engine_name), is_text, load)


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
    if engine == "duckdb":
        types = zip(native.columns, native.types, strict=True)
        kinds = {name: "uuid" for name, kind in types if str(kind) == "UUID"}
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
    kinds[nw.Duration] = "span"
    return next((kind for known, kind in kinds.items() if dtype == known), "other")
