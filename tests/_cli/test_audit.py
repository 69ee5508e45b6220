from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet import ZCDP, ApproxDP, PureDP
from discreet._cli import app
from discreet._cli.audit import parse_claim
from discreet.audit import Regular
from discreet.errors import DiscreetError, ParameterError

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


def test_a_stream_is_audited_by_name() -> None:
    asked = ["audit", "above-threshold", "--epsilon", "1", "--crossings", "2", "-n", "3"]
    result = RUNNER.invoke(app, asked)
    assert result.exit_code == 0
    assert "threshold=0" in result.stdout
    assert "checked by" in result.stdout
    assert "scores  neighbour" not in result.stdout
    lower = RUNNER.invoke(app, [*asked, "--claim", "pure:0.9", "--json"])
    assert lower.exit_code == 1
    assert json.loads(lower.stdout)["witness"]["answers"] == ["below", "above", "above"]


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
            "3",
            "--json",
        ],
    )
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["status"] == "refuted"
    assert told["witness"]["scores"] != told["witness"]["neighbour"]
    assert len(told["witness"]["scores"]) == 3


def test_a_proved_claim_exits_with_zero() -> None:
    result = RUNNER.invoke(app, ["audit", "exponential", "--epsilon", "1", "-n", "2", "-n", "3"])
    assert result.exit_code == 0
    assert "proved" in result.stdout
    assert "docs/proofs/exponential.md" in result.stdout


def test_a_mechanism_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own_mechanism.py"
    path.write_text(OWN)
    good = RUNNER.invoke(
        app, ["audit", f"{path}:Mine", "--epsilon", "1", "-n", "3", "--effort", "quick"]
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


@pytest.mark.parametrize("claim", ["pure:nan", "zcdp:-1", "approx:1,2", "approx:x,0"])
def test_a_wrong_number_is_blamed_on_the_claim(claim: str) -> None:
    with pytest.raises(ParameterError, match=f"claim.*{claim}.*pure:E"):
        parse_claim(claim)
    alone = RUNNER.invoke(app, ["audit", "permute-and-flip", "--epsilon", "nan"])
    assert "epsilon" in str(alone.exception)


def test_claims_are_read_exactly() -> None:
    assert parse_claim("pure:0.1") == PureDP("0.1")
    assert parse_claim(" ZCDP:1/8 ") == ZCDP("0.125")
    assert parse_claim("approx:1, 1e-6") == ApproxDP(1, "1e-6")
    assert parse_claim("regular") == Regular()


SAMPLER = """
import numpy as np

class Loud:
    def sample(self, scores, size):
        return np.full(size, int(np.argmax(scores.values)))

def loud(scores):
    return int(np.argmax(scores.values))

def half_noise(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()

def fails(scores):
    raise KeyError(f"a score was {scores.max()}")
"""


def _complaint(*arguments: str) -> DiscreetError:
    error = RUNNER.invoke(app, ["audit", *arguments]).exception
    assert isinstance(error, DiscreetError)
    return error


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's file in the folder where the command runs."""
    (tmp_path / "audited_here.py").write_text(SAMPLER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", sys.path.copy())
    return tmp_path


def test_a_module_here_and_a_package_here(own: Path) -> None:
    package = own / "audited_package"
    package.mkdir()
    (package / "__init__.py").write_text("from audited_here import half_noise\n")
    for place in ("audited_here.py", "audited_here", "audited_package"):
        told = RUNNER.invoke(app, ["audit", f"{place}:half_noise", "--claim", "pure:1", "-n", "2"])
        assert told.exit_code == 1, told.output


@pytest.mark.parametrize("name", ["Loud", "loud"])
def test_what_only_samples(own: Path, name: str) -> None:
    _ = own
    arguments = [f"audited_here:{name}", "--claim", "pure:1", "-n", "2"]
    assert "--sampled" in str(_complaint(*arguments))
    told = RUNNER.invoke(app, ["audit", *arguments, "--sampled", "1000", "--json"])
    assert told.exit_code == 1
    verdict = json.loads(told.stdout)
    assert (verdict["status"], verdict["subject"]) == ("suspect", name)
    assert verdict["draws"] > 1000
    assert verdict["false_alarm"] == 1e-9


def test_a_sampled_mechanism_that_keeps_its_promise() -> None:
    arguments = ["audit", "permute-and-flip", "--epsilon", "1", "-n", "2", "--sampled", "1000"]
    told = RUNNER.invoke(app, arguments)
    assert told.exit_code == 0
    assert "not refuted" in told.stdout
    assert "draws" in told.stdout


def test_a_mechanism_that_fails_is_named_and_not_quoted(own: Path) -> None:
    (own / "broken.py").write_text("raise ValueError('row 412')\n")
    (own / "lacking.py").write_text("import no_such_library\n")
    for place, kind in (
        ("audited_here:fails", "KeyError"),
        ("broken.py:thing", "ValueError"),
        ("lacking:thing", "ModuleNotFoundError"),
    ):
        for sampled in ([], ["--sampled", "100"]):
            error = _complaint(place, "--claim", "pure:1", "-n", "2", *sampled)
            assert not isinstance(error, ParameterError)  # exit status 3
            assert f"failed ({kind})" in str(error)
            assert "score was" not in str(error)
            assert "412" not in str(error)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audited_here.py"], "name an object in it, as in audited_here.py:my_mechanism"),
        (["audited_here.py:"], "name an object in it"),
        (["audited_here:nothing"], "there is no nothing in audited_here"),
        (["audited_here:loud", "--sampled", "5"], "--sampled 5 is not allowed"),
        (["audited_here:half_noise", "--sampled", "200"], "the position of its answer"),
        (["audited_here:Loud", "--claim", "regular", "--sampled", "200"], "--claim regular"),
        (["audited_here:Loud", "--epsilon", "1"], "cannot be made with --epsilon"),
    ],
)
def test_wrong_subjects(own: Path, arguments: list[str], words: str) -> None:
    _ = own
    claim = [] if "--claim" in arguments else ["--claim", "pure:1"]
    error = _complaint(*arguments, *claim, "-n", "2")
    assert isinstance(error, ParameterError)
    assert words in str(error)
