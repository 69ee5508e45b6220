"""The analyst's page in a real browser: complete by keyboard, clean by axe, at two widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from discreet.desk.store import PAID, DeskStore
from tests.tools.browser import patient_page
from tests.tools.desks import Caller, clinic_at, desk_process
from tests.tools.waiting import until


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
    page.locator("#epsilon").fill("1")
    expect(page.locator("#plan")).to_contain_text("ε 1 to pay, ")
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


def test_the_page_rehearses_for_nothing_and_names_things_as_people_do(
    call: Caller, browser: Browser
) -> None:
    page = patient_page(browser, width=1280, height=800, scheme="light")
    _come_in(page, call.url, str(call.token))
    before = call("/api/desk").content["tables"]["visits"]["spent"]
    expect(page.locator("#pay")).to_contain_text("Ask, and pay ε")
    box = page.locator("#pay").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800  # above the fold
    page.locator("#public-title").click()
    with page.expect_download() as download:
        page.locator("#invented").click()
    assert download.value.suggested_filename == "invented-visits.csv"
    assert len(download.value.path().read_text().splitlines()) == 1001
    page.locator("#public-title").click()
    page.locator("#rehearse").click()
    expect(page.locator("#answer .invented")).to_contain_text("Invented rows")
    page.locator("#answer summary").click()
    link = page.locator("#answer a").first
    assert call(f"/{link.get_attribute('href')}").status == 200
    page.locator("#field-where").fill("clinic = 'nowhere'")
    expect(page.locator("#plan")).to_contain_text("no row would count")
    expect(page.locator("#plan")).not_to_contain_text("where=")
    expect(page.locator("#pay")).to_be_disabled()
    assert Axe().run(page).violations_count == 0
    assert call("/api/desk").content["tables"]["visits"]["spent"] == before
    page.context.close()


def _come_in(page: Page, url: str, token: str) -> None:
    page.goto(url)
    page.locator("#token").fill(token)
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_be_focused()


def test_an_emptied_field_stays_empty_and_an_ended_session_pays_nothing(
    call: Caller, browser: Browser
) -> None:
    page = patient_page(browser, width=1400, height=900, scheme="light")
    _come_in(page, call.url, str(call.token))
    epsilon = page.locator("#epsilon")
    epsilon.fill("0.01")  # the page suggests one until something is typed
    expect(page.locator("#plan")).to_contain_text("ε 0.01 to pay, ")
    epsilon.press("End")
    for left in ("0.0", "0.", "0", ""):
        epsilon.press("Backspace")
        expect(epsilon).to_have_value(left)
    expect(page.locator("#plan")).to_contain_text("Say how much ε it may cost.")
    expect(epsilon).to_have_value("")
    expect(page.locator("#pay")).to_be_disabled()
    epsilon.fill("1")
    expect(page.locator("#plan")).to_contain_text("ε 1 to pay, ")
    # After an answer the page plans again. Had the session ended before that, the plan would say so.
    with page.expect_response("**/api/plan"), page.expect_response("**/api/answers"):
        page.keyboard.press("Enter")
    expect(page.locator("#answer .big")).to_have_text("flu")
    expect(epsilon).to_have_value("1")
    expect(page.locator("#pay")).to_be_enabled()
    paid = len(call("/api/answers").content)
    store = call.server.desk.store
    store.revoke("epidemiology")
    page.keyboard.press("Enter")
    expect(page.locator("#notices")).to_contain_text("was not asked and nothing was paid")
    expect(page.locator("#door")).to_be_visible()
    assert len(store.asked("epidemiology")) == paid
    # Who comes in again finds the question as it was.
    page.locator("#token").fill(store.new_token("epidemiology", days=1))
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_be_focused()
    expect(epsilon).to_have_value("1")
    page.context.close()


def test_a_desk_that_is_gone_says_whether_anything_was_paid(
    browser: Browser, tmp_path: Path
) -> None:
    owner = clinic_at(tmp_path)
    page = patient_page(browser, width=1400, height=900, scheme="light")
    keys: list[str | None] = []
    page.on(
        "request",
        lambda sent: keys.append(sent.headers["idempotency-key"]) if "ask" in sent.url else None,
    )
    with desk_process(tmp_path / "clinic.toml") as (process, url):
        with DeskStore(str(owner.desk.store)) as store:
            _come_in(page, url, store.new_token("epidemiology", days=1))
            expect(page.locator("#plan")).to_contain_text(" to pay, ")
            page.locator("#pay").click()
            until(lambda: [q.state for q in store.asked("epidemiology")] == [PAID], "the payment")
        process.kill()
        expect(page.locator("#notices")).to_contain_text(
            "If your question had reached it, it is paid"
        )
        assert "Failed to fetch" not in page.content()
        # Asked again unchanged it goes under the same key, which is paid once.
        page.evaluate("document.getElementById('form').requestSubmit()")
        until(lambda: len(keys) == 2, "the second try")
    assert keys[0] == keys[1]
    page.context.close()
