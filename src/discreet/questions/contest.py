"""Who competes for "most common", how people are counted for each, and by which rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.errors import ParameterError
from discreet.numbers.exact import refuse
from discreet.questions.candidates import public_candidates
from discreet.questions.context import Asking
from discreet.questions.rules import Sentences, about_candidates, about_types
from discreet.tables import Grid, people_per_candidate
from discreet.tables.counts import Counts, people_per_interval, people_with_any


@dataclass(frozen=True, slots=True)
class Contest:
    """The labels of the candidates, and what counts people: per candidate, and at all."""

    size: int
    label: Callable[[int], Any]
    count: Callable[[], Counts]
    anybody: Callable[[], Counts]
    rules: Sentences

    def __len__(self) -> int:
        return self.size

    def named(self, indices: list[int], people: Counts) -> list[tuple[Any, int]]:
        """The candidates chosen, each with its true count."""
        return [(self.label(index), int(people[index])) for index in indices]


def contest_of(
    asking: Asking, candidates: object, *, bounds: object = None, step: object = 1
) -> Contest:
    """The contest between public candidates, or between the points of a public grid."""
    table, rows, column = asking.table, asking.rows, asking.column
    if bounds is not None:
        if candidates is not None:
            raise ParameterError("give ⟨candidates⟩ or ⟨bounds⟩, not both")
        candidates = Grid.between(bounds, step=step)
    if isinstance(candidates, Grid):
        table.require_number(column)
        grid = candidates
        return Contest(
            len(grid),
            grid.label,
            lambda: people_per_interval(table, rows, column=column, grid=grid),
            lambda: people_with_any(table, rows, column=column, grid=grid),
            about_candidates(grid),
        )
    public = public_candidates(candidates, column=column, kind=table.kind(column))
    return Contest(
        len(public),
        public.labels.__getitem__,
        lambda: people_per_candidate(table, rows, column=column, keys=public.keys),
        lambda: people_with_any(table, rows, column=column, keys=public.keys),
        about_candidates() + about_types(table, column, public, name="candidates"),
    )


def require_no_delta(delta: object) -> None:
    """An error where a δ is given for public candidates."""
    if delta is not None:
        raise refuse("delta", delta, "left out with public candidates: a mechanism brings its own")
