"""Rehearse a question on invented rows, at no cost, with the code that answers real questions.

The rows are made from the declared columns and from the question's public facts alone: its candidates, its
bounds, its groups, the values in its condition. The table's own rows are never used.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from discreet._exact.sampling import Bits
from discreet._exact.sampling.bits import uniform_indices
from discreet._tables import Table
from discreet._tables.engines import quoted
from discreet._tables.in_duckdb import connected
from discreet._tables.moments import RECURRING, days_of
from discreet._tables.where import comparisons
from discreet.questions.plan import USUAL_PEOPLE, Setting
from discreet.questions.question import Question

MOST_ROWS = 100_000
_TYPES = {
    "text": "VARCHAR",
    "object": "VARCHAR",
    "integer": "BIGINT",
    "float": "DOUBLE",
    "decimal": "DECIMAL(38, 6)",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "moment": "TIMESTAMP",
    "time": "TIME",
    "span": "INTERVAL",
}
"""DuckDB's type for each kind of column."""
_SPELLED: dict[type, str] = {
    int: "float",
    float: "float",
    Decimal: "decimal",
    datetime.date: "date",
    datetime.datetime: "moment",
    datetime.time: "time",
    datetime.timedelta: "span",
}
"""The type that a text file's column is read as, by the type of the public values it is compared with."""
_USUAL: dict[str, Sequence[Any]] = {
    "integer": range(100),
    "float": range(100),
    "decimal": range(100),
    "boolean": (True, False),
    "date": [datetime.date(2026, 1, 1) + datetime.timedelta(days=day) for day in range(365)],
    "moment": [
        datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=6 * hour) for hour in range(1400)
    ],
    "time": [datetime.time(hour) for hour in range(24)],
    "span": [datetime.timedelta(minutes=10 * number) for number in range(100)],
}


def invented_rows(question: Question, setting: Setting, bits: Bits) -> Any:
    """Return a DuckDB relation of invented rows, with the declared columns that the question needs."""
    return _relation(*invented_columns(question, setting, bits))


def invented_columns(
    question: Question, setting: Setting, bits: Bits, *, further: Sequence[str] = ()
) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Invent values for the question's columns and those in ``further``; return their kinds and values."""
    condition = setting.narrowed(getattr(question, "where", None)).condition
    literals = {each.column: each.literals for each in comparisons(condition)} if condition else {}
    by = getattr(question, "by", None)
    asked = getattr(question, "column", None)
    used = [name for name in (asked, by, *literals, *further) if name is not None]
    table = setting.opened(*used)
    people = min(setting.people or USUAL_PEOPLE, MOST_ROWS)
    several = setting.several_rows
    whose = (
        np.repeat(np.arange(people), 1 + uniform_indices(bits, 3, count=people))
        if several
        else None
    )
    rows = people if whose is None else len(whose)
    public = {name: list(values) for name, values in setting.listed.items()}
    public |= question.public_values(table)
    columns: dict[str, list[Any]] = {}
    kinds = dict(table.kinds) | dict(table.read_as)
    if table.is_text:
        given = {name: [*public.get(name, ()), *literals.get(name, ())] for name in used}
        told = {name: _SPELLED.get(type(each[0])) for name, each in given.items() if each}
        told[str(setting.counted)] = "float"
        kinds = {name: table.read_as.get(name) or told.get(name) or "text" for name in kinds}
    for name in dict.fromkeys(used) if used else table.kinds:
        kind = kinds.get(name, "text")
        usual = _USUAL.get(kind, [f"{name} {number}" for number in range(1, 6)])
        values = public.get(name) or [*literals.get(name, ()), *usual]
        falling = name in public and kind in ("text", "object")
        places = (
            _falling(bits, len(values), rows)
            if falling
            else uniform_indices(bits, len(values), count=rows)
        )
        if kind in ("date", "moment"):
            values = [_example(value) for value in values]
        columns[name] = [values[place] for place in places]
    if setting.user is not None and whose is not None:
        columns[setting.user] = _people(table, setting.user, whose)
    if setting.counted is not None:
        columns[setting.counted] = (1 + uniform_indices(bits, 3, count=rows)).tolist()
    return kinds, columns


def _example(value: Any) -> Any:
    """Return a day or moment in the period that a value names; return any other value unchanged."""
    stretch = days_of(value) if isinstance(value, str) else None
    first = datetime.date(2026, 1, 1)
    for name, labels in RECURRING.items():
        if value in labels:
            place = labels.index(value)
            days = {"weekday": 4 + place, "month of year": 31 * place}.get(name, 0)
            hours = place if name == "hour of day" else 0
            return datetime.datetime(2026, 1, 1) + datetime.timedelta(days=days, hours=hours)
    return value if stretch is None else first.fromordinal(719_163 + stretch[1])


def _falling(bits: Bits, size: int, count: int) -> Any:
    """Draw indices with probabilities proportional to 1, 1/2, 1/3, ..., as assumed for typical errors."""
    shares = np.cumsum(1 / np.arange(1, size + 1))
    drawn = bits.words(count) / 2.0**64 * shares[-1]
    return np.minimum(np.searchsorted(shares, drawn), size - 1)


def _people(table: Table, user: str, whose: Any) -> list[Any]:
    if table.kinds.get(user) in ("integer", "float", "decimal"):
        return list(whose.tolist())
    if table.kinds.get(user) == "date":
        first = datetime.date(1900, 1, 1)
        return [first + datetime.timedelta(days=int(number)) for number in whose]
    return [f"person {number}" for number in whose]


def _relation(kinds: Mapping[str, str], columns: dict[str, list[Any]]) -> Any:
    """Make a DuckDB relation from these columns, each cast to its kind."""
    texts: dict[str, Any] = {}
    parts = []
    for place, (name, values) in enumerate(columns.items()):
        kind = kinds.get(name, "text")
        texts[f"c{place}"] = np.array([_written(value) for value in values], dtype=object)
        parts.append(f"TRY_CAST(c{place} AS {_TYPES.get(kind, 'VARCHAR')}) AS {quoted(name)}")
    found = connected().sql(f"SELECT {', '.join(parts)} FROM texts")  # noqa: S608 - public names, quoted
    assert texts  # DuckDB looks up this variable by its name
    return found


def _written(value: Any) -> str:
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)} microseconds"
    return str(value)
