"""The page's charts: those that the command line draws, made to wait for figures and to follow a theme.

A chart of :mod:`discreet.analysis.charts` is drawn once on a few made-up rows. Then its data is replaced by
a name under which the page provides rows, and its title, size and colours are left to the page, which has a
light and a dark theme. Dashes and markers stay: lines are told apart without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from discreet.analysis.charts import comparison_chart, probabilities_chart
from discreet.analysis.charts.style import line_chart
from discreet.analysis.comparison import Comparison, ComparisonRow
from discreet.explore.budget import ACCOUNTINGS, REFERENCE, RIVAL, series_name
from discreet.explore.sentences import series
from discreet.explore.settings import is_private
from discreet.scores import Scores

_DRAWN = {"usermeta", "title", "config", "padding", "datasets", "$schema"}
_POINT_SIZE = 22
_TICKS = {
    "epsilon": [m * 10.0**e for e in range(-4, 3) for m in (1, 3)],
    "releases": [m * 10**e for e in range(7) for m in (1, 2, 5)],
}
_EPSILON = ("epsilon", "ε of one release")


def specifications(names: Sequence[str]) -> dict[str, Any]:
    """Every chart of the page, for the mechanisms compared, waiting for its data.

    Example:
        >>> sorted(specifications(["permute-and-flip"]))
        ['budget', 'error', 'probabilities', 'risk', 'tail', 'witness']
    """
    return {
        "probabilities": _probabilities(names),
        "error": _marked(_error(names), "error", "chosen", "epsilon"),
        "tail": _marked(_tail(names), "tail", "chosen", "epsilon"),
        "budget": _marked(_budget(), "budget", "releases", "releases"),
        "risk": _marked(_risk(), "risk", "chosen", "epsilon"),
        "witness": _for_page(_witness().to_dict(), "witness"),
    }


def _probabilities(names: Sequence[str]) -> dict[str, Any]:
    made_up = Scores({"one": 1, "other": 0}, sensitivity=1)
    drawn = probabilities_chart(made_up, list(names), epsilon=1).to_dict()
    page = _for_page(drawn, "probabilities")
    page["encoding"]["y"]["sort"] = None  # the rows come in the order to show
    page["encoding"]["y"]["axis"] = {"labelLimit": 130, "ticks": False}
    page["encoding"]["x"]["axis"] |= {"tickCount": 5}
    page["height"] = {"step": 7 if len(names) > 2 else 9, "for": "offset"}
    return page


def _error(names: Sequence[str]) -> Any:
    figures = {"error_deviation": 1.0, "error_95": 1.0, "best_probability": 0.5, "ratio": 1.0}
    rows = tuple(
        ComparisonRow(
            mechanism=name,
            epsilon=epsilon,
            expected_error=1.0,
            private=is_private(name),
            **figures,
        )
        for name in names
        for epsilon in (0.1, 1.0)
    )
    return comparison_chart(Comparison(rows))


def _tail(names: Sequence[str]) -> Any:
    return line_chart(
        [{"mechanism": series(name), "epsilon": 1.0, "beyond": 0.5} for name in names],
        x=_EPSILON,
        y=("beyond", "chance of too large an error"),
        series="mechanism",
        log_x=True,
    )


def _budget() -> Any:
    lines = [
        series_name(name, accounting) for name in (REFERENCE, RIVAL) for accounting in ACCOUNTINGS
    ]
    return line_chart(
        [{"series": name, "releases": 1, "epsilon": 1.0} for name in lines],
        x=("releases", "number of releases"),
        y=("epsilon", "ε of all together"),
        series="series",
        log_x=True,
        log_y=True,
    )


def _risk() -> Any:
    return line_chart(
        [
            {"releases": name, "epsilon": 1.0, "risk": 0.5}
            for name in ("one release", "all releases")
        ],
        x=_EPSILON,
        y=("risk", "largest belief an answer can cause"),
        series="releases",
        log_x=True,
    )


def _witness() -> Any:
    """The probability of each answer in one of two neighbouring worlds; the telling one stands out."""
    kinds = ["telling", "others"]
    bars = alt.Chart(alt.NamedData(name="witness")).mark_bar()
    return bars.encode(
        x=alt.X("answer:N", title="answer", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "probability:Q",
            title="probability",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        color=alt.Color("telling:N", scale=alt.Scale(domain=kinds), legend=alt.Legend(columns=1)),
        tooltip=[
            alt.Tooltip("answer:N"),
            alt.Tooltip("score:Q", format="~g"),
            alt.Tooltip("probability:Q", format=".6~g"),
        ],
    ).properties(height=200)


def _marked(chart: Any, data: str, chosen: str, field: str) -> dict[str, Any]:
    """The chart with a vertical line at the value chosen."""
    page = _for_page(chart.to_dict(), data)
    rule = {
        "data": {"name": chosen},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 3]},
        "encoding": {"x": {"field": field, "type": "quantitative"}},
    }
    inherited = page.pop("data", None)
    for layer in page["layer"]:
        layer.setdefault("data", inherited)
        layer["encoding"]["x"]["axis"] |= {"values": _TICKS[field]}
    return {**page, "layer": [*page["layer"], rule], "height": 240}


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
    """The chart and its layers."""
    yield page
    for layer in page.get("layer", ()):
        yield from _parts(layer)
