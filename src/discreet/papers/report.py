"""What was checked and drawn, as Markdown, as CSV, and as HTML pages that load nothing.

The page of figures carries its images inside; its Markdown points at the files.
"""

from __future__ import annotations

import base64
import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, fields
from html import escape
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet.displays import counted
from discreet.papers.catalogue import PAPERS, Figure, Paper, all_figures
from discreet.papers.figure import AGREES, CLOSE, DIFFERS, NEW, NOT_COMPARED, PaperValue
from discreet.papers.findings import FAILED, VERDICTS, Scope
from discreet.papers.histograms import SOURCE
from discreet.papers.runner import SUFFIXES, CheckedClaim, DrawnFigure, write_file


def _page(title: str, style: str, body: Sequence[str]) -> str:
    """One HTML file that loads nothing."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head>\n<body>\n<h1>{title}</h1>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _table_row(cells: Sequence[str]) -> str:
    """One row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# ---- claims ----------------------------------------------------------------------------------------

_CLAIMS_TITLE = "The papers' claims, checked"
_CLAIMS_STYLE = """
:root { color-scheme: light dark; --line: #8885; --refuted: #b3261e; --proved: #1b6e3c; --other: #7a5b00; }
@media (prefers-color-scheme: dark) { :root { --refuted: #ff8a80; --proved: #7fd79b; --other: #e8c35a; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
article { border-top: 1px solid var(--line); padding: .8rem 0; }
article h3 { margin: 0; font-size: 1rem; } .verdict { font-weight: 600; }
.refuted, .failed { color: var(--refuted); } .proved-by-computation { color: var(--proved); }
.consistent-with-a-search, .not-checkable { color: var(--other); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: .3rem 0; font-size: .9rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
"""
_CLAIMS_NOTE = (
    "“Proved by computation” means that exact or ball arithmetic decided every case of the range given; "
    "“consistent with a search”, that a search found nothing against the claim. In a witness, outcomes are "
    "positions counted from 0."
)


def tally(results: Sequence[CheckedClaim]) -> dict[str, int]:
    """How many claims have each verdict, in the order of the verdicts."""
    counts = Counter(result.finding.verdict for result in results)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, FAILED) if counts[verdict]}


def claims_summary(results: Sequence[CheckedClaim]) -> str:
    """One line: how many claims, how they came out, how long it took."""
    parts = ", ".join(f"{count} {verdict}" for verdict, count in tally(results).items())
    seconds = sum(result.seconds for result in results)
    return f"{counted(len(results), 'claim')} in {seconds:.0f} s: {parts}."


def by_paper(results: Sequence[CheckedClaim]) -> list[tuple[Paper, list[CheckedClaim]]]:
    """The results under their papers; papers without any are left out."""
    grouped = [
        (paper, [r for r in results if r.claim.paper == key]) for key, paper in PAPERS.items()
    ]
    return [(paper, found) for paper, found in grouped if found]


def on_one_line(value: Any) -> str:
    """A number, list or table of a finding.

    Example:
        >>> on_one_line({"a": [1, {"b": 2}]})
        'a: (1, b: 2)'
    """
    if isinstance(value, dict):
        return "; ".join(f"{name}: {on_one_line(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(on_one_line, value)) + ")"
    return str(value)


def _details(result: CheckedClaim) -> list[tuple[str, str]]:
    finding = result.finding
    rows = [("checked on", finding.covered)] if finding.covered else []
    rows.append(("evidence", finding.evidence))
    rows += [(name, on_one_line(value)) for name, value in finding.numbers.items()]
    if finding.witness is not None:
        rows.append(("witness", on_one_line(finding.witness)))
    rows.append(("time", f"{result.seconds:.2f} s"))
    return rows


def claims_markdown(results: Sequence[CheckedClaim]) -> str:
    """The whole report as Markdown: a summary, a table per paper, then the evidence."""
    lines = [f"# {_CLAIMS_TITLE}", "", claims_summary(results), "", _CLAIMS_NOTE, ""]
    for paper, found in by_paper(results):
        lines += [f"## {paper.title}", "", f"{paper.authors}", ""]
        lines += ["| claim | statement | verdict |", "|---|---|---|"]
        for r in found:
            verdict = r.finding.verdict
            told = verdict if verdict in VERDICTS[:2] else f"**{verdict}**"
            lines.append(_table_row((r.claim.number, r.claim.statement, told)))
        lines.append("")
        for r in found:
            lines += [f"### {r.claim.number}", "", f"`{r.claim.id}`", ""]
            lines += [r.claim.statement, "", f"**{r.finding.verdict}**", ""]
            lines += [f"- {name}: {text}" for name, text in _details(r)]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def claims_html(results: Sequence[CheckedClaim]) -> str:
    """The whole report as one HTML file."""
    rows = "".join(
        f'<tr><td class="verdict {_class(verdict)}">{verdict}</td><td>{count}</td></tr>'
        for verdict, count in tally(results).items()
    )
    body = [f"<p>{escape(claims_summary(results))}</p>"]
    body.append(f"<p>{escape(_CLAIMS_NOTE)}</p><table>{rows}</table>")
    for paper, found in by_paper(results):
        body.append(f"<h2>{escape(paper.title)}</h2><p>{escape(paper.authors)}</p>")
        body += [_article(result) for result in found]
    return _page(_CLAIMS_TITLE, _CLAIMS_STYLE, body)


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _article(result: CheckedClaim) -> str:
    verdict = result.finding.verdict
    details = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in _details(result)
    )
    return (
        f'<article id="{escape(result.claim.id)}"><h3>{escape(result.claim.number)}: '
        f'<span class="verdict {_class(verdict)}">{escape(verdict)}</span></h3>'
        f"<p>{escape(result.claim.statement)}</p><dl>{details}</dl></article>"
    )


# ---- figures ---------------------------------------------------------------------------------------

_MARKS = {
    AGREES: ("✓", "agreeing"),
    CLOSE: ("≈", "close"),
    DIFFERS: ("✗", "differing"),
    NEW: ("+", "new"),
    NOT_COMPARED: ("–", NOT_COMPARED),
}
_FIGURES_TITLE = "The papers, reproduced"
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
_FIGURES_STYLE = """
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


def write_figures_report(results: Sequence[DrawnFigure], scope: Scope, out: Path) -> list[Path]:
    """Write ``index.html``, ``report.md`` and ``numbers.csv`` into the folder."""
    parts = {
        "index.html": _figures_html(results, scope, out / "figures"),
        "report.md": figures_markdown(results, scope),
        "numbers.csv": numbers(results),
    }
    for name, text in parts.items():
        write_file(out / name, text.encode())
    return [out / name for name in parts]


def figures_summary(results: Sequence[DrawnFigure]) -> str:
    """One sentence: how many figures, how many comparisons of each verdict.

    Example:
        >>> figures_summary([DrawnFigure("pf-fig4"), DrawnFigure("pf-fig5", error="no such file")])
        '1 of 2 figures drawn; nothing compared.'
    """
    verdicts = Counter(row.verdict for result in results for row in result.comparisons)
    parts = ", ".join(
        f"{verdicts[verdict]} {said}" for verdict, (_, said) in _MARKS.items() if verdicts[verdict]
    )
    drawn = sum(result.error is None for result in results)
    told = f"numbers: {parts}" if parts else "nothing compared"
    return f"{drawn} of {len(results)} figures drawn; {told}."


def _introduction(results: Sequence[DrawnFigure], scope: Scope) -> list[str]:
    lines = [figures_summary(results), _LEGEND, _ABOUT]
    if scope.quick:
        lines.append("A quick run: fewer points and repetitions than the full one.")
    if any(result.synthetic for result in results):
        lines.append(f"Figures marked *synthetic* use look-alike histograms. {SOURCE}")
    return lines


def _grouped(results: Sequence[DrawnFigure]) -> list[tuple[str, list[tuple[Figure, DrawnFigure]]]]:
    every = all_figures()
    both = [(every[result.id], result) for result in results]
    parts = [
        (paper.part, [(figure, result) for figure, result in both if figure.paper == paper])
        for paper in PAPERS.values()
    ]
    return [(part, own) for part, own in parts if own]


def _cells(row: PaperValue) -> tuple[str, ...]:
    return row.quantity, row.paper, row.ours, row.difference, _MARKS[row.verdict][0], row.remark


def _differing(results: Sequence[DrawnFigure]) -> list[tuple[Figure, str]]:
    """What differs, in words, gathered at the top."""
    every = all_figures()
    return [
        (
            every[result.id],
            f"{row.quantity}: the paper has {row.paper}, ours {row.ours}"
            + (f" ({row.remark})." if row.remark else "."),
        )
        for result in results
        for row in result.comparisons
        if row.verdict == DIFFERS
    ]


def figures_markdown(results: Sequence[DrawnFigure], scope: Scope) -> str:
    """The report as Markdown, with the images as files beside it."""
    lines = [f"# {_FIGURES_TITLE}", "", f"discreet {__version__}", ""]
    for paragraph in _introduction(results, scope):
        lines += [paragraph, ""]
    differing = _differing(results)
    if differing:
        lines += ["## What differs", ""]
        lines += [f"- {figure.heading}: {words}" for figure, words in differing]
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
                lines += [_table_row(_HEADINGS), "|" + "---|" * len(_HEADINGS)]
                lines += [_table_row(_cells(row)) for row in result.comparisons]
                lines.append("")
            lines += [f"{remark}\n" for remark in result.remarks]
    return "\n".join(lines).rstrip() + "\n"


def numbers(results: Sequence[DrawnFigure]) -> str:
    """All comparisons as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["figure", *(part.name for part in fields(PaperValue))])
    for result in results:
        writer.writerows([result.id, *astuple(row)] for row in result.comparisons)
    return buffer.getvalue()


def _figures_html(results: Sequence[DrawnFigure], scope: Scope, folder: Path) -> str:
    """The report as one page with its images inside."""
    body = [f"<p>discreet {escape(__version__)}</p>"]
    body += [f"<p>{_emphasised(paragraph)}</p>" for paragraph in _introduction(results, scope)]
    grouped = _grouped(results)
    links = [f'<a href="#{r.id}">{escape(r.id)}</a>' for _, own in grouped for _, r in own]
    body.append(f"<nav>{' '.join(links)}</nav>")
    differing = _differing(results)
    if differing:
        body.append("<h2>What differs</h2><ul>")
        body += [
            f'<li><a href="#{figure.id}">{escape(figure.heading)}</a>: {escape(words)}</li>'
            for figure, words in differing
        ]
        body.append("</ul>")
    for title, own in grouped:
        body.append(f"<h2>{escape(title)}</h2>")
        for figure, result in own:
            body += _section(figure, result, folder)
    return _page(_FIGURES_TITLE, _FIGURES_STYLE, body)


def _section(figure: Figure, result: DrawnFigure, folder: Path) -> list[str]:
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
            lines.append(f'<tr class="{_class(row.verdict)}">{cells}</tr>')
        lines.append("</table>")
    lines += [f"<p>{_emphasised(remark)}</p>" for remark in result.remarks]
    files = " ".join(
        f'<a href="figures/{figure.id}.{suffix}">{suffix.upper()}</a>' for suffix in SUFFIXES
    )
    return [*lines, f"<nav>{files}</nav>"]


def _emphasised(text: str) -> str:
    """Escaped, with *words* in italics."""
    parts = escape(text).split("*")
    return "".join(f"<em>{part}</em>" if place % 2 else part for place, part in enumerate(parts))
