"""Audit, the attack, accessibility, small and large screens, and a server that dies."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from discreet.explore.server import PageServer
from tests.tools.browser import Visit

Go = Callable[..., Visit]


def _audit(here: Visit, preset: str) -> Page:
    page = here.page
    page.locator("nav [data-view=audit]").click()
    page.get_by_role("button", name=preset).click()
    expect(page.locator("#audit-result .verdict")).to_be_visible()
    return page


def test_the_published_bounded_range_claim_falls_live(visit: Go) -> None:
    page = _audit(visit().open(), "Permute-and-flip has bounded range ε (as published)")
    verdict = page.locator("#audit-result .verdict")
    expect(verdict).to_contain_text(
        "The claim is false. Permute-and-flip at ε = 1 is not of bounded range with ε = 1."
    )
    expect(verdict).to_contain_text("Refuted. Largest ε found 1.664; claimed 1")
    expect(page.locator("#audit-ratios-text")).to_contain_text("lie 1.664 apart; 1 is allowed")
    expect(page.locator("#audit-result canvas")).to_have_count(3)
    # Answers are counted from 0, as everywhere.
    expect(page.locator("#witness-first-text")).to_contain_text("answer 0")


def test_exponential_randomized_response_is_one_click_away(visit: Go) -> None:
    page = _audit(visit().open(), "Exponential randomized response is ε-DP (as published)")
    expect(page.locator("#audit-result .verdict")).to_have_class("verdict refuted")
    expect(page.locator(".worlds canvas")).to_have_count(2)


def test_a_true_claim_is_proved(visit: Go) -> None:
    page = _audit(visit().open(), "Permute-and-flip is ε-DP")
    expect(page.locator("#audit-result .verdict")).to_contain_text("The claim is true.")


def test_an_audit_can_be_cancelled_and_the_page_stays_quick(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.locator("nav [data-view=audit]").click()
    page.locator("#audit-mechanism").select_option("noisy-max-laplace")
    page.locator("#audit-n").select_option("6")
    page.get_by_role("button", name="Audit", exact=True).last.click()
    expect(page.locator("#audit-cancel")).to_be_visible()
    expect(page.locator("#audit-progress")).to_be_visible()
    page.locator("#audit-cancel").click()
    expect(page.locator("#audit-progress")).to_be_hidden()
    expect(page.locator("#audit-result")).to_contain_text("cancelled: nothing is decided")
    page.locator("nav [data-view=decide]").click()
    page.locator("#epsilon").fill("0.9")
    here.settled()
    expect(page.locator("#error-text")).to_contain_text("ε = 0.9")


def test_a_wrong_audit_is_a_message(visit: Go) -> None:
    page = visit().open().page
    page.locator("nav [data-view=audit]").click()
    page.locator("#audit-epsilon").fill("0")
    page.get_by_role("button", name="Audit", exact=True).last.click()
    expect(page.locator("#audit-epsilon-wrong")).to_contain_text("above 0")
    expect(page.locator("#audit-epsilon")).to_have_attribute("aria-invalid", "true")
    page.locator("#audit-epsilon").fill("1")
    page.locator("#audit-amount").fill("much")
    page.get_by_role("button", name="Audit", exact=True).last.click()
    expect(page.locator("#audit-amount-wrong")).to_be_visible()
    expect(page.locator("#audit-epsilon-wrong")).to_be_hidden()


def test_an_audit_is_copied_as_a_command(visit: Go) -> None:
    page = _audit(visit().open(), "Exponential has bounded range ε")
    page.locator("#view-audit").get_by_role("button", name="Copy as command").click()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith("discreet audit exponential --epsilon 1 --claim bounded-range:1")


def test_the_link_restores_an_audit_and_its_result(visit: Go) -> None:
    here = visit().open("#view=audit")
    here.page.locator("#audit-claim").select_option("zcdp")
    here.page.locator("#audit-amount").fill("0.2")
    here.page.locator("#audit-monotonic").select_option("true")
    here.page.get_by_role("button", name="Copy link").click()
    link = here.page.evaluate("navigator.clipboard.readText()")
    other = visit()
    other.page.goto(link)
    for name, value in {"claim": "zcdp", "amount": "0.2", "monotonic": "true", "n": "4"}.items():
        expect(other.page.locator(f"#audit-{name}")).to_have_value(value)
    expect(other.page.locator("#audit-result .verdict")).to_be_visible()
    strange = visit().open("#view=audit&audit=magic|pure|1|2|1e-6|1|4|both")
    expect(strange.page.locator("#audit-mechanism")).to_have_value("permute-and-flip")
    expect(strange.page.locator("#audit-amount")).to_have_value("2")


def test_charts_are_drawn_when_their_view_is_opened(visit: Go) -> None:
    """This includes a theme switch before opening; a hidden chart has no width to be drawn in."""
    here = visit().open("#view=audit")
    page = here.page
    _audit(here, "Permute-and-flip has bounded range ε (as published)")
    expect(page.locator(".worlds canvas")).to_have_count(2)
    page.locator("nav [data-view=decide]").click()
    here.settled()
    page.get_by_role("button", name="Switch between light and dark").click()
    page.locator("nav [data-view=audit]").click()
    page.get_by_role("button", name="Switch between light and dark").click()
    page.locator("nav [data-view=decide]").click()
    here.settled()
    page.locator("nav [data-view=audit]").click()
    expect(page.locator(".worlds canvas")).to_have_count(2)
    for canvas in page.locator(".worlds canvas").all():
        box = canvas.bounding_box()
        assert box is not None
        assert box["width"] > 300


def test_the_back_button_returns_to_the_view_before(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.get_by_label("Score of gout", exact=True).fill("60")
    page.locator("nav [data-view=audit]").click()
    page.locator("nav [data-view=attack]").click()
    page.go_back()
    expect(page.locator("#view-audit")).to_be_visible()
    page.go_back()
    expect(page.locator("#view-decide")).to_be_visible()
    here.settled()
    expect(page.get_by_label("Score of gout", exact=True)).to_have_value("60")
    page.go_forward()
    expect(page.locator("#view-audit")).to_be_visible()


@pytest.mark.parametrize(("width", "height", "scheme"), [(1400, 900, "dark"), (390, 844, "light")])
def test_accessible_and_fitting_in_both_themes_and_sizes(
    visit: Go, pictures: Path | None, scheme: str, width: int, height: int
) -> None:
    here = visit(scheme=scheme, width=width, height=height).open()
    page = here.page

    def look(name: str, *parts: str) -> None:
        """Run Axe on the whole page or on the parts that changed, and take a picture on request."""
        page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        if pictures is not None:
            page.screenshot(path=pictures / f"{name}-{scheme}-{width}.png", full_page=True)
        found = Axe().run(page, context={"include": [[part] for part in parts or ("html",)]})
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is too wide"

    page.locator("#compared summary").click()
    page.locator("#mechanisms input").last.check()
    page.locator("#look-alike summary").click()
    here.settled()
    page.locator("#chart-probabilities summary").click()
    page.get_by_text("Your own scores").click()
    page.locator("#declared").check()
    look("decide")
    page.locator("#epsilon").fill("0")
    expect(page.locator("#epsilon-wrong")).to_be_visible()
    page.locator("#pasted").fill("nothing")
    page.locator("#use-pasted").click()
    expect(page.locator("#notices .notice")).to_be_visible()
    page.evaluate("scrollTo(0, 0)")
    look("wrong", "#controls", "#notices", ".stale-note")
    page.locator("#epsilon").fill("1")
    page.locator("#pasted").fill("one,5\nother,3")
    page.locator("#use-pasted").click()
    expect(page.locator("#ask")).to_be_visible()
    here.settled()
    look("ask", "#ask", "#decision")
    page.locator("nav [data-view=attack]").click()
    page.locator("#game-start").click()
    page.locator(".vote").first.click()
    expect(page.locator("#view-attack canvas")).to_have_count(1)
    look("attack", "#view-attack")
    _audit(here, "Permute-and-flip has bounded range ε (as published)")
    expect(page.locator("#audit-result canvas")).to_have_count(3)
    look("audit", "#view-audit")


def test_the_keyboard_reaches_everything_and_the_focus_shows(visit: Go) -> None:
    page = visit().open().page
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    page.reload()
    page.locator("#editor .bar").first.wait_for()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    reached: set[str] = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # after the last tab stop
        told: dict[str, Any] = page.evaluate(
            """() => { const e = document.activeElement; const s = getComputedStyle(e);
            return { id: e.id || e.getAttribute("aria-label") || e.textContent.trim().slice(0, 30),
                     outline: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 }; }"""
        )
        reached.add(told["id"])
        assert told["outline"], f"no visible focus on {told['id']}"
    for wanted in (
        "source",
        "epsilon",
        "epsilon-slider",
        "monotonic",
        "releases",
        "delta",
        "choice",
        "level",
    ):
        assert wanted in reached
    assert "Score of influenza, slider" in reached


def test_on_a_small_screen_epsilon_stays_within_reach(visit: Go) -> None:
    here = visit(width=390, height=844).open()
    page = here.page
    page.locator("#chart-error").scroll_into_view_if_needed()
    quick = page.get_by_label("ε: what one release may cost, slider")
    expect(quick).to_be_in_viewport()
    quick.press("PageUp")
    here.settled()
    assert float(page.locator("#epsilon").input_value()) > 0.25


def test_the_attacker_plays_twenty_rounds_and_sees_the_bound(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.locator("nav [data-view=attack]").click()
    page.get_by_role("button", name="Twenty rounds").click()
    for turn in range(20):
        expect(page.locator("#game-answer")).to_contain_text(f"Round {turn + 1} of 20")
        winner = page.locator("#game-answer .ballot").inner_text()
        page.get_by_role("button", name=f"Ana voted {winner}").click()
    expect(page.locator("#game-answer")).to_contain_text(
        "of 20 rounds. In the long run nobody is right in more than 56.3%"
    )
    expect(page.locator("#game-table tbody tr").first).to_contain_text("56.3%")
    expect(page.locator("#game-ballots .ballot")).to_have_count(20)
    expect(page.locator(".luck .you")).to_be_visible()
    expect(page.locator(".luck")).to_have_attribute(
        "aria-label", re.compile("Shaded: 7 to 15, where 95 of 100 games")
    )
    page.get_by_role("button", name="Twenty rounds").press("Enter")
    for turn, key in enumerate(("r", "b", "ArrowLeft", "ArrowRight"), start=1):
        expect(page.locator("#game-answer")).to_contain_text(f"Round {turn} of 20")
        page.keyboard.press(key)
    expect(page.locator("#game-answer")).to_contain_text("Round 5 of 20")
    page.locator("#game-which").select_option("other")
    page.get_by_role("button", name="Let the best strategy play 1,000 rounds").click()
    expect(page.locator("#game-table tbody tr").last).to_contain_text("of 1,000")
    expect(page.locator("#game-table tbody tr").last).to_contain_text("99.4%")
    page.locator("#game-other").fill("no number")
    page.get_by_role("button", name="Twenty rounds").click()
    expect(page.locator("#notices")).to_contain_text("The game did not start: epsilon='no number'")


def test_a_claim_is_broken_by_dragging(visit: Go) -> None:
    page = visit().open("#view=attack").page
    headline = page.locator("#break-headline")
    expect(headline).to_contain_text("At the edge of the band, and no further")
    page.get_by_label("Score of answer 1").press("Home")
    expect(headline).to_contain_text("Within the band")
    page.get_by_role("button", name="Permute-and-flip has bounded range").click()
    slider = page.get_by_label("Score of answer 1")
    slider.evaluate("(one) => { one.value = 1; one.dispatchEvent(new Event('input')); }")
    expect(headline).to_contain_text("Outside the band, so the claim is false")
    expect(page.locator("#break-text")).to_contain_text("1.664 apart")
    page.locator("#break-mechanism").select_option("exponential")
    expect(headline).to_contain_text("At the edge of the band")
    page.locator("#break-epsilon").fill("0")
    expect(page.locator("#break-wrong")).to_be_visible()


def test_a_dead_server_is_said_and_the_page_survives(visit: Go) -> None:
    with PageServer().in_background() as mortal:
        here = visit(url=mortal.url).open()
        before = here.figures()
    page = here.page
    page.locator("#epsilon").fill("0.5")
    expect(page.locator("#notices")).to_contain_text("The server does not answer")
    assert here.figures() == before
    page.locator("nav [data-view=audit]").click()
    page.get_by_role("button", name="Permute-and-flip is ε-DP").click()
    expect(page.locator("#notices")).to_contain_text("The audit did not run")
    page.locator("nav [data-view=decide]").click()
    page.get_by_role("button", name="Try again").first.click()
    expect(page.locator("#charts canvas")).to_have_count(5)
    here.complaints = [text for text in here.complaints if "ERR_CONNECTION" not in text]


def test_another_page_cannot_use_the_server(browser: Browser, server: PageServer) -> None:
    with PageServer().in_background() as stranger:
        # Without the page's own policy, which would block it first.
        context = browser.new_context(bypass_csp=True)
        page = context.new_page()
        page.goto(stranger.url)
        outcome = page.evaluate(
            "(url) => fetch(url).then((answer) => answer.status, () => 'blocked')", server.url
        )
        context.close()
    assert outcome == "blocked"
