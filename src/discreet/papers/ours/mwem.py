"""MWEM (Hardt, Ligett and McSherry, 2012): answer many linear queries, asking for the worst in each round.

Each round selects the query on which the estimate is worst, measures it with noise, and reweights the
estimate. The selection step is an argument, so that mechanisms can be exchanged. For study: it returns an
estimate from scripted randomness and spends nothing; it is **not private** as it stands.

Neighbours differ in one person's record, so the number of people is public and a counting query moves by at
most one; so does the score |q(x) − q(x̂)|, in either direction: Δ = 1, d = 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet.papers.drawing.panels import Floats
from discreet.sampling import Bits, uniform_indices

Select = Callable[[Floats], int]
"""From the scores of all queries to the one chosen."""

Measure = Callable[[float], float]
"""From the true answer to a noisy one."""


@dataclass(frozen=True, slots=True)
class RangeQueries:
    """How many people lie in bins start ≤ i < end, for many such ranges at once."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @classmethod
    def drawn(cls, bits: Bits, *, bins: int, count: int) -> RangeQueries:
        """``count`` ranges with uniform ends, each of at least one bin."""
        first = uniform_indices(bits, bins, count=count)
        second = uniform_indices(bits, bins, count=count)
        return cls(np.minimum(first, second), np.maximum(first, second) + 1)

    def answers(self, histogram: Floats) -> Floats:
        """The answer to every query.

        Example:
            >>> RangeQueries(np.array([0, 1]), np.array([2, 3])).answers(np.array([1.0, 2.0, 4.0]))
            array([3., 6.])
        """
        below = np.concatenate([[0.0], np.cumsum(histogram)])
        return np.asarray(below[self.ends] - below[self.starts])

    def __len__(self) -> int:
        return len(self.starts)


def mwem(
    histogram: Floats,
    queries: RangeQueries,
    *,
    rounds: int,
    select: Select,
    measure: Measure,
    passes: int = 10,
) -> Floats:
    """An estimate of the histogram after ``rounds`` selections and measurements.

    ``passes`` is how often each round goes over all measurements so far; that costs no privacy.

    Example:
        >>> truth = np.array([0.0, 0.0, 9.0, 0.0])
        >>> every = RangeQueries(np.arange(4), np.arange(1, 5))
        >>> best = lambda scores: int(scores.argmax())
        >>> mwem(truth, every, rounds=4, select=best, measure=float, passes=50).round(1)
        array([0., 0., 9., 0.])
    """
    people = float(histogram.sum())
    estimate = np.full(len(histogram), people / len(histogram))
    true_answers = queries.answers(histogram)
    measured: list[tuple[int, float]] = []
    for _ in range(rounds):
        chosen = select(np.abs(true_answers - queries.answers(estimate)))
        measured.append((chosen, measure(float(true_answers[chosen]))))
        for _ in range(passes):
            for place, answer in measured:
                inside = slice(int(queries.starts[place]), int(queries.ends[place]))
                # The multiplicative-weights step, with the learning rate of the paper.
                before = float(estimate[inside].sum())
                factor = math.exp((answer - before) / (2 * people))
                estimate[inside] *= factor
                estimate *= people / (people + (factor - 1) * before)
        estimate *= people / estimate.sum()
    return estimate


def laplace(bits: Bits, scale: float) -> float:
    """A Laplace number from scripted bits, in float64: for study."""
    word = int(bits.words(1)[0])
    size = -scale * math.log(((word >> 1) + 0.5) / 2.0**63)
    return size if word & 1 else -size


def gaussian(bits: Bits, deviation: float) -> float:
    """A normal number from scripted bits, in float64: for study."""
    return deviation * NormalDist().inv_cdf((int(bits.words(1, width=52)[0]) + 0.5) / 2.0**52)
