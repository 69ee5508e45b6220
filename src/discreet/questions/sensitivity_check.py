"""Check a stated sensitivity on all small data sets; a witness is two neighbours that contradict it.

Stating too low a sensitivity is the most common mistake with custom scores. The check looks at example rows
that the user makes up, never at the data, so its verdict may be shown and costs nothing. It can refute a
sensitivity but cannot prove one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import whole
from discreet.errors import ParameterError
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.scores import Scores

Row = Mapping[str, Any]
Person = tuple[Row, ...]

MOST_DATA_SETS = 50_000


@dataclass(frozen=True, slots=True)
class SensitivityWitness:
    """Two neighbouring data sets made of example rows, and the scores that move too far."""

    data: list[dict[str, Any]]
    neighbour: list[dict[str, Any]]
    candidate: Any
    change: Fraction
    other_candidate: Any
    other_change: Fraction


@dataclass(frozen=True, slots=True)
class SensitivityCheck:
    """The result of checking a stated sensitivity on small data sets.

    Attributes:
        holds: True if no data set that was tried contradicts the stated sensitivity.
        measured: the largest change of any one score.
        range_distance: the largest distance by which two scores moved apart.
        monotonic: whether all scores always moved the same way.
        data_sets: how many data sets were tried.
        witness: two neighbours that contradict the stated sensitivity; None if it holds.
        changes: the largest change of each candidate's score; empty if one sensitivity was stated for all.

    Example:
        >>> def people(data, diagnosis):
        ...     return sum(row["diagnosis"] == diagnosis for row in data)
        >>> rows = [{"diagnosis": "flu"}, {"diagnosis": "cold"}]
        >>> check = check_sensitivity(people, candidates=["flu", "cold"], rows=rows, sensitivity=1)
        >>> check.holds, check.measured, check.monotonic
        (True, Fraction(1, 1), True)
    """

    holds: bool
    measured: Fraction
    range_distance: Fraction
    monotonic: bool
    data_sets: int
    witness: SensitivityWitness | None
    changes: tuple[Fraction, ...] = ()

    def in_words(self) -> str:
        """Return the verdict in a sentence or two."""
        if self.witness is None:
            return (
                f"Not refuted by {self.data_sets} small data sets: one person changed a score by at "
                f"most {self.measured}."
            )
        found = self.witness
        fits = f"[{', '.join(map(str, self.changes))}]" if self.changes else self.measured
        return (
            f"Refuted: from {found.data} to {found.neighbour} the score of {found.candidate!r} changes by "
            f"{found.change} and that of {found.other_candidate!r} by {found.other_change}. Sensitivity "
            f"{fits} with monotonic={self.monotonic} would match these data sets."
        )


def check_sensitivity(
    score: Callable[[Any, Any], Any],
    *,
    candidates: Sequence[Any],
    rows: Sequence[Row],
    sensitivity: object,
    monotonic: bool = False,
    neighbours: str = ADD_REMOVE,
    user: str | None = None,
    rows_per_person: int = 1,
    people: int = 3,
    make: Callable[[list[dict[str, Any]]], Any] = list,
) -> SensitivityCheck:
    """Check a stated sensitivity on all pairs of small neighbouring data sets made of example rows.

    Args:
        score: the score of a candidate on a data set, ``score(data, candidate)``.
        candidates: the candidates to score.
        rows: example rows, each a mapping from column to value; one row of each kind that matters is enough.
        sensitivity: the stated sensitivity of every score, or a list with one for each candidate.
        user: the column that identifies people, if the score uses it.
        rows_per_person: each person has at most this many rows.
        people: the largest number of people in a data set.
        make: turns a list of rows into a data set for ``score``.

    Example:
        >>> def visits(data, diagnosis):
        ...     return sum(row["diagnosis"] == diagnosis for row in data)
        >>> flu, cold = {"diagnosis": "flu"}, {"diagnosis": "cold"}
        >>> check_sensitivity(visits, candidates=["flu", "cold"], rows=[flu, cold], sensitivity=1,
        ...                   monotonic=True).holds
        True
        >>> verdict = check_sensitivity(visits, candidates=["flu", "cold"], rows=[flu, cold], sensitivity=1,
        ...                             monotonic=True, rows_per_person=2)
        >>> verdict.holds, verdict.measured
        (False, Fraction(2, 1))
    """
    form = Scores([0] * len(candidates), sensitivity=sensitivity, monotonic=monotonic)
    stated = form.sensitivity
    assert stated is not None
    limits = stated if isinstance(stated, tuple) else [stated] * len(candidates)
    named = Neighbours.named(neighbours)
    persons = _persons(rows, whole("rows_per_person", rows_per_person))
    largest = whole("people", people)
    _require_few(len(persons), largest)
    known: dict[tuple[int, ...], list[Fraction]] = {}

    def scores_of(chosen: tuple[int, ...]) -> list[Fraction]:
        key = tuple(sorted(chosen))
        if key not in known:
            data = make(_rows([persons[i] for i in key], user))
            known[key] = _scored(score, data, candidates)
        return known[key]

    distance = Fraction(0)
    largest_changes = [Fraction(0)] * len(candidates)
    one_way, worst = True, None
    for before, after in _neighbours(len(persons), largest, named):
        changes = [b - a for a, b in zip(scores_of(before), scores_of(after), strict=True)]
        low, high = min(changes), max(changes)
        excess = max(abs(each) - most for each, most in zip(changes, limits, strict=True))
        apart = high - low
        same_way = low >= 0 or high <= 0
        broken = excess > 0 or (monotonic and not same_way)
        if broken and (worst is None or (excess, apart) > worst[0]):
            worst = (excess, apart), before, after, changes
        largest_changes = [max(abs(a), b) for a, b in zip(changes, largest_changes, strict=True)]
        distance = max(distance, apart)
        one_way &= same_way
    witness = None
    if worst is not None:
        _, before, after, changes = worst
        up = max(range(len(changes)), key=lambda r: changes[r])
        down = min(range(len(changes)), key=lambda r: changes[r])
        first = max(range(len(changes)), key=lambda r: (abs(changes[r]) - limits[r], r == up))
        second = down if first == up else up
        witness = SensitivityWitness(
            _rows([persons[i] for i in before], user),
            _rows([persons[i] for i in after], user),
            candidates[first],
            changes[first],
            candidates[second],
            changes[second],
        )
    return SensitivityCheck(
        witness is None,
        max(largest_changes),
        distance,
        one_way,
        len(known),
        witness,
        tuple(largest_changes) if isinstance(stated, tuple) else (),
    )


def _persons(rows: Sequence[Row], most: int) -> list[Person]:
    if not rows:
        raise ParameterError("the check needs example rows: the few kinds of row that matter")
    return [
        person
        for size in range(1, most + 1)
        for person in itertools.combinations_with_replacement(rows, size)
    ]


def _require_few(persons: int, people: int) -> None:
    total = math.comb(persons + people, people)
    if total > MOST_DATA_SETS:
        raise ParameterError(
            f"the check would try {total:,} data sets, more than {MOST_DATA_SETS:,}: give fewer example "
            "rows, people or rows_per_person"
        )


def _neighbours(
    persons: int, people: int, neighbours: str
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for size in range(people):
        for others in itertools.combinations_with_replacement(range(persons), size):
            for one in range(persons):
                if neighbours == ADD_REMOVE:
                    yield others, (*others, one)
                else:
                    yield from (((*others, one), (*others, another)) for another in range(one))


def _rows(people: Sequence[Person], user: str | None) -> list[dict[str, Any]]:
    return [
        {**({} if user is None else {user: number}), **row}
        for number, person in enumerate(people)
        for row in person
    ]


def _scored(
    score: Callable[[Any, Any], Any], data: Any, candidates: Sequence[Any]
) -> list[Fraction]:
    try:
        values = [score(data, candidate) for candidate in candidates]
    except Exception as error:
        # The rows are made up, so the cause may be shown; with real rows that would be a leak.
        raise ParameterError(
            f"score fails on a small data set made of the example rows: {error!r}"
        ) from error
    return [Fraction(value) for value in Scores(values, sensitivity=1).values.tolist()]
