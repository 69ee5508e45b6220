"""The command: what it prints, where, and its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from discreet.papers.histograms import path_of


def _discreet(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from discreet.cli import main; main()", "reproduce", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
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
    # A second run, of something else, keeps what is there on the page.
    done = _discreet("--quick", "--only", "pf-fig1a", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "1 of 1 figures drawn" in done.stdout
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'id="pf-fig1a"' in page
    assert 'id="pf-fig3c"' in page


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
