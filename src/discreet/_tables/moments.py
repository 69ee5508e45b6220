"""Dates and times as people write them."""

from __future__ import annotations

import datetime

DATED = ("date", "moment", "time", "span")
"""The kinds of columns that are ordered by time."""


def moment_in(text: str) -> datetime.datetime | None:
    """The date, or the date with a time, that a text spells, else None.

    An ISO week is none: Python's own reader takes it for its Monday.

    Example:
        >>> moment_in("2024-12-31"), moment_in("2024-W01"), moment_in("2024-12")
        (datetime.datetime(2024, 12, 31, 0, 0), None, None)
    """
    try:
        return None if "w" in text.lower() else datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def day_in(text: str) -> datetime.date | None:
    """The day that a text spells without a time, else None."""
    moment = moment_in(text)
    return moment.date() if moment is not None and len(text) <= len("2024-12-31") else None
