"""Scores that ship with the page: invented, hence free to look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from discreet.analysis import worst_case
from discreet.demo import CLINIC
from discreet.mechanisms import Exponential

_WORST_CASE_SIZE = 24
_STAIRS = 16
_PAGES = 1_000
# Employees per salary band of 5,000, from 20,000 upwards.
_EMPLOYEES = (3, 9, 21, 38, 44, 40, 31, 22, 15, 9, 6, 4, 2, 2, 1, 1)


@dataclass(frozen=True, slots=True)
class Example:
    """Built-in scores with the settings that fit them."""

    key: str
    title: str
    about: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    sensitivity: str
    monotonic: bool
    epsilon: str
    tolerance: str


@cache
def examples() -> dict[str, Example]:
    """The examples by key, in the order of the menu.

    Example:
        >>> list(examples())
        ['clinic', 'salaries', 'pages', 'worst-case', 'staircase']
    """
    listed = (_clinic(), _salaries(), _pages(), _worst_case(), _staircase())
    return {example.key: example for example in listed}


def _clinic() -> Example:
    return Example(
        "clinic",
        "Clinic diagnoses",
        "Patients per diagnosis. One patient more or less moves one count by one: monotonic, Δ = 1.",
        tuple(CLINIC),
        tuple(CLINIC.values()),
        sensitivity="1",
        monotonic=True,
        epsilon="0.25",
        tolerance="10",
    )


def _salaries() -> Example:
    """The median salary band: −|N − 2A| for A people up to and including the band."""
    total, below = sum(_EMPLOYEES), 0
    labels, values = [], []
    for place, count in enumerate(_EMPLOYEES):
        below += count
        labels.append(f"up to {25 + 5 * place},000")
        values.append(-abs(total - 2 * below))
    return Example(
        "salaries",
        "Salaries (median band)",
        "Score of a band: minus the distance from splitting the staff in half. Not monotonic, Δ = 1.",
        tuple(labels),
        tuple(values),
        sensitivity="1",
        monotonic=False,
        epsilon="0.1",
        tolerance="20",
    )


def _pages() -> Example:
    """Visitors per page, falling as 1/rank: many candidates, so that bars are summarised."""
    return Example(
        "pages",
        "Page views (1,000 pages)",
        "Distinct visitors per page; one visitor moves each count by at most one: monotonic, Δ = 1.",
        tuple(f"/page/{rank}" for rank in range(1, _PAGES + 1)),
        tuple(5_000 // (rank + 4) for rank in range(1, _PAGES + 1)),
        sensitivity="1",
        monotonic=True,
        epsilon="0.05",
        tolerance="50",
    )


def _worst_case() -> Example:
    """One best candidate and all others tied at the gap that hurts most (Proposition 4)."""
    gap = round(worst_case(Exponential(epsilon=1), _WORST_CASE_SIZE).gap, 2)
    others = tuple(f"other {place}" for place in range(1, _WORST_CASE_SIZE))
    return Example(
        "worst-case",
        "Worst case of the paper",
        "One best candidate, all others tied behind it at the gap where ε = 1 errs most.",
        ("best", *others),
        (gap, *(0.0 for _ in others)),
        sensitivity="1",
        monotonic=False,
        epsilon="1",
        tolerance="0",
    )


def _staircase() -> Example:
    return Example(
        "staircase",
        "A staircase",
        "Each candidate one Δ below the last: one person can link or break the chain of a top set.",
        tuple(f"step {place}" for place in range(1, _STAIRS + 1)),
        tuple(float(_STAIRS - place) for place in range(_STAIRS)),
        sensitivity="1",
        monotonic=False,
        epsilon="1",
        tolerance="3",
    )
