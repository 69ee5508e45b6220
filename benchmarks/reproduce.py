"""How long it takes to draw the papers' figures, and how they compare with the papers.

Run: python -m benchmarks [--large] [--record] reproduce
The run is quick by default and complete with --large. It looks for the DPBench histograms in --data, by
default beside the project; without them the figures are synthetic and nothing is recorded.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import record
from discreet.papers import DrawnFigure, Scope, all_figures, chosen_figures, draw
from discreet.papers.report import figures_summary

BESIDE = Path(__file__).parents[1].parent / "shared" / "data" / "dpbench"


def table(results: Sequence[DrawnFigure]) -> str:
    lines = [
        "| figure | quantity | paper | ours | difference | verdict |",
        "|---|---|---|---|---|---|",
    ]
    every = all_figures()
    for result in results:
        name = every[result.id].label or every[result.id].title
        for row in result.comparisons:
            cells = (name, row.quantity, row.paper, row.ours, row.difference, row.verdict)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def conclusions(results: Sequence[DrawnFigure]) -> str:
    found = [
        remark
        for result in results
        for remark in result.remarks
        if remark.startswith("Conclusion.")
    ]
    return "\n".join(f"- {remark.removeprefix('Conclusion. ')}" for remark in found)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="the full run, not the quick one")
    parser.add_argument(
        "--record", action="store_true", help="write benchmarks/results/reproduce.md"
    )
    parser.add_argument("--data", type=Path, default=BESIDE, help="the folder of the histograms")
    options = parser.parse_args(arguments)
    data = options.data if options.data.is_dir() else None
    scope = Scope(quick=not options.large, data=data)
    with tempfile.TemporaryDirectory() as folder:
        began, used = time.perf_counter(), os.times().children_user
        results = draw(chosen_figures(), scope, Path(folder))
        seconds, used = time.perf_counter() - began, os.times().children_user - used
        began = time.perf_counter()
        draw(chosen_figures(), scope, Path(folder))
        again = time.perf_counter() - began
    kind = "full" if options.large else "quick"
    words = (
        f"{figures_summary(results)} The {kind} run took {seconds:.0f} s ({used:.0f} s of processor "
        f"time on {os.cpu_count()} cores that others used as well), resuming it {again:.1f} s. Longest: "
        + ", ".join(
            f"{r.id} {r.seconds:.0f} s" for r in sorted(results, key=lambda r: -r.seconds)[:5]
        )
        + "."
    )
    print(words)
    print(table(results))
    if options.record and data is not None:
        body = (
            "Written by `python -m benchmarks --large --record reproduce`, from the DPBench histograms. "
            "`discreet reproduce` makes the same comparisons, with every figure and the remarks.\n\n"
            f"{words}\n\n## A larger algorithm\n\n{conclusions(results)}\n\n"
            f"## All numbers\n\n{table(results)}"
        )
        record("reproduce", "The papers, reproduced", body)


if __name__ == "__main__":
    main()
