"""Probability mass functions: time against a softmax, and error against ball arithmetic.

Run: python benchmarks/probabilities.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from discreet._exact.distribution import (
    exponential,
    noisy_max_laplace,
    permute_and_flip,
    reference,
)
from discreet.papers.permute_and_flip.supplement import dynamic_program_in_floats

Floats = npt.NDArray[np.float64]
GOLDEN = 0.6180339887498949


def softmax(gaps: Floats) -> Floats:
    weights = np.exp(-gaps)
    weights /= weights.sum()
    return weights


def shapes(size: int) -> dict[str, Floats]:
    scattered = (np.arange(size) * GOLDEN) % 1.0
    behind = np.where(np.arange(size) == 0, 0.0, 14.0 + scattered)
    return {
        "all equal": np.zeros(size),
        "spread over 10": 10 * scattered,
        "spread over 1000": 1000 * scattered,
        "one best, others at 14": behind,
    }


def least(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def print_times() -> None:
    functions = (permute_and_flip, exponential, noisy_max_laplace)
    print(f"{'n':>8}  {'shape':24} {'softmax':>10}", end="")
    print("".join(f" {f.__name__:>26}" for f in functions))
    for size in (10**3, 10**5, 10**6):
        for name, gaps in shapes(size).items():
            repeats = 5 if size > 10**5 else 15
            base = least(lambda g=gaps: softmax(g), repeats)  # type: ignore[misc]  # bound now
            print(f"{size:>8}  {name:24} {1e3 * base:7.2f} ms", end="")
            for function in functions:
                function(gaps)
                taken = least(lambda f=function, g=gaps: f(g), repeats)  # type: ignore[misc]  # same
                print(f" {1e3 * taken:12.2f} ms ({taken / base:5.1f} ×)", end="")
            print()


def print_sums() -> None:
    print("\ndistance of the sum from 1, n = 1,000,000")
    for name, gaps in shapes(10**6).items():
        off = [
            abs(math.fsum(f(gaps).tolist()) - 1)
            for f in (permute_and_flip, exponential, noisy_max_laplace)
        ]
        print(f"  {name:24} " + "  ".join(f"{value:.1e}" for value in off))


def print_errors() -> None:
    print("\nlargest relative error of any probability against ball arithmetic")
    for size in (10, 100, 1000):
        for name, gaps in shapes(size).items():
            # Gaps up to 690 keep every probability in float64's range.
            within = np.minimum(gaps, 690.0)
            exact = [Fraction(gap) for gap in within.tolist()]
            row = []
            for function, balls in (
                (permute_and_flip, reference.permute_and_flip_ball(exact, bits=100)),
                (noisy_max_laplace, reference.noisy_max_laplace_ball(exact, bits=64)),
            ):
                found = function(within).tolist()
                with ctx.workprec(150):
                    pairs = zip(found, balls, strict=True)
                    row.append(max(float(abs(arb(p) / ball - 1)) for p, ball in pairs))
            print(f"  {size:>5} {name:24} " + "  ".join(f"{error:.1e}" for error in row))


def print_recurrence() -> None:
    print("\nthe Appendix E recurrence in float64: sum of its probabilities, and of ours")
    for size in (20, 60, 80, 100, 200):
        gaps = np.linspace(0.0, 1.5, size)
        theirs = dynamic_program_in_floats(np.exp(-gaps)).sum()
        print(f"  {size:>5} {theirs:25.15g} {permute_and_flip(gaps).sum():22.17g}")


def main(_arguments: Sequence[str] = ()) -> None:
    print_times()
    print_sums()
    print_errors()
    print_recurrence()


if __name__ == "__main__":
    main()
