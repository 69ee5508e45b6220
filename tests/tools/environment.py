"""The environment of all tests: the same on every machine, and restored after each test.

This module is imported before anything reads a variable. A test that needs a variable sets it itself.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

FOR_TESTS: tuple[str, ...] = (
    "DISCREET_TEST_",
    "DISCREET_REQUIRE_",
    "DISCREET_CLUSTER_",
    "DISCREET_KILLS",
)
FOR_TESTS += ("DISCREET_DPBENCH", "DISCREET_SCREENSHOTS")
"""Variables that configure the tests themselves."""
REMOVED: tuple[str, ...] = (
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "TTY_",
    "CLICOLOR",
    "PAGER",
    "LC_",
    "LANG",
)
REMOVED += ("DISCREET_", "PG", "SPARK_", "PYSPARK_", "http_proxy", "HTTP_PROXY", "BROWSER")
REMOVED += ("PYTHONWARNINGS", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONOPTIMIZE", "PYTHONHASHSEED")
REMOVED += (
    "PYTHONDONTWRITEBYTECODE",
)  # otherwise each program that a test starts would compile all of discreet
"""Prefixes of variables that change what a program under test does or prints."""
SOURCES = str(Path(__file__).parents[2] / "src")
SET = {
    "TERM": "dumb",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "XDG_DATA_HOME": os.devnull,  # a test that forgets its ledger fails, and leaves the user's home alone
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
}


OF_LIBRARIES = ("PYTEST_", "KMP_", "SPARK_", "PYSPARK_")
"""Prefixes of variables that libraries set themselves when they are first used."""


def settled(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the tests, made from the current one."""
    kept = {
        name: value
        for name, value in variables.items()
        if name.startswith(FOR_TESTS) or not name.startswith(REMOVED)
    }
    paths = [SOURCES, *kept.get("PYTHONPATH", "").split(os.pathsep)]
    kept["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, paths)))
    return kept | SET


def _folder_in_memory() -> dict[str, str]:
    """Put pytest's files in memory if possible: on a slow disk each commit of a ledger takes 25 ms."""
    memory = Path("/dev/shm")  # noqa: S108 - pytest makes a folder in it that only this user may enter
    if not os.access(memory, os.W_OK):
        return {}
    facts = os.statvfs(memory)
    has_room = facts.f_bavail * facts.f_frsize >= 4 << 30
    runs_programs = not facts.f_flag & os.ST_NOEXEC
    return {"PYTEST_DEBUG_TEMPROOT": str(memory)} if has_room and runs_programs else {}


def settle() -> None:
    """Set up the test environment for this process and all processes that it starts."""
    wanted = _folder_in_memory() | settled(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    sys.dont_write_bytecode = False
    time.tzset()


@pytest.fixture(autouse=True)
def same_surroundings() -> Iterator[None]:
    """Check that a test restores all variables and the working directory."""
    before, folder = _variables(), Path.cwd()
    yield
    left = {name for name, _ in before.items() ^ _variables().items()}
    assert not left, f"the test left other values of {sorted(left)}"
    assert folder == Path.cwd(), "the test left another working directory"


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(OF_LIBRARIES)}
