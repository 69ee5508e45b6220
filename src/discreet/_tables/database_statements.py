"""One statement to a database: its text, tried by having it explained, and its small result fetched.

The result is fetched as the database's own library gives it. Ibis would convert it to the types that it
deduced, and raise at a value that is not of that type: a NaN in PostgreSQL's decimals, a text in a numeric
column of SQLite, a whole number of 39 digits in DuckDB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._tables.databases import backend_of, compiled, source_of

if TYPE_CHECKING:
    from discreet._tables.statements import Statement


def statement(native: Any) -> Statement:
    """What is asked of a database by an Ibis expression, ready to run."""
    backend, source = backend_of(native), source_of(native)
    if backend not in _TRIED:
        return _Elsewhere(native)
    query = compiled(native)
    if backend == "sqlite":
        from sqlglot.optimizer.eliminate_subqueries import eliminate_subqueries

        # SQLite's parser takes few subqueries inside each other, and as many as one likes by name.
        query = eliminate_subqueries(query)
    names = tuple(native.columns)
    whole = "group" in names and all(kind.is_integer() for kind in native.schema().values())
    text = query.sql(source.dialect)
    return _Text(
        source.con, text, names, _TRIED[backend], is_packed=backend == "postgres" and whole
    )


_TRIED = {
    "postgres": "EXPLAIN {}",
    "sqlite": "EXPLAIN {}",
    "duckdb": "SELECT * FROM ({}) WHERE false",
}
"""How a statement is tried, for every database whose library is asked without Ibis."""


@dataclass(frozen=True, slots=True)
class _Text:
    connection: Any
    text: str
    names: tuple[str, ...]
    tried: str
    is_packed: bool

    def try_out(self) -> None:
        """Have the database explain it."""
        self.connection.execute(self.tried.format(self.text)).fetchall()

    def columns(self) -> dict[str, Any]:
        """Run it: NumPy columns."""
        if self.is_packed:
            return self._packed()
        columns = list(zip(*self.rows(), strict=True)) or [()] * len(self.names)
        return {
            name: np.array(column, dtype=np.int64)
            for name, column in zip(self.names, columns, strict=True)
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """Run it: rows of Python's own values."""
        return list(self.connection.execute(self.text).fetchall())

    def _packed(self) -> dict[str, Any]:
        """Whole numbers by group, each group's as one run of bytes: a message for every number takes long."""
        sent = " || ".join(f'int8send(CAST("{name}" AS BIGINT))' for name in self.names)
        query = f"SELECT string_agg({sent}, '') FROM ({self.text}) AS counted GROUP BY \"group\""  # noqa: S608
        with self.connection.cursor(binary=True) as cursor:
            runs = b"".join(run for (run,) in cursor.execute(query))
        numbers = np.frombuffer(runs, dtype=">i8").reshape(-1, len(self.names)).astype(np.int64)
        return dict(zip(self.names, numbers.T, strict=True))


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """A statement that Ibis runs; it is tried on a table without rows."""

    native: Any

    def try_out(self) -> None:
        """Run it."""
        self.native.to_pyarrow()

    def columns(self) -> dict[str, Any]:
        """Run it: NumPy columns."""
        table = self.native.to_pyarrow()
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def rows(self) -> list[tuple[Any, ...]]:
        """Run it: rows of Python's own values."""
        return list(zip(*self.native.to_pyarrow().to_pydict().values(), strict=True))
