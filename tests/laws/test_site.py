"""The documentation site builds without a warning, and asks nobody for anything when it is read."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from discreet.papers import VERDICTS, all_claims
from tests.tools.waiting import PATIENCE

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
    """The addresses on a page: those that are fetched, those that wait for a click, and what they may hit."""

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
    """What a builder makes of the documentation, with warnings as errors, unless it makes a part."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", builder]
    # Of a part it warns that the index for searching will be one of this part.
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
    """The whole site, in a plain dress: its own takes a second for each page, for a list of all pages."""
    return _built(tmp_path_factory.mktemp("site"), "html")


@pytest.fixture(scope="module")
def dressed(site: Path) -> Path:
    """One page of every kind as a reader sees it."""
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
    for words in ("--groups-per-person NUMBER", "Instead of --user: every row is another person"):
        assert words in manual
        assert words in page
    assert "discreet budget head visits &gt; visits.head" in page


def test_the_page_of_claims_is_the_list_of_claims() -> None:
    text = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    listed = re.findall(r"^`([\w.-]+/[\w.-]+)`$", text, re.MULTILINE)
    assert listed == [entry.id for entry in all_claims()], "make pages writes it anew"
    told = re.findall(r"^\*\*([\w ]+)\*\*$", text, re.MULTILINE)
    assert len(told) == len(listed)
    assert set(told) <= set(VERDICTS)
