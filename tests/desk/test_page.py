"""The analyst's page in a real browser: usable by keyboard, accessible by axe, at two sizes.

Pages are slow to load on a busy machine, so each visit covers a whole morning of an analyst's work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from discreet.desk.admission import UNKNOWN
from discreet.desk.serving import DeskServer
from tests.tools.browser import patient_page
from tests.tools.desks import Caller, Slots
from tests.tools.waiting import until


@contextmanager
def _visit(browser: Browser, *, width: int, height: int, scheme: str) -> Iterator[Page]:
    """Open a page; check that it raises no error and stores nothing that a script could read."""
    page = patient_page(browser, width=width, height=height, scheme=scheme)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    # Chromium intercepts requests from the start: just after the first route, one could still pass it by.
    page.route("**/nothing", lambda route: route.abort())
    yield page
    assert complaints == []
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    page.context.close()


def _is_clean(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def _tab_to(page: Page, chosen: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("chosen => document.activeElement.matches(chosen)", chosen):
            return
    pytest.fail(f"{chosen} is not reached by keyboard")


def _come_in(page: Page, token: str) -> None:
    page.locator("#token").fill(token)
    page.keyboard.press("Enter")
    expect(page.locator("#table")).to_be_focused()


def _spent(call: Caller) -> str:
    return str(call("/api/desk").content["tables"]["visits"]["spent"])


def test_an_analyst_comes_in_plans_asks_and_reads(call: Caller, browser: Browser) -> None:
    with _visit(browser, width=1280, height=800, scheme="light") as page:
        page.goto(call.url)
        expect(page.locator("#token")).to_be_focused()
        _is_clean(page)
        page.keyboard.type("wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#notices")).to_contain_text("not valid")
        _come_in(page, str(call.token))
        expect(page.locator("#who")).to_have_text("epidemiology")
        # The page suggests the least useful ε, and shows its plan without scrolling.
        pay, plan, epsilon = (page.locator(name) for name in ("#pay", "#plan", "#epsilon"))
        expect(pay).to_contain_text("Ask, and pay ε")
        expect(plan.locator(".badge")).to_have_text("useful")
        box = pay.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800
        # The style sheet of another page does not reorder the form: it is one column.
        sides = page.locator("#form > :visible:not(h2)").evaluate_all(
            "all => all.map(each => [each.getBoundingClientRect().left, each.offsetWidth])"
        )
        assert len(sides) > 4
        assert all(side == sides[0] for side in sides)
        # Invented rows and a rehearsal cost nothing.
        before = _spent(call)
        with page.expect_download() as download:
            page.locator("#invented").click()
        assert download.value.suggested_filename == "invented-visits.csv"
        assert len(download.value.path().read_text().splitlines()) == 1001
        page.locator("#rehearse").click()
        expect(page.locator("#answer .invented")).to_contain_text("Invented rows")
        page.locator("#answer summary").click()
        link = page.locator("#answer a").first
        assert call(f"/{link.get_attribute('href')}").status == 200
        # A refusal names fields as the form does, and offers nothing to pay for.
        page.locator("#field-where").fill("clinic = 'nowhere'")
        expect(plan).to_contain_text("no row would count")
        expect(plan).to_contain_text("“Only rows for which this holds” asks for")
        expect(page.locator("#answer")).to_contain_text("The answer will be here")
        expect(pay).to_be_disabled()
        page.locator("#field-where").fill("")
        epsilon.fill("50")
        expect(plan).to_contain_text("ε 50 is not allowed: it must be from 0.01 to 20")
        expect(pay).to_be_disabled()
        assert _spent(call) == before
        # An answer, by keyboard alone. No other test asks this desk at this ε.
        history = page.locator("#history li").filter(has_not_text="None yet.")
        earlier = history.count()
        page.locator("#table").focus()
        _tab_to(page, "#epsilon")
        epsilon.fill("1.37")
        page.keyboard.press("Tab")
        expect(pay).to_be_focused()  # while it is disabled, until the plan is there
        expect(plan).to_contain_text("ε 1.37 to pay, ")
        expect(plan).to_contain_text("19 times out of 20")
        expect(plan).to_contain_text("Typical: ")
        expect(pay).to_be_enabled()
        page.keyboard.press("Enter")
        expect(page.locator("#answer .big")).to_have_text("flu")
        # The same question again shows the same answer. Paying for a new one takes another button.
        expect(pay).to_have_text("Show the answer")
        expect(pay).to_be_focused()
        expect(plan).to_contain_text("Showing it is free; a new answer costs ε again.")
        expect(history).to_have_count(earlier + 1)
        once = _spent(call)
        assert once != before
        epsilon.fill("1.370")
        expect(page.locator("#answer")).to_contain_text("The answer will be here")
        expect(pay).to_be_enabled()
        page.keyboard.press("Enter")
        expect(page.locator("#answer .big")).to_have_text("flu")
        assert _spent(call) == once
        _tab_to(page, "#again")
        expect(page.locator("#again")).to_have_text("Ask again, and pay ε 1.37")
        page.keyboard.press("Enter")
        expect(history).to_have_count(earlier + 2)
        expect(page.locator("#again")).to_be_focused()
        assert _spent(call) != once
        # A changed condition is another question.
        page.locator("#field-where").fill("clinic = 'north'")
        expect(pay).to_have_text("Ask, and pay ε 1.37")
        expect(page.locator("#again")).to_be_hidden()
        page.locator("#field-where").fill("")
        expect(page.locator("#again")).to_be_visible()
        pay.click()
        expect(page.locator("#answer .big")).to_have_text("flu")
        expect(page.locator("#answer")).to_contain_text("off with probability 0.95")
        expect(page.locator("#answer")).to_contain_text("One person's data changes")
        expect(history.first).to_contain_text("most common diagnosis in visits")
        _is_clean(page)
        page.locator("#leave").click()
        expect(page.locator("#door")).to_be_visible()


def test_a_vote_and_a_study_on_a_phone(call: Caller, browser: Browser, slots: Slots) -> None:
    """A column and a function with the same name are distinguished; a study is made and run by keyboard."""
    with _visit(browser, width=390, height=844, scheme="dark") as page:
        page.goto(call.url)
        _come_in(page, str(call.token))
        subjects = page.locator("#column option").evaluate_all("all => all.map(each => each.value)")
        assert {"columns/age", "votes/age", "scores/round_ages"} < set(subjects)
        page.locator("#epsilon").fill("8")
        page.locator("#column").select_option("votes/age")
        expect(page.locator("#kind option")).to_have_text(["Most votes of blocks"])
        expect(page.locator("#rehearse")).to_be_disabled()
        page.locator("#further summary").click()
        page.locator("#field-with_voted").check()
        expect(page.locator("#plan")).to_contain_text("ε 8 to pay, ")
        expect(page.locator("#pay")).to_be_enabled()
        page.locator("#pay").click()
        expect(page.locator("#answer .big")).to_have_text("old")
        expect(page.locator("#answer")).to_contain_text("Blocks that voted, noisily")
        page.locator("#column").select_option("columns/age")
        expect(page.locator("#kind option").first).to_have_text("Most common value")
        page.locator("#column").select_option("columns/diagnosis")
        page.locator("#kind").select_option("top_k")
        expect(page.locator("#field-ordered")).to_be_checked()
        page.locator("#field-ordered").uncheck()
        page.locator("#epsilon").fill("1")
        expect(page.locator("#plan")).to_contain_text("ε 1 to pay, ")
        # The study.
        page.locator("#who").evaluate("who => { who.tabIndex = -1; who.focus(); }")
        page.keyboard.press("Shift+Tab")
        expect(page.locator("[data-view=study]")).to_be_focused()
        page.keyboard.press("Enter")
        _tab_to(page, "#study-add")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        _tab_to(page, "#known button")  # all of it can be reached
        page.locator("#study-text").focus()
        expect(page.locator("#study-text")).to_have_value(
            '[study]\ntitle = "My study"\n\n[table.visits]\nsource = "desk:visits"\n\n'
            '[[question]]\nname = "diagnosis"\nask = "top_k"\ntable = "visits"\n'
            'column = "diagnosis"\nepsilon = 1\nk = 3\nordered = false\n\n'
            '[[question]]\nname = "diagnosis 2"\nask = "top_k"\n'
            'table = "visits"\ncolumn = "diagnosis"\nepsilon = 1\nk = 3\nordered = false\n'
        )
        before = _spent(call)
        _tab_to(page, "#study [type=submit]")
        page.keyboard.press("Enter")
        expect(page.locator("#study-rows tr")).to_have_count(2)
        expect(page.locator("#study-rows .badge").first).to_have_text("useful")
        expect(page.locator("#study-said")).to_contain_text("2 questions cost ε = 2 in all")
        assert _spent(call) == before
        _is_clean(page)
        _tab_to(page, "#study-run")
        # If the desk gets too many requests, the page retries; a study does not change while it runs.
        hurried: dict[str, Any] = {
            "status": 429,
            "headers": {"retry-after": "5"},  # long enough to be seen on a busy machine
            "json": {"error": "too many"},
        }
        page.route("**/api/ask", lambda route: route.fulfill(**hurried), times=1)
        looked: list[str] = []
        page.on("request", lambda sent: looked.append(sent.url.rpartition("/")[2]))
        with slots.held():
            page.keyboard.press("Enter")
            expect(page.locator("#study-rows")).to_contain_text("asking again in 5 s")
            for name in ("#study-add", "#study-file", "#study-text", "#study [type=submit]"):
                expect(page.locator(name)).to_be_disabled()
        expect(page.locator("#study-said")).to_contain_text("All of it is paid")
        expect(page.locator("#study-rows button")).to_have_count(2)
        expect(page.locator("#study-run")).to_be_disabled()
        expect(page.locator("#study-add")).to_be_enabled()
        assert (looked.count("ask"), looked.count("desk"), looked.count("answers")) == (3, 1, 1)
        page.locator("#study-rows button").first.click()
        expect(page.locator("#answer")).to_contain_text("3 most common values of diagnosis")
        paid = _spent(call)
        assert paid != before
        page.locator("#study-text").fill("[study]\ntitle = 3")
        expect(page.locator("#study-plan")).to_be_hidden()
        page.locator("#study [type=submit]").click()
        expect(page.locator("#notices")).to_contain_text("title = 3: it must be a text")
        assert _spent(call) == paid
        _is_clean(page)


def test_what_goes_wrong_says_what_happened_and_whether_it_was_paid(
    call: Caller, browser: Browser
) -> None:
    with _visit(browser, width=1280, height=800, scheme="dark") as page:
        page.goto(call.url)
        _come_in(page, str(call.token))
        epsilon, plan, pay = (page.locator(name) for name in ("#epsilon", "#plan", "#pay"))
        # An emptied field stays empty.
        epsilon.fill("0.01")
        expect(plan).to_contain_text("ε 0.01 to pay, ")
        epsilon.press("End")
        for left in ("0.0", "0.", "0", ""):
            epsilon.press("Backspace")
            expect(epsilon).to_have_value(left)
        expect(plan).to_contain_text("Enter how much ε it may cost.")
        expect(pay).to_be_disabled()
        # A lost reply: the same question, asked again, is charged once.
        epsilon.fill("1.5")
        expect(plan).to_contain_text("ε 1.5 to pay, ")
        expect(pay).to_be_enabled()
        asked = len(call("/api/answers").content)

        def lose(route: Route) -> None:
            route.fetch()
            route.abort()

        page.route("**/api/ask", lose, times=1)
        page.keyboard.press("Enter")
        notices = page.locator("#notices")
        expect(notices).to_contain_text("If your question reached it, it is paid")
        assert "Failed to fetch" not in page.content()
        expect(pay).to_be_enabled()
        pay.click()
        expect(page.locator("#answer .big")).to_have_text("flu")
        expect(notices).to_be_empty()
        assert len(call("/api/answers").content) == asked + 1
        # The desk cannot tell whether it was paid: asked again, it has the same key.
        expect(pay).to_be_enabled()
        keys: list[str | None] = []
        page.on("request", lambda sent: keys.append(sent.headers.get("idempotency-key")))
        unknown: dict[str, Any] = {"status": 503, "json": {"error": UNKNOWN}}
        page.route("**/api/ask", lambda route: route.fulfill(**unknown), times=1)
        again = page.locator("#again")
        again.click()
        expect(notices).to_contain_text("takes nothing more")
        expect(again).to_be_enabled()
        again.click()
        expect(page.locator("#answer .big")).to_have_text("flu")
        first, second = filter(None, keys)
        assert first == second
        # A blocked analyst.
        expect(again).to_be_enabled()
        refused: dict[str, Any] = {
            "status": 403,
            "json": {"error": "the owner of the desk must act"},
        }
        page.route("**/api/ask", lambda route: route.fulfill(**refused), times=1)
        again.click()
        expect(notices).to_contain_text("The owner of the desk must act. Nothing was paid.")
        expect(page.locator("#answer")).to_contain_text("No answer arrived.")
        # Another question is not shown with what was said about the one before.
        page.locator("#field-where").fill("clinic = 'north'")
        expect(notices).to_be_empty()
        expect(page.locator("#answer")).to_contain_text("The answer will be here")
        # After a question that ran out of time, asking again is a new question with a new key.
        expect(pay).to_be_enabled()
        keys.clear()
        late: dict[str, Any] = {"status": 410, "json": {"error": "it did not finish"}}
        page.route("**/api/ask", lambda route: route.fulfill(**late), times=1)
        pay.click()
        expect(notices).to_contain_text("Tell the owner of the desk before you ask again")
        expect(pay).to_be_enabled()
        pay.click()
        expect(page.locator("#answer .big")).to_have_text("flu")
        first, second = filter(None, keys)
        assert first != second
        # A session that has ended.
        page.locator("[data-view=study]").click()
        page.locator("#study-add").click()
        page.locator("#study [type=submit]").click()
        expect(page.locator("#study-rows tr")).to_have_count(1)
        page.locator("[data-view=form]").click()
        epsilon.fill("1.25")
        expect(plan).to_contain_text("ε 1.25 to pay, ")
        expect(pay).to_be_enabled()
        store = call.server.desk.store
        store.revoke("epidemiology")
        page.locator("#epsilon").focus()
        page.keyboard.press("Enter")
        expect(notices).to_contain_text("was not asked and nothing was paid")
        expect(page.locator("#door")).to_be_visible()
        assert len(store.asked("epidemiology")) == asked + 3
        # The next analyst sees none of this, and gets no suggested ε if none is useful.
        page.route("**/api/suggest", lambda route: route.fulfill(json={"epsilon": None}), times=1)
        _come_in(page, store.new_token("planning", days=1))
        expect(page.locator("#who")).to_have_text("planning")
        expect(page.locator("#study-text")).to_have_value("")
        expect(page.locator("#study-plan")).to_be_hidden()
        expect(page.locator("#answer")).to_contain_text("The answer will be here")
        expect(page.locator("#history")).not_to_contain_text("flu")
        expect(plan).to_contain_text("No ε that you may still spend")
        expect(epsilon).to_have_value("")
        expect(pay).to_be_disabled()
        epsilon.fill("1")

        # More than is left.
        def short(route: Route) -> None:
            found = route.fetch()
            meter = {"spent": "0.005", "this": "0.01", "left": "-0.005"}
            route.fulfill(response=found, json={**found.json(), "fits": False, "meter": meter})

        page.route("**/api/plan", short)
        page.locator("#field-where").fill("clinic = 'north'")
        expect(plan.locator(".badge")).to_have_text("over budget")
        expect(plan).to_contain_text("Lower ε, or ask the owner")
        widths = plan.locator(".meter, .meter span").evaluate_all(
            "all => all.map(each => each.offsetWidth)"
        )
        assert widths[0] == pytest.approx(widths[1] + widths[2], abs=2)
        assert widths[2] == pytest.approx(2 * widths[1], abs=2)
        expect(pay).to_be_disabled()
        page.unroute("**/api/plan")


def _ask_and_wait(page: Page, *, epsilon: str) -> None:
    """Ask the form's question at ``epsilon``, and wait until the page says that it is running."""
    page.locator("#epsilon").fill(epsilon)
    expect(page.locator("#plan")).to_contain_text(f"ε {epsilon} to pay, ")
    expect(page.locator("#pay")).to_be_enabled()
    with page.expect_request("**/api/ask"):
        page.locator("#pay").click()
    expect(page.locator("#slot-said")).to_contain_text("Running.")


def _is_asked(call: Caller, *, number: int) -> None:
    """Wait until the desk has admitted this many questions."""
    until(lambda: len(call("/api/answers").content) >= number, "a question to be admitted")


def test_a_session_that_ends_while_a_question_runs_does_not_deny_the_payment(
    call: Caller, browser: Browser, slots: Slots
) -> None:
    asked = len(call("/api/answers").content)
    with _visit(browser, width=1280, height=800, scheme="light") as page:
        page.goto(call.url)
        notices, history = page.locator("#notices"), page.locator("#history li")

        def says_that_it_may_be_paid() -> None:
            expect(page.locator("#door")).to_be_visible()
            expect(notices).to_contain_text("Your question may have been asked and paid")
            expect(notices).to_contain_text("free under “Your answers so far”")
            expect(notices).not_to_contain_text("nothing was paid")

        # The cookie is gone when the answer arrives.
        _come_in(page, str(call.token))
        with slots.held():
            _ask_and_wait(page, epsilon="0.31")
            _is_asked(call, number=asked + 1)
            page.context.clear_cookies()
        says_that_it_may_be_paid()
        # It is gone when the page plans another question, while the first one is running.
        _come_in(page, str(call.token))
        with slots.held():
            _ask_and_wait(page, epsilon="0.32")
            _is_asked(call, number=asked + 2)
            page.context.clear_cookies()
            page.locator("#field-where").fill("clinic = 'north'")
            says_that_it_may_be_paid()
            # After signing in, the history shows it as running until it ends.
            _come_in(page, str(call.token))
            expect(history.first).to_contain_text("running")
            # A session that ends now is no reason to say that nothing was paid, either.
            page.context.clear_cookies()
            says_that_it_may_be_paid()
            _come_in(page, str(call.token))
            expect(history.first).to_contain_text("running")
        expect(history.first.locator("button")).to_have_text("flu")
        # The analyst signs out while a question is running.
        with slots.held():
            _ask_and_wait(page, epsilon="0.33")
            _is_asked(call, number=asked + 3)
            page.locator("#leave").click()
            says_that_it_may_be_paid()
        # Nothing is left open: signing out says nothing.
        _come_in(page, str(call.token))
        expect(history.first.locator("button")).to_have_text("flu")
        page.locator("#leave").click()
        expect(page.locator("#door")).to_be_visible()
        expect(notices).to_be_empty()
        assert len(call("/api/answers").content) == asked + 3


def test_a_session_that_ends_while_a_study_runs_does_not_deny_the_payment(
    call: Caller, browser: Browser, slots: Slots
) -> None:
    asked = len(call("/api/answers").content)
    with _visit(browser, width=1280, height=800, scheme="light") as page:
        page.goto(call.url)
        notices = page.locator("#notices")

        def plan_study(*epsilons: str) -> None:
            expect(page.locator("#pay")).to_be_enabled()  # no other request is under way
            page.locator("[data-view=study]").click()
            text = '[study]\ntitle = "Ends"\n[table.visits]\nsource = "desk:visits"\n'
            for epsilon in epsilons:
                text += f'[[question]]\nname = "at {epsilon}"\nask = "mode"\ncolumn = "diagnosis"\n'
                text += f"epsilon = {epsilon}\n"
            page.locator("#study-text").fill(text)
            page.locator("#study [type=submit]").click()
            expect(page.locator("#study-run")).to_be_enabled()

        _come_in(page, str(call.token))
        _ask_and_wait(page, epsilon="0.41")
        expect(page.locator("#answer .big")).to_have_text("flu")
        plan_study("0.41", "0.42")
        expect(page.locator("#study-rows")).to_contain_text(
            "This study has not asked it yet. You paid for the same question outside this study; "
            "running the study pays again."
        )
        with slots.held():
            page.locator("#study-run").click()
            _is_asked(call, number=asked + 2)
            page.context.clear_cookies()
        expect(page.locator("#door")).to_be_visible()
        expect(notices).to_contain_text("Questions of your study may have been asked and paid")
        expect(notices).to_contain_text("answers that were paid are kept")
        expect(notices).not_to_contain_text("nothing was paid")
        # Nothing of a study is paid if the session has ended before its first question.
        _come_in(page, str(call.token))
        plan_study("0.43")
        page.context.clear_cookies()
        page.locator("#study-run").click()
        expect(notices).to_contain_text("was not asked and nothing was paid")
        expect(page.locator("#door")).to_be_visible()
        assert len(call("/api/answers").content) == asked + 2


def test_the_page_says_when_the_budget_is_spent(
    desk_in: Callable[..., DeskServer], browser: Browser
) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "planning")
        with _visit(browser, width=1280, height=800, scheme="light") as page:
            page.goto(call.url)
            _come_in(page, str(call.token))
            epsilon, plan = page.locator("#epsilon"), page.locator("#plan")
            epsilon.fill("0.5")
            expect(plan).to_contain_text("ε 0.5 to pay, ")
            expect(plan).not_to_contain_text("everything that is left")
            epsilon.fill("2")
            expect(plan).to_contain_text("This spends everything that is left.")
            expect(page.locator("#pay")).to_be_enabled()
            page.locator("#pay").click()
            expect(page.locator("#answer .big")).to_have_text("flu")
            page.locator("#field-where").fill("clinic = 'north'")
            expect(plan).to_contain_text("Your budget for this table is spent.")
            expect(plan).not_to_contain_text("Lower ε")
            page.reload()
            expect(plan).to_contain_text("Your budget for this table is spent.")
            expect(plan).to_contain_text("Your earlier answers stay free")
            expect(plan).not_to_contain_text("You can still type one")
