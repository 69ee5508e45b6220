"""Serve the page on the loopback interface, protected by a token in the address.

A website can make a browser send requests to 127.0.0.1, and can point its own host name there (DNS
rebinding). So every request must have the token in its path, name exactly the host and port that the
server listens on, and have no foreign origin. A request that is too large is refused; if it states its
size, it is refused before it is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet._exact.sampling import SecureBits
from discreet._web import SAFE_HEADERS, LocalServer, is_request, limited, with_headers
from discreet.explore.app import Explorer, Opened
from discreet.explore.bundle import Bundle
from discreet.explore.uploads import MOST_BYTES

ADDRESS = "127.0.0.1"


class Guard:
    """An ASGI application that accepts only the page's own requests."""

    def __init__(self, app: ASGIApp, *, token: str, port: int, most_bytes: int) -> None:
        self._app = app
        self._token = token
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on with the token removed from the path."""
        if not await is_request(self._app, scope, receive, send):
            return
        send_guarded = with_headers(send, SAFE_HEADERS)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        inner = dict(scope)
        inner["path"] = scope["path"][len(self._token) + 1 :]
        inner["raw_path"] = inner["path"].encode("ascii", "replace")
        try:
            await self._app(inner, limited(receive, self._most), send_guarded)
        except asyncio.CancelledError:
            # On Ctrl-C during a computation, send the page an error and print no traceback.
            ending = PlainTextResponse("The server is ending.", status_code=503)
            with contextlib.suppress(RuntimeError):  # the reply had already started
                await ending(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return PlainTextResponse("This server answers to 127.0.0.1 only.", status_code=421)
        origins = headers.getlist("origin")
        if origins and origins not in [[f"http://{host}"] for host in self._hosts]:
            return PlainTextResponse("Other pages may not use this server.", status_code=403)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse("Other pages may not use this server.", status_code=403)
        if not self._has_token(scope["path"]):
            return PlainTextResponse("Not found.", status_code=404)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most:
            return JSONResponse({"error": self._too_large()}, status_code=413)
        return None

    def _has_token(self, path: str) -> bool:
        given = path[1 : len(self._token) + 2].encode("utf-8", "replace")
        return hmac.compare_digest(given, f"{self._token}/".encode())

    def _too_large(self) -> str:
        return f"the file is larger than {self._most // 2**20} MB"


class PageServer(LocalServer):
    """The server of the page on 127.0.0.1, at an address that contains a token."""

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
        """The page's address; anyone who knows it can use the page."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"
