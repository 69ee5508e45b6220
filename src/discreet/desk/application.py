"""The desk over HTTP: authentication, requests, and the page.

A program sends its token in a header; a browser sends it in a cookie that no script can read. Every request
must name a host on the owner's list; a request that uses a cookie and asks or changes anything must come from
the desk's own page. Replies contain public facts, released answers, or one of a few fixed texts.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet._web import SAFE_HEADERS, is_request, limited, with_headers
from discreet.desk import connections
from discreet.desk.admission import UNABLE, Desk, DeskError, tell_owner
from discreet.desk.client import require_key
from discreet.desk.description import (
    described,
    form_names,
    invented,
    planned,
    rehearsed,
    suggested,
)
from discreet.desk.openapi import openapi
from discreet.desk.operations import Figures, Journal, Watched, readiness
from discreet.desk.owner_file import in_url
from discreet.desk.shapes import Request as Asked
from discreet.desk.shapes import RequestError, question_from
from discreet.desk.sign_on import Provider, SignOnError
from discreet.desk.store import SESSION, TOKEN, as_reply
from discreet.desk.studies import StudyPlanner
from discreet.errors import DiscreetError, LedgerError, ParameterError
from discreet.guarantees.conversions import installed_page

MOST_BYTES = 64 * 1024
COOKIE = "discreet_desk"
SIGN_ON_COOKIE = "discreet_sign_on"
SIGNED_ON = "/api/signed-on"
SIGN_ON_FAILED = (
    "the office's sign-on does not answer; nothing was spent. A token of the desk's own still works"
)
_MEDIA = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


class DoorKeeper:
    """An ASGI layer that refuses unknown hosts, foreign origins and large bodies, and sets safe headers."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], secure: bool) -> None:
        self._app = app
        self._hosts = hosts
        self._headers = dict(SAFE_HEADERS)
        if secure:
            self._headers["strict-transport-security"] = "max-age=31536000"
        self._origins = {f"http{'s' if secure else ''}://{host}" for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on."""
        if not await is_request(self._app, scope, receive, send):
            return
        refusal = self._refusal(Headers(scope=scope), scope["method"], scope["path"])
        arriving = limited(receive, MOST_BYTES, seconds=connections.ARRIVAL)
        await (refusal or self._app)(scope, arriving, with_headers(send, self._headers))

    def _refusal(self, headers: Headers, method: str, path: str) -> Response | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _problem(421, "this desk does not answer to that host name")
        origins = headers.getlist("origin")
        own = not origins or (len(origins) == 1 and origins[0].lower() in self._origins)
        # The provider's page sends the browser back with a code that is valid once, for this browser only.
        # The page to which the browser is then sent is the same for everybody.
        back = method == "GET" and path in ("/", SIGNED_ON) and not origins
        near = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
        if not own or not (near or back):
            return _problem(403, "other sites' pages may not use this desk")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > MOST_BYTES:
            return _problem(413, f"the request is larger than {MOST_BYTES // 1024} KB")
        return None


class DeskApplication:
    """The routes of one desk."""

    def __init__(
        self, desk: Desk, *, figures: Figures | None = None, journal: Journal | None = None
    ) -> None:
        self.desk, self.figures, self.journal = desk, figures, journal
        self.studies = StudyPlanner(desk)
        self.provider = None if desk.owner.desk.sign_on is None else Provider(desk.owner)

    # ---- authentication --------------------------------------------------------------------------

    async def _analyst(self, request: Request) -> str:
        """Return the analyst who sent a request; except on GET, a cookie needs the page's header."""
        given = request.headers.get("authorization", "")
        scheme, _, token = given.partition(" ")
        if given and scheme.lower() != "bearer":
            raise DeskError(401, "send the token in this header: Authorization: Bearer TOKEN")
        if not given:
            token = request.cookies.get(self._cookie(COOKIE), "")
            if request.method != "GET" and request.headers.get("x-discreet-desk") != "page":
                token = ""
        analyst = await self._holder(token.strip())
        if analyst is None:
            self._require_calm_stranger(request)
            raise DeskError(401, "no valid token: ask the owner of the desk for one")
        connections.keep_place(request.scope)
        self.desk.require_calm(analyst)
        request.scope["analyst"] = analyst
        return analyst

    def _require_calm_stranger(self, request: Request) -> None:
        """Refuse a request without a valid token if its address has sent too many in the last minute."""
        self.desk.require_calm(
            f"?{connections.network(request.client.host if request.client else '')}"
        )

    async def _holder(self, token: str) -> str | None:
        """Return the holder of a token issued by the desk or the provider; None if it is not valid."""
        if self.provider is not None and token.startswith(SESSION):
            # The owner's file may have given the name to somebody else since.
            analyst, person = self.desk.store.session(token)
            if analyst is None or person != self.provider.person(analyst):
                return None
        elif self.provider is None or token.startswith(TOKEN):
            analyst = self.desk.store.holder(token)
        else:
            analyst = await self.provider.aside(self.provider.analyst, token)
        return analyst if analyst in self.desk.owner.analyst else None

    async def enter(self, request: Request) -> Response:
        """Exchange a token for the page's cookie."""
        given = _json(await request.body())
        token = str(given.get("token") if isinstance(given, dict) else None).strip()
        self._require_calm_stranger(request)
        analyst = await self._holder(token)
        if analyst is None or not token.startswith(TOKEN):
            raise DeskError(401, "this token is not valid, or has expired")
        connections.keep_place(request.scope)
        response = JSONResponse({"analyst": analyst})
        self._keep(response, COOKIE, token, seconds=12 * 3600, samesite="strict")
        return response

    def _cookie(self, name: str) -> str:
        """Return the full name of a cookie; over https, a prefix stops other hosts from setting it."""
        return f"__Host-{name}" if self.desk.owner.desk.secure else name

    def _keep(
        self,
        response: Response,
        name: str,
        value: str,
        *,
        seconds: int,
        samesite: Literal["lax", "strict"],
    ) -> None:
        """Set a cookie that no script can read; with ``seconds=0``, delete it."""
        response.set_cookie(
            self._cookie(name),
            value,
            max_age=seconds,
            secure=self.desk.owner.desk.secure,
            httponly=True,
            samesite=samesite,
        )

    async def sign_on(self, request: Request) -> Response:
        """Send a browser to the sign-on provider; a cookie binds the sign-in to this browser."""
        provider = self._provider()
        self._require_calm_stranger(request)
        try:
            address, state = await provider.aside(provider.begin, self._back(request))
        except SignOnError as error:
            tell_owner(f"sign-on: {error}")
            raise DeskError(503, SIGN_ON_FAILED) from None
        response = RedirectResponse(address, status_code=303)
        # This cookie is lax, because the provider's page sends the browser back here.
        self._keep(response, SIGN_ON_COOKIE, state, seconds=600, samesite="lax")
        return response

    async def signed_on(self, request: Request) -> Response:
        """Finish the sign-in when the provider sends the browser back: set the page's cookie."""
        provider = self._provider()
        self._require_calm_stranger(request)
        state, code = (request.query_params.get(name, "") for name in ("state", "code"))
        begun = request.cookies.get(self._cookie(SIGN_ON_COOKIE), "")
        try:
            if not begun or not hmac.compare_digest(begun.encode(), state.encode()):
                raise SignOnError(
                    "the sign-in was finished in a different browser from the one it was started in"
                )
            analyst = await provider.aside(provider.finish, state, code, self._back(request))
        except SignOnError as error:
            tell_owner(f"sign-on: {error}")
            response: Response = RedirectResponse("/#not-signed-on", status_code=303)
        else:
            seconds = provider.terms.session
            token = self.desk.store.new_token(
                analyst, seconds=seconds, person=provider.person(analyst)
            )
            response = RedirectResponse("/", status_code=303)
            self._keep(response, COOKIE, token, seconds=int(seconds), samesite="strict")
        self._keep(response, SIGN_ON_COOKIE, "", seconds=0, samesite="lax")
        return response

    def _provider(self) -> Provider:
        if self.provider is None:
            raise DeskError(404, "there is nothing here")
        return self.provider

    def _back(self, request: Request) -> str:
        """Return the address to which the provider sends a browser back; its host is that of the request."""
        scheme = "https" if self.desk.owner.desk.secure else "http"
        return f"{scheme}://{request.headers['host'].lower()}/api/signed-on"

    async def leave(self, request: Request) -> Response:
        """Sign out: delete the cookie, and end the session if single sign-on began one."""
        if self.provider is not None:
            self.desk.store.end_session(request.cookies.get(self._cookie(COOKIE), ""))
        response = JSONResponse({"left": True})
        self._keep(response, COOKIE, "", seconds=0, samesite="strict")
        return response

    # ---- requests --------------------------------------------------------------------------------

    async def about(self, request: Request) -> Response:
        """Reply with what this analyst may ask, and what is left of the budget."""
        analyst = await self._analyst(request)
        found = await self.desk.look(lambda: described(self.desk, analyst), analyst=analyst)
        return JSONResponse(found)

    async def ask(self, request: Request) -> Response:
        """Ask a question, and pay for it."""
        analyst = await self._analyst(request)
        key = request.headers.get("idempotency-key")
        if key is not None:
            require_key(key)
        answered = await self.desk.ask(analyst, await _question(request), key=key)
        return JSONResponse(as_reply(answered))

    async def answers(self, request: Request) -> Response:
        """Reply with the analyst's own questions, newest first, with the released answers."""
        analyst = await self._analyst(request)
        asked = await self.desk.look(lambda: self.desk.store.asked(analyst), analyst=analyst)
        return JSONResponse([as_reply(each) for each in asked])

    def free(
        self, look: Callable[[Desk, str, Asked], dict[str, Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that passes a question to ``look`` and replies with the result, at no cost."""

        async def endpoint(request: Request) -> Response:
            analyst = await self._analyst(request)
            question = await _question(request)
            found = await self.desk.look(
                lambda: look(self.desk, analyst, question), analyst=analyst
            )
            return JSONResponse(found)

        return endpoint

    async def invented(self, request: Request) -> Response:
        """Reply with invented rows of a table, from the owner's public facts."""
        analyst = await self._analyst(request)
        given = _json(await request.body())
        found = await self.desk.look(lambda: invented(self.desk, analyst, given), analyst=analyst)
        return JSONResponse(found)

    async def study(self, request: Request) -> Response:
        """Reply with what a study will cost; each of its questions counts towards the request limit."""
        analyst = await self._analyst(request)
        given = _json(await request.body())
        return JSONResponse(
            await self.studies.plan(analyst, given, is_gone=request.is_disconnected)
        )

    async def health(self, request: Request) -> Response:
        """Report whether a question could be asked now: whether the ledger and the store respond."""
        self._require_calm_stranger(request)
        return await readiness(self.desk)

    async def ways_in(self, _request: Request) -> Response:
        """Reply with the ways to sign in: by token only, or also by single sign-on."""
        return JSONResponse({"sign_on": self.provider is not None})

    async def interface(self, _request: Request) -> Response:
        """Reply with the OpenAPI description, which is the same for every desk."""
        return JSONResponse(openapi())

    async def proof(self, request: Request) -> Response:
        """Reply with a proof page, as installed with the package."""
        name = request.path_params["name"]
        shown = _proof_page(name) if re.fullmatch(r"[a-z][a-z-]{0,60}", name) else None
        if shown is None:
            raise DeskError(404, "there is nothing here")
        return Response(shown, media_type="text/html")

    async def page(self, request: Request) -> Response:
        """Reply with a static file of the desk's web page."""
        name = request.path_params.get("name") or "index.html"
        found = _static(name) if re.fullmatch(r"[a-z][a-z_]{0,40}\.[a-z]{1,5}", name) else None
        if found is None:
            raise DeskError(404, "there is nothing here")
        return Response(found[0], media_type=found[1])

    def application(self) -> Watched:
        """Return the whole application, behind a ``DoorKeeper``; the requests it refuses are logged too."""

        @contextlib.asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            await self.desk.open()
            yield
            self.studies.close()
            await self.desk.close()
            if self.provider is not None:
                self.provider.close()

        def post(path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
            return Route(path, endpoint, methods=["POST"])

        routes = [
            Route("/", self.page),
            post("/api/session", self.enter),
            Route("/api/session", self.leave, methods=["DELETE"]),
            Route("/api/desk", self.about),
            post("/api/plan", self.free(planned)),
            post("/api/ask", self.ask),
            post("/api/suggest", self.free(suggested)),
            post("/api/rehearse", self.free(rehearsed)),
            post("/api/invented", self.invented),
            post("/api/study", self.study),
            Route("/api/answers", self.answers),
            Route("/api/health", self.health),
            Route("/api/ways-in", self.ways_in),
            Route("/api/sign-on", self.sign_on),
            Route(SIGNED_ON, self.signed_on),
            Route("/api/openapi.json", self.interface),
            Route("/proofs/{name}", self.proof),
            Route("/{name}", self.page),
        ]
        handlers: dict[Any, Any] = {
            DiscreetError: _refused,
            ClientDisconnect: _cut_off,
            TimeoutError: _late,
            404: _nothing,
            405: _wrong_method,
            Exception: _broken,
        }
        listening = self.desk.owner.desk
        host, port = listening.address
        hosts = {in_url(host, port), f"localhost:{port}", *map(str.lower, listening.hosts)}
        if listening.tls is not None:  # browsers name the port, unless it is the default
            hosts |= {f"{name.lower()}:{port}" for name in listening.hosts if ":" not in name}
        app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
        return Watched(
            DoorKeeper(app, hosts=frozenset(hosts), secure=listening.secure),
            paths=frozenset(route.path for route in routes),
            figures=self.figures,
            journal=self.journal,
        )


@lru_cache(maxsize=100)
def _static(name: str) -> tuple[bytes, str] | None:
    ending = "." + name.rpartition(".")[2]
    if ending not in _MEDIA:
        return None
    for room in ("desk", "explore"):  # both pages share the style and the icon
        file = resources.files(f"discreet.{room}").joinpath("static", name)
        if file.is_file() and (room == "desk" or name in ("page.css", "icon.svg")):
            return file.read_bytes(), _MEDIA[ending]
    return None


@lru_cache(maxsize=100)
def _proof_page(name: str) -> str | None:
    from markdown_it import MarkdownIt

    file = installed_page(name)
    if file is None:
        return None
    body = MarkdownIt("js-default").render(file.read_text(encoding="utf-8"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{name}</title><link rel="stylesheet" href="/page.css">'
        '<link rel="stylesheet" href="/desk.css"></head>\n'
        f'<body><main class="proof">{body}</main></body></html>\n'
    )


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ParameterError("the request is not valid JSON") from None


async def _question(request: Request) -> Asked:
    question = question_from(await request.body())
    request.scope["kind"] = question.kind  # so that an error can name its fields
    return question


def _problem(status: int, words: str, *, retry_after: float | None = None) -> Response:
    headers = {} if retry_after is None else {"retry-after": str(max(1, math.ceil(retry_after)))}
    return JSONResponse({"error": words}, status_code=status, headers=headers)


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, DeskError):
        return _problem(error.status, str(error), retry_after=error.retry_after)
    if isinstance(error, ParameterError) and not isinstance(error, LedgerError):
        # This error depends only on the question and the owner's file. Users of the page know fields by
        # their labels.
        at_page = request.headers.get("x-discreet-desk") == "page"
        kind = error.kind if isinstance(error, RequestError) else request.scope.get("kind")
        names = form_names(kind) if at_page else {}
        return _problem(400, error.worded(names))
    tell_owner(str(error))
    return _problem(503, UNABLE)


async def _cut_off(_request: Request, _error: Exception) -> Response:
    return _problem(413, "the request is too large, or was cut off")


async def _late(_request: Request, _error: Exception) -> Response:
    reply = _problem(408, "the request did not arrive in time; nothing was spent")
    reply.headers["connection"] = "close"
    return reply


async def _nothing(_request: Request, _error: Exception) -> Response:
    return _problem(404, "there is nothing here")


async def _wrong_method(request: Request, _error: Exception) -> Response:
    here = (route for route in request.app.routes if route.matches(request.scope)[0] != Match.NONE)
    allowed = ", ".join(sorted({method for route in here for method in route.methods}))
    reply = _problem(405, f"{request.method} is not allowed here: it must be one of {allowed}")
    reply.headers["allow"] = allowed
    return reply


async def _broken(_request: Request, _error: Exception) -> Response:
    # The message of an unexpected error may quote something confidential.
    return _problem(
        500, "something failed in the desk; your list of questions shows whether one was paid"
    )
