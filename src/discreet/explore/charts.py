"""The page's charts as Vega-Lite, by Altair: each function takes rows, or the name of data to come.

Colours, fonts and backgrounds are left to whoever draws: the page has a light and a dark theme. The colour
of a mechanism follows from its place in the list given, so that all charts agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from discreet.explore.words import title

Rows = Sequence[dict[str, Any]] | str
"""Tidy rows, or the name under which the page will provide them."""

_CHOSEN_DASH = [4, 3]


def _data(rows: Rows) -> Any:
    return alt.NamedData(name=rows) if isinstance(rows, str) else alt.InlineData(values=list(rows))


def _mechanism(names: Sequence[str], **options: Any) -> Any:
    legend = alt.Legend(title=None, orient="top", columns=2, labelLimit=260, symbolStrokeWidth=3)
    return alt.Color(
        "label:N", scale=alt.Scale(domain=[title(name) for name in names]), legend=legend, **options
    )


def _titled(chart: Any, names: Sequence[str]) -> Any:
    """A column with the mechanisms' names in words."""
    table = "{" + ", ".join(f"'{name}': '{title(name)}'" for name in names) + "}"
    return chart.transform_calculate(label=f"({table})[datum.mechanism]")


def _epsilon(field: str = "epsilon:Q") -> Any:
    return alt.X(
        field,
        title="ε of one release",
        scale=alt.Scale(type="log", nice=False, zero=False),
        axis=alt.Axis(format="~g", tickCount=5, labelOverlap=True, grid=False),
    )


def _mark_chosen(rows: Rows, field: str = "epsilon:Q") -> Any:
    """A vertical line at the value chosen."""
    rule = alt.Chart(_data(rows)).mark_rule(strokeWidth=2, strokeDash=_CHOSEN_DASH)
    return rule.encode(x=field)


def probability_chart(rows: Rows, names: Sequence[str]) -> Any:
    """How likely each candidate is under each mechanism: grouped bars."""
    tooltip = [
        alt.Tooltip("candidate:N", title="Candidate"),
        alt.Tooltip("label:N", title="Mechanism"),
        alt.Tooltip("probability:Q", title="Probability", format=".4~g"),
        alt.Tooltip("score:Q", title="Score", format="~g"),
    ]
    chart = alt.Chart(_data(rows)).mark_bar(cornerRadiusEnd=2)
    order = [title(name) for name in names]
    chart = chart.encode(
        x=alt.X(
            "probability:Q",
            title="Probability of being chosen",
            axis=alt.Axis(format="~%", tickCount=5),
        ),
        y=alt.Y("candidate:N", sort=None, title=None, axis=alt.Axis(labelLimit=130, ticks=False)),
        yOffset=alt.YOffset("label:N", sort=order, scale=alt.Scale(domain=order)),
        color=_mechanism(names),
        tooltip=tooltip,
    )
    step = alt.Step(7 if len(names) > 2 else 9, **{"for": "offset"})
    return _titled(chart, names).properties(width="container", height=step)


def error_chart(rows: Rows, chosen: Rows, names: Sequence[str]) -> Any:
    """Expected error against ε, a line for each mechanism, with the chosen ε marked."""
    return _curve(
        rows,
        chosen,
        names,
        field="expected_error",
        name="Expected error",
        axis=alt.Axis(format="~s"),
    )


def tail_chart(rows: Rows, chosen: Rows, names: Sequence[str]) -> Any:
    """The chance of too large an error against ε, a line for each mechanism, with the chosen ε marked."""
    return _curve(
        rows,
        chosen,
        names,
        field="beyond",
        name="Chance of too large an error",
        axis=alt.Axis(format="~%"),
    )


def _curve(
    rows: Rows, chosen: Rows, names: Sequence[str], *, field: str, name: str, axis: Any
) -> Any:
    lines = alt.Chart(_data(rows)).mark_line(interpolate="monotone", strokeWidth=2.5, clip=True)
    lines = lines.encode(
        x=_epsilon(),
        y=alt.Y(f"{field}:Q", title=name, axis=axis),
        color=_mechanism(names),
        order=alt.Order("epsilon:Q"),
    )
    # Wide invisible points catch the pointer.
    points = alt.Chart(_data(rows)).mark_point(size=150, opacity=0, filled=True)
    points = points.encode(
        x=_epsilon(),
        y=f"{field}:Q",
        tooltip=[
            alt.Tooltip("label:N", title="Mechanism"),
            alt.Tooltip("epsilon:Q", title="ε", format=".3~g"),
            alt.Tooltip(f"{field}:Q", title=name, format=".4~g"),
        ],
    )
    layers = alt.layer(_titled(lines, names), _titled(points, names), _mark_chosen(chosen))
    return layers.properties(width="container", height=240)


def budget_chart(rows: Rows, chosen: Rows, names: Sequence[str]) -> Any:
    """What k releases cost together, by the sum of ε and by the best bound at δ; both mechanisms."""
    lines = alt.Chart(_data(rows)).mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=18))
    lines = lines.encode(
        x=alt.X(
            "releases:Q",
            title="Number of releases",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(format="~s", tickCount=5, labelOverlap=True, grid=False),
        ),
        y=alt.Y("epsilon:Q", title="ε of all together", axis=alt.Axis(format="~g")),
        color=_mechanism(names),
        strokeDash=alt.StrokeDash(
            "accounting:N",
            scale=alt.Scale(domain=["best at δ", "sum of ε (pure)"], range=[[1, 0], [5, 4]]),
            legend=alt.Legend(title=None, orient="top", columns=2),
        ),
        tooltip=[
            alt.Tooltip("label:N", title="Mechanism"),
            alt.Tooltip("accounting:N", title="Counted by"),
            alt.Tooltip("releases:Q", title="Releases", format=",d"),
            alt.Tooltip("epsilon:Q", title="ε", format=".4~g"),
        ],
    )
    layers = alt.layer(_titled(lines, names), _mark_chosen(chosen, "releases:Q"))
    return layers.properties(width="container", height=260)


def risk_chart(rows: Rows, chosen: Rows) -> Any:
    """How sure an attacker can become, against ε, after one release and after all."""
    lines = alt.Chart(_data(rows)).mark_line(strokeWidth=2.5)
    lines = lines.encode(
        x=_epsilon(),
        y=alt.Y(
            "risk:Q",
            title="Largest belief an answer can cause",
            axis=alt.Axis(format="~%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        color=alt.Color(
            "releases:N", sort=None, legend=alt.Legend(title=None, orient="top", columns=2)
        ),
        tooltip=[
            alt.Tooltip("releases:N", title="After"),
            alt.Tooltip("epsilon:Q", title="ε", format=".3~g"),
            alt.Tooltip("risk:Q", title="Belief at most", format=".2%"),
        ],
    )
    return alt.layer(lines, _mark_chosen(chosen)).properties(width="container", height=240)


def witness_chart(rows: Rows) -> Any:
    """The probability of each answer in one of the two neighbouring worlds; the telling one stands out."""
    return (
        alt.Chart(_data(rows))
        .mark_bar(cornerRadiusEnd=2)
        .encode(
            x=alt.X("answer:N", title="Answer", sort=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "probability:Q",
                title="Probability",
                axis=alt.Axis(format="~%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "telling:N",
                scale=alt.Scale(domain=["the telling answer", "other answers"]),
                legend=alt.Legend(title=None, orient="top", columns=1),
            ),
            tooltip=[
                alt.Tooltip("answer:N", title="Answer"),
                alt.Tooltip("score:Q", title="Score", format="~g"),
                alt.Tooltip("probability:Q", title="Probability", format=".6~g"),
            ],
        )
        .properties(width="container", height=200)
    )


def specifications(names: Sequence[str]) -> dict[str, Any]:
    """Every chart of the page, for the mechanisms compared, waiting for its data."""
    from discreet.explore.budget import REFERENCE, RIVAL

    charts = {
        "probabilities": probability_chart("probabilities", names),
        "error": error_chart("curves", "chosen", names),
        "tail": tail_chart("curves", "chosen", names),
        "budget": budget_chart("budget", "releases", (REFERENCE, RIVAL)),
        "risk": risk_chart("risk", "chosen"),
        "witness": witness_chart("witness"),
    }
    return {name: chart.to_dict() for name, chart in charts.items()}
