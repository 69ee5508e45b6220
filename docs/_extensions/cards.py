"""Verdicts as cards: refuted ones first, the evidence folded, filters for readers with a script.

``{claims}`` shows the recorded verdict on every claim of the papers. A table of audits, as on the page of
the observatory, becomes cards, so that its source stays a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from discreet.papers import all_claims
from discreet.papers.catalogue import PAPERS
from discreet.papers.recorded import recorded

ORDER = ("refuted", "suspect", "consistent", "not", "proved")
"""The first words of verdicts, in the order in which cards are shown."""
_AUDITED = ("library", "version", "mechanism", "claim", "verdict", "witness")
_NAMES = {
    "covered": "Checked on",
    "evidence": "Evidence",
    "numbers": "Numbers",
    "witness": "Witness",
}


def _kind(verdict: str) -> str:
    """The first word of a verdict, which has a colour: "not refuted" and "not checkable" share one."""
    return verdict.split(maxsplit=1)[0].strip(",")


def card(
    verdict: str, title: str, words: Sequence[nodes.Node], folded: Sequence[nodes.Node], name: str
) -> nodes.container:
    """One verdict: its colour, what it is about, and the evidence behind a click."""
    box = nodes.container(classes=["card", f"verdict-{_kind(verdict)}"], ids=[nodes.make_id(name)])
    box += nodes.paragraph(
        "",
        "",
        nodes.inline(text=verdict, classes=["verdict"]),
        nodes.Text(" "),
        nodes.strong(text=title),
    )
    box += words
    if folded:
        box += nodes.raw("", "<details><summary>Evidence</summary>", format="html")
        box += folded
        box += nodes.raw("", "</details>", format="html")
    return box


def arranged(cards: Sequence[tuple[str, nodes.container]]) -> list[nodes.Node]:
    """The cards by verdict, below buttons that show one verdict only."""
    counts = Counter(verdict.split(",")[0].split(" (")[0] for verdict, _ in cards)
    buttons = "".join(
        f'<button type="button" data-verdict="verdict-{_kind(verdict)}" data-words="{escape(verdict)}">'
        f"{escape(verdict)} ({count})</button>"
        for verdict, count in sorted(counts.items(), key=lambda item: ORDER.index(_kind(item[0])))
    )
    bar = (
        '<div class="card-filters" hidden><label>Find <input type="search"></label>'
        f'<button type="button" data-verdict="">all ({len(cards)})</button>{buttons}</div>'
    )
    box = nodes.container(classes=["cards"])
    box += [one for _, one in sorted(cards, key=lambda item: ORDER.index(_kind(item[0])))]
    return [nodes.raw("", bar, format="html"), box]


class Claims(SphinxDirective):
    """``{claims}``: a card for each claim of the papers, from the record that the package ships."""

    def run(self) -> list[nodes.Node]:
        """The cards."""
        findings = recorded().findings
        cards = []
        for claim in all_claims():
            found = findings[claim.id]
            paper = PAPERS[claim.paper]
            folded = [
                nodes.paragraph(
                    "", "", nodes.strong(text=f"{words}: "), nodes.Text(str(found[name]))
                )
                for name, words in _NAMES.items()
                if found[name]
            ]
            folded.append(nodes.paragraph("", f"{paper.title}, {paper.authors}"))
            folded.append(nodes.paragraph("", "", nodes.literal(text=claim.id)))
            title = f"{claim.number}, {claim.paper.replace('-', ' ')}"
            verdict, words = str(found["verdict"]), [nodes.paragraph("", claim.statement)]
            cards.append((verdict, card(verdict, title, words, folded, claim.id)))
        return arranged(cards)


def _tables_to_cards(_app: Sphinx, doctree: nodes.document) -> None:
    for number, table in enumerate(list(doctree.findall(nodes.table))):
        heads = [entry.astext() for part in table.findall(nodes.thead) for entry in part[0]]
        if not set(_AUDITED) <= set(heads):
            continue
        cards = []
        for place, row in enumerate(row for part in table.findall(nodes.tbody) for row in part):
            cells = dict(zip(heads, row.children, strict=True))
            title = " ".join(cells[name].astext() for name in _AUDITED[:3])
            verdict = cells["verdict"].astext()
            claim = nodes.paragraph("", "Claim: ", *_inside(cells["claim"]))
            folded = [nodes.paragraph("", "", *_inside(cells["witness"]))]
            name = f"audited-{number}-{place}"
            cards.append((verdict, card(verdict, title, [claim], folded, name)))
        table.replace_self(arranged(cards))


def _inside(entry: Any) -> list[nodes.Node]:
    return [part for paragraph in entry.children for part in list(paragraph.children)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, turn tables of verdicts into cards, and bring the filters along."""
    app.add_directive("claims", Claims)
    # Before numbers are aligned, which looks at tables.
    app.connect("doctree-read", _tables_to_cards, priority=400)
    app.add_js_file("cards.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
