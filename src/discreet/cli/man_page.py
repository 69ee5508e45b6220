"""``discreet man-page``: the manual page, made from the same help texts that ``--help`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

_SECTIONS = {
    "EXIT STATUS": "0 done (for an audit: not refuted), 1 refuted, 2 wrong input, 3 something failed.",
    "FILES": "The usual ledger is a SQLite file in the user's data directory; DISCREET_LEDGER names another.",
    "SEE ALSO": "The documentation site, built by make docs.",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("man-page")(man_page)


def man_page() -> None:
    """Print the manual page, for man.

    Example: discreet man-page > discreet.1
    """
    typer.echo(manual())


def manual() -> str:
    """The manual page of the whole command line, in roff."""
    from discreet import __version__
    from discreet.cli import app

    root = typer.main.get_command(app)
    lines = [
        f'.TH DISCREET 1 "" "discreet {__version__}" "User commands"',
        ".SH NAME",
        r"discreet \- differentially private selection: exact, fast, and audited by computation",
        ".SH SYNOPSIS",
        r".B discreet \fICOMMAND\fR [\fIOPTIONS\fR]",
        ".SH COMMANDS",
        *_commands("discreet", root),
    ]
    for title, words in _SECTIONS.items():
        lines += [f".SH {title}", _escaped(words)]
    return "\n".join(lines)


def _commands(path: str, command: Any) -> Iterator[str]:
    context = typer.Context(command)
    for name in sorted(command.list_commands(context)):
        child = command.get_command(context, name)
        if hasattr(child, "list_commands"):
            yield from _commands(f"{path} {name}", child)
            continue
        yield f".SS {_escaped(f'{path} {name}')}"
        for paragraph in (child.help or "").split("\n\n"):
            yield from (_escaped(" ".join(paragraph.split())), ".PP")
        for parameter in child.params:
            yield from _parameter(parameter)


def _parameter(parameter: Any) -> Iterator[str]:
    if parameter.param_type_name == "argument":
        names = parameter.name.upper()
    else:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    yield ".TP"
    yield rf"\fB{_escaped(names)}\fR"
    yield _escaped(" ".join((getattr(parameter, "help", None) or "").split())) or r"\&"


def _escaped(text: str) -> str:
    """Plain text as roff takes it: no backslash, hyphen or leading full stop is left to chance."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text
