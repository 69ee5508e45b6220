"""``discreet explore``: the local page on which mechanism and ε are decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import studying as study
from discreet.cli.output import say_json
from discreet.errors import missing_extra

if TYPE_CHECKING:
    from discreet.explore.app import Opened
    from discreet.explore.server import PageServer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explore")(explore)


def explore(
    scores: Annotated[
        str | None,
        typer.Argument(help="Scores to start from: a CSV, TSV, JSON or Parquet file."),
    ] = None,
    *,
    sensitivity: study.Sensitivity = None,
    monotonic: study.Monotonic = False,
    candidate_column: study.CandidateColumn = None,
    score_column: study.ScoreColumn = None,
    not_private: study.NotPrivate = False,
    public: study.Public = False,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    json: study.Json = False,
) -> None:
    """See what a choice of mechanism and ε costs, in the browser; nothing leaves this machine.

    Everything on the page reads the scores without spending any budget: it is not private.

    Example: discreet explore scores.csv --monotonic --public
    """
    opened = None
    if scores is not None:
        study.require_leave(not_private, public)
        opened = _opened(
            scores,
            sensitivity=sensitivity or "1",
            monotonic=monotonic,
            candidate_column=candidate_column,
            score_column=score_column,
        )
    try:
        from discreet.explore.server import PageServer
    except ImportError:
        raise missing_extra("the page needs Starlette and Uvicorn", extra="explore") from None
    _serve(PageServer(opened=opened, port=port), browser=browser, as_json=json)


def _opened(
    path: str,
    *,
    sensitivity: str,
    monotonic: bool,
    candidate_column: str | None,
    score_column: str | None,
) -> Opened:
    from discreet.explore.app import Opened
    from discreet.explore.uploads import score_file
    from discreet.score_files import scores_from_file

    read = scores_from_file(
        path,
        sensitivity=sensitivity,
        monotonic=monotonic,
        candidate_column=candidate_column,
        score_column=score_column,
    )
    return Opened(score_file(path, read), sensitivity, monotonic)


def _serve(server: PageServer, *, browser: bool, as_json: bool) -> None:
    import threading
    import webbrowser

    if as_json:
        say_json({"url": server.url})
    else:
        typer.echo(server.url)
    typer.echo("The page is for this machine only. Stop it with Ctrl-C.", err=True)
    if browser:
        threading.Timer(0.5, webbrowser.open, [server.url]).start()
    server.run()
