"""Score shapes for timing selection: easy ones, awkward ones, and the worst we know."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[Any]

SCALE = Fraction(2)
"""The noise scale of every shape: ε = 1 with sensitivity 1, not monotonic."""


def clear_winner(n: int, rng: np.random.Generator) -> Values:
    values = rng.integers(0, 1001, n).astype(np.float64)
    values[n // 3] = 5000.0
    return values


def all_equal(n: int, _: np.random.Generator) -> Values:
    return np.full(n, 7.0)


def within_20_scales(n: int, rng: np.random.Generator) -> Values:
    return 100.0 - rng.uniform(0.0, 20.0 * float(SCALE), n)


def zipf_counts(n: int, rng: np.random.Generator) -> Values:
    values = np.floor(n / np.arange(1, n + 1.0))
    rng.shuffle(values)
    return values


def log_n_behind(n: int, _: np.random.Generator) -> Values:
    values = np.zeros(n)
    values[n // 3] = float(SCALE) * math.log(n)
    return values


def int64_counts(n: int, rng: np.random.Generator) -> Values:
    return rng.poisson(50, n).astype(np.int64)


def one_near_per_block(n: int, _: np.random.Generator) -> Values:
    values = np.full(n, -1e6)
    values[::4096] = 0.0
    values[n // 3] = 16.5
    return values


def all_near_8(n: int, rng: np.random.Generator) -> Values:
    """All candidates lie just inside the level at which thinning would help."""
    values = rng.uniform(-0.01, 0.0, n)
    values[n // 3] = 8.3 * float(SCALE)
    return values


def half_near_6(n: int, rng: np.random.Generator) -> Values:
    """Half of the candidates have a coin a little better than 1 in 500, the rest are hopeless."""
    values = np.where(rng.random(n) < 0.5, 0.0, -1e5)
    values[n // 3] = 6.2 * float(SCALE)
    return values


def normal_scores(n: int, rng: np.random.Generator) -> Values:
    return rng.normal(0.0, 5.0 * float(SCALE), n)


def float32_scores(n: int, rng: np.random.Generator) -> Values:
    return rng.normal(0.0, 100.0, n).astype(np.float32)


def tied_at_the_top(n: int, rng: np.random.Generator) -> Values:
    """One candidate in 1,000 shares the best score, the rest are hopeless."""
    return np.where(rng.permutation(n) % 1000 == 0, 0.0, -1e6)


def ladder(n: int, rng: np.random.Generator) -> Values:
    """A hundred levels, half a noise scale apart, with equally many candidates on each."""
    values: Values = np.floor(100.0 * rng.permutation(n) / n)
    values *= -0.5 * float(SCALE)
    return values


def steep_ladder(n: int, rng: np.random.Generator) -> Values:
    """Each level has twice as many candidates as the one above, with half the chance of heads each."""
    values: Values = np.floor(np.log2(1.0 + rng.permutation(n)))
    values *= -float(SCALE) * math.log(2)
    return values


EASY: dict[str, Callable[[int, np.random.Generator], Values]] = {
    "clear winner": clear_winner,
    "all equal": all_equal,
    "within 20 scales": within_20_scales,
    "Zipf counts": zipf_counts,
}
HARD: dict[str, Callable[[int, np.random.Generator], Values]] = {
    "int64 counts": int64_counts,
    "ln n behind": log_n_behind,
    "one near in 4096": one_near_per_block,
    "all near 8 scales": all_near_8,
    "half near 6 scales": half_near_6,
    "normal": normal_scores,
    "float32": float32_scores,
    "ties, one in 1000": tied_at_the_top,
    "ladder": ladder,
    "steep ladder": steep_ladder,
}
SHAPES = {**EASY, **HARD}
