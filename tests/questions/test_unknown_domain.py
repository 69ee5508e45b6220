"""Unknown domains, audited on small data sets: the exact law of the answer for every pair of neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from discreet import ApproxDP, PermuteAndFlip, Scores
from discreet._exact.sampling import SecureBits
from discreet.errors import ParameterError
from discreet.questions import mode, top_k
from discreet.questions.unknown_domain import Limits, choose, limits_for
from tests.tools.engines import TableMaker

Person = tuple[str, ...]
Law = dict[tuple[str, ...], float]


def _law(people: tuple[Person, ...], limits: Limits, rounds: int) -> Law:
    """Return the law of the answer, from the same list and scores as ``choose`` uses."""
    counts: dict[str, int] = {}
    for person in people:
        for value in set(person):
            counts[value] = counts.get(value, 0) + 1
    values = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    cut = values[limits.considered][1] if len(values) > limits.considered else 0
    law: Law = {}

    def follow(left: list[tuple[str, int]], chosen: tuple[str, ...], chance: float) -> None:
        if len(chosen) == rounds:
            law[chosen] = law.get(chosen, 0.0) + chance
            return
        numbers = np.array([count for _, count in left] + [cut + limits.margin])
        scores = Scores(numbers, sensitivity=1, monotonic=True)
        probabilities = PermuteAndFlip(epsilon=limits.epsilon).probabilities(scores)
        law[chosen] = law.get(chosen, 0.0) + chance * float(probabilities[-1])
        for place, (value, _) in enumerate(left):
            rest = left[:place] + left[place + 1 :]
            follow(rest, (*chosen, value), chance * float(probabilities[place]))

    follow(values[: limits.considered], (), 1.0)
    return law


def _delta(one: Law, other: Law, epsilon: float) -> float:
    """Return the least δ with Pr[S] ≤ e^ε Pr'[S] + δ for all sets S of answers."""
    return sum(
        max(0.0, p - math.exp(epsilon) * other.get(answer, 0.0)) for answer, p in one.items()
    )


def test_groups_share_the_delta_of_a_person() -> None:
    """A person in two groups affects two answers; under replacement the new person affects two as well."""
    rows = [(person, "abc"[person % 3], place) for person in range(60) for place in "xy"]
    visits = pl.DataFrame(rows, schema=["person", "code", "place"], orient="row")
    asked: dict[str, Any] = {"user": "person", "by": "place", "groups": ["x", "y"]}
    asked |= {"delta": "1e-4", "epsilon": 8}
    for neighbours in ("add-remove", "replace"):
        for most in (1, 2):
            asked |= {"neighbours": neighbours, "groups_per_person": most}
            found = mode(visits, "code", **asked).guarantee
            assert isinstance(found, ApproxDP)
            assert Fraction("0.99e-4") < found.exact[1] <= Fraction("1e-4")


def _people(values: str, most: int) -> list[Person]:
    return [
        person for size in range(1, most + 1) for person in itertools.combinations(values, size)
    ]


def _pairs(
    kinds: list[Person], neighbours: str, most: int
) -> Iterator[tuple[tuple[Person, ...], tuple[Person, ...]]]:
    for size in range(most + 1):
        for others in itertools.combinations_with_replacement(kinds, size):
            for one in kinds:
                if neighbours == "add-remove":
                    yield others, (*others, one)
                else:
                    yield from ((((*others, one)), (*others, another)) for another in kinds)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(("considered", "rounds"), [(1, 1), (2, 1), (2, 2)])
@pytest.mark.parametrize("one_row_each", [True, False])
def test_audit_over_small_data_sets(
    neighbours: str, considered: int, rounds: int, one_row_each: bool
) -> None:
    epsilon, delta = Fraction(2), Fraction(2, 5)  # a δ large enough for answers to occur
    limits = limits_for(
        epsilon=epsilon,
        delta=delta,
        rounds=rounds,
        considered=considered,
        one_row_each=one_row_each,
        neighbours=neighbours,
    )
    kinds = _people("abc", 1 if one_row_each else 3)
    laws: dict[tuple[Person, ...], Law] = {}

    def law_of(people: tuple[Person, ...]) -> Law:
        key = tuple(sorted(people))
        if key not in laws:
            laws[key] = _law(key, limits, rounds)
        return laws[key]

    worst, answered = 0.0, 0.0
    for one, other in _pairs(kinds, neighbours, most=4 if one_row_each else 2):
        first, second = law_of(one), law_of(other)
        worst = max(
            worst, _delta(first, second, float(epsilon)), _delta(second, first, float(epsilon))
        )
        answered = max(answered, 1 - first.get((), 0.0))
    assert worst <= float(delta)
    assert worst > 0  # some probability must be charged to δ
    assert answered > 0.01


def test_the_margin_is_rounded_up() -> None:
    limits = Limits(Fraction(1), Fraction(1, 10**6), 100, 100)
    exact = math.log(100 * (1 + math.e) / 2e-6)
    assert limits.margin == 1 + math.ceil(exact)


def test_a_value_of_one_person_is_not_said() -> None:
    limits = Limits(Fraction(1), Fraction(1, 10**9), 10, 10)
    # Its chance is below δ = 1e-9.
    assert choose([("a rare disease", 1)], limits, 1, SecureBits()) == []
    assert choose([], limits, 3, SecureBits()) == []


VISITS = pl.DataFrame(
    {"person": range(1000), "page": ["a"] * 600 + ["b"] * 300 + ["c"] * 99 + ["secret"]}
)


def test_the_question(table_in: TableMaker) -> None:
    visits = table_in(VISITS.to_dict(as_series=False))
    release = top_k(
        visits, column="page", k=4, epsilon=8, delta="1e-9", user="person", with_count=True
    )
    # No value follows the safe ones: "secret" is 26 below the threshold at ε = 1.5 per round.
    assert release.answer == ("a", "b", "c")
    assert release.guarantee == ApproxDP(8, "1e-9")
    assert len(release.count) == 3
    single = mode(
        visits, column="page", epsilon=1, delta="1e-6", user="person", neighbours="replace"
    )
    assert single.answer == "a"
    empty = mode(VISITS.head(0), column="page", epsilon=1, delta="1e-6", user="person")
    assert empty.answer is None
    assert "nothing is safe to say" in str(empty)
    one_row = mode(
        visits, column="page", epsilon=1, delta="1e-6", one_row_per_user=True, considered=1
    )
    assert one_row.answer == "a"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delta": 0}, "strictly between"),
        ({"delta": 1}, "strictly between"),
        ({"delta": "x"}, "delta='x'"),
        ({}, "only values with enough people"),
        ({"delta": 0.1, "mechanism": "exponential"}, "only permute-and-flip"),
        ({"delta": 0.1, "with_gap": True}, "public candidates"),
        ({"delta": 0.1, "candidates": ["a"]}, "is not used here"),
        ({"delta": 0.1, "considered": 0}, "considered"),
    ],
)
def test_refusals(options: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        mode(VISITS, column="page", epsilon=1, user="person", **options)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ"])
def test_times_are_refused_before_a_row_can_raise(kind: str) -> None:
    """DuckDB returns times beyond the year 9999 as strings, which cannot be compared with other times."""
    rows = f"SELECT 1 AS p, '200000-01-01'::{kind} AS d UNION ALL SELECT 2, '2024-01-01'::{kind}"
    with pytest.raises(ParameterError, match="cast times to dates"):
        mode(duckdb.sql(rows), column="d", user="p", epsilon=1, delta="1e-6")


def test_values_of_people_who_have_several() -> None:
    """Twenty values have ninety people each, ten values per person: weights are 28, T = 12.6 and σ = 2.3."""
    rows = [(person, (person + step) % 20) for person in range(180) for step in range(10)]
    frame = pl.DataFrame(rows, schema=["person", "item"], orient="row")
    options: dict[str, Any] = {"column": "item", "k": 20, "delta": "1e-6", "user": "person"}
    assert top_k(frame, epsilon=4, **options).mechanism.startswith("permute-and-flip")
    release = top_k(frame, epsilon=4, values_per_person=10, **options)
    assert sorted(release.answer) == list(range(20))
    assert release.guarantee == ApproxDP(4, "1e-6")
    assert release.mechanism.startswith("values kept by the weights of their people")
    assert any("at most 10 values" in rule for rule in release.rules)
    counted = top_k(frame, epsilon=400, values_per_person=4, with_count=True, **options)
    assert sum(counted.count) == pytest.approx(180 * 4, abs=60)
    lonely = pl.DataFrame({"person": [1] * 5, "item": list(range(5))})
    assert (
        top_k(lonely, epsilon=1, values_per_person=5, **options).answer == ()
    )  # except with probability 10⁻⁶
    with pytest.raises(ParameterError, match="values_per_person"):
        top_k(
            frame,
            column="item",
            k=2,
            candidates=[1, 2],
            epsilon=1,
            values_per_person=2,
            user="person",
        )
    with pytest.raises(ParameterError, match="values_per_person=0"):
        top_k(frame, epsilon=1, values_per_person=0, **options)
    with pytest.raises(ParameterError, match="values_per_person=1099511627777"):
        top_k(frame, epsilon=1, values_per_person=2**40 + 1, **options)
