"""The page's chart specifications, in the project's style, without data.

A specification names its data, and the page provides the rows under these names. Line charts are first drawn
with a few made-up rows, which are then removed. The page also sets the title, size and colours, because it
has a light and a dark theme. Dashes and markers stay, so lines can be distinguished without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from discreet.analysis.charts.style import grouped_bars, line_chart
from discreet.explore.budget import ACCOUNTINGS, REFERENCE, RIVAL, series_name
from discreet.explore.sentences import CERTAINTY, MISSES, series

_DRAWN = {"usermeta", "title", "config", "padding", "datasets", "$schema"}
_POINT_SIZE = 22
_TICKS = {
    "epsilon": [m * 10.0**e for e in range(-4, 3) for m in (1, 3)],
    "releases": [m * 10**e for e in range(7) for m in (1, 2, 5)],
}
_ROUND = [m * 10.0**e for e in range(-9, 13) for m in (1, 2, 5)]


def specifications(names: Sequence[str]) -> dict[str, Any]:
    """Return the specification of every chart for the compared mechanisms, without data.

    Example:
        >>> sorted(specifications(["permute-and-flip"]))
        ['balance', 'budget', 'error', 'probabilities', 'ratios', 'risk', 'tail', 'witness']
    """
    mechanisms = [series(name) for name in names]
    budgets = [
        series_name(name, accounting) for name in (REFERENCE, RIVAL) for accounting in ACCOUNTINGS
    ]
    error, beyond = "expected error (in scores)", "chance of too large an error"
    together, belief = "ε of all together", "largest belief an answer can cause"
    return {
        "balance": _balance(),
        "probabilities": _probabilities(mechanisms),
        "error": _lines("error", {"mechanism": mechanisms}, ("expected_error", error), log_y=True),
        "tail": _lines("tail", {"mechanism": mechanisms}, ("beyond", beyond), share=True),
        "budget": _lines(
            "budget",
            {"series": budgets},
            ("epsilon", together),
            x=("releases", "number of releases"),
            chosen="releases",
            log_y=True,
        ),
        "risk": _tell_apart(
            _lines(
                "risk", {"releases": ["one release", "all releases"]}, ("risk", belief), share=True
            )
        ),
        "witness": _for_page(_witness().to_dict(), "witness"),
        "ratios": _ratios(),
    }


def _lines(
    data: str,
    told_apart: dict[str, list[str]],
    y: tuple[str, str],
    *,
    x: tuple[str, str] = ("epsilon", "ε of one release"),
    chosen: str = "chosen",
    log_y: bool = False,
    share: bool = False,
) -> dict[str, Any]:
    """Return a line chart with one line for each name, and a vertical rule at the chosen value."""
    ((by, names),) = told_apart.items()
    rows = [{by: name, x[0]: 1.0, y[0]: 0.5} for name in names]
    drawn = line_chart(rows, x=x, y=y, series=by, log_x=True, log_y=log_y)
    page = _for_page(drawn.to_dict(), data)
    rule = {
        "data": {"name": chosen},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 3]},
        "encoding": {"x": {"field": x[0], "type": "quantitative"}},
    }
    inherited = page.pop("data", None)
    for layer in page["layer"]:
        layer.setdefault("data", inherited)
        layer["encoding"]["x"]["axis"] |= {"values": _TICKS[x[0]], "labelFlush": False}
        if log_y:
            layer["encoding"]["y"]["axis"] |= {"values": _ROUND}
        if share:  # probabilities are always shown from 0 to 1
            layer["encoding"]["y"]["scale"] = {"domain": [0, 1]}
            layer["encoding"]["y"]["axis"] |= {"format": "~%"}
    return {**page, "layer": [*page["layer"], rule], "height": 240}


def _balance() -> dict[str, Any]:
    """Return a chart of error and risk against ε on one axis, with a horizontal line for each limit."""
    names = [MISSES, CERTAINTY]
    page = _lines("balance", {"series": names}, ("chance", "chance"), share=True)
    _tell_apart(page)
    color = page["layer"][0]["encoding"]["color"]
    limit: dict[str, Any] = {
        "data": {"name": "limits"},
        "mark": {"type": "rule", "strokeWidth": 1.5, "strokeDash": [2, 3]},
        "encoding": {"y": {"field": "limit", "type": "quantitative"}, "color": color},
    }
    words = {
        "data": {"name": "limits"},
        "mark": {"type": "text", "align": "right", "baseline": "bottom", "dx": -4, "dy": -2},
        "encoding": {**limit["encoding"], "x": {"value": "width"}, "text": {"field": "words"}},
    }
    return {**page, "layer": [*page["layer"], limit, words], "height": 250}


def _tell_apart(page: dict[str, Any]) -> dict[str, Any]:
    """Make one line solid with discs and the other dashed with squares, so they differ without colour."""
    for layer in page["layer"]:
        for channel, looks in (("strokeDash", [[1, 0], [7, 3]]), ("shape", ["circle", "square"])):
            if channel in layer["encoding"]:
                layer["encoding"][channel]["scale"]["range"] = looks
    return page


def _probabilities(domain: list[str]) -> dict[str, Any]:
    # The rows arrive in display order.
    bars = grouped_bars(alt.NamedData(name="probabilities"), candidates=None, names=domain)
    page = _for_page(bars.to_dict(), "probabilities")
    page["encoding"]["y"]["axis"] = {"labelLimit": 130, "ticks": False}
    page["height"] = {"step": 7 if len(domain) > 2 else 9, "for": "offset"}
    return page


def _witness() -> Any:
    """Return a bar chart of the answers' probabilities in one world; the decisive answer is highlighted."""
    base = alt.Chart(alt.NamedData(name="witness")).encode(
        x=alt.X("answer:N", title="answer", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "probability:Q",
            title="probability",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("score:Q", format="~g"),
            alt.Tooltip("probability:Q", format=".6~g"),
        ],
    )
    bars = base.mark_bar().encode(color=_told_apart())
    # A bar may be too short to see, so its number is shown too.
    figures = base.mark_text(dy=-7, fontSize=12).encode(text=alt.Text("shown:N"))
    return (bars + figures).properties(height=200)


def _ratios() -> dict[str, Any]:
    """Return a chart of each answer's log-ratio; the band that the claim allows is shaded."""
    allowed = alt.Chart(alt.NamedData(name="band")).mark_rect(opacity=0.18)
    allowed = allowed.encode(
        y=alt.Y(
            "low:Q",
            title="log-ratio of the answer's probabilities",
            scale=alt.Scale(padding=40, nice=False),
        ),
        y2="high:Q",
    )
    base = alt.Chart(alt.NamedData(name="ratios")).encode(
        x=alt.X("answer:N", title="answer", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("ratio:Q"),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("ratio:Q", title="log-ratio", format=".4~g"),
            alt.Tooltip("probability:Q", format=".4~g"),
            alt.Tooltip("neighbour:Q", title="in the other world", format=".4~g"),
        ],
    )
    stems = base.mark_bar(size=10).encode(color=_told_apart())
    ends = base.mark_point(filled=True, opacity=1).encode(color=_told_apart())
    figures = base.mark_text(fontSize=12, lineBreak="\n").encode(text=alt.Text("label:N"))
    above, below = (figures.transform_filter(f"datum.ratio {side} 0") for side in (">=", "<"))
    chart = alt.layer(allowed, stems, ends, above, below).properties(height=260)
    page = _for_page(chart.to_dict(), "ratios")
    page["layer"][0]["data"] = {"name": "band"}
    # Put the number beyond the end of its bar, above or below.
    page["layer"][3]["mark"] |= {"baseline": "line-bottom", "dy": -20}
    page["layer"][4]["mark"] |= {"baseline": "line-top", "dy": 6}
    return page


def _told_apart() -> Any:
    kinds = ["telling answer", "other answers"]
    return alt.Color("telling:N", scale=alt.Scale(domain=kinds), legend=alt.Legend(columns=2))


def _for_page(drawn: dict[str, Any], data: str) -> dict[str, Any]:
    page = {name: part for name, part in drawn.items() if name not in _DRAWN}
    for part in _parts(page):
        if "data" in part:
            part["data"] = {"name": data}
        mark = part.get("mark")
        if isinstance(mark, dict):
            for own in ("stroke", "color", "strokeWidth") if mark["type"] == "bar" else ("color",):
                mark.pop(own, None)
            if mark["type"] == "point":
                mark["size"] = _POINT_SIZE
        color = part.get("encoding", {}).get("color", {})
        if "scale" in color:
            color["scale"].pop("range", None)
            page.setdefault("usermeta", {"order": color["scale"]["domain"]})
    return {**page, "width": "container"}


def _parts(page: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the chart and its layers."""
    yield page
    for layer in page.get("layer", ()):
        yield from _parts(layer)
