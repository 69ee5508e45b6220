"""One release and many draws, against ``np.argmax``, the insecure one-liner, OpenDP and diffprivlib.

``argmax`` answers without privacy; ``argmax(q + noise)`` is what people write, with noise that is neither
exact nor secure. All figures in a row come from one interleaved run; compare the ratios.
"""

from __future__ import annotations

import argparse
import gc
import math
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.shapes import EASY, SCALE, SHAPES, Values
from benchmarks.timing import medians, record
from discreet import Exponential, NoisyMax, PermuteAndFlip, Scores
from discreet._exact.gaps import Gaps
from discreet._exact.sampling.bits import SecureBits
from discreet._exact.sampling.coins import STANDARD, Tuning
from discreet._exact.sampling.permute_and_flip import uniform_head

_PERMUTE_AND_FLIP = PermuteAndFlip(epsilon=1)
_STEADY = PermuteAndFlip(epsilon=1, steady=True)
_EXPONENTIAL = Exponential(epsilon=1)
_LAPLACE = NoisyMax(epsilon=1, noise="laplace")
# A peer is left out at sizes at which it would take minutes.
_LARGEST_OPENDP = 10**6
_LARGEST_DIFFPRIVLIB = 10**4


def _opendp(values: Values) -> Callable[[], object] | None:
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    kind = {"f": values.dtype.name.replace("loat", ""), "i": "i64"}[values.dtype.kind]
    atom = dp.atom_domain(T=kind, nan=False) if kind[0] == "f" else dp.atom_domain(T=kind)
    measurement = dp.m.make_noisy_max(
        dp.vector_domain(atom), dp.linf_distance(T=kind), dp.max_divergence(), scale=2.0
    )
    return lambda: measurement(values)


def _diffprivlib(values: Values) -> Callable[[], object] | None:
    try:
        from diffprivlib.mechanisms import PermuteAndFlip as Theirs
    except Exception:  # it cannot be imported with some versions of scikit-learn
        return None
    utility = values.tolist()
    return lambda: Theirs(epsilon=1, sensitivity=1, utility=utility).randomise()


def _competitors(values: Values, rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    scores = Scores(values, sensitivity=1)
    found: dict[str, Callable[[], object] | None] = {
        "argmax": lambda: np.argmax(values),
        "passes": _passes(values),
        "argmax(q + exponential)": lambda: np.argmax(values + rng.exponential(2.0, len(values))),
        "argmax(q + laplace)": lambda: np.argmax(values + rng.laplace(0.0, 2.0, len(values))),
        "permute-and-flip": lambda: _PERMUTE_AND_FLIP.select_index(scores),
        "build and select": lambda: _PERMUTE_AND_FLIP.select_index(Scores(values, sensitivity=1)),
        "exponential": lambda: _EXPONENTIAL.select_index(scores),
        "laplace": lambda: _LAPLACE.select_index(scores),
        "steady": lambda: _STEADY.select_index(scores),
        "OpenDP": _opendp(values) if len(values) <= _LARGEST_OPENDP else None,
        "diffprivlib": _diffprivlib(values) if len(values) <= _LARGEST_DIFFPRIVLIB else None,
    }
    return {name: call for name, call in found.items() if call is not None}


def _passes(values: Values) -> Callable[[], object]:
    """Return the least work of a plan that lists the near candidates: a maximum, a comparison, a list.

    A candidate is near if its coin has a chance of at least 1 in 1,000; thinning would have to find the
    others.
    """
    reach = values.dtype.type(math.log(1000) * SCALE)
    return lambda: np.flatnonzero(values >= values.max() - reach)


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.0f}"


_COLUMNS: dict[str, Callable[[dict[str, float]], str | None]] = {
    "`argmax`": lambda took: _microseconds(took["argmax"]),
    "one-liner": lambda took: _microseconds(took["argmax(q + exponential)"]),
    "permute-and-flip": lambda took: _microseconds(took["permute-and-flip"]),
    "× `argmax`": lambda took: f"{took['permute-and-flip'] / took['argmax']:.2f}",
    "max, compare, list": lambda took: _microseconds(took["passes"]),
    "these × `argmax`": lambda took: f"{took['passes'] / took['argmax']:.2f}",
    "× one-liner": lambda took: f"{took['permute-and-flip'] / took['argmax(q + exponential)']:.3f}",
    "with building `Scores`, × `argmax`": lambda took: (
        f"{took['build and select'] / took['argmax']:.2f}"
    ),
    "exponential": lambda took: _microseconds(took["exponential"]),
    "Laplace": lambda took: _microseconds(took["laplace"]),
    "Laplace × its one-liner": lambda took: f"{took['laplace'] / took['argmax(q + laplace)']:.2f}",
    "steady": lambda took: _microseconds(took["steady"]),
    "OpenDP": lambda took: _microseconds(took["OpenDP"]) if "OpenDP" in took else None,
    "OpenDP × ours": lambda took: (
        f"{took['OpenDP'] / took['permute-and-flip']:,.0f}" if "OpenDP" in took else None
    ),
    "diffprivlib": lambda took: (
        _microseconds(took["diffprivlib"]) if "diffprivlib" in took else None
    ),
}


def _one_release(sizes: Sequence[int], rng: np.random.Generator, seconds: float) -> list[str]:
    lines = [
        "One release at ε = 1, in microseconds, and as a multiple of others on the same scores in the same "
        "run. *One-liner*: `argmax(q + noise)` with NumPy's noise, which is neither exact nor secure. "
        "Shapes in italics are the harder ones. *Max, compare, list*: `np.flatnonzero(q >= q.max() - reach)` "
        "with a reach beyond which a coin is less than one in a thousand: the cost of the passes over the "
        "scores alone, if a plan lists the near candidates. Our plans avoid this: they meet a good candidate "
        "at random, or use the best of each block to see where one can be.",
    ]
    for size in sizes:
        rows: dict[str, dict[str, str | None]] = {}
        for shape, make in SHAPES.items():
            took = medians(_competitors(make(size, rng), rng), seconds=seconds)
            cells = {name: cell(took) for name, cell in _COLUMNS.items()}
            rows[shape if shape in EASY else f"*{shape}*"] = cells
            print(
                f"{size:,} {shape}: " + ", ".join(f"{k} {v}" for k, v in cells.items()), flush=True
            )
            gc.collect()
        names = [name for name in _COLUMNS if any(cells[name] for cells in rows.values())]
        lines += ["", f"## n = {size:,}", "", f"| shape | {' | '.join(names)} |"]
        lines.append("|" + "---|" * (len(names) + 1))
        for shape, cells in rows.items():
            lines.append(f"| {shape} | " + " | ".join(cells[name] or "–" for name in names) + " |")
    return lines


_WITHOUT: dict[str, Tuning] = {
    "few near ones are listed": replace(STANDARD, few=0, one_by_one=0),
    "few coins one by one": replace(STANDARD, one_by_one=0),
    "first bits": replace(STANDARD, first_bits_up_to=0),
    "visits": replace(STANDARD, single_visits=0),
    "more visits at once": replace(STANDARD, near_enough=-1.0),
    "all coins of some thousands": replace(STANDARD, flipped_up_to=0),
    "heavy blocks in parts": replace(STANDARD, heavy=0.5),
}
"""Each plan of permute-and-flip, with the tuning that switches it off."""


def _plans(sizes: Sequence[int], rng: np.random.Generator, seconds: float) -> list[str]:
    won: dict[str, list[tuple[float, str]]] = {plan: [] for plan in _WITHOUT}
    for size in sizes:
        for shape, make in SHAPES.items():
            values = make(size, rng)

            def drawn(tuning: Tuning, values: Values = values) -> Callable[[], object]:
                return lambda: uniform_head(Gaps(values, scale=SCALE), SecureBits(), tuning=tuning)

            calls = {"": drawn(STANDARD)} | {plan: drawn(t) for plan, t in _WITHOUT.items()}
            took = medians(calls, seconds=seconds)
            for plan in _WITHOUT:
                won[plan].append((took[plan] / took[""], f"{shape}, n = {size:,}"))
    lines = [
        "",
        "## What each plan of permute-and-flip wins",
        "",
        "The time without the plan over the time with it, where the ratio is largest. A plan stays if it "
        "wins by half.",
        "",
        "| plan | wins | on |",
        "|---|---|---|",
    ]
    lines += [f"| {plan} | {max(seen)[0]:.1f} × | {max(seen)[1]} |" for plan, seen in won.items()]
    print("\n".join(lines[-len(won) :]), flush=True)
    return lines


def _many_draws(sizes: Sequence[int], rng: np.random.Generator) -> list[str]:
    draws = 100_000
    lines = [
        "",
        f"## `sample(scores, {draws:,})`: microseconds a draw",
        "",
        "| n | shape | permute-and-flip | exponential | Laplace |",
        "|---|---|---|---|---|",
    ]
    for size in sizes:
        for shape in (
            "clear winner",
            "all equal",
            "within 20 scales",
            "ln n behind",
            "int64 counts",
        ):
            scores = Scores(SHAPES[shape](size, rng), sensitivity=1)
            calls = {
                mechanism.name: partial(mechanism.sample, scores, draws)
                for mechanism in (_PERMUTE_AND_FLIP, _EXPONENTIAL, _LAPLACE)
            }
            took = medians(calls, seconds=0.5, most=5)
            figures = " | ".join(f"{1e6 * spent / draws:.2f}" for spent in took.values())
            lines.append(f"| {size:,} | {shape} | {figures} |")
            print(lines[-1], flush=True)
    return lines


def _memory(size: int, rng: np.random.Generator) -> list[str]:
    lines = ["", f"## Memory beyond the input at n = {size:,}, bytes a candidate", ""]
    lines += ["| shape | permute-and-flip | exponential | Laplace |", "|---|---|---|---|"]
    for shape in ("clear winner", "all equal", "ln n behind", "one near in 4096"):
        values = SHAPES[shape](size, rng)
        cells: list[Any] = []
        for mechanism in (_PERMUTE_AND_FLIP, _EXPONENTIAL, _LAPLACE):
            tracemalloc.start()
            mechanism.select_index(Scores(values, sensitivity=1))
            cells.append(tracemalloc.get_traced_memory()[1] / size)
            tracemalloc.stop()
        lines.append(f"| {shape} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
        print(lines[-1], flush=True)
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="n up to ten million, longer runs")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/select.md")
    chosen = parser.parse_args(arguments)
    rng = np.random.default_rng(7)
    last = 7 if chosen.large else 6
    lines = _one_release(
        [10**power for power in range(last, 1, -1)], rng, 0.6 if chosen.large else 0.1
    )
    lines += _plans([10**power for power in range(1, last)], rng, 0.1 if chosen.large else 0.02)
    lines += _many_draws([20, 1000, 10**5, 10**6], rng)
    lines += _memory(10**last, rng)
    if chosen.record:
        record("select", "One release, and many draws", "\n".join(lines))


if __name__ == "__main__":
    main()
