"""Turn panels into one Vega-Lite chart that is readable in greyscale, with labels on the curves.

The chart is written directly as Vega-Lite, because Altair copies and checks every point at every step, which
takes ten times as long as the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from discreet.analysis.charts.style import CONFIG, DASHES, SHADES, SHAPES, look_of, paled
from discreet.papers.catalogue import Figure
from discreet.papers.figure import Axis, Bars, Drawing, Floats, Line, Lines

Layer: TypeAlias = dict[str, Any]

_DARK = "#222222"
_GREY = "#555555"
# Each panel has its own scales for bars and shades.
_APART = {
    "spacing": 26,
    "bounds": "full",
    "resolve": {"scale": {"color": "independent", "xOffset": "independent"}},
}
_PANEL_TITLE = {"anchor": "start", "fontSize": 12, "fontWeight": "bold", "offset": 6}


def vega_lite(figure: Figure, drawing: Drawing) -> dict[str, Any]:
    """Return the figure as Vega-Lite: titles, panels, and the word *synthetic* for made-up data."""
    columns = max(len(row) for row in drawing.rows)
    usual = {1: (520, 330), 2: (400, 290), 3: (300, 250)}.get(columns, (205, 200))
    subtitle = list(figure.subtitle)
    if drawing.synthetic:
        made_up = ", ".join(drawing.synthetic)
        subtitle.append(f"SYNTHETIC look-alike data ({made_up}): not the papers' histograms")
    return {
        "title": {"text": figure.heading, "subtitle": subtitle},
        "padding": 14,
        "vconcat": [
            {"hconcat": [_panel(panel, usual) for panel in row], **_APART} for row in drawing.rows
        ],
        **_APART,
        "config": CONFIG,
    }


def _panel(panel: Lines | Bars, usual: tuple[int, int]) -> Layer:
    width, height = panel.width or usual[0], panel.height or usual[1]
    title = panel.title
    if isinstance(panel, Bars):
        layers = _bar_layers(panel, height)
        title += f" ({panel.note})" if panel.note else ""
    else:
        layers = _line_layers(panel, width, height)
    spec: Layer = {"width": width, "height": height, "layer": layers}
    return spec | {"title": {"text": title, **_PANEL_TITLE}} if title else spec


def _layer(values: list[dict[str, Any]], mark: str, encoding: dict[str, Any], **look: Any) -> Layer:
    return {"data": {"values": values}, "mark": {"type": mark, **look}, "encoding": encoding}


Look: TypeAlias = tuple[str, tuple[int, ...], str, float]
"""Shade, dash, marker, width."""


def _drawn(
    mechanism: str, width: float = 2.2, *, pale: float = 0.0, dash: int | None = None
) -> Look:
    """Return a mechanism's look; ``pale`` and ``dash`` distinguish several of its lines in one panel."""
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
"""Looks by name. A mechanism looks the same in every figure and chart; numbers are for other series."""


# ---- axes ------------------------------------------------------------------------------------------

_POWERS = (
    "datum.value >= 1e5 || datum.value < 1e-3 ? replace(replace(format(datum.value, '~e'), '+', ''), "
    "'-', '−') : format(datum.value, '~g')"
)


@dataclass(frozen=True, slots=True)
class Ruler:
    """An axis from ``low`` to ``high`` over ``pixels`` pixels; converts values to pixels and back."""

    axis: Axis
    low: float
    high: float
    pixels: float

    @classmethod
    def over(cls, axis: Axis, values: Iterable[Floats], pixels: float) -> Ruler:
        """Return a ruler for the axis's range; if it has none, for all values with a small margin."""
        if axis.domain is not None:
            return cls(axis, *axis.domain, pixels)
        shown = np.concatenate(list(values))
        if axis.log:
            shown = shown[shown > 0]
            return cls(axis, float(shown.min()) / 1.05, float(shown.max()) * 1.05, pixels)
        low, high = float(shown.min()), float(shown.max())
        room = 0.03 * ((high - low) or abs(high) or 1.0)
        return cls(axis, 0.0 if 0 <= low < 0.3 * high else low - room, high + room, pixels)

    def place(self, value: float) -> float:
        """Return a value's position along the axis, in pixels."""
        if self.axis.log:
            return self.pixels * math.log(value / self.low) / math.log(self.high / self.low)
        return self.pixels * (value - self.low) / (self.high - self.low)

    def value(self, place: float) -> float:
        """Return the value at a position along the axis, in pixels."""
        share = place / self.pixels
        if self.axis.log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share

    def within(self, values: Floats) -> Any:
        """Return a mask of the values that are within the ruler's range."""
        return (values >= self.low) & (values <= self.high)

    def encoded(self, field: str, *, room: int = 40) -> dict[str, Any]:
        """Return the Vega-Lite encoding of ``field`` on this axis, with about a tick per ``room`` pixels."""
        most = max(3, int(self.pixels) // room)
        ticks: dict[str, Any] = {
            "tickCount": most,
            "labelOverlap": "greedy",
            "labelSeparation": 8,
        }
        if self.axis.log:
            ticks = {"values": log_ticks(self.low, self.high, most=most), "labelExpr": _POWERS}
        return {
            "field": field,
            "type": "quantitative",
            "title": self.axis.title,
            "scale": {
                "type": "log" if self.axis.log else "linear",
                "domain": [self.low, self.high],
                "nice": False,
                "zero": False,
            },
            "axis": ticks,
        }


def log_ticks(low: float, high: float, *, most: int) -> list[float]:
    """Return at most ``most`` round numbers as the ticks of a logarithmic axis.

    Example:
        >>> log_ticks(1.0, 60.0, most=6)
        [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
        >>> log_ticks(1e-9, 1e3, most=4)
        [1e-09, 1e-05, 0.1, 1000.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (range(1, 10), (1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


# ---- lines -----------------------------------------------------------------------------------------


def _line_layers(panel: Lines, width: int, height: int) -> list[Layer]:
    """Return the layers for lines, markers, error bars, rules, labels and the note."""
    kept = [(line, *_visible(panel, line)) for line in panel.lines]
    kept = [(line, xs, ys) for line, xs, ys in kept if xs.size]
    ends = [part for line in panel.lines for part in (line.low, line.high) if part is not None]
    across = Ruler.over(panel.x, [xs for _, xs, _ in kept], width)
    up = Ruler.over(panel.y, [*(ys for _, _, ys in kept), *ends], height)
    places = {"x": across.encoded("x", room=58), "y": up.encoded("y")}
    points, marks, bars, labels = [], [], [], []
    for line, xs, ys in kept:
        shade, dash, shape, thickness = LOOKS[line.look]
        look = {"series": line.label, "shade": shade, "dash": list(dash), "thickness": thickness}
        pairs = [{"x": x, "y": y} for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]
        points += [pair | look for pair in pairs]
        if shape and line.markers:
            some = np.unique(np.linspace(0, len(xs) - 1, line.markers + 2).round().astype(int))
            some = some[across.within(xs[some]) & up.within(ys[some])]
            marks += [pairs[place] | {"shade": shade, "shape": shape} for place in some.tolist()]
        bars += _error_bars(line, shade)
        if not line.quiet:
            labels.append(_label(line, xs, ys, across, up))
    # Use one layer for all lines; a layer for each would take many times as long to draw.
    color = {"field": "shade", "type": "nominal", "scale": None}
    drawn = places | {
        "detail": {"field": "series", "type": "nominal"},
        "color": color,
        "strokeDash": {"field": "dash", "type": "nominal", "scale": None},
        "strokeWidth": {"field": "thickness", "type": "quantitative", "scale": None},
    }
    layers = [_layer(points, "line", drawn, clip=True)]
    if marks:
        shaped = {"color": color, "shape": {"field": "shape", "type": "nominal", "scale": None}}
        layers.append(_layer(marks, "point", places | shaped, size=34, filled=True, opacity=1))
    if bars:
        spans = places | {"color": color, "y2": {"field": "high"}}
        layers.append(_layer(bars, "rule", spans, strokeWidth=1.4, clip=True))
    for position, words in panel.rules:
        at = {"x": places["x"]}
        layers.append(_layer([{"x": position}], "rule", at, strokeDash=[2, 3], color=_GREY))
        labels.append(Label(words, _GREY, across.place(position) + 4, 0.72 * height))
    written = [
        {
            "x": across.value(label.x),
            "y": up.value(height - label.y),
            "text": label.text,
            "shade": label.shade,
        }
        for label in spread(labels, height)
    ]
    text = places | {"text": {"field": "text", "type": "nominal"}}
    letters = {"align": "left", "baseline": "middle", "fontSize": 11, "fontWeight": "bold"}
    # A white outline keeps the letters readable where a line passes.
    layers.append(_layer(written, "text", text, **letters, stroke="white", strokeWidth=3.5))
    layers.append(_layer(written, "text", text | {"color": color}, **letters))
    if panel.note:
        corner = {"x": {"value": width - 6}, "y": {"value": 14}}
        small = {"align": "right", "color": "#777777", "fontSize": 12, "fontStyle": "italic"}
        layers.append(_layer([{}], "text", corner, text=panel.note, **small))
    return layers


def _visible(panel: Lines, line: Line) -> tuple[Floats, Floats]:
    """Return the points that the axes can show: finite, and positive on a logarithmic axis."""
    seen = np.isfinite(line.xs) & np.isfinite(line.ys)
    if panel.x.log:
        seen &= line.xs > 0
    if panel.y.log:
        seen &= line.ys > 0
    return line.xs[seen], line.ys[seen]


def _error_bars(line: Line, shade: str) -> list[dict[str, Any]]:
    if line.low is None or line.high is None:
        return []
    ends = zip(line.xs.tolist(), line.low.tolist(), line.high.tolist(), strict=True)
    return [{"x": x, "y": low, "high": high, "shade": shade} for x, low, high in ends if low > 0]


_LINE_HEIGHT = 13.0
_LETTER_WIDTH = 6.4


@dataclass(frozen=True, slots=True)
class Label:
    """A text, its shade, and its position in pixels from the top left of the panel."""

    text: str
    shade: str
    x: float
    y: float

    @property
    def right(self) -> float:
        """The approximate x at which the text ends."""
        return self.x + _LETTER_WIDTH * len(self.text)


def _label(line: Line, xs: Floats, ys: Floats, across: Ruler, up: Ruler) -> Label:
    """Return the line's label, placed at the requested x, or where the line ends or leaves the panel."""
    if line.at is not None:
        place, shift = int(np.abs(xs - line.at).argmin()), line.shift
        height = float(ys[place])
    else:
        inside = np.flatnonzero(across.within(xs) & up.within(ys))
        place, shift = (int(inside[-1]) if inside.size else len(xs) - 1), (6.0, 0.0)
        height = float(np.clip(ys[place], up.low, up.high))
    down = up.pixels - up.place(height)
    shade = LOOKS[line.look][0]
    return Label(line.label, shade, across.place(float(xs[place])) + shift[0], down + shift[1])


def spread(labels: Sequence[Label], height: float) -> list[Label]:
    """Return the labels from top to bottom, moved up or down so that they do not overlap.

    Example:
        >>> near = [Label("PF", "#000", 10, 50), Label("EM", "#000", 10, 52)]
        >>> [label.y for label in spread(near, 100)]
        [44.5, 57.5]
    """
    placed = sorted(labels, key=lambda label: label.y)
    for _ in range(200):
        moved = False
        for first in range(len(placed)):
            for second in range(first + 1, len(placed)):
                upper, lower = placed[first], placed[second]
                short = _LINE_HEIGHT - (lower.y - upper.y)
                if short > 1e-6 and upper.x < lower.right and lower.x < upper.right:
                    placed[first] = replace(upper, y=upper.y - short / 2)
                    placed[second] = replace(lower, y=lower.y + short / 2)
                    moved = True
        placed = [replace(label, y=min(max(label.y, 4.0), height - 2.0)) for label in placed]
        if not moved:
            break
    return placed


# ---- bars ------------------------------------------------------------------------------------------


def _bar_layers(panel: Bars, height: int) -> list[Layer]:
    """Return the layers for the bars and the numbers above them."""
    names, log = list(panel.series), panel.y.log
    values: list[dict[str, Any]] = [
        {"group": group, "series": name, "value": value, "label": _short(value, len(names))}
        for name, row in panel.series.items()
        for group, value in zip(panel.groups, row, strict=True)
        if math.isfinite(value)
    ]
    numbers = [row["value"] for row in values]
    low, high = panel.y.domain or (min(numbers) / 2, max(numbers) * (2.0 if log else 1.12))
    low = low if log else 0.0
    for row in values:
        row |= {"base": low, "top": min(max(row["value"], low), high)}
    shown = {
        "x": {
            "field": "group",
            "type": "nominal",
            "sort": list(panel.groups),
            "title": None,
            "axis": {"labelAngle": 0, "labelLimit": 0},
        },
        "xOffset": {"field": "series", "type": "nominal", "sort": names},
        "y": Ruler(panel.y, low, high, height).encoded("top"),
    }
    fills = {"domain": names, "range": [LOOKS[look][0] for look in panel.looks]}
    color = {"field": "series", "type": "nominal", "sort": names, "scale": fills}
    filled = shown | {"y2": {"field": "base"}, "color": color | {"legend": {"columns": 6}}}
    labelled = shown | {"text": {"field": "label", "type": "nominal"}}
    return [
        _layer(values, "bar", filled, stroke=_DARK, strokeWidth=0.6),
        _layer(values, "text", labelled, dy=-6, fontSize=9, color=_DARK),
    ]


def _short(value: float, series: int) -> str:
    """Return the number above a bar as text, with fewer digits if there are many series."""
    digits = 3 if series < 3 else 2
    if 1 <= abs(value) < 1e4:
        return f"{value:.{max(0, digits - len(str(int(abs(value)))))}f}"
    return f"{value:.{digits - 1}g}".replace("e-0", "e−").replace("e-", "e−").replace("e+0", "e")
