"""Commands built on Click: one-line option declarations, examples to copy, errors that name options.

A command's module is imported only when that command runs. Listing the commands imports none of them.
"""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from discreet._displays import transcribed
from discreet.errors import ParameterError

_Made = TypeVar("_Made", bound=Callable[..., Any])
Decorator: TypeAlias = Callable[[_Made], _Made]

_GLUE, _HYPHEN = "\N{NO-BREAK SPACE}", "\N{NON-BREAKING HYPHEN}"
_UNGROUPED = 6  # options without a heading, such as --help


class SectionOption(click.Option):
    """An option in a section of the help; advanced options appear only in ``--help-all``."""

    def __init__(
        self,
        declarations: list[str],
        *,
        section: str = "Options",
        advanced: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(declarations, **settings)
        self.section, self.advanced = section, advanced

    def get_help_extra(self, ctx: click.Context) -> click.types.OptionHelpExtra:
        """Return what follows the help text; a default given as text is shown without parentheses."""
        extra = super().get_help_extra(ctx)
        if isinstance(self.show_default, str):
            extra["default"] = self.show_default
        return extra


def option(
    declaration: str, words: str, *, name: str | None = None, **settings: Any
) -> Decorator[Any]:
    """Make an option from its names and its value: ``-k --k COUNT``. Without a value it is a flag.

    ``name`` is the library's name for the option, if it differs.
    """
    *names, last = declaration.split()
    if last.startswith("-"):
        settings = {"is_flag": True, **settings}
        names.append(last)
    else:
        settings = {"metavar": last, **({"type": int} if last == "COUNT" else {}), **settings}
    settings.setdefault("show_default", settings.get("default") is not None)
    return click.option(
        *names, *([name] if name else []), cls=SectionOption, help=words, **settings
    )


def argument(
    declaration: str, words: str, *, name: str | None = None, **settings: Any
) -> Decorator[Any]:
    """Make an argument from its name: ``SCORES``, or ``[SCORES]`` if it is optional."""
    return click.argument(
        name or declaration.strip("[]").lower(),
        cls=Argument,
        words=words,
        metavar=declaration,
        required=not declaration.startswith("["),
        **settings,
    )


def from_standard_input(ctx: click.Context, _parameter: click.Parameter, given: Any) -> Any:
    """Return the given file name; for ``-`` or ``/dev/stdin``, the name of a CSV copy of standard input.

    The copy is needed because a question opens its table more than once, and a pipe can be read only once.
    Only the user can read the copy, which is deleted when the command ends.
    """
    if given not in ("-", "/dev/stdin"):
        return given
    # The folder has mode 0700, and is removed when the command ends.
    folder = ctx.with_resource(tempfile.TemporaryDirectory(prefix="discreet-input-"))
    copy = Path(folder) / "standard-input.csv"
    with copy.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(copy)


def stack(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Combine options that belong together into one decorator."""
    return lambda made: reduce(lambda inner, decorate: decorate(inner), reversed(decorators), made)


class Argument(click.Argument):
    """An argument with a help text."""

    def __init__(self, declarations: list[str], *, words: str, **settings: Any) -> None:
        super().__init__(declarations, **settings)
        default = f"  [default: {settings['default']}]" if "default" in settings else ""
        self.words = words + ("  [required]" if self.required else default)

    @property
    def shown(self) -> str:
        """The argument's name on the command line."""
        return str(self.metavar).strip("[]")


class _Help(click.HelpFormatter):
    """A help formatter that breaks lines only between words and respects the terminal's encoding."""

    def _fit(self, text: str) -> str:
        # Click would break words at hyphens, so hide them here; ``getvalue`` restores them.
        return transcribed(text, getattr(sys.stdout, "encoding", None)).replace("-", _HYPHEN)

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(self._fit(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], *limits: int, **more: int) -> None:
        """Write a list of names and their meanings."""
        super().write_dl([(name, self._fit(words)) for name, words in rows], *limits, **more)

    def getvalue(self) -> str:
        """Return the whole text."""
        return super().getvalue().replace(_HYPHEN, "-")


class _Context(click.Context):
    formatter_class = _Help


class Command(click.Command):
    """A command with examples that can be copied from the screen."""

    context_class = _Context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; error messages use the names of its options."""
        try:
            return self.run(ctx)
        except ParameterError as error:
            error.args = (error.worded(_names(self)),)
            raise
        except KeyboardInterrupt:
            raise SystemExit(130) from None  # the exit status of an interrupted command in a shell

    def run(self, ctx: click.Context) -> Any:
        """Run the command's function and return its result."""
        return super().invoke(ctx)

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002  # no limit on the length
        """Return the first sentence of the help text."""
        first, stop, _ = " ".join((self.help or "").split()).partition(". ")
        return first + stop.strip()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the description; break examples only between words, with a shell's line continuation."""
        for paragraph in (self.help or "").split("\n\n"):
            words = " ".join(paragraph.split())
            formatter.write_paragraph()
            with formatter.indentation():
                if words.startswith("Example: "):
                    formatter.write(_example(words, formatter.width, formatter.current_indent))
                else:
                    formatter.write_text(words)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options."""
        rows = [(part.shown, part.words) for part in self.params if isinstance(part, Argument)]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        everything = ctx.meta.get(_ALL, False)
        shown = [
            part
            for part in self.get_params(ctx)
            if not isinstance(part, Argument)
            and (everything or not getattr(part, "advanced", False))
        ]
        sections: dict[str, list[tuple[str, str]]] = {}
        for part in shown:
            record = part.get_help_record(ctx)
            few = len(shown) <= _UNGROUPED
            if record is not None:
                title = "Options" if few else getattr(part, "section", "Options")
                sections.setdefault(title, []).append(record)
        for title in sorted(sections, key=lambda title: title == "Options"):
            with formatter.section(title):
                formatter.write_dl(sections[title])


_ALL = "discreet.help_all"


def _show_all(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


HELP_ALL = option(
    "--help-all",
    "Show every option, including rare ones.",
    is_eager=True,
    expose_value=False,
    callback=_show_all,
)


def command(name: str, cls: type[Command] = Command) -> Callable[[Callable[..., None]], Command]:
    """Turn a function into a command; its docstring is the help text."""
    return click.command(name, cls=cls)


def _names(command: click.Command) -> dict[str, str]:
    """Map each parameter's name in the library to its longest command-line name; ``k`` becomes ``-k``."""
    return {
        str(part.name): part.shown
        if isinstance(part, Argument)
        else max(part.opts, key=lambda name: len(name.strip("-")))
        for part in command.params
    }


def _example(words: str, width: int, indent: int) -> str:
    # Keep quoted text together, and keep a value with its option.
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


class Group(click.Group):
    """A group that lists its commands in the order in which they were added."""

    context_class = _Context

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)


class LazyGroup(Group):
    """A group that lists its commands in sections and imports a command's module only when it runs."""

    def __init__(
        self, name: str, *, sections: Mapping[str, Mapping[str, tuple[str, str]]], **settings: Any
    ) -> None:
        super().__init__(name, **settings)
        self.sections = sections
        self.modules = {
            name: module for part in sections.values() for name, (module, _) in part.items()
        }
        # Click suggests these names when a command is misspelt.
        self.commands = {name: click.Command(name) for name in self.modules}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command and return it; None if there is no command of this name."""
        if cmd_name not in self.modules:
            return None
        module = importlib.import_module(f"discreet._cli.{self.modules[cmd_name]}")
        found: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing any."""
        for title, part in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in part.items()])
