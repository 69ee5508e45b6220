"""Connections to a desk: time limits for requests, and limits on clients that have not sent a valid token.

Anyone who reaches the desk can open connections and send nothing. So the number of connections without a
valid token is limited, in total and per address. Beyond the limit a new connection replaces the oldest, so an
analyst can always get in and send a token. Once a valid token has arrived, a connection is never replaced.
TLS is begun here, not by the server, because connections that never finish their handshake count as well.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVAL = 15.0
"""The time limit, in seconds, for the headers of a request, for its body, and between two requests."""
MOST = 800
"""The largest number of connections: fewer than the 1,024 files that many systems let a program open."""
STRANGERS = 400
"""The largest number of connections without a valid token."""
PER_ADDRESS = 100
"""The largest number of connections without a valid token from one address."""
_CONNECTION = "discreet.connection"


class Places:
    """The connections without a valid token, oldest first."""

    def __init__(self, *, strangers: int, per_address: int) -> None:
        self._strangers: dict[Connection, str] = {}
        self._most = strangers
        self._per_address = per_address

    def enter(self, connection: Connection, host: str) -> None:
        """Add a new connection; if there are too many, drop the oldest."""
        origin = network(host)
        own = [each for each, where in self._strangers.items() if where == origin]
        if len(own) >= self._per_address:
            own[0].drop()
        elif len(self._strangers) >= self._most:
            next(iter(self._strangers)).drop()
        self._strangers[connection] = origin

    def leave(self, connection: Connection) -> None:
        """Forget a connection that has ended or has sent a valid token."""
        self._strangers.pop(connection, None)


class Connection(H11Protocol):
    """A connection that ends if its request does not arrive in time, or if a newer connection replaces it."""

    def __init__(
        self, *arguments: Any, places: Places, tls: ssl.SSLContext | None, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self._places = places
        self._tls = tls
        self._handshake: asyncio.Task[None] | None = None
        self._stands = tls is None
        self._early = b""
        self._served, self.app = self.app, self._arrived
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Wait for the first request, over TLS if the desk uses it."""
        self.transport = transport
        self._places.enter(self, (transport.get_extra_info("peername") or ("",))[0])
        self._wait()
        if self._tls is None:
            super().connection_made(transport)
        else:
            transport.pause_reading()
            self._handshake = self.loop.create_task(self._begin_tls(transport, self._tls))

    async def _begin_tls(self, transport: asyncio.Transport, tls: ssl.SSLContext) -> None:
        try:
            secured = await self.loop.start_tls(transport, self, tls, server_side=True)
        except OSError:  # dropped, late, or not TLS
            secured = None
        if secured is None:
            self._end()
            return
        self._stands = True
        super().connection_made(secured)
        if self._early:
            super().data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Handle incoming data, which may arrive before the TLS handshake is known to be complete."""
        if self._stands:
            super().data_received(data)
        else:
            self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a request, and stop counting this connection."""
        self._end()
        super().connection_lost(exc)

    def _end(self) -> None:
        self._stop_waiting()
        self._places.leave(self)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait()
        super().on_response_complete()

    def drop(self) -> None:
        """End the connection now."""
        self._places.leave(self)
        self.transport.abort()

    def keep(self) -> None:
        """Protect this connection from being replaced; if it is already closing, refuse its request.

        The request may have arrived just before the connection was dropped. If the desk answered it, the
        analyst would pay for a question but only see the connection close.
        """
        if self.transport.is_closing():
            raise ClientDisconnect
        self._places.leave(self)

    async def _arrived(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._stop_waiting()
        await self._served({**scope, _CONNECTION: self}, receive, send)

    def _wait(self) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(ARRIVAL, self.drop)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()


def keep_place(scope: Scope) -> None:
    """Protect the connection of a request with a valid token from being replaced."""
    connection = scope.get(_CONNECTION)
    if connection is not None:
        connection.keep()


def network(host: str) -> str:
    """Return the address under which unauthenticated clients are counted; for IPv6, the /64 network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
    return str(address)
