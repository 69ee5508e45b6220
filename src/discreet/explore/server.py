"""Run the page: a socket on the loopback interface, a fresh token, one server."""

from __future__ import annotations

from discreet.explore.app import Explorer, Opened
from discreet.explore.bundle import Bundle
from discreet.explore.guard import Guard
from discreet.explore.uploads import MOST_BYTES
from discreet.sampling import SecureBits
from discreet.web import LocalServer

ADDRESS = "127.0.0.1"


class PageServer(LocalServer):
    """One server and its address."""

    def __init__(self, *, opened: Opened | None = None, port: int = 0) -> None:
        super().__init__(
            ADDRESS, port, taken=f"port {port} is taken: choose another, or leave --port out"
        )
        self.token = f"{SecureBits().integer(192):048x}"
        explorer = Explorer(opened=opened, bundle=Bundle())
        self._serve(
            Guard(explorer.application(), token=self.token, port=self.port, most_bytes=MOST_BYTES)
        )

    @property
    def url(self) -> str:
        """Where the page is; whoever knows it may use it."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"
