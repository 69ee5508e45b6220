"""Wait for something that happens in another thread or process, however long a busy machine takes."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds to wait for something before the test fails. No test relies on a shorter wait."""


def until(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited for {PATIENCE:.0f} seconds: {what}"
        time.sleep(0.005)
