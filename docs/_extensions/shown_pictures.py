"""A drawing on a page: its text from the data that it shows, and a twin in colours for a dark page.

The text is the drawing's own ``<desc>``, or what the marks of a chart by Vega say of their data, so that it
cannot differ from the picture. The twin has the same shapes; each colour is replaced by one that stands out
on a dark page. Photographs of a page have a twin where a file ``NAME-dark.png`` is beside them.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

_COLOUR = re.compile(r'(?<=["\s:;])(#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3}|white|black)(?=["\s;}])')
PAPER = "#131416"
"""The ground of a dark page, by the site's theme."""
_PAPER, _INK = 0.08, 0.92
"""How light the ground and the text of a dark page are, from 0 to 1."""
_LIGHT_ENOUGH = 0.68


def dark(colour: str) -> str:
    """The colour that stands for this one on a dark page: greys change places, hues become light.

    Example:
        >>> dark("#ffffff"), dark("black"), dark("#12263f")
        ('#131416', '#ebebeb', '#80a8db')
    """
    named = {"white": "#ffffff", "black": "#000000"}
    digits = named.get(colour, colour)[1:]
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    if digits.lower() == "ffffff":
        return PAPER
    red, green, blue = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    hue, light, full = colorsys.rgb_to_hls(red, green, blue)
    if full < 0.12 or light > 0.9:  # a grey, or the tint of a box
        # Text and marks stay legible; lines and grounds that are nearly white become nearly the paper.
        near = max(0.0, (light - 0.7) / 0.3)
        light = (1 - near) * (_INK - 0.5 * min(light, 0.7)) + near * _PAPER
        full = min(full, 0.3)
    else:
        light = max(light, _LIGHT_ENOUGH)
        full = min(full, 0.6)
    parts = colorsys.hls_to_rgb(hue, light, full)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def twin(svg: str) -> str:
    """The drawing in dark colours; text without a colour of its own is black, and becomes light."""
    changed = _COLOUR.sub(lambda found: dark(found[1]), svg)
    ink = f"<style>text:not([fill]):not([class]){{fill:{dark('black')}}}</style>"
    return re.sub(r"(<svg\b[^>]*>)", rf"\1{ink}", changed, count=1)


def told(svg: str) -> str | None:
    """What the drawing shows, from its own data; None if it has none."""
    described = re.search(r"<desc>(.*?)</desc>", svg, re.DOTALL)
    if described:
        return unescape(described[1]).strip()
    labels = [unescape(label) for label in re.findall(r'aria-label="([^"]*)"', svg)]
    heads = [found[1] for label in labels if (found := re.match(r"Title text '(.*)'", label))]
    axes = [
        found[1] for label in labels if (found := re.match(r"[XY]-axis titled '(.*)' for", label))
    ]
    if not axes:
        return None
    ends = "; ".join(_ends(labels, axes))
    return (
        f"{heads[0] + '. ' if heads else ''}{axes[-1]}, by {axes[0]}{': ' + ends if ends else ''}."
    )


def _ends(labels: list[str], axes: list[str]) -> Iterator[str]:
    """For each line of a chart: its first and last point."""
    lines: dict[str, dict[float, str]] = {}
    for label in labels:
        if label.startswith(f"{axes[0]}: "):
            x, y, *rest = (part.rpartition(": ")[2] for part in label.split("; "))
            name = rest[-1] if rest and "; shape: " not in label else ""
            lines.setdefault(name, {})[float(x.replace(",", "").replace("−", "-"))] = y
    for name, points in lines.items():
        if name and len(points) > 1:
            first, last = min(points), max(points)
            yield f"{name} from {_short(points[first])} at {first:g} to {_short(points[last])} at {last:g}"


def _short(figure: str) -> str:
    return f"{float(figure.replace(',', '').replace('−', '-')):.3g}"


def _show(app: Sphinx, doctree: nodes.document) -> None:
    static = Path(app.srcdir) / "_static"
    for image in list(doctree.findall(nodes.image)):
        path = (Path(app.srcdir) / image["uri"].lstrip("/")).resolve()
        if static not in path.parents:
            continue
        other = path.with_name(f"{path.stem}-dark.png")
        if path.suffix == ".svg":
            svg = path.read_text(encoding="utf-8")
            image["alt"] = told(svg) or image.get("alt", "")
            other = static / "dark" / "-".join(path.relative_to(static).parts)
            other.parent.mkdir(exist_ok=True)
            changed = twin(svg)
            if not other.exists() or other.read_text(encoding="utf-8") != changed:
                other.write_text(changed, encoding="utf-8")
        if not image.get("alt"):
            logging.getLogger(__name__).warning("%s has no text", path.name, location=image)
        if other.exists():
            copied = image.deepcopy()
            copied["uri"] = str(other.relative_to(app.srcdir))
            copied["classes"] = [*image["classes"], "only-dark"]
            image["classes"] = [*image["classes"], "only-light"]
            _collect(app, copied)
            first: nodes.Element = image
            second: nodes.Element = copied
            if isinstance(image.parent, nodes.reference):  # which links one image only
                first, second = image.parent, image.parent.copy()
                second += copied
            first.parent.insert(first.parent.index(first) + 1, second)


def _collect(app: Sphinx, image: nodes.image) -> None:
    """Images are collected before this runs: the twin is added to what is copied."""
    image["candidates"] = {"*": image["uri"]}
    app.env.images.add_file(app.env.docname, image["uri"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page after its images are collected."""
    app.connect("doctree-read", _show, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
