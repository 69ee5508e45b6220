"""Commands whose modules are imported only when they are run; the help lists them from a table.

Building every command takes longer than showing the list of them, and a command that runs needs no other.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


@dataclass(frozen=True, slots=True)
class Entry:
    """A command in the list: its name, the module that registers it, and its summary."""

    name: str
    module: str
    summary: str


class OnDemand(TyperGroup):
    """A group that imports a command when it is asked for."""

    sections: ClassVar[dict[str, tuple[Entry, ...]]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._entries = {entry.name: entry for part in self.sections.values() for entry in part}
        # Suggestions for a misspelt command are taken from here.
        self.commands = {name: TyperCommand(name=name) for name in self._entries}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # the signature is the library's
        """Import a command and build it."""
        if cmd_name not in self._entries:
            return None
        # Not at the top: the list of commands needs none of it.
        from discreet.cli.plain_help import Shelf

        shelf = Shelf(rich_markup_mode=self.rich_markup_mode)
        importlib.import_module(f"discreet.cli.{self._entries[cmd_name].module}").register(shelf)
        return typer.main.get_group(shelf).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # as above
        """The list of commands, section by section, without any of them."""
        for title, entries in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])
