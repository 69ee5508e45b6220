"""Documents as data, and their text in Markdown, HTML and YAML; what people typed is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet._displays import escape, markdown, page, visible
from discreet.dossier.facts import Fact


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: rows under column headings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Document:
    """A title, and sections of facts and tables.

    Attributes:
        name: the name of its files, without the ending.
        title: its heading.
        about: one sentence under the title.
        sections: the contents of each section, by heading.
    """

    name: str
    title: str
    about: str
    sections: Mapping[str, Sequence[Fact | Listing]]

    def in_markdown(self) -> str:
        """Return the document in Markdown."""
        parts = [f"# {markdown(self.title)}", markdown(self.about)]
        for heading, items in self.sections.items():
            parts.append(f"## {markdown(heading)}")
            for item in items:
                if isinstance(item, Listing):
                    parts.append(_table_in_markdown(item))
                elif item.source is None:
                    parts.append(f"- **For the owner to say:** {markdown(item.words)}")
                else:
                    parts.append(f"- {markdown(item.words)} *({markdown(item.source)})*")
        return "\n\n".join(parts) + "\n"

    def in_html(self) -> str:
        """Return the document as a self-contained page."""
        parts = []
        for heading, items in self.sections.items():
            parts.append(f"<h2>{escape(heading)}</h2>")
            for item in items:
                if isinstance(item, Listing):
                    parts.append(_table_in_html(item))
                elif item.source is None:
                    words = escape(item.words)
                    parts.append(f"<p><strong>For the owner to say:</strong> {words}</p>")
                else:
                    parts.append(
                        f"<p>{escape(item.words)} <small>{escape(item.source)}</small></p>"
                    )
        return page(self.title, f"<p>{escape(self.about)}</p>", *parts)


def _table_in_markdown(table: Listing) -> str:
    lines = [
        "| " + " | ".join(map(markdown, table.columns)) + " |",
        "|---" * len(table.columns) + "|",
    ]
    lines += ["| " + " | ".join(map(markdown, row)) + " |" for row in table.rows]
    return "\n".join(lines)


def _table_in_html(table: Listing) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def in_yaml(data: Any, *, indent: int = 0) -> str:
    """Return plain data as YAML; every text is quoted as in JSON, which YAML reads the same way.

    Example:
        >>> print(in_yaml({"tier": 3, "name": "a: b", "list": ["x"], "more": {"epsilon": 1.5}}))
        tier: 3
        name: "a: b"
        list:
          - "x"
        more:
          epsilon: 1.5
    """
    space = " " * indent
    if isinstance(data, Mapping):
        lines = []
        for name, value in data.items():
            nested = isinstance(value, Mapping | list)
            lines.append(
                f"{space}{name}:\n{in_yaml(value, indent=indent + 2)}"
                if nested
                else f"{space}{name}: {in_yaml(value)}"
            )
        return "\n".join(lines)
    if isinstance(data, list):
        return "\n".join(f"{space}- {in_yaml(each)}" for each in data)
    return json.dumps(visible(data) if isinstance(data, str) else data, ensure_ascii=False)
