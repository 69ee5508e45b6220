from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import ZCDP, ApproxDP, PureDP
from discreet.audit import Regular
from discreet.cli import app
from discreet.cli.audit import parse_claim
from discreet.errors import ParameterError

RUNNER = CliRunner()
OWN = """
import numpy as np

def probabilities(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()

class Mine:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def probabilities(self, scores):
        weights = np.exp(self.epsilon * (scores - scores.max()) / float(scores.range_distance))
        return weights / weights.sum()
"""


def test_a_refuted_claim_exits_with_one() -> None:
    result = RUNNER.invoke(
        app,
        ["audit", "permute-and-flip", "--epsilon", "1", "--claim", "bounded-range:1", "-n", "2"],
    )
    assert result.exit_code == 1
    assert "is not BoundedRange(1): refuted" in result.stdout
    assert "1.66359" in result.stdout
    assert "█" in result.stdout


def test_json() -> None:
    result = RUNNER.invoke(
        app,
        [
            "audit",
            "permute-and-flip",
            "--epsilon",
            "1",
            "--claim",
            "zcdp:0.125",
            "-n",
            "2",
            "--json",
        ],
    )
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["status"] == "refuted"
    assert told["witness"]["scores"] != told["witness"]["neighbour"]


def test_a_proved_claim_exits_with_zero() -> None:
    result = RUNNER.invoke(app, ["audit", "exponential", "--epsilon", "1", "-n", "2", "-n", "3"])
    assert result.exit_code == 0
    assert "proved" in result.stdout
    assert "docs/proofs/exponential.md" in result.stdout


def test_a_mechanism_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own_mechanism.py"
    path.write_text(OWN)
    good = RUNNER.invoke(
        app, ["audit", f"{path}:Mine", "--epsilon", "1", "-n", "3", "--starts", "0"]
    )
    assert good.exit_code == 0, good.output
    bad = RUNNER.invoke(app, ["audit", f"{path}:probabilities", "--claim", "pure:1", "-n", "3"])
    assert bad.exit_code == 1
    monotonic = ["audit", f"{path}:probabilities", "--claim", "pure:1", "-n", "3", "--monotonic"]
    assert RUNNER.invoke(app, monotonic).exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-mechanism", "--epsilon", "1"],
        ["permute-and-flip", "--epsilon", "1", "--claim", "purr:1"],
        ["permute-and-flip", "--epsilon", "1", "--claim", "approx:1"],
        ["permute-and-flip", "--epsilon", "-1"],
        ["permute-and-flip", "--claim", "pure:1"],
        ["permute-and-flip"],
        ["permute-and-flip", "--epsilon", "1", "--truth", "0.5"],
        ["nowhere.py:thing", "--claim", "pure:1"],
        ["no.such.module:thing", "--claim", "pure:1"],
        ["discreet.audit:nothing", "--claim", "pure:1"],
    ],
)
def test_wrong_input(arguments: list[str]) -> None:
    result = RUNNER.invoke(app, ["audit", *arguments])
    assert isinstance(result.exception, ParameterError)


def test_claims_are_read_exactly() -> None:
    assert parse_claim("pure:0.1") == PureDP("0.1")
    assert parse_claim(" ZCDP:1/8 ") == ZCDP("0.125")
    assert parse_claim("approx:1, 1e-6") == ApproxDP(1, "1e-6")
    assert parse_claim("regular") == Regular()
