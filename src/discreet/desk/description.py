"""What a desk tells before anything is asked: tables, rights, what is left, what a question will be like.

All of it follows from the owner's file, the ledger and the declared columns of a table; no row is read.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from discreet import __version__
from discreet._exact.numbers.printing import figure
from discreet.accounting.accountants import exact_cost
from discreet.desk.admission import Desk, DeskError
from discreet.desk.owner_file import Column, SharedTable, part_of
from discreet.desk.shapes import ASKED, Request, own_fields, permitted, schema
from discreet.errors import DiscreetError
from discreet.ledger import Ledger
from discreet.neighbours import Neighbours
from discreet.questions import table


def described(desk: Desk, analyst: str) -> dict[str, Any]:
    """What an analyst may ask, and what is left."""
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
    """Each kind of question with the fields that an analyst may set, for a form."""
    return {
        name: {
            "words": (kind.__doc__ or "").partition("\n")[0],
            "fields": [
                {
                    "name": each.name,
                    "words": each.metadata["description"].replace("⟨", "").replace("⟩", ""),
                    "takes": "FLAG" if isinstance(each.default, bool) else each.metadata["takes"],
                    "example": each.metadata["example"],
                    "required": each.default is MISSING,
                }
                for each in own_fields(kind)
            ],
        }
        for name, kind in ASKED.items()
    }


def planned(desk: Desk, analyst: str, request: Request) -> dict[str, Any]:
    """What a question will cost, whether that is left, and how good its answer will be."""
    shared, question = permitted(desk.owner, analyst, request)
    part = part_of(shared.dataset, analyst)
    try:
        asked = table(
            shared.source, ledger=desk.ledger, dataset=part, **shared.terms(question.kind)
        )
    except DiscreetError:  # its words may name a path or an address
        raise DeskError(503, UNREADABLE) from None
    plan = asked.plan(question)
    return plan.card.as_data() | {
        "left": plan.left,
        "budget": part,
        "most": desk.ledger.plan(part, plan.event).most,
        "seconds": shared.seconds(question.kind),
    }


UNREADABLE = "the desk cannot open its table; nothing was spent, and its owner must act"


# ---- OpenAPI -----------------------------------------------------------------------------------------


def openapi() -> dict[str, Any]:
    """The description of the HTTP interface, from the same definitions that requests are checked by."""
    asked = schema(reference="#/components/schemas/{model}")
    schemas = asked.pop("$defs")
    schemas["Question"] = asked
    schemas["Problem"] = {
        "type": "object",
        "properties": {"error": {"type": "string"}},
        "required": ["error"],
    }
    question = {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Question"}}},
    }
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "maxLength": 200, "pattern": "^[!-~]+$"},
        "description": "The same question with the same key gets the stored answer, at no cost.",
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "discreet desk",
            "version": __version__,
            "description": "Private answers about tables that nobody sees.",
        },
        "security": [{"token": []}],
        "paths": {
            "/api/desk": {"get": _operation("What may be asked, and what is left.")},
            "/api/plan": {
                "post": _operation("What a question will cost; spends nothing.", body=question)
            },
            "/api/ask": {
                "post": _operation(
                    "Ask, and pay; the answer leaves at the end of the slot.",
                    body=question,
                    parameters=[key],
                )
            },
            "/api/answers": {"get": _operation("One's own questions and answers, at no cost.")},
        },
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


_PROBLEMS = {
    "400": "What is wrong with the question; nothing was spent.",
    "401": "No token, or none that is valid.",
    "403": "Stopped after failures, until the owner acts; or another site's page.",
    "408": "The request did not arrive in time; nothing was spent.",
    "409": "The key was used for another question, or its question is being worked on.",
    "410": "It failed, and stays paid.",
    "413": "The request is too large.",
    "421": "The desk is not known by that host name.",
    "429": "Too many requests, or two questions at a time.",
    "503": "The desk is full; nothing was spent.",
}


def _operation(
    summary: str, *, body: dict[str, Any] | None = None, parameters: list[Any] | None = None
) -> dict[str, Any]:
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answers: dict[str, Any] = {
        "200": {"description": "Done.", "content": {"application/json": {"schema": {}}}}
    }
    for status, words in _PROBLEMS.items():
        answers[status] = {"description": words, "content": problem}
    operation: dict[str, Any] = {"summary": summary, "responses": answers}
    if body is not None:
        operation["requestBody"] = body
    if parameters is not None:
        operation["parameters"] = parameters
    return operation


def checked(desk_ledger: Ledger, dataset: str) -> str | None:
    """Why a data set's budget cannot be divided among analysts by ε, or None."""
    accountant = desk_ledger.show(dataset).accountant
    if accountant in ("epsilon", "epsilon-delta"):
        return None
    return f"the budget of {dataset!r} adds up {accountant}: a desk divides budgets that add up ε"
