"""The answer card: whole words at every width, everything escaped, one unit, judgements by stated rules."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet import ZCDP, ApproxDP, PureDP, table
from discreet.guarantees import BoundedRange, Guarantee
from discreet.ledger import Ledger
from discreet.questions import FirstAbove, Mode, Quantiles, Question, TableRelease, TopK
from discreet.questions.answer import Meter
from discreet.questions.card import MODERATE, STRONG, WEAK, Card, Privacy

WIDTHS = (60, 80, 120)
EVIL = "<script>alert('1')</script> & \x1b[31mred\x07 \u202e \n second"
CODES = ["flu", "J00.1-2 acute nasopharyngitis, unspecified", "2026-03-01", EVIL]
VISITS = pl.DataFrame(
    {"person": range(300), "code": ["flu"] * 300, EVIL: [EVIL] * 300, "age": [40] * 300}
)
QUESTIONS: dict[str, Question] = {
    "mode": Mode("code", candidates=CODES, epsilon="0.3"),
    "with everything": Mode(
        "code", candidates=CODES, epsilon=3, with_count=True, with_people=True, where="age >= 18"
    ),
    "by groups": Mode(
        "code", candidates=CODES, epsilon=1, by=EVIL, groups=[EVIL, "other"], purpose="odd"
    ),
    "a column of its own": Mode(EVIL, candidates=CODES, epsilon=1, purpose="odd"),
    "top": TopK("code", k=3, candidates=CODES, epsilon=1),
    "quantiles": Quantiles("age", at=[0.1, 0.5, 0.9], bounds=(0, 120), epsilon="0.123456789"),
    "first": FirstAbove("code", groups=CODES, above=100, epsilon=1),
    "unknown": Mode("code", delta="1e-6", epsilon="0.001"),
}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Card]:
    """Each question's plan and answer, with a ledger in ε, a ledger in ρ, and without a ledger."""
    found: dict[str, Card] = {}
    with Ledger.open(tmp_path_factory.mktemp("cards") / "budget.db") as ledger:
        ledger.create("visits", ApproxDP(100, "1e-3"), accountant="epsilon-delta")
        ledger.create("by rho", ApproxDP(100, "1e-3"), accountant="rho-delta")
        for dataset in ("visits", "by rho", None):
            held = table(VISITS, user="person", ledger=ledger if dataset else None, dataset=dataset)
            for name, question in QUESTIONS.items():
                found[f"plan of {name}, {dataset}"] = held.plan(question).card
                found[f"answer of {name}, {dataset}"] = held.ask(question).card
        found["rehearsal"] = held.rehearse(QUESTIONS["mode"]).card
    return found


# ---- lines -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("explain", [False, True])
def test_no_line_is_broken_inside_a_word_or_a_number(
    cards: dict[str, Card], width: int, explain: bool
) -> None:
    """The wrapped card has the same words in the same order as the card in long lines."""
    wrapped = 0
    for name, card in cards.items():
        long, short = card.in_text(None, explain=explain), card.in_text(width, explain=explain)
        assert short.split() == long.split(), name
        for line in short.split("\n"):
            # A single word longer than a line is not broken; it follows its indent.
            assert len(line) <= width or len(line.split()) <= 2, (name, line)
        wrapped += len(short.split("\n")) > len(long.split("\n"))
    assert wrapped > len(cards) / 3


@pytest.mark.parametrize("width", WIDTHS)
def test_a_word_that_is_longer_than_the_line_stays_whole(width: int) -> None:
    address = "docs/" + "x" * 200 + ".md"
    card = _card(rules=(f"See {address} for 1,234,567.89 reasons.",))
    lines = card.in_text(width, explain=True).split("\n")
    assert any(line.strip() == address for line in lines)
    assert any("1,234,567.89" in line for line in lines)


def _card(**parts: Any) -> Card:
    usual: dict[str, Any] = {
        "answer": "flu",
        "bare": "flu",
        "title": "most common code",
        "price": "ε 1",
        "accuracy": None,
        "guarantee": PureDP(1),
        "meter": None,
        "fits": None,
        "details": {},
        "rules": (),
    }
    return Card(**usual | parts)


def test_the_first_line_has_the_answer_the_question_and_what_is_left() -> None:
    card = _card(answer="I10", meter=Meter(Fraction(0), Fraction(1), Fraction(2)))
    first = card.in_text(80).split("\n")[0]
    assert first == "▶ I10  most common code · ε 1 spent, 2 of 3 left"
    assert "no ledger counts" in _card().in_text(80).split("\n")[0]
    assert card.in_text(80, answer=False).startswith("most common code · ε 1 spent")
    several = _card(answer="0.1: 30\n0.9: 70").in_text(80).split("\n")
    assert several[:2] == ["0.1: 30", "0.9: 70"]
    assert several[2].startswith("▶ most common code")


def test_rules_are_shown_when_they_are_asked_for() -> None:
    card = _card(rules=("A rule.",), details={"proof": "docs/proofs/x.md"})
    assert "A rule." not in card.in_text(80)
    assert "  - A rule." in card.in_text(80, explain=True)
    assert "  - A rule." in _card(answer=None, rules=("A rule.",)).in_text(80)


def test_what_is_left_is_in_the_unit_of_the_budget(cards: dict[str, Card]) -> None:
    """A price in ε beside a budget in ρ would not add up."""
    for name, card in cards.items():
        if name.endswith(", by rho"):
            assert card.meter is not None
            assert card.cost.startswith("ρ "), name
        elif name.endswith(", visits"):
            assert card.cost.startswith("ε "), name
        elif name != "rehearsal":
            assert "no ledger counts" in card.cost
    assert cards["rehearsal"].cost == "nothing spent: these rows are invented"
    assert "INVENTED ROWS" in cards["rehearsal"].in_text(80)
    assert "Invented rows" in cards["rehearsal"].in_html()


def test_a_budget_that_is_not_enough() -> None:
    short = Meter(Fraction(2), Fraction(3, 2), Fraction(-1, 2))
    card = _card(answer=None, meter=short, fits=False)
    assert card.cost == "ε 1 to pay, 1 of 3 left: not enough"
    assert 'value="1.0000"' in card.in_html()
    told = {"spent": "2", "this": "1.5", "left": "0", "cap": "3", "symbol": "ε"}
    assert card.as_data()["meter"] == told


# ---- escaping --------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Collects the tags, their attributes and the text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


OWN_TAGS = {"div", "span", "strong", "br", "meter", "details", "summary", "p", "dl", "dt", "dd"}
OWN_TAGS |= {"ul", "li"}


def test_nothing_of_a_card_is_a_tag_or_a_control_character(cards: dict[str, Card]) -> None:
    told = 0
    for name, card in cards.items():
        reader = Reader()
        reader.feed(card.in_html())
        assert reader.tags <= OWN_TAGS, name
        assert reader.attributes <= {"style", "min", "max", "value", "aria-hidden"}, name
        text = "".join(reader.text)
        told += "<script>" in text
        for shown in (card.in_text(80, explain=True), text, card.bare):
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", shown), name
    assert told > 5  # the column, the groups and the labels appear as text


def test_a_line_of_an_answer_is_one_line_in_a_pipe(cards: dict[str, Card]) -> None:
    """A label with a line break or a tab is escaped, because programs count lines and tabs."""
    grouped = cards["answer of by groups, None"].bare.split("\n")
    assert len(grouped) == 2
    assert all(len(line.split("\t")) == 2 for line in grouped)
    assert len(cards["answer of top, None"].bare.split("\n")) == 3
    assert cards["plan of mode, None"].bare == ""


def test_the_bare_answer_of_nothing_is_said_in_words() -> None:
    def bare(answer: Any, **more: Any) -> str:
        return TableRelease(
            answer=answer, guarantee=PureDP(1), mechanism="x", neighbours="add-remove", **more
        ).in_tabs()

    assert bare(None) == bare({}) == bare((), ordered=True) == "nothing is safe to say"
    assert bare(None, threshold=Fraction(3)) == "none of them"
    assert bare({"a": None, "b": "flu"}, by="place") == "a\tnothing is safe to say\nb\tflu"
    assert bare(None, count=None, people=7) == "nothing is safe to say\t\t\t7"
    assert bare("flu", count=5) == "flu\t5"
    assert bare("flu", count=5, voted=9) == "flu\t5\t\t\t9"
    levels = bare({"a": (30, 60)}, by="place", labels=("0.1", "0.9"), people={"a": 8})
    assert levels == "a\t0.1\t30\t\t\t8\na\t0.9\t60\t\t\t8"
    assert bare("None") == "None"


def test_each_line_of_a_grouped_answer_names_its_group() -> None:
    def lines(answer: Any, **more: Any) -> list[str]:
        return (
            TableRelease(
                answer=answer, guarantee=PureDP(1), mechanism="x", neighbours="add-remove", **more
            )
            .in_lines()
            .split("\n")
        )

    ages = {"a": (30, 60), "b": (40, 70)}
    assert lines(ages, labels=("0.1", "0.9")) == [
        "a, 0.1: 30",
        "a, 0.9: 60",
        "b, 0.1: 40",
        "b, 0.9: 70",
    ]
    assert lines({"a": ("x", "y"), "b": ()}, ordered=True) == [
        "a: x", "a: y", "b: nothing is safe to say"
    ]  # fmt: skip
    assert lines({"a": None}, labels=("0.5",)) == ["a: nothing is safe to say"]
    assert lines({}) == ["nothing is safe to say"]


# ---- judgements ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guarantee", "judged"),
    [
        (PureDP(1), STRONG),
        (PureDP("1.000001"), MODERATE),
        (PureDP(3), MODERATE),
        (PureDP("3.000001"), WEAK),
        (PureDP(10**9), WEAK),
        (BoundedRange(1), STRONG),
        (ApproxDP(1, "1e-5"), STRONG),
        (ApproxDP(1, "1.1e-5"), MODERATE),
        (ApproxDP(1, "1.1e-3"), WEAK),
        (ApproxDP("0.01", "0.3"), WEAK),
        (ZCDP("0.001"), STRONG),
        (ZCDP("0.1"), MODERATE),
        (ZCDP(1), WEAK),
    ],
    ids=str,
)
def test_privacy_is_judged_by_stated_rules(guarantee: Guarantee, judged: str) -> None:
    assert Privacy.of(guarantee).judgement == judged


def test_how_sure_an_attacker_becomes() -> None:
    """The belief rises from 1/2 to at most e^ε/(1 + e^ε), rounded up; with a δ, the card says so."""
    assert Privacy.of(PureDP(1)).sure == "73.2%"
    assert str(Privacy.of(PureDP(1))).endswith("at most 73.2% sure")
    assert str(Privacy.of(ApproxDP(1, "1e-6"))).endswith("sure, except with probability 1e-6")
    assert str(Privacy.of(ZCDP("0.01"))).endswith("sure, except with probability 1e-6")
    assert Privacy.of(PureDP(800)).sure == "100%"


def test_plain_data_has_what_the_card_shows(cards: dict[str, Card], tmp_path: Path) -> None:
    import json

    for card in cards.values():
        data = json.loads(json.dumps(card.as_data()))
        assert data["title"] == card.title
        assert data["cost"] == card.cost
        assert data["privacy"]["words"] == str(card.privacy)
        assert data["rules"] == list(card.rules)
