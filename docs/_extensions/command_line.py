"""The commands and their options, from the help texts that ``--help`` prints: a page, and the manual page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from discreet._cli import app as commands
from discreet._cli.commands import Argument


class CommandLine(Directive):
    """``{command-line}``: one section for each command."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        return list(_sections(click.Context(commands, info_name="discreet")))


def _sections(context: Any) -> Iterator[nodes.section]:
    for name in context.command.list_commands(context):
        command = context.command.get_command(context, name)
        child = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _sections(child)
        else:
            yield _section(command, child)


def _section(command: click.Command, context: click.Context) -> nodes.section:
    title = context.command_path
    section = nodes.section("", nodes.title(text=title), ids=[nodes.make_id(title)])
    for paragraph in (command.help or "").split("\n\n"):
        words = " ".join(paragraph.split())
        example = words.removeprefix("Example: ")
        if example == words:
            section += nodes.paragraph(text=words)
        else:  # as it can be copied
            section += nodes.literal_block(text=example, language="text")
    rows = [
        (part.shown, part.words) if isinstance(part, Argument) else part.get_help_record(context)
        for part in command.params
    ]
    items = [
        nodes.definition_list_item(
            "",
            nodes.term("", "", nodes.strong(text=names)),
            nodes.definition("", nodes.paragraph(text=words)),
        )
        for names, words in filter(None, rows)
    ]
    section += nodes.definition_list("", *items)
    return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
