"""Candidates that come from the data: limited-domain selection, which requires a δ.

The method is from Durfee and Rogers (2019). The values with the most people compete with one further
candidate, "nothing", whose score lies above that of the first value left out. A value that one person can
bring into the list or push out of it almost never beats "nothing". ``docs/proofs/unknown-domain.md`` proves
the guarantee.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._exact.numbers.balls import upper_bound
from discreet._exact.numbers.exact import refuse
from discreet._exact.sampling import Bits
from discreet._exact.sampling.keeping import Keeping, kept
from discreet._exact.sampling.weighing import (
    MOST_WEIGHT,
    Weighing,
    Weighings,
    weighings_at,
    weight_in,
)
from discreet._tables import Rows, Table
from discreet._tables.counts import (
    Counts,
    commonest_in_groups,
    people_per_group_and_share,
    people_with_any,
)
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms import PermuteAndFlip
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.accuracy import PEOPLE, Accuracy, Errors, drawn, falling_counts
from discreet.questions.asking import Asking
from discreet.questions.plan import Found, Plan
from discreet.questions.rules import Sentences, about_unknown, of_people
from discreet.scores import Scores

if TYPE_CHECKING:
    from discreet.questions.of_candidates import OfCandidates

EXAMPLES: dict[str, Callable[[int], Any]] = {
    "text": str,
    "object": str,
    "integer": int,
    "decimal": int,
    "boolean": bool,
    "date": lambda day: datetime.date(2000, 1, 1) + datetime.timedelta(days=day),
}
"""Functions that make sample groups for planning, one for each kind of column whose values can be listed."""
CONSIDERED = 100
"""The default number of values that compete."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The public parameters of limited-domain selection for one question.

    Attributes:
        epsilon: ε of each round.
        delta: δ of each round.
        considered: k̄, the length of the list of values that compete.
        touched: the most values that one person can bring into the list or push out of it.
    """

    epsilon: Fraction
    delta: Fraction
    considered: int
    touched: int

    @property
    def margin(self) -> int:
        """The lead of "nothing" over the best value left out: 1 + ⌈ln(touched·(1 + e^ε)/(2δ))/ε⌉."""
        needed = upper_bound(
            lambda e, d, m: (m * (1 + e.exp()) / (2 * d)).log() / e,
            self.epsilon,
            self.delta,
            Fraction(self.touched),
        )
        if needed >= 2**62:  # scores are 64-bit integers
            raise ParameterError("delta and epsilon are too small for any answer to be safe")
        return 1 + math.ceil(needed)


def step_limits(epsilon: Fraction, delta: Fraction, neighbours: str) -> tuple[Fraction, Fraction]:
    """Convert ε and δ under this relation to those for adding or removing one person.

    Replacing a person is two such steps, which together cost (2ε', δ'(1 + e^ε')); here ε' = ε/2.

    Example:
        >>> step_limits(Fraction(1), Fraction(1, 10), "add-remove")
        (Fraction(1, 1), Fraction(1, 10))
    """
    if neighbours != REPLACE:
        return epsilon, delta
    factor = upper_bound(lambda e: 1 + e.exp(), epsilon / 2)
    if factor == math.inf:
        raise ParameterError("epsilon is too large for a δ under replacement")
    # Slightly less, so that the sum of both steps, rounded up, does not exceed what was asked for.
    return epsilon / 2, delta / Fraction(factor) * (1 - Fraction(1, 2**60))


KEPT = CLAIMS["kept", "ApproxDP"]
"""The proof of keeping groups or values, together with an answer about those kept."""
KEPT_BY: dict[str, str] = {
    ADD_REMOVE: "kept by the best rule",
    REPLACE: "kept by their number of people",
}
"""The rule that keeps groups or values, in words; it is proved optimal only for the add-remove relation."""


def keeping_at(epsilon: Fraction, delta: Fraction, neighbours: str) -> Keeping:
    """Return the rule for keeping groups or values if each person counts in only one of them.

    A replaced person may leave one group and enter another. This affects the coin flips of two groups, so
    each flip gets half of ε and half of δ.
    """
    coins = 2 if neighbours == REPLACE else 1
    return Keeping(epsilon / coins, delta / coins)


WEIGHED = CLAIMS["weighed", "ApproxDP"]
"""The proof of keeping groups by weights, together with an answer about those kept."""
BY_WEIGHTS = "kept by the weights of their people"


def weighings_for(
    keeping: Keeping, epsilon: Fraction, delta: Fraction, neighbours: str, groups: int
) -> Weighings | None:
    """Return the weighting rule if it can name smaller groups than ``keeping`` does, else None.

    With ``keeping``, each person counts in one group only. The two rules are compared by how many people a
    group needs to be named with probability one half, if everybody counts in as many groups as allowed. No
    data is read.
    """
    if groups == 1:
        return None
    weighings = weighings_at(epsilon, delta, groups, neighbours)
    return weighings if weighings.people(groups) < groups * (keeping.turn + 1) else None


PeopleByShare = list[tuple[tuple[Any, int], int]]
"""Entries ``((label, number), people)``: this many people have the label and count with ``number`` labels."""


@dataclass(frozen=True, slots=True)
class GroupShares:
    """The input of the weighting rule.

    Attributes:
        all: the number of people of each group or value, by how many groups or values they count in.
        without: reads the same numbers from the table again, leaving out some groups or values.
    """

    all: PeopleByShare
    without: Callable[[Sequence[Any]], PeopleByShare]


def read_shares(table: Table, rows: Rows) -> GroupShares:
    """Read the input of the weighting rule's first round, and prepare to read that of the second."""
    assert rows.by is not None
    kind = table.kind(rows.by)

    def without(named: Sequence[Any]) -> PeopleByShare:
        # Other kinds of column cannot be listed in SQL; weighing all groups again is just as private.
        return people_per_group_and_share(table, rows, without=named if kind in EXAMPLES else ())

    if table.is_trial and kind in EXAMPLES:
        without([EXAMPLES[kind](1)])
    return GroupShares(without(()), without)


def kept_by_weights(
    shares: GroupShares,
    weighings: Weighings,
    bits: Bits,
    *,
    is_name: Callable[[Any], bool] = lambda _label: True,
) -> set[Any]:
    """Return the groups or values that are named in either round."""

    def named(found: PeopleByShare, weighing: Weighing) -> list[Any]:
        weights = {label: weight for label, weight in weights_of(found) if is_name(label)}
        sizes = np.array(list(weights.values()), dtype=np.int64)
        safe = kept(sizes, keeping=weighing, bits=bits)
        return [label for label, is_safe in zip(weights, safe, strict=True) if is_safe]

    largest = named(shares.all, weighings.first)
    return {*largest, *named(shares.without(largest), weighings.last)}


def weights_of(counted: PeopleByShare) -> list[tuple[Any, int]]:
    """Compute the weight of each group or value; a person who counts in t adds ``weight_in(t)`` to each."""
    found: dict[Any, int] = {}
    for (label, groups), people in counted:
        found[label] = min(MOST_WEIGHT, found.get(label, 0) + people * weight_in(groups))
    return list(found.items())


def limits_for(
    *,
    epsilon: Fraction,
    delta: Fraction,
    rounds: int,
    considered: int,
    one_row_each: bool,
    neighbours: str,
) -> Limits:
    """Return the limits of one round; ``epsilon`` and ``delta`` are those of the whole question."""
    per_round, failing = step_limits(epsilon / rounds, delta / rounds, neighbours)
    return Limits(per_round, failing, considered, 1 if one_row_each else considered)


def choose(
    values: list[tuple[Any, int]], limits: Limits, rounds: int, bits: Bits
) -> list[tuple[Any, int]]:
    """Choose up to ``rounds`` of the values, and return them in order with their counts; stop at "nothing".

    ``values`` are the ``considered + 1`` most common with their counts, the most common first.
    """
    mechanism = PermuteAndFlip(epsilon=limits.epsilon)
    cut = values[limits.considered][1] if len(values) > limits.considered else 0
    left = values[: limits.considered]
    chosen: list[tuple[Any, int]] = []
    while len(chosen) < rounds:
        people = np.array([count for _, count in left] + [cut + limits.margin], dtype=np.int64)
        index = mechanism._choose(Scores(people, sensitivity=1, monotonic=True), bits)
        if index == len(left):
            break
        chosen.append(left.pop(index))
    return chosen


def require_named(table: Table, column: str) -> None:
    """Raise an error unless the values of a column can be compared exactly and named."""
    table.require_told_apart(column, name="column")
    if table.kind(column) == "moment":
        # Some times of an engine do not fit Python's types: they come back as texts or raise an error.
        raise refuse(
            "column",
            column,
            "a column of texts, numbers or dates; cast times to dates first",
        )


def accuracy_of_named(
    question: OfCandidates,
    asking: Asking,
    pick: Callable[[Any, Bits], Iterable[tuple[list[tuple[Any, int]], Found]]],
    places: int,
) -> Accuracy:
    """Return the accuracy of the named values on typical data, with counts proportional to 1, 1/2, 1/3, ...

    No bound is proved for all data, because no value is named if few people share each value.
    """
    people = asking.people

    def errors() -> Errors:
        like = falling_counts(people, max(question.considered, places))
        values = [(place, count) for place, count in enumerate(like.tolist()) if count]

        def draw(_like: Counts, bits: Bits) -> Iterable[list[int]]:
            return ([place for place, _ in chosen] for chosen, _ in pick([values], bits))

        def error(counts: Counts, chosen: Sequence[int]) -> float:
            named = np.zeros(places, dtype=np.int64)
            named[: len(chosen)] = counts[list(chosen)]
            return max(0.0, float((counts[:places] - named).max()))

        return drawn(like, draw, error, places)

    return Accuracy(
        None,
        Fraction(question.with_probability),
        PEOPLE,
        "how many fewer people a value in the answer has than the one that belongs in its place; a "
        "place without an answer counts as zero people",
        f"{of_people(f'{people:,}')} whose counts fall off as 1, 1/2, 1/3, ... over "
        f"{max(question.considered, places):,} values",
        errors,
        assuming=asking.assuming,
    )


def planned_from_the_data(
    question: OfCandidates, asking: Asking, what: str, *, k: int | None = None
) -> Plan:
    """Plan to name up to ``k`` of the most common values of a column, only those that are safe to name."""
    table, rows, column = asking.table, asking.rows, question.column
    share, rounds = question.counting_share, k or 1
    most = question.considered if k is None else max(question.considered, k)
    if question.mechanism not in (None, PermuteAndFlip, "permute-and-flip"):
        raise ParameterError(
            "without a public list only permute-and-flip is proved: leave ⟨mechanism⟩ out"
        )
    require_named(table, column)
    epsilon = asking.epsilon_each * (1 - share)
    total = Fraction(question.delta or 0)
    if rows.by is not None:
        # Costs add up over the groups that one person can affect: twice as many under replacement.
        each, relation = total / rows.groups_per_person, asking.setting.neighbours
        total = step_limits(2 * epsilon / rounds, each, relation)[1]
    limits = limits_for(
        epsilon=epsilon,
        delta=total,
        rounds=rounds,
        considered=most,
        one_row_each=rows.user is None,
        neighbours=asking.inner,
    )
    limits.margin  # noqa: B018 - refuses impossible figures before anything is spent

    proof = CLAIMS["unknown domain", "ApproxDP"]
    covered = {"rounds": proof, "then": CLAIMS["unknown domain", "then"]}
    promise = ApproxDP(epsilon / rounds, total / rounds).resting_on(proof, covered)

    def pick(counted: Any, bits: Bits) -> Iterable[tuple[list[tuple[Any, int]], Found]]:
        return ((choose(values, limits, rounds, bits), {}) for values in counted)

    def rules_after(answer: Any) -> Sentences:
        if rows.by is not None:  # each group's answer shows how many were named
            return about_unknown(most, asked=rounds, named=rounds)
        named = len(answer) if k is not None else int(answer is not None)
        return about_unknown(most, asked=rounds, named=named)

    return asking.plan(
        what,
        **asking.naming(pick, (promise, rounds), share=share, k=k),
        mechanism="permute-and-flip on a limited domain",
        read=lambda table, rows: commonest_in_groups(table, rows, column=column, most=most + 1),
        people=lambda table, rows: people_with_any(table, rows, column=column),
        rules_after=rules_after,
        ordered=None if k is None else True,
        accuracy=accuracy_of_named(question, asking, pick, rounds),
    )
