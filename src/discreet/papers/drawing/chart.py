"""From panels to one Vega-Lite chart."""

from __future__ import annotations

from typing import Any

from discreet.analysis.charts.style import FONT
from discreet.papers.catalogue import Figure
from discreet.papers.drawing.bar_panels import bar_layers
from discreet.papers.drawing.canvas import DARK, Canvas
from discreet.papers.drawing.line_panels import line_layers
from discreet.papers.drawing.panels import Bars, Lines
from discreet.papers.figure import Drawing

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
