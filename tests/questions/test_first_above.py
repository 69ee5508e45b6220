"""The first group above a threshold: on every engine, under both relations, with its rules."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import discreet
from discreet import PureDP
from discreet.errors import BudgetExceededError, ParameterError
from discreet.ledger import Ledger
from discreet.questions import first_above

WEEKS = [f"2026-W{week:02}" for week in (1, 2, 3) for _ in range(300 * week)]
COLUMNS: dict[str, list[Any]] = {"patient": list(range(1800)), "week": WEEKS}
GROUPS = ["2026-W01", "2026-W02", "2026-W03", "2026-W04"]
TERMS: dict[str, Any] = {"groups": GROUPS, "above": 450, "epsilon": 2, "user": "patient"}


@pytest.mark.skips_engines(objects="weeks on a column of objects are refused: it declares nothing")
def test_on_every_table(table_in: Callable[[Any], Any]) -> None:
    """The noise is a few people, the margin a hundred and fifty: an error happens once in 10³⁰."""
    assert first_above(table_in(COLUMNS), "week", **TERMS).answer == "2026-W02"


def test_people_are_counted_once_and_strangers_are_left_out() -> None:
    frame = pl.DataFrame(
        {
            "patient": [1] * 5000 + [None] * 5000 + list(range(2000, 3000)),
            "week": ["2026-W01"] * 10_000 + ["2026-W03"] * 500 + ["elsewhere"] * 500,
        }
    )
    assert first_above(frame, "week", **TERMS | {"above": 200}).answer == "2026-W03"
    assert first_above(frame, "week", **TERMS | {"above": 900}).answer is None


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_relations(neighbours: str) -> None:
    release = first_above(pl.DataFrame(COLUMNS), "week", **TERMS, neighbours=neighbours)
    assert release.answer == "2026-W02"
    assert release.guarantee == PureDP(2)
    # A replaced person moves counts in both directions: more noise at the same cost.
    deviation = {"add-remove": "1.41", "replace": "2.08"}[neighbours]
    assert any(f"standard deviation of {deviation}" in rule for rule in release.rules)
    assert "answer_pure_dp, checked by Coq" in str(release.guarantee.proof)


def test_several_and_their_gaps() -> None:
    release = first_above(pl.DataFrame(COLUMNS), "week", **TERMS, crossings=3, with_gap=True)
    assert release.answer == ("2026-W02", "2026-W03")
    assert all(abs(gap - true) < 60 for gap, true in zip(release.gap, (150, 450), strict=True))
    assert "2026-W03 (with noise, " in str(release)
    assert "the first 3 that reach it are named" in str(release)
    one = first_above(pl.DataFrame(COLUMNS), "week", **TERMS, with_gap=True)
    assert one.answer == "2026-W02"
    assert isinstance(one.gap, int)


def test_none_of_them() -> None:
    high = TERMS | {"above": 5000}
    release = first_above(pl.DataFrame(COLUMNS), "week", **high, with_gap=True, with_people=True)
    assert release.answer is None
    assert release.gap is None
    assert str(release).startswith("none of them\n")
    assert first_above(pl.DataFrame(COLUMNS), "week", **high, crossings=2).answer == ()
    empty = pl.DataFrame(
        {"patient": [], "week": []}, schema={"patient": pl.Int64, "week": pl.String}
    )
    assert first_above(empty, "week", **TERMS).answer is None


def test_dates_and_numbers_by_range() -> None:
    first = datetime.date(2026, 3, 1)
    days = [
        first + datetime.timedelta(days=day) for day in range(4) for _ in range(100 + 300 * day)
    ]
    frame = pl.DataFrame(
        {"patient": range(len(days)), "day": days, "number": [d.day for d in days]}
    )
    terms = {**TERMS, "above": 300}
    dated = first_above(frame, "day", **terms | {"groups": "2026-03-01:2026-03-31"})
    assert str(dated.answer) == "2026-03-02"
    assert first_above(frame, "number", **terms | {"groups": "1:31"}).answer in (2, "2")


def test_the_ledger_is_told_before_a_row_is_read(tmp_path: Path) -> None:
    with Ledger.open(str(tmp_path / "budget.db")) as ledger:
        ledger.create("clinic", PureDP(3))
        visits = discreet.table(
            pl.DataFrame(COLUMNS), user="patient", ledger=ledger, dataset="clinic"
        )
        given: dict[str, Any] = {
            "groups": GROUPS,
            "above": 450,
            "epsilon": 2,
            "where": "week != '2026-W02'",
        }
        release = visits.first_above("week", **given)
        assert release.answer == "2026-W03"
        assert visits.left == "ε = 1"
        assert "first above 450 of week" in str(ledger.history("clinic"))
        assert "Only rows with week != '2026-W02' count" in str(release)
        with pytest.raises(BudgetExceededError):
            visits.first_above("week", **given)
        wrongs: list[dict[str, Any]] = [
            {"above": "many"},
            {"groups": None},
            {"groups": ["a", "a"]},
            {"groups": "2026-W05:2026-W01"},
            {"crossings": 0},
            {"mechanism": "exponential"},
            {"epsilon": 0},
        ]
        for wrong in wrongs:
            with pytest.raises(ParameterError):
                visits.first_above("week", **{**given, "epsilon": 1, **wrong})
        with pytest.raises(TypeError, match="by"):
            visits.first_above("week", **given, by="week")  # type: ignore[call-arg]
        assert visits.left == "ε = 1"


def test_laplace_noise_for_comparison() -> None:
    release = first_above(
        pl.DataFrame(COLUMNS), "week", **TERMS, mechanism="above-threshold-laplace"
    )
    assert release.answer == "2026-W02"
    assert release.mechanism == "above-threshold-laplace"
    assert "above_threshold_laplace_pure_dp" in str(release.guarantee.proof)


def test_more_crossings_than_groups_would_waste_the_budget() -> None:
    with pytest.raises(ParameterError, match="at most the number of groups, 4"):
        first_above(pl.DataFrame(COLUMNS), "week", **TERMS, crossings=5)
    with pytest.raises(ParameterError, match="groups"):
        first_above(pl.DataFrame(COLUMNS), "week", **TERMS | {"groups": "nowhere.txt"})


def test_a_frame_may_have_a_column_called_by() -> None:
    frame = pd.DataFrame({"person": range(600), "week": ["1"] * 600, "by": [None] * 600})
    asked: dict[str, Any] = {"groups": ["1", "2"], "above": 300, "epsilon": 5, "user": "person"}
    assert first_above(frame, "week", **asked).answer == "1"
