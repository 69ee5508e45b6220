"""The command line. It only parses arguments, calls the library and prints.

The table below gives each command's module and its line in the help. A module is imported when its command
runs; heavy libraries are imported only inside functions. Results go to stdout, progress and errors to stderr.
Exit status: 0 done (for an audit: not refuted), 1 a claim was refuted or a check found a problem, 2 wrong
input, 3 something failed.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from discreet import __version__
from discreet._cli.commands import LazyGroup
from discreet.errors import DiscreetError, ParameterError, ScoresError

_SECTIONS = {
    "Try it": {
        "demo": ("demo", "One private answer, and what it promises."),
        "demo-data": ("demo", "Write the tables of an invented clinic."),
        "explore": ("explore", "See what a choice costs, in the browser."),
    },
    "Ask, and pay": {
        "mode": ("ask", "The most common value of a column."),
        "median": ("ask", "The median of a column, on a public grid."),
        "quantiles": ("ask", "Several quantiles of a column at once."),
        "bound": ("ask", "A bound on a column, for later questions."),
        "vote": ("ask", "A vote among blocks of people, by your own function."),
        "top": ("ask", "The k most common values of a column."),
        "first": ("ask", "The first of ordered groups with enough people."),
        "ask": ("ask", "Ask a question written as JSON."),
        "select": ("select", "The best candidate, by scores of your own."),
        "budget": ("budget", "A budget that cannot be overspent."),
        "study": ("study", "Many questions under one budget, planned and signed."),
        "dossier": ("dossier", "The documents about a data set, from its ledger."),
        "desk": ("desk", "A server for analysts who may not see the rows."),
    },
    "Choose before you spend": {
        "compare": ("choose", "The error of each mechanism, over ε."),
        "plan": ("choose", "The smallest ε that is accurate enough."),
        "recommend": ("choose", "Which mechanism to use, and why."),
        "risk": ("choose", "How sure an attacker can be, or the ε for that."),
        "tuning": ("tuning", "What the best of several private runs costs."),
        "optimality": ("choose", "A mechanism's error over the least possible."),
    },
    "Check": {
        "audit": ("audit", "Search for scores that refute a claimed guarantee."),
        "observatory": ("observatory", "Other libraries' mechanisms, audited, in one table."),
        "verify": ("verify", "Check a decision record, and the ledger against it."),
        "claims": ("papers", "Every numbered claim of five papers, checked."),
        "reproduce": ("papers", "Redraw the papers' figures and compare them."),
    },
}


_COMPLETE = "_DISCREET_COMPLETE"
"""The environment variable that a shell sets to ask for completions."""


def _show_completion(context: click.Context, _option: click.Parameter, shell: str | None) -> Any:
    if shell is not None:
        from click.shell_completion import get_completion_class

        kind = get_completion_class(shell)
        assert kind is not None
        click.echo(kind(app, {}, "discreet", _COMPLETE).source())
        context.exit()


@click.group(
    "discreet",
    cls=LazyGroup,
    sections=_SECTIONS,
    help="Choose privately, know what it costs, check every claim.",
    context_settings={"help_option_names": ["--help", "-h"]},
)
@click.version_option(
    __version__, message="discreet %(version)s", help="Show the version and exit."
)
@click.option(
    "--show-completion",
    metavar="SHELL",
    type=click.Choice(["bash", "zsh", "fish"]),
    callback=_show_completion,
    expose_value=False,
    is_eager=True,
    help="Print the completion script for bash, zsh or fish and exit.",
)
def app() -> None:
    """The top-level command."""


def main() -> None:
    """Run the command line; print an error as one line on stderr and set the exit status."""
    from discreet._cli.output import prepare_streams, say

    if _COMPLETE not in os.environ:  # completions are written as bytes
        prepare_streams()
    try:
        app(prog_name="discreet")
    except Exception as error:
        if os.environ.get("DISCREET_DEBUG"):
            raise
        if isinstance(error, DiscreetError):
            say(f"error: {error}", err=True)
            sys.exit(2 if isinstance(error, ParameterError | ScoresError) else 3)
        # An error from another library may contain data in its message, so only its type is shown.
        kind = type(error).__name__
        say(f"error: something failed ({kind}); DISCREET_DEBUG=1 shows where", err=True)
        sys.exit(3)
