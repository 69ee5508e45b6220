"""Plant small defects in the code, one at a time, and see whether the tests notice: ``make mutants``.

All mutants of guarantees and accounting (``benchmarks/changes.py`` defines mutants) are judged by the tests
and the examples of these packages. With ``--elsewhere N``, N mutants drawn from other modules that have a
test file are judged too, by that file and the module's examples. First every test runs once without a
mutant, to record how long it takes and which lines it reaches. A mutant is then judged by the tests that
reach its statement, the quickest first, up to the first failure. This happens in a fork of a process that
has imported and collected everything; only the functions that differ are replaced. If the change is in code
that runs on import, the module is imported again in its own fork.

Verdicts are stored in ``build/mutants`` by the mutant's name, so an interrupted run continues where it
stopped. ``--again`` judges the survivors once more. The order is shuffled with a fixed seed, so the mutants
judged so far are always a random sample.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import importlib
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from benchmarks.changes import ROOT, SOURCE, Mutant, mutants, original, replacements
from benchmarks.reach import FULL, QUICK, Explorer, Reach

ROOMS = ("guarantees", "accounting")
ROOM_TESTS = [f"{place}/{room}" for room in ROOMS for place in ("tests", "src/discreet")]
ROOM_TESTS.append("tests/laws/test_guarantees.py")
RECORD = ROOT / "build/mutants"
MEMORY = 8 * 2**30
SEED = 20
AT_ONCE = 60
WARM = ("numpy", "flint", "scipy.special", "scipy.stats", "polars", "rich.progress")
QUIET = ["-s", "-qq", "--assert=plain", "-p", "no:cacheprovider", "--no-header", "--no-summary"]


def forked(run: Callable[[int], int], seconds: float) -> tuple[str, str]:
    """Call ``run`` in a fork with a time limit; return ``survived``, ``killed`` or ``late``, and by what."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        code = 3
        with contextlib.suppress(BaseException):
            code = run(writing)
        os._exit(code)
    os.close(writing)
    until, status = time.monotonic() + 30 + 4 * seconds, -1
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.005)
    else:
        status = signal.SIGKILL
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # also ends what a test started
    if not done:
        os.waitpid(child, 0)
    told = b""
    os.set_blocking(reading, False)
    with contextlib.suppress(BlockingIOError):
        told = os.read(reading, 1000)
    os.close(reading)
    late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU)
    return "late" if late else "killed" if status else "survived", told.decode()


def plant(path: str, code: CodeType) -> None:
    """Make every later import of this module run this code."""
    kept, where = SourceFileLoader.get_code, str(ROOT / path)

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        return code if self.path == where else kept(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment]


def run_items(items: list[Any], told: int) -> int:
    """Run tests up to the first failure, and write the name of that test to ``told``."""
    failed = list[str]()

    class Watch:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    if not items:
        return 0
    items[0].config.pluginmanager.register(Watch())
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed:
            os.write(told, failed[0].encode()[:1000])
            item.session._setupstate.teardown_exact(None)
            return 1
    return 0


class Chooser:
    """A plugin that runs some of the tests in a given order, up to the first failure."""

    def __init__(self, chosen: list[str], told: int) -> None:
        self.chosen, self.told = chosen, told
        self.code = 0

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        found = {item.nodeid: item for item in session.items}
        missing = any(name not in found for name in self.chosen)  # collection failed
        if missing:
            os.write(self.told, b"collecting")
        self.code = 1 if missing else run_items([found[name] for name in self.chosen], self.told)
        return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            os.write(self.told, b"collecting")
            os._exit(1)


@dataclass(slots=True)
class Work:
    """The mutants to judge, the limits in time, and the tests that reach them."""

    pending: list[Mutant]
    most: float
    until: float
    reach: Reach
    done: int = 0

    def keep(self, mutant: Mutant, verdict: str, by: str, began: float) -> None:
        """Store a verdict."""
        entry = {"name": mutant.name, "line": mutant.lines.start, "verdict": verdict, "by": by}
        entry["seconds"] = round(time.monotonic() - began, 2)
        with (RECORD / "verdicts.jsonl").open("a", encoding="utf-8") as out:
            print(json.dumps(entry, ensure_ascii=False), file=out)
        self.done += 1
        if sys.stderr.isatty():
            print(f"\r{self.done:,} of {len(self.pending):,}", end="", file=sys.stderr, flush=True)

    def limit(self, tests: list[str]) -> float:
        """The processor time, in seconds, after which a mutant counts as endless."""
        return 20 + 6 * sum(self.reach.seconds[name] for name in tests)

    @property
    def late(self) -> bool:
        """Whether time has run out."""
        return time.monotonic() > self.until


class Judge:
    """A plugin that judges one mutant after another after collection, each in a fork."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        found = {item.nodeid: item for item in session.items}
        live = defaultdict[str, list[FunctionType]](list)
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                live[one.__code__.co_filename].append(one)
        gc.freeze()
        for mutant in self.work.pending:
            if self.work.late:
                break
            code = mutant.code()
            changed = replacements(original(mutant.path), code)
            if changed is None:
                continue
            tests, otherwise = self.work.reach.tests(mutant, self.work.most, imported=False)
            began = time.monotonic()

            def run(
                told: int,
                mutant: Mutant = mutant,
                code: CodeType = code,
                changed: dict[tuple[str, int], CodeType] = changed,
                tests: list[str] = tests,
            ) -> int:
                plant(mutant.path, code)
                for one in live[str(ROOT / mutant.path)]:
                    key = (one.__code__.co_qualname, one.__code__.co_firstlineno)
                    one.__code__ = changed.get(key, one.__code__)
                return run_items([found[name] for name in tests], told)

            said, by = forked(run, self.work.limit(tests))
            self.work.keep(mutant, otherwise if said == "survived" else said, by, began)
        return True


def judge_imports(work: Work) -> None:
    """Judge the mutants of import-time code, each with its own import and collection."""
    for mutant in work.pending:
        if work.late:
            return
        code = mutant.code()
        if replacements(original(mutant.path), code) is not None:
            continue
        began = time.monotonic()
        tests, otherwise = work.reach.tests(mutant, work.most, imported=True)

        def run(
            told: int, mutant: Mutant = mutant, code: CodeType = code, tests: list[str] = tests
        ) -> int:
            plant(mutant.path, code)
            judge = Chooser(tests, told)
            files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
            ended = pytest.main([*files, *QUIET], plugins=[judge])
            return judge.code or int(ended not in (0, pytest.ExitCode.NO_TESTS_COLLECTED))

        said, by = forked(run, work.limit(tests))
        work.keep(mutant, otherwise if said == "survived" else said, by, began)


def _own_tests(path: Path) -> list[str]:
    """Return a module's test file and examples; nothing if it has no test file of its own."""
    place = path.relative_to(SOURCE)
    test = Path("tests") / place.parent / f"test_{place.name}"
    return [str(test), str(path.relative_to(ROOT))] if (ROOT / test).exists() else []


def _drawn(elsewhere: int) -> tuple[list[Mutant], list[Mutant]]:
    """Return all mutants of the packages in ``ROOMS``, shuffled, and a sample of the others."""
    order = random.Random(SEED)  # noqa: S311
    modules = sorted(SOURCE.rglob("*.py"))
    ours = [m for p in modules if p.parent.name in ROOMS for m in mutants(p)]
    order.shuffle(ours)
    print(f"{len(ours):,} mutants of {' and '.join(ROOMS)}", flush=True)
    if not elsewhere:
        return ours, []
    others = [
        m for p in modules if p.parent.name not in ROOMS and _own_tests(p) for m in mutants(p)
    ]
    print(f"{len(others):,} mutants of other modules that have a test file", flush=True)
    return ours, order.sample(others, min(elsewhere, len(others)))


def _tree() -> str:
    """Return a hash of the code and the tests."""
    digest = hashlib.sha256()
    for path in sorted([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _verdicts() -> dict[str, dict[str, Any]]:
    place = RECORD / "verdicts.jsonl"
    lines = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def _forget_survivors() -> None:
    kept = [entry for entry in _verdicts().values() if entry["verdict"] in ("killed", "late")]
    lines = [json.dumps(entry, ensure_ascii=False) for entry in kept]
    (RECORD / "verdicts.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _session(tests: list[str], plugin: object) -> None:
    """Run a pytest session in a fork; this process never imports the library."""
    child = os.fork()
    if child == 0:
        try:
            with tempfile.TemporaryDirectory() as folder:
                pytest.main([*tests, *QUIET, f"--basetemp={folder}/tests"], plugins=[plugin])
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def judge(group: list[Mutant], tests: list[str], longest: float, most: float, until: float) -> None:
    """Judge mutants without a verdict; with the full time limit, also doubtful ones."""
    pending = _open(group, in_doubt=most == FULL)
    if not pending or time.monotonic() > until:
        return
    reach = Reach(RECORD / f"reach-{_tree()}.jsonl")
    reach.read()
    _session(tests, Explorer(reach, longest))
    reach = Reach(reach.place)
    reach.read()
    work = Work(pending, most, until, reach)
    _session(tests, Judge(work))
    judge_imports(work)


def _open(group: list[Mutant], *, in_doubt: bool = True) -> list[Mutant]:
    """Return the mutants without a verdict and, with ``in_doubt``, the doubtful ones."""
    known = _verdicts()
    settled = (
        ("killed", "late", "survived") if in_doubt else ("killed", "late", "survived", "doubtful")
    )
    return [m for m in group if known.get(m.name, {}).get("verdict") not in settled]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--elsewhere", type=int, default=0, help="how many of the other modules")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="draw no more after it")
    parser.add_argument("--again", action="store_true", help="judge once more what survived")
    chosen = parser.parse_args()
    until = time.monotonic() + chosen.seconds
    RECORD.mkdir(parents=True, exist_ok=True)
    for name in WARM:
        importlib.import_module(name)
    os.chdir(ROOT)
    if chosen.again:
        _forget_survivors()
    rooms, elsewhere = _drawn(chosen.elsewhere)
    groups = [("rooms", rooms, ROOM_TESTS, math.inf)]
    for start in range(0, len(elsewhere), AT_ONCE):  # some tests are enough to start
        group = elsewhere[start : start + AT_ONCE]
        tests = list(dict.fromkeys(t for m in group for t in _own_tests(ROOT / m.path)))
        groups.append((f"elsewhere, {start + 1:,} to {start + len(group):,}", group, tests, 10.0))
    for most in (QUICK, FULL):
        for _, group, tests, longest in groups:
            judge(group, tests, longest, most, until)
    known = _verdicts()
    for name, group, *_ in groups:
        count = Counter(known.get(m.name, {}).get("verdict", "not judged") for m in group)
        print(f"{name}: " + ", ".join(f"{many:,} {said}" for said, many in sorted(count.items())))
        for m in group:
            if known.get(m.name, {}).get("verdict") in ("survived", "doubtful"):
                print(f"{known[m.name]['verdict']}: {m.name} (line {m.lines.start})")


if __name__ == "__main__":
    main()
