"""For all tests: one environment, Hypothesis repeats itself exactly, shared fixtures."""

from __future__ import annotations

import gc
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

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
    derandomize=True,  # the same examples every time: the suite's false alarms stay where they are stated
    deadline=None,  # the machine may be busy
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("discreet")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Freeze what was collected, so that garbage collection never scans it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
