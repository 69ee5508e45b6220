"""The explorer's response time in real Chromium, from moving a slider to the last chart drawn.

Times are measured by the page's own clock, for moves that the server has not seen before. *First* is the
time until words, table and the charts in view show the new figures; *all* is the time until nothing is left
to compute. Charts out of view are drawn when the page rests, and are not counted.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import record

_MOVES = 25
_SLIDERS = {
    "ε": "#epsilon-slider",
    "Δ": "#sensitivity-slider",
    "a score": "#editor input[type=range]",
}
_CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
# Moves the slider as a user would, waits until the page stops changing, and returns the time of the first and
# of the last update.
_MOVE = """
async ([selector, position]) => {
  const results = document.querySelector("#results");
  const slider = document.querySelector(selector);
  const times = [];
  const began = performance.now();
  const watch = new MutationObserver(() => times.push(performance.now() - began));
  watch.observe(results, { attributeFilter: ["data-milliseconds"] });
  slider.value = position;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  while (!times.length || results.getAttribute("aria-busy") !== "false")
    await new Promise((resolve) => requestAnimationFrame(resolve));
  watch.disconnect();
  return [times[0], performance.now() - began];
}
"""
_DRAWN = """
() => {
  const pictures = [...document.querySelectorAll("#charts .canvas > div")];
  return pictures.every((each) => !each.checkVisibility() || each.querySelector("canvas"));
}
"""


@contextmanager
def _page(scores: Path | None) -> Iterator[Any]:
    """Start a server and open its page in a browser."""
    from playwright.sync_api import sync_playwright

    program = str(Path(sys.executable).with_name("discreet"))
    given = [str(scores), "--monotonic", "--public"] if scores else []
    server = subprocess.Popen(  # noqa: S603
        [program, "explore", *given, "--no-browser", "--json"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        said = ""
        while not said.endswith("}\n"):
            line = server.stdout.readline()
            assert line, "discreet explore ended before it said where it serves"
            said += line
        address = json.loads(said)["url"]
        with sync_playwright() as playwright:
            path = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=path, args=list(_CHROMIUM))
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(address if scores else f"{address}#source=example:pages&tolerance=50")
            page.locator("#results[aria-busy=false]").wait_for(timeout=60_000)
            page.locator("#more > summary").click()
            page.wait_for_function(_DRAWN, timeout=60_000)
            yield page
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _moves(page: Any, selector: str) -> list[float]:
    low, high = page.evaluate(
        "(selector) => { const s = document.querySelector(selector);"
        " return [Number(s.min), Number(s.max)]; }",
        selector,
    )
    places = np.random.default_rng(5).permutation(np.linspace(low, high, _MOVES + 2)[1:-1])
    times = [page.evaluate(_MOVE, [selector, str(round(place))]) for place in places.tolist()]
    first, last = (sorted(some) for some in zip(*times, strict=True))
    return [first[_MOVES // 2], first[-1], last[_MOVES // 2], last[-1]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="also a hundred thousand candidates")
    parser.add_argument(
        "--record", action="store_true", help="write benchmarks/results/explorer.md"
    )
    chosen = parser.parse_args(arguments)
    lines = [
        f"Milliseconds from a slider's move, {_MOVES} moves to places not seen before.",
        "",
        "| candidates | moved | first, median | first, slowest | all, median | all, slowest |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        crowd = Path(folder) / "scores.csv"
        counts = np.random.default_rng(1).zipf(1.6, 100_000).clip(max=10**6)
        crowd.write_text(
            "candidate,score\n" + "".join(f"c{i},{count}\n" for i, count in enumerate(counts))
        )
        for scores, size in [(None, 1_000), *([(crowd, 100_000)] if chosen.large else [])]:
            with _page(scores) as page:
                for name, selector in _SLIDERS.items():
                    if page.locator(selector).count():
                        cells = " | ".join(f"{time:.0f}" for time in _moves(page, selector))
                        lines.append(f"| {size:,} | {name} | {cells} |")
                        print(lines[-1], flush=True)
    if chosen.record:
        record("explorer", "The explorer on the screen", "\n".join(lines))


if __name__ == "__main__":
    main()
