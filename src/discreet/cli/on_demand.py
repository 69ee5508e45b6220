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
    """A command in the list: its name, the module that registers it, its summary and its panel."""

    name: str
    module: str
    summary: str
    panel: str


class OnDemand(TyperGroup):
    """A group that imports a command when it is asked for."""

    entries: ClassVar[tuple[Entry, ...]] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._listing = False
        # What the help shows and what suggestions for a misspelt command are taken from.
        self.commands = {
            entry.name: TyperCommand(
                name=entry.name, help=entry.summary, rich_help_panel=entry.panel
            )
            for entry in self.entries
        }

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command itself, or its line in the list while the help is written."""
        if self._listing or cmd_name not in self.commands:
            return super().get_command(ctx, cmd_name)
        return self.load(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of the whole program, without any of its commands."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def load(self, name: str) -> Any:
        """Import one command and build it."""
        module = next(entry.module for entry in self.entries if entry.name == name)
        shelf = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        importlib.import_module(f"discreet.cli.{module}").register(shelf)
        return typer.main.get_group(shelf).commands[name]
