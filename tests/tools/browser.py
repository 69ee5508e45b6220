"""Fixtures for the page: its state, a running server, and a real browser whose requests are recorded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from discreet.explore import jobs
from discreet.explore.server import PageServer
from tests.tools import waiting

STATE: dict[str, Any] = {
    "source": "example:clinic",
    "edits": {},
    "epsilon": "0.25",
    "sensitivity": "1",
    "monotonic": True,
    "releases": 10,
    "delta": "1e-6",
    "mechanisms": ["permute-and-flip", "exponential", "noisy-max-laplace"],
    "choice": "permute-and-flip",
    "tolerance": "10",
    "level": "0.95",
    "worlds": 2,
    "missing": False,
    "risk": "0.9",
}
PATIENCE = 150_000.0
"""Timeout for each step in a browser, in milliseconds; on a busy machine a step takes seconds."""
expect.set_options(timeout=PATIENCE)
DRAWN = "#charts figure:has(canvas), #charts figure:has(.canvas > .waiting:not([hidden]))"
"""Selects charts that are drawn, or that state why there is nothing to draw."""
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


@pytest.fixture
def state() -> dict[str, Any]:
    """The state that a fresh page sends."""
    return {**STATE, "edits": {}}


@pytest.fixture(scope="session")
def server() -> Iterator[PageServer]:
    """A server on a free port of the loopback interface; it does not give up on slow pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "FORGOTTEN_AFTER", waiting.PATIENCE)
        with PageServer().in_background() as running:
            yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, with all its background requests switched off.

    One per test file: while Playwright runs, its event loop holds this thread, and other tests could not
    start a loop.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        message = "chromium is not installed: the page is not tested in a browser"
        if os.environ.get("DISCREET_REQUIRE_SERVICES"):
            pytest.fail(message)
        pytest.skip(message)
    arguments = [*CHROMIUM, "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=arguments)
        yield running
        running.close()


def patient_page(browser: Browser, *, width: int, height: int, scheme: Any) -> Page:
    """Open a page in its own context, with timeouts for a busy machine."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
    )
    context.set_default_timeout(PATIENCE)
    return context.new_page()


class Visit:
    """One page, its requests, and its error messages."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.addresses: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.addresses.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self._heard(message.type, message.text))

    def _heard(self, kind: str, text: str) -> None:
        # Some tests are about refused or unanswered requests, which the page reports in words.
        if kind == "error" and "Failed to load resource" not in text:
            self.complaints.append(text)

    def open(self, fragment: str = "") -> Visit:
        self.page.goto(self.url + fragment)
        # Charts in a hidden view are not drawn.
        return self.settled(charts=0 if "view=" in fragment else 5)

    def settled(self, charts: int = 5) -> Visit:
        """Wait until every figure is shown and every chart is drawn."""
        done = self.page.locator("#results[aria-busy=false]:not(.stale)")
        done.wait_for(state="attached", timeout=PATIENCE)
        if charts:
            self._open_more()
            last = self.page.locator(DRAWN).nth(charts - 1)
            last.wait_for(state="attached", timeout=PATIENCE)
        return self

    def _open_more(self) -> None:
        self.page.evaluate("document.querySelector('#more').open = true")

    def figures(self) -> dict[str, str]:
        """Return the table of figures, as text by mechanism."""
        self._open_more()
        rows = self.page.locator("#now tbody tr")
        return {row.locator("th").inner_text().strip(): row.inner_text() for row in rows.all()}


@pytest.fixture
def visit(server: PageServer, browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Open pages; at the end check that no request left the machine and no error was raised."""
    visits: list[Visit] = []

    def go(*, width: int = 1440, height: int = 900, scheme: Any = "light", url: str = "") -> Visit:
        page = patient_page(browser, width=width, height=height, scheme=scheme)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        visits.append(Visit(page, url or server.url))
        return visits[-1]

    yield go
    for one in visits:
        one.page.context.close()
        assert one.complaints == []
        strangers = [
            address
            for address in one.addresses
            if not address.startswith((f"{one.url.rpartition('/')[0]}/", "blob:", "data:"))
        ]
        assert strangers == []


@pytest.fixture(scope="session")
def pictures() -> Path | None:
    """Return the folder for screenshots (DISCREET_SCREENSHOTS), or None to take none."""
    chosen = os.environ.get("DISCREET_SCREENSHOTS")
    if chosen is None:
        return None
    folder = Path(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
