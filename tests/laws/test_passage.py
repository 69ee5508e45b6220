"""Limit how many files and calls a question passes through, by trace, because newcomers must read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from discreet import PureDP
from discreet.ledger import Ledger

SOURCES = Path(__file__).parents[2] / "src" / "discreet"
MOST = {"without a ledger": (45, 390), "with a ledger": (56, 620)}
"""The largest allowed numbers of files and of calls of our functions, with and without a ledger."""
QUESTION = "mode visits.parquet --column diagnosis --user patient --candidates codes.txt --epsilon 1 --json"

# Only functions count, and a generator counts once. Module and class bodies, calls during imports and
# comprehensions do not count.
TRACER = """
import inspect, sys, threading
from pathlib import Path

sources, *arguments = sys.argv[1:]
seen, calls, begun = set(), 0, {}

def tell(frame, event, _):
    global calls
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(sources):
        return
    if code.co_qualname.endswith(("comp>", "genexpr>")) or not code.co_flags & inspect.CO_OPTIMIZED:
        return
    if id(frame) not in begun and not importing(frame):
        seen.add(code.co_filename)
        calls += 1
    if code.co_flags & inspect.CO_GENERATOR:
        begun[id(frame)] = frame  # goes on later

def importing(frame):
    while frame := frame.f_back:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(sources):
            return True
    return False

threading.setprofile(tell)
sys.setprofile(tell)
from discreet._cli import main

sys.argv = ["discreet", *arguments]
try:
    main()
finally:
    sys.setprofile(None)
    for name in sorted(seen):
        print(Path(name).relative_to(sources).as_posix(), file=sys.stderr)
    print(calls, file=sys.stderr)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    visits = {"patient": range(600), "diagnosis": ["flu"] * 500 + ["cold"] * 70 + ["gout"] * 30}
    pl.DataFrame(visits).write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "codes.txt").write_text("flu\ncold\ngout\nasthma\n")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(3))
    return tmp_path


@pytest.mark.parametrize("how", MOST)
def test_a_question_passes_through_few_files(how: str, folder: Path) -> None:
    counted = "--no-ledger" if how == "without a ledger" else "--dataset clinic --ledger budget.db"
    done = subprocess.run(
        [sys.executable, "-c", TRACER, str(SOURCES), *QUESTION.split(), *counted.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"answer": "flu"' in done.stdout, done.stderr
    *passed, calls = done.stderr.split()
    # The trace contains the first and the last function, and the ledger if there is one.
    assert {"_cli/ask.py", "questions/mode.py", "_exact/sampling/permute_and_flip.py"} <= set(
        passed
    )
    assert ("ledger/ledger.py" in passed) == (how == "with a ledger")
    files, most = MOST[how]
    assert len(passed) <= files, passed
    assert int(calls) <= most
