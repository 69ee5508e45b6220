"""What a question left out, moved, assigned or took on trust, in sentences that its answer carries.

A sentence speaks of public things only: the rule, never how many rows it touched.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.numbers.exact import refuse
from discreet.numbers.printing import figure
from discreet.tables import Grid, Rows, Table

if TYPE_CHECKING:
    from discreet.questions.candidates import Candidates

Sentences = tuple[str, ...]

MISSING_NUMBERS = "Missing values, NaN, infinities and texts that spell no number are left out."
PER_PERSON = {
    "least": "the least of a person's values counts",
    "largest": "the largest of a person's values counts",
    "random": "one of a person's different values counts, drawn at random",
    "mean": "the mean of a person's values counts, rounded to the grid",
}
"""Which of a person's values counts, by the name of the rule."""

OUTSIDE = {
    "clamp": "count as the nearer bound",
    "drop": "are left out",
}
"""What becomes of values outside the bounds, by the name of the rule."""


class NeverMatchesWarning(UserWarning):
    """By its declared type a column cannot hold what it is asked for; the answer may be noise.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", NeverMatchesWarning)  # to stop before anything is spent
    """


def rule_named(name: str, given: object, known: Mapping[str, str]) -> str:
    """A rule by its name; each looks at one person's rows and nothing else."""
    if not isinstance(given, str) or given not in known:
        raise refuse(name, given, "one of " + ", ".join(f'"{rule}"' for rule in known))
    return given


def about_rows(
    rows: Rows, *, where: str | None, epsilon: Fraction, epsilon_each: Fraction
) -> Sentences:
    """Whose rows count, which, and in which groups."""
    said: Sentences = (
        "Every row counts as another person's, as was stated (one_row_per_user)."
        if rows.user is None
        else f"The column {rows.user} tells people apart; rows without it are left out.",
    )
    if where is not None:
        said += (f"Only rows with {where} count; a comparison with a missing value is false.",)
    if rows.by is not None:
        said += (_about_groups(rows, epsilon, epsilon_each),)
    return said


def _about_groups(rows: Rows, epsilon: Fraction, epsilon_each: Fraction) -> str:
    most, there = rows.groups_per_person, rows.number_of_groups
    left_out = f"Rows of another {rows.by} than the {there} asked for are left out."
    if rows.user is None:
        return left_out
    if not rows.assigns:
        return f"{left_out} A person counts in every group in which they have rows."
    return (
        f"{left_out} A person counts in at most {most} of the groups in which they have rows, drawn at "
        f"random: a group's answer is about the people assigned to it, not about all who have rows there. "
        f"With groups_per_person={there} everybody would count in all of their groups, and each answer "
        f"would have ε = {figure(epsilon_each * most / there, up=False)} of {figure(epsilon)} in place "
        f"of {figure(epsilon_each, up=False)}."
    )


def about_candidates(grid: Grid | None = None) -> Sentences:
    """Which values count for which candidate."""
    if grid is None:
        return (
            "A person counts once for each candidate that they have; missing values and values that are no "
            "candidate are left out, and a candidate that nobody has competes with zero people.",
        )
    return (
        f"A person counts once for each grid point that their values fall to, the largest not above the "
        f"value; values outside {grid.shown_bounds} are left out.",
        MISSING_NUMBERS,
    )


def about_types(table: Table, column: str, public: Candidates, *, name: str) -> Sentences:
    """What the declared type of a column rules out, said before anything is spent and with the answer."""
    said: Sentences = ()
    kind = table.kind(column)
    if kind == "object":
        said = (f"In {column}, declared object, texts count and everything else is left out.",)
    cannot = table.cannot_hold(column, public.keys)
    if cannot:
        listed = ", ".join(map(str, cannot[:3])) + (", ..." if len(cannot) > 3 else "")
        doubt = (
            f"Nobody can count for {len(cannot)} of the {len(public)} {name} ({listed}): by its declared "
            f"type ({kind}) the column {column} does not hold such values."
        )
        warnings.warn(doubt, NeverMatchesWarning, stacklevel=4)
        said += (doubt,)
    return said


def about_values(grid: Grid, *, per_person: str, outside: str, several: bool) -> Sentences:
    """Which number a person counts with; ``several`` if a person may have more than one."""
    said = (
        f"Values outside {grid.shown_bounds} {OUTSIDE[outside]} (outside={outside!r}).",
        MISSING_NUMBERS,
    )
    if not several:
        return said
    return (f"Of several, {PER_PERSON[per_person]} (per_person={per_person!r}).", *said)


def about_unknown(considered: int, *, asked: int, named: int) -> Sentences:
    """Candidates that come from the data; ``named`` of the ``asked`` could be named."""
    said = (
        f"The candidates are the {considered} values with the most people; a person counts once for each "
        "value that they have, and missing values are left out.",
    )
    if named == asked:
        return said
    return (
        *said,
        f"{named} of {asked}: no further value has so many people that naming it is safe at this ε and δ.",
    )


def about_method(method: str) -> Sentences:
    """How several were chosen, where nobody said."""
    return (
        f"The method ({method}) follows from k, the relation and what the budget adds up, not from the data.",
    )


def about_scores(range_distance: Fraction, *, checked: bool = False) -> Sentences:
    """Scores that are somebody's own, with what was stated of them."""
    tried = "; no data set made of the example rows contradicts it" if checked else ", unchecked"
    return (
        f"One person changes the difference of two scores by at most {range_distance}: as was stated{tried}.",
    )
