"""Dates, times and time spans that a text file spells: one rule in every engine, and no text that raises.

They are the numbers that ``moments`` makes of declared types: days since 1970, or seconds. Spaces and tabs
around a text do not count, and neither do digits beyond the microsecond. Only texts that match a pattern are
taken apart, and the patterns keep every sum far below 2⁶³, so that no engine overflows.
"""

from __future__ import annotations

from typing import Any

from discreet.tables.engines import quoted

_YEAR = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DAY = f"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
_PAST_HOUR = "[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?"
_CLOCK = f"([01]?[0-9]|2[0-3]):{_PAST_HOUR}"
_OFFSET = "(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?"
_SPANS = (
    f"-?[0-9]{{1,9}}:{_PAST_HOUR}",
    f"[0-9]{{1,6}} days?,? +[0-9]{{1,2}}:{_PAST_HOUR}",
    "-?P([0-9]{1,6}D)?(T([0-9]{1,8}H)?([0-9]{1,8}M)?([0-9]{1,9}([.][0-9]+)?S)?)?",
    "-?[0-9]{1,9} *(us|ms|min|h)",
    "-?[0-9]{1,6} *[dw]",
    "-?[0-9]{1,9}([.][0-9]+)? *s",
)
_DATED = f"{_DAY}([T ]{_CLOCK}{_OFFSET})?"
_PATTERNS = {
    "date": _DATED,
    "moment": _DATED,
    "time": f"({_DAY}[T ])?{_CLOCK}{_OFFSET}",
    "span": f"({'|'.join(_SPANS)})",
}

_SECOND = 10**6
_PARTS_OF_A_CLOCK = {
    "([0-9]+):[0-9]{2}": 3600 * _SECOND,
    "[0-9]:([0-9]{2})": 60 * _SECOND,
    "[0-9]:[0-9]{2}:([0-9]{2})": _SECOND,
}
_PARTS_OF_AN_OFFSET = {
    ":[0-9.]+[+-]([0-9]{2})": 3600 * _SECOND,
    ":[0-9.]+[+-][0-9]{2}:?([0-9]{2})": 60 * _SECOND,
}
_PARTS_OF_A_SPAN = {
    **_PARTS_OF_A_CLOCK,
    "([0-9]+) *w": 7 * 86_400 * _SECOND,
    "([0-9]+) *[dD]": 86_400 * _SECOND,
    "([0-9]+) *[hH]": 3600 * _SECOND,
    "([0-9]+) *(min|M)": 60 * _SECOND,
    "([0-9]+)([.][0-9]+)? *[sS]": _SECOND,
    "([0-9]+) *ms": 1000,
    "([0-9]+) *us": 1,
}


def with_spelled_time(native: Any, column: str, *, name: str, engine: str, kind: str) -> Any:
    """The native frame with a float64 column ``name``: the day or second that ``column`` spells, else null.

    ``kind`` is ``date``, ``moment``, ``time`` or ``span``. Only DuckDB and Spark read text files.
    """
    pattern = (
        f"^{_PATTERNS[kind]}\\z"  # not $, which in Spark stands before a last line break as well
    )
    if engine == "duckdb":
        trimmed = f"trim({quoted(column)}, ' \t')"
        spelled = f"CASE WHEN regexp_matches({trimmed}, '{pattern}') THEN {trimmed} END"
        found = _Found(quoted(name), "'", "date_diff('day', DATE '1970-01-01', {})")
        matched = native.project(f"*, {spelled} AS {quoted(name)}")
        return matched.project(f"* REPLACE ({found.number(kind)} AS {quoted(name)})")
    from pyspark.sql import functions as f

    written, held = (f"`{each.replace('`', '``')}`" for each in (column, name))
    trimmed = f"trim(BOTH ' \t' FROM {written})"
    spelled = f"CASE WHEN {trimmed} RLIKE r'{pattern}' THEN {trimmed} END"
    found = _Found(held, "r'", "unix_date({})")
    return native.withColumn(name, f.expr(spelled)).withColumn(name, f.expr(found.number(kind)))


class _Found:
    """SQL that both engines understand, about a text that matched its pattern, or a null."""

    def __init__(self, text: str, quote: str, days: str) -> None:
        self._text, self._quote, self._days = text, quote, days

    def number(self, kind: str) -> str:
        """The number that the text stands for."""
        day = self._days.format(f"TRY_CAST(substr({self._text}, 1, 10) AS DATE)")
        if kind == "date":
            return f"CAST({day} AS DOUBLE)"
        told = f"{self._text} IS NOT NULL"
        if kind == "moment":
            sign = f"CASE WHEN {self._extract(':[0-9.]+([+-])')} = '-' THEN -1 ELSE 1 END"
            offset = f"{sign} * ({self._sum(_PARTS_OF_AN_OFFSET)})"
            micros = f"{day} * {86_400 * _SECOND} + {self._clock()} - {offset}"
        elif kind == "time":
            micros = self._clock()
            told += f" AND (substr({self._text}, 5, 1) != '-' OR {day} IS NOT NULL)"
        else:
            told += f" AND {self._extract('([0-9])')} != ''"  # P, PT
            sign = f"CASE WHEN substr({self._text}, 1, 1) = '-' THEN -1 ELSE 1 END"
            micros = f"{sign} * ({self._sum(_PARTS_OF_A_SPAN)} + {self._fraction()})"
        return f"CASE WHEN {told} THEN CAST({micros} AS DOUBLE) / 1e6 END"

    def _clock(self) -> str:
        return f"{self._sum(_PARTS_OF_A_CLOCK)} + {self._fraction()}"

    def _extract(self, pattern: str) -> str:
        return f"regexp_extract({self._text}, {self._quote}{pattern}', 1)"

    def _sum(self, parts: dict[str, int]) -> str:
        return " + ".join(
            f"COALESCE(TRY_CAST({self._extract(pattern)} AS BIGINT), 0) * {micros}"
            for pattern, micros in parts.items()
        )

    def _fraction(self) -> str:
        digits = f"substr({self._extract('[.]([0-9]+)')}, 1, 6)"
        return f"COALESCE(TRY_CAST(rpad({digits}, 6, '0') AS BIGINT), 0)"
