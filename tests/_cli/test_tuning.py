"""``discreet tuning``: the table, JSON, a chart, an audit, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result

from discreet._cli import app
from discreet._cli.tuning import _chances
from discreet.errors import ParameterError


class Offer(NamedTuple):
    top_tenth: float
    top_hundredth: float
    none: float


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["tuning", *words])


def test_the_table_for_the_law_asked_and_the_usual_ones() -> None:
    done = run(
        *["--epsilon-per-run", "1", "--runs-mean", "40", "--distribution", "negative-binomial:0.5"]
    )
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0].startswith("A truncated negative binomial number of runs (shape 0.5, mean 40)")
    assert lines[1].startswith("The cheapest in this table is a logarithmic number of runs")
    assert lines[4].startswith("truncated negative binomial, shape 0.5, mean 40")
    assert "2.46" in lines[4]
    assert "fixed number of 40 runs" in done.output


def test_no_chance_is_shown_better_than_it_is() -> None:
    assert _chances(Offer(0.98765, 0.12349, 0.01231)) == ["98.7%", "12.3%", "1.24%"]
    assert _chances(Offer(0.9, 0.1, 0.0))[2] == "never"


def test_json() -> None:
    done = run(
        *("--rho-per-run", "0.01", "--delta", "1e-6", "--runs-mean", "4"),
        *("--distribution", "logarithmic", "--json"),
    )
    assert done.exit_code == 0
    first = json.loads(done.stdout)[0]
    assert first["runs"].startswith("logarithmic")
    assert first["guarantee"].startswith("ApproxDP(")
    assert "docs/proofs/tuning.md" in first["proof"]


def test_a_chart(tmp_path: Path) -> None:
    chart = tmp_path / "tuning.svg"
    told = ("--epsilon-per-run", "1", "--runs-mean", "4", "--distribution", "geometric")
    assert run(*told, "--chart", str(chart)).exit_code == 0
    assert "<svg" in chart.read_text(encoding="utf-8")[:200]


def test_an_audit_refutes_what_people_claim() -> None:
    told = ["--epsilon-per-run", "1", "--runs-mean", "5", "--distribution", "fixed", "--claim"]
    refuted = run(*told, "1")
    assert refuted.exit_code == 1
    assert refuted.output.startswith("Refuted (fixed number of 5 runs): a loss of 5.0")
    assert run(*told, "5").exit_code == 0
    found = json.loads(run(*told, "1", "--json").stdout)[0]["audit"]
    assert not found["holds"]
    assert len(found["run"]) == 3


def test_a_target() -> None:
    done = run(*["--epsilon-per-run", "1", "--runs-mean", "200", "--target"])
    assert done.exit_code == 0
    assert "1.99" in done.output


@pytest.mark.parametrize(
    "words",
    [
        "--runs-mean 5",
        "--epsilon-per-run 1",
        "--epsilon-per-run 0 --runs-mean 5",
        "--epsilon-per-run 1 --rho-per-run 1 --runs-mean 5",
        "--rho-per-run 1 --runs-mean 5",
        "--epsilon-per-run 1 --runs-mean 1",
        "--epsilon-per-run 1 --runs-mean 5 --distribution negative-binomial:-1",
        "--epsilon-per-run 1 --runs-mean 5 --distribution uniform",
        "--epsilon-per-run 1 --runs-mean 5 --target --distribution poisson",
        "--rho-per-run 1 --delta 0.1 --runs-mean 5 --claim 3",
        "--epsilon-per-run 1 --runs-mean 5 --chart tuning.doc",
    ],
)
def test_wrong_input(words: str) -> None:
    done = run(*words.split())
    assert done.exit_code == 2 or isinstance(done.exception, ParameterError)
