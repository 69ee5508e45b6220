"""Columns of figures in a table stand to the right, digit below digit."""

from __future__ import annotations

import re

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


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every table once it is read."""
    app.connect("doctree-read", _align)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
