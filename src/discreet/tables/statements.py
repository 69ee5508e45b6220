"""The statement that a question puts to a file, kept for the next time it is asked.

DuckDB binds the steps of a query one by one, which takes longer than a small query itself. The statement
depends on public facts only: on the question, and on the schema of the file. A draw is part of it, so that
a question that draws is bound each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from discreet.tables.engines import VIEWS, collected
from discreet.tables.table import Table

_MOST = 256
_LONGEST = 1 << 16
_kept: dict[str, str] = {}


def found(table: Table, steps: Callable[[], Any], *terms: object) -> dict[str, Any]:
    """What the steps find in a table, as NumPy columns; all that they depend on is said by the terms."""
    execute, relation = table.execute, table.native
    if execute is None:
        return collected(steps())
    # As they are written, because 1, 1.0 and True are equal and make different statements.
    types = list(map(str, relation.types))
    shape = repr((relation.sql_query(), relation.columns, types, table.read_as, terms))
    statement = _kept.get(shape)
    if statement is None:
        query = steps().to_native()
        statement = query.sql_query()
        if not _defines_its_views(statement) or len(shape) + len(statement) > _LONGEST:
            return dict(query.fetchnumpy())
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[shape] = statement
    return dict(execute(statement).fetchnumpy())


def _defines_its_views(statement: str) -> bool:
    """Whether every view in it is its own: DuckDB before 2.0 left them outside, and one may be another's."""
    named = set(re.findall(rf"\b{VIEWS}\w+", statement))
    return all(f"WITH {name} AS" in statement for name in named)
