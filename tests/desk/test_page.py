"""The analyst's page in a real browser: complete by keyboard, clean by axe, at two widths."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.tools.browser import patient_page
from tests.tools.desks import Caller


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_an_analyst_comes_in_plans_asks_and_reads(
    call: Caller, browser: Browser, width: int, scheme: str
) -> None:
    page = patient_page(browser, width=width, height=900, scheme=scheme)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(call.url)
    expect(page.locator("#token")).to_be_focused()
    assert Axe().run(page).violations_count == 0
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#notices")).to_contain_text("not valid")
    page.locator("#token").fill(str(call.token))
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_be_focused()
    expect(page.locator("#who")).to_have_text("epidemiology")
    for _ in range(2):  # table, column, question: the keyboard is enough
        page.keyboard.press("Tab")
    expect(page.locator("#kind")).to_be_focused()
    page.locator("#epsilon").fill("5")
    expect(page.locator("#plan")).to_contain_text("ε 5 to pay, ")
    expect(page.locator("#plan")).to_contain_text("19 times out of 20")
    page.keyboard.press("Enter")
    expect(page.locator("#answer .big")).to_have_text("flu")
    expect(page.locator("#answer")).to_contain_text("One person's data changes")
    expect(page.locator("#history li").first).to_contain_text("most common diagnosis in visits")
    assert Axe().run(page).violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    page.locator("#epsilon").fill("50")
    expect(page.locator("#plan")).to_contain_text("from 0.01 to 20")
    expect(page.locator("#pay")).to_be_disabled()
    page.locator("#leave").click()
    expect(page.locator("#door")).to_be_visible()
    assert complaints == []
    page.context.close()
