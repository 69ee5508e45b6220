from __future__ import annotations

import math
from typing import Any

import pytest

from discreet import Exponential, PermuteAndFlip, Scores
from discreet.analysis import compare, error_quantile, error_tail, error_variance, expected_error
from discreet.analysis.comparison import epsilon_list
from discreet.errors import ParameterError

SCORES = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)


def test_rows_are_the_figures_of_the_single_functions() -> None:
    table = compare(SCORES, [PermuteAndFlip, Exponential], ["0.1", 1])
    assert [(row.mechanism, row.epsilon) for row in table] == [
        ("permute-and-flip", 0.1),
        ("permute-and-flip", 1.0),
        ("exponential", 0.1),
        ("exponential", 1.0),
    ]
    row, mechanism = table[2], Exponential(epsilon="0.1")
    assert row.expected_error == pytest.approx(expected_error(mechanism, SCORES))
    assert row.error_deviation == pytest.approx(math.sqrt(error_variance(mechanism, SCORES)))
    assert row.error_95 == error_quantile(mechanism, SCORES, "0.95")
    assert row.best_probability == pytest.approx(1 - error_tail(mechanism, SCORES, 1))
    assert row.ratio == pytest.approx(row.expected_error / table[0].expected_error)
    assert row.private


def test_defaults_and_frames() -> None:
    table = compare(SCORES)
    assert {row.mechanism for row in table} == {
        "permute-and-flip",
        "exponential",
        "noisy-max-laplace",
    }
    frame = table.frame()
    assert len(frame) == len(table)
    assert list(frame.columns)[:3] == ["mechanism", "epsilon", "expected_error"]


def test_mechanisms_without_a_proof_are_marked() -> None:
    table = compare(SCORES, ["exponential-randomized-response"], 1)
    assert not table[0].private


def test_ties_have_no_ratio() -> None:
    table = compare(Scores([1, 1], sensitivity=1), [PermuteAndFlip, Exponential], 1)
    assert [row.best_probability for row in table] == [1.0, 1.0]
    assert all(row.ratio is None for row in table)


def test_ranges() -> None:
    assert [float(e) for e in epsilon_list("0.1:10:5")] == pytest.approx([0.1, 0.32, 1, 3.2, 10])
    assert [float(e) for e in epsilon_list("0.1:0.2")] == [0.1, 0.12, 0.15, 0.2]
    assert [float(e) for e in epsilon_list("0.001:10")] == [
        *(0.001, 0.01, 0.1, 1, 10),
    ]
    for ends in ("1e-30:1e30", "0.11:0.12", "0.3:70", "1e-400:1"):
        points = epsilon_list(ends)
        assert points == sorted(set(points))
        assert 2 <= len(points) <= 10
    assert len(epsilon_list("0.1:0.101:40")) == 11  # nine four-digit values between the ends
    assert [float(e) for e in epsilon_list("0.5, 1")] == [0.5, 1.0]
    assert [float(e) for e in epsilon_list((1, 2))] == [1.0, 2.0]


@pytest.mark.parametrize(
    "bad",
    [
        "2:0.1",
        "1:1",
        "0:1",
        "-1:1",
        "",
        "a:b",
        "1:2:0",
        "1:2:x",
        "1:2:3:4",
        [],
        [1, 1],
        float("nan"),
        0,
        "1:inf",
    ],
)
def test_bad_ranges_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        compare(SCORES, PermuteAndFlip, bad)


def test_bad_mechanisms_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        compare(SCORES, [])
    with pytest.raises(ParameterError, match="once"):
        compare(SCORES, [PermuteAndFlip, "permute-and-flip"])
