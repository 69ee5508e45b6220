"""``discreet explore``: a local page for choosing a mechanism and ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet._cli import shared_options as shared
from discreet._cli.choose import read_scores
from discreet._cli.commands import argument, command, option
from discreet._cli.output import say, say_either
from discreet.errors import missing_extra

if TYPE_CHECKING:
    from discreet.explore.app import Opened
    from discreet.explore.server import PageServer


@command("explore")
@argument("[SCORES]", "Scores to start from: a CSV, TSV, JSON or Parquet file.", name="file")
@shared.SENSITIVITY
@shared.MONOTONIC
@shared.COLUMNS
@shared.NOT_PRIVATE
@option("--port PORT", "The port; 0 takes a free one.", type=click.IntRange(0, 65535), default=0)
@option("--browser/--no-browser", "Open the page in the browser.", default=True)
@shared.JSON
def explore(*, port: int, browser: bool, json: bool, **given: Any) -> None:
    """Compare mechanisms and values of ε in the browser. No data leaves this machine.

    The page reads the scores without spending any budget, so nothing on it is private.

    Example: discreet explore scores.csv --monotonic --public
    """
    opened = None if given["file"] is None else _opened(**given)
    try:
        from discreet.explore.server import PageServer
    except ImportError:
        raise missing_extra("the page needs Starlette and Uvicorn", extra="explore") from None
    _serve(PageServer(opened=opened, port=port), browser=browser, as_json=json)


def _opened(**given: Any) -> Opened:
    from discreet.explore.app import Opened
    from discreet.explore.uploads import score_file

    table = score_file(given["file"], read_scores(**given))
    return Opened(table, given["sensitivity"] or "1", given["monotonic"])


def _serve(server: PageServer, *, browser: bool, as_json: bool) -> None:
    import threading
    import webbrowser

    say_either(server.url, {"url": server.url}, json=as_json)
    say("The page is for this machine only. Stop it with Ctrl-C.", err=True)
    if browser:
        threading.Timer(0.5, webbrowser.open, [server.url]).start()
    server.run()
