"""Candidates that come from the data: limited-domain selection, for a δ.

After Durfee and Rogers (2019). The values with the most people compete with one further candidate,
"nothing", whose score lies above the first value left out; a value that one person can bring into the list
or push out of it hardly ever beats it. ``docs/proofs/unknown-domain.md`` proves the guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP
from discreet.mechanisms import PermuteAndFlip
from discreet.neighbours import REPLACE
from discreet.numbers.balls import upper_bound
from discreet.numbers.exact import probability, refuse, whole
from discreet.questions.answer import TableRelease, about_unknown
from discreet.questions.context import Asking
from discreet.scores import Scores
from discreet.tables import Table
from discreet.tables.counts import commonest_in_groups, people_with_any

CONSIDERED = 100
"""So many values are considered, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The public numbers of one question.

    Attributes:
        epsilon: ε of each of the rounds.
        delta: δ of each of the rounds.
        considered: k̄, the length of the list of values that compete.
        touched: the most values of the list that one person can bring in or push out.
    """

    epsilon: Fraction
    delta: Fraction
    considered: int
    touched: int

    @property
    def margin(self) -> int:
        """By how much "nothing" stands above the best value left out: 1 + ⌈ln(touched(1 + e^ε)/(2δ))/ε⌉."""
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
    """ε and δ for adding or removing a person that give these for the relation asked for.

    Replacing a person is two steps: (2ε', δ'(1 + e^ε')) with ε' = ε/2.

    Example:
        >>> step_limits(Fraction(1), Fraction(1, 10), "add-remove")
        (Fraction(1, 1), Fraction(1, 10))
    """
    if neighbours != REPLACE:
        return epsilon, delta
    factor = upper_bound(lambda e: 1 + e.exp(), epsilon / 2)
    if factor == math.inf:
        raise ParameterError("epsilon is too large for a δ under replacement")
    # A hair less, so that what both steps add up to, rounded up, is not above what was asked for.
    return epsilon / 2, delta / Fraction(factor) * (1 - Fraction(1, 2**60))


def limits_for(
    *,
    epsilon: Fraction,
    delta: object,
    rounds: int,
    considered: int,
    one_row_each: bool,
    neighbours: str,
) -> tuple[Limits, Fraction]:
    """The limits of one round, and δ of the whole question."""
    total = probability("delta", delta)
    if not 0 < total < 1:
        raise ParameterError(
            f"⟨delta⟩{delta!r} is not allowed: it must lie strictly between 0 and 1"
        )
    per_round, failing = step_limits(epsilon / rounds, total / rounds, neighbours)
    return Limits(per_round, failing, considered, 1 if one_row_each else considered), total


def choose(values: list[tuple[Any, int]], limits: Limits, rounds: int) -> list[tuple[Any, int]]:
    """Up to ``rounds`` of the values with their counts, in order; fewer if "nothing" wins.

    ``values`` are the ``considered + 1`` commonest with their counts, the commonest first.
    """
    mechanism = PermuteAndFlip(epsilon=limits.epsilon)
    cut = values[limits.considered][1] if len(values) > limits.considered else 0
    left = values[: limits.considered]
    chosen: list[tuple[Any, int]] = []
    while len(chosen) < rounds:
        people = np.array([count for _, count in left] + [cut + limits.margin], dtype=np.int64)
        index = mechanism.select_index(Scores(people, sensitivity=1, monotonic=True))
        if index == len(left):
            break
        chosen.append(left.pop(index))
    return chosen


def require_values(table: Table, column: str) -> None:
    """An error unless the values of a column can be named."""
    if table.kind(column) == "moment":
        # An engine's times need not be Python's: some come back as texts, others raise.
        raise refuse(
            "column",
            column,
            "a column of texts, numbers or dates; of times, cast it to a date first",
        )


def unknown_top(
    asking: Asking,
    what: str,
    *,
    delta: object,
    considered: object,
    share: Fraction,
    k: int | None = None,
) -> TableRelease:
    """The ``k`` commonest values of a column, or the one, as far as it is safe to say."""
    table, rows, column = asking.table, asking.rows, asking.column
    rounds, most = k or 1, whole("considered", considered)
    if asking.context.mechanism not in (None, PermuteAndFlip, "permute-and-flip"):
        raise ParameterError(
            "an unknown domain is proved for permute-and-flip only: leave ⟨mechanism⟩ out"
        )
    if most < rounds:
        raise ParameterError(f"⟨considered⟩{most} is not allowed: at least k = {rounds} are needed")
    table.require_told_apart(column, name="column")
    require_values(table, column)
    epsilon = asking.epsilon_each * (1 - share)
    total = probability("delta", delta)
    if rows.by is not None:
        # What a person can touch adds up: so many groups, and under replacement two of each kind.
        each, relation = total / rows.groups_per_person, asking.context.neighbours
        total = step_limits(2 * epsilon / rounds, each, relation)[1]
    limits, failing = limits_for(
        epsilon=epsilon,
        delta=total,
        rounds=rounds,
        considered=most,
        one_row_each=rows.user is None,
        neighbours=asking.inner,
    )
    limits.margin  # noqa: B018 - refuses impossible figures before anything is spent
    part = ApproxDP(epsilon / rounds, failing / rounds), rounds
    chosen = asking.naming(
        part, lambda values: (choose(values, limits, rounds), {}), share=share, k=k
    )
    release = asking.release(
        what,
        **chosen,
        mechanism="permute-and-flip on a limited domain",
        read=lambda: commonest_in_groups(table, rows, column=column, most=most + 1),
        people=lambda: people_with_any(table, rows, column=column),
        ordered=None if k is None else True,
    )
    if rows.by is not None:  # how many were named is in each group's answer
        found = rounds
    else:
        found = len(release.answer) if k is not None else int(release.answer is not None)
    return replace(release, rules=release.rules + about_unknown(most, asked=rounds, named=found))
