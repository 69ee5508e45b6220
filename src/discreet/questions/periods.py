"""Public ranges of periods or whole numbers, in order: ``2026-01:2026-12`` are the months of a year."""

from __future__ import annotations

import re
from collections.abc import Callable

from discreet._exact.numbers.exact import refuse
from discreet._tables.moments import PERIODS

MOST = 100_000
"""Ranges longer than this are rejected as typing mistakes."""

_ALLOWED = (
    "two days, ISO weeks, months, quarters, years or whole numbers with a colon between, the earlier one "
    "first, such as 2026-W01:2026-W52, 2026-01:2026-12 or 1:52"
)
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_WHOLE = re.compile(r"-?\d{1,9}")


def periods(text: str, *, name: str = "groups") -> list[str]:
    """List every period from the first to the last, as texts.

    Example:
        >>> periods("2026-W52:2027-W02")
        ['2026-W52', '2026-W53', '2027-W01', '2027-W02']
        >>> periods("2026-11:2027-01"), periods("9:11")
        (['2026-11', '2026-12', '2027-01'], ['9', '10', '11'])
    """
    first, _, last = text.partition(":")
    for number_of, label_of in _KINDS:
        start, end = (number_of(end.strip()) for end in (first, last))
        if start is not None and end is not None:
            if not start <= end < start + MOST:
                break
            return [label_of(number) for number in range(start, end + 1)]
    raise refuse(name, text, _ALLOWED)


def is_range(given: object) -> bool:
    """Return whether this is written as a range of periods or numbers, even if its ends differ in kind."""
    if not isinstance(given, str) or given.count(":") != 1:
        return False
    ends = (end.strip() for end in given.split(":"))
    return all(any(number_of(end) is not None for number_of, _ in _KINDS) for end in ends)


def is_range_of_years(given: object) -> bool:
    """Return whether this is a range of years or periods, and not a score such as 2:1 or a time of day."""
    return isinstance(given, str) and len(given) >= len("1980:1987") and is_range(given)


def is_clock(text: str) -> bool:
    """Return whether this is a time of day, which looks like a range of whole numbers."""
    return _CLOCK.fullmatch(text) is not None


_KINDS: tuple[tuple[Callable[[str], int | None], Callable[[int], str]], ...] = (
    *((period.read, period.write) for kind, period in PERIODS.items() if kind != "year"),
    (lambda text: int(text) if _WHOLE.fullmatch(text) else None, str),
)
