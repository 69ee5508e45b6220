"""Time competitors in turns, in short bursts.

Turns make sure that a slow moment of the machine affects all of them. In a burst, each finds the caches as it
left them.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_BURST = 7
_LEAST = 5
RESULTS = Path(__file__).parent / "results"
_PICTURES = RESULTS.parent.parent / "docs" / "_extensions" / "benchmark_pictures.py"


def medians(
    competitors: Mapping[str, Callable[[], object]], *, seconds: float, most: int = 60
) -> dict[str, float]:
    """Return the median time of each competitor, in seconds, from interleaved bursts of runs.

    Each competitor gets about ``seconds`` and at most ``most`` bursts, so quick ones run often. Slow ones,
    whose time may depend on chance, run at least a few times.
    """

    def enough(times: list[float]) -> bool:
        return sum(times) >= seconds and len(times) >= _LEAST

    spent: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(most):
        waiting = [name for name, times in spent.items() if not enough(times)]
        if not waiting:
            break
        for name in waiting:
            for _ in range(_BURST):
                start = time.perf_counter()
                competitors[name]()
                spent[name].append(time.perf_counter() - start)
                if enough(spent[name]):
                    break
    return {name: sorted(times)[len(times) // 2] for name, times in spent.items()}


def record(name: str, title: str, table: str) -> None:
    """Write a table to ``benchmarks/results/NAME.md``, and redraw its chart for the documentation."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(f"# {title}\n\n{table}\n", encoding="utf-8")
    subprocess.run([sys.executable, _PICTURES], check=True)  # noqa: S603
