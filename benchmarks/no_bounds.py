"""A median without bounds: one choice on a growing grid against noisy thresholds, and the time it takes.

Errors are mean rank errors over draws, in people, when one person is added or removed. *Thresholds* go up the
same grid until a noisy count crosses (Durfee, 2305.01177, with exponential noise): two runs with half of ε
each, upwards and downwards from zero, or one upward run with all of ε, which is only right for columns
without negative values.

Run: python -m benchmarks [--large] [--record] no_bounds
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import medians, record
from discreet import PermuteAndFlip
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._exact.sampling import SecureBits
from discreet._exact.sampling.above_threshold import NoisyThreshold
from discreet._tables.growing_grid import GrowingGrid
from discreet.questions import median
from discreet.questions.quantiles import recursive

RNG = np.random.default_rng(20261117)
GRID = GrowingGrid.of(1, None)
COLUMNS = {
    "pay, lognormal": np.exp(RNG.normal(10, 0.7, 10_000)),
    "the same, few people": np.exp(RNG.normal(10, 0.7, 300)),
    "normal around 0": RNG.normal(0, 100, 5_000),
    "losses": -np.exp(RNG.normal(6, 1.5, 5_000)),
    "ages": RNG.integers(18, 90, 2_000).astype(float),
}


def by_choice(people: Any, level: Fraction, epsilon: Fraction) -> int:
    chooser, bits = PermuteAndFlip(epsilon=epsilon), SecureBits()
    return recursive(people, [level], chooser, neighbours="add-remove", bits=bits)[0]


def crossing(values: Any, level: Fraction, epsilon: Fraction) -> int:
    """Return the first grid point whose noisy count crosses; counts are multiplied by the denominator."""
    part, whole = level.numerator, level.denominator
    scale = (max(part, whole - part) + whole) / epsilon
    watched = NoisyThreshold(Fraction(0), NoiseScales(scale, scale), SecureBits())
    found = watched.crossings(values, 1)
    return found[0] if found else len(values) - 1


def by_thresholds(people: Any, level: Fraction, epsilon: Fraction, *, runs: int) -> int:
    up_to = np.cumsum(people)
    aim = level.numerator * int(up_to[-1])
    upwards = crossing(level.denominator * up_to[GRID.zero :] - aim, level, epsilon / runs)
    if upwards or runs == 1:
        return GRID.zero + upwards
    below = np.concatenate([[0], up_to])[GRID.zero :: -1]
    return GRID.zero - crossing(aim - level.denominator * below, level, epsilon / runs)


def error_table(draws: int) -> str:
    lines = [
        "| column | people | level | ε | one choice | thresholds, two runs | thresholds, one run |",
        "|---|---|---|---|---|---|---|",
    ]
    points = np.array([GRID.label(index) for index in range(len(GRID))], dtype=float)
    for name, values in COLUMNS.items():
        people = np.bincount(np.searchsorted(points, values), minlength=len(GRID))
        up_to, total = np.cumsum(people), len(values)
        for level in (Fraction(1, 2), Fraction(9, 10)):
            for epsilon in (Fraction(1), Fraction(1, 10)):
                found: list[list[float]] = [[], [], []]
                for _ in range(draws):
                    places = (
                        by_choice(people, level, epsilon),
                        by_thresholds(people, level, epsilon, runs=2),
                        by_thresholds(people, level, epsilon, runs=1),
                    )
                    for errors, place in zip(found, places, strict=True):
                        off = (
                            level * total - up_to[place],
                            up_to[place] - people[place] - level * total,
                        )
                        errors.append(max(0.0, *map(float, off)))
                figures = " | ".join(f"{np.mean(errors):.1f}" for errors in found)
                lines.append(
                    f"| {name} | {total:,} | {float(level):g} | {float(epsilon):g} | {figures} |"
                )
    return "\n".join(lines)


def time_table(rows: int) -> str:
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "pay.parquet")
        pay = np.exp(RNG.normal(10, 0.7, rows)).round(2)
        pl.DataFrame({"person": np.arange(rows), "pay": pay}).write_parquet(path)
        asked: dict[str, Any] = {"column": "pay", "one_row_per_user": True, "epsilon": 1}
        times = medians(
            {
                "bounded": lambda: median(path, bounds=(0, 1_000_000), step=100, **asked),
                "without": lambda: median(path, **asked),
            },
            seconds=3.0,
            most=3,
        )
    ratio = times["without"] / times["bounded"]
    return (
        "| rows | with bounds 0:1000000, step 100, ms | without bounds, ms | × |\n|---|---|---|---|\n"
        f"| {rows:,} | {times['bounded'] * 1e3:.0f} | {times['without'] * 1e3:.0f} | {ratio:.2f} |"
    )


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    table = (
        "Mean rank error in people of a quantile without bounds, on a growing grid of 63,119 points:\n\n"
        f"{error_table(100 if chosen.large else 10)}\n\n"
        "A median of a Parquet file with DuckDB, one row for each person:\n\n"
        f"{time_table(10_000_000 if chosen.large else 100_000)}"
    )
    print(table)
    if chosen.record:
        record("no_bounds", "Quantiles without bounds", table)
