"""Take the site's screenshots in real Chromium into ``docs/_static``: ``explorer``, ``desk``, or both."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parent.parent / "_static"
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
PATIENCE = 60_000.0
Scheme: TypeAlias = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SIZES = ((1280, 800, ""), (768, 1024, "-768"), (390, 844, "-390"))
"""Width and height of the window, and how the picture's name ends."""


@contextmanager
def _served(*words: str, until: str) -> Iterator[str]:
    """What a command that serves a page prints, up to what is looked for; it is stopped at the end."""
    server = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "discreet", *words, "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        while not re.search(until, said):
            said += server.stdout.readline() if server.stdout else ""
        yield said
    finally:
        server.terminate()
        server.wait()


def _opened(
    browser: Browser, url: str, scheme: Scheme, *, width: int = 1400, height: int = 1000
) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    return page


def _keep(page: Page, name: str, scheme: Scheme, *, whole: bool, close: bool = True) -> None:
    page.wait_for_timeout(300)  # for what fades in
    file = FOLDER / (f"{name}-dark" if scheme == "dark" else name)
    if "more" in name:  # long, and shown on no page: as JPEG it takes half the room
        page.screenshot(path=f"{file}.jpg", full_page=whole, type="jpeg", quality=50)
    else:
        page.screenshot(path=f"{file}.png", full_page=whole)
    if close:
        page.close()


def take_explorer(browser: Browser, scheme: Scheme) -> None:
    """Every view of the explorer at three widths: as on a desk, a tablet and a phone."""
    with _served("explore", until=r"http\S+\s") as said:
        url = re.findall(r"http\S+", said)[0]
        for width, height, suffix in SIZES:
            page = _opened(browser, url, scheme, width=width, height=height)
            page.locator("#results[aria-busy=false]").wait_for(state="attached")
            page.locator("#first-chart canvas").wait_for()
            _keep(page, f"explore-decide{suffix}", scheme, whole=False, close=False)
            page.locator("#more > summary").click()
            page.locator("#charts canvas").nth(4).wait_for(state="attached")
            page.locator("#record-list dt").nth(5).wait_for()
            page.evaluate("scrollTo(0, 0)")
            _keep(page, f"explore-more{suffix}", scheme, whole=True)
            page = _opened(browser, f"{url}#view=attack", scheme, width=width, height=height)
            page.locator("#game-start").click()
            for place in range(20):
                page.locator(".vote").nth(place % 2).click()
            page.locator("#game-machine").click()
            page.get_by_text("of 1,000").first.wait_for()
            page.locator("#chart-break canvas").wait_for()
            _keep(page, f"explore-attack{suffix}", scheme, whole=True)
            page = _opened(browser, f"{url}#view=audit", scheme, width=width, height=height)
            page.get_by_role("button", name="Permute-and-flip has bounded range").click()
            page.locator("#audit-result canvas").nth(2).wait_for()
            _keep(page, f"explore-audit{suffix}", scheme, whole=True)


def take_desk(browser: Browser, scheme: Scheme) -> None:
    """An analyst's page after one question, and after a study."""
    with _served("desk", "demo", until=r"epidemiology\s+\S+\s") as said:
        url = re.findall(r"http\S+", said)[0]
        page = _opened(browser, url, scheme, width=1280, height=800)
        page.locator("#token").fill(re.findall(r"epidemiology\s+(\S+)", said)[0])
        page.keyboard.press("Enter")
        page.locator("#kind").select_option("top_k")
        page.locator("#epsilon").fill("0.5")
        page.locator("#pay:not([disabled])").click()
        page.locator("#history button").first.wait_for()
        page.locator("#pay:not([disabled])").wait_for()
        _keep(page, "desk", scheme, whole=False, close=False)
        page.locator("[data-view=study]").click()
        page.locator("#study-add").click()
        page.locator("[data-view=form]").click()
        page.locator("#kind").select_option("mode")
        page.locator("[data-view=study]").click()
        page.locator("#study-add").click()
        page.locator("#study [type=submit]").click()
        page.locator("#study-run:not([disabled])").click()
        page.get_by_text("All of it is paid").wait_for()
        page.locator("#study-rows button").first.click()
        page.evaluate("scrollTo(0, 0)")
        _keep(page, "desk-study", scheme, whole=False)


if __name__ == "__main__":
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM)
        )
        chosen = sys.argv[1:] or ("explorer", "desk")
        for colours in SCHEMES:
            for name, take in (("explorer", take_explorer), ("desk", take_desk)):
                if name in chosen:
                    take(running, colours)
        running.close()
