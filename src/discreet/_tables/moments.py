"""Dates, times and periods as people write them, and periods as whole numbers for engines.

A period is a day, an ISO week, a month, a quarter or a year, and means every moment in it. Recurring periods
are the weekdays, the hours of a day and the months of a year.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

DATED = ("date", "moment", "time", "span")
"""The kinds of columns that are ordered by time."""


def moment_in(text: str) -> datetime.datetime | None:
    """Return the date, or the date with a time, that a text spells, else None.

    An ISO week gives None, although Python's own parser reads it as the Monday of that week.

    Example:
        >>> moment_in("2024-12-31"), moment_in("2024-W01"), moment_in("2024-12")
        (datetime.datetime(2024, 12, 31, 0, 0), None, None)
    """
    try:
        return None if "w" in text.lower() else datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def day_in(text: str) -> datetime.date | None:
    """Return the date that a text spells, else None; a date with a time also gives None."""
    moment = moment_in(text)
    return moment.date() if moment is not None and len(text) <= len("2024-12-31") else None


# ---- the number that orders a date, a time or a span, as people write it or as Python has it -------------

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SPAN = re.compile(r"\s*(-?)([0-9]+(?:\.[0-9]+)?)\s*(us|ms|s|min|h|d|w)\s*")
_SECONDS: dict[str, Fraction | int] = {
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86_400,
    "w": 7 * 86_400,
}


def micros_in(span: datetime.timedelta) -> int:
    """Return the whole microseconds of a time span."""
    return span // datetime.timedelta(microseconds=1)


def micros_of(moment: datetime.datetime) -> int:
    """Return the microseconds from 1970 to a moment; a moment without a zone is in UTC."""
    told = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
    return micros_in(told - _EPOCH)


def as_moment(given: object) -> datetime.datetime | None:
    """Convert a date or a moment (an object or its text) to a datetime; return None for anything else."""
    if isinstance(given, str):  # without hyphens it might be a number
        return moment_in(given.strip()) if "-" in given else None
    if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        return datetime.datetime(given.year, given.month, given.day)
    return given if isinstance(given, datetime.datetime) else None


def second_of(given: object) -> Fraction | None:
    """Return the seconds from 1970 to a date or a moment (an object or its text); None for anything else."""
    moment = as_moment(given)
    return None if moment is None else Fraction(micros_of(moment), 10**6)


def second_of_day(given: object) -> Fraction | None:
    """Return the seconds from midnight to a time of day without a zone; None for anything else."""
    if isinstance(given, str):
        try:  # without a colon it might be a number
            given = datetime.time.fromisoformat(given.strip()) if ":" in given else None
        except ValueError:
            return None
    if not isinstance(given, datetime.time) or given.tzinfo is not None:
        return None
    return Fraction(micros_of(datetime.datetime.combine(_EPOCH, given)), 10**6)


def seconds_in(given: object) -> Fraction | None:
    """Return the length in seconds of a time span such as "90min"; None for anything else.

    Example:
        >>> seconds_in("1.5h"), seconds_in("-2s"), seconds_in("90")
        (Fraction(5400, 1), Fraction(-2, 1), None)
    """
    if isinstance(given, datetime.timedelta):
        return Fraction(micros_in(given), 10**6)
    matched = _SPAN.fullmatch(given) if isinstance(given, str) else None
    if matched is None:
        return None
    return Fraction(f"{matched[1]}{matched[2]}") * _SECONDS[matched[3]]


# ---- periods ---------------------------------------------------------------------------------------------

_ORIGIN = _EPOCH.toordinal()
_WEEK = re.compile(r"(\d{4})-W(\d\d)")
_MONTH = re.compile(r"(\d{4})-(\d\d)")
_QUARTER = re.compile(r"(\d{4})-Q([1-4])")


@dataclass(frozen=True, slots=True)
class Period:
    """A kind of period, as three functions: text to number, number to text, and number to first day.

    Days are counted from 1970, weeks from the week of 1 January 1970; months, quarters and years are counted
    from the year 0.
    """

    read: Callable[[str], int | None]
    write: Callable[[int], str]
    first: Callable[[int], int]


def _days(year: int, month: int = 1) -> int:
    """Return the first day of a month, in days since 1970; for years after 9999, the day after 9999-12-31."""
    return datetime.date(year, month, 1).toordinal() - _ORIGIN if year <= 9999 else 2_932_897


def _day(text: str) -> int | None:
    day = day_in(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
    return None if day is None else day.toordinal() - _ORIGIN


def _week(text: str) -> int | None:
    found = _WEEK.fullmatch(text)
    try:
        monday = found and datetime.date.fromisocalendar(int(found[1]), int(found[2]), 1)
    except ValueError:
        return None
    return None if monday is None else (monday.toordinal() - _ORIGIN + 3) // 7


def _named_week(number: int) -> str:
    year, week, _ = datetime.date.fromordinal(7 * number - 3 + _ORIGIN).isocalendar()
    return f"{year:04}-W{week:02}"


def _month(text: str) -> int | None:
    found = _MONTH.fullmatch(text)
    inside = found is not None and 1 <= int(found[2]) <= 12 and int(found[1]) >= 1
    return 12 * int(found[1]) + int(found[2]) - 1 if found and inside else None


def _quarter(text: str) -> int | None:
    found = _QUARTER.fullmatch(text)
    return 4 * int(found[1]) + int(found[2]) - 1 if found and int(found[1]) >= 1 else None


def _year(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{4}", text) and int(text) >= 1 else None


PERIODS = {
    "day": Period(
        _day, lambda day: datetime.date.fromordinal(day + _ORIGIN).isoformat(), lambda day: day
    ),
    "week": Period(_week, _named_week, lambda week: 7 * week - 3),
    "quarter": Period(
        _quarter,
        lambda number: f"{number // 4:04}-Q{number % 4 + 1}",
        lambda number: _days(number // 4, 3 * (number % 4) + 1),
    ),
    "month": Period(
        _month,
        lambda number: f"{number // 12:04}-{number % 12 + 1:02}",
        lambda number: _days(number // 12, number % 12 + 1),
    ),
    "year": Period(_year, lambda year: f"{year:04}", _days),
}
"""The kinds of periods, by their names."""

RECURRING: dict[str, tuple[str, ...]] = {
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "hour of day": tuple(f"{hour:02}:00" for hour in range(24)),
    "month of year": (
        *("January", "February", "March", "April", "May", "June", "July", "August"),
        *("September", "October", "November", "December"),
    ),
}
"""The kinds of recurring periods, each with the names of its periods in order."""


def period_in(text: str) -> tuple[str, int] | None:
    """Return the kind and the number of the period that a text spells, else None.

    Example:
        >>> period_in("2024-W01"), period_in("2024-03"), period_in("soon")
        (('week', 2818), ('month', 24290), None)
    """
    trimmed = text.strip()
    if not trimmed[:4].isdecimal():  # checked first, because a public list may have a million texts
        return None
    found = ((kind, period.read(trimmed)) for kind, period in PERIODS.items())
    return next(((kind, number) for kind, number in found if number is not None), None)


def kind_named(words: Iterable[object]) -> str | None:
    """Return the one kind of period that the words name, else None; ``year`` only if all words are years.

    Example:
        >>> kind_named(["2024-01", "unknown"]), kind_named(["2024-01", "2024-W01"]), kind_named(["1234", "x"])
        ('month', None, None)
    """
    found = [period_in(word) if isinstance(word, str) else None for word in words]
    kinds = {period[0] for period in found if period is not None}
    if len(kinds) != 1 or (kinds == {"year"} and None in found):
        return None
    return kinds.pop()


def kinds_mixed(words: Iterable[object]) -> tuple[str, ...]:
    """Return the kinds of periods that words mix, else (); years count only if all words are periods.

    Example:
        >>> kinds_mixed(["2024-W01", "2024-01", "x"]), kinds_mixed(["2024-01", "1234", "x"])
        (('month', 'week'), ())
    """
    found = [period_in(word) if isinstance(word, str) else None for word in words]
    kinds = {period[0] for period in found if period is not None}
    if None in found:
        kinds.discard("year")
    return tuple(sorted(kinds)) if len(kinds) > 1 else ()


def days_of(text: str) -> tuple[str, int, int] | None:
    """Return the kind of a period or range, its first day and the day after its last, in days since 1970.

    Example:
        >>> days_of("1970-01"), days_of("1970-01:1970-02")
        (('month', 0, 31), ('month', 0, 59))
    """
    ends = [period_in(part) for part in text.split(":")]
    first, last = ends[0], ends[-1]
    if len(ends) > 2 or first is None or last is None or first[0] != last[0] or last < first:
        return None
    kind = PERIODS[first[0]]
    return first[0], kind.first(first[1]), kind.first(last[1] + 1)
