"""Speeds that have a goal, as ratios in one run: probabilities, one release, audits, start-up, a long ledger.

Competitors take turns, and the least time of each counts, because other work on the machine disturbs it
least.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shapes import SHAPES, Values
from benchmarks.timing import record
from discreet import ZCDP, BoundedRange, Exponential, NoisyMax, PermuteAndFlip, PureDP, Scores
from discreet.audit import audit
from discreet.ledger import Ledger
from discreet.mechanisms import Mechanism

_SIZE = 10**6
_HARD = ("int64 counts", "ln n behind", "all near 8 scales", "half near 6 scales", "normal")
_FIRST = "import discreet; discreet.PermuteAndFlip(epsilon=1).select(discreet.Scores([1, 2], sensitivity=1))"
_WHY = {
    "probabilities": """Least processor time of seven turns. The goals (4, 2 and 8 ×) were set on a processor
with AVX-512, where NumPy's softmax is quicker; this one has AVX2 only, and ratios with wide vectors were not
measured again. What is left beyond the softmax are gaps in two floats each, power sums and a polynomial of
degree nine, which NumPy computes one operation at a time. A compiled loop over these three could do them in
one pass.""",
    "release": """Elapsed time that a tenth of 300 interleaved runs stays below: a release is too short for
the clock of processor time. Goals: 3 and 2.5 × `argmax`, 1.2 × the one-liner. The pass over the scores is
about as long as `argmax`; the rest is spread over some 280 calls (by the profiler, a million int64 counts),
none of which dominates. Compiled code would have to do what `BoundedBlocks`, `flip` and the first bits do,
with the same bits.""",
    "audit": """Least processor time of three turns; calls as the profiler counts them. Goal: 1 s. Rows of
the same size are evaluated together. A function of somebody else's has to be called once for each vector.""",
    "start": """Least processor time of fifteen turns. Goal: 1.6 ×. Rooms load their names on first use.""",
    "ledger": """Goal: flat. OpenDP's filter was stopped after 3,000 queries: what one takes grows with the
number before it. It keeps its state in memory; ours is on disk after each spend.""",
}


def least(
    competitors: Mapping[str, Callable[[], object]],
    *,
    turns: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Return the least time of each competitor, in seconds, over interleaved turns."""
    best = dict.fromkeys(competitors, np.inf)
    for _ in range(turns):
        for name, call in competitors.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


def _softmax(values: Values) -> Values:
    weights = np.exp((values - values.max()) / 2)
    return np.asarray(weights / weights.sum())


def _probabilities(rng: np.random.Generator) -> list[str]:
    mechanisms: dict[str, Callable[..., Mechanism]] = {
        "permute-and-flip": PermuteAndFlip,
        "exponential": Exponential,
        "Laplace": lambda epsilon: NoisyMax(epsilon=epsilon, noise="laplace"),
    }
    shapes = {
        "spread over 5 scales": 10 * rng.random(_SIZE),
        "spread over 500 scales": 1000 * rng.random(_SIZE),
        "all equal": np.zeros(_SIZE),
        "one best, others 14 behind": np.where(np.arange(_SIZE) == 0, 28.0, rng.random(_SIZE)),
        "int64 counts": rng.poisson(50, _SIZE),
    }
    lines = [
        f"| ε | scores | softmax, ms | {' | '.join(mechanisms)} |",
        "|---|---|---|" + "---|" * len(mechanisms),
    ]
    for epsilon, (shape, values) in itertools.product((1, "0.1"), shapes.items()):
        scores = Scores(values, sensitivity=1)
        runs: dict[str, Callable[[], object]] = {"softmax": lambda v=values: _softmax(v)}  # type: ignore[misc]
        for name, make in mechanisms.items():
            one = make(epsilon=epsilon)
            runs[name] = lambda one=one, s=scores: one.probabilities(s)  # type: ignore[misc]
        took = least(runs, turns=7)
        base = took.pop("softmax")
        cells = " | ".join(f"{spent / base:.1f} ×" for spent in took.values())
        lines.append(f"| {epsilon} | {shape} | {1000 * base:.1f} | {cells} |")
    return lines


def _capped(size: int, rng: np.random.Generator) -> Values:
    """Return Zipf counts with one in 1,000 tied at the cap."""
    return rng.permutation(np.minimum(np.round(size / np.arange(1, size + 1)), 1000.0))


def _releases(rng: np.random.Generator) -> list[str]:
    lines = ["| n | scores | against | µs | ours, µs | × |", "|---|---|---|---|---|---|"]
    mechanism = PermuteAndFlip(epsilon=1)
    million: dict[str, Any] = {
        "int64 counts": SHAPES["int64 counts"],
        "Zipf, ties at the cap": _capped,
    }
    rows = [(_SIZE, name, make, "argmax") for name, make in million.items()]
    rows += [(10**4, name, SHAPES[name], "the one-liner") for name in _HARD]
    for size, name, make, peer in rows:
        values = make(size, rng)
        scores = Scores(values, sensitivity=1)

        def one_liner(values: Values = values) -> object:
            return np.argmax(values + rng.exponential(2.0, len(values)))

        theirs = (lambda v=values: np.argmax(v)) if peer == "argmax" else one_liner
        took = _tenths({"theirs": theirs, "ours": lambda s=scores: mechanism.select_index(s)})  # type: ignore[misc]
        lines.append(
            f"| {size:,} | {name} | {peer} | {1e6 * took['theirs']:.0f} | {1e6 * took['ours']:.0f} | "
            f"{took['ours'] / took['theirs']:.2f} |"
        )
    return lines


def _tenths(competitors: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the tenth percentile of the times, because the time of a release is random."""
    spent: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(60):
        for name, call in competitors.items():
            for _ in range(5):
                start = time.perf_counter()
                call()
                spent[name].append(time.perf_counter() - start)
    return {name: sorted(times)[len(times) // 10] for name, times in spent.items()}


def _own_softmax(scores: Any) -> Any:
    weights = np.exp((scores - scores.max()) / 2)
    return weights / weights.sum()


def _audits() -> list[str]:
    subjects: list[tuple[str, Any, Any]] = [
        ("permute-and-flip", PermuteAndFlip(epsilon=1), PureDP(1)),
        ("permute-and-flip, refuted", PermuteAndFlip(epsilon=1), BoundedRange(1)),
        ("permute-and-flip", PermuteAndFlip(epsilon=1), ZCDP("0.5")),
        ("exponential", Exponential(epsilon=1), BoundedRange(1)),
        ("noisy max, Laplace", NoisyMax(epsilon=1, noise="laplace"), PureDP(1)),
        ("a function of one's own", _own_softmax, PureDP(1)),
    ]
    lines = [
        "| subject | claim | processor time, s | calls | evaluations |",
        "|---|---|---|---|---|",
    ]
    for name, subject, claim in subjects:
        took = least({name: lambda s=subject, c=claim: audit(s, c)}, turns=3)[name]  # type: ignore[misc]
        profile = cProfile.Profile()
        verdict = profile.runcall(audit, subject, claim)
        calls = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
        lines.append(f"| {name} | `{claim!r}` | {took:.2f} | {calls:,} | {verdict.evaluations:,} |")
    return lines


def _start() -> list[str]:
    programs = {"import numpy": "import numpy", "import discreet, and a first select": _FIRST}

    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603

    def children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    took = least({name: run(code) for name, code in programs.items()}, turns=15, clock=children)
    base = took["import numpy"]
    lines = ["| program | processor time, ms | × |", "|---|---|---|"]
    lines += [
        f"| {name} | {1000 * spent:.0f} | {spent / base:.2f} |" for name, spent in took.items()
    ]
    return lines


def _ledgers(spends: int) -> list[str]:
    stages = [spends // 10 * stage for stage in range(1, 11)]
    shown = [stages[0], stages[2], stages[9]]
    head = " | ".join(f"up to {number:,}" for number in shown)
    lines = [f"| processor time of one spend, ms | {head} |", "|---|" + "---|" * len(shown)]
    runs: dict[str, tuple[Callable[[], object], int]] = {}
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder) / "budget.db") as ledger:
        ledger.create("long", PureDP(spends))
        runs["discreet: one file, durable"] = lambda: ledger.spend("long", PureDP("0.001")), spends
        runs["OpenDP: a filter, in memory"] = _filter(), min(spends, 3000)
        for name, (spend, most) in runs.items():
            cells = []
            for number in stages:
                if number > most:
                    break
                start = time.process_time()
                for _ in range(spends // 10):
                    spend()
                if number in shown:
                    cells.append(f"{1000 * (time.process_time() - start) / (spends // 10):.2f}")
            cells += ["–"] * (len(shown) - len(cells))
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _filter() -> Callable[[], object]:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    counted = space >> dp.t.then_count() >> dp.m.then_laplace(1000.0)
    odometer = dp.c.make_fully_adaptive_composition(*space, dp.max_divergence())
    answers = dp.c.make_privacy_filter(odometer, d_in=1, d_out=1e6)([1, 2, 3])
    return lambda: answers(counted)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    parts = {
        "probabilities": ("Probabilities of a million, against a softmax", _probabilities(rng)),
        "release": ("One release", _releases(rng)),
        "audit": ("An audit", _audits()),
        "start": ("The start", _start()),
        "ledger": ("Many spends in one ledger", _ledgers(10_000 if chosen.large else 1000)),
    }
    text = "\n\n".join(
        f"## {title}\n\n" + "\n".join(table) + f"\n\n{_WHY[name]}"
        for name, (title, table) in parts.items()
    )
    print(text)
    if chosen.record:
        record("speed", "Speed goals", text)


if __name__ == "__main__":
    main()
