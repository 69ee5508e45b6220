"""The published histograms, read from a folder beside the project where somebody has put them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from discreet import Scores

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data" / "dpbench"
FOLDER = Path(os.environ.get("DISCREET_DPBENCH", _BESIDE))


def histogram(name: str) -> npt.NDArray[np.int64]:
    path = FOLDER / f"{name}.n4096.npy"
    if not path.exists():
        pytest.skip(f"{name}.n4096.npy is not there (set DISCREET_DPBENCH to the DPBench folder)")
    counts: npt.NDArray[np.int64] = np.load(path).reshape(1024, -1).sum(axis=1)
    return counts


@pytest.fixture
def hepth_mode() -> Scores:
    # The authors' definition: twice the counts, so that one person moves a score by two.
    return Scores(2 * histogram("HEPTH"), sensitivity=2, monotonic=True)


@pytest.fixture
def hepth_median() -> Scores:
    counts = histogram("HEPTH")
    cumulative = np.cumsum(counts)
    total = cumulative[-1]
    median = int(np.argmax(2 * cumulative >= total))
    below = -(total - 2 * cumulative)
    above = -(2 * (cumulative - counts) - total + 1)
    index = np.arange(len(counts))
    values = np.where(index < median, below, np.where(index > median, above, 0))
    return Scores(values, sensitivity=1)
