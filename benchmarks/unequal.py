"""Unequal sensitivities: how far the answer falls short for each way to compare scores, in four cases.

Run: python -m benchmarks [--record] unequal
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import medians, record
from discreet import PermuteAndFlip, Scores
from discreet.analysis import expected_error

N = 200
MECHANISM = PermuteAndFlip(epsilon=1)


def cases() -> dict[str, tuple[Any, Any]]:
    """Return the scores and sensitivities of 200 candidates for each case."""
    rng = np.random.default_rng(20261117)
    scores = np.sort(rng.integers(0, 1000, N))[::-1]
    steps = np.sort(rng.integers(1, 21, N))
    one = np.ones(N, dtype=np.int64)
    one[-1] = 100
    return {
        "one candidate of sensitivity 100, the rest 1": (scores, one),
        "good candidates have small ones (1 to 20)": (scores, steps),
        "they have nothing to do with the scores (1 to 20)": (scores, rng.permutation(steps)),
        "good candidates have large ones (1 to 20)": (scores, steps[::-1]),
    }


def shortfall_table() -> str:
    lines = ["| sensitivities | largest | ratios | by default |", "|---|---|---|---|"]
    for name, (values, steps) in cases().items():
        found = [
            expected_error(MECHANISM, Scores(values, sensitivity=steps, unequal=way))
            for way in ("largest", "ratios")
        ]
        default = Scores(values, sensitivity=steps).unequal
        lines.append(f"| {name} | {found[0]:.1f} | {found[1]:.1f} | {default} |")
    return "\n".join(lines)


def time_table(sizes: Sequence[int]) -> str:
    lines = ["| n | largest, ms | ratios, ms |", "|---|---|---|"]
    rng = np.random.default_rng(1)
    for n in sizes:
        values, steps = rng.integers(0, 10**6, n), rng.integers(1, 1000, n)
        ways = {
            way: Scores(values, sensitivity=steps, unequal=way) for way in ("largest", "ratios")
        }
        times = medians(
            {way: partial(MECHANISM.select, scores) for way, scores in ways.items()}, seconds=1.0
        )
        lines.append(f"| {n:,} | {times['largest'] * 1e3:.3g} | {times['ratios'] * 1e3:.3g} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    shortfalls = shortfall_table()
    table = (
        "Expected shortfall of permute-and-flip at ε = 1, 200 candidates with scores up to 1,000:\n\n"
        f"{shortfalls}\n\n"
        "Time of one selection, scores up to a million, sensitivities up to a thousand:\n\n"
        f"{time_table([1000, 10_000, 100_000] if chosen.large else [1000])}"
    )
    print(table)
    if chosen.record:
        record("unequal", "Unequal sensitivities", table)
