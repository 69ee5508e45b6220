"""The style of all charts and figures: shades, dashes and markers that stay distinct in greyscale."""

from __future__ import annotations

import html
import itertools
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from discreet._displays import table
from discreet.errors import DiscreetError, ParameterError, missing_extra
from discreet.mechanisms import MECHANISMS

Look: TypeAlias = tuple[str, tuple[int, ...], str]
"""Shade, dash and marker."""

# Each mechanism has the same look in charts, in the explorer and in the papers' figures. Adjacent looks
# differ in lightness, so they stay distinct in greyscale.
_OF_MECHANISMS: tuple[Look, ...] = (
    ("#12263f", (1, 0), "circle"),
    ("#b3430f", (7, 3), "square"),
    ("#3d7f9c", (2, 2), "triangle-up"),
    ("#a8700c", (10, 3, 2, 3), "diamond"),
    ("#6b7680", (5, 5), "cross"),
    ("#4a7d2c", (1, 3), "triangle-down"),
    ("#5b2a86", (12, 4), "triangle-right"),
    ("#a8201a", (8, 2, 2, 2, 2, 2), "triangle-left"),
)
SHADES = tuple(shade for shade, _, _ in _OF_MECHANISMS)
DASHES = tuple(dash for _, dash, _ in _OF_MECHANISMS)
SHAPES = tuple(shape for _, _, shape in _OF_MECHANISMS)
NEUTRAL = "#7d8791"
"""The colour of bars and lines that do not belong to a mechanism."""

# Vega's own wedge and arrow shapes are too thin to tell apart in a legend.
_STAR = "M0,-1L.23,-.31L.95,-.31L.36,.12L.59,.81L0,.38L-.59,.81L-.36,.12L-.95,-.31L-.23,-.31Z"
_HOURGLASS = "M-.8,-1L.8,-1L-.8,1L.8,1Z"
_OF_OTHERS: tuple[Look, ...] = (
    (NEUTRAL, (3, 6), _STAR),
    ("#a9a9a9", (4, 2, 1, 2), _HOURGLASS),
)
FONT = "Helvetica, Arial, sans-serif"


_FIRST = (
    "permute-and-flip",
    "exponential",
    "noisy-max-laplace",
    "exponential-randomized-response",
)
"""The mechanisms compared most often, which get the most distinct looks."""


def _looks() -> dict[str, int]:
    """Return the index of each mechanism's colour, dash and marker, by name and by title."""
    order = [*_FIRST, *(name for name in MECHANISMS if name not in _FIRST)]
    places = {name: place for place, name in enumerate(order)}
    return places | {
        MECHANISMS[name](epsilon=1).facts.title: place for name, place in places.items()
    }


LOOKS = _looks()
"""The index of each mechanism's look in every chart."""
TITLES = {name: make(epsilon=1).facts.title for name, make in MECHANISMS.items()}
NOT_PRIVATE = "Not private: computed from the scores without spending budget"


def titled(name: str, *, private: bool = True) -> str:
    """Return a mechanism's title for charts, web pages and figures; mark it if it is not private."""
    return TITLES.get(name, name) + ("" if private else " (not private)")


def altair() -> Any:
    """Import and return Altair; called only when a chart is drawn."""
    try:
        import altair as module
    except ImportError as error:
        raise missing_extra("charts need Altair", extra="charts") from error
    return module


CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": "#bbbbbb"},
    "title": {
        "anchor": "start",
        "fontSize": 15,
        "subtitleFontSize": 12,
        "subtitleColor": "#444444",
        "offset": 12,
    },
    "axis": {
        "gridColor": "#e6e6e6",
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 220,
        "tickCount": 6,
        "labelColor": "#222222",
        "titleColor": "#222222",
    },
    "legend": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelLimit": 320,
        "symbolSize": 90,
        "orient": "bottom",
        "columns": 3,
        "columnPadding": 26,
        "title": None,
    },
}
"""Fonts, grid and legend of every chart and figure."""


def styled(
    chart: Any, *, title: str, subtitle: Sequence[str] = (), width: int = 520, height: int = 320
) -> Any:
    """Return the chart with a title and with the fonts, grid and padding that all charts share."""
    words = altair().TitleParams(title, subtitle=list(subtitle))
    sized = chart.properties(width=width, height=height, padding=12, title=words)
    return sized.configure(**CONFIG)


def line_chart(
    records: list[dict[str, Any]],
    *,
    x: tuple[str, str],
    y: tuple[str, str],
    series: str = "mechanism",
    log_x: bool = False,
    log_y: bool = False,
    step: bool = False,
    points: bool = True,
) -> Any:
    """Draw lines that differ in dash, marker and shade; ``x`` and ``y`` are (field, title) pairs."""
    alt = altair()
    names = ranked(record[series] for record in records)
    # The legend shows the markers; if there are none, it shows strokes long enough for their dashes.
    legend = (
        alt.Legend(symbolStrokeWidth=0)
        if points
        else alt.Legend(symbolStrokeWidth=2, symbolSize=900)
    )
    color = alt.Color(f"{series}:N", scale=look_scale(alt, names, 0), sort=names, legend=legend)
    dash = alt.StrokeDash(f"{series}:N", scale=look_scale(alt, names, 1), sort=names, legend=legend)
    shape = alt.Shape(f"{series}:N", scale=look_scale(alt, names, 2), sort=names, legend=legend)
    base = alt.Chart(alt.Data(values=records)).encode(
        x=alt.X(f"{x[0]}:Q", title=x[1], scale=_scale(alt, log_x), axis=_axis(alt, log_x)),
        y=alt.Y(f"{y[0]}:Q", title=y[1], scale=_scale(alt, log_y), axis=_axis(alt, log_y)),
    )
    line = base.mark_line(strokeWidth=2.2, interpolate="step-after" if step else "linear").encode(
        color=color, strokeDash=dash
    )
    if not points:
        return line
    marks = base.mark_point(size=48, filled=True, opacity=1).encode(
        color=color,
        shape=shape,
        tooltip=[
            alt.Tooltip(f"{series}:N"),
            alt.Tooltip(f"{x[0]}:Q", title=x[1], format=".4g"),
            alt.Tooltip(f"{y[0]}:Q", title=y[1], format=".4g"),
        ],
    )
    return line + marks


def grouped_bars(data: Any, *, candidates: Any, names: Sequence[str], **bar: Any) -> Any:
    """Draw grouped bars: each candidate's probability under each mechanism.

    ``candidates`` gives the order of the candidates.
    """
    alt = altair()
    shares = alt.Axis(format="~%", tickCount=5)
    return (
        alt.Chart(data)
        .mark_bar(**bar)
        .encode(
            y=alt.Y("candidate:N", sort=candidates, title=None),
            yOffset=alt.YOffset("mechanism:N", sort=names),
            x=alt.X("probability:Q", title="probability of being chosen", axis=shares),
            color=alt.Color("mechanism:N", sort=names, scale=look_scale(alt, names, 0)),
            tooltip=["candidate:N", "mechanism:N", alt.Tooltip("probability:Q", format=".4~g")],
        )
    )


def look_of(mechanism: str) -> Look:
    """Return a registered mechanism's shade, dash and marker, the same in every chart and figure.

    Example:
        >>> look_of("permute-and-flip")
        ('#12263f', (1, 0), 'circle')
    """
    return _OF_MECHANISMS[LOOKS[mechanism] % len(SHADES)]


def paled(shade: str, share: float) -> str:
    """Mix a shade with white; ``share`` is the share of white.

    Example:
        >>> paled("#000000", 0.5)
        '#808080'
    """
    parts = (int(shade[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * share):02x}" for part in parts)


def ranked(names: Iterable[str]) -> list[str]:
    """Return the names of series without duplicates: mechanisms first, in the order of their looks."""
    return sorted(dict.fromkeys(names), key=_place)


def _place(name: str) -> int:
    """Return the index of a mechanism's look, by name or title; other series get a larger index."""
    plain = name.removesuffix(" (not private)")
    begun = plain.partition(", ")[0]
    return LOOKS.get(plain, LOOKS.get(begun, LOOKS.get(plain.partition(" ")[0], len(LOOKS))))


def look_scale(alt: Any, names: Sequence[str], part: int) -> Any:
    """Return the scale that maps series names to shades (0), dashes (1) or markers (2).

    In a chart of mechanisms, every other series is a bound and gets a grey look. In a chart without
    mechanisms, the series get the mechanisms' looks, because greys are hard to tell apart.
    """
    places = [_place(name) for name in names]
    unused = [look for place, look in enumerate(_OF_MECHANISMS) if place not in places]
    alone = min(places, default=0) == len(LOOKS)
    free = itertools.cycle([*unused, *_OF_OTHERS] if alone else [*_OF_OTHERS, *unused])
    chosen, taken = [], set()
    for place in places:
        # Two series of the same mechanism, such as two ways to count its cost, get different looks.
        own = place < len(LOOKS) and place not in taken
        chosen.append((_OF_MECHANISMS[place % len(SHADES)] if own else next(free))[part])
        taken.add(place)
    return alt.Scale(
        domain=list(names), range=[list(c) if isinstance(c, tuple) else c for c in chosen]
    )


def _scale(alt: Any, log: bool) -> Any:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False)


def _axis(alt: Any, log: bool) -> Any:
    return alt.Axis(format="~g", labelOverlap="greedy") if log else alt.Axis(labelOverlap="greedy")


SUFFIXES = (".png", ".svg", ".html", ".json")


def save_chart(chart: Any, path: str | os.PathLike[str]) -> Path:
    """Write a chart in the format given by the suffix of ``path``: .png, .svg, .html or .json (Vega-Lite).

    The HTML file contains all its scripts: it opens offline and sends no requests.

    Example:
        >>> import tempfile
        >>> from discreet import Scores
        >>> from discreet.analysis.charts import scores_chart
        >>> chart = scores_chart(Scores({"flu": 412, "cold": 398}, sensitivity=1))
        >>> save_chart(chart, tempfile.mkdtemp() + "/scores.svg").name
        'scores.svg'
    """
    target = checked_path(path)
    try:
        if target.suffix.lower() == ".html":
            target.write_text(to_html(chart), encoding="utf-8")
        elif target.suffix.lower() == ".json":
            target.write_text(chart.to_json(), encoding="utf-8")
        else:
            require_converter()
            chart.save(str(target), format=target.suffix.lower()[1:], scale_factor=2)
    except OSError as error:
        raise DiscreetError(f"cannot write {target}: {error.strerror}") from None
    return target


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return the path if its suffix is a supported format and its folder exists; raise an error otherwise."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"⟨chart⟩{str(path)!r} is not allowed: it must end in {', '.join(SUFFIXES)}"
        )
    if not target.absolute().parent.is_dir():
        raise ParameterError(f"⟨chart⟩{str(path)!r} is not allowed: its folder does not exist")
    return target


def to_html(chart: Any) -> str:
    """Return a complete HTML page: title, text, the chart with all its scripts, and the data as a table.

    Example:
        >>> from discreet import Scores
        >>> from discreet.analysis.charts import scores_chart
        >>> page = to_html(scores_chart(Scores({"flu": 412, "cold": 398}, sensitivity=1)))
        >>> "<h1>Scores of 2 candidates</h1>" in page, ">flu</td>" in page
        (True, True)
    """
    require_converter()
    described = chart.to_dict()
    title = described.pop("title", None) or {"text": "discreet"}
    # A label may contain "</script>". Once escaped, it cannot end the script.
    safe = json.loads(json.dumps(described).replace("<", _STAND_IN))
    drawn = (
        altair()
        .Chart.from_dict(safe)
        .to_html(inline=True, fullhtml=False, embed_options={"renderer": "svg", "actions": False})
    )
    for written in (_STAND_IN, json.dumps(_STAND_IN).strip('"')):
        drawn = drawn.replace(written, "\\u003c")
    heading = html.escape(str(title["text"]))
    text = "".join(f"<p>{html.escape(str(line))}</p>" for line in title.get("subtitle", ()))
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{heading}</title>'
        f"<style>{_SHEET}</style></head>\n<body><main><h1>{heading}</h1>{text}\n{drawn}\n"
        f"{_table(_rows(described))}</main></body>\n</html>\n"
    )


_STAND_IN = "\ue000"
"""Placeholder for < until the page is assembled."""
_SHEET = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1b1f24;background:#fff}"
    "main{max-width:60rem;margin:0 auto;padding:1rem}.vega-embed{overflow-x:auto}"
    "table{font-variant-numeric:tabular-nums}"
)


def _rows(described: Any) -> list[dict[str, Any]]:
    """Return the data rows of a chart's description: the longest list of values in it."""
    found = [list(rows) for rows in described.get("datasets", {}).values()]
    parts = [described]
    while parts:
        part = parts.pop()
        values = part.get("data", {}).get("values")
        if values:
            found.append(list(values))
        parts += [inner for kind in ("layer", "hconcat", "vconcat") for inner in part.get(kind, ())]
    return max(found, key=len, default=[])


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    words = {True: "yes", False: "no", None: ""}
    cells = [
        [
            words[value] if value is None or isinstance(value, bool) else value
            for value in row.values()
        ]
        for row in rows
    ]
    return "<h2>As a table</h2>" + table([name.replace("_", " ") for name in rows[0]], cells)


def require_converter() -> None:
    """Raise an error that names the extra to install if vl-convert is missing."""
    try:
        import vl_convert  # noqa: F401 - imported only to see whether it is installed
    except ImportError as error:
        raise missing_extra("drawing to files needs vl-convert", extra="charts") from error
