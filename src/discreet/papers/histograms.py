"""The DPBench histograms, from a folder that the user names, or generated look-alikes.

The files (``NAME.n4096.npy``, 4096 counts each) come from the DPBench study (Hay et al., SIGMOD 2016;
github.com/dpcomp-org/dpcomp_core) and are not part of this project. The two papers that use them
(permute-and-flip and exponential randomized response) sum them to 1024 bins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.errors import DiscreetError
from discreet.mechanisms.facts import Floats
from discreet.papers.findings import Scope
from discreet.scores import Scores
from discreet.testing import scripted

NAMES = ("HEPTH", "ADULTFRANK", "MEDCOST", "SEARCHLOGS", "PATENT")
"""The five data sets that both papers use."""

SOURCE = (
    "The histograms come from the DPBench study (Hay, Machanavajjhala, Miklau, Chen and Zhang, SIGMOD "
    "2016): see github.com/dpcomp-org/dpcomp_core. Save each as NAME.n4096.npy and give the folder "
    "with --data."
)

_FINE = 4096
_BINS = 1024

Counts = npt.NDArray[np.int64]


class DataFileError(DiscreetError):
    """A histogram could not be read; the message names the file and the rule it breaks."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """A data set: its counts in 4096 bins, and whether they are made up."""

    name: str
    fine: Counts
    synthetic: bool

    @property
    def counts(self) -> Counts:
        """The counts, summed into 1024 bins as in the papers."""
        coarse: Counts = self.fine.reshape(_BINS, -1).sum(axis=1)
        return coarse

    @property
    def title(self) -> str:
        """The data set's name in a figure."""
        return f"{self.name} (synthetic)" if self.synthetic else self.name

    @property
    def note(self) -> str:
        """The note for a panel with this data: *synthetic* if it is made up, else empty."""
        return "synthetic" if self.synthetic else ""


def histogram(scope: Scope, name: str) -> Histogram:
    """Return the real histogram if a folder is given, otherwise the look-alike."""
    if scope.data is None:
        return Histogram(name, _look_alike(name), synthetic=True)
    return Histogram(name, _read(path_of(scope.data, name)), synthetic=False)


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a data set's file."""
    return folder / f"{name}.n4096.npy"


def readable(scope: Scope, names: Iterable[str] = NAMES) -> tuple[list[Histogram], list[str]]:
    """Return the readable histograms, and for each unreadable one a sentence that names its file.

    Example:
        >>> found, troubles = readable(Scope(), ["MEDCOST"])
        >>> found[0].title, troubles
        ('MEDCOST (synthetic)', [])
    """
    found, troubles = [], []
    for name in names:
        try:
            found.append(histogram(scope, name))
        except DataFileError as error:
            troubles.append(str(error))
    if troubles and not found:
        raise DataFileError("; ".join(troubles))
    return found, troubles


def absent(scope: Scope, names: Iterable[str]) -> str:
    """Return the reason why figures of real data cannot be drawn; empty if all files exist."""
    missing = [n for n in names if scope.data is None or not path_of(scope.data, n).is_file()]
    if not missing:
        return ""
    if scope.data is None:
        return "needs the DPBench files: give their folder with --data FOLDER"
    return f"needs the DPBench files {', '.join(missing)} in the folder given"


def _read(path: Path) -> Counts:
    try:
        values = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise DataFileError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataFileError(
            f"{path}: {error.strerror or 'cannot be read as a NumPy array'}"
        ) from None
    except (ValueError, EOFError):
        raise DataFileError(f"{path}: cannot be read as a NumPy array of numbers") from None
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf" or values.ndim != 1:
        raise DataFileError(f"{path}: expected one row of numbers")
    if len(values) != _FINE:
        raise DataFileError(f"{path}: expected {_FINE} counts")
    # This condition also rejects NaN. Beyond 2⁴⁰, sums would approach the largest exact integer in float64.
    if not ((values >= 0) & (values <= 2.0**40)).all() or (values != np.floor(values)).any():
        raise DataFileError(f"{path}: counts must be whole numbers, 0 or above")
    if not values.any():
        raise DataFileError(f"{path}: all counts are zero")
    return values.astype(np.int64)


# ---- scores ----------------------------------------------------------------------------------------


def mode_as_printed(counts: Counts) -> Scores:
    """Score each bin by its count, with sensitivity Δ = 1 and range distance 2Δ, as both papers say."""
    return Scores(counts, sensitivity=1)


def mode_as_run(counts: Counts) -> Scores:
    """Score each bin by twice its count, as in the permute-and-flip notebook; errors are in doubled units.

    One person changes one count by 1 in one direction, so doubled scores move apart by 2 = 2Δ. The formulas
    with 2Δ and Δ = 1 therefore spend exactly ε.
    """
    return Scores(2 * counts, range_distance=2)


def median_scores(counts: Counts) -> Scores:
    """Score each bin by minus the number of people to add or remove until the median lies in it; Δ = 1.

    Example:
        >>> median_scores(np.array([1, 3, 1])).values
        array([-3,  0, -4])
    """
    below = np.cumsum(counts)
    people = int(below[-1])
    middle = int(np.argmax(2 * below >= people))
    scores = np.zeros(len(counts), dtype=np.int64)
    scores[:middle] = 2 * below[:middle] - people
    scores[middle + 1 :] = people - 2 * below[middle:-1] - 1
    return Scores(scores, sensitivity=1)


# ---- look-alikes -----------------------------------------------------------------------------------


def _rising(t: Floats, noise: Floats) -> Floats:
    """Return bin heights: a long rise that ends before the last bin, like citations by date."""
    return np.where(t < 0.89, t**2.2, 0.0) * np.exp(0.35 * noise)


def _one_heap(t: Floats, noise: Floats) -> Floats:
    """Return bin heights: nearly everyone in one bin, and a low hill far away, like capital losses."""
    hill = np.exp(-(((t - 0.45) / 0.07) ** 2)) * (noise > 1.3)
    return np.where(t == 0, 120.0, hill)


def _falling(t: Floats, noise: Floats) -> Floats:
    """Return bin heights: a steep decline with a peak at zero, like costs."""
    return np.where(t == 0, 22.0, np.exp(-t * 55) + 0.004 * np.exp(-t * 5)) * np.exp(0.3 * noise)


def _bursts(t: Floats, noise: Floats) -> Floats:
    """Return bin heights: empty bins, then bursts, like searches over time."""
    return np.where(t < 0.48, 0.0, t**6) * np.exp(1.1 * noise)


def _two_hills(t: Floats, noise: Floats) -> Floats:
    """Return bin heights: two broad hills, like patents by date."""
    hills = np.exp(-(((t - 0.65) / 0.18) ** 2)) + 0.75 * np.exp(-(((t - 0.3) / 0.15) ** 2))
    return (0.15 + hills) * (t < 0.93) * np.exp(0.3 * noise)


_SHAPES: dict[str, tuple[Callable[[Floats, Floats], Floats], int]] = {
    "HEPTH": (_rising, 347_414),
    "ADULTFRANK": (_one_heap, 17_665),
    "MEDCOST": (_falling, 9_415),
    "SEARCHLOGS": (_bursts, 335_889),
    "PATENT": (_two_hills, 27_948_226),
}
"""Shape and number of people, roughly as in the real histogram."""


@lru_cache(maxsize=8)
def _look_alike(name: str) -> Counts:
    """Return made-up counts of about the real histogram's shape and size, the same on every machine."""
    shape, people = _SHAPES[name]
    words = scripted(f"look-alike {name}").words(12 * _FINE)
    # The sum of twelve uniforms minus six is nearly standard normal.
    noise = (words.astype(np.float64) / 2.0**64).reshape(_FINE, 12).sum(axis=1) - 6.0
    heights = shape(np.arange(_FINE) / _FINE, noise)
    counts: Counts = np.floor(people * heights / heights.sum() + 0.5).astype(np.int64)
    return counts
