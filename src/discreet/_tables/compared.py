"""A condition on the rows of a table: checked against the declared types, and written in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from discreet._exact.numbers.exact import refuse
from discreet._tables.engines import Engine, is_encodable
from discreet._tables.moments import days_of, moment_in
from discreet._tables.table import NUMBERS, TEXTS, Table
from discreet._tables.where import ColumnComparison, Condition, comparisons, expression
from discreet.errors import ParameterError

_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_INT64 = (-(2**63), 2**63 - 1)


def require_condition(table: Table, condition: Condition) -> None:
    """An error unless every comparison fits the declared type of its column."""
    for comparison in comparisons(condition):
        _compare(table, comparison)


def literals_nobody_has(table: Table, comparison: ColumnComparison) -> list[Any]:
    """The literals of ``=`` or ``in`` that the declared type of the column rules out."""
    if comparison.operator not in ("=", "in") or table.is_text:
        return []
    numbers: list[Any] = [value for value in comparison.literals if _is_number(value)]
    kind = table.kinds[comparison.column]
    if kind == "decimal":
        numbers = [Decimal(repr(value)) for value in numbers]  # as it was written: 0.1 is a tenth
    with_fraction = [value for value in numbers if kind == "integer" and value != value // 1]
    fitting = [value for value in numbers if value not in with_fraction]
    return with_fraction + table.cannot_hold(comparison.column, fitting) if kind in NUMBERS else []


def condition_on(table: Table, condition: Condition) -> str:
    """The condition in SQL; it is never null."""
    return expression(condition, partial(_compare, table))


def _compare(table: Table, comparison: ColumnComparison) -> str:
    table.kind(comparison.column, name="where")
    if _is_dated(table, comparison):
        engine, held = table.engine, table.engine.shown_position(comparison.column)
        operator = "=" if comparison.operator == "in" else comparison.operator
        each = [part.compared(held, operator, engine) for part in _stretches(table, comparison)]
        present = engine.finite(held)
        if not each:
            return f"(NOT COALESCE({present}, FALSE))"
        return f"COALESCE({present} AND ({' OR '.join(each)}), FALSE)"
    held, present, literals = _operands(table, comparison)
    if comparison.operator == "null":
        return f"(NOT COALESCE({present}, FALSE))"
    if comparison.operator == "in":
        holds = f"{held} IN ({', '.join(literals)})"
    else:
        holds = f"{held} {comparison.operator} {literals[0]}"
    return f"COALESCE({present} AND {holds}, FALSE)"


def _operands(table: Table, comparison: ColumnComparison) -> tuple[str, str, list[str]]:
    """What is compared, whether it is a value, and with which literals."""
    column, values = comparison.column, comparison.literals
    kind, engine = table.kind(column, name="where"), table.engine
    if kind in TEXTS and all(isinstance(value, str) for value in values):
        held = engine.text(column)
        blank = f" AND {held} <> {table.literal('', kind='text')}" if table.is_text else ""
        return held, f"{held} IS NOT NULL{blank}", [_text(table, column, value) for value in values]
    if (kind in NUMBERS or (kind == "text" and table.is_text)) and all(map(_is_number, values)):
        whole = all(isinstance(value, int) and _INT64[0] <= value <= _INT64[1] for value in values)
        if kind == "integer" and whole:
            held = engine.column(column)
            return held, f"{held} IS NOT NULL", [f"({value})" for value in values]
        held = table.number(column)
        return held, engine.finite(held), [engine.real(float(value)) for value in values]
    held = engine.column(column) if kind != "other" else engine.quoted(column)
    if kind == "boolean" and all(isinstance(value, bool) for value in values):
        return held, f"{held} IS NOT NULL", [str(value).upper() for value in values]
    if not values:
        return held, f"{held} IS NOT NULL", []
    raise ParameterError(
        f"⟨where⟩ compares column {column!r}, {table.described(column)}, with "
        f"{', '.join(map(repr, values))}: a text stands in single quotes, a number does not"
    )


def _text(table: Table, column: str, text: Any) -> str:
    if not is_encodable(text):
        raise ParameterError("⟨where⟩ has a text with a lone surrogate, which is no Unicode")
    if table.engine.word(text) is None:
        raise ParameterError(
            f"⟨where⟩ compares column {column!r} with a text that its encoding lacks"
        )
    return table.literal(text, kind="text")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """From a first position up to before another; or a single moment, where both are the same."""

    first: float
    end: float

    def compared(self, held: str, operator: str, engine: Engine) -> str:
        """How a position compares with it: ``=`` is within, ``<`` before it, ``<=`` up to its end."""
        first, end = engine.real(self.first), engine.real(self.end)
        up_to = f"{held} <= {end}" if self.first == self.end else f"{held} < {end}"
        return {
            "=": f"({held} >= {first} AND {up_to})",
            "!=": f"(NOT ({held} >= {first} AND {up_to}))",
            "<": f"{held} < {first}",
            "<=": up_to,
            ">": f"(NOT {up_to})",
            ">=": f"{held} >= {first}",
        }[operator]


def _stretches(table: Table, comparison: ColumnComparison) -> list[_Stretch]:
    """What the literals mean on a column of dates or moments."""
    size = 1 if table.kinds[comparison.column] == "date" else 86_400
    stretches, kinds = [], set()
    for text in comparison.literals:
        days = days_of(str(text))
        moment = moment_in(str(text)) if days is None and size > 1 and "-" in str(text) else None
        if moment is not None:
            zone = table.engine.zones.get(comparison.column)
            if moment.tzinfo is not None and zone is not None:
                moment = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
            seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // _MICROSECOND / 10**6
            stretches.append(_Stretch(seconds, seconds))
        elif days is None:
            raise refuse(
                "where",
                text,
                "a day such as '2024-12-31', a week ('2024-W01'), a month ('2024-03'), a quarter "
                "('2024-Q1'), a year ('2024') or a range of one kind, because the column has dates",
            )
        else:
            stretches.append(_Stretch(days[1] * size, days[2] * size))
            kinds.add(days[0])
    if len(kinds) > 1:
        raise ParameterError(
            f"⟨where⟩ compares column {comparison.column!r} with periods of several kinds "
            f"({', '.join(sorted(kinds))}): all must be of one kind"
        )
    return stretches


def _is_dated(table: Table, comparison: ColumnComparison) -> bool:
    texts = all(isinstance(value, str) for value in comparison.literals)
    return table.kinds[comparison.column] in ("date", "moment") and texts
