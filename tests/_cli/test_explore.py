from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet._cli import app
from tests.tools.waiting import PATIENCE

SOURCES = Path(__file__).parents[2] / "src"
START = f"import sys; sys.path.insert(0, {str(SOURCES)!r}); from discreet._cli import main; main()"


def _refused(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START, "explore", "--no-browser", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_file_must_be_declared_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("candidate,score\nflu,412\ncold,secret-7\n", encoding="utf-8")
    assert "--not-private" in _refused(str(path))
    broken = _refused(str(path), "--public")
    assert "line 3" in broken
    assert "secret" not in broken
    assert "is not there" in _refused(str(tmp_path / "none.csv"), "--public")


def test_help_has_an_example() -> None:
    said = CliRunner().invoke(app, ["explore", "--help"]).output
    assert "Example: discreet explore" in said


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_the_file_and_stops_when_told(tmp_path: Path, stop: signal.Signals) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("candidate,score\nflu,412\ncold,398.5\n", encoding="utf-8")
    arguments = [
        str(path),
        "--public",
        "--sensitivity",
        "2",
        "--monotonic",
        "--no-browser",
        "--json",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", START, "explore", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        url = json.loads("".join(lines))["url"]
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}api/start", timeout=PATIENCE) as answer:  # noqa: S310 - our own
            opened = json.load(answer)["opened"]
        assert (opened["name"], opened["count"], opened["key"]) == ("scores.csv", 2, "opened")
        assert (opened["sensitivity"], opened["monotonic"]) == ("2", True)
        process.send_signal(stop)
        _, complaints = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in complaints
        assert process.returncode in (0, -stop, 128 + stop)
    finally:
        process.kill()
        process.communicate()
