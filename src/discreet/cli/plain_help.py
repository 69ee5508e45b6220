"""Commands and groups whose help is plain, whole, and can be copied; and whose errors name options."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from discreet.errors import ParameterError

_Function = TypeVar("_Function", bound=Callable[..., Any])

_KINDS = {
    "NUMBER": "epsilon delta rho scale truth sensitivity range_distance gap step steps count_share "
    "people_share expected_error error_at_most with_probability tolerated share delta_for_releases",
    "COUNT": "n k people considered groups_per_person releases worlds starts sampled count workers",
    "NAME": "mechanism dataset neighbours method engine accountant period group per_person outside "
    "optimize form paper only",
    "COLUMN": "column user by candidate_column score_column",
    "FILE": "candidates chart markdown html",
    "FOLDER": "data out",
    "LIST": "groups at",
    "LOWER:UPPER": "bounds",
    "CONDITION": "where",
    "CLAIM": "claim",
    "ADDRESS": "ledger",
    "PORT": "port",
    "SEED": "seed",
}
# What the library calls a thing that the command line calls otherwise.
_ALIASES = {"file": "scores", "risk": "tolerated", "samples": "sampled"}
_GLUE = "\N{NO-BREAK SPACE}"
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}


class PlainCommand(TyperCommand):
    """A command whose options say what they take, and whose examples can be copied from the screen."""

    def __init__(self, name: str | None, **options: Any) -> None:
        super().__init__(name, **options)
        for parameter in self.params:
            if parameter.metavar is None:
                argument = parameter.param_type_name == "argument"
                parameter.metavar = (
                    parameter.name.upper() if argument else _KIND_OF.get(parameter.name, "TEXT")
                )

    def invoke(self, ctx: Any) -> Any:
        """Run; an error that speaks of arguments is made to speak of options."""
        try:
            return super().invoke(ctx)
        except ParameterError as error:
            names = {part.name: _shown(part) for part in self.params}
            other = {theirs: names[ours] for theirs, ours in _ALIASES.items() if ours in names}
            error.args = (error.worded(other | names),)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002  # the signature is the library's
        """The usage line: ARGUMENT, or [ARGUMENT] where it may be left out."""
        arguments = [part for part in self.params if part.param_type_name == "argument"]
        shown = [f"{part.metavar}" if part.required else f"[{part.metavar}]" for part in arguments]
        return ["[OPTIONS]", *shown]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # as above
        """The description; an example is broken between words only, as a shell allows it."""
        for paragraph in (self.help or "").split("\n\n"):
            words = " ".join(paragraph.split())
            formatter.write_paragraph()
            with formatter.indentation():
                if words.startswith("Example: "):
                    formatter.write(_example(words, formatter.width, formatter.current_indent))
                else:
                    formatter.write_text(words)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments by name, then options."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if parameter.param_type_name == "argument":
                words = "" if record is None else record[1]
                rows["Arguments"].append((str(parameter.metavar), words))
            elif record is not None:
                rows["Options"].append(record)
        for title, listed in rows.items():
            if listed:
                with formatter.section(title):
                    formatter.write_dl(listed)


def _shown(parameter: Any) -> str:
    argument = parameter.param_type_name == "argument"
    return str(parameter.name.upper() if argument else max(parameter.opts, key=len))


def _example(words: str, width: int, indent: int) -> str:
    # What is quoted stays whole, and a value with its option.
    glued = re.sub(r'"[^"]*"', lambda found: found[0].replace(" ", _GLUE), words)
    glued = re.sub(r" (--?[a-z-]+) (?!-)", rf" \1{_GLUE}", glued)
    lines = textwrap.wrap(
        glued,
        width - 2,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
        break_long_words=False,
    )
    return " \\\n".join(lines).replace(_GLUE, " ") + "\n"


class PlainGroup(TyperGroup):
    """A group that lists its commands with the whole first sentence of each."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands."""
        rows = []
        for name in self.list_commands(ctx):
            words = " ".join((getattr(self.get_command(ctx, name), "help", None) or "").split())
            first, stop, _ = words.partition(". ")
            rows.append((name, first + stop.strip()))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Shelf(typer.Typer):
    """Where commands are registered: each becomes a plain command unless it says otherwise."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[_Function], _Function]:
        """As in Typer."""
        return super().command(name, **{"cls": PlainCommand, **options})
