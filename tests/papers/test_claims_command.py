"""``discreet claims``: JSON, files, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.errors import DiscreetError, ParameterError
from discreet.papers import VERDICTS, Claim, Finding, Scope, all_claims, catalogue

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
    assert "1 claims" in result.stdout


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
