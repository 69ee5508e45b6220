"""Several quantiles at once: our recursion against the two best published schemes that we know.

*Recursion* is ``discreet.questions.quantiles``. In *64 places* six coin flips separate people who share a
value, as in earlier versions. *Joint* is one exponential mechanism over all increasing lists of points; the
score is how far the numbers of people between them are off (Gillenwater, Joseph and Kulesza, 2102.08244), and
a Markov chain over the points draws the list. *Slices* moves ranks by correlated noise from continual
counting, then makes one choice in a slice of the people around each rank (2505.13662, as we read it, with
half of ε for each step). The last two are drawn in floats, for this comparison only; people who share a value
are spread out as in the recursion. If slices overlap, nothing is proved about them. Figures are the mean,
over draws, of the largest rank error of the m quantiles, in people, when one person is added or removed.

Run: python -m benchmarks [--large] [--record] quantiles
with the DPBench histograms (NAME.n4096.npy) in ../shared/data/dpbench, or in the folder DISCREET_DPBENCH.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import record
from discreet import PermuteAndFlip
from discreet._exact.sampling import SecureBits
from discreet.questions.quantiles import recursive, spread_out

RNG = np.random.default_rng(20261117)
BESIDE = Path(__file__).parents[2] / "shared" / "data" / "dpbench"
REAL = Path(os.environ.get("DISCREET_DPBENCH", BESIDE))
POINTS = 1024


def columns() -> dict[str, Any]:
    """Return the number of people at each grid point, by column."""
    people = 20_000
    skewed = np.minimum(np.exp(RNG.normal(4, 1, people)), POINTS - 1)
    lumpy = np.where(RNG.random(people) < 0.5, 100, RNG.integers(0, POINTS, people))
    values = {"uniform": RNG.integers(0, POINTS, people), "skewed": skewed, "lumpy": lumpy}
    found = {
        name: np.bincount(drawn.astype(np.int64), minlength=POINTS)
        for name, drawn in values.items()
    }
    for path in sorted(REAL.glob("*.n4096.npy")):
        name = path.name.partition(".")[0]
        found[name] = np.load(path).reshape(POINTS, -1).sum(axis=1).astype(np.int64)
    return found


def largest_error(people: Any, places: Sequence[int], levels: Sequence[Fraction]) -> float:
    up_to, total = np.cumsum(people), int(people.sum())
    return max(
        max(0.0, float(a * total - up_to[p]), float(up_to[p] - people[p] - a * total))
        for p, a in zip(places, levels, strict=True)
    )


def by_recursion(
    people: Any, levels: Sequence[Fraction], epsilon: float, coins: int | None = None
) -> list[int]:
    depths = len(levels).bit_length()
    chooser = PermuteAndFlip(epsilon=Fraction(epsilon).limit_denominator(1000) / depths)
    bits = SecureBits()
    return recursive(people, levels, chooser, neighbours="add-remove", bits=bits, coins=coins)


def jointly(people: Any, levels: Sequence[Fraction], epsilon: float) -> list[int]:
    """Compute the chain's forward weights, then draw from the last quantile back to the first."""
    parts = np.diff([0.0, *map(float, levels), 1.0])
    up_to, total = np.cumsum(people).astype(float), float(people.sum())
    scale = 4 * (1 - parts.min()) / epsilon
    step = up_to[None, :] - up_to[:, None]
    apart = np.triu(np.ones_like(step)) == 0
    forward = [-np.abs(up_to - parts[0] * total) / scale]
    kernels = []
    for part in parts[1:-1]:
        kernel = -np.abs(step - part * total) / scale
        kernel[apart] = -np.inf
        kernels.append(part)
        weights = forward[-1][:, None] + kernel
        top = weights.max(axis=0)
        forward.append(top + np.log(np.exp(weights - top).sum(axis=0)))
    last = forward[-1] - np.abs(total - up_to - parts[-1] * total) / scale
    places = [_drawn(last)]
    for weights, part in zip(forward[-2::-1], kernels[::-1], strict=True):
        after = places[0]
        kernel = -np.abs(up_to[after] - up_to - part * total) / scale
        kernel[after + 1 :] = -np.inf
        places.insert(0, _drawn(weights + kernel))
    return places


def on_a_finer_line(
    draw: Callable[[Any, Sequence[Fraction], float], list[int]],
) -> Callable[[Any, Sequence[Fraction], float], list[int]]:
    """Return ``draw`` with people who share a value spread over several positions, as many as time allows."""

    def drawn(people: Any, levels: Sequence[Fraction], epsilon: float) -> list[int]:
        fineness = 6 if draw is by_slices else 1 if len(levels) < 9 else 0
        line = spread_out(people, fineness, SecureBits())
        return [place >> fineness for place in draw(line, levels, epsilon)]

    return drawn


def _drawn(weights: Any) -> int:
    chances = np.exp(weights - weights.max())
    return int(np.searchsorted(np.cumsum(chances), RNG.random() * chances.sum()))


def by_slices(people: Any, levels: Sequence[Fraction], epsilon: float) -> list[int]:
    total, m = int(people.sum()), len(levels)
    up_to = np.cumsum(people)
    tree = max(1, math.ceil(math.log2(m)) + 1)
    nodes: dict[tuple[int, int], float] = {}

    def noise(index: int) -> float:
        """Add the noise of the binary tree's nodes that cover the first ``index`` quantiles."""
        found, start = 0.0, 0
        for level in reversed(range(index.bit_length())):
            if index >> level & 1:
                key = (level, start)
                nodes.setdefault(key, RNG.laplace(scale=2 * tree / epsilon))
                found += nodes[key]
                start += 1 << level
        return found

    gap = min(
        float(b - a) for a, b in zip([Fraction(0), *levels], [*levels, Fraction(1)], strict=True)
    )
    wide = 4 / epsilon * math.log(len(people) * m / 0.001)
    half = int(max(1, min(wide, gap * total / 2)))
    places = []
    for index, level in enumerate(levels, start=1):
        rank = min(max(int(level * total + noise(index)), half), total - half)
        inside = np.clip(up_to, rank - half, rank + half) - (rank - half)
        before = inside - np.diff(inside, prepend=0)
        score = np.maximum(np.maximum(half - inside, before - half), 0)
        places.append(_drawn(-score / (4 / epsilon)))
    return places


METHODS: dict[str, Callable[[Any, Sequence[Fraction], float], list[int]]] = {
    "recursion": by_recursion,
    "64 places": lambda people, levels, epsilon: by_recursion(people, levels, epsilon, coins=6),
    "slices": on_a_finer_line(by_slices),
    "joint": on_a_finer_line(jointly),
}
MOST_JOINTLY = 9
"""The most levels for the chain; it is too slow for more."""
MANY = 1_000_000
"""Columns with more people than this get fewer draws."""


def table(draws: int, sizes: Sequence[int]) -> tuple[str, str]:
    """Return the rows of the table, and a sentence that compares the recursion with slices."""
    lines = [
        "| column | people | m | ε | " + " | ".join(METHODS) + " |",
        "|---" * (4 + len(METHODS)) + "|",
    ]
    ratios = []
    for name, people in columns().items():
        for m in sizes:
            levels = [Fraction(i, m + 1) for i in range(1, m + 1)]
            for epsilon in (0.1, 0.5, 1.0):
                found = {}
                for method, draw in METHODS.items():
                    if method == "joint" and m > MOST_JOINTLY:
                        continue
                    few = method == "joint" or people.sum() > MANY
                    times = max(3, draws // 8) if few else draws
                    errors = [
                        largest_error(people, draw(people, levels, epsilon), levels)
                        for _ in range(times)
                    ]
                    found[method] = float(np.mean(errors))
                # If both are off by less than one person, a ratio means nothing.
                ratios.append(max(found["recursion"], 1) / max(found["slices"], 1))
                figures = " | ".join(
                    "" if each is None else f"{each:,.0f}" if each >= 10 else f"{each:.1f}"
                    for each in map(found.get, METHODS)
                )
                lines.append(f"| {name} | {int(people.sum()):,} | {m} | {epsilon:g} | {figures} |")
                print(lines[-1], flush=True)
    below = sum(ratio <= 1 for ratio in ratios)
    words = (
        f"The recursion is off by no more people than slices in {below} of {len(ratios)} rows; at worst it "
        f"is off by {max(ratios):.2f} times as many (errors below one person count as one)."
    )
    return "\n".join(lines), words


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    found, compared = table(24, (3, 9, 99)) if chosen.large else table(4, (3, 9))
    words = (
        "Mean of the largest rank error of m quantiles, in people, on a grid of 1024 points: our recursion "
        "(1024 places for each point, and 64 as before), slices around ranks moved by continual counting, "
        "and one exponential mechanism over all increasing lists (the last two in floats, for comparison "
        "only; the joint chain sees people who share a value spread over two places at most):"
    )
    print(f"{words}\n\n{found}\n\n{compared}")
    if chosen.record:
        record("quantiles", "Quantiles", f"{words}\n\n{found}\n\n{compared}")
