"""The command line: parse, call, print; nothing else.

Each command is in a module with a ``register(app)`` and in the table below, from which the help is written;
its module is imported when it runs, and heavy libraries inside it. Results go to stdout, progress and
complaints to stderr. Exit status: 0 done (for an audit: not refuted), 1 refuted, 2 wrong input, 3 something
failed.
"""

from __future__ import annotations

import os
import sys
from typing import ClassVar

import typer

from discreet.cli.on_demand import Entry, OnDemand
from discreet.errors import DiscreetError, ParameterError, ScoresError


class _Commands(OnDemand):
    sections: ClassVar = {
        "Try it": (
            Entry("demo", "demo", "One private answer, and what it promises."),
            Entry("demo-data", "demo_data", "Write the tables of an invented clinic."),
            Entry("explore", "explore", "See what a choice costs, in the browser."),
        ),
        "Ask, and pay": (
            Entry("mode", "ask", "The most common value of a column."),
            Entry("median", "ask", "The median of a column, on a public grid."),
            Entry("quantiles", "ask", "Several quantiles of a column at once."),
            Entry("top", "ask", "The k most common values of a column."),
            Entry("select", "select", "The best candidate, by scores of your own."),
            Entry("budget", "budget", "A budget that cannot be overspent."),
        ),
        "Choose before you spend": (
            Entry("compare", "compare", "How far each mechanism falls short, over ε."),
            Entry("plan", "plan", "The least ε that is accurate enough."),
            Entry("recommend", "recommend", "Which mechanism to use, and why."),
            Entry("risk", "risk", "The surest an attacker can be, or the ε for that."),
            Entry("optimality", "optimality", "A mechanism's error over the least possible."),
        ),
        "Check": (
            Entry("audit", "audit", "Search for scores that refute a claimed guarantee."),
            Entry("claims", "papers", "Every numbered claim of five papers, checked."),
            Entry("reproduce", "papers", "Redraw the papers' figures; where do they differ?"),
        ),
        "Read": (Entry("man-page", "man_page", "Print the manual page, for man."),),
    }


app = typer.Typer(
    name="discreet",
    cls=_Commands,
    help="Choose privately, know what it costs, check every claim.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from discreet import __version__

        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_show_version,
        is_eager=True,
        help="Show the version and leave.",
    ),
) -> None:
    """Differentially private selection: exact, fast, and audited by computation."""


def main() -> None:
    """Run the command line; errors become one line on stderr and an exit status."""
    from discreet.cli.output import prepare_streams, say

    prepare_streams()
    try:
        app()
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        if isinstance(error, DiscreetError):
            say(f"error: {error}", err=True)
            sys.exit(2 if isinstance(error, ParameterError | ScoresError) else 3)
        # The message of an error that is not ours may quote data: only its kind is shown.
        kind = type(error).__name__
        say(f"error: something failed ({kind}); DISCREET_DEBUG=1 shows where", err=True)
        sys.exit(3)
