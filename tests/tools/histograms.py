"""The real histograms, if they are beside the project; otherwise tests that use them are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet import Scores
from discreet.papers.findings import Scope
from discreet.papers.histograms import NAMES, histogram, median_scores, mode_as_run, path_of

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data" / "dpbench"
FOLDER = Path(os.environ.get("DISCREET_DPBENCH", _BESIDE))


@pytest.fixture(scope="session")
def dpbench() -> Path:
    absent = [name for name in NAMES if not path_of(FOLDER, name).is_file()]
    if absent:
        pytest.skip(
            f"the DPBench histograms {', '.join(absent)} are not there (set DISCREET_DPBENCH)"
        )
    return FOLDER


@pytest.fixture
def hepth_mode(dpbench: Path) -> Scores:
    return mode_as_run(histogram(Scope(data=dpbench), "HEPTH").counts)


@pytest.fixture
def hepth_median(dpbench: Path) -> Scores:
    return median_scores(histogram(Scope(data=dpbench), "HEPTH").counts)
