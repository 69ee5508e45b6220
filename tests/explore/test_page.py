"""The page in a real browser, used by a privacy officer and an analyst."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, Route, expect

from discreet._cli import app
from tests.tools.browser import Visit

Go = Callable[..., Visit]


def test_the_first_look(visit: Go) -> None:
    here = visit().open()
    page = here.page
    expect(page.locator("#not-private")).to_be_hidden()  # the examples are invented
    assert set(here.figures()) == {
        "permute-and-flip",
        "exponential mechanism",
        "noisy max, Laplace noise",
    }
    expect(page.locator("#verdict-accuracy")).to_have_text(
        "Accuracy: green. ε = 0.25 is enough: 95% of answers are within 10 of the best; 0.14 would do."
    )
    expect(page.locator("#verdict-privacy")).to_have_text(
        "Privacy: amber. After ten releases an attacker who was undecided can be at most 92.5% sure. "
        "For 90%, use ε = 0.219 or less."
    )
    expect(page.locator("#balance-text")).to_contain_text("92.5% sure (90% tolerated)")
    assert here.figures()["exponential mechanism"].split("\t")[1] == "0.159"
    expect(page.locator("#probabilities-text")).to_contain_text(
        "permute-and-flip most often influenza"
    )
    expect(page.locator("#budget-text")).to_contain_text(
        "from 10 on it is the exponential mechanism"
    )
    expect(page.locator("#risk-text")).to_contain_text("at most 56.3% sure after one release")
    expect(page.locator("#record-list")).to_contain_text("factor of at most 1.285")
    assert page.locator("#charts canvas").count() == 5


def test_a_slider_moves_everything_and_the_box_follows(visit: Go) -> None:
    here = visit().open()
    page = here.page
    before = here.figures()
    slider = page.get_by_label("ε: what one release may cost, slider")
    seen = [page.locator("#epsilon").input_value()]
    for _ in range(5):
        slider.press("ArrowRight")
        seen.append(page.locator("#epsilon").input_value())
    assert len(set(seen)) == len(seen)  # every key moves it
    slider.press("PageUp")
    here.settled()
    epsilon = float(page.locator("#epsilon").input_value())
    assert epsilon > 0.25
    assert here.figures() != before
    expect(page.locator("#error-text")).to_contain_text(f"ε = {epsilon:g}")
    expect(page.locator("#record-list")).to_contain_text(f"{epsilon:g}")


def test_typing_a_number_moves_the_slider(visit: Go) -> None:
    here = visit().open()
    slider = here.page.locator("#epsilon-slider")
    place = int(slider.input_value())
    here.page.locator("#epsilon").fill("2.5")
    expect(here.page.locator("#error-text")).to_contain_text("ε = 2.5")
    assert int(slider.input_value()) > place


def test_dragging_and_typing_a_bar(visit: Go) -> None:
    here = visit().open()
    page = here.page
    bar = page.get_by_label("Score of gout, slider")
    box = bar.bounding_box()
    assert box is not None
    middle = box["height"] / 2
    bar.drag_to(
        bar,
        source_position={"x": box["width"] * 57 / 516, "y": middle},
        target_position={"x": box["width"] * 0.95, "y": middle},
    )
    here.settled()
    dragged = float(page.get_by_label("Score of gout", exact=True).input_value())
    assert dragged > 430
    expect(page.locator("#probabilities-text")).to_contain_text("permute-and-flip most often gout")
    page.get_by_label("Score of gout", exact=True).fill("12")
    expect(page.locator("#probabilities-text")).to_contain_text(
        "permute-and-flip most often influenza"
    )
    for no_score in ("none", "1e300"):
        page.get_by_label("Score of gout", exact=True).fill(no_score)
        expect(page.get_by_label("Score of gout", exact=True)).to_have_attribute(
            "aria-invalid", "true"
        )
    bar.focus()
    expect(page.get_by_label("Score of gout", exact=True)).to_have_value("12")
    page.get_by_role("button", name="Undo changes").click()
    expect(page.get_by_label("Score of gout", exact=True)).to_have_value("57")
    bar.press("ArrowRight")
    expect(page.get_by_label("Score of gout", exact=True)).to_have_value("58")


def test_every_example_and_all_mechanisms(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.locator("#compared summary").click()
    for box in page.locator("#mechanisms input").all():
        if not box.is_checked():
            box.check()
    for value in ("salaries", "pages", "worst-case", "staircase", "clinic"):
        page.locator("#source").select_option(f"example:{value}")
        here.settled()
        assert len(here.figures()) == page.locator("#mechanisms input").count()
    expect(page.locator("#needs")).to_contain_text("not private at any")
    page.locator("#source").select_option("example:pages")
    expect(page.locator("#editor-title")).to_contain_text("the best of 1,000 candidates")
    # An ε that the user has not touched is the example's own; one that the user chose stays.
    expect(page.locator("#epsilon")).to_have_value("0.05")
    expect(page.locator("#about")).to_contain_text(
        "Suggested: ε\u00a0=\u00a00.05, errors of at most 50."
    )
    page.locator("#epsilon").fill("0.4")
    page.locator("#source").select_option("example:clinic")
    expect(page.locator("#epsilon")).to_have_value("0.4")
    expect(page.locator("#tolerance")).to_have_value("10")
    assert page.locator("#editor .bar").count() <= 40


def test_the_one_decided_for_stays_among_those_compared(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.locator("#compared summary").click()
    for box in page.locator("#mechanisms input:enabled").all():
        box.uncheck()
    here.settled()
    assert list(here.figures()) == ["permute-and-flip"]
    page.locator("#choice").select_option("large-gap")
    expect(page.locator("#mechanisms input[value=large-gap]")).to_be_disabled()
    here.settled()
    assert list(here.figures()) == ["permute-and-flip", "large gap"]


WRONG = [
    ("epsilon", "0"),
    ("epsilon", "much"),
    ("sensitivity", "-1"),
    ("delta", "2"),
    ("releases", "1.5"),
]


def test_a_wrong_number_is_said_at_its_control(visit: Go) -> None:
    here = visit().open()
    page = here.page
    for name, text in WRONG:
        good = page.locator(f"#{name}").input_value()
        page.locator(f"#{name}").fill(text)
        expect(page.locator(f"#{name}-wrong")).to_be_visible()
        expect(page.locator(f"#{name}-wrong")).to_contain_text("must be")
        expect(page.locator(f"#{name}")).to_have_attribute("aria-invalid", "true")
        expect(page.locator(".stale-note")).to_be_visible()
        assert len(here.figures()) == 3  # the earlier figures stay
        page.locator(f"#{name}").fill(good)
        expect(page.locator(f"#{name}-wrong")).to_be_hidden()
        here.settled()


def test_files_good_and_bad(visit: Go, tmp_path: Path) -> None:
    here = visit().open()
    page = here.page
    page.get_by_text("Your own scores").click()
    expect(page.locator("#file")).to_be_disabled()
    page.locator("#declared").check()

    def choose(name: str, content: bytes) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        page.locator("#file").set_input_files(path)

    choose("broken.csv", b"a,1\nb,secret-7\n")
    expect(page.locator("#notices")).to_contain_text("line 2: the score is not a finite number")
    expect(page.locator("#notices")).not_to_contain_text("secret")
    choose("picture.png", b"\x89PNG")
    expect(page.locator("#notices")).to_contain_text("a name that ends in")
    choose("huge.csv", b"1\n" * 10_000_000)
    expect(page.locator("#notices")).to_contain_text("more than 1,000,000 candidates")
    choose("heavy.csv", b" " * (33 * 2**20))
    expect(page.locator("#notices")).to_contain_text("larger than 32 MB")
    assert set(here.figures())
    choose("fruit.csv", "frucht,stück\n<b>äpfel</b>,30\nbirnen,20\n".encode())
    expect(page.locator("#probabilities-text")).to_contain_text("<b>äpfel</b>")
    expect(page.locator("#source option:checked")).to_have_text("fruit.csv")
    many = "candidate,score\n" + "".join(f"c{place},{place % 977}\n" for place in range(100_000))
    choose("many.csv", many.encode())
    expect(page.locator("#editor-title")).to_contain_text("the best of 100,000 candidates")
    here.settled()
    page.locator("#pasted").fill("red,5\nblue,3")
    page.locator("#use-pasted").click()
    expect(page.locator("#editor .bar")).to_have_count(2)


DROP = """(text) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], "dropped.csv"));
  for (const kind of ["dragover", "drop"])
    dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, cancelable: true }));
}"""


def test_a_dropped_file_waits_for_the_tick_and_is_called_not_private(visit: Go) -> None:
    here = visit(width=1280, height=800).open()
    page = here.page
    page.evaluate(DROP, "red,5\nblue,3")
    note = page.locator("#undeclared")
    expect(note).to_contain_text("dropped.csv is not read yet")
    expect(note).to_be_in_viewport(ratio=1)
    expect(page.locator("#declared")).to_be_focused()
    expect(page.locator("#source option:checked")).to_have_text("Clinic diagnoses")
    page.locator("#declared").check()
    expect(note).to_be_hidden()
    expect(page.locator("#source option:checked")).to_have_text("dropped.csv")
    expect(page.locator("#not-private")).to_be_visible()
    page.evaluate(DROP, "one,5\ntwo,3\nthree,1")
    expect(page.locator("#editor .bar")).to_have_count(3)
    page.locator("nav [data-view=attack]").click()
    expect(page.locator("#not-private")).to_be_hidden()  # the game reads no scores


def test_a_large_file_shows_that_work_is_going_on(visit: Go) -> None:
    here = visit().open()
    page = here.page
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    # The reply is held back until the page shows that it is working.
    page.route("**/api/file", hold)
    page.get_by_text("Your own scores").click()
    page.locator("#declared").check()
    page.locator("#pasted").fill("red,5\nblue,3")
    page.locator("#use-pasted").click()
    expect(page.locator("#notices progress")).to_be_visible()
    expect(page.locator("#notices")).to_contain_text("Reading pasted.csv…")
    page.route("**/api/figures", hold)
    waiting.pop().continue_()
    expect(page.locator("#working")).to_be_visible()
    page.unroute("**/api/figures")
    waiting.pop().continue_()
    here.settled()
    expect(page.locator("#working")).to_be_hidden()
    expect(page.locator("#notices progress")).to_have_count(0)


def test_the_first_screen_has_the_verdicts_the_scores_and_one_chart(visit: Go) -> None:
    page = visit(width=1280, height=800).open().page
    page.locator("#more > summary").click()
    page.evaluate("scrollTo(0, 0)")
    for part in ("#decision", "#editor", "#chart-balance .canvas"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800, part
    expect(page.locator("#now")).to_be_hidden()
    expect(page.locator("#record")).to_be_hidden()


def test_the_link_restores_the_state_and_leaves_the_scores_out(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.locator("#epsilon").fill("0.7")
    page.locator("#monotonic").uncheck()
    page.locator("#compared summary").click()
    page.locator("#mechanisms input[value=noisy-max-laplace]").uncheck()
    here.settled()
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(here.url)
    other = visit()
    other.page.goto(link)
    other.settled()
    assert other.figures() == here.figures()
    expect(other.page.locator("#monotonic")).not_to_be_checked()


WATCH = """window.seen = [];
for (const name of ["pushState", "replaceState"]) {
  const real = history[name].bind(history);
  history[name] = (...parts) => { seen.push(JSON.stringify(parts)); return real(...parts); };
}"""


def _own(page: Page, text: str) -> None:
    page.get_by_text("Your own scores").click()
    page.locator("#declared").check()
    page.locator("#pasted").fill(text)
    page.locator("#use-pasted").click()
    expect(page.locator("#ask")).to_be_visible()


def test_scores_of_ones_own_never_reach_address_history_or_storage(visit: Go) -> None:
    here = visit()
    page = here.page
    page.add_init_script(WATCH)
    here.open()
    page.get_by_label("Score of gout", exact=True).fill("76543")  # typed over an example
    here.settled()
    expect(page).to_have_url(re.compile("page=[0-9a-f]{24}"))  # written a moment after a change
    page.reload()
    here.settled(charts=0)
    expect(page.get_by_label("Score of gout", exact=True)).to_have_value("76543")
    before = page.evaluate("seen")
    _own(page, "secretive,98765\nc&d=#,43210")
    expect(page.locator("#editor .bar")).to_have_count(2)
    here.settled()
    expect(page).to_have_url(re.compile("source=file%3A[0-9a-f]{24}"))
    page.get_by_label("Score of secretive", exact=True).fill("87654")
    here.settled()
    page.locator("nav [data-view=audit]").click()
    page.go_back()
    # Changes to them stay on the page.
    expect(page.get_by_label("Score of secretive", exact=True)).to_have_value("87654")
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    seen = [*before, *page.evaluate("seen")]
    assert any("source=file" in address for address in seen)
    for text in (link, page.url, stored, *seen, *here.addresses):
        assert not re.search("98765|43210|87654|76543|secretive|c%26d", text)
    # The server holds them, for this link and until it stops.
    other = visit()
    other.page.goto(link)
    other.settled()
    expect(other.page.locator("#editor .name").nth(1)).to_have_text("c&d=#")


def test_a_link_contains_scores_only_when_asked_to(visit: Go) -> None:
    here = visit().open()
    page = here.page
    _own(page, 'secretive,98765\n"c""d, e",43210')
    here.settled()
    page.get_by_role("button", name="Copy a link that contains these scores").click()
    expect(page.locator("#notices")).to_contain_text("browser’s history")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "98765" in link
    other = visit()
    other.page.goto(link)
    other.settled()
    expect(other.page.locator("#editor .name").nth(1)).to_have_text('c"d, e')
    assert "98765" not in other.page.url  # removed from the address at once
    other.page.locator("#epsilon").fill("0.375")
    expect(other.page).to_have_url(re.compile("0.375"))
    assert "98765" not in other.page.url  # and not written into it again
    expect(other.page.locator("#ask")).to_be_hidden()


def test_an_upload_takes_nothing_over_from_the_example_and_asks(visit: Go) -> None:
    here = visit().open()
    page = here.page
    expect(page.locator("#monotonic")).to_be_checked()
    page.locator("#sensitivity").fill("0.5")
    _own(page, "a,1000\nb,3")
    expect(page.locator("#monotonic")).not_to_be_checked()
    expect(page.locator("#sensitivity")).to_have_value("1")
    expect(page.locator("#tolerance")).to_have_value(
        "20"
    )  # a twentieth of the spread, rounded down
    expect(page.locator("#verdict-accuracy")).to_contain_text(
        "If one person moves each score by at most 1"
    )
    expect(page.locator("#verdict-privacy")).to_contain_text("in any direction: after ten releases")
    page.locator("#ask-done").click()
    expect(page.locator("#ask-wrong")).to_have_text("Choose one of the two.")
    page.get_by_label("They are counts of people").check()
    page.locator("#ask-sensitivity").fill("2")
    page.locator("#ask-done").click()
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#monotonic")).to_be_checked()
    expect(page.locator("#sensitivity")).to_have_value("2")
    expect(page.locator("#verdict-accuracy")).not_to_contain_text("If one person")


def test_a_look_alike_is_made_from_public_facts(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.get_by_text("Make a look-alike").click()
    page.locator("#made-lead").fill("900")
    page.locator("#make-look-alike").click()
    expect(page.locator("#made-wrong")).to_contain_text("a lead of at most the best score")
    page.locator("#made-lead").fill("25")
    page.locator("#made-count").fill("1,000")
    page.locator("#make-look-alike").click()
    expect(page.locator("#made-wrong")).to_have_text(
        "Candidates must be a whole number, not '1 000'"
    )
    page.locator("#made-count").fill("50")
    page.locator("#make-look-alike").click()
    expect(page.locator("#source option:checked")).to_have_text("Look-alike of 50 candidates")
    expect(page.locator("#made-wrong")).to_be_hidden()
    here.settled()
    page.get_by_role("button", name="Copy link").click()
    other = visit()
    other.page.goto(page.evaluate("navigator.clipboard.readText()"))
    other.settled()
    assert other.figures() == here.figures()


def test_a_strange_link_is_survived(visit: Go) -> None:
    here = visit().open("#epsilon=2&nonsense=5&inline=[]&edits=5&view=nowhere&monotonic=perhaps")
    words = (
        "These parts of the link were not understood and had no effect: "
        "nonsense, inline, edits, view, monotonic."
    )
    expect(here.page.locator("#notices")).to_contain_text(words)
    expect(here.page.locator("#epsilon")).to_have_value("2")


@pytest.mark.parametrize(
    "fragment", ["#source=file:gone&mechanisms=magic", "#source=example:none&epsilon=0"]
)
def test_a_link_that_asks_too_much_is_a_message(visit: Go, fragment: str) -> None:
    here = visit()
    page = here.page
    page.goto(here.url + fragment)
    expect(page.locator("#notices .notice").first).to_be_visible()
    page.locator("#source").select_option("example:salaries")
    page.locator("#epsilon").fill("1")
    here.settled()


def test_python_and_command_are_copied_as_shown(visit: Go) -> None:
    here = visit().open()
    page = here.page
    page.get_by_role("button", name="Copy as Python").first.click()
    code = page.evaluate("navigator.clipboard.readText()")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "recipe", "exec"), {})  # noqa: S102 - that it runs is the point
    assert "permute-and-flip" in output.getvalue()
    page.get_by_role("button", name="Copy as command").first.click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("discreet compare")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save scores.csv").click()
    assert download.value.path().read_text(encoding="utf-8").startswith("candidate,score")


@pytest.mark.parametrize(("kind", "start"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_every_chart_can_be_saved(visit: Go, kind: str, start: bytes) -> None:
    here = visit().open()
    for chart in here.page.locator("#charts figure").all():
        with here.page.expect_download() as download:
            chart.get_by_role("button", name=re.compile(f"as {kind}$")).click()
        content = download.value.path().read_bytes()
        assert content.startswith(start)
        assert len(content) > 2_000
        assert download.value.suggested_filename.endswith(kind.lower())


def test_every_chart_has_a_text_and_a_table(visit: Go) -> None:
    here = visit().open()
    for chart in here.page.locator("#charts figure").all():
        named = chart.locator(".canvas").get_attribute("aria-labelledby")
        assert chart.locator(".canvas").get_attribute("role") == "img"
        assert len(here.page.locator(f"#{named}").inner_text()) > 30
        chart.locator("summary").click()
        expect(chart.locator("tbody tr").nth(7)).to_be_attached()


def test_the_record_is_what_is_printed(visit: Go) -> None:
    here = visit(scheme="dark").open()
    page = here.page
    page.get_by_label("Purpose").fill("Most common diagnosis, 2026")
    page.get_by_label("Decided by").fill("A. Officer")
    page.emulate_media(media="print")
    expect(page.locator("#record")).to_be_visible()
    for hidden in (".scores", ".limits", ".top", ".answers", "#not-private", "footer"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator("#charts canvas").first).to_be_visible()
    expect(page.locator("#record-list")).to_contain_text("A. Officer")
    # On A4 with its margins, the record and its signatures take one page. Dark charts become light.
    page.set_viewport_size({"width": 673, "height": 1001})
    box = page.locator("#record").bounding_box()
    assert box is not None
    assert box["height"] <= 1001
    filters = page.locator("#charts canvas").evaluate_all(
        "all => all.map(each => getComputedStyle(each).filter)"
    )
    assert filters
    assert all("invert(1)" in each for each in filters)
    pages = page.pdf(format="A4")
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", pages)) <= 4  # the record, then its charts
    text = page.locator("#record-list").inner_text()
    for words in (
        "permute-and-flip",
        "Most common diagnosis, 2026",
        "A. Officer",
        "One person's data",
        "household",
        "at most 92.5% sure. That is more than the 90% tolerated.",
        "of releases",
        "10 releases",
        "Δ = 1",
        "Date",
        "Rejected: exponential mechanism",
        "discreet budget create DATASET --epsilon 2.5",
    ):
        assert words in text


def test_the_record_is_saved_and_checked(visit: Go, tmp_path: Path) -> None:
    here = visit().open()
    page = here.page
    page.get_by_label("Data set in the ledger").fill("visits")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save record.json").click()
    saved = tmp_path / "record.json"
    download.value.save_as(saved)
    digest = json.loads(saved.read_text(encoding="utf-8"))["hash"]
    expect(page.locator("#record-list")).to_contain_text(digest)  # on paper, too
    done = CliRunner().invoke(app, ["verify", str(saved)])
    assert done.exit_code == 0, done.output
    # The user's own scores go into the file only on request.
    _own(page, "secretive,98765\nother,5")
    expect(page.locator("#with-scores")).not_to_be_checked()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save record.json").click()
    assert "98765" not in download.value.path().read_text(encoding="utf-8")


def test_terms_are_explained_where_they_stand(visit: Go) -> None:
    page = visit().open().page
    term = page.locator("#now .term", has_text="ε at δ")
    expect(term).to_contain_text("if a failure of probability δ = 1e-6 is tolerated")
    term.focus()
    expect(page.locator("#tip")).to_be_visible()
    expect(page.locator("#tip")).to_contain_text("the least ε for all 10 releases together")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#tip")).to_contain_text("ρ, added up")


def test_an_empty_chart_says_why_it_is_empty(visit: Go) -> None:
    here = visit().open()
    _own(here.page, "a,3\nb,3")
    here.settled(charts=0)
    expect(here.page.locator("#chart-error .waiting")).to_have_text(
        "All candidates have the same score: no answer is worse than another."
    )


def test_the_theme_can_be_switched_and_is_remembered(visit: Go) -> None:
    here = visit(scheme="light").open()
    page = here.page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(paper) != light
    page.reload()
    here.settled()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_two_tabs_do_not_disturb_each_other(visit: Go) -> None:
    first, second = visit().open(), visit().open()
    first.page.locator("#epsilon").fill("3")
    second.page.locator("#source").select_option("example:staircase")
    first.settled()
    second.settled()
    expect(first.page.locator("#error-text")).to_contain_text("ε = 3")
    expect(second.page.locator("#error-text")).to_contain_text("ε = 1:")
    assert first.page.locator("#editor .name").first.text_content() == "influenza"


def test_every_move_is_drawn_and_its_time_told(visit: Go) -> None:
    """``benchmarks`` measures the time from the move to the last chart."""
    here = visit().open("#source=example:pages&epsilon=0.05&tolerance=50")
    for place in range(8):
        here.page.locator("#epsilon").fill(f"0.0{51 + place}")
        here.settled()
        expect(here.page.locator("#error-text")).to_contain_text(f"0.0{51 + place}")
        expect(here.page.locator("#results")).to_have_attribute(
            "data-milliseconds", re.compile("^[0-9]+$")
        )


def test_charts_out_of_view_are_drawn_when_the_page_rests(visit: Go) -> None:
    """A move waits only for the charts in view; the others follow, and are complete before printing."""
    here = visit(height=600).open()
    page = here.page
    page.evaluate("scrollTo(0, 0)")
    drawn = "document.querySelector('#chart-tail canvas').toDataURL()"
    expect(page.locator("#chart-tail")).not_to_be_in_viewport()
    before = page.evaluate(drawn)
    page.locator("#epsilon").fill("0.5")
    page.wait_for_function(f"(before) => {drawn} !== before", arg=before)
    # Without the rest, printing draws them.
    page.evaluate(
        "() => { const later = setTimeout;"
        " window.setTimeout = (work, time) => (time === 150 ? 0 : later(work, time)); }"
    )
    page.evaluate(f"() => {{ window.print = () => {{ window.printed = {drawn}; }}; }}")
    before = page.evaluate(drawn)
    page.locator("#epsilon").fill("2")
    here.settled()
    assert page.evaluate(drawn) == before
    page.locator("#print").evaluate("button => button.click()")
    page.wait_for_function("() => window.printed")
    assert page.evaluate("printed") != before


def test_figures_survive_a_missing_chart_library(visit: Go) -> None:
    here = visit()
    here.page.route("**/vega.js", lambda route: route.abort())
    here.page.goto(here.url)
    expect(here.page.locator("#notices")).to_contain_text("figures below are complete")
    assert len(here.figures()) == 3
