"""The rules behind an answer, in sentences: what was left out, moved, assigned or taken on trust.

The rules mention public facts only: the rule itself, never how many rows it affected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet._displays import counted
from discreet._exact.numbers.printing import figure
from discreet._tables import Rows, Table
from discreet._tables.compared import literals_nobody_has, not_listed, period_words
from discreet._tables.where import Condition, comparisons

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.mechanisms.above_threshold import CrossingRule
    from discreet.questions.candidates import Candidates

Sentences = tuple[str, ...]

PER_PERSON = {
    "mean": "their mean, rounded to the grid",
    "least": "the least of them",
    "largest": "the largest of them",
    "random": "one of the different ones, drawn at random",
}
"""For each rule, the value that counts for a person with several values, in words."""

OUTSIDE = {"clamp": "count as the nearer bound", "drop": "are left out"}
"""For each rule, what happens to values outside the bounds, in words."""


def of_people(number: object) -> str:
    """Format a number of people: ``1 person``, ``12 people``."""
    return f"{number} {'person' if str(number) == '1' else 'people'}"


def about_rows(rows: Rows, *, where: str | None, epsilon_each: Fraction) -> Sentences:
    """State which rows count, for whom, and in which groups."""
    whose = "Every row counts as a different person, as stated (one_row_per_user)."
    if rows.counted is not None:
        whose = (
            f"A row stands for as many people as {rows.counted} says, rounded down, and each person "
            f"is in one row only, as stated; rows for less than one person are left out. A row, and "
            f"all rows of one candidate together, stand for at most a hundred billion people."
        )
    elif rows.user is not None:
        whose = f"The column {rows.user} tells people apart; rows without it are left out."
    said: Sentences = (whose,)
    if where is not None:
        said += (f"Only rows with {where} count; a comparison with a missing value is false.",)
    if rows.by is not None:
        said += (_about_groups(rows, epsilon_each),)
    return said


def about_public(names: Sequence[str]) -> Sentences:
    """State that these parameters are public and were not made from the rows."""
    if not names:
        return ()
    listed = " and the ".join(names)
    return (f"The {listed} are public, as stated, and were not made from these rows.",)


def _about_groups(rows: Rows, epsilon_each: Fraction) -> str:
    most, there = rows.groups_per_person, rows.number_of_groups
    left_out = f"Rows whose {rows.by} is not one of the {there} listed are left out."
    if rows.user is None:
        return left_out
    if not rows.assigns:
        return f"{left_out} A person counts in every group in which they have rows."
    return (
        f"{left_out} Each person counts in at most {most} of the groups in which they have rows, "
        f"drawn at random: a group's answer is about the people assigned to it, not about all who "
        f"have rows there. "
        f"With groups_per_person={there} everybody would count in all of their groups, and each answer "
        f"would get ε = {figure(epsilon_each * most / there, up=False)} "
        f"instead of {figure(epsilon_each, up=False)}."
    )


def about_candidates(bounds: str | None = None, *, other: str | None = None) -> Sentences:
    """State which values count for which candidate."""
    if other is not None:
        return (
            f"A person counts once for each candidate that they have, and once for {other} if they "
            f"have a value that is not on the list; missing values are left out, and a candidate "
            f"that nobody has competes with "
            "zero people.",
        )
    if bounds is None:
        return (
            "A person counts once for each candidate that they have; missing values and values not "
            "on the list are left out, and a candidate that nobody has competes with zero people.",
        )
    return (
        f"A person counts once for each grid point that their values fall to, the largest not above the "
        f"value; values outside {bounds} are left out.",
    )


def about_types(
    table: Table, column: str, public: Candidates, *, name: str, listed: Sequence[Any] | None = None
) -> Sentences:
    """Warn about candidates that the column's declared type or the data owner's list rules out."""
    mixed: Sentences = ()
    if public.may_name_periods:
        mixed = _about_mixed_periods(table, column, public.keys, name=name)
        mixed += _about_months(table, column, public.keys)
    cannot, why = table.cannot_hold(column, public.keys) if public.period is None else [], ""
    if not cannot and listed is not None:
        known = set(map(str, listed))
        cannot = [value for value in public.values if str(value) not in known]
        why = f"the owner's list of the column {column} does not contain them"
    if not cannot:
        return mixed
    why = why or f"the column {column}, {table.described(column)}, does not hold such values"
    shown = ", ".join(map(str, cannot[:3])) + (", ..." if len(cannot) > 3 else "")
    return (
        *mixed,
        f"Nobody can count for {len(cannot)} of the {len(public)} {name} ({shown}): {why}.",
    )


def about_period(table: Table, column: str, public: Candidates) -> Sentences:
    """State for which period a date, a moment or a text counts."""
    if not table.is_dated(column):
        named: Sentences = ()
        if public.may_name_periods:
            named = _about_named_periods(table, column, public.keys)
        return named + _about_numbers(column, public)
    if public.period is None:
        return ()
    zone, is_moment = table.engine.zones.get(column), table.ordered_kind(column) == "moment"
    utc = is_moment and column not in table.read_as and table.has_zone(column)
    by = f", by the clocks of {zone}" if zone else ", in UTC" if utc else ""
    iso = " (ISO weeks begin on Monday)" if public.period == "week" else ""
    return (f"Every {column} counts for the {public.period} in which it lies{by}{iso}.",)


def _about_numbers(column: str, public: Candidates) -> Sentences:
    """Explain what a candidate that is a number means in a column of texts."""
    pairs = zip(public.labels, public.keys, strict=True)
    number = next(
        (label for label, key in pairs if isinstance(key, str) and not isinstance(label, str)), None
    )
    if number is None:
        return ()
    return (
        f"The column {column} holds texts: {number} means the text '{number}', and no other way to write "
        "that number.",
    )


def _about_named_periods(table: Table, column: str, words: Sequence[Any]) -> Sentences:
    """Explain what the name of a period, such as a week, means in a column of texts."""
    period = table.period_named(column, words)
    if period is not None and table.is_text:
        return (
            f"Texts of {column} that spell a date count for the {period} in which it lies; other texts count "
            "as they are.",
        )
    if period in (None, "year", "month"):
        return ()
    return (
        f"The column {column} is {table.described(column)}: {words[0]} means that text, not the dates in the "
        f"{period}.",
    )


def _about_months(table: Table, column: str, words: Sequence[Any]) -> Sentences:
    """Warn that a month such as 2024-01 does not contain the dates of a column that is declared as text."""
    if table.is_text or table.period_named(column, words) != "month":
        return ()
    return (
        f"The column {column} is {table.described(column)}: {words[0]} means that text, not the dates in the "
        "month. If the column holds dates, convert it first, for example with pandas.to_datetime.",
    )


def _about_mixed_periods(
    table: Table, column: str, words: Sequence[Any], *, name: str
) -> Sentences:
    """Warn if ``words`` name periods of several kinds: a column of texts is then not counted by period."""
    kinds = table.periods_mixed(column, words)
    if not kinds:
        return ()
    return (
        f"{name} names periods of several kinds ({', '.join(kinds)}): in the column {column}, which holds "
        "texts, each means that text and not the dates in it.",
    )


def about_condition(
    table: Table, condition: Condition, listed: Mapping[str, Sequence[Any]]
) -> Sentences:
    """Warn about values in a condition that the column's declared type or the owner's list rules out."""
    doubts: list[str] = []
    for each in comparisons(condition):
        doubts += _about_mixed_periods(table, each.column, period_words(each), name="where")
        cannot = literals_nobody_has(table, each)
        why = f", {table.described(each.column)}, does not hold such a value"
        if not cannot and each.column in listed and each.operator in ("=", "in"):
            cannot = not_listed(each, listed[each.column])
            why = " has another public list of values"
        if cannot:
            plain = [
                str(value) if isinstance(value, Decimal) else repr(value) for value in cannot[:3]
            ]
            shown = ", ".join(plain) + (", ..." if len(cannot) > 3 else "")
            how = "=" if each.operator == "in" else each.operator
            doubts.append(f"No row has {each.column} {how} {shown}: the column{why}.")
    return tuple(doubts)


_HIGH_EPSILON = 10
_HIGH_DELTA = Fraction(1, 1000)


def about_price(guarantee: Guarantee, people: int | None) -> Sentences:
    """Warn if ε or δ is so large that the guarantee protects little."""
    figures, said = guarantee.figures, list[str]()
    epsilon, delta = figures.get("epsilon", 0), figures.get("delta", 0)
    if epsilon > _HIGH_EPSILON:
        said.append(
            f"ε = {figure(epsilon)} is above {_HIGH_EPSILON}: an answer may reveal nearly "
            f"everything about one person."
        )
    if delta > _HIGH_DELTA or (people is not None and delta * people > 1):
        many = (
            "" if people is None or delta * people <= 1 else f", more than one in {people} people"
        )
        said.append(
            f"δ = {figure(delta)} is large{many}: with that probability the guarantee may not hold at all."
        )
    return tuple(said)


def _answers(answer: Any) -> list[Any]:
    """Return a flat list of all values in an answer, including those of every group."""
    parts = answer.values() if isinstance(answer, Mapping) else (answer,)
    return [each for part in parts for each in (part if isinstance(part, tuple) else (part,))]


def about_ends(lower: Any, upper: Any) -> Callable[[Any], Sentences]:
    """Return a function that warns if an answer equals one of the public bounds."""

    def after(answer: Any) -> Sentences:
        at_an_end = [end for end in (lower, upper) if end in _answers(answer)]
        return tuple(
            f"{end} is a bound of the grid: any values beyond it look the same. Wider bounds may "
            f"give another answer."
            for end in at_an_end
        )

    return after


def about_other(label: str) -> Callable[[Any], Sentences]:
    """Return a function that explains the answer ``label``, which stands for all values not on the list."""

    def after(answer: Any) -> Sentences:
        if label not in _answers(answer):
            return ()
        return (f"{label} stands for all values not on the list: a longer list may say which.",)

    return after


def about_texts(table: Table, condition: Condition) -> Sentences:
    """Explain what the names of periods in a condition mean in columns of texts."""
    said = (
        sentence
        for each in comparisons(condition)
        for sentence in _about_named_periods(table, each.column, period_words(each))
    )
    return tuple(dict.fromkeys(said))


def about_undeclared(table: Table, columns: Sequence[str | None], read_as: str | None) -> Sentences:
    """State which values count in columns without a declared type, or in a list read as type ``read_as``."""
    if read_as is not None:
        return (f"The list is read as {read_as}: values of other types are left out.",)
    return tuple(
        f"In {column}, which declares no type, texts count and everything else is left out."
        for column in dict.fromkeys(columns)
        if column is not None and table.kinds.get(column) == "object"
    )


def about_several(per_person: str) -> Sentences:
    """State which value counts for a person who has several."""
    return (
        f"A person with several values counts with {PER_PERSON[per_person]} (per_person={per_person!r}).",
    )


def about_values(bounds: str, *, outside: str) -> Sentences:
    """State what happens to values outside the bounds."""
    return (f"Values outside {bounds} {OUTSIDE[outside]} (outside={outside!r}).",)


def about_magnitudes(most: object, *, several: bool) -> Sentences:
    """State which magnitude counts for a person; ``several`` means that a person may have more than one."""
    said = (
        f"A value counts by its magnitude, whatever its sign; one beyond {most} counts as {most}.",
    )
    return ("If a person has several, the largest magnitude counts.", *said) if several else said


def about_unknown(considered: int, *, asked: int, named: int) -> Sentences:
    """Describe candidates that come from the data; ``named`` of the ``asked`` values were safe to name."""
    said = (
        f"The candidates are the {considered} values with the most people; a person counts once for each "
        "value that they have, and missing values are left out.",
    )
    if named == asked:
        return said
    return (
        *said,
        f"Only {named} of {asked} are named: no other value has enough people to be named "
        "safely at this ε and δ.",
    )


def about_kept(asked: int, named: int) -> Sentences:
    """Describe candidates from the data that are safe to name; say so if fewer than ``asked`` were named."""
    said = (
        "The candidates are the values with enough people to be named safely at this ε and δ; "
        "missing values are left out.",
    )
    return (
        said
        if named == asked
        else (*said, f"Only {named} of {asked} are named: no other value has enough people.")
    )


def about_values_each(most: int) -> Sentences:
    """Explain how values in the data are weighed if each person counts with at most ``most`` of them."""
    return (
        f"A person counts with at most {counted(most, 'value')}, drawn at random from theirs. Each "
        "person who counts with t values adds 1/√t to the weight of each. The heaviest values are named "
        "first; then everybody's weight is divided again among the values that are left.",
    )


def about_found_groups(
    by: str, *, one: bool, weighed: tuple[int, int, int, int] | None = None
) -> Sentences:
    """Describe groups found in the data; if ``weighed``, also state how many people a named group needs."""
    how = (
        " To find them, each person counts in one of their groups, drawn at random." if one else ""
    )
    if weighed is not None:
        most, people, sure, otherwise = weighed
        how = (
            f" To find them, a person in t groups adds 1/√t to the weight of each; a person in more than "
            f"{most:,} counts in {most:,} of theirs, drawn at random. The heaviest groups are named first; "
            "then everybody's weight is divided again among the groups that are left. If nobody is in more "
            f"than {most:,}, a group of {people:,} people is at least as likely to be named as not, and one "
            f"of {sure:,} is named 19 times out of 20, whatever else is in the data; counting each person in "
            f"one group would take up to {otherwise:,}."
        )
    return (
        f"The groups are those of {by} in the data with enough people to be named safely at this ε "
        f"and δ; smaller groups and blank or misencoded texts are left out.{how}",
    )


def about_chosen_bound(most: int, epsilon: Fraction, covered: Fraction) -> Sentences:
    """Describe a bound on groups per person that was itself chosen privately."""
    return (
        f"A person counts in at most {counted(most, 'group')}: chosen privately, for ε = {figure(epsilon)} "
        f"of the total, so that about {figure(covered)} of the people count in all of their groups.",
    )


def about_method(method: str, *, in_cluster: bool = False) -> Sentences:
    """Explain how ``method`` was selected for a top-k question that does not name one."""
    why = "follows from k, the neighbour relation and the budget's unit, not from the data"
    if in_cluster:
        why = "is the one that runs in the cluster, where the candidates are"
    return (f"The method ({method}) {why}.",)


def about_order(ordered: float, unordered: float) -> Sentences:
    """State how much accuracy releasing the order costs: the error bounds with and without the order."""
    with_it, without = (of_people(math.ceil(error)) for error in (ordered, unordered))
    return (
        f"Releasing the order costs accuracy: with the order the answer is off by {with_it} at worst, "
        f"without it by {without}.",
    )


def about_threshold(rule: CrossingRule, groups: int) -> Sentences:
    """State which groups are compared with the threshold, how many are named, and how large the noise is."""
    several = rule.crossings > 1
    named = (
        f"the first {rule.crossings} that reach it are"
        if several
        else "the first that reaches it is"
    )
    return (
        f"The {groups} groups are compared in their order with {of_people(rule.threshold)}, with "
        f"noise on that number and on each count; {named} named.",
        "A person counts once in each group in which they have rows; missing values and values not "
        "on the list are left out, and a group without rows has zero people.",
        f"The noise of one comparison has a standard deviation of {of_people(figure(rule.deviation))}.",
    )


def about_unequal_scores(
    sensitivities: Sequence[Fraction], way: str, ways: str, *, checked: bool = False
) -> Sentences:
    """Describe scores that each have their own sensitivity, and both ways to compare them."""
    tried = "; no data set made of the example rows contradicts this" if checked else ", unchecked"
    return (
        f"One person changes each score by at most its own sensitivity, from {min(sensitivities)} to "
        f"{max(sensitivities)}, as stated{tried}.",
        f"Scores are compared by {way}. {ways}",
    )


def about_scores(range_distance: Fraction, *, checked: bool = False) -> Sentences:
    """Describe scores that share one sensitivity or range distance."""
    tried = "; no data set made of the example rows contradicts this" if checked else ", unchecked"
    return (
        f"One person changes the difference of two scores by at most {range_distance}, as stated{tried}.",
    )
