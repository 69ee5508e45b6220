"""The OpenAPI description of a desk; requests are described by the definitions that also check them."""

from __future__ import annotations

from typing import Any, TypeAlias

from discreet import __version__
from discreet.desk.description import MOST_INVENTED
from discreet.desk.shapes import schema
from discreet.questions import TableRelease

Schema: TypeAlias = dict[str, Any]


def _object(**properties: Schema) -> Schema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def _or_null(one: Schema) -> Schema:
    return {"anyOf": [one, {"type": "null"}]}


def _named(model: str) -> Schema:
    return {"$ref": f"#/components/schemas/{model}"}


ANYTHING: Schema = {}
TEXT: Schema = {"type": "string"}
TEXTS = _list(TEXT)
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
WHETHER: Schema = {"type": "boolean"}
JUDGEMENT: Schema = {"enum": ["useful", "doubtful", "no better than guessing", None]}
_BOUND = {"worst": _or_null(NUMBER), "level": NUMBER, "unit": TEXTS, "meaning": TEXT}
_BOUND["most"] = _or_null(COUNT)
_METER = _object(spent=TEXT, this=TEXT, left=TEXT, cap=TEXT, symbol=TEXT)
_RELEASE = {
    "answer": ANYTHING,
    "guarantee": _by_name(ANYTHING),
    "mechanism": TEXT,
    "neighbours": TEXT,
    "entry": _or_null(TEXT),
    "rules": TEXTS,
}
_CARD = {
    "answer": {"type": "null"},
    "title": TEXT,
    "cost": TEXT,
    "accuracy": _or_null(
        _object(**_BOUND, typical=_or_null(NUMBER), judgement=JUDGEMENT, assumed=TEXT, words=TEXT)
    ),
    "privacy": _object(judgement=TEXT, words=TEXT),
    "meter": _or_null(_METER),
    "fits": _or_null(WHETHER),
    "guarantee": TEXT,
    "details": _by_name(TEXT),
    "rules": TEXTS,
    "doubts": TEXTS,
    "invented": WHETHER,
}
_FIELD = _object(
    name=TEXT,
    label=TEXT,
    words=TEXT,
    takes=TEXT,
    example=TEXT,
    default=_or_null(WHETHER),
    required=WHETHER,
)
_SLOTS = _by_name(TEXT)
_TABLE = _object(
    budget=TEXT,
    left=TEXT,
    spent=TEXT,
    renewed=_or_null(TEXT),
    people=TEXT,
    neighbours=TEXT,
    where=TEXTS,
    columns=_by_name(
        _object(
            candidates=_or_null(TEXTS),
            bounds=_or_null(TEXTS),
            step=_or_null(TEXT),
            questions=_SLOTS,
        )
    ),
    scores=_by_name(_object(candidates=TEXTS, sensitivity=TEXT, questions=_SLOTS)),
    votes=_by_name(_object(candidates=TEXTS, questions=_SLOTS)),
)
_REPLIES: dict[str, Schema] = {
    "Problem": _object(error=TEXT),
    "Desk": _object(
        version=TEXT,
        analyst=TEXT,
        epsilon=_object(part=TEXT, least=TEXT, most=TEXT),
        failures=_object(counted=COUNT, allowed=COUNT),
        questions=_by_name(_object(label=TEXT, words=TEXT, fields=_list(_FIELD))),
        tables=_by_name(_TABLE),
    ),
    "Plan": _object(
        **_CARD,
        left=TEXT,
        budget=TEXT,
        most=COUNT,
        seconds=NUMBER,
        answered=_or_null(_named("Asked")),
    ),
    "Suggestion": _object(epsilon=_or_null(TEXT), judgement=JUDGEMENT),
    "Release": {
        **_object(
            **dict.fromkeys(TableRelease.__annotations__, ANYTHING)
            | {"accuracy": _object(**_BOUND), "meter": _METER, "title": TEXT, "invented": WHETHER}
            | _RELEASE
        ),
        "required": list(_RELEASE),
    },
    "Asked": _object(
        id=TEXT,
        state={"enum": ["admitted", "paid", "answered", "failed", "refused", "lost"]},
        asked=_by_name(ANYTHING),
        began=NUMBER,
        entry=_or_null(COUNT),
        release=_or_null(_named("Release")),
    ),
    "Invented": _object(invented=WHETHER, table=TEXT, columns=_by_name(TEXTS)),
    "Study": _object(
        title=TEXT,
        hash=TEXT,
        questions=_list(
            _object(
                name=TEXT,
                key=TEXT,
                asked=_by_name(ANYTHING),
                cost=TEXT,
                card=_named("Plan"),
                state=_or_null(TEXT),
                release=_or_null(_named("Release")),
            )
        ),
        conclusion=TEXT,
        ahead=TEXT,
        fits=WHETHER,
    ),
    "Health": _object(ready=WHETHER),
    "WaysIn": _object(sign_on=WHETHER),
}


_PROBLEMS = {
    "400": "What is wrong with the question; nothing was spent.",
    "401": "The token is missing or not valid.",
    "403": "Blocked after too many failures, until the owner acts; or sent by another site's page.",
    "408": "The request did not arrive in time; nothing was spent.",
    "409": "The key was used for another question, or its question is still running.",
    "410": "The question failed; its cost is not refunded.",
    "413": "The request is too large.",
    "421": "The desk does not answer to that host name.",
    "429": "Too many requests, or another question of yours is still running.",
    "503": "The desk is full; nothing was spent.",
}


def openapi() -> Schema:
    """Return the OpenAPI description, which is the same for every desk."""
    asked = schema(reference="#/components/schemas/{model}")
    kinds = asked.pop("$defs")
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "maxLength": 200, "pattern": "^[!-~]+$"},
        "description": "The same question with the same key gets the stored answer, at no cost.",
    }
    rows = {"type": "integer", "minimum": 1, "maximum": MOST_INVENTED}
    question = _named("Question")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "discreet desk",
            "version": __version__,
            "description": "Private answers about tables whose rows are never shown.",
        },
        "security": [{"token": []}],
        "paths": {
            "/api/desk": _get(
                "What you may ask, and how much of the budget is left.", _named("Desk")
            ),
            "/api/plan": _post(
                "What a question will cost, and the answer if you have it already; spends nothing.",
                question,
                _named("Plan"),
            ),
            "/api/ask": _post(
                "Ask a question and pay for it; the answer is sent at the end of the slot.",
                question,
                _named("Asked"),
                parameters=[key],
            ),
            "/api/suggest": _post(
                "The least ε at which the answer is judged useful; spends nothing.",
                question,
                _named("Suggestion"),
            ),
            "/api/rehearse": _post(
                "Ask a question about invented rows; spends nothing.", question, _named("Release")
            ),
            "/api/invented": _post(
                "Rows invented from the owner's public facts; spends nothing.",
                _object(table=TEXT, rows=rows),
                _named("Invented"),
            ),
            "/api/study": _post(
                "What each question of a study file will cost; spends nothing. Ask each "
                "question with its key.",
                _object(study=TEXT),
                _named("Study"),
            ),
            "/api/answers": _get(
                "Your own questions and answers; spends nothing.", _list(_named("Asked"))
            ),
            "/api/health": _get(
                "Whether a question can be asked now.", _named("Health"), unready=_named("Health")
            ),
            "/api/ways-in": _get("The ways to sign in.", _named("WaysIn")),
        },
        "components": {
            "schemas": kinds | {"Question": asked} | _REPLIES,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _get(summary: str, reply: Schema, *, unready: Schema | None = None) -> Schema:
    return {"get": _operation(summary, reply, unready)}


def _post(summary: str, body: Schema, reply: Schema, **more: Any) -> Schema:
    sent = {"required": True, "content": _json(body)}
    return {"post": _operation(summary, reply) | {"requestBody": sent} | more}


def _operation(summary: str, reply: Schema, unready: Schema | None = None) -> Schema:
    """Return one operation; ``unready`` is the schema of its 503 reply, if that is not an error message."""
    replies = {"200": {"description": "Done.", "content": _json(reply)}}
    for status, words in _PROBLEMS.items():
        replies[status] = {"description": words, "content": _json(_named("Problem"))}
    if unready is not None:
        replies["503"] = {"description": "Nothing can be asked now.", "content": _json(unready)}
    return {"summary": summary, "responses": replies}


def _json(of: Schema) -> Schema:
    return {"application/json": {"schema": of}}
