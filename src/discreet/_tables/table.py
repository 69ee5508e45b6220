"""A table, wherever it is: its declared columns, and the SQL expressions for questions about them.

Nothing here reads a row. Kinds come only from declared types: a pandas column of Python objects has the kind
``object`` whatever it holds, because a type guessed from the rows would reveal something about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet._exact.numbers.exact import echo
from discreet._tables.arrays import declares_nothing, of_values
from discreet._tables.databases import is_address, of_ibis, open_database
from discreet._tables.engines import Engine, fitting, quietly, quoted
from discreet._tables.files import TextFile, open_files
from discreet._tables.in_duckdb import DuckDB
from discreet._tables.local import of_arrow, of_pandas, of_polars
from discreet._tables.moments import DATED, kind_named, kinds_mixed
from discreet._tables.spelled import named_period, spelled_time
from discreet.errors import ParameterError, UnknownColumnError

T = TypeVar("T")
NUMBERS = ("integer", "float", "decimal")
TEXTS = ("text", "object")
_OBJECTS = (
    'declared object, in which only texts count (astype("Int64"), astype("float64"), '
    'astype("datetime64[us]"), astype("string") or the like, or convert_dtypes() gives it a type)'
)
_LISTS = (
    'without a declared type, so that only texts count (read_as="integer", "number", "date", "text" or '
    "the like states one; a NumPy array has its own)"
)
_FIRST, _LAST = -719_162, 2_932_897
"""The first day of the year 1, and the day after the last day of the year 9999, in days since 1970."""
_KNOWN = ("pyarrow", "polars", "pandas", "pyspark", "duckdb", "_duckdb", "ibis")
"""Libraries whose objects are read only if ``_opened`` names their type."""
_TOLD_APART = (*TEXTS, *NUMBERS, "boolean", "date", "moment")


@dataclass(frozen=True, slots=True)
class Table:
    """A table in an engine, with its declarations.

    Attributes:
        engine: the engine that counts its people.
        frames: the library whose frames hold the answers: ``duckdb``, ``polars``, ``pandas``, ``pyspark`` or
            ``ibis``.
        is_text: whether the table comes from a text file, in which every column is text.
        read_as: for each column of a text file, the type that its texts are read as when their order matters.
        undeclared: a text that says what a column of kind ``object`` is, and how to give it a type.
        is_trial: whether statements are only tried, without reading a row.
    """

    engine: Engine
    frames: str
    is_text: bool = False
    read_as: Mapping[str, str] = field(default_factory=dict)
    undeclared: str = _OBJECTS
    is_trial: bool = False
    _written: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def written(self, write: Callable[..., T], **asked: Any) -> T:
        """Return ``write(self, **asked)``; cache the result, so that the trial and the answer share it."""
        key = (write, *asked.values())
        if key not in self._written:
            self._written[key] = write(self, **asked)
        made: T = self._written[key]
        return made

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each column, by its name.

        A kind is ``text``, ``integer``, ``float``, ``decimal``, ``boolean``, ``date``, ``moment``, ``time``,
        ``span``, ``object`` (no declared type: texts count, and everything else is null) or ``other``.
        """
        return self.engine.kinds

    def ordered_kind(self, column: str) -> str:
        """Return the kind that orders a column: the one its texts are read as, or else the declared kind."""
        return self.read_as.get(column) or self.kind(column)

    def is_dated(self, column: str) -> bool:
        """Return whether a column is ordered as dates, times or time spans."""
        return self.ordered_kind(column) in DATED

    def period_named(self, column: str, words: Sequence[Any]) -> str | None:
        """Return the kind of period that these words name, if the column holds texts; else None."""
        if self.ordered_kind(column) not in TEXTS:
            return None
        named = [word for word in words if isinstance(word, str) and word[:4].isdecimal()]
        return kind_named(words) if named else None

    def periods_mixed(self, column: str, words: Sequence[Any]) -> tuple[str, ...]:
        """Return the kinds of periods in ``words`` if the column holds text and they are several, else ()."""
        return kinds_mixed(words) if self.ordered_kind(column) in TEXTS else ()

    def kind(self, column: object, *, name: str = "column") -> str:
        """Return the declared kind of a column; raise an error if there is no such column."""
        if not isinstance(column, str) or column not in self.kinds:
            known = ", ".join(map(repr, list(self.kinds)[:20]))
            default = " (the default)" if (name, column) == ("column", "value") else ""
            raise UnknownColumnError(
                f"⟨{name}⟩{echo(column)}{default} is not allowed: "
                f"it must be one of the table's columns ({known})"
            )
        return self.kinds[column]

    def described(self, column: str) -> str:
        """Describe a column's declaration; if no question can use the column, say how to fix it."""
        kind = self.kind(column)
        if kind == "object":
            return self.undeclared
        if column in self.read_as:
            return f"texts that are read as {self.read_as[column]}"
        if self.is_text:
            return "text, as in every text file (⟨read_as⟩ states a type: date, moment or the like)"
        unusable = f", which no question can use ({self._fix(column)})" if kind == "other" else ""
        return f"declared {self.engine.known_as[column]}{unusable}"

    def _fix(self, column: str) -> str:
        """Explain how to give a column a type that questions can use."""
        if self.engine.name in ("postgres", "sqlite"):
            return f"a view with CAST({quoted(column)} AS text), numeric(20, 4) or the like gives it one"
        return {
            "pandas": f'astype("string"), astype("float64") or the like gives it one: data[{column!r}]',
            "polars": f"polars.col({column!r}).cast(polars.String) or the like gives it one",
            "pyspark": f'col({column!r}).cast("string") or the like gives it one',
        }.get(self.frames, f"CAST({quoted(column)} AS VARCHAR) or the like gives it one")

    def require_time_limit(self, limit: object) -> None:
        """Raise an error if there is a time limit but the engine cannot enforce it."""
        if limit is not None and not self.engine.keeps_time:
            raise ParameterError("⟨time_limit⟩ needs a database: PostgreSQL, SQLite or DuckDB")

    # ---- columns in SQL

    def literal(self, text: str) -> str:
        """Return SQL for a text that can be compared with a column of texts."""
        return self.engine.of_word(f"'{self.engine.word(text)}'", "text", "")

    def number(self, column: str) -> str:
        """Return SQL for a column as float64; in a text file, for the numbers that the texts spell."""
        spelled = self.is_text and self.kinds[column] == "text"
        return self.engine.spelled_number(column) if spelled else self.engine.number(column)

    def position(self, column: str, *, name: str = "value", shown: bool = False) -> tuple[str, ...]:
        """Return SQL, in steps, for the float64 that orders a column; steps after the first use ``name``.

        With ``shown``, a moment is the local time in the zone that the column declares.
        """
        if not self.is_dated(column):
            return (self.number(column),)
        if column in self.read_as:
            return spelled_time(self.engine, column, self.read_as[column], name=name)
        return (self.engine.shown_position(column) if shown else self.engine.position(column),)

    def period(self, column: str, period: str, *, name: str = "value") -> tuple[str, ...]:
        """Return SQL, in steps, for the number of the period that contains a date or a moment, else null.

        For a text without a stated type, it is the name of that period if the text spells a date, else the
        text itself. The first step uses the column; each later one uses ``name``, the result of the step
        before.
        """
        engine, kind = self.engine, self.ordered_kind(column)
        if kind == "text":
            return named_period(engine, column, period), engine.text(name)
        steps = self.position(column, name=name, shown=True)
        days = name if kind == "date" else engine.whole_part(f"{name} / 86400.0")
        near = f"{name} >= {_FIRST * (1 if kind == 'date' else 86400)}"
        near += f" AND {name} < {_LAST * (1 if kind == 'date' else 86400)}"
        days, month = f"({days})", engine.month(days)
        number = {
            "day": days,
            "week": engine.whole_part(f"({days} + 3) / 7.0"),
            "month": month,
            "quarter": engine.whole_part(f"{month} / 3.0"),
            "year": engine.whole_part(f"{month} / 12.0"),
            "weekday": f"({days} + 3) - 7 * {engine.whole_part(f'({days} + 3) / 7.0')}",
            "hour of day": engine.whole_part(f"({name} - 86400.0 * {days}) / 3600.0"),
            "month of year": f"{month} - 12 * {engine.whole_part(f'{month} / 12.0')}",
        }[period]
        return *steps, f"CASE WHEN {near} THEN CAST({number} AS BIGINT) END"

    def identity(self, column: str) -> str:
        """Return the SQL expression by which a column's values are told apart."""
        kind = self.kinds[column]
        if kind in TEXTS:
            return self.engine.text(column)
        if kind == "float":  # adding zero turns -0.0 into 0.0; some engines tell them apart
            return f"{self.number(column)} + {self.engine.real(0)}"
        return self.engine.column(column)

    def like(self, column: str, period: str | None = None) -> tuple[str, str]:
        """Return the kind and the SQL type of a column's ``identity``, or of its ``period`` if given."""
        if period is not None and self.is_dated(column):
            return "integer", "BIGINT"
        kind = self.kinds[column]
        kind = "text" if kind in TEXTS else kind
        return kind, self.engine.double if kind == "float" else self.engine.types[column]

    def present(self, column: str, name: str) -> str:
        """Return the SQL condition that ``name``, the identity of a column, is a value and not missing.

        A value is not null, NaN or infinite; in a text file, it is not empty; and a date is within the years
        1 to 9999, because Python has no other years, although an engine may.
        """
        kind = self.kinds[column]
        if kind == "float":
            return self.engine.finite(name)
        if kind == "date":
            day = self.engine.day
            return f"{name} >= {day('0001-01-01')} AND {name} <= {day('9999-12-31')}"
        return f"{name} <> {self.literal('')}" if self.is_text else f"{name} IS NOT NULL"

    def plain(self, column: str, value: Any) -> Any:
        """Convert a column's value, in the form that a statement returned, to a Python object."""
        kind = self.kinds[column]
        if kind in TEXTS:
            return self.engine.plain_text(value)
        if kind == "date" and isinstance(value, str):  # from SQLite
            import datetime

            return datetime.date.fromisoformat(value)
        return bool(value) if kind == "boolean" else value

    # ---- checks of columns

    def require_told_apart(self, column: object, *, name: str) -> None:
        """Raise an error unless every engine compares values of the column's declared type exactly."""
        kind = self.kind(column, name=name)
        if kind not in _TOLD_APART:
            raise ParameterError(
                f"⟨{name}⟩{column!r} is not allowed: it must be a column of texts, numbers, dates, times or "
                f"identifiers, and it is {self.described(str(column))}"
            )

    def cannot_hold(self, column: str, keys: Sequence[Any]) -> list[Any]:
        """Return the keys that no row can hold, because of the column's declared type."""
        kind = self.kinds[column]
        if kind in TEXTS:
            words = self.engine.words(keys)
            return [key for key, word in zip(keys, words, strict=True) if word is None]
        if kind not in NUMBERS:
            return []
        fits = fitting(self.engine.types[column])
        return [key for key in keys if not fits(key)]

    def has_zone(self, column: str) -> bool:
        """Return whether a column of times is declared with a time zone."""
        declared = self.engine.types[column].lower()
        if self.engine.name == "spark":
            return declared == "timestamp"
        return column in self.engine.zones or "with time zone" in declared or "tz" in declared

    def require_order(self, column: str) -> None:
        """Raise an error unless the column holds numbers, dates, times or spans, or is from a text file."""
        if not self.is_dated(column):
            self.require_number(column)

    def require_number(self, column: object) -> None:
        """Raise an error unless the column is declared numeric, or comes from a text file."""
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
    """Open a table: a path or glob, a list, a relation or frame of an engine, or a table of a database.

    ``needed`` names the columns that a question uses; a JSON lines file declares no others. ``table`` names a
    table of the database if ``data`` is an address or a SQLAlchemy engine; ``read_as`` is the type of the
    values if ``data`` is a list.
    """
    is_list = isinstance(data, list | np.ndarray)
    is_path = isinstance(data, str | Path | TextFile) and not is_address(data)
    is_engine = _module(data) == "sqlalchemy" and hasattr(data, "url")
    if read_as is not None and not (is_list and declares_nothing(data)):
        raise ParameterError(
            f"⟨read_as⟩{read_as!r} is not allowed: it can only be used with a list; for a text file "
            "write TextFile(path, ⟨read_as⟩{column: type}), and other data declares its types"
        )
    if table is not None and not (is_engine or is_address(data)):
        raise ParameterError(
            f"⟨table⟩{table!r} is not allowed: it needs the address of a database, or a SQLAlchemy engine"
        )
    if engine is not None and not (is_path and engine == "spark"):
        raise ParameterError(
            f'⟨engine⟩{engine!r} is not allowed: "spark" reads a path in a cluster, and without it every '
            "table is read where it is"
        )
    if is_path:
        opened, is_text = open_files(data, needed=needed, in_cluster=engine == "spark")
        spelled = data.read_as if isinstance(data, TextFile) else {}
        frames = "pyspark" if engine == "spark" else "duckdb"
        return Table(opened, frames, is_text=is_text, read_as=spelled)
    if is_engine or is_address(data):
        opened, frames = open_database(data, table), "duckdb"
    elif is_list:
        opened, frames = of_values(data, read_as), "duckdb"
    else:
        opened, frames = quietly(
            lambda: _opened(data), doing="reading the columns' types", telling=True
        )
    return Table(opened, frames, undeclared=_LISTS if is_list else _OBJECTS)


def _opened(data: Any) -> tuple[Engine, str]:
    """Open a frame, relation or table in memory; try Arrow last, because other libraries export it too."""
    library, name = _module(data), type(data).__name__
    if library == "narwhals":
        return _opened(data.to_native())
    if library == "pandas" and name == "DataFrame":
        return of_pandas(data), "pandas"
    if library == "polars" and name in ("DataFrame", "LazyFrame"):
        return of_polars(data), "polars"
    if library in ("duckdb", "_duckdb") and hasattr(data, "query"):
        return DuckDB(data), "duckdb"
    if library == "pyspark" and hasattr(data, "sparkSession"):
        from discreet._tables.in_spark import Spark

        return Spark(data), "pyspark"
    if library == "ibis" and hasattr(data, "schema") and hasattr(data, "op"):
        return of_ibis(data), "ibis"
    speaks = hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__")
    in_arrow = library == "pyarrow" and (speaks or hasattr(data, "scanner"))
    if (in_arrow and hasattr(data, "schema")) or (speaks and library not in _KNOWN):
        return of_arrow(data), "duckdb"
    raise ParameterError(
        f"data of type {name} is not allowed: give a path, a DuckDB relation, a Polars, pandas or PySpark "
        "frame, an Arrow table or data set, a table of Ibis, or a database's address with ⟨table⟩"
        + ('; data.to_frame("value") is a frame' if name == "Series" else "")
    )


def _module(data: Any) -> str:
    return type(data).__module__.partition(".")[0]
