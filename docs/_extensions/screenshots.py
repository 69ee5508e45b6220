"""Take screenshots in real Chromium: of the ``explorer``, of the ``desk``, of the ``site``, or of all three.

Every view is taken at three widths, light and dark, into ``docs/screens``, to look at when a page
changes. The few that the site shows are PNG files in ``docs/_static``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from playwright.sync_api import Browser, Page, Route, sync_playwright

DOCS = Path(__file__).parent.parent
SITE = DOCS / "_build" / "html"
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
PATIENCE = 60_000.0
Scheme: TypeAlias = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SIZES = ((1280, 800, ""), (768, 1024, "-768"), (390, 844, "-390"))
"""Width and height of the window, and how the picture's name ends."""
SHOWN = {
    "desk",
    "desk-study",
    "explore-decide",
    "explore-decide-390",
    "explore-attack",
    "explore-audit",
}
"""The pictures that the site shows, in both colours."""
WRONG = {
    "blocked": {"status": 403, "json": {"error": "the owner of the desk must let you ask again"}},
    "out-of-time": {
        "status": 410,
        "json": {"error": "it did not finish in its slot and stays paid"},
    },
    "busy": {
        "status": 429,
        "headers": {"retry-after": "5"},
        "json": {"error": "too many requests"},
    },
}
"""Replies of a desk that a calm demonstration does not give."""
PAGES = (
    "index",
    "start",
    "choose",
    "epsilon",
    "officer",
    "observatory",
    "claims",
    "benchmarks",
    "proofs/permute-and-flip",
    "tutorials/study",
    "reference",
    "search",
)


@contextmanager
def _served(*words: str, until: str) -> Iterator[str]:
    """What a command that serves a page prints, up to what is looked for; it is stopped at the end."""
    server = subprocess.Popen(  # noqa: S603
        [sys.executable, "-u", "-m", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # where a server writes a line per request
        text=True,
    )
    try:
        said = ""
        while not re.search(until, said):
            line = server.stdout.readline() if server.stdout else ""
            if not line:
                raise SystemExit(f"{' '.join(words)} ended early")
            said += line
        yield said
    finally:
        server.terminate()
        server.wait()


def _keep(page: Page, name: str, *, whole: bool = False) -> None:
    page.wait_for_timeout(300)  # for what fades in
    width = page.viewport_size["width"] if page.viewport_size else 0
    name += next(suffix for each, _, suffix in SIZES if each == width)
    dark = "-dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else ""
    if name in SHOWN:
        page.screenshot(path=DOCS / "_static" / f"{name}{dark}.png", full_page=whole)
    else:
        path = DOCS / "screens" / f"{name}{dark}.jpg"
        page.screenshot(path=path, full_page=whole, type="jpeg", quality=40)


def take_explorer(opened: Callable[[str], Page]) -> None:
    """Every view of the explorer."""
    with _served("discreet", "explore", "--no-browser", until=r"http\S+\s") as said:
        url = re.findall(r"http\S+", said)[0]
        page = opened(url)
        page.locator("#results[aria-busy=false]").wait_for(state="attached")
        page.locator("#first-chart canvas").wait_for()
        _keep(page, "explore-decide")
        page.locator("#more > summary").click()
        page.locator("#charts canvas").nth(4).wait_for(state="attached")
        page.locator("#record-list dt").nth(5).wait_for()
        page.evaluate("scrollTo(0, 0)")
        _keep(page, "explore-more", whole=True)
        page = opened(f"{url}#view=attack")
        page.locator("#game-start").click()
        for place in range(20):
            page.locator(".vote").nth(place % 2).click()
        page.locator("#game-machine").click()
        page.get_by_text("of 1,000").first.wait_for()
        page.locator("#chart-break canvas").wait_for()
        _keep(page, "explore-attack", whole=True)
        page = opened(f"{url}#view=audit")
        page.get_by_role("button", name="Permute-and-flip has bounded range").click()
        page.locator("#audit-result canvas").nth(2).wait_for()
        _keep(page, "explore-audit", whole=True)


def take_desk(opened: Callable[[str], Page]) -> None:
    """An analyst's page: before and after a question, a study, and everything that can go wrong."""
    with _served("discreet", "desk", "demo", "--no-browser", until=r"epidemiology\s+\S+\s") as said:
        page = opened(re.findall(r"http\S+", said)[0])
        _keep(page, "desk-door")
        page.locator("#token").fill(re.findall(r"epidemiology\s+(\S+)", said)[0])
        page.keyboard.press("Enter")
        ready = page.locator("#pay[aria-disabled=false]")
        ready.wait_for()
        _keep(page, "desk-plan")
        page.locator("#field-by").select_option("clinic")
        page.locator("#epsilon").fill("0.02")
        page.locator(".badge[data-state=bad]").wait_for()
        _keep(page, "desk-worthless")
        page.locator("#field-by").select_option("")
        page.locator("#epsilon").fill("500")
        page.get_by_text("is not allowed").wait_for()
        _keep(page, "desk-refused")
        page.locator("#epsilon").fill("0.5")
        ready.wait_for()
        page.locator("#rehearse").click()
        page.locator("#answer .invented").wait_for()
        _keep(page, "desk-rehearsed")
        page.locator("#kind").select_option("top_k")
        ready.click()
        page.locator("#history button").first.wait_for()
        ready.wait_for()
        _keep(page, "desk")
        page.locator("[data-view=study]").click()
        page.locator("#study-add").click()
        page.locator("[data-view=form]").click()
        page.locator("#kind").select_option("mode")
        page.locator("[data-view=study]").click()
        page.locator("#study-add").click()
        page.locator("#study [type=submit]").click()
        page.locator("#study-run[aria-disabled=false]").click()
        page.get_by_text("All of it is paid").wait_for()
        page.locator("#study-rows button").first.click()
        page.evaluate("scrollTo(0, 0)")
        _keep(page, "desk-study")
        page.locator("[data-view=form]").click()
        _take_what_goes_wrong(page)


def _take_what_goes_wrong(page: Page) -> None:
    """An analyst's page when the desk refuses, fails, is not reached or does not know the session."""
    page.locator("#epsilon").fill("0.3")  # not answered yet
    page.get_by_text("ε 0.3 to pay").wait_for()
    ready = page.locator("#pay[aria-disabled=false]")
    for name, reply in WRONG.items():
        page.route("**/api/ask", lambda route, *, reply=reply: route.fulfill(**reply), times=1)
        ready.click()
        page.locator("#notices p").wait_for()
        ready.wait_for()
        _keep(page, f"desk-{name}")
    page.route("**/api/ask", lambda route: route.abort(), times=1)
    ready.click()
    page.get_by_text("The desk did not answer").wait_for()
    ready.wait_for()
    _keep(page, "desk-offline")

    def short(route: Route) -> None:
        meter = {"spent": "1.9", "this": "0.5", "left": "-0.4"}
        found = route.fetch()
        route.fulfill(response=found, json={**found.json(), "fits": False, "meter": meter})

    page.route("**/api/plan", short)
    page.locator("#epsilon").fill("0.4")
    page.get_by_text("over budget").wait_for()
    _keep(page, "desk-over-budget")
    page.unroute("**/api/plan")
    page.locator("#epsilon").fill("0.3")
    held: list[Route] = []

    def hold(route: Route) -> None:  # Playwright takes no method of a list
        held.append(route)

    page.route("**/api/ask", hold, times=1)
    ready.click()
    page.locator("#slot").wait_for()
    _keep(page, "desk-waiting")
    held[0].abort()
    ready.wait_for()
    page.route("**/api/*", lambda route: route.fulfill(status=401, json={"error": "expired"}))
    page.goto(f"{page.url.partition('#')[0]}?again#session-ended")
    page.locator("#notices p").wait_for()
    _keep(page, "desk-expired")


def take_site(opened: Callable[[str], Page]) -> None:
    """The first screen of the site's pages, which ``make docs`` has built."""
    with _served(
        *("http.server", "--bind", "127.0.0.1", "--directory", str(SITE), "0"), until=r"http\S+"
    ) as said:
        url = re.findall(r"http://[^/]+/", said)[0]
        for name in PAGES:
            page = opened(f"{url}{name}.html{'?q=epsilon' if name == 'search' else ''}")
            if name == "search":
                page.locator("ul.search li").first.wait_for()
            _keep(page, f"site-{name.replace('/', '-')}")


TAKEN = {"explorer": take_explorer, "desk": take_desk, "site": take_site}


def take(browser: Browser, chosen: str, scheme: Scheme, *, width: int, height: int) -> None:
    """Take all screenshots of one program at one width, in one of the colours."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)

    def opened(url: str) -> Page:
        page = context.new_page()
        page.goto(url)
        return page

    TAKEN[chosen](opened)
    context.close()


if __name__ == "__main__":
    (DOCS / "screens").mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM)
        )
        for program in sys.argv[1:] or TAKEN:
            for colours in SCHEMES:
                for across, down, _ in SIZES:
                    take(running, program, colours, width=across, height=down)
        running.close()
