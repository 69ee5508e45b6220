"""The report: every figure, the paper's values, ours, and what to make of the difference.

The HTML carries its images inside and no script: it opens offline. The Markdown points at the files.
"""

from __future__ import annotations

import base64
import csv
import io
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from discreet import __version__
from discreet.papers.comparisons import AGREES, CLOSE, DIFFERS, NEW, NOT_COMPARED, Comparison
from discreet.papers.figures import PAPERS, Figure, Settings, figures
from discreet.papers.histograms import SOURCE
from discreet.papers.runner import Result, write_file

_MARKS = {AGREES: "✓", CLOSE: "≈", DIFFERS: "✗", NEW: "+", NOT_COMPARED: "–"}
_LEGEND = (
    "✓ agrees: equal in the digits printed, or the statement holds. ≈ close: within two percent. ✗ "
    "differs: see the remark. + new: not in the paper. – not compared: synthetic data."
)
_ABOUT = (
    "Expected errors are computed from the mechanisms' probabilities, not sampled (only the larger "
    "algorithm at the end, MWEM, is repeated with scripted randomness). Nothing here is private: the "
    "histograms are read without spending any budget."
)
_HEADINGS = ("quantity", "paper", "ours", "difference", "", "remark")


def write_report(results: Sequence[Result], settings: Settings, out: Path) -> list[Path]:
    """Write ``index.html``, ``report.md`` and ``numbers.csv`` into the folder."""
    parts = {
        "index.html": html(results, settings, out / "figures"),
        "report.md": markdown(results, settings),
        "numbers.csv": numbers(results),
    }
    for name, text in parts.items():
        write_file(out / name, text.encode())
    return [out / name for name in parts]


def summary(results: Sequence[Result]) -> str:
    """One sentence: how many figures, how many comparisons of each verdict.

    Example:
        >>> summary([Result("pf-fig4"), Result("pf-fig5", error="x: there is no such file")])
        '1 of 2 figures drawn; nothing compared.'
    """
    verdicts = Counter(row.verdict for result in results for row in result.comparisons)
    words = {
        AGREES: "agree",
        CLOSE: "are close",
        DIFFERS: "differ",
        NEW: "are new",
        NOT_COMPARED: NOT_COMPARED,
    }
    counted = ", ".join(
        f"{verdicts[verdict]} {said}" for verdict, said in words.items() if verdicts[verdict]
    )
    drawn = sum(result.error is None for result in results)
    told = f"of the numbers {counted}" if counted else "nothing compared"
    return f"{drawn} of {len(results)} figures drawn; {told}."


def _introduction(results: Sequence[Result], settings: Settings) -> list[str]:
    lines = [summary(results), _LEGEND, _ABOUT]
    if settings.quick:
        lines.append("A quick run: fewer points and repetitions than the full one.")
    if any(result.synthetic for result in results):
        lines.append(f"Figures marked *synthetic* use look-alike histograms. {SOURCE}")
    return lines


def _grouped(results: Sequence[Result]) -> list[tuple[str, list[tuple[Figure, Result]]]]:
    every = figures()
    groups = []
    for key, title in PAPERS.items():
        own = [(every[result.id], result) for result in results if every[result.id].paper == key]
        if own:
            groups.append((title, own))
    return groups


def _cells(row: Comparison) -> tuple[str, ...]:
    return row.quantity, row.paper, row.ours, row.difference, _MARKS[row.verdict], row.remark


def _anomalies(results: Sequence[Result]) -> list[tuple[Figure, Comparison]]:
    """What differs, gathered at the top."""
    every = figures()
    return [
        (every[result.id], row)
        for result in results
        for row in result.comparisons
        if row.verdict == DIFFERS
    ]


def _difference(row: Comparison) -> str:
    words = f"{row.quantity}: the paper has {row.paper}, ours {row.ours}"
    return words + (f" ({row.remark})." if row.remark else ".")


def markdown(results: Sequence[Result], settings: Settings) -> str:
    """The report as Markdown, with the images as files beside it."""
    lines = ["# The papers, reproduced", "", f"discreet {__version__}", ""]
    for paragraph in _introduction(results, settings):
        lines += [paragraph, ""]
    differing = _anomalies(results)
    if differing:
        lines += ["## What differs", ""]
        lines += [f"- {figure.heading}: {_difference(row)}" for figure, row in differing]
        lines.append("")
    for title, own in _grouped(results):
        lines += [f"## {title}", ""]
        for figure, result in own:
            lines += [f"### {figure.heading}", ""]
            if result.error is not None:
                lines += [f"**Not drawn**: {result.error}", ""]
                continue
            lines += [f"![{figure.heading}](figures/{figure.id}.png)", ""]
            lines += [f"**Trouble**: {trouble}\n" for trouble in result.troubles]
            if result.comparisons:
                lines.append("| " + " | ".join(_HEADINGS) + " |")
                lines.append("|" + "---|" * len(_HEADINGS))
                lines += [
                    "| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(row)) + " |"
                    for row in result.comparisons
                ]
                lines.append("")
            lines += [f"{remark}\n" for remark in result.remarks]
    return "\n".join(lines).rstrip() + "\n"


def numbers(results: Sequence[Result]) -> str:
    """All comparisons as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["figure", "quantity", "paper", "ours", "difference", "verdict", "remark"])
    for result in results:
        for row in result.comparisons:
            writer.writerow([result.id, *row.as_json().values()])
    return buffer.getvalue()


_STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #222; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3, table, nav { font-family: Helvetica, Arial, sans-serif; }
h2 { border-bottom: 1px solid #bbb; margin-top: 3rem; } h3 { margin-top: 2.5rem; }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #ddd; }
tr.differs td { background: #fbeee8; } tr.new td { color: #444; }
.trouble { border-left: 4px solid #b3430f; padding-left: 0.8rem; }
nav a { margin-right: 0.8rem; font-size: 0.85rem; white-space: nowrap; }
@media print { nav { display: none; } h3 { break-after: avoid; } img, tr { break-inside: avoid; } }
"""


def html(results: Sequence[Result], settings: Settings, folder: Path) -> str:
    """The report as one page with its images inside."""
    body = ["<h1>The papers, reproduced</h1>", f"<p>discreet {escape(__version__)}</p>"]
    body += [f"<p>{_emphasised(paragraph)}</p>" for paragraph in _introduction(results, settings)]
    links = [
        f'<a href="#{result.id}">{escape(result.id)}</a>'
        for _, own in _grouped(results)
        for _, result in own
    ]
    body.append(f"<nav>{' '.join(links)}</nav>")
    differing = _anomalies(results)
    if differing:
        body.append("<h2>What differs</h2><ul>")
        body += [
            f'<li><a href="#{figure.id}">{escape(figure.heading)}</a>: {escape(_difference(row))}</li>'
            for figure, row in differing
        ]
        body.append("</ul>")
    for title, own in _grouped(results):
        body.append(f"<h2>{escape(title)}</h2>")
        for figure, result in own:
            body += _section(figure, result, folder)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The papers, reproduced</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _section(figure: Figure, result: Result, folder: Path) -> list[str]:
    lines = [f'<h3 id="{figure.id}">{escape(figure.heading)}</h3>']
    if result.error is not None:
        return [*lines, f'<p class="trouble">Not drawn: {escape(result.error)}</p>']
    image = base64.b64encode((folder / f"{figure.id}.svg").read_bytes()).decode()
    alt = escape(f"{figure.heading}. {' '.join(figure.subtitle)}", quote=True)
    # As an image of its own, so that the names inside one drawing cannot clash with another's.
    lines.append(f'<img alt="{alt}" src="data:image/svg+xml;base64,{image}">')
    lines += [f'<p class="trouble">{escape(trouble)}</p>' for trouble in result.troubles]
    if result.comparisons:
        lines.append("<table><tr>" + "".join(f"<th>{name}</th>" for name in _HEADINGS) + "</tr>")
        for row in result.comparisons:
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row))
            lines.append(f'<tr class="{row.verdict.replace(" ", "-")}">{cells}</tr>')
        lines.append("</table>")
    lines += [f"<p>{_emphasised(remark)}</p>" for remark in result.remarks]
    files = " ".join(
        f'<a href="figures/{figure.id}.{suffix}">{suffix.upper()}</a>'
        for suffix in ("svg", "png", "csv")
    )
    return [*lines, f"<nav>{files}</nav>"]


def _emphasised(text: str) -> str:
    """Escaped, with *words* in italics."""
    parts = escape(text).split("*")
    return "".join(f"<em>{part}</em>" if place % 2 else part for place, part in enumerate(parts))
