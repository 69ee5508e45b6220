"""The statements that questions put to tables: built once, tried without reading a row, then run.

A statement is tried before anything is spent, so that what an engine cannot do costs nothing. It is then
run as it was tried. DuckDB binds the steps of a query one by one, which takes longer than a small query
itself: a statement about a file is kept as a text for the next time it is asked. It depends on public facts
only: the question, and the schema of the file. A draw is part of it, so a question that draws is bound each
time.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from discreet._tables.engines import databases, pairs
from discreet._tables.table import Table

Columns = dict[str, Any]
_MOST = 256
_LONGEST = 1 << 16
_kept: dict[str, str] = {}
_NOTHING: Columns = dict.fromkeys(("group", "value", "people"), np.zeros(0, dtype=np.int64))


class Statement(Protocol):
    """What is asked of an engine, ready to run."""

    def try_out(self) -> None:
        """Raise what the engine has against it; no row is read."""

    def columns(self) -> Columns:
        """Run it: a small result as NumPy columns."""

    def rows(self) -> list[tuple[Any, ...]]:
        """Run it: a small result as rows of Python's own values."""


def for_trial(table: Table) -> Table:
    """The table as a question is tried on it.

    Where an engine can check a statement without running it, the statement is built, checked and kept for
    later. Elsewhere it runs on an empty frame of the same columns.

    Example:
        >>> import pandas as pd
        >>> from discreet._tables import open_table
        >>> for_trial(open_table(pd.DataFrame({"age": [41, 52]}), needed=["age"])).native.shape
        (0, 1)
    """
    checks = table.engine in ("duckdb", "pyspark") or (
        table.engine == "ibis" and databases().keeps_time(table.native)
    )
    if checks and table.load is None:
        return replace(table, is_trial=True)
    # A table that is loaded later is an empty frame until then.
    native = table.native if table.load is not None else _without_rows(table)
    return replace(table, native=native, load=None, is_trial=True, tried={})


def _without_rows(table: Table) -> Any:
    if table.engine == "pandas":
        return table.native.iloc[:0]
    if table.engine == "polars":
        import polars as pl

        # Not a filter: a lazy frame may call functions of the user's before it comes to that.
        return pl.LazyFrame(schema=table.native.lazy().collect_schema())
    import ibis

    return table.native.filter(ibis.literal(value=False))


def columns_of(table: Table, steps: Callable[[], Any], *terms: object) -> Columns:
    """What the steps find in a table, as NumPy columns; all that they depend on is said by the terms."""
    statement = _statement(table, steps, terms)
    return _NOTHING if statement is None else statement.columns()


def listed(
    table: Table, column: str, steps: Callable[[], Any], *terms: object, doing: str
) -> list[tuple[Any, int]]:
    """The values of a column that the steps find, with the number of people of each, the commonest first.

    As Python has them: NumPy has no exact place for a wide integer, a decimal or a NUL.
    """
    asked = replace(table, execute=None)  # the draw of a person's group must not be kept

    def found() -> list[tuple[Any, int]]:
        statement = _statement(asked, steps, (doing, *terms))
        rows = [] if statement is None else statement.rows()
        return pairs(rows, partial(_plain, table, column))

    return table.quietly(found, doing=doing)


def _plain(table: Table, column: str, value: Any) -> Any:
    """A value of a column as Python has it, made of what an engine returned."""
    kind, held = table.kinds[column], value
    if kind == "text" and table.engine == "ibis":
        held = bytes.fromhex(value).decode(table.encoding, errors="replace")
    elif isinstance(value, bytes | bytearray):  # a text, see `with_text`
        held = value.decode(errors="replace")
    elif isinstance(value, np.generic):
        held = value.item()
    if kind == "date" and isinstance(held, str):  # SQLite's
        return datetime.date.fromisoformat(held)
    return bool(held) if kind == "boolean" else held


def _statement(
    table: Table, steps: Callable[[], Any], terms: tuple[object, ...]
) -> Statement | None:
    """The statement to run, or None where it is only tried."""
    doing, told = str(terms[0]), (table.read_as, terms)
    if not table.is_trial:
        tried = table.tried.pop(doing, None)
        return _made(table, steps, terms) if tried is None or tried[0] != told else tried[1]
    statement = _made(table, steps, terms)
    statement.try_out()
    table.tried[doing] = told, statement
    return None


def _made(table: Table, steps: Callable[[], Any], terms: tuple[object, ...]) -> Statement:
    if table.execute is not None:
        return _on_file(table, table.execute, steps, terms)
    frame = steps()
    if table.engine == "ibis":
        from discreet._tables.database_statements import statement

        return statement(frame.to_native())
    return _Relation(frame.to_native()) if table.engine == "duckdb" else _Frame(frame)


def _on_file(
    table: Table, execute: Callable[[str], Any], steps: Callable[[], Any], terms: tuple[object, ...]
) -> Statement:
    relation = table.native
    # As they are written, because 1, 1.0 and True are equal and make different statements.
    types = list(map(str, relation.types))
    shape = repr((relation.sql_query(), relation.columns, types, table.read_as, terms))
    text = _kept.get(shape)
    if text is None:
        query = steps().to_native()
        text = query.sql_query()
        if len(shape) + len(text) > _LONGEST:
            return _Relation(query)
    return _Text(execute, text, shape)


@dataclass(frozen=True, slots=True)
class _Text:
    """A statement about a file in DuckDB. It is kept once it has been found to be right."""

    execute: Callable[[str], Any]
    text: str
    shape: str

    def try_out(self) -> None:
        if self.shape not in _kept:
            self.execute(f"SELECT * FROM ({self.text}) WHERE false").fetchall()  # noqa: S608
            self._keep()

    def columns(self) -> Columns:
        found = dict(self.execute(self.text).fetchnumpy())
        self._keep()
        return found

    def rows(self) -> list[tuple[Any, ...]]:
        found = self.execute(self.text).fetchall()
        self._keep()
        return list(found)

    def _keep(self) -> None:
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[self.shape] = self.text


@dataclass(frozen=True, slots=True)
class _Relation:
    """A relation of DuckDB."""

    relation: Any

    def try_out(self) -> None:
        # Explaining it takes long where there are many candidates.
        self.relation.filter("false").fetchall()

    def columns(self) -> Columns:
        return dict(self.relation.fetchnumpy())  # without going through Arrow

    def rows(self) -> list[tuple[Any, ...]]:
        return list(self.relation.fetchall())


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame of Spark; or of Polars or pandas, which is an empty one where it is tried."""

    frame: Any

    def try_out(self) -> None:
        native = self.frame.to_native()
        if hasattr(native, "sparkSession"):
            native.where("false").collect()
        else:
            self.frame.collect()

    def columns(self) -> Columns:
        result = self.frame.collect()
        return {name: result.get_column(name).to_numpy() for name in result.columns}

    def rows(self) -> list[tuple[Any, ...]]:
        return list(self.frame.collect().rows())
