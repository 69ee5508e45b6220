"""Server code shared by the page and the desk: safe headers, limited bodies, a socket, a thread."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any, Self

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import DiscreetError

SAFE_HEADERS = {
    # A page may load and run only its own files: no inline scripts, nothing from other sites.
    "content-security-policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # an address may contain a token
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


async def is_request(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> bool:
    """Return whether this is an HTTP request; pass startup and shutdown to the app, and close WebSockets."""
    if scope["type"] == "lifespan":
        await app(scope, receive, send)
    elif scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
    return bool(scope["type"] == "http")


def with_headers(send: Send, headers: dict[str, str]) -> Send:
    """Return a ``send`` that adds these headers to every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sending


def limited(receive: Receive, most: int, *, seconds: float | None = None) -> Receive:
    """Return a ``receive`` that limits a body's size in bytes and the seconds until all of it has arrived.

    A larger body looks like a disconnect; a late one raises ``TimeoutError``.
    """
    seen, arrived = 0, False
    until = None if seconds is None else asyncio.get_running_loop().time() + seconds

    async def receiving() -> Message:
        nonlocal seen, arrived
        async with asyncio.timeout_at(None if arrived else until):
            message = await receive()
        seen += len(message.get("body", b""))
        arrived = not message.get("more_body", False)
        return {"type": "http.disconnect"} if seen > most else message

    return receiving


def _is_trouble(told: logging.LogRecord) -> bool:
    """Return whether a message should be logged; requests that are cut off at shutdown are not an error."""
    cut_off = told.exc_info is not None and isinstance(told.exc_info[1], asyncio.CancelledError)
    return not (cut_off or str(told.msg).startswith("Cancel "))


class LocalServer:
    """A listening socket and its server."""

    def __init__(self, host: str, port: int, *, taken: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # asyncio sets TCP_NODELAY only if the protocol is named; otherwise each small reply waits 40 ms.
        self._socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            self._socket.listen(1024)  # clients that connect before the server runs wait in line
        except OSError:
            self._socket.close()
            raise DiscreetError(taken) from None
        self.port: int = self._socket.getsockname()[1]

    def _serve(self, app: ASGIApp, **settings: Any) -> None:
        """Create the server, without an access log (it would contain tokens) and without a server header."""
        logging.getLogger("uvicorn.error").addFilter(_is_trouble)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="error",
                access_log=False,
                server_header=False,
                lifespan="on",
                ws="none",
                timeout_graceful_shutdown=2,
                **settings,
            )
        )

    def run(self) -> None:
        """Serve until interrupted."""
        with self._socket:
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Ask the server to end."""
        self._server.should_exit = True

    @contextlib.contextmanager
    def in_background(self) -> Iterator[Self]:
        """Serve in a thread while the block runs."""
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            while not self._server.started and thread.is_alive():
                thread.join(0.02)
            yield self
        finally:
            self.stop()
            thread.join()
