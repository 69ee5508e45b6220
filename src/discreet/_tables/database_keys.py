"""Public keys in a database: listed inside the query, joined with a column, so that places come back.

A list travels as literals: what decides a match is the database's own comparison in the column's own type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet._tables.databases import backend_of, source_of

_KEY, _PLACE = "discreet_key", "discreet_index"

Written = list[tuple[str, int]]
"""Keys as the texts of their literals, without commas, with their places."""


def joined(
    native: Any, name: str, held: Sequence[tuple[Any, int]], *, rest: int | None = None
) -> Any:
    """The rows whose column holds one of the keys, with the key's index in its place.

    With ``rest`` all rows, and that in place of whatever is none of them.
    """
    column = native[name]
    if column.type().is_boolean():
        column = column.ifelse(1, 0).cast("int64")
    keys = _keys(native, [(_literal(key), place) for key, place in held], column.type())
    others = [each for each in native.columns if each != name]
    left = native.mutate(discreet_joined=column)
    both = left.join(keys, "discreet_joined", how="inner" if rest is None else "left")
    index = both["discreet_index"]
    return both.select(*others, **{name: index if rest is None else index.fill_null(rest)})


def _keys(native: Any, written: Written, kind: Any) -> Any:
    """A table of the keys in this type (``discreet_joined``) and their places (``discreet_index``)."""
    import ibis
    import ibis.expr.operations as ops

    backend, source = backend_of(native), source_of(native)
    typed = backend == "postgres"
    query = _list_in_postgres(written, kind) if typed else _values(written, backend)
    schema = ibis.schema({_KEY: kind if typed else "string", _PLACE: "int64"})
    keys = ops.SQLQueryResult(query=query, schema=schema, source=source).to_expr()
    key = keys[_KEY] if typed or kind.is_string() else keys[_KEY].cast(kind)
    return keys.select(discreet_joined=key, discreet_index=keys[_PLACE])


def _values(written: Written, backend: str) -> str:
    import sqlglot as sg
    from sqlglot import expressions as sge

    rows = [
        sge.Tuple(expressions=[sge.Literal.string(text), sge.Literal.number(place)])
        for text, place in written
    ]
    # No database takes an empty list, and a null matches nothing.
    rows = rows or [sge.Tuple(expressions=[sge.cast(sge.Null(), "text"), sge.Literal.number(0)])]
    values = sge.Values(expressions=rows)
    if backend == "sqlite":
        return f"SELECT column1 AS {_KEY}, column2 AS {_PLACE} FROM ({values.sql('sqlite')})"  # noqa: S608
    columns = [sg.to_identifier(name) for name in (_KEY, _PLACE)]
    values.set("alias", sge.TableAlias(this=sg.to_identifier("discreet_keys"), columns=columns))
    return sg.select(_KEY, _PLACE).from_(values).sql(backend)


def _list_in_postgres(written: Written, kind: Any) -> str:
    """Two literals, however many keys there are; grouped, so that the planner knows each for the only one.

    It would otherwise take the list for the larger side of the join, and build its table of the rows.
    """
    from ibis.backends.sql.datatypes import PostgresType

    texts, places = (",".join(str(pair[part]) for pair in written) for part in (0, 1))
    return (
        f"SELECT CAST(k AS {PostgresType.to_string(kind)}) AS {_KEY}, MIN(i) AS {_PLACE} FROM "  # noqa: S608
        f"UNNEST(STRING_TO_ARRAY('{texts}', ','), CAST(STRING_TO_ARRAY('{places}', ',') AS BIGINT[])) "
        "AS discreet_keys(k, i) GROUP BY 1"
    )


def _literal(key: Any) -> str:
    if isinstance(key, bool):
        return str(int(key))
    return repr(key) if isinstance(key, float) else str(key)
