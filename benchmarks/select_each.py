"""Many rows at once: against the insecure one-liners.

All figures of one row come from one interleaved run; ratios are what counts. Processor time, which a busy
machine disturbs least.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import record
from discreet import Exponential, NoisyMax, PermuteAndFlip

_MECHANISMS = (
    PermuteAndFlip(scale=1),
    Exponential(scale=1),
    NoisyMax(scale=1, noise="laplace"),
)


def _took(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """How long it took, in seconds."""
    start = clock()
    work()
    return clock() - start


def _rows(shapes: Sequence[tuple[int, int]]) -> list[str]:
    lines = [
        "| rows × candidates | one-liner | mechanism | `select_each` | × one-liner |",
        "|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(1)
    for rows, size in shapes:
        table = 5 * rng.standard_normal((rows, size))

        def one_liner(table: Any = table) -> object:
            return np.argmax(table + rng.exponential(size=table.shape), axis=1)

        for mechanism in _MECHANISMS:
            chosen = partial(mechanism.select_each, table, sensitivity=1)
            base = ours = float("inf")
            for _ in range(5):
                base = min(base, _took(one_liner, time.process_time))
                ours = min(ours, _took(chosen, time.process_time))
            lines.append(
                f"| {rows:,} × {size:,} | {1000 * base:.0f} ms | {mechanism.name} | {1000 * ours:.0f} ms "
                f"| {ours / base:.2f} |"
            )
    return lines


def _memory() -> str:
    table = 5 * np.random.default_rng(1).standard_normal((10_000, 10))
    mechanism = _MECHANISMS[0]
    mechanism.select_each(table, sensitivity=1)
    tracemalloc.start()
    mechanism.select_each(table, sensitivity=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"Memory beside the input, 10,000 × 10: {peak / table.nbytes:.1f} × the input."


def main(arguments: Sequence[str] | None = None) -> None:
    """Print, and record if asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    shapes = [(10**6, 10), (10**5, 1000)] if chosen.large else [(10**5, 10), (10**4, 1000)]
    lines = [
        "`select_each` on float64 scores, normal and five scales wide, against "
        "`np.argmax(q + rng.exponential(size=q.shape), axis=1)`, whose noise is neither exact nor secure. "
        "Least processor time of five interleaved runs. Recorded on a busy machine.",
        "",
        *_rows(shapes),
        "",
        _memory(),
        "",
        "`mode` with `by=`, which chooses in this way, is in [tables](tables.md).",
    ]
    table = "\n".join(lines)
    print(table)
    if chosen.record:
        record("select_each", "Many rows at once", table)


if __name__ == "__main__":
    main()
