"""What the copy buttons copy runs unchanged."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from discreet._cli import app
from discreet.explore.choices import choices_from
from discreet.explore.recipes import as_csv, recipes_for
from discreet.explore.uploads import ScoreFile, UploadStore
from discreet.mechanisms import MECHANISMS


def _run(code: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "recipe", "exec"), {})  # noqa: S102 - that it runs is the point
    return output.getvalue()


@pytest.mark.parametrize("choice", MECHANISMS)
@pytest.mark.parametrize("source", ["example:clinic", "example:pages"])
def test_python_runs(
    state: dict[str, Any], choice: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    choices = choices_from(
        {**state, "choice": choice, "source": source, "sensitivity": "1/3"}, UploadStore()
    )
    Path("scores.csv").write_text(as_csv(choices), encoding="utf-8")
    said = _run(recipes_for(choices)["python"])
    assert "permute-and-flip" in said
    if not choice.startswith("exponential-randomized"):
        assert "10 releases" in said
        assert "changes the probability of any answer" in said


@pytest.mark.parametrize("source", ["example:salaries", "example:pages"])
def test_commands_run(
    state: dict[str, Any], source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    choices = choices_from({**state, "source": source, "monotonic": False}, UploadStore())
    Path("scores.csv").write_text(as_csv(choices), encoding="utf-8")
    commands = recipes_for(choices)["command"].splitlines()
    assert [shlex.split(command)[1] for command in commands] == ["compare", "plan"]
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:], env=dict(os.environ))
        assert done.exit_code == 0, done.output
        assert "permute-and-flip" in done.output


def test_strange_labels_survive(state: dict[str, Any]) -> None:
    uploads = UploadStore()
    labels = ('"); print("no', "it's, so\\", "naïve")
    name = uploads.put(ScoreFile("strange.csv", labels, np.array([3, 2, 1])))
    choices = choices_from({**state, "source": f"file:{name}"}, uploads)
    assert "no" not in _run(recipes_for(choices)["python"]).split("Chosen by")[0].splitlines()
    assert '"it\'s, so\\"' in as_csv(choices) or "it's, so\\" in as_csv(choices)
