"""Top-k: how far each method's answers fall short, and how long the joint sampler takes.

The shortfall of an answer is the largest c_(i) − c_{s_i} over its k positions; a set is first sorted, largest
count first. Every method has the same ε, or the same ρ, and sees the same counts; neighbours differ by adding
or removing one person.

Run: python -m benchmarks [--large] [--record] top_k
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import RESULTS, medians, record
from discreet import Exponential, PermuteAndFlip, Scores
from discreet._exact.gaps import Gaps
from discreet._exact.sampling import SecureBits
from discreet._exact.sampling.joint_sets import joint_set
from discreet._exact.sampling.joint_top_k import joint_first
from discreet._exact.sampling.noisy_order import noisy_first
from discreet.analysis.charts.style import line_chart, styled
from discreet.questions.of_candidates import set_shortfall
from discreet.questions.top_k import joint_distance, peeled

RNG = np.random.default_rng(20261117)


def shapes(n: int) -> dict[str, Any]:
    ranks = np.arange(1, n + 1)
    return {
        "200000/i": 200_000 // ranks,
        "20000/i": 20_000 // ranks,
        "5000/i": 5_000 // ranks,
        "Poisson(2000)": RNG.poisson(2000, n),
        "Poisson(50)": RNG.poisson(50, n),
        "uniform to 5000": RNG.integers(0, 5000, n),
        "uniform to 300": RNG.integers(0, 300, n),
        "20000·0.99^i": (20_000 * 0.99**ranks).astype(np.int64),
    }


SHAPES = shapes(1000)
SIZES = (100, 1000, 10_000)
ASKED = {"200000/i": 50, "20000/i": 50, "5000/i": 20, "Poisson(2000)": 10}
CHARTED = (*ASKED, "Poisson(50)", "uniform to 5000")
METHODS = ("peeling", "one-shot", "joint")
PLACES = (1, 2, 3, 4, 5, 7, 10, 20, 50)


def shortfall(counts: Any, chosen: Sequence[int]) -> int:
    best = np.sort(counts)[::-1][: len(chosen)]
    return int((best - counts[np.array(chosen)]).max())


def methods(counts: Any, k: int, epsilon: Fraction) -> dict[str, Callable[[], list[int]]]:
    distance = joint_distance(k, "add-remove", one_value=False)
    scores = Scores(counts, sensitivity=1, monotonic=True)
    flips = PermuteAndFlip(epsilon=epsilon / k)
    return {
        "peeling": lambda: peeled(
            scores.values[None, :], flips, k, scores.range_distance, SecureBits()
        )[0],
        "one-shot": lambda: noisy_first(Gaps(counts, scale=k / epsilon), k, SecureBits()),
        "joint": lambda: joint_first(counts, k, scale=distance / epsilon, bits=SecureBits()),
    }


def mean_shortfalls(
    counts: Any, k: int, epsilon: Fraction, draws: int, *, asked: Sequence[str] = METHODS
) -> dict[str, float]:
    found = methods(counts, k, epsilon)
    return {
        name: float(np.mean([shortfall(counts, found[name]()) for _ in range(draws)]))
        for name in asked
    }


def drawn(counts: Any, k: int) -> list[int]:
    return joint_first(counts, k, scale=Fraction(2), bits=SecureBits())


def by_default(k: int) -> str:
    return "joint" if k > 4 else "one-shot"


def asked_table(draws: int) -> str:
    lines = [
        "| counts | k | peeling | one-shot | joint | by default |",
        "|---|---|---|---|---|---|",
    ]
    for name, k in ASKED.items():
        found = mean_shortfalls(SHAPES[name], k, Fraction(1), draws)
        figures = " | ".join(f"{found[method]:.1f}" for method in METHODS)
        lines.append(f"| {name} | {k} | {figures} | {found[by_default(k)]:.1f} |")
    return "\n".join(lines)


def rule_table(draws: int) -> tuple[str, list[dict[str, Any]]]:
    """Compare one-shot and joint for every shape; the default changes at the k where they are about even."""
    lines = ["| counts, ε | " + " | ".join(f"k = {k}" for k in PLACES) + " |"]
    lines.append("|---" * (len(PLACES) + 1) + "|")
    records = []
    for name, counts in SHAPES.items():
        for epsilon in (Fraction(1), Fraction(1, 10)):
            cells = []
            for k in PLACES:
                found = mean_shortfalls(counts, k, epsilon, draws)
                cells.append(f"{found['one-shot']:.1f} / {found['joint']:.1f}")
                ratio = (found["joint"] + 1) / (found["one-shot"] + 1)
                if epsilon == 1 and name in CHARTED:
                    records.append({"counts": name, "k": k, "ratio": ratio})
            lines.append(f"| {name}, {float(epsilon):g} | " + " | ".join(cells) + " |")
    return "\n".join(lines), records


def set_table(draws: int) -> str:
    """Return a table that compares ordered answers and sets at the same ε, both judged as sets."""
    lines = ["| candidates | counts | k | ordered | set |", "|---|---|---|---|---|"]
    for n in (100, 1000):
        flat = np.random.default_rng(1)
        for name, counts in {
            "2000/i": 2000 // np.arange(1, n + 1),
            "20000/i": 20_000 // np.arange(1, n + 1),
            "uniform to 300": flat.integers(0, 300, n),
            "Poisson(200)": flat.poisson(200, n),
        }.items():
            for k in (5, 10, 20):
                scale = Fraction(joint_distance(k, "add-remove", one_value=False))
                figures = " | ".join(
                    f"{mean_set_shortfall(choose, counts, k, scale, draws):.1f}"
                    for choose in (_tuple, _set)
                )
                lines.append(f"| {n:,} | {name} | {k} | {figures} |")
    return "\n".join(lines)


def mean_set_shortfall(
    choose: Callable[[Any, int, Fraction], list[int]],
    counts: Any,
    k: int,
    scale: Fraction,
    draws: int,
) -> float:
    return sum(set_shortfall(counts, choose(counts, k, scale)) for _ in range(draws)) / draws


def _tuple(counts: Any, k: int, scale: Fraction) -> list[int]:
    return joint_first(counts, k, scale=scale, bits=SecureBits())


def _set(counts: Any, k: int, scale: Fraction) -> list[int]:
    return joint_set(counts, k, scale=scale, bits=SecureBits())


def _peeled(counts: Any, k: int, epsilon: Fraction) -> list[int]:
    return peeled(counts[None, :], Exponential(epsilon=epsilon / k), k, 1, SecureBits())[0]


def rho_table(draws: int) -> str:
    """Compare at the ρ of one choice at ε: peeling has √k·ε in total, so ε/√k for each of its k choices."""
    lines = [
        "| counts, ε | k | peeling, in order | joint | peeling, as a set | set |",
        "|---|---|---|---|---|---|",
    ]
    for name, counts in {**SHAPES, "2000/i": 2000 // np.arange(1, 1001)}.items():
        for epsilon in (Fraction(1), Fraction(1, 10)):
            for k in (10, 20):
                root = epsilon * Fraction(k**0.5).limit_denominator(1000)
                of_peeling = [_peeled(counts, k, root) for _ in range(draws)]
                found: list[list[float]] = [
                    [shortfall(counts, chosen) for chosen in of_peeling],
                    [shortfall(counts, _tuple(counts, k, 2 / epsilon)) for _ in range(draws)],
                    [set_shortfall(counts, chosen) for chosen in of_peeling],
                    [set_shortfall(counts, _set(counts, k, 2 / epsilon)) for _ in range(draws)],
                ]
                figures = " | ".join(f"{np.mean(part):.1f}" for part in found)
                lines.append(f"| {name}, {float(epsilon):g} | {k} | {figures} |")
    return "\n".join(lines)


def default_table(draws: int) -> str:
    """Return a table that compares the default with the better method, by the number of candidates.

    For some shapes the shortfall is usually zero, so one person is added to both terms of the ratio.
    """
    lines = ["| candidates | " + " | ".join(f"k = {k}" for k in PLACES) + " |"]
    lines.append("|---" * (len(PLACES) + 1) + "|")
    for n in SIZES:
        cells = []
        for k in PLACES:
            ratios = []
            for counts in shapes(n).values():
                for epsilon in (Fraction(1), Fraction(1, 10)):
                    found = mean_shortfalls(counts, k, epsilon, draws, asked=METHODS[1:])
                    ratios.append((found[by_default(k)] + 1) / (min(found.values()) + 1))
            cells.append(f"{np.mean(ratios):.2f} / {max(ratios):.2f}")
        lines.append(f"| {n:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(records: list[dict[str, Any]]) -> None:
    """Draw the ratio of joint to one-shot; below one, joint is better."""
    chart = line_chart(
        records,
        x=("k", "k, how many are asked for"),
        y=("ratio", "(joint + 1) / (one-shot + 1), mean shortfall"),
        series="counts",
        log_x=True,
        log_y=True,
    )
    styled(
        chart,
        title="Joint against one-shot top-k, ε = 1",
        subtitle=["Below 1 the joint choice falls short less; it is the default for k above 4"],
    ).save(RESULTS.parent.parent / "docs" / "_static" / "top-k.svg")


def time_table(sizes: Sequence[tuple[int, int]]) -> str:
    lines = [
        "| counts | n | k | `np.partition`, ms | joint, ms | × | set, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for n, k in sizes:
        ranks = np.arange(1, n + 1)
        for name, ordered in {
            "2000000/i": 2_000_000 // ranks,
            "20000/i": 20_000 // ranks,
            "Poisson(2000)": RNG.poisson(2000, n),
            "uniform to 2⁶²": RNG.integers(0, 2**62, n),
            "all equal": np.full(n, 7),
        }.items():
            counts = RNG.permutation(ordered)
            times = medians(
                {
                    "partition": partial(np.partition, counts, n - k),
                    "joint": partial(drawn, counts, k),
                    "set": partial(_set, counts, k, Fraction(2)),
                },
                seconds=1.0,
            )
            one, other = times["partition"] * 1e3, times["joint"] * 1e3
            lines.append(
                f"| {name} | {n:,} | {k} | {one:.3g} | {other:.3g} | {other / one:.1f} "
                f"| {times['set'] * 1e3:.3g} |"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    draws = 300 if chosen.large else 30
    sizes = [(1000, 10), (1_000_000, 100)] if chosen.large else [(1000, 10)]
    rule, records = rule_table(max(10, draws // 6))
    table = (
        "Mean of the largest shortfall, ε = 1, a thousand candidates, one person more or less:\n\n"
        f"{asked_table(draws)}\n\n"
        "What the order costs: the largest shortfall of the ordered answer and of the set at ε = 1, both "
        f"judged as sets, means of {draws // 3} draws:\n\n"
        f"{set_table(draws // 3)}\n\n"
        "At the same ρ, that of one choice at ε, a thousand candidates: peeling by the exponential "
        "mechanism, the default where ρ is added up, beside the joint choice, in order and as "
        f"sets, means of {draws // 10} draws:\n\n"
        f"{rho_table(draws // 10)}\n\n"
        "One-shot / joint, by which the default is chosen (joint for k above 4):\n\n"
        f"{rule}\n\n"
        "The default's mean shortfall plus one over that of the better of the two, by the number of "
        "candidates: on average / at worst over the eight shapes at ε = 1 and 0.1; where both are the same, "
        "chance puts it a little above 1:\n\n"
        f"{default_table(max(10, draws // 6))}\n\n"
        "Time of one joint draw at ε = 1, in order and as a set, beside NumPy's partial sort of the same "
        "counts:\n\n"
        f"{time_table(sizes)}"
    )
    print(table)
    if chosen.record:
        record("top_k", "Top-k", table)
        draw(records)
