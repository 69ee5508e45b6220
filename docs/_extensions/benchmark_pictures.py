"""Draw the recorded benchmarks as dots into ``docs/_static``, from the tables that the page folds below."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from discreet._displays import counted
from discreet.analysis.charts.style import LOOKS, SHADES

FOLDER = Path(__file__).parent.parent / "_static"
RESULTS = FOLDER.parent.parent / "benchmarks" / "results"
_LONGEST = 38
_GREYS = ("#30343b", "#6b717b", "#878d96")
_MILLISECONDS = {"µs": 1e-3, "ms": 1.0, "s": 1e3}
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Dots from one table.

    Attributes:
        title: the title.
        source: the results' file.
        heading: the table is the first one below this text.
        label: the columns that name a row of dots.
        series: the columns that are drawn, each with its name in the legend.
        only: the rows that are drawn.
        times: what the figures are multiplied by.
    """

    title: str
    source: str
    heading: str = ""
    label: tuple[str, ...]
    series: Mapping[str, str]
    only: Callable[[Row], bool] = lambda _row: True
    times: float = 1


_PF = "permute-and-flip"
_MECHANISMS = {name: name for name in (_PF, "exponential", "Laplace")}
CHARTS = {
    "select": Chart(
        title="One release among a million candidates, in milliseconds",
        source="select",
        heading="## n = 1,000,000\n",
        label=("shape",),
        series={_PF: _PF, "one-liner": "argmax(q + noise), insecure", "OpenDP": "OpenDP"},
        times=1e-3,
    ),
    "draws": Chart(
        title="100,000 draws among a thousand candidates, in microseconds a draw",
        source="select",
        heading="## `sample",
        label=("shape",),
        series=_MECHANISMS,
        only=lambda row: row["n"] == "1,000",
    ),
    "memory": Chart(
        title="Memory beyond the input at ten million candidates, in bytes a candidate",
        source="select",
        heading="## Memory",
        label=("shape",),
        series=_MECHANISMS,
    ),
    "select-each": Chart(
        title="A choice in every row, in milliseconds of processor time",
        source="select_each",
        label=("rows × candidates", "mechanism"),
        series={"select_each": "select_each", "one-liner": "argmax(q + noise), insecure"},
    ),
    "groups": Chart(
        title="A mode in each of 100,000 groups, in milliseconds",
        source="tables",
        label=("what",),
        series={"discreet": "discreet", "against": "the database's query alone"},
        only=lambda row: "group" in row["what"] or "PostgreSQL" in row["what"],
    ),
    "steady": Chart(
        title="With steady=True: one release among 100,000, in microseconds",
        source="steady",
        heading="## steady=True",
        label=("scores",),
        series={"least": "least", "median": "median"},
    ),
    "not-steady": Chart(
        title="With steady=False: one release among 100,000, in microseconds",
        source="steady",
        heading="## steady=False",
        label=("scores",),
        series={"least": "least", "median": "median"},
    ),
    "top-k-error": Chart(
        title="Top-k at ε = 1: mean of the largest shortfall",
        source="top_k",
        label=("counts", "k"),
        series={"joint": "joint", "one-shot": "one-shot", "peeling": "peeling"},
    ),
    "top-k-sets": Chart(
        title="What the order costs at ε = 1: mean of the largest shortfall, judged as sets, k = 20",
        source="top_k",
        heading="What the order costs",
        label=("counts", "candidates"),
        series={"set": "set", "ordered": "joint, in order"},
        only=lambda row: row["k"] == "20",
    ),
    "top-k-time": Chart(
        title="One joint draw, in milliseconds",
        source="top_k",
        heading="Time of one",
        label=("counts", "n"),
        series={
            "joint, ms": "joint",
            "set, ms": "set",
            "np.partition, ms": "np.partition, a partial sort",
        },
    ),
    "unequal": Chart(
        title="Unequal sensitivities at ε = 1: expected shortfall",
        source="unequal",
        label=("sensitivities",),
        series={"largest": "largest", "ratios": "ratios"},
    ),
    "quantiles": Chart(
        title="99 quantiles at ε = 1: mean of the largest rank error, in people",
        source="quantiles",
        label=("column",),
        series={"recursion": "recursion", "64 places": "64 places, as before", "slices": "slices"},
        only=lambda row: (row["m"], row["ε"]) == ("99", "1"),
    ),
    "named-groups": Chart(
        title="Groups named at ε = 1, δ = 10⁻⁵, of 20,000 people",
        source="groups",
        label=("groups of a person", "groups_per_person"),
        series={
            "one group": "one group",
            "weights, once": "weights, once",
            "by default": "by default",
        },
    ),
    "no-bounds": Chart(
        title="A quantile without bounds at ε = 1: mean rank error, in people",
        source="no_bounds",
        label=("column", "level"),
        series={
            "one choice": "one choice",
            "thresholds, two runs": "thresholds, two runs",
            "thresholds, one run": "thresholds, one run",
        },
        only=lambda row: row["ε"] == "1",
    ),
    "no-bounds-time": Chart(
        title="A median of ten million rows, in milliseconds",
        source="no_bounds",
        heading="A median of",
        label=("rows",),
        series={
            "with bounds 0:1000000, step 100, ms": "with bounds",
            "without bounds, ms": "without",
        },
    ),
    "ask": Chart(
        title="One question to a watch, in microseconds of processor time",
        source="thresholds",
        label=("values",),
        series={"one ask, µs of processor time": "ask"},
    ),
    "ask-all": Chart(
        title="A million values against a threshold at once, in milliseconds",
        source="thresholds",
        heading="| nothing near |",
        label=("1,000,000 values at once",),
        series={"ask_all, ms": "ask_all", "np.argmax(q > threshold), ms": "argmax, no noise"},
    ),
    "margins": Chart(
        title="How far 1,000 counts must keep from the threshold, to be right at 0.95",
        source="thresholds",
        heading="## Error",
        label=("c",),
        series={
            "margin, exponential": "exponential noise",
            "margin, Laplace": "Laplace noise",
            "margin, the c largest by permute-and-flip, known at once": "c largest, all known",
        },
    ),
    "tables": Chart(
        title="Asking fifty million rows (quantiles: ten), in milliseconds",
        source="tables",
        label=("what",),
        series={"discreet": "discreet", "against": "DuckDB's query alone"},
        only=lambda row: "DuckDB " in row["against"],
    ),
    "tuning-found": Chart(
        title="The best of several runs: ε found by an audit, and claimed",
        source="tuning",
        heading="## Found",
        label=("runs", "each run"),
        series={"claimed": "claimed", "found": "found"},
    ),
    "tuning-time": Chart(
        title="What tuning takes, in milliseconds of processor time",
        source="tuning",
        heading="## Time",
        label=("what",),
        series={"time": "the least of five"},
    ),
    "explorer": Chart(
        title="The explorer: from a slider's move to the screen, median in milliseconds",
        source="explorer",
        label=("moved", "candidates"),
        series={"first, median": "first figures", "all, median": "everything"},
    ),
    "desk": Chart(
        title="A question at the desk beside the same query in DuckDB, in milliseconds",
        source="desk",
        label=("table",),
        series={"the desk's worker": "the desk's worker", "DuckDB's query": "DuckDB's query"},
    ),
    "start": Chart(
        title="How long it takes to start, in milliseconds",
        source="start_up",
        label=("program",),
        series={"median of 15 runs": "median of 15 runs"},
    ),
}


def table(source: str, heading: str = "") -> list[dict[str, str]]:
    """The first recorded table below a text, as rows by column."""
    text = (RESULTS / f"{source}.md").read_text(encoding="utf-8")
    lines = text[text.index(heading) :].split("\n\n|", 1)[1].split("\n\n")[0].split("\n|")
    heads, _, *rows = [
        [cell.replace("`", "").strip(" *") for cell in line.rstrip("\n")[:-1].split("|")]
        for line in lines
    ]
    return [dict(zip(heads, row, strict=True)) for row in rows]


def amount(text: str) -> float:
    """The figure of a cell: the number at its beginning or behind a colon; times in milliseconds."""
    number, unit = re.search(r"(?:^|: )([\d.,]+) ?(µs|ms|s)?\b", text).groups()  # type: ignore[union-attr]
    return float(number.replace(",", "")) * _MILLISECONDS.get(unit, 1)


def drawn(chart: Chart) -> str:
    """Dots on a logarithmic axis, each with its figure: one group a row, one shade and shape a series."""
    rows = [
        (_short(row, chart.label), [amount(row[column]) * chart.times for column in chart.series])
        for row in table(chart.source, chart.heading)
        if chart.only(row)
    ]
    series = tuple(chart.series.values())
    # Colours are the mechanisms'; other series are grey.
    shades = [_shade(label, place) for place, label in enumerate(series)]
    left, right, top, thick = 285, 630, 70, 14
    values = [value for _, each in rows for value in each if value > 0]
    low, high = math.floor(math.log10(min(values) / 2)), math.ceil(math.log10(max(values)))
    step = thick * len(series) + 10
    bottom = top + step * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 690 {bottom + 30}" font-size="13" role="img"',
        ' font-family="Helvetica, Arial, sans-serif">',
        f"<title>{chart.title}</title><desc>{_told(chart.title, rows, series)}</desc>",
        f'<rect width="690" height="{bottom + 30}" fill="#ffffff"/>',
        f'<text x="12" y="24" font-weight="bold" font-size="15">{chart.title}</text>',
    ]
    for place, label in enumerate(series):
        parts.append(
            _dot(place, 18 + 215 * place, 44, shades[place])
            + f'<text x="{30 + 215 * place}" y="49">{label}</text>'
        )

    def across(value: float) -> float:
        # Zero has no place on a logarithmic axis: no dot, but its figure at the left end.
        power = math.log10(value) if value > 0 else low
        return round(left + (right - left) * (power - low) / (high - low), 1)

    for power in range(low, high + 1):
        x = across(10.0**power)
        parts.append(
            f'<path d="M{x} {top - 6}V{bottom}" stroke="#e6e6e6"/>'
            f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{_figure(10.0**power)}</text>'
        )
    for row, (label, each) in enumerate(rows):
        y = top + step * row
        middle = y + thick * len(each) / 2 + 4
        parts.append(f'<text x="{left - 8}" y="{middle}" text-anchor="end">{label}</text>')
        for place, value in enumerate(each):
            height = y + thick * place + thick / 2
            parts.append(
                f'<path d="M{left} {height}H{right}" stroke="#dddddd" stroke-dasharray="1 4"/>'
                + (_dot(place, across(value), height, shades[place]) if value > 0 else "")
                + f'<text x="{across(value) + 9}" y="{height + 4}" font-size="11">{_figure(value)}</text>'
            )
    return "\n".join([*parts, "</svg>", ""])


def _dot(place: int, x: float, y: float, shade: str) -> str:
    """A circle, a square or a diamond: series differ in shape as well as in shade."""
    marks = (
        f'<circle cx="{x}" cy="{y}" r="5" fill="{shade}"/>',
        f'<rect x="{x - 4.5}" y="{y - 4.5}" width="9" height="9" fill="{shade}"/>',
        f'<path d="M{x} {y - 6}l6 6l-6 6l-6 -6z" fill="{shade}"/>',
    )
    return marks[place]


def _told(title: str, rows: list[tuple[str, list[float]]], series: tuple[str, ...]) -> str:
    """The chart in a sentence: for each series its range over the rows."""
    ranges = []
    for place, name in enumerate(series):
        least, most = (_figure(end(each[place] for _, each in rows)) for end in (min, max))
        ranges.append(f"{name} {least}" if least == most else f"{name} {least} to {most}")
    return f"{title}. Over {counted(len(rows), 'row')}: {'; '.join(ranges)}."


def _short(row: Row, columns: tuple[str, ...]) -> str:
    """The label of a row: a column by its values, but k = 50 and 1,000 candidates by name and value."""
    named = {"k": "k = {}", "n": "n = {}", "c": "c = {}", "level": "level {}"}
    named |= {"candidates": "{} candidates", "rows": "{} rows"}
    named |= {"groups of a person": "{} groups each", "groups_per_person": "bound {}"}
    texts = (named.get(column, "{}").format(row[column]) for column in columns)
    parts = ", ".join(texts).replace(" number of runs", "").split(", ")
    while len(", ".join(parts)) > _LONGEST and len(parts) > 1:
        parts.pop()
    return shorten(", ".join(parts), _LONGEST, placeholder=" …")


def _shade(label: str, place: int) -> str:
    look = LOOKS.get("noisy-max-laplace" if label == "Laplace" else label)
    return _GREYS[place] if look is None else SHADES[look % len(SHADES)]


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    for name, one in CHARTS.items():
        (FOLDER / f"benchmark-{name}.svg").write_text(drawn(one), encoding="utf-8")
