"""In an outside project's pytest run, an honest mechanism passes and wrong ones fail with a witness."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from tests.tools.waiting import PATIENCE

SOURCES = Path(__file__).parents[1] / "src"

TESTS = """
import numpy as np
from discreet import PureDP
from discreet.audit import Schema


def choosing(epsilon):
    def probabilities(scores):
        weights = np.exp(epsilon / 2 * (scores - scores.max()))
        return weights / weights.sum()
    return probabilities


def mean_age(rows):
    ages = np.array([row["age"] for row in rows] or [0], dtype=float)
    width = float(ages.max() - ages.min()) or 1.0
    return ages.mean() + np.random.default_rng().laplace(scale=width / len(ages))


def argmax(scores):
    return int(scores.argmax())


def test_honest(audited):
    audited(choosing(1), PureDP(1), sensitivity=1)


def test_spends_more(audited):
    audited(choosing(1.05), PureDP(1), sensitivity=1)


def test_bounds_from_the_data(audited):
    audited.pipeline(mean_age, Schema(age=(0, 120)))


def test_suspect(audited):
    audited(argmax, PureDP(1), n=2, samples=2000)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "outside"\nversion = "1"\n', "utf-8"
    )
    (tmp_path / "test_mine.py").write_text(TESTS, "utf-8")
    # This replaces the plugin's entry point in an environment installed before the plugin existed.
    installed = any(
        each.value == "discreet.pytest_plugin" for each in entry_points(group="pytest11")
    )
    info = tmp_path / "site" / "discreet_plugin-1.dist-info"
    info.mkdir(parents=True)
    if not installed:
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: discreet-plugin\nVersion: 1\n", "utf-8"
        )
        entry = "[pytest11]\ndiscreet = discreet.pytest_plugin\n"
        (info / "entry_points.txt").write_text(entry, "utf-8")
    return tmp_path


def run(project: Path, *options: str) -> Any:
    path = os.pathsep.join([str(SOURCES), str(project / "site")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=project,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_an_outside_project_without_configuration(project: Path) -> None:
    report, junit = project / "audit.json", project / "junit.xml"
    done = run(project, "--audit-report", str(report), "--junitxml", str(junit))
    said = done.stdout
    assert "2 failed, 2 passed" in said, said + done.stderr
    # The one that spends 1.05 fails with two score vectors, the answer, and both probabilities.
    assert "largest ε found 1.05, claimed 1" in said
    assert "witness    scores (" in said
    assert "has probability" in said
    # The pipeline fails and shows its rows, which are made up.
    assert "its parameters depend on the data: scale" in said
    assert "rows       [" in said
    assert "'age': 0" in said
    assert "suspect test_mine.py::test_suspect: argmax does not seem to be PureDP(1)" in said
    told = json.loads(report.read_text("utf-8"))
    assert (told["schema"], told["version"]) == ("discreet-audit-report", 1)
    statuses = {one["test"].rpartition("::")[2]: one["status"] for one in told["audits"]}
    assert statuses == {
        "test_honest": "not refuted",
        "test_spends_more": "refuted",
        "test_bounds_from_the_data": "refuted",
        "test_suspect": "suspect",
    }
    # Four tests share the suite's error rate, and the first audit of a test gets half of its share.
    assert told["audits"][-1]["false_alarm"] == pytest.approx(told["false_alarm"] / 4 / 2)
    properties = ET.parse(junit).getroot().iter("property")  # noqa: S314  # our own file
    verdicts = [each.get("value", "") for each in properties if each.get("name") == "audit_verdict"]
    assert len(verdicts) == 4
    assert verdicts[1].endswith("is not PureDP(1): refuted")


def test_suspects_fail_if_asked_also_with_workers(project: Path) -> None:
    report = project / "audit.json"
    done = run(
        project,
        *("-n", "2", "-k", "suspect", "--audit-suspects", "fail", "--audit-effort", "quick"),
        *("--audit-report", str(report), "--audit-seed", "7"),
    )
    assert "1 failed" in done.stdout, done.stdout + done.stderr
    told = json.loads(report.read_text("utf-8"))
    assert (told["seed"], told["effort"], len(told["audits"])) == (7, "quick", 1)


@pytest.mark.parametrize(
    ("option", "wrong", "said"),
    [
        ("--audit-false-alarm", "2", "give a probability between 0 and 1"),
        ("--audit-false-alarm", "often", "give a probability between 0 and 1"),
        ("--audit-report", "missing/audit.json", "give a file in an existing folder"),
        ("--audit-report", ".", "give a file in an existing folder"),
    ],
)
def test_a_wrong_option_is_refused_before_any_test_runs(
    project: Path, option: str, wrong: str, said: str
) -> None:
    done = run(project, option, wrong)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"{option} {wrong}: {said}" in done.stderr
    assert "passed" not in done.stdout


def test_the_plugin_loads_nothing_that_takes_time(project: Path) -> None:
    script = textwrap.dedent(
        """
        import pytest, sys, time
        before = set(sys.modules)
        began = time.process_time()
        import discreet.pytest_plugin
        took = time.process_time() - began
        print(took, *{name.partition(".")[0] for name in set(sys.modules) - before})
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    took, *loaded = done.stdout.split()
    assert float(took) < 0.03
    assert "discreet" in loaded
    assert not {"numpy", "flint", "rich", "click"} & set(loaded)
