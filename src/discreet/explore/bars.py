"""The rows of the charts: one per candidate if there are few; else the best candidates, then groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.explore.seen_scores import SeenScores
from discreet.mechanisms.facts import Floats

MOST_BARS = 40
"""The largest number of candidates that each get their own bar."""
_BEST_SHOWN = 24
_GROUPS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of the charts.

    Attributes:
        label: the row's name.
        start: the first rank in the row (0 is the best candidate).
        stop: one past the last rank.
        place: the candidate's position in the scores; None for a group.
        score: the candidate's score; for a group, the best score in it.
    """

    label: str
    start: int
    stop: int
    place: int | None
    score: float


def bars_of(study: SeenScores, labels: tuple[str, ...]) -> list[Bar]:
    """Return the rows to show: in the original order if all candidates fit, else with the best first."""
    if len(study) <= MOST_BARS:
        single = [_single(study, labels, rank) for rank in range(len(study))]
        return sorted(single, key=lambda bar: bar.place or 0)
    rows = [_single(study, labels, rank) for rank in range(_BEST_SHOWN)]
    edges = np.unique(
        np.geomspace(_BEST_SHOWN, len(study), _GROUPS + 1).round().astype(int)
    ).tolist()
    for start, stop in pairwise(edges):
        label = f"rank {start + 1:,}" if stop == start + 1 else f"ranks {start + 1:,} to {stop:,}"
        rows.append(Bar(label, start, stop, None, study.values.item(start)))
    return rows


def summed(bars: list[Bar], mass: Floats) -> list[float]:
    """Return the total probability of the candidates in each row of a chart."""
    return [float(mass[bar.start : bar.stop].sum()) for bar in bars]


def _single(study: SeenScores, labels: tuple[str, ...], rank: int) -> Bar:
    place = int(study.order[rank])
    return Bar(labels[place], rank, rank + 1, place, study.values.item(rank))


def score_range(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the range in which bars can be dragged: all scores with some margin, always including zero."""
    least, best = float(values.min()), float(values.max())
    room = max(best - least, abs(best), 1.0) * 0.25
    low = 0.0 if least >= 0 else least - room
    high = 0.0 if best <= 0 else best + room
    return float(np.floor(low)), float(np.ceil(high))
