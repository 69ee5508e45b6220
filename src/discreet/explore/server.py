"""Run the page: a socket on the loopback interface, a fresh token, one server."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator

import uvicorn

from discreet.errors import DiscreetError
from discreet.explore.app import Explorer, Opened
from discreet.explore.bundle import Bundle
from discreet.explore.guard import Guard
from discreet.explore.uploads import MOST_BYTES
from discreet.sampling import SecureBits

ADDRESS = "127.0.0.1"


class PageServer:
    """One server and its address."""

    def __init__(self, *, opened: Opened | None = None, port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((ADDRESS, port))
            self._socket.listen()  # a browser that comes before the server runs waits in line
        except OSError:
            self._socket.close()
            raise DiscreetError(
                f"port {port} is taken: choose another, or leave --port out"
            ) from None
        self.port: int = self._socket.getsockname()[1]
        self.token = f"{SecureBits().integer(192):048x}"
        explorer = Explorer(opened=opened, bundle=Bundle())
        guarded = Guard(
            explorer.application(), token=self.token, port=self.port, most_bytes=MOST_BYTES
        )
        # That requests are cut off at the end is no error.
        logging.getLogger("uvicorn.error").addFilter(
            lambda told: not str(told.msg).startswith("Cancel ")
        )
        # No access log: it would hold the token. No server or date header: nobody needs them.
        self._server = uvicorn.Server(
            uvicorn.Config(
                guarded,
                log_level="error",
                access_log=False,
                server_header=False,
                lifespan="on",
                timeout_graceful_shutdown=2,
            )
        )

    @property
    def url(self) -> str:
        """Where the page is; whoever knows it may use it."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until interrupted."""
        with self._socket:
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Ask the server to end."""
        self._server.should_exit = True

    @contextlib.contextmanager
    def in_background(self) -> Iterator[PageServer]:
        """Serve in a thread for as long as the block lasts."""
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join()
