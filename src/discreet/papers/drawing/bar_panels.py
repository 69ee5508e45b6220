"""A panel of grouped bars, told apart by lightness, each with its value written above."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.papers.drawing.axes import axis_of, scale
from discreet.papers.drawing.canvas import DARK, Canvas
from discreet.papers.drawing.panels import Bars

BAR_SHADES = {
    "em": "#d9b8a6",
    "pf": "#12263f",
    "err25": "#cbb9dc",
    "err50": "#9a77bd",
    "err75": "#5b2a86",
    "truth": "#0b6e4f",
    "bound": "#c9c9c9",
}
"""Fills for bars, told apart by lightness."""


def bar_layers(canvas: Canvas, panel: Bars, height: int) -> list[Any]:
    """The bars and the numbers above them."""
    alt = canvas.alt
    names = list(panel.series)
    values: list[dict[str, Any]] = [
        {
            "group": group,
            "series": name,
            "value": value,
            "label": _short(value, 3 if len(names) < 3 else 2),
        }
        for name, row in panel.series.items()
        for group, value in zip(panel.groups, row, strict=True)
        if math.isfinite(value)
    ]
    numbers = np.array([row["value"] for row in values])
    low = 0.0
    if panel.y.log:
        low = panel.y.domain[0] if panel.y.domain else float(numbers.min()) / 2
    high = (
        panel.y.domain[1]
        if panel.y.domain
        else float(numbers.max()) * (2.0 if panel.y.log else 1.12)
    )
    for row in values:
        row["base"] = low
        row["top"] = min(max(row["value"], low), high)
    x = alt.X(
        "group:N", sort=list(panel.groups), title=None, axis=alt.Axis(labelAngle=0, labelLimit=0)
    )
    offset = alt.XOffset("series:N", sort=names)
    y = alt.Y("top:Q", title=panel.y.title, scale=scale(alt, panel.y, (low, high)))
    y.axis = axis_of(alt, panel.y, (low, high), height)
    fills = [BAR_SHADES[look] for look in panel.looks]
    color = alt.Color("series:N", sort=names, scale=alt.Scale(domain=names, range=fills))
    base = canvas.layer(values)
    bars = base.mark_bar(stroke=DARK, strokeWidth=0.6).encode(
        x=x, xOffset=offset, y=y, y2=alt.Y2("base:Q"), color=color
    )
    words = base.mark_text(dy=-6, fontSize=9, color=DARK).encode(
        x=x, xOffset=offset, y=y, text=alt.Text("label:N")
    )
    return [bars, words]


def _short(value: float, digits: int) -> str:
    if 1 <= abs(value) < 1e4:
        return f"{value:.{max(0, digits - len(str(int(abs(value)))))}f}"
    return f"{value:.{digits - 1}g}".replace("e-0", "e−").replace("e-", "e−").replace("e+0", "e")
