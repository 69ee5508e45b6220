"""Expected error of a large-gap mechanism beside permute-and-flip and exponential randomized response.

Run: python benchmarks/large_gap.py FOLDER [--delta 1e-6]
with the DPBench histograms (NAME.n4096.npy) in FOLDER.

Scores are the counts of 1024 bins (sums of four); one person is added or removed, so Δ = d = 1 and the scores
are monotonic. The gate is the best possible propose-test-release. Half of ε pays for the test whether the
lead is large, which says yes with the largest probability that (ε/2, δ) allows. If it says no, the other half
pays for permute-and-flip.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import ExponentialRandomizedResponse, PermuteAndFlip, Scores
from discreet.mechanisms import LargeGap

NAMES = ("HEPTH", "ADULTFRANK", "MEDCOST", "SEARCHLOGS", "PATENT")
EPSILONS = ("0.001", "0.01", "0.1", "1")
BINS = 1024


def histogram(folder: Path, name: str) -> npt.NDArray[np.int64]:
    fine = np.load(folder / f"{name}.n4096.npy")
    return np.asarray(fine.reshape(BINS, -1).sum(axis=1), dtype=np.int64)


def gate_chance(steps: float, epsilon: float, delta: float) -> float:
    """Return the largest chance of naming the best that (ε, δ) allows if it leads by this many steps of d.

    The chance grows from zero as fast as δ and e^ε allow, then approaches one as fast as they allow.
    """
    a = delta / math.expm1(epsilon)
    rising = a * math.expm1(min(epsilon * steps, 700.0))
    # Once the chance of yes has passed one half, the chance of no falls as fast as the chance of yes rose.
    turn = math.log1p(0.5 / a) / epsilon
    if steps <= turn:
        return min(rising, 0.5)
    return min(1.0, 1.0 - math.exp(-epsilon * (steps - turn)) * (0.5 + a) + a)


def gate_error(counts: npt.NDArray[np.int64], epsilon: str, delta: str) -> float:
    ranked = np.sort(counts)[::-1]
    half = Fraction(epsilon) / 2
    passes = gate_chance(float(ranked[0] - ranked[1]), float(half), float(delta))
    return (1 - passes) * error(PermuteAndFlip(epsilon=half), counts)


def error(mechanism: Any, counts: npt.NDArray[np.int64]) -> float:
    """Return how far below the best count the answer lies, on average."""
    chances = mechanism.probabilities(Scores(counts, sensitivity=1, monotonic=True))
    return float(chances @ (counts.max() - counts))


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--large", action="store_true", help="the same: it is quick")
    parser.add_argument("--record", action="store_true", help="print only; the proof page has it")
    parser.add_argument("--delta", default="1e-6")
    parser.add_argument("--truth", default="0.75")
    arguments = parser.parse_args(given)
    if arguments.folder is None:
        print("needs the DPBench histograms: python -m benchmarks.large_gap FOLDER")
        return
    print(
        "| data | lead | ε | permute-and-flip | large gap | saved | gate, ε/2 + ε/2 | ERR (not private) |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in NAMES:
        counts = histogram(arguments.folder, name)
        ranked = np.sort(counts)[::-1]
        for epsilon in EPSILONS:
            plain = error(PermuteAndFlip(epsilon=epsilon), counts)
            ours = error(LargeGap(epsilon=epsilon, delta=arguments.delta), counts)
            gate = gate_error(counts, epsilon, arguments.delta)
            response = error(
                ExponentialRandomizedResponse(epsilon=epsilon, truth=arguments.truth), counts
            )
            saved = 1 - ours / plain if plain > 0 else 0.0
            print(
                f"| {name} | {ranked[0] - ranked[1]:,} | {epsilon} | {plain:.4g} | {ours:.4g} "
                f"| {saved:.2%} | {gate:.4g} | {response:.4g} |"
            )


if __name__ == "__main__":
    main()
