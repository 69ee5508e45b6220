"""What a server says to its terminal when it is stopped while it answers."""

from __future__ import annotations

import asyncio
import logging
import sys

import pytest

from discreet.web import _is_trouble


@pytest.mark.parametrize(
    ("error", "message", "said"),
    [
        (asyncio.CancelledError(), "Exception in ASGI application", False),
        (ValueError(), "Exception in ASGI application", True),
        (None, "Cancel 2 running task(s), timeout graceful shutdown exceeded", False),
        (None, "something else", True),
    ],
)
def test_only_requests_that_were_cut_off_pass_in_silence(
    error: BaseException | None, message: str, said: bool
) -> None:
    found = None
    if error is not None:
        try:
            raise error
        except BaseException:
            found = sys.exc_info()
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, message, None, found)
    assert _is_trouble(record) == said
