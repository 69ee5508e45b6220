from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from discreet._cli import app, output
from discreet._cli.observatory import by_verdict
from discreet.errors import ParameterError

RUNNER = CliRunner()
ONE = "wrong:candidates-from-the-data"


def test_the_table_names_library_version_claim_and_witness() -> None:
    result = RUNNER.invoke(app, ["observatory", "--only", ONE, "--markdown"])
    assert result.exit_code == 0
    assert "| wrong | " in result.stdout
    assert "PureDP(1)" in result.stdout
    assert "| refuted | ε ≥ ∞; rows ('a') and ()" in result.stdout


def test_people_see_the_verdict_first_in_lines_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "screen_width", lambda **_: 80)
    result = RUNNER.invoke(app, ["observatory", "--only", ONE])
    lines = result.stdout.splitlines()
    assert lines[0] == "1 claim: 1 refuted, 0 suspect, 0 neither."
    assert lines[2].startswith("refuted  wrong ")
    assert lines[3].startswith("  claims PureDP(1)")
    assert all(len(line) <= 80 for line in lines)
    rows = [
        {"verdict": words} for words in ("not refuted", "could not be run", "refuted", "suspect")
    ]
    assert [row["verdict"] for row in sorted(rows, key=by_verdict)] == [
        *("refuted", "suspect", "could not be run", "not refuted"),
    ]


def test_json_has_everything_that_was_found() -> None:
    result = RUNNER.invoke(app, ["observatory", "--only", ONE, "--json"])
    (row,) = json.loads(result.stdout)
    assert row["verdict"] == "refuted"
    assert row["details"]["witness"]["relation"] == "add-remove"


def test_a_library_that_is_absent_is_left_out_and_named() -> None:
    result = RUNNER.invoke(app, ["observatory", "--only", "dp_topk"])
    assert result.exit_code == 0
    assert "Not installed here: dp_topk" in result.output


def test_an_unknown_library_is_refused() -> None:
    result = RUNNER.invoke(app, ["observatory", "--only", "nothing"])
    assert isinstance(result.exception, ParameterError)
    assert "a library (diffprivlib, opendp, mbi," in str(result.exception)
    assert ONE in str(result.exception)


def test_one_line_is_run_again_by_name() -> None:
    result = RUNNER.invoke(app, ["audit", ONE, "--epsilon", "1"])
    assert result.exit_code == 1
    assert "is not PureDP(1): refuted" in result.stdout
    refused = RUNNER.invoke(app, ["audit", ONE, "--claim", "pure:1"])
    assert isinstance(refused.exception, ParameterError)
    absent = RUNNER.invoke(app, ["audit", "dp_topk:pnf_peeling_mechanism", "--epsilon", "1"])
    assert isinstance(absent.exception, ParameterError)
