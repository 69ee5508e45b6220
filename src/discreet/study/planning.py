"""Plan a study: choose an ε for each question, compute costs and errors, and look up the budget."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._exact.numbers.exact import shown
from discreet._exact.numbers.printing import figure
from discreet._tables import Table
from discreet._tables.moments import RECURRING
from discreet.accounting.accountants import (
    ACCOUNTANTS,
    LARGEST_COST,
    Amount,
    exact_cost,
    limit,
    spent,
)
from discreet.errors import NoBudgetError, ParameterError
from discreet.questions import Question
from discreet.questions.candidates import candidates_of
from discreet.questions.periods import is_range
from discreet.questions.plan import Plan, Setting, plan_of
from discreet.questions.private_table import PrivateTable
from discreet.questions.private_table import table as private_table
from discreet.questions.question import fields_of
from discreet.questions.run import AnyLedger, opened
from discreet.study.past import Past
from discreet.study.planned import PlannedQuestion, StudyPlan
from discreet.study.split import Curve, Point, weakest
from discreet.study.study import DESK, LEAST, WEAKEST, Asked, Study, StudyError, placed

if TYPE_CHECKING:
    from discreet.ledger import Budget


def plan_study(
    study: Study,
    *,
    ledger: AnyLedger | None = None,
    part: str | None = None,
    tables: Mapping[str, Any] | None = None,
) -> StudyPlan:
    """Plan every question of a study and split the total cost; a desk passes its own ``tables``."""
    tables = opened_tables(study) if tables is None else tables
    name = budget_name(study, part)
    with opened(None if study.at_a_desk else ledger) as found:
        try:
            budget = None if found is None else found.show(name)
        except NoBudgetError:
            budget = None
        plan = _planned(study, tables, name, budget)
        if budget is None:
            return plan
        return replace(plan, paid=frozenset(Past.of(found, plan).paid))


def _planned(
    study: Study, tables: Mapping[str, Any], name: str | None, budget: Budget | None
) -> StudyPlan:
    accountant = "epsilon" if budget is None else budget.accountant
    planner = _Planner(study, tables, accountant, None if budget is None else budget.neighbours)
    split = planner.split()
    lines = planner.lines(split.epsilons)
    total = sum((line.cost for line in lines), Fraction(0))
    parts = _left_at_desk(lines) if study.at_a_desk else {}
    return StudyPlan(
        study=study,
        lines=lines,
        budget=name,
        accountant=accountant,
        symbol=ACCOUNTANTS[accountant].symbol,
        remaining=min(parts.values(), key=lambda left: left.cost, default=None)
        if budget is None
        else budget.remaining,
        parts=parts,
        needed=split.needed,
        curves=lambda whole: planner.errors(split.epsilons, whole / float(total)),
    )


def _left_at_desk(lines: Sequence[PlannedQuestion]) -> dict[str, Amount]:
    """Return the remaining amount of each part of a budget that a desk charges, by the part's name.

    A card's meter is rounded and clamped at zero, so the amount is read from ``left``, which is exact.
    """
    parts = {}
    for line in lines:
        left = re.match(r"ε = (\d+(\.\d+)?)", str(line.card.get("left")))
        if line.part is not None and left is not None:
            parts[line.part] = limit(Fraction(left[1]))
    return parts


def budget_name(study: Study, part: str | None) -> str | None:
    """Return the name of the budget that pays: a data set's, or one analyst's part; None at a desk."""
    if study.dataset is None or part is None:
        return study.dataset
    return f"{study.dataset}/{part}"


def opened_tables(study: Study) -> dict[str, Any]:
    """Open the tables of a study, or raise an error that lists all problems."""
    problems, tables = [], {}
    desk: Any = None
    for name, facts in study.tables.items():
        source = facts["data"]
        try:
            if isinstance(source, str) and source.startswith(DESK):
                from discreet.desk.client import connect

                desk = desk or connect()
                tables[name] = desk.table(source.removeprefix(DESK))
            else:
                tables[name] = private_table(**facts)
        except ParameterError as error:
            problems.append(placed(study, name, error))
    if problems:
        raise StudyError(problems)
    return tables


@dataclass(frozen=True)
class _Split:
    epsilons: dict[str, Fraction]
    needed: Fraction | None = None


class _Planner:
    """Plans the questions of one study at any ε."""

    def __init__(
        self, study: Study, tables: Mapping[str, Any], accountant: str, neighbours: str | None
    ) -> None:
        self.neighbours = neighbours
        self.study, self.tables, self.accountant = study, tables, ACCOUNTANTS[accountant]
        self.settings: dict[str, Setting] = {
            name: table._setting(accountant)
            for name, table in tables.items()
            if isinstance(table, PrivateTable)
        }
        self.card_at = cache(self._card_at)

    # ---- one question at an ε -------------------------------------------------------------------

    def plan(self, asked: Asked, epsilon: Fraction) -> Plan:
        """Return the plan of a question at this ε."""
        question = asked.question.changed(epsilon=epsilon, error_at_most=None, typical=False)
        return plan_of(question, self.settings[asked.table])

    def _card_at(self, name: str, epsilon: Fraction) -> Mapping[str, Any]:
        """Ask the desk for the card of a question at this ε."""
        asked = next(each for each in self.study.questions if each.name == name)
        question = asked.question.changed(epsilon=epsilon, error_at_most=None, typical=False)
        found: dict[str, Any] = self.tables[asked.table].plan(question)
        return found

    def amount(self, plan: Plan) -> Amount:
        """Return the amount that the ledger will charge, under the budget's neighbour relation."""
        return self.accountant.amount(plan.event.under(self.neighbours or plan.event.neighbours))

    def cost(self, plan: Plan) -> Fraction:
        """Return the ledger's charge as a number, in the budget's unit."""
        return exact_cost(self.amount(plan).cost)

    def curve(self, asked: Asked) -> Curve:
        """Return a question's error and cost as functions of ε, with its requested error."""
        question = asked.question

        def at(epsilon: Fraction) -> Point:
            plan = self.plan(asked, epsilon)
            accuracy = plan.accuracy
            error = None
            if accuracy is not None:
                error = accuracy.typical if question.typical else accuracy.worst
            if error is None:
                raise ParameterError(
                    "⟨error_at_most⟩ is not allowed here: no bound is proved for it"
                )
            return float(error), float(self.cost(plan))

        return Curve(at, float(Fraction(question.error_at_most or 1) / asked.weight))

    # ---- all of them ------------------------------------------------------------------------------

    def split(self) -> _Split:
        """Choose an ε for every question, without exceeding the most that the study may cost."""
        study, most = self.study, self.study.most
        epsilons, problems = {}, []
        for asked in study.questions:
            try:
                epsilons[asked.name] = self._alone(asked)
            except ParameterError as error:
                problems.append(placed(study, asked.name, error))
        if problems:
            raise StudyError(problems)
        if most is None:
            return _Split(epsilons)
        costs = {
            asked.name: self._cost_at(asked, epsilons[asked.name])
            for asked in study.questions
            if not asked.shares
        }
        needed = sum(costs.values(), Fraction(0))
        sharing = [asked for asked in study.questions if asked.shares]
        if study.split == WEAKEST:
            epsilons |= self._weakest(costs)
            sharing = []
        elif needed > most or (sharing and needed == most):
            raise StudyError(
                [
                    f"epsilon = {shown(most)} is too small by {figure(needed - most)} for the wanted "
                    f'accuracies: raise it, ask for less, or write split = "{WEAKEST}": then all of it '
                    "is shared so that the worst question is as good as it can be"
                ]
            )
        for asked in sharing:
            epsilons[asked.name] = self._share(asked, sharing, most - needed)
        return _Split(epsilons, needed if needed > most else None)

    def _alone(self, asked: Asked) -> Fraction:
        """Return the ε that a question states, or the least ε that reaches its requested accuracy."""
        question = asked.question
        if self.study.at_a_desk:
            if question.error_at_most is not None:
                raise ParameterError(
                    "a desk needs ⟨epsilon⟩: error_at_most works only for your own tables"
                )
            return question.total
        if question.error_at_most is None:
            self.plan(asked, question.total)
            return question.total
        found = plan_of(question, self.settings[asked.table]).question
        if self.study.most is not None and self.study.split == LEAST:
            cost = Fraction(LARGEST_COST)
            if found.total <= cost:
                cost = self._cost_at(asked, found.total)
            if cost > self.study.most:
                raise ParameterError(
                    f"no {self.accountant.symbol} up to {figure(self.study.most, up=False)} reaches "
                    f"error_at_most = {shown(Fraction(question.error_at_most))}: it takes at least "
                    f"{figure(cost)}"
                )
        return found.total

    def _cost_at(self, asked: Asked, epsilon: Fraction) -> Fraction:
        if self.study.at_a_desk:
            return epsilon
        return self.cost(self.plan(asked, epsilon))

    def _weakest(self, costs: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return an ε for each question such that all have the same ratio of reached to requested error.

        Questions with a stated ε are left out, and their cost is set aside first.
        """
        assert self.study.most is not None
        wanting = [each for each in self.study.questions if each.question.error_at_most is not None]
        if len(wanting) < len(self.study.questions) and any(
            each.shares for each in self.study.questions
        ):
            raise StudyError(
                [f'split = "{WEAKEST}" needs error_at_most or epsilon in every question']
            )
        stated = sum(
            (costs[each.name] for each in self.study.questions if each not in wanting), Fraction(0)
        )
        if not wanting:
            return {}
        rest = self.study.most - stated
        curves = [self.curve(each) for each in wanting]
        found = weakest(curves, float(rest)) if rest > 0 else None
        if found is None:
            least = f"the stated questions alone cost {figure(stated)}"
            raise StudyError([f"epsilon = {shown(self.study.most)} is too small: {least}"])
        chosen = {each.name: epsilon for each, epsilon in zip(wanting, found, strict=True)}
        # Interpolated costs may be slightly too small: reduce every ε as little as necessary to fit.
        for _ in range(20):
            over = (
                sum((self._cost_at(each, chosen[each.name]) for each in wanting), Fraction(0))
                / rest
            )
            if over <= 1:
                return chosen
            less = min(Fraction(999, 1000), 1 / over)
            chosen = {name: _six_digits(epsilon * less) for name, epsilon in chosen.items()}
        raise AssertionError

    def _share(self, asked: Asked, sharing: list[Asked], rest: Fraction) -> Fraction:
        """Return the ε that costs this question's share of ``rest``, rounded down."""
        part = rest * asked.weight / sum((each.weight for each in sharing), Fraction(0))
        rounded = Fraction(math.floor(part * 10**9), 10**9)
        if rounded and 0 <= part - self._cost_at(asked, rounded) < Fraction(1, 10**8):
            return rounded
        low, high = 0.0, 40.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if self._cost_at(asked, _six_digits(Fraction(middle))) <= part
                else (low, middle)
            )
        return _six_digits(Fraction(low))

    def _scaled(self, asked: Asked, epsilon: Fraction, factor: Fraction) -> Fraction:
        """Return the ε that costs ``factor`` times as much as ``epsilon``, or up to a thousandth less.

        A cost in ε is proportional to ε; a cost in ρ is nearly proportional to the square of ε.
        """
        most = self._cost_at(asked, epsilon) * factor
        low, high = sorted((epsilon, _six_digits(epsilon * factor)))
        least, largest = self._cost_at(asked, low), self._cost_at(asked, high)
        if largest <= most:
            return high
        while least > most and low > Fraction(1, 10**12):
            low, high, largest = _six_digits(low / 2), low, least
            least = self._cost_at(asked, low)
        for _ in range(20):
            if most * Fraction(999, 1000) <= least:
                break
            # The costs lie near a power of ε. Aim a little below, because the result must not cost more.
            part = math.log(most * Fraction(9995, 10000) / least) / math.log(largest / least)
            middle = _six_digits(low * Fraction(float(high / low) ** part))
            cost = self._cost_at(asked, middle)
            if cost <= most:
                low, least = middle, cost
            else:
                high, largest = middle, cost
        return low

    def lines(self, epsilons: Mapping[str, Fraction]) -> tuple[PlannedQuestion, ...]:
        """Return every question as it will be asked, or raise an error that lists all problems."""
        problems, lines = [], []
        for asked in self.study.questions:
            try:
                lines.append(self._line(asked, epsilons[asked.name]))
            except ParameterError as error:
                problems.append(placed(self.study, asked.name, error))
        if problems:
            raise StudyError(problems)
        return tuple(lines)

    def _line(self, asked: Asked, epsilon: Fraction) -> PlannedQuestion:
        question = asked.question.changed(
            epsilon=epsilon,
            error_at_most=None,
            typical=False,
            purpose=asked.question.purpose or asked.name,
        )
        if self.study.at_a_desk:
            question = question.changed(purpose=None)
            card = self.card_at(asked.name, epsilon)
            return PlannedQuestion(
                asked=asked,
                question=question,
                amount=spent(epsilon),
                card=card,
                part=card.get("budget"),
            )
        setting = self.settings[asked.table]
        plan = plan_of(question, setting)
        listed = _inlined(plan.question, setting)
        if listed != plan.question:
            plan = plan_of(listed, setting)
        return PlannedQuestion(
            asked=asked,
            question=listed,
            amount=self.amount(plan),
            card=plan.card.as_data(),
            plan=plan,
        )

    def errors(self, epsilons: Mapping[str, Fraction], factor: float) -> dict[str, float]:
        """Return the proved error of each question if every question may cost ``factor`` times as much."""
        found = {}
        for asked in self.study.questions:
            epsilon = self._scaled(asked, epsilons[asked.name], Fraction(factor))
            if self.study.at_a_desk:
                accuracy = self.card_at(asked.name, epsilon)["accuracy"]
                worst = None if accuracy is None else accuracy["worst"]
            else:
                plan = self.plan(asked, epsilon)
                worst = None if plan.accuracy is None else plan.accuracy.worst
            if worst is not None:
                found[asked.name] = float(worst)
        return found


def _six_digits(epsilon: Fraction) -> Fraction:
    if epsilon <= 0:
        return Fraction(1, 10**12)
    unit = Fraction(10) ** (math.floor(math.log10(epsilon)) - 5)
    return max(math.floor(epsilon / unit), 1) * unit


def _inlined(question: Question, setting: Setting) -> Question:
    """Return the question with each file name replaced by the public list in that file."""
    changed: dict[str, Any] = {}
    for each in fields_of(type(question)):
        given = getattr(question, each.name)
        if each.metadata["takes"] != "LIST" or not isinstance(given, str | Path):
            continue
        if str(given) in RECURRING or is_range(given):
            continue
        by = getattr(question, "by", None)
        column = by if each.name == "groups" and by is not None else getattr(question, "column")  # noqa: B009
        table: Table = setting.opened(column)
        changed[each.name] = candidates_of(table, given, column=column, name=each.name).labels
    return question.changed(**changed) if changed else question
