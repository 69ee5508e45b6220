"""One look for all charts: dark to light, solid to dotted, so that a photocopy can be read."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, ParameterError, missing_extra
from discreet.mechanisms import MECHANISMS

# One for each mechanism, here, on the page and in the papers' figures; neighbours differ in lightness, so
# that they stay apart in greyscale.
SHADES = (
    "#12263f",
    "#b3430f",
    "#3d7f9c",
    "#a8700c",
    "#6b7680",
    "#4a7d2c",
    "#5b2a86",
    "#a8201a",
)
DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (7, 3),
    (2, 2),
    (10, 3, 2, 3),
    (5, 5),
    (1, 3),
    (12, 4),
    (8, 2, 2, 2, 2, 2),
)
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
FONT = "Helvetica, Arial, sans-serif"


def _looks() -> dict[str, int]:
    """The place of each mechanism's colour, dash and marker, under its name and under its title."""
    made = {name: make(epsilon=1).facts for name, make in MECHANISMS.items()}
    ranked = {facts.rank for facts in made.values()}
    free = iter(place for place in range(len(made)) if place not in ranked)
    places = {
        name: next(free) if facts.rank is None else facts.rank for name, facts in made.items()
    }
    return places | {facts.title: places[name] for name, facts in made.items()}


LOOKS = _looks()
"""Which look a mechanism has in every chart."""
NOT_PRIVATE = "Not private: computed from the scores without spending budget"


def altair() -> Any:
    """Altair, imported only where a chart is drawn."""
    try:
        import altair as module
    except ImportError as error:
        raise missing_extra("charts need Altair", extra="charts") from error
    return module


def styled(
    chart: Any, *, title: str, subtitle: Sequence[str] = (), width: int = 520, height: int = 320
) -> Any:
    """The chart with our title, fonts and grid, and room for every label."""
    alt = altair()
    return (
        chart.properties(
            width=width,
            height=height,
            padding=12,
            title=alt.TitleParams(
                title,
                subtitle=list(subtitle),
                anchor="start",
                fontSize=15,
                subtitleFontSize=12,
                subtitleColor="#444444",
                offset=12,
            ),
        )
        .configure(font=FONT, background="white")
        .configure_view(stroke="#bbbbbb")
        .configure_axis(
            gridColor="#e6e6e6",
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            titlePadding=8,
            labelLimit=220,
            tickCount=6,
            labelColor="#222222",
            titleColor="#222222",
        )
        .configure_legend(
            labelFontSize=12,
            titleFontSize=12,
            labelLimit=320,
            symbolSize=90,
            orient="bottom",
            columns=3,
            title=None,
        )
    )


def line_chart(
    records: list[dict[str, Any]],
    *,
    x: tuple[str, str],
    y: tuple[str, str],
    series: str,
    log_x: bool = False,
    log_y: bool = False,
    step: bool = False,
    points: bool = True,
) -> Any:
    """Lines told apart by dash, marker and shade; ``x`` and ``y`` are (field, title)."""
    alt = altair()
    names = sorted(dict.fromkeys(record[series] for record in records), key=_rank)
    # With markers the legend shows these; without, it has to show the dashes as strokes.
    legend = alt.Legend(symbolStrokeWidth=0 if points else 2)
    color = alt.Color(f"{series}:N", scale=_marks(alt, names, SHADES), sort=names, legend=legend)
    dash = alt.StrokeDash(
        f"{series}:N", scale=_marks(alt, names, DASHES), sort=names, legend=legend
    )
    shape = alt.Shape(f"{series}:N", scale=_marks(alt, names, SHAPES), sort=names, legend=legend)
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


def _rank(name: str) -> int:
    """The same mechanism has the same look in every chart; whatever else there is comes after."""
    plain = name.removesuffix(" (not private)")
    return LOOKS.get(plain, LOOKS.get(plain.partition(" ")[0], len(LOOKS)))


def _marks(alt: Any, names: Sequence[str], looks: Sequence[Any]) -> Any:
    places = [_rank(name) for name in names]
    free = iter(place for place in range(len(looks)) if place not in places)
    chosen = [
        looks[(place if place < len(SHADES) else next(free, position)) % len(looks)]
        for position, place in enumerate(places)
    ]
    return alt.Scale(
        domain=list(names), range=[list(c) if isinstance(c, tuple) else c for c in chosen]
    )


def _scale(alt: Any, log: bool) -> Any:
    return alt.Scale(type="log", nice=False) if log else alt.Scale(zero=False)


def _axis(alt: Any, log: bool) -> Any:
    return alt.Axis(format="~g", labelOverlap="greedy") if log else alt.Axis(labelOverlap="greedy")


SUFFIXES = (".png", ".svg", ".html", ".json")


def save_chart(chart: Any, path: str | os.PathLike[str]) -> Path:
    """Write a chart; the suffix of ``path`` says how: .png, .svg, .html or .json (Vega-Lite).

    The HTML carries its scripts inside: it opens offline and asks no server for anything.
    """
    target = checked_path(path)
    try:
        if target.suffix.lower() == ".html":
            target.write_text(to_html(chart), encoding="utf-8")
        elif target.suffix.lower() == ".json":
            target.write_text(chart.to_json(), encoding="utf-8")
        else:
            _require_converter()
            chart.save(str(target), format=target.suffix.lower()[1:], scale_factor=2)
    except OSError as error:
        raise DiscreetError(f"cannot write {target}: {error.strerror}") from None
    return target


def checked_path(path: str | os.PathLike[str]) -> Path:
    """The path, if its suffix says a format that we write and its folder exists."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"⟨chart⟩{str(path)!r} is not allowed: it must end in {', '.join(SUFFIXES)}"
        )
    if not target.absolute().parent.is_dir():
        raise ParameterError(f"⟨chart⟩{str(path)!r} is not allowed: its folder does not exist")
    return target


def to_html(chart: Any) -> str:
    """A whole page with the chart and every script it needs."""
    _require_converter()
    buffer = io.StringIO()
    chart.save(
        buffer, format="html", inline=True, embed_options={"renderer": "svg", "actions": False}
    )
    return buffer.getvalue()


def _require_converter() -> None:
    try:
        import vl_convert  # noqa: F401 - only asked whether it is there
    except ImportError as error:
        raise missing_extra("saving charts needs vl-convert", extra="charts") from error
