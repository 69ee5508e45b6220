"""A condition on the rows of a table: checked against the declared types, and as an engine's expression."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import partial
from typing import Any

from discreet._exact.numbers.exact import refuse
from discreet._tables.engines import finite, is_encodable
from discreet._tables.moments import day_in
from discreet._tables.table import NUMBERS, TEXTS, Table
from discreet._tables.where import ColumnComparison, Condition, comparisons, expression
from discreet.errors import ParameterError

_INT64 = (-(2**63), 2**63 - 1)


def require_condition(table: Table, condition: Condition) -> None:
    """An error unless every comparison fits the declared type of its column."""
    for comparison in comparisons(condition):
        _converted(table, comparison)


def condition_on(table: Table, condition: Condition) -> Any:
    """The condition as a Narwhals expression that is never null."""
    return expression(condition, partial(_compare, table))


def _converted(table: Table, comparison: ColumnComparison) -> tuple[Any, ...]:
    kind = table.kind(comparison.column, name="where")
    values: tuple[Any, ...] = comparison.literals
    if kind in TEXTS and all(isinstance(value, str) for value in values):
        if not all(is_encodable(value) for value in values):
            raise ParameterError("⟨where⟩ has a text with a lone surrogate, which is no Unicode")
        texts = tuple(map(table.as_text, values))
        if None in texts:
            raise ParameterError(
                f"⟨where⟩ compares column {comparison.column!r} with a text that its encoding lacks"
            )
        return texts
    if kind in NUMBERS or (kind == "text" and table.is_text):
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
        return tuple(table.day(_date(value)) for value in values)
    raise ParameterError(
        f"⟨where⟩ compares column {comparison.column!r}, {table.described(comparison.column)}, with "
        f"{', '.join(map(repr, comparison.literals))}: a text stands in single quotes, a number does not"
    )


def _compare(table: Table, comparison: ColumnComparison) -> Any:
    import narwhals as nw

    column, kind = comparison.column, table.kinds[comparison.column]
    values = _converted(table, comparison)
    held = nw.col(column)
    if kind in TEXTS and not any(isinstance(value, float) for value in values):
        held = table.text(column)
        missing = held.is_null()
        if table.is_text:
            missing = missing | (held == table.as_text(""))
    elif (kind != "integer" and kind in (*NUMBERS, "text")) or any(
        isinstance(value, float) for value in values
    ):
        held = table.number(column)
        missing = held.is_null() | ~finite(held, engine=table.engine)
    else:
        missing = held.is_null()
    # A null makes some engines' comparisons null: both steps below turn that into false.
    absent = nw.when(missing).then(nw.lit(True)).otherwise(nw.lit(False))
    if comparison.operator == "null":
        return absent
    if comparison.operator != "in":
        holds = _OPERATORS[comparison.operator](held, values[0])
    elif kind == "date":
        holds = nw.any_horizontal(*(held == day for day in values), ignore_nulls=False)
    else:
        holds = held.is_in(list(values))
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
    day = day_in(text)
    if day is None:
        raise refuse("where", text, "a day such as '2024-12-31', because the column has dates")
    return day
