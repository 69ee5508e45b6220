"""Conditions on the rows of a table: checked against the declared types, and written in SQL."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from discreet._exact.numbers.exact import refuse
from discreet._tables.engines import Engine, is_encodable, range_of
from discreet._tables.moments import (
    PERIODS,
    as_moment,
    days_of,
    period_in,
    second_of,
    second_of_day,
    seconds_in,
)
from discreet._tables.table import NUMBERS, TEXTS, Table
from discreet._tables.where import ColumnComparison, Condition, comparisons
from discreet.errors import ParameterError

_MOST_PERIODS = 10_000
_INT64 = (-(2**63), 2**63 - 1)
_TIMES = {
    "time": (second_of_day, "a time such as '08:30'"),
    "span": (seconds_in, "a time span such as '90min'"),
}
_DATES = (
    "a day such as '2024-12-31', a week ('2024-W01'), a month ('2024-03'), a quarter ('2024-Q1'), a year "
    "('2024') or a range of one kind"
)


def require_condition(table: Table, condition: Condition) -> None:
    """Raise an error unless every comparison fits the declared type of its column."""
    for comparison in comparisons(condition):
        steps_to(table, comparison, name="held")


def literals_nobody_has(table: Table, comparison: ColumnComparison) -> list[Any]:
    """Return the literals that no row can match, given the declared type of the column."""
    column, operator = comparison.column, comparison.operator
    numbers: list[Any] = [value for value in comparison.literals if _is_number(value)]
    kind = table.kinds[column]
    if kind not in NUMBERS or table.is_text:
        return []
    if not all(map(math.isfinite, numbers)):  # 1e999: no row has it, because infinities are null
        return [value for value in numbers if operator in ("=", "in") and math.isinf(value)]
    if kind == "decimal":
        numbers = [Decimal(repr(value)) for value in numbers]  # as it was written: 0.1 is a tenth
    if operator in ("=", "in"):
        whole = [value for value in numbers if kind != "integer" or value == value // 1]
        return [each for each in numbers if each not in whole] + table.cannot_hold(column, whole)
    least, most, parts = range_of(table.engine.types[column]) or (-math.inf, math.inf, 1)

    def never(held: Fraction) -> bool:
        order = {"<": held <= least, "<=": held < least, ">": held >= most, ">=": held > most}
        return order.get(operator, False)

    return [value for value in numbers if never(Fraction(value) * parts)]


def not_listed(comparison: ColumnComparison, listed: Sequence[Any]) -> list[Any]:
    """Return the literals that match no value of a public list; in a list of periods, overlap is a match."""
    texts, periods = set(map(str, listed)), [days_of(str(value)) for value in listed]
    spelled = [period for period in periods if period is not None]

    def meets(word: Any) -> bool:
        days = days_of(str(word))
        if days is None or len(spelled) < len(periods):
            return str(word) in texts
        return any(first < days[2] and days[1] < end for _, first, end in spelled)

    return [
        literal
        for literal in comparison.literals
        if not any(map(meets, _in_range(str(literal), comparison.operator)))
    ]


def steps_to(table: Table, comparison: ColumnComparison, *, name: str) -> tuple[str, ...]:
    """Return the steps of an SQL expression for a comparison; the last is true or false, never null.

    The first step uses the columns of the table; each later one uses ``name``, the result of the step before.
    """
    column, operator = comparison.column, comparison.operator
    table.kind(column, name="where")
    if table.is_dated(column):
        steps, present = table.position(column, name=name, shown=True), table.engine.finite(name)
        within = "=" if operator == "in" else operator
        parts = _stretches(table, comparison)
        holds = " OR ".join(part.compared(name, within, table.engine) for part in parts)
    else:
        steps, present, compared = _operands(table, comparison, name)
        among = f"({', '.join(compared)})" if operator == "in" else "".join(compared)
        holds = f"{name} {operator} {among}"
    if operator == "null":
        return *steps, f"(NOT COALESCE({present}, FALSE))"
    return *steps, f"COALESCE({present} AND ({holds}), FALSE)"


def _operands(
    table: Table, comparison: ColumnComparison, name: str
) -> tuple[tuple[str, ...], str, list[str]]:
    """Return, in SQL, the steps to the compared value, a test that it is not missing, and the literals."""
    column, values = comparison.column, comparison.literals
    kind, engine = table.ordered_kind(column), table.engine
    there = f"{name} IS NOT NULL"
    if kind in TEXTS and all(isinstance(value, str) for value in values):
        blank = f" AND {name} <> {table.literal('')}" if table.is_text else ""
        texts = period_words(comparison)
        period = table.period_named(column, texts)
        if kind == "object" and period not in (None, "year"):
            raise ParameterError(
                f"⟨where⟩ compares column {column!r} with a {period}, but the column may hold dates that "
                f"are not texts: it is {table.undeclared}"
            )
        named = period is not None and table.is_text
        steps = table.period(column, str(period), name=name) if named else (engine.text(column),)
        return steps, there + blank, [_text(table, column, text) for text in texts]
    if (kind in NUMBERS or (kind == "text" and table.is_text)) and all(map(_is_number, values)):
        whole = all(isinstance(value, int) and _INT64[0] <= value <= _INT64[1] for value in values)
        if kind == "integer" and whole:
            return (engine.column(column),), there, [f"({value})" for value in values]
        reals = [engine.real(float(value)) for value in values]
        return (table.number(column),), engine.finite(name), reals
    held = engine.column(column) if kind != "other" else engine.quoted(column)
    if kind == "boolean" and all(isinstance(value, bool) for value in values):
        return (held,), there, [str(value).upper() for value in values]
    if not values:
        return (held,), there, []
    raise ParameterError(
        f"⟨where⟩ compares column {column!r}, {table.described(column)}, with "
        f"{', '.join(map(repr, values))}: write texts in single quotes and numbers without"
    )


def period_words(comparison: ColumnComparison) -> list[str]:
    """Return the texts that a column is compared with; for a range, each of its periods."""
    texts = (each for each in comparison.literals if isinstance(each, str))
    return [word for text in texts for word in _in_range(text, comparison.operator)]


def _in_range(text: str, operator: str) -> list[str]:
    """Return the periods of a range, each written as in a list of groups; return any other text unchanged."""
    first, between, last = text.partition(":")
    start, end = period_in(first), period_in(last)
    if operator != "in" or not between or start is None or end is None or days_of(text) is None:
        return [text]
    if end[1] - start[1] >= _MOST_PERIODS:
        raise refuse("where", text, f"a range of at most {_MOST_PERIODS:,} periods")
    return [PERIODS[start[0]].write(number) for number in range(start[1], end[1] + 1)]


def _text(table: Table, column: str, text: Any) -> str:
    if not is_encodable(text):
        raise ParameterError("⟨where⟩ has a text with a lone surrogate, which is not valid Unicode")
    if table.engine.word(text) is None:
        raise ParameterError(
            f"⟨where⟩ compares column {column!r} with a text that the database's encoding cannot represent"
        )
    return table.literal(text)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """An interval of positions from ``first`` up to but not including ``end``; a point if they are equal."""

    first: float
    end: float

    def compared(self, held: str, operator: str, engine: Engine) -> str:
        """Return SQL that compares ``held`` with the interval; ``=`` means within it and ``<`` before it."""
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
    """Return the time intervals that the literals stand for."""
    kind = table.ordered_kind(comparison.column)
    size = 1 if kind == "date" else 86_400
    stretches, kinds = [], set()
    read, allowed = _TIMES.get(kind, (None, _DATES))
    for literal in comparison.literals:
        text = literal if isinstance(literal, str) else ""
        days = days_of(text) if read is None else None
        if days is not None:
            stretches.append(_Stretch(days[1] * size, days[2] * size))
            kinds.add(days[0])
            continue
        moment = as_moment(text) if kind == "moment" else None
        zone = table.engine.zones.get(comparison.column)
        if moment is not None and moment.tzinfo is not None and zone is not None:
            moment = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        second = second_of(moment) if read is None else read(text)
        if second is None:
            declared = f"{comparison.column!r}, {table.described(comparison.column)}"
            raise refuse("where", literal, f"{allowed}, to be compared with the column {declared}")
        stretches.append(_Stretch(float(second), float(second)))
    if len(kinds) > 1:
        raise ParameterError(
            f"⟨where⟩ compares column {comparison.column!r} with periods of several kinds "
            f"({', '.join(sorted(kinds))}): all must be of one kind"
        )
    return stretches
