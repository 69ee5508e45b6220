"""Columns of figures in a table are aligned to the right; the tables of the benchmarks are folded."""

from __future__ import annotations

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

_FIGURE = re.compile(r"[+−-]?\d[\d.,]*(?: ?(?:ms|s|µs|MB|×|%))?(?: \([\d. s]+\)| / [\d.]+)?|[–-]|")


def _align(_app: Sphinx, doctree: nodes.document) -> None:
    for table in doctree.findall(nodes.table):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        body = [
            list(row.findall(nodes.entry)) for part in table.findall(nodes.tbody) for row in part
        ]
        for place in range(min((len(row) for row in rows), default=0)):
            texts = [row[place].astext() for row in body]
            if any(texts) and all(_FIGURE.fullmatch(text) for text in texts):
                for row in rows:
                    row[place]["classes"].append("number")


def _fold(app: Sphinx, doctree: nodes.document) -> None:
    """Below each chart of the benchmarks its table waits for a click."""
    for table in list(doctree.findall(nodes.table)) if app.env.docname == "benchmarks" else ():
        heads = [entry.astext() for part in table.findall(nodes.thead) for entry in part[0]]
        rows = sum(len(part) for part in table.findall(nodes.tbody))
        named = list(filter(None, heads))
        columns = ", ".join(named[:4]) + (", …" if len(named) > 4 else "")
        said = escape(f"Table: {columns} ({rows} rows)")
        opened = nodes.raw("", f"<details><summary>{said}</summary>", format="html")
        place = table.parent.index(table)
        table.parent.insert(place + 1, nodes.raw("", "</details>", format="html"))
        table.parent.insert(place, opened)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every table once it is read."""
    app.connect("doctree-read", _align)
    app.connect("doctree-read", _fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
