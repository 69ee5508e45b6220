"""The page's routes: static files, figures, uploads and audits. All state is kept in memory."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from discreet import __version__
from discreet._tables.score_files import TEXT_SUFFIXES
from discreet.analysis.charts.style import LOOKS, SHADES, TITLES
from discreet.errors import DiscreetError, ParameterError
from discreet.explore import attack, tasks
from discreet.explore.bars import MOST_BARS
from discreet.explore.bundle import Bundle
from discreet.explore.choices import choices_from
from discreet.explore.examples import SHAPES, examples, tolerance_for
from discreet.explore.figures import figures
from discreet.explore.jobs import Jobs
from discreet.explore.recipes import as_csv
from discreet.explore.record import entries, record_of
from discreet.explore.seen_scores import Studies
from discreet.explore.settings import is_private
from discreet.explore.uploads import (
    MOST_BYTES,
    MOST_CANDIDATES,
    OPENED,
    ScoreFile,
    UploadStore,
    read_scores,
)
from discreet.mechanisms import MECHANISMS

MEDIA = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_MOST_STATE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Opened:
    """The file from the command line, with the settings of its scores."""

    file: ScoreFile
    sensitivity: str
    monotonic: bool

    def described(self) -> dict[str, Any]:
        """Return the file's description for the page."""
        return {
            **_described(self.file, OPENED),
            "sensitivity": self.sensitivity,
            "monotonic": self.monotonic,
        }


class Explorer:
    """The state and the routes of one server."""

    def __init__(self, *, opened: Opened | None = None, bundle: Bundle | None = None) -> None:
        self.uploads = UploadStore()
        self.studies = Studies()
        self.jobs = Jobs()
        self._bundle = bundle
        self._opened = opened
        if opened is not None:
            self.uploads.put(opened.file, key=OPENED)

    # ---- files -----------------------------------------------------------------------------------

    async def static(self, request: Request) -> Response:
        """Send one of the page's own files."""
        name = request.path_params.get("name") or "index.html"
        if name == "vega.js":
            content = await run_in_threadpool((self._bundle or _shared_bundle()).content)
            return Response(content, media_type="text/javascript")
        found = _static(name)
        if found is None:
            return JSONResponse({"error": "Not found."}, status_code=404)
        return Response(found[0], media_type=found[1])

    async def start(self, _request: Request) -> Response:
        """Send the data that the page needs once: mechanisms, examples, limits and the opened file."""
        return JSONResponse(
            {
                "version": __version__,
                "mechanisms": [
                    {
                        "name": name,
                        "title": TITLES[name],
                        "private": is_private(name),
                        "look": LOOKS[name] % len(SHADES),
                    }
                    for name in MECHANISMS
                ],
                "examples": [
                    {name: part for name, part in asdict(example).items() if name != "scores"}
                    for example in examples().values()
                ],
                "claims": tasks.CLAIMS,
                "shapes": SHAPES,
                "limits": {
                    "bytes": MOST_BYTES,
                    "candidates": MOST_CANDIDATES,
                    "bars": MOST_BARS,
                    "endings": list(TEXT_SUFFIXES),
                    "audited": tasks.MOST_AUDITED,
                },
                "opened": None if self._opened is None else self._opened.described(),
            }
        )

    async def specifications(self, request: Request) -> Response:
        """Send the chart specifications for the compared mechanisms."""
        names = tuple(
            name for name in request.query_params.getlist("mechanism") if name in MECHANISMS
        )
        return await _answer(_specifications, names)

    # ---- figures ---------------------------------------------------------------------------------

    async def figures(self, request: Request) -> Response:
        """Send the page's numbers for the requested choices; store the edits to the scores as a draft."""
        given = await _json(request)

        def compute() -> dict[str, Any]:
            choices = choices_from(given, self.uploads)
            self.uploads.keep_draft(str(given.get("page"))[:40], choices.source, given["edits"])
            return figures(choices, self.studies.of(choices.values))

        return await _answer(compute)

    async def draft(self, request: Request) -> Response:
        """Send a reloaded page the edits that were made to its scores."""
        asked = request.query_params
        edits = self.uploads.draft(asked.get("page", ""), asked.get("source", ""))
        return JSONResponse({"edits": edits})

    async def record(self, request: Request) -> Response:
        """Send the decision record, both as a file and as the entries to show."""
        given = await _json(request)

        def make() -> dict[str, Any]:
            choices = choices_from(given, self.uploads)
            written = given.get("written")
            made = record_of(
                choices,
                self.studies.of(choices.values),
                written={str(k): str(v) for k, v in written.items()}
                if isinstance(written, dict)
                else {},
                with_scores=given.get("with_scores") is True,
            )
            # Sent as text, because JavaScript would format the numbers differently and break the hash.
            return {"file": json.dumps(made, indent=2) + "\n", "entries": entries(made)}

        return await _answer(make)

    async def game(self, request: Request) -> Response:
        """Play rounds of the attacker's game and send the results."""
        return await _answer(attack.game, await _json(request))

    async def ratios(self, request: Request) -> Response:
        """Send each answer's log-ratio between two neighbours."""
        return await _answer(attack.ratios, await _json(request))

    async def open_file(self, request: Request) -> Response:
        """Store the scores of an uploaded file, in memory only."""
        name = unquote(request.headers.get("x-file-name", ""))
        if request.headers.get("x-not-private") != "yes":
            raise ParameterError(
                "confirm first that these scores are public, or only look like the real ones"
            )
        content = await request.body()
        file = await run_in_threadpool(read_scores, name, content)
        return JSONResponse(_described(file, self.uploads.put(file)))

    async def scores(self, request: Request) -> Response:
        """Send the current scores as the CSV file that the copied command or Python code reads."""
        given = await _json(request)
        text = await run_in_threadpool(lambda: as_csv(choices_from(given, self.uploads)))
        return JSONResponse({"csv": text})

    # ---- long work -------------------------------------------------------------------------------

    async def start_audit(self, request: Request) -> Response:
        """Start an audit in its own process, and send the name of its job."""
        wanted = tasks.audit_request(await _json(request))
        return JSONResponse(
            {"job": await run_in_threadpool(self.jobs.start, tasks.run_audit, wanted)}
        )

    async def job(self, request: Request) -> Response:
        """Send a job's new messages, or cancel the job (DELETE)."""
        name = request.path_params["job"]
        if request.method == "DELETE":
            await run_in_threadpool(self.jobs.cancel, name)
            return JSONResponse({"ended": True})
        seen = request.query_params.get("seen", "0")
        if not seen.isdecimal():
            raise ParameterError("seen must be a whole number")
        messages, ended = await run_in_threadpool(self.jobs.messages, name, int(seen))
        return JSONResponse({"messages": messages, "ended": ended})

    # ---- the application -------------------------------------------------------------------------

    def application(self) -> Starlette:
        """Return the web application with all routes; errors are sent as JSON."""

        @contextlib.asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            sweeper = asyncio.create_task(self._sweep())
            yield
            sweeper.cancel()
            self.jobs.close()

        return Starlette(
            routes=[
                Route("/", self.static),
                Route("/api/start", self.start),
                Route("/api/specifications", self.specifications),
                Route("/api/figures", self.figures, methods=["POST"]),
                Route("/api/scores", self.scores, methods=["POST"]),
                Route("/api/file", self.open_file, methods=["POST"]),
                Route("/api/draft", self.draft),
                Route("/api/record", self.record, methods=["POST"]),
                Route("/api/game", self.game, methods=["POST"]),
                Route("/api/ratios", self.ratios, methods=["POST"]),
                Route("/api/audit", self.start_audit, methods=["POST"]),
                Route("/api/job/{job}", self.job, methods=["GET", "DELETE"]),
                Route("/{name}", self.static),
            ],
            exception_handlers={DiscreetError: _refused, ClientDisconnect: _cut_off},
            lifespan=lifespan,
        )

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(5)
            await run_in_threadpool(self.jobs.sweep)


@lru_cache(maxsize=1)
def _shared_bundle() -> Bundle:
    return Bundle()


@lru_cache(maxsize=64)
def _static(name: str) -> tuple[bytes, str] | None:
    for file in resources.files("discreet.explore").joinpath("static").iterdir():
        if file.name == name:
            return file.read_bytes(), MEDIA["." + name.rpartition(".")[2]]
    return None


@lru_cache(maxsize=64)
def _specifications(names: tuple[str, ...]) -> dict[str, Any]:
    from discreet.explore.charts import specifications

    return specifications(names)


def _described(file: ScoreFile, key: str) -> dict[str, Any]:
    tolerance = tolerance_for(file.values)
    return {"name": file.name, "count": len(file.labels), "key": key, "tolerance": tolerance}


async def _answer(work: Callable[..., Any], *given: Any) -> Response:
    """Run ``work`` in a thread and send its result; other requests are served meanwhile."""
    return JSONResponse(await run_in_threadpool(work, *given))


async def _json(request: Request) -> Any:
    content = await request.body()
    if len(content) > _MOST_STATE:
        raise ParameterError("the request is too large")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ParameterError("the request is not valid JSON") from None


async def _refused(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400)


async def _cut_off(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"error": "the file is too large, or was cut off"}, status_code=413)
