"""The card that shows a plan or an answer, with the same content everywhere.

One object renders itself for a terminal, a notebook, a web page and a pipe. It shows the answer and the
question in words, then a judgement of accuracy and of privacy, and the budget as a meter. The mechanism, the
proof and the rules come last.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet._displays import escape, visible
from discreet._exact.numbers.printing import figure, percent
from discreet.guarantees import ApproxDP, Guarantee
from discreet.questions.answer import INVENTED

if TYPE_CHECKING:
    from discreet.questions.accuracy import Accuracy
    from discreet.questions.answer import Meter, TableRelease
    from discreet.questions.plan import Plan

STRONG, MODERATE, WEAK = "strong", "moderate", "weak"
COLOURS = {
    "useful": "green",
    STRONG: "green",
    "doubtful": "amber",
    MODERATE: "amber",
    "no better than guessing": "red",
    WEAK: "red",
}
"""The colour of each judgement; it depends on public facts only."""
_ON_PAPER = {"green": "#1a7f37", "amber": "#9a6700", "red": "#cf222e"}
_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Privacy:
    """The meaning of a guarantee for one person: a judgement, and how sure an attacker can become.

    Strong means ε of at most 1 and δ of at most 10⁻⁵; moderate means at most 3 and 10⁻³;
    anything else is weak. A guarantee in ρ is converted to ε at δ = 10⁻⁶.
    """

    judgement: str
    sure: str
    failing: Fraction = Fraction(0)

    @staticmethod
    def of(guarantee: Guarantee) -> Privacy:
        """Judge a guarantee.

        Example:
            >>> from discreet import PureDP
            >>> print(Privacy.of(PureDP(1)))
            strong: an attacker who is 50% sure that a given person is in the data can become at most 73.2%
                sure
            >>> print(Privacy.of(PureDP(10)))
            weak: an attacker who is 50% sure that a given person is in the data can become all but certain
                (above 99.9%)
        """
        if not isinstance(guarantee, ApproxDP):
            at = Fraction(1, 10**6) if guarantee.symbol == "ρ" else Fraction(0)
            guarantee = guarantee.to(ApproxDP, delta=at)
        epsilon, delta = guarantee.exact
        strong = epsilon <= 1 and delta <= Fraction(1, 10**5)
        moderate = epsilon <= 3 and delta <= Fraction(1, 10**3)
        return Privacy(
            STRONG if strong else MODERATE if moderate else WEAK,
            percent(1 / (1 + math.exp(-min(guarantee.epsilon, 700))), up=True),
            Fraction(delta),
        )

    def __str__(self) -> str:
        most = f"at most {self.sure} sure"
        if self.sure.startswith("above"):
            most = f"all but certain ({self.sure})"
        words = (
            f"{self.judgement}: an attacker who is 50% sure that a given person is in the data can "
            f"become {most}"
        )
        return words + (f", except with probability {figure(self.failing)}" if self.failing else "")


@dataclass(frozen=True, kw_only=True)
class Card:
    """A plan or an answer, in the form shown to people.

    Attributes:
        answer: the answer in lines; None for a plan.
        bare: the answer for a pipe: one line per value, with tab-separated parts.
        title: the question in words.
        price: the cost, such as ``"ε 1"``.
        accuracy: the accuracy of the answer.
        guarantee: the guarantee of the answer.
        meter: what is spent, what this costs and what is left; None without a ledger.
        fits: for a plan, whether enough is left.
        details: mechanism, proof and the like, by name.
        rules: what is left out, moved, assigned or taken on trust.
        doubts: reasons why the answer may be pure noise.
        invented: whether the answer is about invented rows.
    """

    answer: str | None
    bare: str
    title: str
    price: str
    accuracy: Accuracy | None
    guarantee: Guarantee
    meter: Meter | None
    fits: bool | None
    details: Mapping[str, str]
    rules: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    invented: bool = False

    @staticmethod
    def of_plan(plan: Plan) -> Card:
        """Make the card of a plan."""
        return Card(
            answer=None,
            bare="",
            title=plan.title,
            price=_price(plan.guarantee),
            accuracy=plan.accuracy,
            guarantee=plan.guarantee,
            meter=plan.meter,
            fits=plan.fits,
            details={
                "mechanism": plan.event.mechanism,
                "neighbours": plan.event.neighbours,
                "proof": str(plan.proof),
            }
            | ({} if plan.chosen is None else {"chosen": plan.chosen}),
            rules=plan.rules,
            doubts=plan.doubts,
        )

    @staticmethod
    def of_release(release: TableRelease) -> Card:
        """Make the card of an answer."""
        return Card(
            answer=release.in_lines(),
            bare=release.in_tabs(),
            title=release.title or "selection",
            price=_price(release.guarantee),
            accuracy=release.judged_accuracy,
            guarantee=release.guarantee,
            meter=release.meter,
            fits=None,
            details={
                "mechanism": release.mechanism,
                "neighbours": release.neighbours,
                "ledger": "none" if release.entry is None else str(release.entry),
                "proof": str(release.guarantee.proof),
            },
            rules=release.rules,
            invented=release.invented,
        )

    # ---- in words ------------------------------------------------------------------------------

    @property
    def privacy(self) -> Privacy:
        """The guarantee's meaning for one person."""
        return Privacy.of(self.guarantee)

    @property
    def cost(self) -> str:
        """The price, and what is left of the budget."""
        if self.invented:
            return "nothing spent: these rows are invented"
        if self.meter is None:
            return (
                f"{self.price} {'to pay' if self.answer is None else 'spent'}, no ledger counts it"
            )
        cap, price = figure(self.meter.cap, up=False), self.price
        if self.meter.symbol != "ε":  # the budget is not in the answer's own unit
            price = f"{self.meter.symbol} {figure(self.meter.this)}"
        if self.answer is not None:
            return f"{price} spent, {figure(self.meter.left, up=False)} of {cap} left"
        now = figure(self.meter.left + self.meter.this, up=False)
        return f"{price} to pay, {now} of {cap} left{'' if self.fits else ': not enough'}"

    def _judged(self) -> Iterator[tuple[str, str]]:
        if self.accuracy is not None:
            yield "accuracy", str(self.accuracy)
        yield "privacy", str(self.privacy)

    def in_text(self, width: int | None, *, explain: bool = False, answer: bool = True) -> str:
        """Format the card for a terminal of this width; lines break only between words."""
        mark = "▶ " if self.answer is not None else ""
        lines: list[str] = []
        if answer and self.answer is not None and "\n" in self.answer:
            lines += [*self.answer.split("\n"), f"{mark}{self.title} · {self.cost}"]
        elif answer and self.answer is not None:
            lines.append(f"{mark}{self.answer}  {self.title} · {self.cost}")
        else:
            lines.append(f"{self.title} · {self.cost}")
        if self.invented:
            lines.append(INVENTED)
        lines += [f"  {name}: {words}" for name, words in self._judged()]
        lines.append(f"  {self.guarantee.in_words()}")
        lines += [f"  warning: {doubt}" for doubt in self.doubts]
        if explain or self.answer is None:
            if self.accuracy is not None and self.accuracy.assumed:
                lines.append(
                    f"  typical data: {self.accuracy.assumed}; off means {self.accuracy.meaning}"
                )
            lines += [f"  {name}: {words}" for name, words in self.details.items()]
            lines += [f"  - {rule}" for rule in self.rules]
        return "\n".join(_wrapped(visible(line, keep="\n\t"), width) for line in lines)

    # ---- in a notebook and on a page ------------------------------------------------------------

    def in_html(self) -> str:
        """Return the card as HTML without scripts; everything is escaped."""
        parts = []
        if self.invented:
            parts.append(
                "<div><strong>Invented rows: this says nothing about the data</strong></div>"
            )
        if self.answer is not None:
            shown = "<br>".join(map(escape, self.answer.split("\n")))
            parts.append(f'<div style="font-size:160%;font-weight:600">{shown}</div>')
        parts.append(f'<div style="margin:2px 0 8px">{escape(self.title)}</div>')
        for name, judgement, words in (
            ("Accuracy", None if self.accuracy is None else self.accuracy.judgement, self.accuracy),
            ("Privacy", self.privacy.judgement, self.privacy),
        ):
            if words is not None:
                colour = _ON_PAPER[COLOURS[judgement]] if judgement in COLOURS else "#57606a"
                parts.append(
                    f'<div><span aria-hidden="true" style="color:{colour}">●</span> {name}: '
                    f"{escape(str(words))}</div>"
                )
        parts.append(f"<div>{self._meter_in_html()}{escape(self.cost)}</div>")
        parts += [f"<div><strong>{escape(doubt)}</strong></div>" for doubt in self.doubts]
        rows = "".join(f"<dt>{escape(n)}</dt><dd>{escape(w)}</dd>" for n, w in self.details.items())
        rules = "".join(f"<li>{escape(rule)}</li>" for rule in self.rules)
        return (
            '<div style="border-left:3px solid #8888;padding:4px 12px;margin:4px 0">'
            f"{''.join(parts)}<details><summary>Guarantee, proof and rules</summary>"
            f"<p>{escape(self.guarantee.in_words())}</p><dl>{rows}</dl><ul>{rules}</ul></details></div>"
        )

    def _meter_in_html(self) -> str:
        if self.meter is None or not self.meter.cap:
            return ""
        used = min(1.0, float((self.meter.spent + self.meter.this) / self.meter.cap))
        return f'<meter min="0" max="1" value="{used:.4f}">{used:.0%} used</meter> '

    def as_data(self) -> dict[str, Any]:
        """Return the card as plain data, for a page."""
        return {
            "answer": self.answer,
            "title": self.title,
            "cost": self.cost,
            "accuracy": None if self.accuracy is None else self.accuracy.as_data(),
            "privacy": {"judgement": self.privacy.judgement, "words": str(self.privacy)},
            "meter": None if self.meter is None else self.meter.as_data(),
            "fits": self.fits,
            "guarantee": self.guarantee.in_words(),
            "details": dict(self.details),
            "rules": list(self.rules),
            "doubts": list(self.doubts),
            "invented": self.invented,
        }


def _price(guarantee: Guarantee) -> str:
    symbols = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
    return ", ".join(
        f"{symbols[name]} {figure(number)}" for name, number in guarantee.figures.items()
    )


def _wrapped(line: str, width: int | None) -> str:
    if width is None or len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
