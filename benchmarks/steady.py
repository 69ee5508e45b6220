"""Whether the time of a steady release reveals the shape of the scores: Welch's test on interleaved timings.

Every shape is copied into the same place in memory before it is timed, in a random order, so neither caches
nor the moment favour one. As in dudect (Reparaz, Balasch and Verbauwhede, 2017), the slowest times, which
show other work on the machine, are left out (here half of each shape's times), and |t| above 4.5 counts as a
difference. The second set of uniform scores is the control: its t shows what the machine does without a
difference. Both the wall clock, which an attacker sees, and the thread's processor time are tested: on a busy
machine, differences that drown in wall-clock time still show in processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind

from benchmarks.shapes import all_equal, clear_winner, within_20_scales
from benchmarks.timing import record
from discreet import PermuteAndFlip, Scores

_SIZE = 10**5
_BASE = "uniform"


Times = NDArray[np.float64]


def _shapes(rng: np.random.Generator) -> dict[str, Times]:
    return {
        _BASE: rng.uniform(0.0, 1000.0, _SIZE),
        "uniform, drawn again": rng.uniform(0.0, 1000.0, _SIZE),
        "clear winner": clear_winner(_SIZE, rng),
        "all equal": all_equal(_SIZE, rng),
        "within 20 scales": within_20_scales(_SIZE, rng),
        "far beyond the float's range": rng.choice([-1.7e308, 1.7e308], _SIZE),
        "subnormal": rng.uniform(0.0, 1.0, _SIZE) * 1e-310,
    }


def timings(*, steady: bool, rounds: int, rng: np.random.Generator) -> dict[str, Times]:
    """Return the microseconds of ``rounds`` releases of each shape by both clocks, in random order."""
    mechanism = PermuteAndFlip(epsilon=1, steady=steady)
    shapes = _shapes(rng)
    place = np.empty(_SIZE)
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in shapes}
    for _ in range(rounds):
        for name in rng.permutation(list(shapes)).tolist():
            place[:] = shapes[name]
            scores = Scores(place, sensitivity=1)
            wall, processor = time.perf_counter(), time.thread_time()
            mechanism.select_index(scores)
            processor, wall = time.thread_time() - processor, time.perf_counter() - wall
            spent[name].append((1e6 * wall, 1e6 * processor))
    return {name: np.array(times).T for name, times in spent.items()}


def welch(one: Times, other: Times) -> float:
    """Return Welch's t for the quicker halves of two sets of times."""
    quick = (times[times <= np.median(times)] for times in (one, other))
    return float(ttest_ind(*quick, equal_var=False).statistic)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="2,000 releases of each shape")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/steady.md")
    chosen = parser.parse_args(arguments)
    rounds = 2000 if chosen.large else 300
    rng = np.random.default_rng(11)
    lines = [
        f"One release of permute-and-flip over {_SIZE:,} candidates, {rounds:,} times for each shape, "
        "interleaved; microseconds. *t*: Welch's test against uniform scores, on the quicker half of each. "
        "Above 4.5 in size, time tells them apart.",
    ]
    for steady in (True, False):
        spent = timings(steady=steady, rounds=rounds, rng=rng)
        lines += ["", f"## steady={steady}", ""]
        lines.append(
            "| scores | least | median | least, % more | t, wall clock | t, processor time |"
        )
        lines.append("|---|---|---|---|---|---|")
        base = spent[_BASE]
        for name, times in spent.items():
            least, usual = times[0].min(), np.median(times[0])
            statistics = [
                "–" if name == _BASE else f"{welch(ours, theirs):.1f}"
                for ours, theirs in zip(times, base, strict=True)
            ]
            more = f"{100 * (least / base[0].min() - 1):+.1f}"
            lines.append(
                f"| {name} | "
                + " | ".join([f"{least:,.0f}", f"{usual:,.0f}", more, *statistics])
                + " |"
            )
            print(lines[-1], flush=True)
    if chosen.record:
        record("steady", "Whether time tells scores apart", "\n".join(lines))


if __name__ == "__main__":
    main()
