"""``discreet claims`` and ``discreet reproduce``: their output, files and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from discreet._cli import app
from discreet.errors import DiscreetError, ParameterError
from discreet.papers import VERDICTS, Claim, Finding, Scope, all_claims, catalogue
from discreet.papers.catalogue import PAPERS
from discreet.papers.histograms import path_of
from tests.tools.waiting import PATIENCE

runner = CliRunner()
FIELDS = {
    "id": str,
    "paper": str,
    "number": str,
    "statement": str,
    "verdict": str,
    "covered": str,
    "evidence": str,
    "numbers": dict,
    "witness": dict | None,
    "seconds": float,
}


def test_json_is_a_list_of_objects_and_nothing_else_is_on_stdout() -> None:
    result = runner.invoke(app, ["claims", "--quick", "--paper", "noisy-max", "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [entry["id"] for entry in found] == [
        e.id for e in all_claims() if e.paper == "noisy-max"
    ]
    for entry in found:
        assert set(entry) == set(FIELDS)
        for name, kind in FIELDS.items():
            assert isinstance(entry[name], kind), (entry["id"], name)
        assert entry["verdict"] in VERDICTS


def test_the_table_names_claims_and_verdicts() -> None:
    result = runner.invoke(app, ["claims", "--quick", "--only", "noisy-max/proposition-8"])
    assert result.exit_code == 0
    assert "Proposition 8" in result.stdout
    assert "refuted" in result.stdout
    assert "1 claim" in result.stdout


def test_reports_are_written(tmp_path: Path) -> None:
    page, text = tmp_path / "claims.html", tmp_path / "claims.md"
    arguments = [
        "claims",
        "--quick",
        "--only",
        "theorem-5",
        "--html",
        str(page),
        "--markdown",
        str(text),
    ]
    assert runner.invoke(app, arguments).exit_code == 0
    assert "Theorem 5" in page.read_text(encoding="utf-8")
    assert "Theorem 5" in text.read_text(encoding="utf-8")


def test_list_runs_nothing() -> None:
    result = runner.invoke(app, ["claims", "--list"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(all_claims())
    listed = json.loads(runner.invoke(app, ["claims", "--list", "--json"]).stdout)
    assert {"id", "statement"} == set(listed[0])


def test_the_help_lists_every_paper() -> None:
    shown = " ".join(runner.invoke(app, ["claims", "--help"]).output.split())
    assert [paper for paper in PAPERS if paper not in shown] == []


@pytest.mark.parametrize(
    "wrong", [["--paper", "nobody"], ["--only", "nothing"], ["--data", "no-such-folder"]]
)
def test_wrong_input_is_an_error_of_parameters(wrong: list[str]) -> None:
    result = runner.invoke(app, ["claims", *wrong])
    assert isinstance(result.exception, ParameterError)  # main() makes it exit status 2


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "claims.html"
    result = runner.invoke(app, ["claims", "--quick", "--only", "lemma-7", "--html", str(target)])
    assert isinstance(result.exception, DiscreetError)  # main() makes it exit status 3
    assert "claims.html" in str(result.exception)


def test_a_failed_check_gives_status_three(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_scope: Scope) -> Finding:
        raise ArithmeticError("undecided")

    entry = Claim("discreet", "Broken", "It breaks.", broken)
    monkeypatch.setitem(catalogue._CLAIMS, entry.id, entry)
    result = runner.invoke(app, ["claims", "--only", "discreet/broken", "--json"])
    assert result.exit_code == 3
    assert json.loads(result.stdout)[0]["verdict"] == "failed"


# ---- discreet reproduce ------------------------------------------------------------------------------


def _discreet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from discreet._cli import main; main()", "reproduce", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_list_needs_no_drawing() -> None:
    done = _discreet("--list", "--only", "fig3", "--json")
    assert done.returncode == 0
    assert [row["id"] for row in json.loads(done.stdout)] == ["pf-fig3a", "pf-fig3b", "pf-fig3c"]


def test_wrong_input_is_status_2(tmp_path: Path) -> None:
    done = _discreet("--only", "fig99", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "fig99" in done.stderr
    done = _discreet("--data", str(tmp_path / "nowhere"), "--out", str(tmp_path))
    assert done.returncode == 2
    assert "nowhere" in done.stderr


def test_without_data_it_draws_and_says_where_data_come_from(tmp_path: Path) -> None:
    done = _discreet("--quick", "--only", "pf-fig3c", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)[0]
    assert result["synthetic"]
    assert result["error"] is None
    assert "DPBench" in done.stderr
    assert (tmp_path / "index.html").is_file()
    # A second run with another figure keeps the figures already on the page.
    done = _discreet("--quick", "--only", "pf-fig1a", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "1 of 1 figures drawn" in done.stdout
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "pf-fig1a</a>" in page
    assert "pf-fig3c</a>" in page


def test_a_bad_file_is_named_on_stderr_with_status_3(tmp_path: Path) -> None:
    np.save(path_of(tmp_path, "HEPTH"), np.ones(17))
    out = tmp_path / "out"
    done = _discreet(
        "--quick",
        "--only",
        "pf-fig3a",
        "--only",
        "pf-fig4",
        "--data",
        str(tmp_path),
        "--out",
        str(out),
    )
    assert done.returncode == 3
    assert str(path_of(tmp_path, "HEPTH")) in done.stderr
    assert (out / "figures" / "pf-fig4.png").is_file()
    assert not (out / "figures" / "pf-fig3a.png").exists()


def test_an_unwritable_folder_is_status_3(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = _discreet("--quick", "--only", "pf-fig4", "--out", str(tmp_path / "file"))
    assert done.returncode == 3
    assert str(tmp_path / "file") in done.stderr
