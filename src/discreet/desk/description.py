"""What a desk tells before anything is asked: tables, rights, what is left, what a question will be like.

All of it follows from the owner's file and the ledger; nothing here opens a table.
"""

from __future__ import annotations

from typing import Any

from discreet import __version__
from discreet.desk.accuracy import accuracy
from discreet.desk.admission import Desk
from discreet.desk.owner_file import Column, SharedTable, part_of
from discreet.desk.shapes import permitted, schema
from discreet.guarantees import PureDP
from discreet.ledger import Ledger
from discreet.ledger.accountants import exact_cost
from discreet.neighbours import Neighbours
from discreet.numbers.exact import positive
from discreet.numbers.printing import figure


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
                "sensitivity": figure(score.sensitivity),
                "questions": {"score": f"{table.seconds('score'):g} s"},
            }
            for label, score in table.score.items()
        },
    }


def _column(table: SharedTable, column: Column) -> dict[str, Any]:
    kinds = ["mode"]
    if column.candidates is not None:
        kinds += ["top_k", "first_above"]
    if column.bounds is not None:
        kinds += ["median", "quantiles"]
    return {
        "candidates": None if column.candidates is None else list(map(str, column.listed())),
        "bounds": None if column.bounds is None else list(map(str, column.bounds)),
        "step": str(column.step) if column.bounds is not None else None,
        "questions": {kind: f"{table.seconds(kind):g} s" for kind in kinds},
    }


def planned(desk: Desk, analyst: str, question: Any) -> dict[str, Any]:
    """What a question will cost, whether that is left, and how accurate its answer will be."""
    table, column = permitted(desk.owner, analyst, question)
    part = part_of(table.dataset, analyst)
    epsilon = positive("epsilon", question.epsilon)
    plan = desk.ledger.plan(part, PureDP(epsilon))
    return {
        "budget": part,
        "cost": f"ε = {figure(epsilon)}",
        "left": _table(desk, analyst, question.table)["left"],
        "fits": plan.fits,
        "most": plan.most,
        "seconds": table.seconds(question.kind),
        "words": PureDP(epsilon).in_words(),
        "accuracy": accuracy(table, column, question),
    }


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
