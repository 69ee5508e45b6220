"""A server's socket, and its output when it is stopped while answering."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys

import pytest

from discreet._web import LocalServer, _is_trouble


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


def test_a_small_reply_does_not_wait_for_the_one_before() -> None:
    """asyncio disables Nagle's algorithm if the socket names its protocol; otherwise a reply takes 40 ms."""

    async def is_off() -> bool:
        server = LocalServer("127.0.0.1", 0, taken="taken")
        found: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            found.set_result(bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
            writer.close()

        async with await asyncio.start_server(answer, sock=server._socket):
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            off = await found
            writer.close()
            await writer.wait_closed()
        return off

    assert asyncio.run(is_off())
