"""Wait for something that happens in another thread or process, however long a busy machine takes."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds after which something that never happens is a failure. No test relies on a shorter wait."""


def until(condition: Callable[[], object], what: str) -> None:
    """Return when the condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited for {PATIENCE:.0f} seconds: {what}"
        time.sleep(0.005)
