"""The DPBench histograms of the experimental claims, read from a folder that the user names.

The files are not part of the project. Both experimental papers sum 4096 counts to 1024 bins and ask for
the mode and the median. As in the permute-and-flip paper's own notebook, the mode's scores are twice the
counts (one person moves a count one way only, so the noise is half of what the score's range asks), and the
median's are minus the number of people to add or remove before a bin becomes the median.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ParameterError
from discreet.papers.catalogue import Finding, Settings, not_checkable
from discreet.scores import Scores

NAMES = ("HEPTH", "ADULTFRANK", "MEDCOST", "SEARCHLOGS", "PATENT")
_BINS = 1024

Counts = npt.NDArray[np.int64]


def missing(settings: Settings, names: tuple[str, ...] = NAMES) -> Finding | None:
    """Why the claim cannot be checked, or None when all files are there."""
    if settings.data is None:
        return not_checkable("needs the DPBench files: give their folder with --data FOLDER")
    absent = [name for name in names if not _path(settings.data, name).is_file()]
    if absent:
        return not_checkable(f"needs the DPBench files {', '.join(absent)} in the folder given")
    return None


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.n4096.npy"


@lru_cache(maxsize=8)
def _counts(folder: Path, name: str) -> Counts:
    values = np.load(_path(folder, name), allow_pickle=False)
    if values.ndim != 1 or len(values) % _BINS or values.dtype.kind not in "iuf":
        raise ParameterError(
            f"{name}: expected one row of counts whose number is a multiple of {_BINS}"
        )
    counts: Counts = values.astype(np.int64).reshape(_BINS, -1).sum(axis=1)
    return counts


def mode_scores(settings: Settings, name: str) -> Scores:
    """Twice the counts: sensitivity 2, moved in one direction by one person."""
    assert settings.data is not None
    return Scores(2 * _counts(settings.data, name), range_distance=2)


def median_scores(settings: Settings, name: str) -> Scores:
    """Minus the people to add or remove until the bin is the median: sensitivity 1."""
    assert settings.data is not None
    counts = _counts(settings.data, name)
    below = np.cumsum(counts)
    people = int(below[-1])
    middle = int(np.argmax(2 * below >= people))
    scores = np.zeros(len(counts), dtype=np.int64)
    scores[:middle] = 2 * below[:middle] - people
    scores[middle + 1 :] = people - 2 * below[middle:-1] - 1
    return Scores(scores, sensitivity=1)


PROBLEMS: dict[str, Callable[[Settings, str], Scores]] = {
    "mode": mode_scores,
    "median": median_scores,
}


def mean_error(make: Callable[..., Any], scores: Scores, epsilon: float | str | Fraction) -> float:
    """The expected error of a mechanism, from its probabilities."""
    values = np.asarray(scores.values, dtype=np.float64)
    return float((values.max() - values) @ make(epsilon=epsilon).probabilities(scores))


def epsilon_for(make: Callable[..., Any], scores: Scores, error: float) -> float:
    """The ε at which the expected error falls to ``error``, by bisection on a logarithmic scale."""
    low, high = 1e-6, 1e2
    for _ in range(60):
        middle = (low * high) ** 0.5
        if mean_error(make, scores, middle) > error:
            low = middle
        else:
            high = middle
    return high
