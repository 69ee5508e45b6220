"""The report: Markdown, and one HTML file that loads nothing from outside."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from discreet.papers import (
    FAILED,
    PROVED,
    REFUTED,
    CheckedClaim,
    Claim,
    DrawnFigure,
    Finding,
    Scope,
    chosen_figures,
    draw,
)
from discreet.papers.histograms import NAMES
from discreet.papers.report import (
    claims_html,
    claims_markdown,
    claims_summary,
    figures_markdown,
    figures_summary,
    numbers,
    on_one_line,
    tally,
    write_figures_report,
)


@pytest.fixture(name="results")
def made_up_results() -> list[CheckedClaim]:
    def never(_scope: object) -> Finding:
        raise AssertionError

    return [
        CheckedClaim(
            Claim("noisy-max", "Lemma 1 | <b>", "A < B & |T| = 1.", never),
            Finding(REFUTED, "all n", "see <script>", {"pairs": 3}, {"scores": [1, 0]}),
            1.25,
        ),
        CheckedClaim(
            Claim("discreet", "Ours", "It holds.", never), Finding(PROVED, "n ≤ 3", "exactly"), 0.5
        ),
    ]


def test_summary_and_tally(results: list[CheckedClaim]) -> None:
    assert tally(results) == {PROVED: 1, REFUTED: 1}
    assert claims_summary(results) == "2 claims in 2 s: 1 proved by computation, 1 refuted."
    failed = CheckedClaim(results[0].claim, Finding(FAILED, "", "broke"), 0.0)
    assert tally([failed]) == {FAILED: 1}


def test_markdown_has_every_claim(results: list[CheckedClaim]) -> None:
    text = claims_markdown(results)
    assert "| Lemma 1 \\| <b> | A < B & \\|T\\| = 1. | **refuted** |" in text
    assert "- witness: scores: (1, 0)" in text
    assert "- checked on: n ≤ 3" in text
    assert text.endswith("\n")


class _Outside(HTMLParser):
    """A parser that collects what a page would load, and checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "link", "img"}:
            self.open.append(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "href"}]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_escaped_and_loads_nothing(results: list[CheckedClaim]) -> None:
    page = claims_html(results)
    parser = _Outside()
    parser.feed(page)
    assert parser.open == []
    assert parser.loads == []
    assert "<script" not in page
    assert "url(" not in page
    assert "see &lt;script&gt;" in page
    assert "A &lt; B &amp; |T| = 1." in page


def test_on_one_line() -> None:
    assert on_one_line({"a": [1, {"b": 2}]}) == "a: (1, b: 2)"


# ---- figures ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[DrawnFigure]]:
    out = tmp_path_factory.mktemp("report")
    results = draw(
        chosen_figures(["pf-fig1a", "pf-fig3c", "err-fig8"]), Scope(quick=True), out, workers=1
    )
    write_figures_report(results, Scope(quick=True), out)
    return out, results


def test_the_page_opens_offline(report: tuple[Path, list[DrawnFigure]]) -> None:
    page = (report[0] / "index.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert "@import" not in page
    assert page.count('src="data:image/svg+xml;base64,') == 3
    for link in re.findall(r'href="(figures/[^"]+)"', page):
        assert (report[0] / link).is_file()
    for target in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{unquote(target)}"' in page
    assert "synthetic" in page
    assert "What differs" in page


def test_the_markdown_says_the_same(report: tuple[Path, list[DrawnFigure]]) -> None:
    text = (report[0] / "report.md").read_text(encoding="utf-8")
    assert text == figures_markdown(report[1], Scope(quick=True))
    for image in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (report[0] / image).is_file()
    for result in report[1]:
        for row in result.comparisons:
            assert row.ours.replace("|", "\\|") in text
    assert figures_summary(report[1]) in text


def test_the_numbers_are_a_table(report: tuple[Path, list[DrawnFigure]]) -> None:
    rows = list(csv.DictReader(io.StringIO(numbers(report[1]))))
    assert len(rows) == sum(len(result.comparisons) for result in report[1])
    assert {row["figure"] for row in rows} == {"pf-fig1a", "pf-fig3c", "err-fig8"}
    table = (report[0] / "figures" / "pf-fig1a.csv").read_text(encoding="utf-8")
    points = list(csv.DictReader(io.StringIO(table)))
    assert {row["series"] for row in points} == {"PF", "EM"}
    assert max(float(row["y"]) for row in points) == pytest.approx(0.926, abs=0.002)


def test_the_drawing_is_whole_and_has_its_words(report: tuple[Path, list[DrawnFigure]]) -> None:
    svg = (report[0] / "figures" / "pf-fig3c.svg").read_text(encoding="utf-8")
    for words in ("PF Figure 3c", "SYNTHETIC look-alike data", "HEPTH", "permute-and-flip"):
        assert words in svg
    png = (report[0] / "figures" / "pf-fig3c.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") > 800
    marker = json.loads((report[0] / "figures" / "pf-fig3c.json").read_text(encoding="utf-8"))
    assert marker["result"]["synthetic"] == list(NAMES)
