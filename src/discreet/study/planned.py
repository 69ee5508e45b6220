"""The plan of a study: what it costs, how accurate it is, and the hash to sign."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discreet._displays import counted, escape, visible
from discreet._displays import table as html_table
from discreet._exact.numbers.exact import shown
from discreet._exact.numbers.printing import figure, percent
from discreet.accounting.accountants import NOTHING, Amount, exact_cost
from discreet.questions import Question
from discreet.study.study import Asked, Study

if TYPE_CHECKING:
    from discreet.questions.plan import Plan

FORMAT = 1
"""The version of the canonical form that is hashed."""


@dataclass(frozen=True, kw_only=True)
class PlannedQuestion:
    """One question of a planned study, with its cost and accuracy.

    Attributes:
        asked: the question as the study states it.
        question: the question as it will be asked, with its ε, and with public lists instead of file names.
        amount: the amount that the ledger will charge for it.
        card: the card of its plan, as plain data.
        plan: its plan; None at a desk.
        part: at a desk, the part of a budget that the question is charged to, such as ``clinic/alice``.
    """

    asked: Asked
    question: Question
    amount: Amount
    card: Mapping[str, Any]
    plan: Plan | None = None
    part: str | None = None

    @property
    def cost(self) -> Fraction:
        """The question's cost, in the budget's unit."""
        return exact_cost(self.amount.cost)

    @property
    def accuracy(self) -> str:
        """The accuracy of the answer, in words."""
        known = self.card["accuracy"]
        return "not known" if known is None else str(known["words"])

    @property
    def judgement(self) -> str | None:
        """The judgement: useful, doubtful or no better than guessing; None if the accuracy is not known."""
        known = self.card["accuracy"]
        return None if known is None else known["judgement"]

    @property
    def reached(self) -> float | None:
        """The planned error of the answer; None if no largest error was requested or no error is known."""
        known, wanted = self.card["accuracy"], self.asked.question
        if known is None or wanted.error_at_most is None:
            return None
        found = known["typical" if wanted.typical else "worst"]
        return None if found is None else float(found)

    @property
    def wanted(self) -> Fraction | None:
        """The requested largest error; None if none was requested."""
        given = self.asked.question.error_at_most
        return None if given is None else Fraction(given)


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyPlan:
    """A study ready to be signed; no row has been read and nothing has been paid.

    Attributes:
        study: the study.
        lines: the planned questions, in the study's order.
        budget: the budget that pays, such as ``clinic`` or ``clinic/alice``; None at a desk.
        accountant: the rule by which that budget adds up costs.
        symbol: ε or ρ.
        remaining: the amount left in the budget; None if no budget is known. If a desk charges several
            budgets, the smallest amount.
        paid: the questions that an earlier run of the same plan has paid for; running them again is free.
        needed: the least cost that would reach every requested accuracy, if the study may not cost that much;
            otherwise None.
        curves: computes the proved error of each question for a given cost of the whole study.
        parts: at a desk, the amount left in each part of a budget that a question is charged to.

    Example:
        >>> import polars as pl
        >>> from discreet.questions import Median
        >>> from discreet.study import Asked, Study
        >>> people = pl.DataFrame({"person": range(900), "age": [20 + i % 41 for i in range(900)]})
        >>> study = Study(
        ...     title="Ages",
        ...     dataset="clinic",
        ...     tables={"people": {"data": people, "user": "person"}},
        ...     questions=[Asked("age", "people", Median("age", bounds=(0, 120), epsilon=1))],
        ... )
        >>> plan = study.plan()
        >>> plan.total, plan.lines[0].judgement, len(plan.hash)
        (Fraction(1, 1), 'useful', 64)
    """

    study: Study
    lines: tuple[PlannedQuestion, ...]
    budget: str | None
    accountant: str
    symbol: str
    remaining: Amount | None
    needed: Fraction | None
    curves: Callable[[float], dict[str, float]]
    parts: Mapping[str, Amount] = field(default_factory=dict)
    paid: frozenset[str] = frozenset()

    @property
    def total(self) -> Fraction:
        """The cost of the whole study."""
        return sum((line.cost for line in self.lines), Fraction(0))

    @property
    def left(self) -> Fraction | None:
        """The amount in ``remaining``, in the budget's unit; None if no budget is known."""
        return None if self.remaining is None else exact_cost(self.remaining.cost)

    @property
    def fits(self) -> bool | None:
        """Whether the remaining budget covers the ε (or ρ) and δ still unpaid; None if no budget is known.

        At a desk only ε is compared; if it charges several budgets, each must cover its own questions.
        """
        if self.remaining is None:
            return None
        if self.parts:
            return all(self._covered(part) for part in self.parts)
        return self.ahead.fits(self.remaining)

    @property
    def ahead(self) -> Amount:
        """The amount that is not paid yet."""
        return self._due(self.lines)

    def _due(self, lines: Iterable[PlannedQuestion]) -> Amount:
        """Return the total cost of the given questions, without those that are already paid for."""
        return sum((line.amount for line in lines if line.asked.name not in self.paid), NOTHING)

    def _covered(self, part: str) -> bool:
        """Return whether this part of a desk's budget covers the questions that are charged to it."""
        return self._due(line for line in self.lines if line.part == part).fits(self.parts[part])

    @property
    def ratio(self) -> float | None:
        """The largest ratio of reached to requested error; None if no error was requested."""
        parts = [
            line.reached / float(line.wanted)
            for line in self.lines
            if line.wanted is not None and line.reached is not None
        ]
        return max(parts, default=None)

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Everything that is signed, as plain data; it contains no rows, sizes or times."""
        study = self.study
        return {
            "format": FORMAT,
            "title": study.title,
            "dataset": study.dataset,
            "accountant": self.accountant,
            "shared": study.shared,
            "tables": {
                name: _public(study.stated.get(name, facts)) for name, facts in study.tables.items()
            },
            "questions": [
                {
                    "name": line.asked.name,
                    "table": line.asked.table,
                    "question": line.question.to_dict(),
                    "cost": shown(line.cost),
                }
                for line in self.lines
            ],
            "total": shown(self.total),
        }

    @cached_property
    def hash(self) -> str:
        """The hash to sign: the SHA-256 of the canonical plan."""
        return hash_of(self.canonical)

    def key(self, name: str) -> str:
        """Return the key sent to a desk with a question, so that a second run gets the same answer."""
        return hashlib.sha256(f"{self.hash} {name}".encode()).hexdigest()

    # ---- as people see it ----------------------------------------------------------------------

    @property
    def rows(self) -> list[list[str]]:
        """Return a row for each question: name, what it asks, cost, share of the total cost, and accuracy."""
        return [
            [
                line.asked.name,
                str(line.card["title"]),
                figure(line.cost),
                percent(float(line.cost / self.total)),
                line.accuracy,
            ]
            for line in self.lines
        ]

    @property
    def columns(self) -> list[str]:
        """The column names of ``rows``."""
        return ["question", "asks", self.symbol, "share", "accuracy"]

    @property
    def conclusion(self) -> str:
        """Sum up the plan in sentences."""
        verb = "costs" if len(self.lines) == 1 else "cost"
        said = [
            f"{counted(len(self.lines), 'question')} {verb} {self.symbol} = {figure(self.total)} in all"
        ]
        if self.study.most is not None:
            most = figure(self.study.most, up=False)
            said[0] += f"; the study may cost {self.symbol} = {most} at most"
        if self.needed is not None:
            short = figure(self.needed - (self.study.most or 0))
            said.append(
                f"every wanted accuracy would take {self.symbol} = {figure(self.needed)}, {short} more than "
                "the study may cost"
            )
        if self.ratio is not None and self.ratio > 1:
            said.append(f"errors are up to {figure(Fraction(self.ratio))} times what was wanted")
        if len(self.paid) == len(self.lines):
            said.append("all of it is paid: running the study again costs nothing")
        elif self.paid:
            ahead = figure(exact_cost(self.ahead.cost))
            said.append(f"of that, {self.symbol} = {ahead} is still to be paid")
        if self.left is not None and len(self.paid) < len(self.lines):
            whose = (
                "your part of the budget" if self.budget is None else f"the budget {self.budget}"
            )
            budgets = [(whose, self.left, self.fits)]
            if len(self.parts) > 1:
                budgets = [
                    (f"the budget {part}", exact_cost(left.cost), self._covered(part))
                    for part, left in self.parts.items()
                ]
            said += [
                f"{whose} has {self.symbol} = {figure(left, up=False)} left: "
                f"{'it fits' if fits else 'that is not enough'}"
                for whose, left, fits in budgets
            ]
        elif self.left is None and not self.study.at_a_desk:
            said.append(f"there is no budget {self.budget!r} to pay from yet")
        return ". ".join(part[0].upper() + part[1:] for part in said) + "."

    @property
    def doubts(self) -> list[str]:
        """Return the reasons why answers may be meaningless."""
        return [
            f"{line.asked.name}: {doubt}" for line in self.lines for doubt in line.card["doubts"]
        ]

    def __repr__(self) -> str:
        lines = [
            f"{name} · {self.symbol} {cost} · {words}" for name, _, cost, _, words in self.rows
        ]
        return "\n".join(
            map(visible, [self.study.title, *lines, self.conclusion, f"hash {self.hash}"])
        )

    def _repr_html_(self) -> str:
        return (
            f"<strong>{escape(self.study.title)}</strong>{html_table(self.columns, self.rows)}"
            f"<p>{escape(self.conclusion)}</p><p>hash <code>{self.hash}</code></p>"
        )

    def as_data(self) -> dict[str, Any]:
        """Return the plan as plain data, for JSON."""
        return {
            "hash": self.hash,
            "budget": self.budget,
            "plan": self.canonical,
            "most": None if self.study.most is None else shown(self.study.most),
            "left": None if self.left is None else shown(self.left),
            "fits": self.fits,
            "needed": None if self.needed is None else shown(self.needed),
            "ratio": self.ratio,
            "cards": {line.asked.name: line.card for line in self.lines},
            "conclusion": self.conclusion,
        }

    def chart(self) -> Any:
        """Draw the proved error of each question against the total cost."""
        from discreet.analysis.charts.style import line_chart, styled

        records = []
        for step in range(-6, 7):
            total = float(self.total) * 2 ** (step / 3)
            for name, error in self.curves(total).items():
                if error > 0:
                    records.append({"question": name, "total": total, "error": error})
        known = [line.card["accuracy"] for line in self.lines]
        usual = all(each is None or each["level"] == 0.95 for each in known)
        often = "19 times out of 20 at most" if usual else "at most, as often as each question asks"
        drawn = line_chart(
            records,
            x=("total", f"{self.symbol} of the whole study"),
            y=("error", f"proved error, {often}"),
            series="question",
            log_x=True,
            log_y=True,
        )
        return styled(
            drawn,
            title="The error of each answer against the cost of the study",
            subtitle=[self.study.title],
        )


def hash_of(canonical: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain data in its canonical form.

    Example:
        >>> hash_of({"b": 1, "a": "é"})[:12]
        '6d9eb4528409'
    """
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _public(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's settings as plain data; a frame in memory is replaced by the name of its type."""
    plain = {}
    for name, value in facts.items():
        if name == "data" and not isinstance(value, str):
            value = f"{type(value).__module__.partition('.')[0]} {type(value).__name__}"  # noqa: PLW2901
        plain["source" if name == "data" else name] = _simple(value)
    return plain


def _simple(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _simple(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_simple(each) for each in value]
    return value if isinstance(value, str | int | bool | None) else str(value)
