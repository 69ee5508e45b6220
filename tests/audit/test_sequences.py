"""The audit of streams: findings, certificates and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import ZCDP, AboveThreshold, PureDP
from discreet.audit import Regular, StreamSubject, StreamWitness, audit
from discreet.audit.sequences import _least_nearby, audit_stream
from discreet.errors import ParameterError
from discreet.mechanisms import CrossingRule
from discreet.papers.sparse_vector import variants

SIX = variants(Fraction(1), 1)


def test_the_bound_is_attained_from_two_values_on_and_by_no_less() -> None:
    rule = CrossingRule(1, threshold=7, sensitivity="0.3")
    two = audit(rule, PureDP(1), n=2)
    assert two.status == "proved"
    assert two.measured == pytest.approx(1, abs=1e-12)
    assert audit(rule, PureDP(1), n=1).measured < 0.9
    below = audit(rule, PureDP("0.999"), n=(1, 2))
    assert below.status == "refuted"
    assert isinstance(below.witness, StreamWitness)
    assert below.witness.answers == ("below", "above")
    assert "the answers below, above have probability" in str(below)
    assert below.as_dict()["witness"]["times"] == [1, 1]
    assert "lists of answers of up to 2 values" in below.coverage


def test_a_watch_is_audited_by_its_rule() -> None:
    watch = AboveThreshold(1, threshold=500, sensitivity=1, monotonic=True)
    assert isinstance(watch.rule, StreamSubject)
    assert audit(watch, PureDP(1), n=2).status == "proved"
    # A promise for values that all move in one direction does not cover other values.
    general = audit(watch, PureDP(1), n=2, monotonic=False)
    assert general.status == "refuted"
    assert general.measured == pytest.approx(1.5, abs=1e-9)


def test_the_six_variants() -> None:
    """The search refutes the four wrong variants and does not refute the right ones."""
    found = {
        number: audit_stream(variant, PureDP(1), lengths=(1, 2), blocks=True)
        for number, variant in SIX.items()
    }
    assert [number for number, verdict in found.items() if not verdict.holds] == [
        "3",
        "4",
        "5",
        "6",
    ]
    assert all(verdict.status != "proved" for verdict in found.values())
    assert found["4"].measured == pytest.approx(7 / 4, abs=1e-6)
    assert found["5"].measured == math.inf
    witness = found["5"].witness
    assert witness is not None
    assert len(witness.scores) == 2
    assert witness.probability > witness.neighbour_probability == 0
    assert min(found["3"].measured, found["6"].measured) > 10
    same_way = audit_stream(SIX["4"], PureDP(1), monotonic=True, lengths=(1, 2), blocks=True)
    assert same_way.holds
    assert same_way.measured == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("number", SIX)
def test_floats_of_the_variants_agree_with_balls(number: str) -> None:
    variant = variants(Fraction(1), 2)[number]
    above: Any = Fraction(1) if variant.releases_numbers else True
    answers, times = (False, above, False, above), (3, 1, 1, 1)
    rows = np.array([[-1.0, 2.0, 0.5, 1.0], [0.0, 1.0, -2.0, 1.0], [2.0, 1.0, 2.0, 1.0]])
    logs = variant.sequence_logs(rows, answers, times)
    for row, log in zip(rows, logs, strict=True):
        ball = variant.sequence_ball(row.tolist(), answers, times)
        if ball.is_zero():
            assert log == -math.inf
        else:
            assert log == pytest.approx(float(ball.log()), abs=1e-9)


@pytest.mark.parametrize("moves", [(-1, 0, 1), (0, 1), (0, -1)])
def test_the_filter_looks_at_every_neighbour(moves: tuple[int, ...]) -> None:
    """Compare with brute force on a small lattice of three values."""
    logs = np.random.default_rng(3).normal(size=(4, 4, 4))
    least, taken = _least_nearby(logs, moves)
    for place in product(range(4), repeat=3):
        near = [
            logs[other]
            for other in (tuple(np.add(place, move)) for move in product(moves, repeat=3))
            if min(other) >= 0 and max(other) < 4
        ]
        assert least[place] == min(near)
        assert logs[tuple(np.add(place, taken[(slice(None), *place)]).tolist())] == least[place]


def test_a_stream_nobody_knows() -> None:
    """For a user's object that has only a law, the verdict can only be "not refuted"."""

    class Silent:
        sensitivity, middle, crossings = Fraction(1), Fraction(0), 1

        def sequence_logs(self, rows: Any, answers: Any, times: Any) -> Any:
            return np.full(len(rows), -sum(times) * math.log(2))

        def sequence_ball(self, values: Any, answers: Any, times: Any = None, *, bits: int) -> Any:
            from flint import arb

            return arb(1) / 2 ** len(answers)

    verdict = audit(Silent(), PureDP(0), n=(1, 2))
    assert verdict.status == "not refuted"
    assert verdict.measured == 0


def test_what_is_refused() -> None:
    rule = CrossingRule(1, threshold=0, sensitivity=1)
    claims: list[Any] = [ZCDP(1), Regular()]
    for claim in claims:
        with pytest.raises(ParameterError, match="PureDP"):
            audit(rule, claim)
    for wrong in (0, 9, ()):
        with pytest.raises(ParameterError, match="n="):
            audit(rule, PureDP(1), n=wrong)
    with pytest.raises(ParameterError, match="monotonic"):
        audit_stream(rule, PureDP(1), monotonic="yes")  # type: ignore[arg-type]
