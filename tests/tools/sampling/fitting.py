"""Pearson's statistic summed over many score vectors, each with its own exact distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps import Indices

LIMIT = 6.0
"""Standard deviations allowed. The summed statistic is close to normal (hundreds of independent
terms of known mean and variance), so a correct sampler exceeds this about once in 10⁹ seeds."""


def random_vectors(count: int, seed: int) -> Iterator[NDArray[Any]]:
    """Yield scores of two to six candidates: spread out, bunched, tied, integer and float."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(2, 7))
        spread = float(rng.choice([0.5, 2.0, 8.0]))
        if rng.random() < 0.5:
            yield rng.uniform(0, spread, size)
        else:
            yield rng.integers(0, max(2, int(2 * spread)), size)


def excess(
    draws: Callable[[NDArray[Any]], Indices],
    law: Callable[[Sequence[Fraction]], list[Any]],
    vectors: Iterator[NDArray[Any]],
    *,
    scale: Fraction,
) -> float:
    """Return by how many standard deviations the summed statistic exceeds its mean."""
    surplus = variance = 0.0
    for values in vectors:
        numbers = [Fraction(value) for value in values.tolist()]
        gammas = [(max(numbers) - number) / scale for number in numbers]
        chances = np.array([float(mass.mid()) for mass in law(gammas)])
        counts = np.bincount(draws(values), minlength=len(values))
        total = int(counts.sum())
        order = np.argsort(chances)
        chances, counts = chances[order], counts[order]
        # Rare candidates share a cell, so that at least two draws are expected in it.
        rare = max(1, int(np.searchsorted(np.cumsum(chances) * total, 2.0)) + 1)
        chances = np.append(chances[:rare].sum(), chances[rare:])
        counts = np.append(counts[:rare].sum(), counts[rare:])
        cells = len(chances)
        if cells < 2:
            continue
        statistic = float(((counts - total * chances) ** 2 / (total * chances)).sum())
        surplus += statistic - (cells - 1)
        inverse = float((1 / chances).sum())
        variance += 2 * (cells - 1) + (inverse - cells**2 - 2 * cells + 2) / total
    return float(surplus / variance**0.5)
