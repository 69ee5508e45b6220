"""A study's answers as files and as a report."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from discreet import Study
from discreet.ledger import Ledger
from discreet.study.answers import FILES
from tests.tools.studies import AGE, CLINICS, DIAGNOSIS, TOP

Write = Callable[..., Path]


def test_files_and_report(written: Write, ledger: Ledger, tmp_path: Path) -> None:
    study = Study.read(
        written(
            DIAGNOSIS,
            AGE.replace('name = "age"', 'name = "<i>a*ge"'),
            CLINICS,
            TOP,
            head="epsilon = 2",
        )
    )
    answers = study.run(ledger=ledger)
    paths = answers.write(tmp_path / "out")
    assert [path.name for path in paths] == list(FILES)
    data = json.loads(paths[1].read_text())
    assert data == json.loads(json.dumps(answers.as_data()))
    with paths[2].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1 + 1 + 2 * 2 + 2
    assert [row["group"] for row in rows if row["question"] == "ages by clinic"] == [
        "north"
    ] * 2 + ["south"] * 2
    assert pl.read_parquet(paths[3])["answer"].to_list() == [row["answer"] for row in rows]
    report, page = paths[4].read_text(), paths[5].read_text()
    assert "&lt;i&gt;a\\*ge" in report
    assert "<i>" not in page
    assert answers.plan.hash in page
    assert "4 questions answered" in answers.conclusion
    assert "<h4>diagnosis</h4>" in answers._repr_html_()
    assert "diagnosis: flu" in repr(answers)
    assert "ages by clinic:\n  north, 0.25: " in repr(answers)
