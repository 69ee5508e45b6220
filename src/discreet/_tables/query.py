"""One SQL statement, built step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """A statement of named steps, each a SELECT from the one before.

    The columns have our own names, which no engine reserves, so they are never quoted.

    Example:
        >>> query = Query.of("visits", {"value": "code", "person": "patient"})
        >>> print(query.where("person > 17").grouped("value", people="count(*)").statement)
        WITH step_1 AS (SELECT code AS value, patient AS person FROM visits),
        step_2 AS (SELECT value, person FROM step_1 WHERE person > 17),
        step_3 AS (SELECT value, count(*) AS people FROM step_2 GROUP BY value)
        SELECT value, people FROM step_3
    """

    columns: tuple[str, ...]
    steps: tuple[str, ...]

    @staticmethod
    def of(source: str, columns: Mapping[str, str]) -> Query:
        """Begin a query that selects from a table; ``columns`` maps each new name to its SQL expression."""
        return Query((), ())._then(columns, source)

    def _then(self, columns: Mapping[str, str], source: str = "", rest: str = "") -> Query:
        source = source or f"step_{len(self.steps)}"
        chosen = ", ".join(
            name if how == name else f"{how} AS {name}" for name, how in columns.items()
        )
        step = f"step_{len(self.steps) + 1} AS (SELECT {chosen} FROM {source}{rest})"  # noqa: S608
        return Query(tuple(columns), (*self.steps, step))

    def set(self, columns: Mapping[str, str], *, beside: str = "") -> Query:
        """Keep all columns, and add or replace some; ``beside`` joins a table to the last step."""
        kept = {name: name for name in self.columns}
        return self._then({**kept, **columns}, rest=beside)

    def select(self, columns: Mapping[str, str], *, where: str | None = None) -> Query:
        """Keep only these columns, and with ``where`` only the rows for which this condition holds."""
        return self._then(columns, rest="" if where is None else f" WHERE {where}")

    def where(self, condition: str) -> Query:
        """Keep the rows for which a condition holds."""
        return self._then({name: name for name in self.columns}, rest=f" WHERE {condition}")

    def grouped(self, *kept: str, **aggregates: str) -> Query:
        """Return one row for each combination of the kept columns, with aggregates."""
        columns = {name: name for name in kept} | aggregates
        return self._then(columns, rest=f" GROUP BY {', '.join(kept)}")

    @property
    def statement(self) -> str:
        """The SQL text; ORDER BY and LIMIT may be appended to it."""
        steps = ",\n".join(self.steps)
        return f"WITH {steps}\nSELECT {', '.join(self.columns)} FROM step_{len(self.steps)}"
