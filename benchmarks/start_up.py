"""How long it takes to start: ``import discreet`` against ``import numpy``, and the command line's help."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.timing import record

RUNS = 15
PROGRAMS = {
    "import numpy": ["-c", "import numpy"],
    "import discreet": ["-c", "import discreet"],
    "import every name of discreet": ["-c", "from discreet import *"],
    "discreet --help": ["-c", "from discreet._cli import main; main()", "--help"],
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(RUNS):  # interleaved: a slow moment affects all of them
        for name, program in PROGRAMS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *program], check=True, capture_output=True)  # noqa: S603
            times[name].append(time.perf_counter() - start)
    medians = {name: sorted(spent)[RUNS // 2] for name, spent in times.items()}
    lines = ["| program | median of 15 runs | against `import numpy` |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {1000 * spent:.0f} ms | {spent / medians['import numpy']:.2f} × |"
        for name, spent in medians.items()
    ]
    table = "\n".join(lines)
    print(table)
    if chosen.record:
        record("start_up", "How long it takes to start", table)


if __name__ == "__main__":
    main()
