"""Set up all tests: one environment, repeatable Hypothesis runs, shared fixtures."""

from __future__ import annotations

import gc
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.tools.environment import same_surroundings, settle

__all__ = ["same_surroundings"]

settle()

pytest_plugins = [
    "tests.tools.engines",
    "tests.tools.histograms",
    "tests.tools.postgresql",
]

settings.register_profile(
    "discreet",
    derandomize=True,  # the same examples every time, so the stated false-alarm rates hold
    deadline=None,  # the machine may be busy
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("discreet")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Freeze the collected tests, so garbage collection never scans them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class _FilesAndSpark(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types here
    """Give each worker whole files, and all tests of Spark to one worker: its start takes 15 seconds."""

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if "spark" in nodeid.lower() else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """Return the scheduler of ``--dist loadfile``, the only one that we use."""
    return _FilesAndSpark(config, log)
