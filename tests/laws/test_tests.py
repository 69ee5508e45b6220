"""The tests mirror the source tree: test files are named after modules and do not import each other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.tools.environment import SET, settled

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SOURCES = ROOT / "src" / "discreet"
OWN_TREES = {
    "laws": "what concerns no single module",
    "proofs": "the theorems of proofs/, which are not Python",
}
NO_MODULE = {
    "explore/test_page.py": "the page in a browser is explore/static, not Python",
    "desk/test_page.py": "the page in a browser is desk/static, not Python",
    "explore/test_page_views.py": "the same, a second file so that two workers share it",
    "desk/test_failover.py": "a desk, its ledger's server and a standby together",
}
WAITS = {
    "tools/waiting.py": "looks again every few milliseconds",
    "tools/job_work.py": "works until it is ended",
    "laws/test_speculation.py": "a copy of a task that never ends, and one that looks for a file",
    "laws/test_tests.py": "plants one",
    "desk/test_admission.py": "a lock that tells when it is met; a desk that is gone is asked again",
    "explore/test_server.py": "nobody answers at another address, at once or in time",
    "_isolated/test_blocks.py": "functions that sleep are what is tested",
    "questions/test_vote.py": "functions that sleep, and that leave notes for blocks beside them",
    "_exact/numbers/test_balls.py": "two threads that must not meet are given time to",
}
"""Tests that wait for a fixed time, and why; all others wait for an event (``tests.tools.waiting``)."""
FILES = sorted(TESTS.rglob("*.py"))
QUICK = (TESTS / "quick.txt").read_text("utf-8").splitlines()
"""What ``make quick`` runs: one or two cheap files of each folder."""
TEST_FILES = [path for path in FILES if path.name.startswith("test_")]


def names_a_module(path: Path) -> bool:
    """Return whether the file belongs to ``x.py``, ``_x.py``, the package ``x`` or ``__x__.py``."""
    room = SOURCES / path.parent.relative_to(TESTS)
    name = path.stem.removeprefix("test_")
    files = (f"{name}.py", f"_{name}.py", f"__{name}__.py", f"{name}/__init__.py")
    return any((room / file).is_file() for file in files)


def imported_test_modules(source: str) -> list[str]:
    """Return the test modules and conftests that a file imports, absolutely or relatively."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            names += [start, *(f"{start}.{alias.name}" for alias in node.names)]
    parts = {name: name.split(".") for name in names if name.startswith(("tests", "."))}
    return [
        name
        for name, split in parts.items()
        if split[-1].startswith("test_") or split[-1] == "conftest"
    ]


def waits_for_a_time(source: str) -> bool:
    """Return whether a test sleeps, or gives up after its own number of seconds."""
    return bool(
        re.search(
            r"\bsleep\(|wait_for_timeout\(|\btimeout=(?!0[,)])[\d.]|\.(?:join|wait)\([\d.]", source
        )
    )


def test_every_test_file_names_a_module_or_stands_among_the_laws() -> None:
    strays = {
        path.relative_to(TESTS).as_posix()
        for path in TEST_FILES
        if path.relative_to(TESTS).parts[0] not in OWN_TREES and not names_a_module(path)
    }
    assert strays == set(NO_MODULE)


def test_no_test_module_imports_another() -> None:
    imported = {
        path.relative_to(TESTS).as_posix(): imported_test_modules(path.read_text(encoding="utf-8"))
        for path in FILES
    }
    assert not any(imported.values()), {path: each for path, each in imported.items() if each}


def test_no_test_waits_for_a_time() -> None:
    """A fixed time that is enough on a quiet machine may be too short on a busy one."""
    waiting = {
        path.relative_to(TESTS).as_posix()
        for path in FILES
        if waits_for_a_time(path.read_text(encoding="utf-8"))
    }
    assert waiting == set(WAITS)
    for planted in ("time.sleep(0.1)", "page.wait_for_timeout(9)", "run(timeout=5)", "t.join(0.5)"):
        assert waits_for_a_time(planted)


def test_no_variable_of_whoever_runs_the_tests_is_seen() -> None:
    hostile = ("COLUMNS", "FORCE_COLOR", "LANG", "TZ", "DISCREET_LEDGER", "PGHOST", "http_proxy")
    seen = settled(dict.fromkeys([*hostile, "PATH", "DISCREET_REQUIRE_SERVICES"], "20"))
    assert seen == {
        **SET,
        "PYTHONPATH": str(SOURCES.parent),
        "PATH": "20",
        "DISCREET_REQUIRE_SERVICES": "20",
    }
    assert settled(seen) == seen


def test_the_quick_selection_touches_every_room() -> None:
    assert all((ROOT / name).is_file() for name in QUICK)
    assert len(QUICK) == len(set(QUICK)) < 50
    touched = {(ROOT / name).parent for name in QUICK}
    assert {path.parent for path in TEST_FILES} <= touched
    rooms = {path.parent for path in SOURCES.glob("*/__init__.py")}
    assert {room.name for room in rooms} <= {
        folder.relative_to(TESTS).parts[0] for folder in touched - {ROOT, TESTS}
    }
