"""``discreet explore``: the local page on which mechanism and ε are decided."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explore")(explore)


def explore(
    scores: Annotated[
        Path | None, typer.Argument(help="Scores to start from: CSV (label,score) or JSON.")
    ] = None,
    *,
    not_private: Annotated[
        bool,
        typer.Option(
            "--not-private",
            help="The scores in the file are public, or only look like the real ones.",
        ),
    ] = False,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """See what a choice of mechanism and ε costs, in the browser; nothing leaves this machine.

    Everything on the page reads the scores without spending any budget: it is not private.

    Example: discreet explore scores.csv --not-private
    """
    from discreet.errors import MissingExtraError, ParameterError

    try:
        from discreet.explore.score_files import read_scores
        from discreet.explore.server import PageServer
    except ImportError:
        raise MissingExtraError("the page needs: pip install 'discreet[explore]'") from None
    opened = None
    if scores is not None:
        if not not_private:
            raise ParameterError(
                "the page shows what it reads and spends no budget: say --not-private if the scores are "
                "public or only look like the real ones"
            )
        try:
            opened = read_scores(scores.name, scores.read_bytes())
        except OSError:
            raise ParameterError(f"{str(scores)!r} cannot be read") from None
    _serve(PageServer(opened=opened, port=port), browser=browser, as_json=json)


def _serve(server: object, *, browser: bool, as_json: bool) -> None:
    import json as json_text
    import threading
    import webbrowser

    from discreet.explore.server import PageServer

    assert isinstance(server, PageServer)
    typer.echo(json_text.dumps({"url": server.url}) if as_json else server.url)
    typer.echo("The page is for this machine only. Stop it with Ctrl-C.", err=True)
    if browser:
        # The server takes the connection as soon as it runs; the socket already listens by then.
        threading.Timer(0.5, webbrowser.open, [server.url]).start()
    server.run()
