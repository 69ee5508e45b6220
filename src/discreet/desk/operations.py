"""Metrics, a request log and readiness, for the owner of a running desk.

None of this contains an answer or a token. Durations and missed slots depend on the data: the metrics say so,
and are served only at the owner's own address.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet._web import LocalServer, is_request
from discreet.desk.admission import Desk
from discreet.desk.connections import network
from discreet.desk.owner_file import Metrics, in_url
from discreet.desk.store import OWNER
from discreet.errors import DiscreetError
from discreet.ledger import Ledger

ON_DATA = "It depends on the data: keep it to yourself."


class Figures:
    """Counters and gauges of one desk, for Prometheus."""

    def __init__(self, desk: Desk, *, per_analyst: bool) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = CollectorRegistry()
        self._per_analyst = per_analyst
        labels = ["kind", "outcome", *(["analyst"] if per_analyst else [])]
        self._questions = Counter(
            "discreet_desk_questions",
            f"Questions by outcome. {ON_DATA}",
            labels,
            registry=self.registry,
        )
        self._replies = Counter(
            "discreet_desk_replies",
            f"Replies over HTTP, by status: 410 is a missed slot. {ON_DATA}",
            ["status"],
            registry=self.registry,
        )
        self._missed = Counter(
            "discreet_desk_slots_missed",
            f"Paid questions that did not finish in their slots. {ON_DATA}",
            registry=self.registry,
        )
        self._seconds = Histogram(
            "discreet_desk_work_seconds",
            f"How long a worker took for a paid question. {ON_DATA}",
            ["kind"],
            registry=self.registry,
        )
        for name, words, read in (
            (
                "waiting",
                "Questions waiting for a worker; nothing is paid yet.",
                lambda: desk.waiting,
            ),
            ("working", "Questions that are running.", lambda: desk.working),
        ):
            Gauge(f"discreet_desk_{name}", words, registry=self.registry).set_function(read)

    def asked(self, kind: str, outcome: str, analyst: str, seconds: float | None) -> None:
        """Count a question by its outcome, and record how long its worker took."""
        whose = {"analyst": analyst} if self._per_analyst else {}
        self._questions.labels(kind=kind, outcome=outcome, **whose).inc()
        if outcome == "failed":
            self._missed.inc()
        if seconds is not None:
            self._seconds.labels(kind=kind).observe(seconds)

    def replied(self, status: int) -> None:
        """Count a reply by its HTTP status."""
        self._replies.labels(status=str(status)).inc()

    def written(self) -> bytes:
        """Return all metrics in Prometheus format."""
        from prometheus_client import generate_latest

        return bytes(generate_latest(self.registry))


class Journal:
    """The request log: JSON lines with time, analyst, request and status; no answer, token or duration."""

    def __init__(self, place: str) -> None:
        path = Path(place)
        try:
            path.touch(mode=0o600)
            self._file = path.open("a", encoding="utf-8", buffering=1)
        except OSError:
            raise DiscreetError(f"the desk's log {place!r} cannot be written") from None

    def write(self, **line: Any) -> None:
        """Write one line, with the current time."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        print(json.dumps({"time": stamp, **line}), file=self._file)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


MOST_LINES = 120
"""The number of unauthenticated requests from one network that are logged per minute."""
_MOST_NETWORKS = 1000
_METHODS = ("GET", "HEAD", "POST", "DELETE")


class Watched:
    """An ASGI application that counts replies and logs requests, unauthenticated ones only up to a limit."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        paths: frozenset[str],
        figures: Figures | None,
        journal: Journal | None,
    ) -> None:
        self.app, self._paths, self._figures, self._journal = app, paths, figures, journal
        self._minute = 0
        self._strangers: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and record the status of the reply."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"])
            await send(message)

        await self.app(scope, receive, noting)

    def _note(self, scope: Scope, status: int) -> None:
        if self._figures is not None:
            self._figures.replied(status)
        if self._journal is not None and self._is_to_be_written(scope):
            # A path or a method outside the desk's own routes is text from a stranger, and is not logged.
            self._journal.write(
                method=scope["method"] if scope["method"] in _METHODS else "other",
                path=scope["path"] if scope["path"] in self._paths else "other",
                status=status,
                analyst=scope.get("analyst"),
            )

    def _is_to_be_written(self, scope: Scope) -> bool:
        """Return whether to log a request.

        To save disk space, requests without a valid token are logged only up to a limit.
        """
        if scope.get("analyst") is not None:
            return True
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._strangers = minute, Counter()
        client = scope.get("client")
        where = network(client[0] if client else "")
        if where not in self._strangers and len(self._strangers) >= _MOST_NETWORKS:
            where = ""  # all further networks count as one
        self._strangers[where] += 1
        return self._strangers[where] <= MOST_LINES


async def readiness(desk: Desk) -> Response:
    """Report whether the ledger and the store respond, with HTTP status 200 if both do, else 503."""

    def look() -> None:
        desk.store.failures(OWNER)
        # Open it again, as a worker does: an open connection keeps working after the file was moved away.
        with Ledger.open(desk.owner.ledger.place, create=False, wait=2) as ledger:
            for dataset in {table.dataset for table in desk.owner.table.values()}:
                ledger.show(dataset)

    ready = True
    try:
        await asyncio.to_thread(look)
    except Exception:  # whatever the error, nothing can be asked now
        ready = False
    return JSONResponse({"ready": ready}, status_code=200 if ready else 503)


class MetricsServer(LocalServer):
    """A server for the metrics, at the owner's own address; reading them needs the owner's token."""

    def __init__(self, desk: Desk, figures: Figures, asked: Metrics) -> None:
        host, port = asked.address
        super().__init__(
            host, port, taken=f"{asked.listen} cannot be used: is another program listening there?"
        )
        self.url = f"http://{in_url(host, self.port)}"

        async def metrics(request: Request) -> Response:
            _, _, token = request.headers.get("authorization", "").partition(" ")
            if desk.store.holder(token.strip()) != OWNER:
                return JSONResponse({"error": "the owner's token is needed"}, status_code=401)
            return PlainTextResponse(
                figures.written(), media_type="text/plain; version=0.0.4; charset=utf-8"
            )

        async def health(_request: Request) -> Response:
            return await readiness(desk)

        app = Starlette(routes=[Route("/metrics", metrics), Route("/health", health)])
        self._serve(_requests_only(app))


def _requests_only(app: ASGIApp) -> ASGIApp:
    async def keeping(scope: Scope, receive: Receive, send: Send) -> None:
        if await is_request(app, scope, receive, send):
            await app(scope, receive, send)

    return keeping
