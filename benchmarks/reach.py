"""Which lines the tests reach and how long they take, to choose the tests that judge a mutant.

Every test runs once without a mutant, except tests that start Spark, PostgreSQL or a browser. Outside the
packages in ``ROOMS``, only the tests in the first ten seconds of a file run.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

from benchmarks.changes import ROOT, SOURCE, Mutant

HEAVY = ("spark", "postgres", "browser")
QUICK, FULL = 3.0, 60.0
"""Seconds of tests that judge a mutant: at first for all mutants, then for those still in doubt."""


@dataclass(slots=True)
class Reach:
    """How long each test takes and which lines of which module it reaches, without a mutant."""

    place: Path
    known: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    modules: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def read(self) -> None:
        """Read the results of earlier runs."""
        if not self.place.exists():
            return
        shared = defaultdict[str, set[str]](set)
        entries = [json.loads(line) for line in self.place.read_text().splitlines()]
        for entry in entries:
            shared[entry["test"].partition("::")[0]].add(entry["test"])
        for entry in entries:
            self.known[entry["test"]] = entry["seconds"]
            if entry["passed"]:
                self.seconds[entry["test"]] = entry["seconds"]
            # The first test that needs a file's fixture sets it up; its lines count for all tests there.
            for phase, whose in (
                ("call", {entry["test"]}),
                ("setup", shared[entry["test"].partition("::")[0]]),
            ):
                for path, lines in entry[phase].items():
                    self.modules[path] |= whose
                    for line in lines:
                        self.lines[path, line] |= whose

    def tests(self, mutant: Mutant, most: float, *, imported: bool) -> tuple[list[str], str]:
        """Return the tests that reach the mutant, quickest first, and its verdict if it survives them."""
        reached = set(self.modules[mutant.path]) if imported else set[str]()
        for line in mutant.lines:
            reached |= self.lines[mutant.path, line]
        chosen, total = list[str](), 0.0
        for test in sorted(
            reached & self.seconds.keys(), key=lambda name: (self.seconds[name], name)
        ):
            total += self.seconds[test]
            if total > most:
                return chosen, "doubtful" if most < FULL else "survived"
            chosen.append(test)
        return chosen, "survived"


class Explorer:
    """A plugin that runs every test not yet known, and records which lines it reaches."""

    def __init__(self, reach: Reach, longest: float) -> None:
        self.reach, self.longest = reach, longest
        self.cover = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
        self.cover.set_option("run:disable_warnings", ["no-data-collected", "module-not-measured"])
        self.entry: dict[str, Any] = {}
        self.spent: dict[str, float] = defaultdict(float)
        for test, seconds in reach.known.items():
            self.spent[test.partition("::")[0]] += seconds

    @contextlib.contextmanager
    def _covered(self, phase: str) -> Iterator[None]:
        self.cover.erase()
        self.cover.start()
        try:
            yield
        finally:
            self.cover.stop()
            data = self.cover.get_data()
            self.entry[phase] = {
                str(Path(name).relative_to(ROOT)): sorted(data.lines(name) or ())
                for name in data.measured_files()
            }

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with self._covered("setup"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with self._covered("call"):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.entry["passed"] &= report.outcome == "passed"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        with self.reach.place.open("a", encoding="utf-8") as out:
            for number, item in enumerate(session.items, 1):
                place = item.nodeid.partition("::")[0]
                heavy = any(word in item.nodeid.lower() for word in HEAVY)
                if heavy or item.nodeid in self.reach.known or self.spent[place] > self.longest:
                    continue
                forget()
                self.entry = {"test": item.nodeid, "passed": True, "setup": {}, "call": {}}
                began = time.process_time()
                following = session.items[number] if number < len(session.items) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                self.entry["seconds"] = round(time.process_time() - began, 3)
                self.spent[place] += self.entry["seconds"]
                print(json.dumps(self.entry), file=out, flush=True)
        return True


def forget() -> None:
    """Empty every cache of the library: a test that finds its answer in a cache reaches no lines."""
    for module in [part for name, part in sys.modules.items() if name.startswith("discreet")]:
        for part in vars(module).copy().values():
            for held in [part, *(vars(part).values() if isinstance(part, type) else ())]:
                if hasattr(held, "cache_clear"):
                    held.cache_clear()
