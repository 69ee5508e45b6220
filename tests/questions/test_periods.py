"""Ranges of periods: every kind, across years, and invalid ranges."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.questions.periods import is_range, periods


@pytest.mark.parametrize(
    ("text", "number", "ends"),
    [
        ("2026-W01:2026-W52", 52, ("2026-W01", "2026-W52")),
        ("2026-W01:2027-W01", 54, ("2026-W01", "2027-W01")),  # 2026 has 53 weeks
        ("2025-W01:2026-W01", 53, ("2025-W01", "2026-W01")),
        ("2024-02-28:2024-03-01", 3, ("2024-02-28", "2024-03-01")),
        ("2026-01:2027-12", 24, ("2026-01", "2027-12")),
        ("2026-Q4:2027-Q2", 3, ("2026-Q4", "2027-Q2")),
        ("1999:2026", 28, ("1999", "2026")),
        ("-3:3", 7, ("-3", "3")),
        (" 1 : 1 ", 1, ("1", "1")),
    ],
)
def test_ranges(text: str, number: int, ends: tuple[str, str]) -> None:
    assert is_range(text)
    found = periods(text)
    assert len(found) == len(set(found)) == number
    assert (found[0], found[-1]) == ends


@pytest.mark.parametrize(
    "text",
    [
        "2026-W52:2026-W01",
        "2026-W01:2026-01",
        "2026-W54:2027-W01",
        "2026-02-30:2026-03-01",
        "2026-13:2027-01",
        "0:100000",
        "weeks.txt",
        "a:b",
        "1:2:3",
        "",
    ],
)
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(ParameterError, match="groups"):
        periods(text)
