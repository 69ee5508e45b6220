"""Analysis before spending: how long planning, comparing and optimising take, and what laziness saves.

Run: python -m benchmarks analysis [--large]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet import Exponential, NoisyMax, PermuteAndFlip, Scores
from discreet.analysis import (
    compare,
    epsilon_for,
    expected_error,
    optimality_ratio,
    worst_case_error,
)
from discreet.lazy import LazyPermuteAndFlip

GOLDEN = 0.6180339887498949


def least(call: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def scattered(size: int) -> Scores:
    values = np.floor(2000 * ((np.arange(size) * GOLDEN) % 1.0)).astype(np.int64)
    return Scores(values, sensitivity=1, monotonic=True)


def softmax(gaps: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    weights = np.exp(-gaps)
    weights /= weights.sum()
    return weights


def print_study(sizes: Sequence[int]) -> None:
    ours, laplace = PermuteAndFlip(epsilon="0.1"), NoisyMax(epsilon="0.1", noise="laplace")
    columns = ("softmax", "expected error", "with Laplace", "ε for a target", "compare (6 ε)")
    print(f"{'n':>9}" + "".join(f" {name:>15}" for name in columns))
    for size in sizes:
        scores = scattered(size)
        gaps = (scores.values.max() - scores.values) * 0.1
        taken = (
            least(partial(softmax, gaps)),
            least(partial(expected_error, ours, scores)),
            least(partial(expected_error, laplace, scores), 1),
            least(partial(epsilon_for, PermuteAndFlip, scores, expected_error=5), 2),
            least(partial(compare, scores, [PermuteAndFlip, Exponential], "0.1:1:6"), 2),
        )
        print(f"{size:>9}" + "".join(f" {1e3 * seconds:12.1f} ms" for seconds in taken))


def print_public() -> None:
    print("\nWithout data")
    for n in (10**3, 10**6, 10**12):
        taken = least(partial(worst_case_error, PermuteAndFlip(epsilon=1), n))
        print(f"  worst case of permute-and-flip, n = {n:.0e}: {1e3 * taken:.2f} ms")
    taken = least(lambda: epsilon_for(PermuteAndFlip, n=10**6, expected_error=5), 1)
    print(f"  ε for a target, n = 1e+06: {1e3 * taken:.1f} ms")


def print_optimality(large: bool) -> None:
    print("\nThe best possible mechanism (linear program, ε = 0.32)")
    lattices: list[tuple[int, int, str]] = [(4, 8, "worst"), (4, 8, "all"), (6, 8, "worst")]
    for n, k, neighbours in lattices + ([(5, 8, "all"), (6, 8, "all")] if large else []):
        start = time.perf_counter()
        ratio = optimality_ratio(PermuteAndFlip, epsilon="0.32", n=n, k=k, neighbours=neighbours)
        taken = time.perf_counter() - start
        print(f"  n = {n}, k = {k}, {neighbours:5} neighbours: ratio {ratio:.5f} in {taken:.2f} s")


def print_lazy(large: bool) -> None:
    """Time choosing the model with the fewest mistakes on sensitive records; training uses public records."""
    people, features, models = (800, 120, 1000) if large else (400, 60, 300)
    numbers = np.random.default_rng(7)
    truth = numbers.normal(size=features)

    def sample(count: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        table = numbers.normal(size=(count, features))
        return table, np.sign(table @ truth)

    public, sensitive = sample(people), sample(120)
    subsets = [numbers.random(features) < share for share in np.linspace(0.3, 1.0, models)]

    def mistakes(model: int) -> int:
        chosen = subsets[model]
        fitted, *_ = np.linalg.lstsq(public[0][:, chosen], public[1], rcond=None)
        return int((np.sign(sensitive[0][:, chosen] @ fitted) != sensitive[1]).sum())

    start = time.perf_counter()
    scores = Scores([mistakes(model) for model in range(models)], sensitivity=1, monotonic=True)
    everyone = time.perf_counter() - start
    print(
        f"\nLazy evaluation: {models} models to train, best {scores.values.min()} mistakes of 120"
    )
    print(f"  {'ε':>5} {'all':>8} {'lazy':>8} {'trained':>8} {'foretold':>9} {'Pr[none]':>9}")
    for epsilon in ("0.1", "0.2", "0.5"):
        lazy = LazyPermuteAndFlip(epsilon, bound=0, sensitivity=1, monotonic=True, optimize="min")
        trained: list[int] = []

        def counted(model: int, trained: list[int] = trained) -> int:
            trained.append(model)
            return mistakes(model)

        rounds = 3
        start = time.perf_counter()
        for _ in range(rounds):
            lazy.select(range(models), counted)
        taken = (time.perf_counter() - start) / rounds
        print(
            f"  {epsilon:>5} {everyone:6.2f} s {taken:6.2f} s {len(trained) / rounds:8.1f} "
            f"{lazy.expected_evaluations(scores):9.1f} {lazy.probabilities(scores)[-1]:9.3f}"
        )


def main(arguments: Sequence[str] = ()) -> None:
    """Print every table; ``--large`` for full sizes."""
    large = "--large" in arguments
    print_study([10**3, 10**5, 10**6] if large else [10**3, 10**5])
    print_public()
    print_optimality(large)
    print_lazy(large)


if __name__ == "__main__":
    main()
