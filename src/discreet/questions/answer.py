"""What a question gives back: a release, with the rules that made it in sentences.

They say what was left out, moved, assigned or taken on trust, and speak of public things only: the rule,
never how many rows it touched.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.displays import counted, visible
from discreet.neighbours import Neighbours
from discreet.numbers.exact import float_up, refuse
from discreet.numbers.printing import figure
from discreet.release import Release
from discreet.tables import Rows, Table

if TYPE_CHECKING:
    from discreet.mechanisms.above_threshold import CrossingRule
    from discreet.questions.candidates import Candidates

NOTHING = "nothing is safe to say"
"""How the answer None of an unknown domain is printed."""
NONE_OF_THEM = "none of them"
"""How the answer None about a threshold is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRelease(Release):
    """A private answer to a question about a table.

    Attributes:
        count: with ``with_count``, the noisy number of people of each answer (it may be negative); shaped
            like ``answer``.
        count_within: with probability 95 % a noisy count is at most this far from the true one; a public
            figure, which follows from ε alone.
        people: with ``with_people``, the noisy number of people who counted at all; one for each group.
        people_within: how far that may be from the true one, as ``count_within``.
        gap: with ``with_gap``, by how many people at least the noisy winner led.
        assigned: whether people were drawn into groups, so that counts are of those assigned to each.
        ordered: for several answers, whether their order was released.
        labels: what each of several answers is, such as the level of a quantile.
        threshold: for groups that reach a number of people, that number; a gap is then above it.
        rules: what was left out, moved, assigned or taken on trust, in sentences.
        by: the column of the groups, where there is an answer for each.
        engine: who read the table, and whose kind of frame ``frame`` gives.

    Example:
        >>> from discreet import PureDP
        >>> release = TableRelease(answer="flu", guarantee=PureDP(1), mechanism="permute-and-flip",
        ...                        neighbours="add-remove", count=412, count_within=12)
        >>> release.answer, release.count
        ('flu', 412)
    """

    count: Any = None
    count_within: int | None = None
    people: Any = None
    people_within: int | None = None
    gap: Any = None
    assigned: bool | None = None
    ordered: bool | None = None
    labels: tuple[str, ...] | None = None
    threshold: Fraction | None = None
    rules: tuple[str, ...] = ()
    by: str | None = None
    engine: str | None = None

    def frame(self) -> Any:
        """The answer as a frame of the asker's own kind, with a row for each group and each thing named.

        The columns are the group's (under the name of ``by``), ``rank`` or ``level``, ``answer``, and what
        was released beside it. Of a file it is a relation of DuckDB.

        Example:
            >>> import polars as pl
            >>> from discreet.questions import mode
            >>> visits = pl.DataFrame({"patient": range(400), "clinic": ["north"] * 200 + ["south"] * 200,
            ...                        "diagnosis": ["flu"] * 200 + ["cold"] * 200})
            >>> mode(visits, "diagnosis", candidates=["flu", "cold"], epsilon=1, user="patient", by="clinic",
            ...      groups=["north", "south"]).frame().rows()
            [('north', 'flu'), ('south', 'cold')]
        """
        from discreet.questions.frames import frame_of

        return frame_of(self)

    def __str__(self) -> str:
        counted = "No ledger counts this release" if self.entry is None else f"Ledger: {self.entry}"
        order = {None: "", True: " In order.", False: " In no particular order."}[self.ordered]
        neighbours = self.neighbours
        if neighbours in tuple(Neighbours):
            neighbours = f"{neighbours} ({Neighbours(neighbours).in_words})"
        chosen = f"Chosen by {self.mechanism}.{order} Neighbours: {neighbours}. {counted}."
        said = "\n".join((visible(chosen), *(f"- {visible(rule)}" for rule in self.rules)))
        return f"{self._answers()}{self._counted()}\n{self.guarantee.in_words()}\n{said}"

    def _further(self) -> tuple[str, ...]:
        lines = f"{self._answers()}{self._counted()}".splitlines()
        return (*(lines if lines != [visible(self.answer)] else ()), *self.rules)

    def _answers(self) -> str:
        if isinstance(self.answer, Mapping):
            return (
                "\n".join(
                    f"{visible(group)}: {self._one(answer, _of(self.count, group), _of(self.gap, group))}"
                    for group, answer in self.answer.items()
                )
                or NOTHING
            )
        return self._one(self.answer, self.count, self.gap)

    @property
    def _people(self) -> str:
        return "assigned people" if self.assigned else "people"

    def _counted(self) -> str:
        """Who counted at all, and whether that is more than noise; both public once released."""
        if self.people is None:
            return ""
        by_group = self.people if isinstance(self.people, Mapping) else {None: self.people}
        lines = []
        for group, people in by_group.items():
            where = "" if group is None else f" in {visible(group)}"
            line = f"{people} {self._people} counted{where}, {_give_or_take(self.people_within)}"
            if people <= self.people_within:
                line += ": perhaps nobody, and then the answer is noise; do the values match the column's?"
            lines.append("\n" + line)
        return "".join(lines)

    def _one(self, answer: Any, count: Any, gap: Any) -> str:
        if answer is None or answer == ():
            return NOTHING if self.threshold is None else NONE_OF_THEM
        if isinstance(answer, tuple):
            counts, gaps = (
                given if isinstance(given, tuple) else (None,) * len(answer)
                for given in (count, gap)
            )
            lines = (self._one(*parts) for parts in zip(answer, counts, gaps, strict=True))
            if self.labels is not None:
                lines = (f"{label}: {line}" for label, line in zip(self.labels, lines, strict=True))
            return "\n".join(lines)
        words = visible(answer)
        if count is not None:
            words += f": {count} {self._people}, {_give_or_take(self.count_within)}"
        if gap is not None and self.threshold is not None:
            words += f" (with noise, {gap} or more above {self.threshold})"
        elif gap is not None:
            words += f" (noisy lead over the runner-up: {gap} or more)"
        return words

    def as_data(self) -> dict[str, Any]:
        """The release as plain data, for ``--json``."""
        data: dict[str, Any] = {
            "answer": _plain(self.answer),
            "guarantee": {
                "measure": type(self.guarantee).__name__,
                "words": self.guarantee.in_words(),
                "proof": None if self.guarantee.proof is None else str(self.guarantee.proof),
            },
            "mechanism": self.mechanism,
            "neighbours": self.neighbours,
            "entry": None if self.entry is None else str(self.entry),
        }
        for name, number in self.guarantee.figures.items():
            data["guarantee"][name] = float_up(number)
        for name in TableRelease.__annotations__:
            if getattr(self, name) is not None:
                data[name] = _plain(getattr(self, name))
        return data


def _give_or_take(within: int | None) -> str:
    return f"give or take {within} (19 times out of 20)"


def _of(values: Any, group: Any) -> Any:
    return values[group] if isinstance(values, Mapping) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


# ---- what was left out, moved, assigned or taken on trust ----

Sentences = tuple[str, ...]

PER_PERSON = {
    "least": "the least of a person's values counts",
    "largest": "the largest of a person's values counts",
    "random": "one of a person's different values counts, drawn at random",
    "mean": "the mean of a person's values counts, rounded to the grid",
}
"""Which of a person's values counts, by the name of the rule."""

OUTSIDE = {"clamp": "count as the nearer bound", "drop": "are left out"}
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
    whose = "Every row counts as another person's, as was stated (one_row_per_user)."
    if rows.counted is not None:
        whose = (
            f"A row stands for as many people as {rows.counted} says, rounded down and a trillion at most, "
            "each of them in this row only, as was stated; rows for less than one are left out."
        )
    elif rows.user is not None:
        whose = f"The column {rows.user} tells people apart; rows without it are left out."
    said: Sentences = (whose,)
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


def about_candidates(bounds: str | None = None, *, other: str | None = None) -> Sentences:
    """Which values count for which candidate."""
    if other is not None:
        return (
            f"A person counts once for each candidate that they have, and once for {other} if they have a "
            "value that is none; missing values are left out, and a candidate that nobody has competes with "
            "zero people.",
        )
    if bounds is None:
        return (
            "A person counts once for each candidate that they have; missing values and values that are no "
            "candidate are left out, and a candidate that nobody has competes with zero people.",
        )
    return (
        f"A person counts once for each grid point that their values fall to, the largest not above the "
        f"value; values outside {bounds} are left out.",
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


def about_values(bounds: str, *, per_person: str, outside: str, several: bool) -> Sentences:
    """Which number a person counts with; ``several`` if a person may have more than one."""
    said = (f"Values outside {bounds} {OUTSIDE[outside]} (outside={outside!r}).",)
    if not several:
        return said
    return (f"Of several, {PER_PERSON[per_person]} (per_person={per_person!r}).", *said)


def about_magnitudes(most: object, *, several: bool) -> Sentences:
    """Which magnitude a person counts with; ``several`` if a person may have more than one."""
    said = (
        f"A value counts by its magnitude, whatever its sign; one beyond {most} counts as {most}.",
    )
    return ("Of several, the largest of a person's magnitudes counts.", *said) if several else said


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


def about_kept(asked: int, named: int) -> Sentences:
    """Values that come from the data, where each person has one."""
    said = (
        "The candidates are the values that have so many people that naming them is safe at this ε and δ; "
        "missing values are left out.",
    )
    return said if named == asked else (*said, f"{named} of {asked}: no further value has.")


def about_found_groups(by: str, *, one: bool) -> Sentences:
    """Groups that nobody listed."""
    drawn = " To find them, a person counts in one group of theirs, drawn at random." if one else ""
    return (
        f"The groups are those of {by} in the data that have so many people that naming them is safe at this "
        f"ε and δ; smaller ones are left out, and blank or misencoded texts.{drawn}",
    )


def about_chosen_bound(most: int, epsilon: Fraction, covered: Fraction) -> Sentences:
    """A bound on the groups of a person that was itself a private choice."""
    return (
        f"A person counts in at most {counted(most, 'group')}: chosen privately, for ε = {figure(epsilon)} "
        f"of the total, so that about {figure(covered)} of the people count in all of theirs.",
    )


def about_method(method: str, *, in_cluster: bool = False) -> Sentences:
    """How several were chosen, where nobody said."""
    why = "follows from k, the relation and what the budget adds up, not from the data"
    if in_cluster:
        why = "is the one that runs in the cluster, where the candidates are"
    return (f"The method ({method}) {why}.",)


def about_threshold(rule: CrossingRule, groups: int) -> Sentences:
    """Which groups are asked what, how often, and how far the noise may be off."""
    named = "the first is" if rule.crossings == 1 else f"the first {rule.crossings} are"
    return (
        f"The {groups} groups are asked in their order whether they reach {rule.threshold} people, with "
        f"noise on that number and on each count; {named} named.",
        "A person counts once in each group in which they have rows; missing values and values that are no "
        "group are left out, and a group in which nobody is has zero people.",
        f"The noise of one comparison has a standard deviation of {figure(rule.deviation)} people.",
    )


def about_scores(range_distance: Fraction, *, checked: bool = False) -> Sentences:
    """Scores that are somebody's own, with what was stated of them."""
    tried = "; no data set made of the example rows contradicts it" if checked else ", unchecked"
    return (
        f"One person changes the difference of two scores by at most {range_distance}: as was stated{tried}.",
    )
