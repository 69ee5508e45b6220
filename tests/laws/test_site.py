"""The documentation site builds without warnings, and sends no requests when it is read."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from discreet.papers import all_claims
from discreet.papers.recorded import recorded
from tests.tools.browser import browser, patient_page
from tests.tools.waiting import PATIENCE

__all__ = ["browser"]  # a fixture

ROOT = Path(__file__).parents[2]
FETCHED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "use": "href",
}
"""What a browser fetches by itself, without a click."""


class _Page(HTMLParser):
    """The addresses on a page: loaded at once, loaded on a click, and link targets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.targets.add(str(values["id"]))
        wanted = values.get(FETCHED.get(tag, ""))
        if wanted and values.get("rel") != "canonical":
            self.fetched.append(wanted)
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))


def _built(out: Path, builder: str, *files: str, theme: str = "basic") -> Path:
    """Build the documentation with one builder; warnings are errors, unless only a part is built."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", builder]
    # A partial build warns that the search index covers only this part.
    command += [] if files else ["-W", "--keep-going"]
    command += ["-D", f"html_theme={theme}", "-d", str(out / "doctrees")]
    made = out / f"{builder}-{theme}"
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(made), *(str(ROOT / "docs" / file) for file in files)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return made


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site in a plain theme; its own theme takes a second per page to list all pages."""
    return _built(tmp_path_factory.mktemp("site"), "html")


@pytest.fixture(scope="module")
def dressed(site: Path) -> Path:
    """One page of every kind, in the real theme."""
    files = ("index.md", "proofs/permute-and-flip.md", "command-line.md", "benchmarks.md")
    return _built(site.parent, "html", *files, theme="furo")


def _pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_no_page_asks_a_server(site: Path, dressed: Path) -> None:
    pages = _pages(site) | _pages(dressed)
    assert len(pages) > 30
    assert "furo.js" in (dressed / "index.html").read_text(encoding="utf-8")
    for path, page in pages.items():
        for address in page.fetched:
            assert not re.match(r"(https?:)?//", address), f"{path.name} fetches {address}"
    for sheet in [*dressed.rglob("*.css"), *dressed.rglob("*.svg")]:
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", text), sheet.name


def test_links_within_the_site_arrive(site: Path) -> None:
    pages = _pages(site)
    missing = []
    for path, page in pages.items():
        for link in page.links + page.fetched:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, fragment = link.partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            lost = fragment and target in pages and fragment not in pages[target].targets
            if lost or not target.exists():
                missing.append(f"{path.name} -> {link}")
    assert not missing, missing[:10]


def test_the_charts_of_the_benchmarks_show_the_recorded_tables_and_stand_before_them() -> None:
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    pictures = importlib.import_module("benchmark_pictures")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    sections = page.split("\n## ")[1:]
    for name, chart in pictures.CHARTS.items():
        kept = (pictures.FOLDER / f"benchmark-{name}.svg").read_text(encoding="utf-8")
        assert kept == pictures.drawn(chart), f"{name}: run docs/_extensions/benchmark_pictures.py"
        (section,) = (part for part in sections if f"/benchmark-{name}.svg" in part)
        shown, table = f"/benchmark-{name}.svg", f"/results/{chart.source}.md"
        assert section.index(shown) < section.index(table)
    for section in sections:
        source = re.findall(r"/results/(\w+)\.md", section)
        title = (ROOT / "benchmarks" / "results" / f"{source[0]}.md").read_text("utf-8")
        assert title.startswith(f"# {section.partition(chr(10))[0]}\n")


def test_the_reference_says_what_a_person_may_pass(site: Path) -> None:
    pages = sorted((site / "reference").glob("*.html"))
    assert any("int, float, Fraction, Decimal or str" in page.read_text("utf-8") for page in pages)
    for page in pages:
        untyped = re.findall(
            r"<strong>(\w+)</strong> \(<em>object</em>\) –", page.read_text("utf-8")
        )
        assert not untyped, f"{page.name}: {untyped}"


def test_formulas_are_rendered_in_the_page(site: Path) -> None:
    page = (site / "proofs" / "permute-and-flip.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "mathjax.js" not in page.lower()


def test_the_manual_page_has_every_command_and_option(site: Path) -> None:
    roff = (_built(site.parent, "man") / "discreet.1").read_text(encoding="utf-8")
    manual = roff.replace("\\-", "-")
    page = (site / "command-line.html").read_text(encoding="utf-8")
    for words in ("discreet mode", "discreet demo-data", "discreet budget accept-clock"):
        assert f".SS {words}\n" in manual
        assert f'id="{words.replace(" ", "-")}"' in page
    for words in (
        "--groups-per-person NUMBER",
        "Instead of --user: every row is a different person",
    ):
        assert words in manual
        assert words in page
    assert "discreet budget head visits &gt; visits.head" in page


def make_id(name: str) -> str:
    """Return the anchor of a claim."""
    return re.sub(r"[^a-z0-9]+", "-", name)


def test_every_claim_has_a_card_with_its_verdict_and_refuted_ones_come_first(site: Path) -> None:
    text = (site / "claims.html").read_text(encoding="utf-8")
    cards = re.findall(r'class="card verdict-(\w+)[^"]*" id="([\w-]+)"', text)
    assert len(cards) == len(all_claims())
    assert {name for _, name in cards} == {make_id(entry.id) for entry in all_claims()}
    kinds = [kind for kind, _ in cards]
    assert kinds == sorted(kinds, key=["refuted", "consistent", "not", "proved"].index)
    for entry in all_claims():
        verdict = recorded().findings[entry.id]["verdict"]
        part = text.partition(f'id="{make_id(entry.id)}"')[2]
        assert part.partition('class="verdict">')[2].startswith(f"{verdict}<"), entry.id
    assert text.count("<details><summary>Evidence") == len(cards)


def test_the_observatory_shows_each_row_of_its_tables_as_a_card(site: Path) -> None:
    source = (ROOT / "docs" / "observatory.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|(?: [^|]+ \|){6}$", source, re.MULTILINE)
    text = (site / "observatory.html").read_text(encoding="utf-8")
    assert text.count('class="card verdict-') == len(rows) - 2  # without the headings
    assert text.count('class="card-filters"') == 2


def test_a_search_for_a_card_that_finds_nothing_says_so(browser: Browser) -> None:
    page = patient_page(browser, width=800, height=600, scheme="light")
    buttons = "".join(
        f'<button data-verdict="{words}" data-words="{words}">{name}</button>'
        for name, words in (("all (2)", ""), ("refuted (1)", "refuted"))
    )
    cards = "".join(
        f'<div class="card"><span class="verdict">{verdict}</span> {words}</div>'
        for verdict, words in (("refuted", "a bound"), ("proved", "a theorem"))
    )
    page.set_content(
        f'<div class="card-filters" hidden><input>{buttons}</div><div class="cards">{cards}</div>'
    )
    page.add_script_tag(path=ROOT / "docs" / "_static" / "cards.js")
    said, field = page.get_by_role("status"), page.locator("input")
    for words, button, wanted in (
        ("theorem", "all (2)", ""),
        ("nobody", "all (2)", "Nothing matches."),
        (
            "theorem",
            "refuted (1)",
            "Nothing matches among “refuted”: choose “all” to search every card.",
        ),
        ("bound", "refuted (1)", ""),
    ):
        page.get_by_role("button", name=button).click()
        field.fill(words)
        assert said.text_content() == wanted
    page.context.close()


QUERIES = {
    "epsilon": "epsilon",
    "GDPR": "officer",
    "DPIA": "officer",
    "percentile": "tutorials/median-and-quantiles",
    "getting started": "start",
    "histogram": "peers",
    "mean": "peers",
    "average": "peers",
    "synthetic data": "peers",
    "pip": "install",
    "SQL": "databases",
    "privacy budget": "tutorials/team-budget",
    "hyperparameters": "tutorials/honest-tuning",
    "feature selection": "tutorials/feature-selection",
    "months": "tutorials/weeks-and-months",
    "Jupyter": "tutorials/notebook",
    "sparse vector": "tutorials/first-week-above",
    "Coq": "proofs/checked-by-coq",
    "counterexample": "claims",
    "BibTeX": "cite",
    "seed": "start",
    "speed": "benchmarks",
    "MCP": "desk",
    "scikit-learn": "tutorials/feature-selection",
    "PermuteAndFlip": "reference/discreet.PermuteAndFlip",
}
"""What people type, and the page that must come first."""


def test_a_search_finds_the_page_that_people_mean(site: Path, browser: Browser) -> None:
    """Uses the site's own search on the built index."""
    page = patient_page(browser, width=1280, height=800, scheme="light")
    page.goto((site / "search.html").as_uri())
    page.wait_for_function("Search.hasIndex()")
    script = "query => Search._performSearch(...Search._parseQuery(query)).reverse()"
    for query, wanted in QUERIES.items():
        found = page.evaluate(script, query)
        assert found, query
        assert found[0][0] == wanted, f"{query}: {[each[0] for each in found[:4]]}"
    # Pages come before the many properties of that name.
    kinds = [(each[6], each[3] or "") for each in page.evaluate(script, "epsilon")]
    property_ = [place for place, (_, words) in enumerate(kinds) if "property" in words]
    pages = [place for place, (kind, _) in enumerate(kinds) if kind in ("text", "title")]
    assert property_
    assert min(property_) > 20 > pages[0]
    page.context.close()


def test_words_to_search_by_lead_to_headings_that_exist(site: Path) -> None:
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    pages = _pages(site)
    words = importlib.import_module("search_words").WORDS
    for place in words:
        name, _, target = place.partition("#")
        assert not target or target in pages[site / f"{name}.html"].targets, place
    listed = [word for line in words.values() for word in line.split(", ")]
    assert len(set(listed)) == len(listed)


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""

    def lightness(colour: str) -> float:
        parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(lightness, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_pictures_are_dark_in_the_dark_by_colours_of_their_own() -> None:
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    shown = importlib.import_module("shown_pictures")
    pictures = [
        path for path in (ROOT / "docs" / "_static").rglob("*.svg") if "dark" not in path.parts
    ]
    assert len(pictures) > 30
    for path in pictures:
        svg = path.read_text(encoding="utf-8")
        dark = shown.twin(svg)
        assert "white" not in re.findall(r'fill="(\w+)"', dark)
        for colour in re.findall(r'<text[^>]* fill="(#\w{6})"', dark):
            assert _contrast(colour, shown.PAPER) > 4.5, f"{path.name}: text in {colour}"
        for colour in re.findall(r'<(?:circle|rect|path)[^>]*fill="(#\w{6})"', dark):
            if path.name.startswith("benchmark-") and colour != shown.PAPER:
                assert _contrast(colour, shown.PAPER) > 3, f"{path.name}: a mark in {colour}"


def test_every_picture_says_what_it_shows(site: Path) -> None:
    """A chart's text is generated from its data."""
    for path in sorted(site.rglob("*.html")):
        for tag in re.findall(r"<img\b[^>]*>", path.read_text(encoding="utf-8")):
            text = re.search(r'alt="([^"]*)"', tag)
            assert text, f"{path.name}: {tag}"
            assert len(text[1]) > 20, f"{path.name}: {tag}"
    page = (site / "tutorials" / "choosing-epsilon.html").read_text(encoding="utf-8")
    assert "permute-and-flip from 7.16 at 0.05 to 0.0778 at 1" in page
    page = (site / "benchmarks.html").read_text(encoding="utf-8")
    assert "permute-and-flip 0.145 to 0.61" in page
    assert page.count("<details><summary>Table:") == page.count("<table")
