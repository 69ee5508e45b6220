"""The real histograms, where they lie beside the project; otherwise the tests that need them are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.papers.histograms import NAMES, path_of

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "dpbench"


@pytest.fixture(scope="session")
def dpbench() -> Path:
    absent = [name for name in NAMES if not path_of(FOLDER, name).is_file()]
    if absent:
        pytest.skip(f"the DPBench histograms {', '.join(absent)} are not beside the project")
    return FOLDER
