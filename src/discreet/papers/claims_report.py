"""The catalogue's results as a Markdown or a self-contained HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from discreet.papers.catalogue import FAILED, PAPERS, VERDICTS, Paper, Result

_STYLE = """
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


_NOTE = (
    "“Proved by computation” means that exact or ball arithmetic decided every case of the range given; "
    "“consistent with a search”, that a search found nothing against the claim. In a witness, outcomes are "
    "positions counted from 0."
)


def tally(results: Sequence[Result]) -> dict[str, int]:
    """How many claims have each verdict, in the order of the verdicts."""
    counts = Counter(result.finding.verdict for result in results)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, FAILED) if counts[verdict]}


def summary(results: Sequence[Result]) -> str:
    """One line: how many claims, how they came out, how long it took."""
    parts = ", ".join(f"{count} {verdict}" for verdict, count in tally(results).items())
    seconds = sum(result.seconds for result in results)
    return f"{len(results)} claims in {seconds:.0f} s: {parts}."


def _grouped(results: Sequence[Result]) -> list[tuple[Paper, list[Result]]]:
    return [
        (paper, found)
        for paper in PAPERS.values()
        if (found := [result for result in results if result.claim.paper == paper.key])
    ]


def shown(value: Any) -> str:
    """A number, list or table of a finding on one line."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    return str(value)


def _details(result: Result) -> list[tuple[str, str]]:
    finding = result.finding
    rows = [("checked on", finding.covered)] if finding.covered else []
    rows.append(("evidence", finding.evidence))
    rows += [(name, shown(value)) for name, value in finding.numbers.items()]
    if finding.witness is not None:
        rows.append(("witness", shown(finding.witness)))
    rows.append(("time", f"{result.seconds:.2f} s"))
    return rows


def markdown(results: Sequence[Result]) -> str:
    """The whole report as Markdown: a summary, a table per paper, then the evidence."""
    lines = ["# The papers' claims, checked", "", summary(results), "", _NOTE, ""]
    for paper, found in _grouped(results):
        lines += [f"## {paper.title}", "", f"{paper.authors}", ""]
        lines += ["| claim | statement | verdict |", "|---|---|---|"]
        lines += [
            f"| {_cell(r.claim.number)} | {_cell(r.claim.statement)} | {_emphasis(r.finding.verdict)} |"
            for r in found
        ]
        lines.append("")
        for result in found:
            lines += [f"### {result.claim.number}", "", f"`{result.claim.id}`", ""]
            lines += [result.claim.statement, "", f"**{result.finding.verdict}**", ""]
            lines += [f"- {name}: {text}" for name, text in _details(result)]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _emphasis(verdict: str) -> str:
    return f"**{verdict}**" if verdict not in VERDICTS[:2] else verdict


def html(results: Sequence[Result]) -> str:
    """The whole report as one HTML file that loads nothing."""
    rows = "".join(
        f'<tr><td class="verdict {_class(verdict)}">{verdict}</td><td>{count}</td></tr>'
        for verdict, count in tally(results).items()
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>The papers' claims, checked</title><style>{_STYLE}</style></head><body>",
        f"<h1>The papers' claims, checked</h1><p>{escape(summary(results))}</p>",
        f"<p>{escape(_NOTE)}</p><table>{rows}</table>",
    ]
    for paper, found in _grouped(results):
        parts.append(f"<h2>{escape(paper.title)}</h2><p>{escape(paper.authors)}</p>")
        parts += [_article(result) for result in found]
    return "\n".join([*parts, "</body></html>", ""])


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _article(result: Result) -> str:
    verdict = result.finding.verdict
    details = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in _details(result)
    )
    return (
        f'<article id="{escape(result.claim.id)}"><h3>{escape(result.claim.number)}: '
        f'<span class="verdict {_class(verdict)}">{escape(verdict)}</span></h3>'
        f"<p>{escape(result.claim.statement)}</p><dl>{details}</dl></article>"
    )
