"""How good an answer will be, 19 times out of 20, in words; from the owner's file and the question alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.analysis import epsilon_for_threshold, error_bound, rank_error
from discreet.desk.owner_file import Column, RegisteredScore, SharedTable
from discreet.displays import counted
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.numbers.exact import positive, refuse
from discreet.numbers.printing import figure
from discreet.questions.ordered import points_between
from discreet.questions.top_k import JOINT, best_method, joint_distance

LEVEL = "0.95"
_UNKNOWN = "How good it will be depends on the data; a larger ε is better."


def accuracy(table: SharedTable, facts: Column | RegisteredScore, question: Any) -> str:
    """What the analyst may expect of an answer before it is paid."""
    epsilon = positive("epsilon", question.epsilon)
    if isinstance(facts, RegisteredScore):
        return f"19 times out of 20 {_of_score(facts, epsilon)}."
    if question.with_people:
        epsilon *= Fraction(9, 10)
    if getattr(question, "with_count", False):
        epsilon *= Fraction(3, 4)
    relation: str = table.neighbours
    if getattr(question, "by", None) is not None and relation == REPLACE:
        # A person who moves leaves one group and enters another: each is asked at half the ε.
        epsilon, relation = epsilon / 2, ADD_REMOVE
    said = _WORDS[question.kind](facts, question, epsilon, relation, table.user is None)
    return _UNKNOWN if said is None else f"19 times out of 20 {said}."


def _of_score(score: RegisteredScore, epsilon: Fraction) -> str:
    within = error_bound(
        epsilon,
        len(score.listed()),
        with_probability=LEVEL,
        sensitivity=score.sensitivity,
        monotonic=score.monotonic,
    )
    return f"the score of the answer is at most {figure(Fraction(within))} from the best"


def _people(number: float) -> str:
    return counted(math.ceil(number), "person", "people")


def _of_mode(
    column: Column, question: Any, epsilon: Fraction, relation: str, _one_value: bool
) -> str | None:
    count = len(column.listed()) if column.candidates is not None else _points(column)
    if count is None:
        return None
    within = error_bound(epsilon, count, with_probability=LEVEL, monotonic=relation == ADD_REMOVE)
    return (
        f"the answer{_each(question)} has at most {_people(within)} fewer than the most common of "
        f"the {count} listed values"
    )


def _of_top(
    column: Column, question: Any, epsilon: Fraction, relation: str, one_value: bool
) -> str:
    count, k = len(column.listed()), question.k
    if k > count:
        raise refuse("k", k, f"at most the number of listed values, {count}")
    distance = 1 if relation == ADD_REMOVE else 2
    joint, _ = joint_distance(k, relation, one_value=one_value)
    if best_method(k, distance, joint, concentrated=False) == JOINT:
        # One choice among all ordered k-tuples, whose scores one person moves apart by this much.
        ways, moved = math.perm(count, k), joint
    else:
        # No place falls short by more than the largest of the exponential noises.
        ways, moved = count, k * distance
    within = error_bound(epsilon, ways, with_probability=LEVEL, sensitivity=moved, monotonic=True)
    return (
        f"no value in the answer{_each(question)} has more than {_people(within)} "
        "fewer than the value that belongs in its place"
    )


def _of_quantiles(
    column: Column, question: Any, epsilon: Fraction, relation: str, _one_value: bool
) -> str | None:
    points = _points(column)
    if points is None:
        return None
    levels = getattr(question, "at", ["0.5"])
    within = rank_error(
        levels, points=points, epsilon=epsilon, with_probability=LEVEL, neighbours=relation
    )
    many = ", and by more only where very many share one value" if len(levels) > 1 else ""
    return f"no answer's rank{_each(question)} is off by more than {_people(within)}{many}"


def _of_first(
    column: Column, question: Any, epsilon: Fraction, relation: str, _one_value: bool
) -> str | None:
    if question.crossings is not None:
        return None
    count = len(column.listed())
    # Only the product of ε and the margin matters.
    needed = epsilon_for_threshold(
        n=count, margin=1, with_probability=LEVEL, monotonic=relation == ADD_REMOVE
    )
    return (
        f"the answer is right if the counts of all {count} listed values are at least "
        f"{_people(needed / epsilon)} away from the threshold"
    )


_WORDS = {
    "mode": _of_mode,
    "top_k": _of_top,
    "median": _of_quantiles,
    "quantiles": _of_quantiles,
    "first_above": _of_first,
}


def _each(question: Any) -> str:
    return " in each group" if getattr(question, "by", None) is not None else ""


def _points(column: Column) -> int | None:
    assert column.bounds is not None
    return points_between(tuple(column.bounds), column.step)
