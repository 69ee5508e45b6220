"""The report: Markdown and one HTML file that loads nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from discreet.papers import FAILED, PROVED, REFUTED, CheckedClaim, Claim, Finding
from discreet.papers.report import claims_html, claims_markdown, claims_summary, on_one_line, tally


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
    """Collects what a page would load, and checks that elements are closed in order."""

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
