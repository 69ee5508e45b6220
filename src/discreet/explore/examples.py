"""Scores that need no file: built-in examples, and scores invented from public facts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.exact import echo, refuse
from discreet.analysis import worst_case
from discreet.demo import CLINIC
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential

_WORST_CASE_SIZE = 24
_STAIRS = 16
_PAGES = 1_000
# Employees per salary band of 5,000, from 20,000 upwards.
_EMPLOYEES = (3, 9, 21, 38, 44, 40, 31, 22, 15, 9, 6, 4, 2, 2, 1, 1)


@dataclass(frozen=True, slots=True)
class Example:
    """Built-in scores with suitable settings."""

    key: str
    title: str
    about: str
    scores: dict[str, float]
    monotonic: bool
    epsilon: str
    tolerance: str
    sensitivity: str = "1"


@cache
def examples() -> dict[str, Example]:
    """Return the examples by key, in the order of the menu.

    Example:
        >>> list(examples())
        ['clinic', 'salaries', 'pages', 'worst-case', 'staircase']
    """
    # The gap with the largest error when all other candidates tie (Proposition 4).
    gap = round(worst_case(Exponential(epsilon=1), _WORST_CASE_SIZE).gap, 2)
    listed = (
        Example(
            "clinic",
            "Clinic diagnoses",
            "Patients per diagnosis. One patient more or less moves one count by one: monotonic, Δ = 1.",
            dict(CLINIC),
            monotonic=True,
            epsilon="0.25",
            tolerance="10",
        ),
        Example(
            "salaries",
            "Salaries (median band)",
            "Score of a band: minus the distance from splitting the staff in half. Not monotonic, Δ = 1.",
            _salaries(),
            monotonic=False,
            epsilon="0.1",
            tolerance="20",
        ),
        Example(
            "pages",
            "Page views (1,000 pages)",
            "Distinct visitors per page; one visitor moves each count by at most one: monotonic, Δ = 1.",
            # Scores fall as 1/rank. With this many candidates, bars are grouped.
            {f"/page/{rank}": 5_000 // (rank + 4) for rank in range(1, _PAGES + 1)},
            monotonic=True,
            epsilon="0.05",
            tolerance="50",
        ),
        Example(
            "worst-case",
            "Worst case of the paper",
            "One best candidate, all others tied behind it at the gap where ε = 1 errs most.",
            {"best": gap, **{f"other {place}": 0.0 for place in range(1, _WORST_CASE_SIZE)}},
            monotonic=False,
            epsilon="1",
            tolerance="0",
        ),
        Example(
            "staircase",
            "A staircase",
            "Each candidate one Δ below the last: one person can link or break the chain of a top set.",
            {f"step {place}": float(_STAIRS + 1 - place) for place in range(1, _STAIRS + 1)},
            monotonic=False,
            epsilon="1",
            tolerance="3",
        ),
    )
    return {example.key: example for example in listed}


def _salaries() -> dict[str, float]:
    """Return scores for the median salary band: −|N − 2A| if A of N people are in the band or below."""
    below = accumulate(_EMPLOYEES)
    return {
        f"up to {25 + 5 * place},000": -abs(sum(_EMPLOYEES) - 2 * count)
        for place, count in enumerate(below)
    }


SHAPES = {
    "steep": "fall off quickly, as page views do",
    "even": "fall evenly down to zero",
    "close": "stay close behind the second",
}
"""Shapes of invented scores: how they fall off after the second."""
MOST_MADE = 100_000
_LARGEST_MADE = 10**9


def look_alike(facts: str) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Invent scores from public facts: the number of candidates, the best score, its lead and the shape.

    Example:
        >>> look_alike("4,100,10,even")
        (('candidate 1', 'candidate 2', 'candidate 3', 'candidate 4'), array([100,  90,  45,   0]))
    """
    told = facts.split(",")
    if len(told) != 4 or told[3] not in SHAPES:
        raise refuse("made", facts[:80], "count, best score, lead and one of " + ", ".join(SHAPES))
    for field, text in zip(("Candidates", "Best score", "Its lead"), told, strict=False):
        if not text.isdecimal():
            raise ParameterError(f"made: {field} must be a whole number, not {echo(text[:40])}")
    count, best, lead = (int(part[:12]) for part in told[:3])
    if not 2 <= count <= MOST_MADE or not lead <= best <= _LARGEST_MADE:
        raise refuse(
            "made",
            facts[:80],
            f"2 to {MOST_MADE:,} candidates and a lead of at most the best score",
        )
    second, rank = best - lead, np.arange(count - 1)
    match told[3]:
        case "steep":
            rest = second / (rank + 1)
        case "even":
            rest = second * (1 - rank / max(1, count - 2))
        case _:
            rest = second - max(1, lead) * rank / max(1, count - 2)
    values = np.rint(np.append(best, np.maximum(rest, 0))).astype(np.int64)
    return tuple(f"candidate {place}" for place in range(1, count + 1)), values


def tolerance_for(values: npt.NDArray[np.generic]) -> str:
    """Return a default tolerance: a twentieth of the scores' spread, rounded down to 1, 2 or 5 times 10^n.

    If the scores are integers, so is the tolerance.

    Example:
        >>> tolerance_for(np.array([412, 57])), tolerance_for(np.array([3, 3]))
        ('10', '0')
        >>> tolerance_for(np.array([12, 3])), tolerance_for(np.array([1.2, 0.3]))
        ('1', '0.02')
    """
    spread = (float(values.max()) - float(values.min())) / 20
    if values.dtype.kind == "i" and spread < 1:
        return "1" if spread > 0.1 else "0"
    if spread <= 0:
        return "0"
    power = 10.0 ** np.floor(np.log10(spread))
    step = max(one for one in (1, 2, 5) if one * power <= spread * (1 + 1e-9))
    return f"{step * power:.12g}"
