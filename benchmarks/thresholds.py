"""Thresholds: time for one answer and for a long vector, and what exponential noise gains over Laplace.

The last table shows whether choosing the largest values still beats asking about one value after another if
all are known at once, as Lyu, Su and Li found for Laplace noise.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.timing import medians, record
from discreet import AboveThreshold, PermuteAndFlip, Scores
from discreet._exact.distribution.crossings import Panels
from discreet._exact.numbers.searches import least_root
from discreet.mechanisms import STREAMS, CrossingRule

_ASKED = 10_000
_LENGTH = 1000


def _processor_time(work: Callable[[], object], *, runs: int) -> float:
    """Return the median time, because interruptions by other processes last longer than an answer."""
    spent = []
    for _ in range(runs):
        start = time.thread_time()
        work()
        spent.append(time.thread_time() - start)
    return sorted(spent)[runs // 2]


def _times(seconds: float, size: int) -> list[str]:
    rng = np.random.default_rng(3)
    streams = {
        "nothing near": rng.uniform(0, 100, _ASKED).tolist(),
        "all within two scales below": rng.uniform(450, 460, _ASKED).tolist(),
    }
    lines = ["| values | one `ask`, µs of processor time |", "|---|---|"]
    for name, values in streams.items():

        def asked(values: list[float] = values) -> None:
            # A watch that has ended starts again.
            watch = AboveThreshold(1, threshold=500, sensitivity=1)
            for value in values:
                watch.ask(value)
                if not watch.left:
                    watch = AboveThreshold(1, threshold=500, sensitivity=1)

        spent = _processor_time(asked, runs=9) / _ASKED
        lines.append(f"| {name} | {1e6 * spent:.2f} |")
    lines += [
        "",
        f"| {size:,} values at once | `np.argmax(q > threshold)`, ms | `ask_all`, ms | 3 × that and 1 ms |",
        "|---|---|---|---|",
    ]
    vectors = {
        "floats, nothing near": rng.uniform(0, 100, size),
        "whole numbers, nothing near": rng.integers(0, 100, size),
        "floats, the last one crosses": np.append(rng.uniform(0, 100, size - 1), 10_000.0),
    }
    for name, vector in vectors.items():

        def plain(vector: np.ndarray = vector) -> object:
            return np.argmax(vector > 500)

        def ours(vector: np.ndarray = vector) -> object:
            return AboveThreshold(1, threshold=500, sensitivity=1).ask_all(vector)

        found = medians({"plain": plain, "ours": ours}, seconds=seconds)
        least, taken = 1e3 * found["plain"], 1e3 * found["ours"]
        lines.append(f"| {name} | {least:.3f} | {taken:.3f} | {3 * least + 1:.3f} |")
    return lines


def _right(rule: CrossingRule, crossings: int, margin: float) -> float:
    """Return the chance of naming exactly the ``crossings`` values above the threshold by the margin."""
    correction = float(rule.scales.correction)
    low, high = -margin - correction, margin - correction
    panels = Panels(rule.scales, [low, high], longest=_LENGTH, steepest=_LENGTH)
    quiet = (_LENGTH - crossings) * panels.log_chances(np.array([low]), above=False)[0]
    crossed = crossings * panels.log_chances(np.array([high]), above=True)[0]
    return float(np.exp(panels.log_weights + quiet + crossed).sum())


def _peeled(crossings: int, margin: float) -> float:
    """Return the same chance if the largest are chosen one after the other, each with its share of ε."""
    mechanism = PermuteAndFlip(epsilon=1 / crossings)
    chance = 1.0
    for left in range(crossings, 0, -1):
        values = [margin] * left + [-margin] * (_LENGTH - crossings)
        chances = mechanism.probabilities(Scores(values, sensitivity=1, monotonic=True))
        chance *= float(chances[:left].sum())
    return chance


def _margin(right: Callable[[float], float]) -> float:
    found = least_root(lambda log: 0.95 - right(math.exp(log)), farthest=30.0)
    assert found is not None
    return math.exp(found)


def _errors() -> list[str]:
    lines = [
        f"ε = 1, one person adds at most 1 to each of {_LENGTH:,} counts, c of which are above. The "
        "deviation is that of one comparison. The margin is how far every count must be from the threshold, "
        "so that all answers are right with probability 0.95.",
        "",
        "| c | deviation, exponential | deviation, Laplace | margin, exponential | margin, Laplace | margin, "
        "the c largest by permute-and-flip, known at once |",
        "|---|---|---|---|---|---|",
    ]
    for crossings in (1, 10, 100):
        rules = [
            make(1, threshold=0, sensitivity=1, crossings=crossings, monotonic=True)
            for make in STREAMS.values()
        ]
        margins = [_margin(partial(_right, rule, crossings)) for rule in rules]
        cells = [math.sqrt(rule.scales.variance) for rule in rules] + margins
        cells.append(_margin(partial(_peeled, crossings)))
        lines.append(f"| {crossings} | " + " | ".join(f"{cell:,.1f}" for cell in cells) + " |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="a million values, and for longer")
    parser.add_argument("--record", action="store_true", help="write results/thresholds.md")
    chosen = parser.parse_args(arguments)
    lines = _times(2.0 if chosen.large else 0.3, 10**6 if chosen.large else 10**5)
    lines += ["", "## Error at equal ε", "", *_errors()]
    print("\n".join(lines))
    if chosen.record:
        record("thresholds", "Above a threshold", "\n".join(lines))


if __name__ == "__main__":
    main()
