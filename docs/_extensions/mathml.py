"""Render mathematics to MathML while the site is built: no script, and no request to others."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def _rendered(node: nodes.Element, display: str) -> str:
    try:
        return _tidied(str(convert(node.astext(), display=display)), display)
    except Exception as error:
        raise ExtensionError(
            f"{node.source}:{node.line}: cannot render {node.astext()!r}"
        ) from error


def _tidied(markup: str, display: str) -> str:
    """A prime is an operator, set close to its letter; limits stand below in a displayed formula."""
    markup = markup.replace("<mi>&#x02032;</mi>", '<mo lspace="0" rspace="0">&#x02032;</mo>')
    if display == "block":
        markup = re.sub(
            r"<msub><mo>(max|min|sup|inf|lim|Pr)</mo>(<mrow>.*?</mrow>|<mi>.*?</mi>)</msub>",
            r"<munder><mo>\1</mo>\2</munder>",
            markup,
        )
    return markup


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_rendered(node, "inline"))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math-block">{_rendered(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name that ``html_math_renderer`` asks for."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
