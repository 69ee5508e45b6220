"""The command line: parse, call, print; nothing else.

Each command is one module with a ``register(app)``; heavy libraries are imported inside the command, so
that ``discreet --help`` stays quick. Results go to stdout, progress and complaints to stderr. Exit
status: 0 done (for an audit: not refuted), 1 refuted, 2 wrong input, 3 something failed.
"""

from __future__ import annotations

import importlib
import os
import sys

import typer

from discreet.errors import DiscreetError, ParameterError, ScoresError

COMMANDS = (
    "demo",
    "demo_data",
    "ask",
    "select",
    "compare",
    "plan",
    "recommend",
    "optimality",
    "risk",
    "budget",
    "audit",
    "claims",
    "reproduce",
    "explore",
    "man_page",
)
"""The modules of this package that register commands, in the order of the help."""

app = typer.Typer(
    name="discreet",
    help="Choose privately, know what it costs, check every claim.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
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


for _command in COMMANDS:
    importlib.import_module(f"discreet.cli.{_command}").register(app)


def main() -> None:
    """Run the command line; errors become one line on stderr and an exit status."""
    try:
        app()
    except (ParameterError, ScoresError) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except DiscreetError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(3)
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        # The message of an error that is not ours may quote data: only its kind is shown.
        kind = type(error).__name__
        typer.echo(f"error: something failed ({kind}); DISCREET_DEBUG=1 shows where", err=True)
        sys.exit(3)
