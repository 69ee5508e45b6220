"""``discreet study``: plan, sign, run and verify."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from discreet._cli import app

STUDY = """
[study]
title = "Winter"
dataset = "clinic"
[table.visits]
source = "visits.parquet"
user = "patient"
[[question]]
name = "diagnosis"
ask = "mode"
column = "diagnosis"
candidates = ["flu", "cold"]
epsilon = 1
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["study", *words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pl.DataFrame(
        {"patient": range(300), "diagnosis": ["flu"] * 200 + ["cold"] * 100}
    ).write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path / "budget.db"))
    made = CliRunner().invoke(app, ["budget", "create", "clinic", "--epsilon", "2"])
    assert made.exit_code == 0
    return tmp_path


def test_plan_sign_run_verify(folder: Path) -> None:
    file = str(folder / "study.toml")
    chart = folder / "study.svg"
    planned = run("plan", file, "--chart", str(chart))
    assert planned.exit_code == 0, planned.output
    assert "it fits" in planned.stdout
    assert "<svg" in chart.read_text()[:300]
    signed = json.loads(run("plan", file, "--json").stdout)["hash"]
    assert f"hash {signed}" in planned.stdout
    assert run("run", file, "--signed", "0" * 64).exit_code == 1
    done = run("run", file, "--signed", signed, "--out", str(folder / "out"))
    assert done.exit_code == 0, done.output
    assert done.stdout == "diagnosis: flu\n"
    assert "1 question answered, for ε = 1 in all." in done.stderr
    assert json.loads(run("run", file, "--json").stdout)["hash"] == signed
    record = folder / "out" / "answers.json"
    checked = CliRunner().invoke(app, ["verify", str(record)])
    assert checked.exit_code == 0, checked.output
    record.write_text(record.read_text().replace('"answer": "flu"', '"answer": "cold"'))
    refuted = CliRunner().invoke(app, ["verify", str(record), "--json"])
    assert refuted.exit_code == 1
    assert not json.loads(refuted.stdout)["holds"]


def test_a_wrong_file_is_told_with_its_lines(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY.replace('"mode"', '"mood"'))
    told = run("plan", str(folder / "study.toml"))
    assert isinstance(told.exception, ValueError)
    assert "line 10, ask = 'mood'" in str(told.exception)
