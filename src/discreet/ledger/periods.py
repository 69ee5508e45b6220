"""Periods after which a budget renews, if its owner said so: calendar periods in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from discreet.numbers.exact import refuse

PERIODS = ("day", "week", "month", "quarter", "year")


def period_named(period: object) -> str | None:
    """A period, or None for a budget that never renews."""
    if period is not None and period not in PERIODS:
        raise refuse(
            "period", period, "one of " + ", ".join(PERIODS) + ", or left out: it never renews"
        )
    return None if period is None else str(period)


def period_number(period: str, microseconds: int) -> int:
    """Which period a moment is in; later periods have larger numbers.

    Example:
        >>> period_number("month", 0), period_number("week", 0), period_number("quarter", 0)
        (23640, 102737, 7880)
    """
    day = datetime.fromtimestamp(microseconds // 1_000_000, tz=UTC).date()
    months = day.year * 12 + day.month - 1
    return {
        "day": day.toordinal(),
        "week": (day.toordinal() - 1) // 7,  # ordinal 1 is a Monday
        "month": months,
        "quarter": months // 3,
        "year": day.year,
    }[period]
