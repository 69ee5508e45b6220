"""Everything that a desk shows before a question is asked: tables, rights, remaining budget, and plans.

All of this follows from the owner's file, the ledger and the declared columns of a table; no row is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, replace
from datetime import date, time
from fractions import Fraction
from typing import Any

from discreet import __version__
from discreet._exact.numbers.exact import refuse
from discreet._exact.numbers.printing import figure
from discreet._exact.sampling import SecureBits
from discreet._exact.sampling.bits import uniform_indices
from discreet._tables import Grid
from discreet.accounting.accountants import exact_cost
from discreet.desk.admission import UNABLE, Desk, DeskError, tell_owner
from discreet.desk.owner_file import Column, SharedTable, part_of
from discreet.desk.shapes import (
    ASKED,
    SUBJECTS,
    Request,
    own_fields,
    permitted,
    require_own,
)
from discreet.desk.store import as_reply
from discreet.desk.workers import is_of_the_question
from discreet.errors import DiscreetError, ParameterError
from discreet.neighbours import Neighbours
from discreet.questions import Question, table
from discreet.questions.plan import Setting
from discreet.questions.private_table import PrivateTable


def described(desk: Desk, analyst: str) -> dict[str, Any]:
    """Return the tables and questions open to an analyst, and what is left of the budget."""
    rights = desk.owner.analyst[analyst]
    return {
        "version": __version__,
        "analyst": analyst,
        "epsilon": {
            "part": figure(rights.epsilon, up=False),
            "least": figure(rights.least),
            "most": figure(rights.most, up=False),
        },
        "failures": {
            "counted": desk.store.failures(analyst),
            "allowed": desk.owner.desk.failures_allowed,
        },
        "questions": _questions(),
        "tables": {name: _table(desk, analyst, name) for name in rights.tables},
    }


def _table(desk: Desk, analyst: str, name: str) -> dict[str, Any]:
    table = desk.owner.table[name]
    part = part_of(table.dataset, analyst)
    budget = desk.ledger.show(part)
    return {
        "budget": part,
        "left": f"ε = {figure(exact_cost(budget.remaining.cost), up=False)}",
        "spent": f"ε = {figure(exact_cost(budget.total.cost))}",
        "renewed": budget.period,
        "people": "one row each" if table.user is None else f"told apart by {table.user}",
        "neighbours": f"{table.neighbours} ({Neighbours(table.neighbours).in_words})",
        "where": list(table.where),
        "columns": {label: _column(table, column) for label, column in table.column.items()},
        "scores": {
            label: {
                "candidates": list(map(str, score.listed())),
                "sensitivity": ", ".join(
                    figure(each)
                    for each in (
                        score.sensitivity
                        if isinstance(score.sensitivity, tuple)
                        else (score.sensitivity,)
                    )
                ),
                "questions": {"select_by": f"{table.seconds('select_by'):g} s"},
            }
            for label, score in table.score.items()
        },
        "votes": {
            label: {
                "candidates": list(map(str, vote.listed())),
                "questions": {"vote": f"{table.seconds('vote'):g} s"},
            }
            for label, vote in table.vote.items()
        },
    }


def _column(table: SharedTable, column: Column) -> dict[str, Any]:
    declared = {
        "candidates": column.candidates is not None,
        "groups": column.candidates is not None,
        "bounds": column.bounds is not None,
    }
    kinds = [
        name
        for name, kind in ASKED.items()
        if any(declared.get(needed) for needed in kind.completed_by)
    ]
    return {
        "candidates": None if column.candidates is None else list(map(str, column.listed())),
        "bounds": None if column.bounds is None else list(map(str, column.bounds)),
        "step": str(column.step) if column.bounds is not None else None,
        "questions": {kind: f"{table.seconds(kind):g} s" for kind in kinds},
    }


def _questions() -> dict[str, Any]:
    """Return each kind of question with the fields that an analyst may set, for a form."""
    return {
        name: {
            "label": kind.label,
            "words": (kind.__doc__ or "").partition("\n")[0].replace("`", ""),
            "fields": [
                {
                    "name": each.name,
                    "label": field_label(each),
                    "words": in_form(each.metadata["description"]),
                    "takes": "FLAG" if isinstance(each.default, bool) else each.metadata["takes"],
                    "example": each.metadata["example"],
                    "default": each.default if isinstance(each.default, bool) else None,
                    "required": each.default is MISSING,
                }
                for each in own_fields(kind)
            ],
        }
        for name, kind in ASKED.items()
    }


def in_form(words: str) -> str:
    """Return a field's help text as a form shows it, with the names of other fields in plain words.

    Example:
        >>> in_form("A noisy count, for a quarter of ⟨epsilon⟩: see ⟨groups⟩.")
        'A noisy count, for a quarter of ε: see groups.'
    """
    return words.replace("⟨epsilon⟩", "ε").replace("⟨", "").replace("⟩", "").replace("_", " ")


def field_label(field: Field[Any]) -> str:
    """Return a field's label in a form: the beginning of its help text, up to the first detail."""
    return re.split(r"[.:;](?: |$)|, such as ", in_form(field.metadata["description"]))[0]


def form_names(kind: type[Question] | None) -> dict[str, str]:
    """Return the form's name for each field of a kind of question; None stands for all kinds."""
    names = {"table": "“Table”", "kind": "“Question”"}
    for each in (
        field for one in ([kind] if kind else ASKED.values()) for field in own_fields(one)
    ):
        names[each.name] = f"“{'Column' if each.name in SUBJECTS else field_label(each)}”"
    return names | {"epsilon": "ε"}


def planned(desk: Desk, analyst: str, request: Request) -> dict[str, Any]:
    """Return a question's cost, whether enough is left, the expected accuracy, and any stored answer."""
    shared, question = permitted(desk.owner, analyst, request)
    part = part_of(shared.dataset, analyst)
    with _of_the_question():
        plan = _opened(shared, question, ledger=desk.ledger, dataset=part).plan(question)
    answered = desk.store.answered(analyst, request.as_data())
    return plan.card.as_data() | {
        "left": plan.left,
        "budget": part,
        "most": desk.ledger.plan(part, plan.event).most,
        "seconds": shared.seconds(question.kind),
        "answered": None if answered is None else as_reply(answered),
    }


def suggested(desk: Desk, analyst: str, request: Request) -> dict[str, Any]:
    """Return the least round ε at which the answer is judged useful; None if the analyst cannot afford it.

    The question's own ε does not matter. If the accuracy is unknown, the smallest allowed ε is returned.
    Judgements follow from public facts, so this reads no row and costs nothing.
    """
    rights = desk.owner.analyst[analyst]
    known = replace(request, fields={**request.fields, "epsilon": str(rights.least)})
    shared, question = permitted(desk.owner, analyst, known)
    left = exact_cost(desk.ledger.show(part_of(shared.dataset, analyst)).remaining.cost)
    most = min(rights.most, left)
    with _of_the_question():
        setting = Setting(data=shared.source, **shared.terms(question.kind), kept={})
        for epsilon in _round_amounts(rights.least, most):
            accuracy = question.changed(epsilon=epsilon).plan(setting).accuracy
            if accuracy is None:  # the accuracy is unknown: suggest the least amount
                return {"epsilon": figure(rights.least), "judgement": None}
            if accuracy.judgement == "useful":
                return {"epsilon": figure(epsilon), "judgement": "useful"}
    return {"epsilon": None, "judgement": None}


def _round_amounts(least: Fraction, most: Fraction) -> Iterator[Fraction]:
    """Yield ``least``, then all larger amounts up to ``most`` that are 1, 2 or 5 times a power of ten."""
    if least <= most:
        yield least
    for power in range(-12, 13):
        for digit in (1, 2, 5):
            amount = digit * Fraction(10) ** power
            if least < amount <= most:
                yield amount


def rehearsed(desk: Desk, analyst: str, request: Request) -> dict[str, Any]:
    """Return the answer to a question about invented rows, marked as invented; nothing is read or paid.

    An owner's score or vote is a function that may open the table itself, so it is never rehearsed.
    """
    if "column" not in request.fields:
        raise ParameterError(
            "the owner's scores and votes cannot be rehearsed: they may read the table"
        )
    shared, question = permitted(desk.owner, analyst, request)
    with _of_the_question():
        return _opened(shared, question, ledger=None).rehearse(question).as_data()


def _opened(shared: SharedTable, question: Question, **counted: Any) -> PrivateTable:
    return table(shared.source, **counted, **shared.terms(question.kind))


@contextmanager
def _of_the_question() -> Iterator[None]:
    """Let errors about the question pass; log others for the owner, and raise one general error instead."""
    try:
        yield
    except DiscreetError as error:
        if is_of_the_question(error):
            raise
        tell_owner(str(error))
        raise DeskError(503, UNABLE) from None


MOST_INVENTED = 10_000


def invented(desk: Desk, analyst: str, given: Any) -> dict[str, Any]:
    """Invent rows from the values in the owner's file, for testing a program, at no cost.

    Each column is drawn independently and uniformly from its listed values or the grid between its bounds,
    so that the rows say nothing about the data.
    """
    name, rows = (given.get("table"), given.get("rows")) if isinstance(given, dict) else (None,) * 2
    shared = require_own(desk.owner, analyst, name)
    if type(rows) is not int or not 1 <= rows <= MOST_INVENTED:
        raise refuse("rows", rows, f"a whole number from 1 to {MOST_INVENTED:,}")
    bits = SecureBits()
    columns: dict[str, list[str]] = {}
    if shared.user is not None:
        columns[shared.user] = [f"person {1 + i}" for i in uniform_indices(bits, rows, count=rows)]
    for label, column in shared.column.items():
        values = column.listed() if column.candidates is not None else _between(column)
        columns[label] = [
            str(values[i]) for i in uniform_indices(bits, len(values), count=rows).tolist()
        ]
    return {"invented": True, "table": name, "columns": columns}


def _between(column: Column) -> list[Any]:
    """Return evenly spread values between a column's bounds, about a thousand at most."""
    assert column.bounds is not None
    low, high = column.bounds
    if isinstance(low, date) and isinstance(high, date):  # a datetime is a date, too
        return [low + (high - low) * part // 100 for part in range(101)]
    if isinstance(low, time) or isinstance(high, time):
        return [low, high]
    grid = Grid.between((low, high), step=column.step)
    return [grid.label(place) for place in range(0, len(grid), max(1, len(grid) // 1000))]
