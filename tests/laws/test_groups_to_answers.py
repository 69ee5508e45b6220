"""Questions with one answer for each group, audited from the rows of a table to all answers together.

A person is in several groups, so the costs of a question's answers add up. This is checked for every
mechanism, under both relations, for groups that are listed, groups found in the data, and a bound chosen from
the data. The key of the hash that assigns people to groups is fixed, because the promise holds for each key;
all other draws follow all of their paths.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet import ApproxDP
from discreet.audit import unrolled
from discreet.audit.subjects import Failure
from discreet.mechanisms import MECHANISMS, LargeGap, Mechanism
from discreet.questions import Mode, TopK
from discreet.questions.plan import Plan
from tests.tools.choices import let_choose
from tests.tools.remembering import count_once

Law = dict[Any, float]
Table = tuple[str, ...]
"""The values of each person in the groups north and south: "a-b" means a in north and b in south."""

PRIVATE = {
    name: make(epsilon=1) for name, make in MECHANISMS.items() if make(epsilon=1).private
} | {"large-gap": LargeGap(epsilon=1, delta="0.01")}
GROUPS: dict[str, tuple[Table, dict[str, Any]]] = {
    "listed": ((), {"groups": ["north", "south"], "groups_per_person": 2}),
    "listed, assigned": ((), {"groups": ["north", "south"], "groups_per_person": 1}),
    "found": (("c-c",) * 600, {"groups_per_person": 2, "delta": "0.001"}),
    "found, assigned": (("c-c",) * 600, {"groups_per_person": 1, "delta": "0.001"}),
    "found, fewer than the bound": (("c-c",) * 600, {"groups_per_person": 3, "delta": "0.001"}),
    "found, weighed": (("c-c",) * 600, {"groups_per_person": 20, "delta": "0.001"}),
    "chosen": (
        ("c-c",) * 600,
        {"groups": ["north", "south"], "groups_per_person": "choose"},
    ),
    "chosen, assigned": (
        ("c-",) * 3000,
        {"groups": ["north", "south"], "groups_per_person": "choose"},
    ),
}
"""A crowd without candidates, and options: the crowd lets groups be found, or a bound be chosen."""
EPSILON = 8
COUNTED: dict[Any, Any] = {}
"""Cached results of statements: every path, mechanism and relation counts in the same tables."""
LAWS: dict[Any, list[Any]] = {}
"""The law of a mechanism at given gaps, computed once for every combination."""


@pytest.fixture
def law_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return the exact law of a question's answers, and its promise."""
    paths: list[Callable[[Any], Any]] = []
    asked: list[Table] = []
    rooms = {
        name: importlib.import_module(f"discreet.questions.{name}")
        for name in ("then", "unknown_domain", "run")
    }

    def selected(mechanism: Mechanism, scores: Any) -> int:
        gaps = mechanism.gaps(scores)
        key = mechanism, tuple(gaps.exact(place) for place in range(len(scores)))
        if key not in LAWS:
            LAWS[key] = mechanism.ball_probabilities(scores)
        return int(paths[-1](LAWS[key]))

    def kept(people: Any, *, keeping: Any, **_: Any) -> Any:
        chances = [keeping.ball(int(number)) for number in people]
        return np.array([bool(paths[-1]([1 - chance, chance])) for chance in chances])

    class OneKey:
        def integer(self, _bits: int) -> int:
            return 20_261_101

    count_once(monkeypatch, COUNTED, lambda: asked[-1])
    let_choose(monkeypatch, selected)
    for name in ("then", "unknown_domain"):
        monkeypatch.setattr(rooms[name], "kept", kept)
    monkeypatch.setattr(rooms["run"], "SecureBits", OneKey)

    def made(plan: Callable[[pl.DataFrame], Plan]) -> Any:
        stated: list[Any] = []

        @lru_cache(maxsize=1)
        def plan_of(table: Table) -> Plan:
            return plan(rows_of(table))

        def run(table: Table, choose: Callable[[Any], Any]) -> Any:
            paths.append(choose)
            asked.append(table)
            try:
                release = rooms["run"].run(plan_of(table), ledger=None, dataset=None)
            finally:
                paths.pop()
                asked.pop()
            stated.append(release.guarantee)
            return tuple(sorted(release.answer.items()))

        law = unrolled(run)

        @cache
        def in_floats(table: Table) -> Law:
            answers = law(table)
            assert not any(isinstance(answer, Failure) for answer in answers), answers
            return {answer: float(chance) for answer, chance in answers.items()}

        return in_floats, stated

    return made


@lru_cache(maxsize=1)
def rows_of(table: Table) -> pl.DataFrame:
    """Return a frame; people are named by their values, so a neighbour's names do not clash."""
    rows = [
        (f"{kind}, number {number}", value, group)
        for kind, alike in itertools.groupby(table)
        for number, _ in enumerate(alike)
        for value, group in zip(kind.split("-"), ("north", "south"), strict=True)
        if value
    ]
    return pl.DataFrame(
        rows, schema={"person": pl.String, "value": pl.String, "group": pl.String}, orient="row"
    )


def neighbours_of(relation: str, crowd: Table) -> Iterator[tuple[Table, Table]]:
    """Yield neighbouring tables near a tie; they differ by a person in both groups or in one."""
    for others in ((), ("a-a",), ("a-a", "a-a"), ("a-a", "b-b")):
        told = crowd + others
        tables = [tuple(sorted((*told, kind))) for kind in ("a-a", "b-b", "a-", "-b")]
        if relation == "add-remove":
            yield from ((tuple(sorted(told)), table) for table in tables)
        else:
            yield from itertools.combinations(tables, 2)


def worst_delta(law: Callable[[Table], Law], relation: str, crowd: Table) -> float:
    """Return the largest δ at ε over all these tables."""
    worst = 0.0
    for pair in neighbours_of(relation, crowd):
        for one, other in (pair, pair[::-1]):
            before, after = law(one), law(other)
            beyond = (
                before[answer] - math.exp(EPSILON) * after.get(answer, 0.0) for answer in before
            )
            worst = max(worst, math.fsum(max(0.0, part) for part in beyond))
    return worst


# How ε is shared among groups does not depend on the mechanism. So every mechanism is tried with listed
# groups, and every other kind of groups with one whose promise is tight (coins) and one with a δ. The
# assignment to one group, and the sum of a list of choices, matter only for a δ.
CASES: list[tuple[str, Any, str]] = [(name, Mode, "listed") for name in PRIVATE]
CASES += [("permute-and-flip", Mode, groups) for groups in ("found", "chosen")]
CASES += [("large-gap", Mode, groups) for groups in GROUPS if groups != "listed"]
CASES += [("large-gap", TopK, groups) for groups in ("found", "chosen")]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(("name", "question", "groups"), CASES)
def test_answers_for_groups(
    law_of: Any, name: str, question: type[Mode] | type[TopK], groups: str, relation: str
) -> None:
    crowd, terms = GROUPS[groups]
    if crowd:
        terms = {**terms, "groups_share": "0.01"}
    if question is TopK:
        terms = {**terms, "k": 2, "method": "peeling"}

    asked = question(
        "value",
        candidates=["a", "b"],
        epsilon=EPSILON,
        by="group",
        mechanism=PRIVATE[name],
        **terms,
    )

    def plan(rows: pl.DataFrame) -> Plan:
        return discreet.table(rows, user="person", neighbours=relation, ledger=None).plan(asked)

    law, stated = law_of(plan)
    measured = worst_delta(law, relation, crowd)
    (promise,) = set(stated)
    _, delta = promise.to(ApproxDP).exact
    assert measured <= float(delta) + 1e-12
    if (name, question) == ("large-gap", Mode) and ", " not in groups:
        assert measured > 0.1 * float(delta)
