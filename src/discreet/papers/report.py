"""Reports of claims and figures as Markdown, as CSV, and as self-contained HTML pages.

A page is rendered from its Markdown; the page of figures embeds the images that its Markdown links to.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet import __version__
from discreet._displays import counted
from discreet.papers.catalogue import PAPERS, Figure, Paper, all_figures
from discreet.papers.figure import AGREES, CLOSE, DIFFERS, NEW, NOT_COMPARED, PaperValue
from discreet.papers.findings import FAILED, VERDICTS, Scope
from discreet.papers.histograms import SOURCE
from discreet.papers.runner import SUFFIXES, CheckedClaim, DrawnFigure, as_csv, write_file

_STYLE = """
:root { color-scheme: light dark; --line: #8885; --refuted: #b3261e; --proved: #1b6e3c; --other: #7a5b00; }
@media (prefers-color-scheme: dark) { :root { --refuted: #ff8a80; --proved: #7fd79b; --other: #e8c35a; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; } h3 { margin-top: 2rem; }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0; background: white; }
table { border-collapse: collapse; font-size: .85rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
tr:has(strong) td { background: #b3261e18; } li { overflow-wrap: anywhere; }
.refuted, .failed { color: var(--refuted); } .proved-by-computation { color: var(--proved); }
.consistent-with-a-search, .not-checkable { color: var(--other); }
@media print { h3 { break-after: avoid; } img, tr { break-inside: avoid; } }
"""


def _plain(text: str) -> str:
    """Escape Markdown characters in a text."""
    return re.sub(r"([\\`*_\[\]!<>])", r"\\\1", text)


def _page(markdown: str) -> str:
    """Return the Markdown as one self-contained HTML file, with an anchor for each heading."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("js-default")
    tokens = reader.parse(markdown)
    headings = {
        words.content: opening
        for opening, words in pairwise(tokens)
        if opening.type == "heading_open"
    }
    for words, opening in headings.items():
        opening.attrSet("id", _anchor(words))
    title = escape(next(iter(headings)))
    body = re.sub(
        f"<strong>({'|'.join((*VERDICTS, FAILED))})</strong>",
        lambda found: f'<strong class="{found[1].replace(" ", "-")}">{found[1]}</strong>',
        reader.renderer.render(tokens, reader.options, {}),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )


def _anchor(heading: str) -> str:
    """Return a heading's anchor, in the usual Markdown style.

    Example:
        >>> _anchor("PF Figure 3a. Mode: error")
        'pf-figure-3a-mode-error'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _table_row(cells: Sequence[str]) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# ---- claims ----------------------------------------------------------------------------------------

_CLAIMS_NOTE = (
    "“Proved by computation” means that exact or ball arithmetic decided every case of the range given; "
    "“consistent with a search”, that a search found nothing against the claim. In a witness, outcomes are "
    "positions counted from 0."
)


def tally(results: Sequence[CheckedClaim]) -> dict[str, int]:
    """Count the claims with each verdict, in the order of the verdicts."""
    counts = Counter(result.finding.verdict for result in results)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, FAILED) if counts[verdict]}


def claims_summary(results: Sequence[CheckedClaim]) -> str:
    """Return one line with the number of claims, their verdicts, and the time."""
    parts = ", ".join(f"{count} {verdict}" for verdict, count in tally(results).items())
    seconds = sum(result.seconds for result in results)
    return f"{counted(len(results), 'claim')} in {seconds:.0f} s: {parts}."


def by_paper(results: Sequence[CheckedClaim]) -> list[tuple[Paper, list[CheckedClaim]]]:
    """Group the results by paper; papers without results are left out."""
    grouped = [
        (paper, [r for r in results if r.claim.paper == key]) for key, paper in PAPERS.items()
    ]
    return [(paper, found) for paper, found in grouped if found]


def on_one_line(value: Any) -> str:
    """Return a number, list or dictionary of a finding as one line of text.

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
    failed = finding.verdict == FAILED  # an exception's message is not our text
    rows.append(("evidence", _plain(finding.evidence) if failed else finding.evidence))
    rows += [(name, on_one_line(value)) for name, value in finding.numbers.items()]
    if finding.witness is not None:
        rows.append(("witness", on_one_line(finding.witness)))
    rows.append(("time", f"{result.seconds:.2f} s"))
    return rows


def claims_markdown(results: Sequence[CheckedClaim]) -> str:
    """Return the report of claims as Markdown: a summary, then a table and the evidence for each paper."""
    lines = ["# The papers' claims, checked", "", claims_summary(results), "", _CLAIMS_NOTE, ""]
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
    """Return the report of claims as one HTML file."""
    return _page(claims_markdown(results))


# ---- figures ---------------------------------------------------------------------------------------

_MARKS = {
    AGREES: ("✓", "agreeing"),
    CLOSE: ("≈", "close"),
    DIFFERS: ("✗", "differing"),
    NEW: ("+", "new"),
    NOT_COMPARED: ("–", NOT_COMPARED),
}
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


def write_figures_report(results: Sequence[DrawnFigure], scope: Scope, out: Path) -> list[Path]:
    """Write ``index.html``, ``report.md`` and ``numbers.csv`` into the folder; return their paths."""
    text = figures_markdown(results, scope)
    parts = {
        "index.html": _with_images(_page(text), out),
        "report.md": text,
        "numbers.csv": numbers(results),
    }
    for name, content in parts.items():
        write_file(out / name, content.encode())
    return [out / name for name in parts]


def figures_summary(results: Sequence[DrawnFigure]) -> str:
    """Return one sentence that says how many figures were drawn, and how many comparisons have each verdict.

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
    mark = _MARKS[row.verdict][0]
    told = f"**{mark}**" if row.verdict == DIFFERS else mark
    return row.quantity, row.paper, row.ours, row.difference, told, row.remark


def _differing(results: Sequence[DrawnFigure]) -> list[str]:
    """Return a Markdown list item for each value that differs from the paper's, with a link to its figure."""
    every = all_figures()
    return [
        f"- {_link(every[result.id].heading, every[result.id])}: {row.quantity}: the paper has "
        f"{row.paper}, ours {row.ours}" + (f" ({row.remark})." if row.remark else ".")
        for result in results
        for row in result.comparisons
        if row.verdict == DIFFERS
    ]


def _link(words: str, figure: Figure) -> str:
    return f"[{words}](#{_anchor(figure.heading)})"


def figures_markdown(results: Sequence[DrawnFigure], scope: Scope) -> str:
    """Return the report of figures as Markdown, with links to the image files beside it."""
    lines = ["# The papers, reproduced", "", f"discreet {__version__}", ""]
    for paragraph in _introduction(results, scope):
        lines += [paragraph, ""]
    grouped = _grouped(results)
    lines += [" ".join(_link(figure.id, figure) for _, own in grouped for figure, _ in own), ""]
    differing = _differing(results)
    if differing:
        lines += ["## What differs", "", *differing, ""]
    for title, own in grouped:
        lines += [f"## {title}", ""]
        for figure, result in own:
            lines += [f"### {figure.heading}", ""]
            if result.error is not None:
                lines += [f"**Not drawn**: {_plain(result.error)}", ""]
                continue
            seen = f"{figure.heading}. {' '.join(figure.subtitle)}"
            lines += [f"![{seen}](figures/{figure.id}.png)", ""]
            lines += [f"**Trouble**: {_plain(trouble)}\n" for trouble in result.troubles]
            if result.comparisons:
                lines += [_table_row(_HEADINGS), "|" + "---|" * len(_HEADINGS)]
                lines += [_table_row(_cells(row)) for row in result.comparisons]
                lines.append("")
            lines += [f"{remark}\n" for remark in result.remarks]
            files = (f"[{each.upper()}](figures/{figure.id}.{each})" for each in SUFFIXES)
            lines += [" ".join(files), ""]
    return "\n".join(lines).rstrip() + "\n"


def _with_images(page: str, out: Path) -> str:
    """Return the page with its drawings embedded.

    Each drawing is a separate image, so names inside one cannot clash with names in another.
    """

    def inside(found: re.Match[str]) -> str:
        content = base64.b64encode((out / f"{found[1]}.svg").read_bytes()).decode()
        return f'src="data:image/svg+xml;base64,{content}"'

    return re.sub(r'src="(figures/[\w-]+)\.png"', inside, page)


def numbers(results: Sequence[DrawnFigure]) -> str:
    """Return all comparisons as CSV."""
    rows = [
        {"figure": result.id, **asdict(row)} for result in results for row in result.comparisons
    ]
    return as_csv(rows, ("figure", *(field.name for field in fields(PaperValue))))
