"""Many rows at once, against the insecure one-liners.

All figures in a row come from one interleaved run; compare the ratios. Times are processor time, which a busy
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

_MECHANISMS = {
    "exponential": PermuteAndFlip(scale=1),
    "gumbel": Exponential(scale=1),
    "laplace": NoisyMax(scale=1, noise="laplace"),
}
"""The mechanisms by NumPy's name of a noise: the largest noisy score has the mechanism's law."""


def _took(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return how long the work took, in seconds."""
    start = clock()
    work()
    return clock() - start


def _rows(shapes: Sequence[tuple[int, int]]) -> list[str]:
    lines = [
        "| rows × candidates | one-liner | mechanism | `select_each` | × one-liner | × with its own noise |",
        "|---|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(1)
    for rows, size in shapes:
        table = 5 * rng.standard_normal((rows, size))

        def one_liner(noise: str, table: Any = table) -> object:
            return np.argmax(table + getattr(rng, noise)(size=table.shape), axis=1)

        for noise, mechanism in _MECHANISMS.items():
            calls: dict[str, Callable[[], object]] = {
                "ours": partial(mechanism.select_each, table, sensitivity=1),
                "one-liner": partial(one_liner, "exponential"),
                "own": partial(one_liner, noise),
            }
            took = dict.fromkeys(calls, float("inf"))
            for _ in range(5):
                for name, call in calls.items():
                    took[name] = min(took[name], _took(call, time.process_time))
            ours, base = took["ours"], took["one-liner"]
            lines.append(
                f"| {rows:,} × {size:,} | {1000 * base:.0f} ms | {mechanism.name} | {1000 * ours:.0f} ms "
                f"| {ours / base:.2f} | {ours / took['own']:.2f} |"
            )
    return lines


def _memory() -> str:
    table = 5 * np.random.default_rng(1).standard_normal((10_000, 10))
    mechanism = _MECHANISMS["exponential"]
    mechanism.select_each(table, sensitivity=1)
    tracemalloc.start()
    mechanism.select_each(table, sensitivity=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"Memory beside the input, 10,000 × 10: {peak / table.nbytes:.1f} × the input."


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and record it if requested."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    shapes = [(10**6, 10), (10**5, 1000)] if chosen.large else [(10**5, 10), (10**4, 1000)]
    lines = [
        "`select_each` on float64 scores, normal and five scales wide, against "
        "`np.argmax(q + rng.exponential(size=q.shape), axis=1)`, whose noise is neither exact nor secure. "
        "In the last column the noise is that of the mechanism: exponential, Gumbel or Laplace. Least "
        "processor time of five interleaved runs.",
        "",
        *_rows(shapes),
        "",
        _memory(),
        "",
        "`mode` with `by=`, which chooses in this way, stands among the questions of tables.",
    ]
    table = "\n".join(lines)
    print(table)
    if chosen.record:
        record("select_each", "Many rows at once", table)


if __name__ == "__main__":
    main()
