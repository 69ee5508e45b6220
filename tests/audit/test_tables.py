from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from discreet import ApproxDP, PermuteAndFlip, PureDP, Scores
from discreet.audit import Tables, audit, unrolled
from discreet.errors import ParameterError


def commonest(table: tuple[str, ...], choose: Any) -> str:
    counts = Counter(table)
    labels = ["a", "b", "c"]
    scores = Scores([counts[label] for label in labels], sensitivity=1, monotonic=True)
    return labels[int(choose(PermuteAndFlip(epsilon=1).ball_probabilities(scores)))]


def winner_and_count(table: tuple[str, ...], choose: Any) -> tuple[str, int]:
    """Return the winner with a count under two-sided geometric noise; each tail is one answer."""
    label = commonest(table, choose)
    ratio = Fraction(1, 2)
    true, reach = Counter(table)[label], 12
    law: dict[int, Fraction] = {}
    for seen in range(-reach, reach + 1):
        part = (1 - ratio) / (1 + ratio) * ratio ** abs(seen - true)
        law[seen] = part
    law[reach + 1] = ratio ** (reach + 1 - true) / (1 + ratio)
    law[-reach - 1] = ratio ** (reach + 1 + true) / (1 + ratio)
    return label, choose(law)


def test_a_question_is_audited_from_rows_to_answer() -> None:
    question, tables = unrolled(commonest), Tables("abc", rows=3, most=5)
    verdict = audit(question, PureDP(1), inputs=tables)
    assert verdict.status == "not refuted"
    assert verdict.measured == pytest.approx(1, abs=1e-12)
    assert "rows" in verdict.coverage
    lie = audit(question, PureDP("0.999"), inputs=tables, effort="quick")
    assert lie.status == "refuted"
    assert lie.witness is not None
    assert lie.witness.certainty == "exact probabilities from the subject"
    assert lie.witness.answers[lie.witness.outcome] in "abc"
    assert abs(len(lie.witness.scores) - len(lie.witness.neighbour)) == 1


def test_replacing_a_person_costs_what_two_steps_cost() -> None:
    tables = Tables("abc", rows=3, neighbours="replace")
    assert audit(unrolled(commonest), PureDP(2), inputs=tables, effort="quick").holds
    verdict = audit(unrolled(commonest), PureDP("1.5"), inputs=tables, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert len(verdict.witness.scores) == len(verdict.witness.neighbour)


def test_a_winner_with_a_count() -> None:
    cost = 1 + math.log(2)
    tables = Tables("abc", rows=2)
    assert audit(
        unrolled(winner_and_count), PureDP(cost * 1.001), inputs=tables, effort="quick"
    ).holds
    verdict = audit(unrolled(winner_and_count), PureDP(cost * 0.95), inputs=tables, effort="quick")
    assert verdict.status == "refuted"


def test_a_set_an_error_and_a_delta() -> None:
    def most(table: tuple[int, ...]) -> dict[Any, Fraction]:
        if not table:
            return {frozenset(): Fraction(99, 100), "nothing is safe to say": Fraction(1, 100)}
        return {frozenset(table): Fraction(1, 100), "nothing is safe to say": Fraction(99, 100)}

    tables = Tables([1, 2], rows=2)
    assert not audit(most, PureDP(5), inputs=tables).holds
    assert audit(most, ApproxDP(5, 1), inputs=tables).holds
    verdict = audit(most, ApproxDP(5, "0.9"), inputs=tables)
    assert verdict.status == "refuted"
    assert verdict.symbol == "δ"

    def divides(table: tuple[int, ...]) -> dict[Any, float]:
        return {"mean": 1.0 * len(table) / len(table)}

    failing = audit(divides, PureDP(5), inputs=tables)
    assert failing.status == "refuted"
    assert failing.witness is not None
    assert "raises ZeroDivisionError" in map(repr, failing.witness.answers)


def test_climbing_reaches_larger_tables() -> None:
    def careless_beyond_five(table: tuple[str, ...]) -> dict[bool, Fraction]:
        chance = Fraction(1, 2) + Fraction(min(len(table), 6), 1000)
        return {
            True: chance if len(table) < 6 else Fraction(99, 100),
            False: 1 - chance if len(table) < 6 else Fraction(1, 100),
        }

    verdict = audit(careless_beyond_five, PureDP("0.1"), inputs=Tables("a", rows=2))
    assert verdict.status == "refuted"


def test_paths_add_up_and_fail_as_answers() -> None:
    def run(_given: Any, choose: Any) -> int:
        if choose({"heads": Fraction(1, 3), "tails": Fraction(2, 3)}) == "heads":
            raise ValueError
        return 10 + int(choose([0, Fraction(1, 4), Fraction(3, 4)]))

    law = unrolled(run)(None)
    assert sum(law.values()) == 1
    assert {repr(answer): part for answer, part in law.items()} == {
        "raises ValueError": Fraction(1, 3),
        "11": Fraction(1, 6),
        "12": Fraction(1, 2),
    }


@pytest.mark.parametrize("options", [{"rows": 0}, {"neighbours": "both"}, {"rows": 3, "most": 2}])
def test_wrong_tables(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Tables("ab", **options)
    with pytest.raises(ParameterError):
        Tables([])
