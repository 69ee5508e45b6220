"""A study's file that asks a desk: planned for nothing, run, and run again at no further cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import Study
from discreet.desk import connect
from discreet.study import StudyError
from tests.tools.desks import Caller

STUDY = """
[study]
title = "Winter"
epsilon = 3
[table.visits]
source = "desk:visits"
[[question]]
name = "diagnosis"
ask = "mode"
column = "diagnosis"
{more}
[[question]]
name = "age"
ask = "median"
column = "age"
epsilon = 1
"""


@pytest.fixture(autouse=True)
def at_a_desk(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_DESK", call.url)
    monkeypatch.setenv("DISCREET_DESK_TOKEN", str(call.token))


def test_planned_run_and_run_again(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(more=""))
    study = Study.read(file)
    before = connect().table("visits").left
    plan = study.plan()
    assert [float(line.cost) for line in plan.lines] == [2, 1]
    assert plan.fits
    assert plan.lines[0].judgement == "useful"
    assert connect().table("visits").left == before
    first = study.run(signed=plan.hash)
    paid = connect().table("visits").left
    assert paid != before
    again = study.run(signed=plan.hash)
    assert [each.kept for each in again.answered] == [each.kept for each in first.answered]
    assert connect().table("visits").left == paid


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('candidates = "codes.txt"', "candidates.* decided by the owner"),
        ("error_at_most = 5", "a desk is asked with epsilon"),
    ],
)
def test_what_the_owner_decides_is_refused(tmp_path: Path, more: str, words: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(more=more))
    with pytest.raises(StudyError, match=words):
        Study.read(file).plan()


def test_a_desk_and_a_table_in_hand_are_two_studies(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    mixed = STUDY.format(more='table = "visits"').replace(
        'column = "age"', 'column = "age"\ntable = "own"'
    )
    own = '[table.own]\nsource = "a.csv"\nuser = "a"\n[[question]]'
    file.write_text(mixed.replace("[[question]]", own, 1))
    with pytest.raises(StudyError, match="make two studies"):
        Study.read(file)
