"""From panels to one Vega-Lite chart: dashes, shades and markers for greyscale, labels at the curves.

Altair builds each panel around *names* of data; panels and data are put together at the end. It would
otherwise copy and check every point at every step, which takes ten times as long as the drawing.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from discreet.analysis.charts.style import DASHES, FONT, SHADES, SHAPES, altair, look_of, paled
from discreet.papers.catalogue import Figure
from discreet.papers.drawing.axes import Label, axis_of, extent, scale, share, spread, value_at
from discreet.papers.figure import Bars, Drawing, Floats, Line, Lines

DARK = "#222222"
"""Words and edges."""
_GAP = 26
# Panels share neither bars nor shades unless told so.
_APART = {"scale": {"color": "independent", "xOffset": "independent"}}
_CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": "#bbbbbb"},
    "axis": {
        "gridColor": "#ececec",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 6,
        "labelColor": DARK,
        "titleColor": DARK,
    },
    "legend": {
        "labelFontSize": 12,
        "labelLimit": 0,
        "orient": "bottom",
        "title": None,
        "columns": 6,
    },
}


def vega_lite(figure: Figure, drawing: Drawing) -> dict[str, Any]:
    """The figure in Vega-Lite: titles, panels, and *synthetic* where data were made up."""
    canvas = Canvas()
    columns = max(len(row) for row in drawing.rows)
    usual = {1: (520, 330), 2: (400, 290), 3: (300, 250)}.get(columns, (205, 200))
    rows = [
        {
            "hconcat": [_panel(canvas, panel, usual) for panel in row],
            "spacing": _GAP,
            "bounds": "full",
            "resolve": _APART,
        }
        for row in drawing.rows
    ]
    subtitle = list(figure.subtitle)
    if drawing.synthetic:
        made_up = ", ".join(drawing.synthetic)
        subtitle.append(f"SYNTHETIC look-alike data ({made_up}): not the papers' histograms")
    return {
        "$schema": canvas.alt.SCHEMA_URL,
        "title": {
            "text": figure.heading,
            "subtitle": subtitle,
            "anchor": "start",
            "fontSize": 15,
            "subtitleFontSize": 12,
            "subtitleColor": "#444444",
            "offset": 14,
        },
        "padding": 14,
        "vconcat": rows,
        "spacing": _GAP,
        "bounds": "full",
        "resolve": _APART,
        "config": _CONFIG,
        "datasets": canvas.datasets,
    }


def _panel(canvas: Canvas, panel: Lines | Bars, usual: tuple[int, int]) -> dict[str, Any]:
    alt = canvas.alt
    width, height = panel.width or usual[0], panel.height or usual[1]
    layers = (
        bar_layers(canvas, panel, height)
        if isinstance(panel, Bars)
        else line_layers(canvas, panel, width, height)
    )
    title = (
        f"{panel.title} ({panel.note})" if isinstance(panel, Bars) and panel.note else panel.title
    )
    if panel.note and isinstance(panel, Lines):
        note = canvas.layer([{}]).mark_text(
            text=panel.note, align="right", color="#777777", fontSize=12, fontStyle="italic"
        )
        layers.append(note.encode(x=alt.value(width - 6), y=alt.value(14)))
    chart = alt.layer(*layers).properties(width=width, height=height)
    if title:
        heading = alt.TitleParams(title, anchor="start", fontSize=12, fontWeight="bold", offset=6)
        chart = chart.properties(title=heading)
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return {key: part for key, part in spec.items() if key not in ("$schema", "config")}


class Canvas:
    """Altair, and the data that the chart's layers refer to by name."""

    def __init__(self) -> None:
        self.alt = altair()
        self.datasets: dict[str, list[dict[str, Any]]] = {}

    def layer(self, values: list[dict[str, Any]], *encodings: Any) -> Any:
        """A chart of these values."""
        name = f"data{len(self.datasets)}"
        self.datasets[name] = values
        return self.alt.Chart(self.alt.NamedData(name=name)).encode(*encodings)


Look: TypeAlias = tuple[str, tuple[int, ...], str, float]
"""Shade, dash, marker, width."""


def _drawn(
    mechanism: str, width: float = 2.2, *, pale: float = 0.0, dash: int | None = None
) -> Look:
    """A mechanism's own look, paled and with another dash where a panel has several of its lines."""
    shade, own, shape = look_of(mechanism)
    if dash is not None:
        own, shape = DASHES[dash], SHAPES[dash]
    return paled(shade, pale), own, shape, width


_ERR = "exponential-randomized-response"
LOOKS: dict[str, Look] = {
    "pf": _drawn("permute-and-flip"),
    "em": _drawn("exponential"),
    "laplace": _drawn("noisy-max-laplace"),
    "gap": _drawn("large-gap"),
    "err25": _drawn(_ERR, 1.8, pale=0.4, dash=5),
    "err50": _drawn(_ERR, 1.8, pale=0.2, dash=4),
    "err75": _drawn(_ERR),
    "err elsewhere": _drawn(_ERR, dash=6),
    "pf matched": _drawn("permute-and-flip", 2.6, dash=6),
    "pale pf": (*_drawn("permute-and-flip", pale=0.5)[:2], "", 1.4),
    "pale em": (*_drawn("exponential", pale=0.5)[:2], "", 1.4),
    "bound": ("#8a8a8a", (4, 3), "", 1.4),
    **{
        str(place + 1): (SHADES[shade], DASHES[place], SHAPES[place], 2.0)
        for place, shade in enumerate((0, 1, 2, 3, 6))
    },
}
"""By name: a mechanism looks the same in every figure and chart. Numbers are for other series."""


def line_layers(canvas: Canvas, panel: Lines, width: int, height: int) -> list[Any]:
    """Lines, markers, error bars, rules and labels."""
    alt = canvas.alt
    kept = [(line, *_visible(panel, line)) for line in panel.lines]
    kept = [(line, xs, ys) for line, xs, ys in kept if xs.size]
    x_domain = panel.x.domain or extent(panel.x, [xs for _, xs, _ in kept])
    heights = [ys for _, _, ys in kept]
    heights += [ends for line in panel.lines for ends in (line.low, line.high) if ends is not None]
    y_domain = panel.y.domain or extent(panel.y, heights)
    x = alt.X("x:Q", title=panel.x.title, scale=scale(alt, panel.x, x_domain))
    y = alt.Y("y:Q", title=panel.y.title, scale=scale(alt, panel.y, y_domain))
    x.axis = axis_of(alt, panel.x, x_domain, width, room=58)
    y.axis = axis_of(alt, panel.y, y_domain, height)
    points, marks, bars, labels = [], [], [], []
    for line, xs, ys in kept:
        look = _look(line)
        own = [{"x": a, "y": b, **look} for a, b in zip(xs.tolist(), ys.tolist(), strict=True)]
        points += own
        if look["shape"] and line.markers:
            places = np.unique(np.linspace(0, len(own) - 1, line.markers + 2).round().astype(int))
            some = [own[place] for place in places.tolist()]
            marks += [point for point in some if _inside(point, x_domain, y_domain)]
        bars += _error_bars(line, look)
        if line.quiet:
            continue
        place = _labelled_at(line, xs, ys, x_domain, y_domain)
        across = width * share(panel.x, x_domain, place[0]) + (
            6 if line.at is None else line.shift[0]
        )
        down = height * (1 - share(panel.y, y_domain, place[1]))
        down += 0 if line.at is None else line.shift[1]
        labels.append(Label(line.label, look["shade"], across, down))
    # One layer for all lines: a layer each would take many times as long to draw.
    shade = alt.Color("shade:N", scale=None)
    layers = [
        canvas.layer(points, x, y)
        .mark_line(clip=True)
        .encode(
            detail="series:N",
            color=shade,
            strokeDash=alt.StrokeDash("dash:N", scale=None),
            strokeWidth=alt.StrokeWidth("thickness:Q", scale=None),
        )
    ]
    if marks:
        drawn = canvas.layer(marks, x, y).mark_point(size=34, filled=True, opacity=1)
        layers.append(drawn.encode(color=shade, shape=alt.Shape("shape:N", scale=None)))
    if bars:
        drawn = canvas.layer(bars, x, y).mark_rule(strokeWidth=1.4, clip=True)
        layers.append(drawn.encode(color=shade, y2=alt.Y2("high:Q")))
    for position, words in panel.rules:
        drawn = canvas.layer([{"x": position}], x).mark_rule(strokeDash=[2, 3], color="#555555")
        layers.append(drawn)
        at = width * share(panel.x, x_domain, position) + 4
        labels.append(Label(words, "#555555", at, 0.72 * height))
    written = [
        {
            "x": value_at(panel.x, x_domain, label.x / width),
            "y": value_at(panel.y, y_domain, 1 - label.y / height),
            "text": label.text,
            "shade": label.shade,
        }
        for label in spread(labels, height)
    ]
    # A white edge below the letters keeps them readable where a line passes.
    for edge in ({"stroke": "white", "strokeWidth": 3.5}, {}):
        letters = canvas.layer(written, x, y).mark_text(
            align="left", baseline="middle", fontSize=11, fontWeight="bold", **edge
        )
        encoded = {"text": "text:N"} if edge else {"text": "text:N", "color": shade}
        layers.append(letters.encode(**encoded))
    return layers


def _look(line: Line) -> dict[str, Any]:
    shade, dash, shape, thickness = LOOKS[line.look]
    return {
        "series": line.label,
        "shade": shade,
        "dash": list(dash),
        "shape": shape,
        "thickness": thickness,
    }


def _visible(panel: Lines, line: Line) -> tuple[Floats, Floats]:
    """The points that the axes can show: finite, and positive where logarithmic."""
    seen = np.isfinite(line.xs) & np.isfinite(line.ys)
    if panel.x.log:
        seen &= line.xs > 0
    if panel.y.log:
        seen &= line.ys > 0
    return line.xs[seen], line.ys[seen]


def _labelled_at(
    line: Line, xs: Floats, ys: Floats, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> tuple[float, float]:
    """Where the label goes: at the x asked for, or where the line leaves the panel or ends."""
    if line.at is not None:
        place = int(np.abs(xs - line.at).argmin())
        return float(xs[place]), float(ys[place])
    inside = np.flatnonzero(
        (xs >= x_domain[0]) & (xs <= x_domain[1]) & (ys >= y_domain[0]) & (ys <= y_domain[1])
    )
    place = int(inside[-1]) if inside.size else len(xs) - 1
    return float(xs[place]), float(np.clip(ys[place], *y_domain))


def _inside(point: dict[str, float], x: tuple[float, float], y: tuple[float, float]) -> bool:
    return x[0] <= point["x"] <= x[1] and y[0] <= point["y"] <= y[1]


def _error_bars(line: Line, look: dict[str, Any]) -> list[dict[str, Any]]:
    if line.low is None or line.high is None:
        return []
    ends = zip(line.xs.tolist(), line.low.tolist(), line.high.tolist(), strict=True)
    return [
        {"x": x, "y": low, "high": high, "shade": look["shade"]} for x, low, high in ends if low > 0
    ]


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
    fills = [LOOKS[name][0] for name in panel.looks]
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
