"""A table of any engine, seen through Narwhals: its declared columns and expressions on them.

Nothing here reads a row. Kinds come from declared types only: a pandas column of Python objects is kind
``object`` whatever it holds, since a type guessed from the rows would tell about them.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.errors import MissingExtraError, ParameterError
from discreet.exact_numbers import refuse
from discreet.tables import where as conditions
from discreet.tables.files import open_files
from discreet.tables.quiet import quietly
from discreet.tables.text_numbers import with_numbers

_NUMBER_SUFFIX = " (discreet: as a number)"
_INT64 = (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True)
class Table:
    """A native frame with what is declared of it.

    Attributes:
        native: the engine's own frame or relation.
        engine: ``duckdb``, ``polars``, ``pandas`` or ``pyspark``.
        kinds: column name to ``text``, ``integer``, ``float``, ``boolean``, ``date``, ``object`` (pandas),
            ``opaque`` (Python objects that an engine cannot compare) or ``other``.
        is_text: whether the table comes from a text file, in which every column is text.
    """

    native: Any
    engine: str
    kinds: Mapping[str, str]
    is_text: bool = False

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

    def keeping_text(self, columns: Iterable[str]) -> Table:
        """The table with everything that is not text removed from these pandas object columns."""
        chosen = {column for column in columns if self.kinds[column] == "object"}
        if not chosen:
            return self
        cleaned = {column: _text_only(self.native[column]) for column in chosen}
        return replace(
            self,
            native=self.native.assign(**cleaned),
            kinds={**self.kinds, **dict.fromkeys(chosen, "text")},
        )

    def with_numbers(self, columns: Iterable[str]) -> Table:
        """The table of a text file with these columns also as numbers, by the rule for numbers."""
        table = self
        for column in sorted(set(columns)):
            if (
                self.is_text
                and self.kind(column) == "text"
                and column + _NUMBER_SUFFIX not in table.kinds
            ):
                name = column + _NUMBER_SUFFIX
                native = with_numbers(table.native, column, name=name, engine=table.engine)
                table = replace(table, native=native, kinds={**table.kinds, name: "float"})
        return table

    def text(self, column: str) -> Any:
        """A text column as an expression; categories become their texts."""
        import narwhals as nw

        return nw.col(column).cast(nw.String)

    def number(self, column: str) -> Any:
        """A numeric column, or the number column of a text one, as a float64 expression."""
        import narwhals as nw

        if self.kinds[column] == "text":
            return nw.col(column + _NUMBER_SUFFIX)
        return nw.col(column).cast(nw.Float64)

    def require_number(self, column: object) -> None:
        """An error unless the column is declared numeric, or comes from a text file."""
        kind = self.kind(column)
        if kind not in ("integer", "float") and not self.is_text:
            raise ParameterError(
                f"column={column!r} is not allowed: it is declared {kind}, and the question needs numbers"
            )

    # ---- conditions ----------------------------------------------------------------------------

    def require_condition(self, condition: conditions.Condition) -> None:
        """An error unless every comparison fits the declared type of its column."""
        for comparison in conditions.comparisons(condition):
            self._converted(comparison)

    def number_columns(self, condition: conditions.Condition) -> set[str]:
        """The text columns that a condition compares with numbers."""
        return {
            comparison.column
            for comparison in conditions.comparisons(condition)
            if self.is_text and any(_is_number(value) for value in comparison.literals)
        }

    def condition(self, condition: conditions.Condition) -> Any:
        """The condition as a Narwhals expression that is never null."""
        return conditions.expression(condition, self._compare)

    def _converted(self, comparison: conditions.Comparison) -> tuple[Any, ...]:
        kind = self.kind(comparison.column, name="where")
        values: tuple[Any, ...] = comparison.literals
        if kind in ("text", "object") and all(isinstance(value, str) for value in values):
            return values
        if kind in ("integer", "float") or (kind == "text" and self.is_text):
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
            return tuple(_date(value) for value in values)
        raise ParameterError(
            f"where compares column {comparison.column!r}, declared {kind}, with "
            f"{', '.join(map(repr, comparison.literals))}: a text stands in single quotes, a number does not"
        )

    def _compare(self, comparison: conditions.Comparison) -> Any:
        import narwhals as nw

        column, kind = comparison.column, self.kinds[comparison.column]
        values = self._converted(comparison)
        expression = nw.col(column)
        if kind in ("text", "object") and not any(isinstance(value, float) for value in values):
            expression = self.text(column)
            missing = (
                expression.is_null() | (expression == "") if self.is_text else expression.is_null()
            )
        elif kind in ("float", "text") or any(isinstance(value, float) for value in values):
            expression = self.number(column)
            missing = expression.is_null() | ~expression.is_finite()
        else:
            missing = expression.is_null()
        # A null makes some engines' comparisons null: both steps below turn that into false.
        absent = nw.when(missing).then(nw.lit(True)).otherwise(nw.lit(False))
        if comparison.operator == "null":
            return absent
        holds = (
            expression.is_in(list(values))
            if comparison.operator == "in"
            else (_OPERATORS[comparison.operator](expression, values[0]))
        )
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


def _text_only(series: Any) -> Any:
    import pandas as pd

    texts = [value if isinstance(value, str) else None for value in series.array]
    return pd.Series(texts, index=series.index, dtype="str")


def open_table(data: Any, *, needed: Iterable[str], engine: str | None = None) -> Table:
    """A table over a path or glob, a DuckDB relation, or a Polars, pandas or PySpark frame.

    ``needed`` names the columns that a question uses; a JSON lines file declares no others.
    """
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtraError(
            "asking a table needs Narwhals: pip install 'discreet[tables]'"
        ) from None
    is_text = False
    if isinstance(data, str | Path):
        data, is_text = open_files(data, needed=needed, engine=engine or "duckdb")
    elif engine is not None:
        raise ParameterError(
            f"engine={engine!r} is not allowed: it goes with a path; a frame has its own"
        )
    native = nw.to_native(data, pass_through=True)
    frame = nw.from_native(native, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise ParameterError(
            f"data of type {type(data).__name__} is not allowed: give a path, a DuckDB relation, or a "
            "Polars, pandas or PySpark frame"
        )
    name = frame.implementation.value
    engine_name = "pyspark" if name.startswith("pyspark") else name
    if engine_name not in ("duckdb", "polars", "pandas", "pyspark"):
        raise ParameterError(
            f"data of type {type(data).__name__} is not allowed: known are DuckDB, Polars, pandas and PySpark"
        )
    return Table(native, engine_name, _kinds(native, frame, engine_name), is_text)


def _kinds(native: Any, frame: Any, engine: str) -> dict[str, str]:
    kinds: dict[str, str] = {}
    if engine == "pandas":
        # Narwhals would look at the rows of an object column; the declared type is all we may use.
        declared = {str(name): str(dtype) for name, dtype in native.dtypes.items()}
        plain = [name for name, dtype in native.dtypes.items() if str(dtype) != "object"]
        kinds = {name: "object" for name, dtype in declared.items() if dtype == "object"}
        import narwhals as nw

        frame = quietly(lambda: nw.from_native(native[plain]), doing="reading the columns' names")
    schema = quietly(frame.collect_schema, doing="reading the columns' types")
    return {**kinds, **{name: _kind(dtype) for name, dtype in schema.items()}}


def _kind(dtype: Any) -> str:
    import narwhals as nw

    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype.is_integer():
        return "integer"
    if dtype.is_float() or dtype == nw.Decimal:
        return "float"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype == nw.Object:
        return "opaque"
    return "date" if dtype == nw.Date else "other"
