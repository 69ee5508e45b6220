"""Dates, times and time spans in text files: one rule for every engine, and no text raises an error.

They become the same numbers as values of declared types (``Engine.position``): days since 1970, or seconds.
A date is written with hyphens or slashes, the year first. Surrounding spaces and tabs are ignored, and so are
digits beyond the microsecond. Only texts that match a pattern are parsed, and the patterns keep every sum far
below 2⁶³, so that no engine overflows.
"""

from __future__ import annotations

from discreet._tables.engines import Engine

_YEAR = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DAY = f"{_YEAR}(-[0-9]{{2}}-|/[0-9]{{2}}/)[0-9]{{2}}"
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
_PARTS_OF_AN_OFFSET = {
    ":[0-9.]+[+-]([0-9]{2})": 3600 * _SECOND,
    ":[0-9.]+[+-][0-9]{2}:?([0-9]{2})": 60 * _SECOND,
}
_PARTS_WITH_COLONS = {
    "([0-9]+):": 3600 * _SECOND,
    ":([0-9]{2})": 60 * _SECOND,
    ":[0-9]{2}:([0-9]{2})": _SECOND,
    "([0-9]+) d": 86_400 * _SECOND,
}
_PARTS_WITH_UNITS = {
    "([0-9]+) *w": 7 * 86_400 * _SECOND,
    "([0-9]+) *[dD]": 86_400 * _SECOND,
    "([0-9]+) *[hH]": 3600 * _SECOND,
    "([0-9]+) *(min|M)": 60 * _SECOND,
    "([0-9]+)([.][0-9]+)? *[sS]": _SECOND,
    "([0-9]+) *ms": 1000,
    "([0-9]+) *us": 1,
}


def spelled_time(engine: Engine, column: str, kind: str, *, name: str = "value") -> tuple[str, ...]:
    """Return SQL, in steps, for the day or second that a column's text spells, or null if it spells none.

    The first step uses the column; each later one uses ``name``, the result of the step before. ``kind`` is
    ``date``, ``moment``, ``time`` or ``span``.
    """
    trimmed = engine.trimmed(engine.column(column))
    matches = engine.matches(trimmed, _whole_text(_PATTERNS[kind]))
    text = trimmed if kind == "span" else _with_hyphens(trimmed)
    spelled = f"CASE WHEN {matches} THEN {text} END"
    return spelled, *_Found(name, *engine.spelling).steps(kind)


def named_period(engine: Engine, column: str, kind: str) -> str:
    """Return SQL for the name of the period that contains a text's date, or the text if it spells no date."""
    trimmed = engine.trimmed(engine.column(column))
    text = _with_hyphens(trimmed)
    day = f"TRY_CAST(substr({text}, 1, 10) AS DATE)"
    name = {
        "day": f"substr({text}, 1, 10)",
        "week": engine.week.format(day),
        "month": f"substr({text}, 1, 7)",
        "quarter": f"concat(substr({text}, 1, 5), 'Q', CAST(quarter({day}) AS STRING))",
        "year": f"substr({text}, 1, 4)",
    }[kind]
    spells = f"{engine.matches(trimmed, _whole_text(_DATED))} AND {day} IS NOT NULL"
    return f"CASE WHEN {spells} THEN {name} ELSE {engine.column(column)} END"


class _Found:
    """SQL, for DuckDB and Spark, that reads a time from a text; the text has matched its pattern or is null.

    Digits are taken by position where possible, because patterns are slow, and rare parts are searched for
    only if a character shows that they may be there.
    """

    def __init__(self, text: str, quote: str, days: str) -> None:
        self._text, self._quote, self._days = text, quote, days

    def steps(self, kind: str) -> tuple[str, ...]:
        """Return SQL, in steps, that turns the text into its number; each step uses the one before."""
        text = self._text
        day = self._days.format(f"TRY_CAST(substr({text}, 1, 10) AS DATE)")
        if kind == "date":
            return (f"CAST({day} AS DOUBLE)",)
        if kind == "moment":
            clock = self._clock(12, offset=True)
            return self._two_digits(12), _seconds(text, f"{day} * {86_400 * _SECOND} + {clock}")
        if kind == "time":
            alone = f"CASE WHEN {day} IS NOT NULL THEN substr({text}, 12) END"
            alone = f"CASE WHEN substr({text}, 5, 1) = '-' THEN {alone} ELSE {text} END"
            return alone, self._two_digits(1), _seconds(text, self._clock(1, offset=False))
        some = f"CASE WHEN {self._extract('([0-9])')} != '' THEN {text} END"  # not a P or PT alone
        colons, units = map(self._sum, (_PARTS_WITH_COLONS, _PARTS_WITH_UNITS))
        parts = f"CASE WHEN instr({text}, ':') > 0 THEN {colons} ELSE {units} END"
        sign = f"CASE WHEN substr({text}, 1, 1) = '-' THEN -1 ELSE 1 END"
        return some, _seconds(text, f"{sign} * ({parts} + {self._fraction()})")

    def _two_digits(self, start: int) -> str:
        """Return SQL that pads the hour to two digits in the clock time that begins at ``start``."""
        parts = f"substr({self._text}, 1, {start - 1}), '0', substr({self._text}, {start})"
        one = f"substr({self._text}, {start + 1}, 1) = ':'"
        return f"CASE WHEN {one} THEN concat({parts}) ELSE {self._text} END"

    def _clock(self, start: int, *, offset: bool) -> str:
        """Return SQL for a clock time at ``start``, in microseconds, minus its UTC offset if ``offset``."""
        text = self._text
        hour, minute, second = (f"substr({text}, {start + place}, 2)" for place in (0, 3, 6))
        second = f"CASE WHEN substr({text}, {start + 5}, 1) = ':' THEN {second} END"
        sizes = {hour: 3600, minute: 60, second: 1}
        parts = [_whole(digits, size * _SECOND) for digits, size in sizes.items()]
        parts.append(self._fraction())
        if offset:
            west, east = (f"instr(substr({text}, {start}), '{sign}') > 0" for sign in "-+")
            shift = self._sum(_PARTS_OF_AN_OFFSET)
            parts.append(f"CASE WHEN {west} THEN {shift} WHEN {east} THEN -({shift}) ELSE 0 END")
        return " + ".join(parts)

    def _extract(self, pattern: str) -> str:
        return f"regexp_extract({self._text}, {self._quote}{pattern}', 1)"

    def _sum(self, parts: dict[str, int]) -> str:
        return " + ".join(_whole(self._extract(pattern), size) for pattern, size in parts.items())

    def _fraction(self) -> str:
        digits = f"rpad(substr({self._extract('[.]([0-9]+)')}, 1, 6), 6, '0')"
        return f"CASE WHEN instr({self._text}, '.') > 0 THEN {_whole(digits, 1)} ELSE 0 END"


def _with_hyphens(text: str) -> str:
    """Return SQL that replaces the slashes in a text by hyphens."""
    return f"replace({text}, '/', '-')"


def _whole_text(pattern: str) -> str:
    """Return a pattern for the whole text, without $, which matches before a final line break in Spark."""
    return f"^{pattern}\\z"


def _whole(digits: str, micros: int) -> str:
    return f"COALESCE(TRY_CAST({digits} AS BIGINT), 0) * {micros}"


def _seconds(text: str, micros: str) -> str:
    return f"CASE WHEN {text} IS NOT NULL THEN CAST({micros} AS DOUBLE) / 1e6 END"
