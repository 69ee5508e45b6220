"""Our own questions audited from the rows of a table to the answer, under both relations.

Every draw of a question goes through a few routines, which have their own tests. Here each routine follows
every path instead of drawing, so a question's law is exact from rows to answer. This covers everything in
between: reading, counting, sensitivities, calibration, splitting of budgets.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet import ApproxDP, PureDP
from discreet._exact.numbers.balls import ball_of
from discreet._tables.engines import KEY_BITS
from discreet.audit import Tables, audit, unrolled
from discreet.audit.subjects import Failure
from discreet.mechanisms import Mechanism
from discreet.questions import mode, quantiles, select_by, top_k
from tests.tools.choices import let_choose
from tests.tools.remembering import count_once
from tests.tools.sampling.joint_law import joint_law
from tests.tools.sampling.one_shot_law import one_shot_law
from tests.tools.sampling.set_law import set_law

Choose = Callable[[Any], Any]
RELATIONS = ("add-remove", "replace")
ONE, TWO, BOTH = ("a",), ("b",), ("a", "b")
LOWEST, HIGHEST = -2, 5
COUNTED: dict[Any, Any] = {}
TABLES: list[Any] = []
"""The table that is asked about; ``COUNTED`` keeps the counts of each table."""
LONGEST = 3  # a longer lead is reported as this one


class Unexplained:
    """The runner's bits: a key that draws people into groups. Any draw outside the routines fails."""

    def integer(self, size: int) -> int:
        assert size == KEY_BITS
        return 20_261_101

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"bits were drawn ({name}) outside the routines that are followed")


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[Choose]:
    """Replace every draw by the next step of the current path."""
    paths: list[Choose] = []

    def selected(mechanism: Mechanism, scores: Any) -> int:
        return int(paths[-1](mechanism.ball_probabilities(scores)))

    def counted(true: int, epsilon: Fraction, **_: Any) -> int:
        """Return discrete Laplace noise; values beyond a public range become its ends."""
        ratio = (-ball_of(epsilon)).exp()
        inner = {
            value: (1 - ratio) / (1 + ratio) * ratio ** abs(value - true)
            for value in range(LOWEST + 1, HIGHEST)
        }

        def farther(distance: int) -> Any:
            """Return the probability that the noise is at least this large."""
            if distance < 1:
                return 1 - ratio ** (1 - distance) / (1 + ratio)
            return ratio**distance / (1 + ratio)

        ends = {LOWEST: farther(true - LOWEST), HIGHEST: farther(HIGHEST - true)}
        return int(paths[-1](inner | ends))

    def halved(counts: Any, _bits: Any) -> Any:
        return np.array(
            [
                paths[-1]([Fraction(comb(int(c), heads), 2 ** int(c)) for heads in range(c + 1)])
                for c in counts
            ],
            dtype=np.int64,
        )

    # The slow laws take rationals: e^x as a float, which the audit trusts to one part in 10⁹.

    def in_order(gaps: Any, count: int, _bits: Any) -> list[int]:
        weights = [Fraction(math.exp(-gaps.exact(place))) for place in range(gaps.size)]
        return list(paths[-1](_in_floats(one_shot_law(weights, count))))

    def all_at_once(counts: Any, k: int, *, scale: Fraction, **_: Any) -> list[int]:
        base = Fraction(math.exp(1 / scale))
        return list(paths[-1](_in_floats(joint_law([int(count) for count in counts], k, base))))

    def one_set(counts: Any, k: int, *, scale: Fraction, **_: Any) -> list[int]:
        base = Fraction(math.exp(1 / scale))
        return list(paths[-1](_in_floats(set_law([int(count) for count in counts], k, base))))

    def kept(weights: Any, *, keeping: Any, **_: Any) -> Any:
        chances = [keeping.ball(int(weight)) for weight in weights]
        return np.array([bool(paths[-1]([1 - chance, chance])) for chance in chances], dtype=bool)

    def with_its_lead(gaps: Any, _bits: Any, *, unit: Fraction) -> tuple[int, int]:
        """For two candidates: the signed lead of the first is Laplace noise around its true lead."""
        assert gaps.size == 2
        assert unit == 1

        def beyond(lead: int, true: Fraction) -> Any:
            half = (-abs(ball_of((lead - true) / gaps.scale))).exp() / 2
            return half if lead >= true else 1 - half

        law: dict[tuple[int, int], Any] = {}
        for place in range(2):
            true = (gaps.exact(1 - place) - gaps.exact(place)) * gaps.scale
            tails = [beyond(lead, true) for lead in range(LONGEST + 1)]
            shares = [one - two for one, two in pairwise(tails)]
            law |= {(place, lead): share for lead, share in enumerate([*shares, tails[-1]])}
        place, lead = paths[-1](law)
        return place, lead

    count_once(monkeypatch, COUNTED, lambda: TABLES[-1])
    let_choose(monkeypatch, selected)
    for place, stand_in in {
        "asking.noisy_count": counted,
        "top_k.noisy_first": in_order,
        "unknown_domain.kept": kept,
        "top_k.joint_first": all_at_once,
        "top_k.joint_set": one_set,
        "scoring.noisy_first_and_gap": with_its_lead,
        "quantiles.halved": halved,
        "quantiles.FINEST": 1,
        "run.SecureBits": Unexplained,
    }.items():
        module, name = place.split(".")
        monkeypatch.setattr(importlib.import_module(f"discreet.questions.{module}"), name, stand_in)
    return paths


def _in_floats(law: dict[Any, Fraction]) -> dict[Any, float]:
    return {answer: float(chance) for answer, chance in law.items()}


def people(table: tuple[Any, ...]) -> pl.DataFrame:
    rows = [
        (number, *(value if isinstance(value, tuple) else (value, "all")))
        for number, person in enumerate(table)
        for value in person
    ]
    return pl.DataFrame(
        rows, schema={"person": pl.Int64, "value": pl.String, "group": pl.String}, orient="row"
    )


def question(paths: list[Choose], ask: Callable[[Any], Any]) -> Any:
    def run(table: tuple[Any, ...], choose: Choose) -> Any:
        paths.append(choose)
        TABLES.append(table)
        try:
            return ask(people(table))
        finally:
            paths.pop()
            TABLES.pop()

    return unrolled(run)


def holds(law: Any, claim: Any, tables: Tables) -> Any:
    verdict = audit(law, claim, inputs=tables, effort="quick")
    assert verdict.worst is not None
    assert not any(isinstance(answer, Failure) for answer in verdict.worst.answers), verdict
    assert verdict.holds, str(verdict)
    return verdict


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_mode(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        return mode(
            table,
            "value",
            candidates=["a", "b", "c"],
            epsilon=1,
            user="person",
            neighbours=neighbours,
        ).answer

    tables = Tables([ONE, TWO, BOTH], rows=2, neighbours=neighbours)
    law = question(followed, ask)
    verdict = holds(law, PureDP(1), tables)
    assert verdict.measured > 0.9
    assert not audit(law, PureDP("0.9"), inputs=tables, effort="quick").holds


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_mode_with_its_count(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        release = mode(
            table,
            "value",
            candidates=["a", "b"],
            epsilon=2,
            user="person",
            with_count=True,
            count_share="0.5",
            neighbours=neighbours,
        )
        return release.answer, release.count

    tables = Tables([ONE, TWO], rows=2, neighbours=neighbours)
    law = question(followed, ask)
    verdict = holds(law, PureDP(2), tables)
    assert verdict.measured > 1
    assert not audit(law, PureDP("0.9"), inputs=tables, effort="quick").holds


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_top_k_by_peeling(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        return top_k(
            table,
            "value",
            k=2,
            candidates=["a", "b", "c"],
            epsilon=1,
            user="person",
            method="peeling",
            neighbours=neighbours,
        ).answer

    tables = Tables([ONE, TWO, BOTH], rows=2, neighbours=neighbours)
    verdict = holds(question(followed, ask), PureDP(1), tables)
    assert verdict.measured > 0.6


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize(("method", "least"), [("one-shot", 0.7), ("joint", 0.35), ("set", 0.35)])
def test_top_k_at_once(followed: list[Choose], method: str, least: float, neighbours: str) -> None:
    def ask(table: Any) -> Any:
        return top_k(
            table,
            "value",
            k=2,
            candidates=["a", "b", "c"],
            epsilon=1,
            user="person",
            method=method,
            ordered=method != "set",
            neighbours=neighbours,
        ).answer

    tables = Tables([ONE, TWO, BOTH], rows=2, most=3, neighbours=neighbours)
    law = question(followed, ask)
    verdict = holds(law, PureDP(1), tables)
    assert verdict.measured > least
    assert not audit(law, PureDP(str(least)), inputs=tables, effort="quick").holds


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_mode_with_its_lead(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        release = mode(
            table,
            "value",
            candidates=["a", "b"],
            epsilon=1,
            user="person",
            with_gap=True,
            neighbours=neighbours,
        )
        return release.answer, release.gap

    tables = Tables([ONE, TWO, BOTH], rows=2, most=3, neighbours=neighbours)
    law = question(followed, ask)
    verdict = holds(law, PureDP(1), tables)
    assert verdict.measured > 0.9
    assert not audit(law, PureDP("0.9"), inputs=tables, effort="quick").holds


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_several_quantiles(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        numbers = table.with_columns(
            pl.col("value").replace_strict({"a": 0, "b": 1}, return_dtype=pl.Int64)
        )
        return quantiles(
            numbers,
            "value",
            at=["0.25", "0.75"],
            bounds="0:1",
            epsilon=1,
            user="person",
            neighbours=neighbours,
        ).answer

    tables = Tables([ONE, TWO], rows=2, most=2, neighbours=neighbours)
    verdict = holds(question(followed, ask), PureDP(1), tables)
    assert verdict.measured > 0.15


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_an_unknown_domain(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        return mode(
            table,
            "value",
            epsilon=1,
            delta="0.2",
            user="person",
            considered=2,
            neighbours=neighbours,
        ).answer

    tables = Tables([ONE, TWO, BOTH], rows=2, neighbours=neighbours)
    law = question(followed, ask)
    holds(law, ApproxDP(1, "0.2"), tables)
    assert not audit(law, PureDP(1), inputs=tables, effort="quick").holds


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_one_answer_for_each_group(followed: list[Choose], neighbours: str) -> None:
    def ask(table: Any) -> Any:
        answer = mode(
            table,
            "value",
            candidates=["a", "b"],
            epsilon=1,
            user="person",
            by="group",
            groups=["north", "south"],
            neighbours=neighbours,
        ).answer
        return tuple(sorted(answer.items())) if isinstance(answer, dict) else repr(answer)

    here = [((value, place),) for value in "ab" for place in ("north", "south")]
    tables = Tables(here, rows=2, most=2, neighbours=neighbours)
    verdict = holds(question(followed, ask), PureDP(1), tables)
    assert verdict.measured > 0.45


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("unequal", ["ratios", "largest"])
def test_a_score_with_unequal_sensitivities(
    followed: list[Choose], unequal: str, neighbours: str
) -> None:
    """One candidate's score counts people, another's counts five per person."""
    worth = {"a": 1, "b": 5, "c": 0}

    def score(table: Any, candidate: str) -> int:
        return worth[candidate] * len(set(table.filter(pl.col("value") == candidate)["person"]))

    def ask(table: Any) -> Any:
        return select_by(
            table,
            candidates=list(worth),
            score=score,
            sensitivity=list(worth.values()),
            monotonic=neighbours == "add-remove",
            unequal=unequal,
            epsilon=1,
            neighbours=neighbours,
        ).answer

    tables = Tables([ONE, TWO, BOTH], rows=2, most=3, neighbours=neighbours)
    law = question(followed, ask)
    verdict = holds(law, PureDP(1), tables)
    assert verdict.measured > 0.45


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_top_k_of_values_kept_by_weights(followed: list[Choose], neighbours: str) -> None:
    """There are two rounds of weights, then a choice among the kept values; one person has two values."""

    def ask(table: Any) -> Any:
        release = top_k(
            table,
            "value",
            k=2,
            epsilon=2,
            delta="0.2",
            values_per_person=2,
            user="person",
            neighbours=neighbours,
        )
        assert "weights" in release.mechanism
        return release.answer

    tables = Tables([ONE, TWO, BOTH], rows=2, neighbours=neighbours)
    law = question(followed, ask)
    holds(law, ApproxDP(2, "0.2"), tables)
    assert not audit(law, ApproxDP(2, "0.02"), inputs=tables, effort="quick").holds
