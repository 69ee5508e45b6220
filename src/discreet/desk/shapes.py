"""Requests to a desk, made from the question fields that an analyst may set.

One definition serves HTTP, the client, the page's form, OpenAPI and assistants. A request is checked
against the owner's file before anything else happens. Candidates, bounds and columns belong to the owner: a
request only names a column and cannot supply its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import operator
import typing
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from discreet._displays import visible
from discreet._exact.numbers.exact import Number, echo, positive, refuse
from discreet._exact.numbers.printing import figure
from discreet._isolated import FunctionInFile
from discreet._tables.compared import not_listed
from discreet._tables.where import ColumnComparison, comparisons, parse
from discreet.desk.owner_file import OwnerFile, SharedTable
from discreet.errors import ParameterError
from discreet.mechanisms import PermuteAndFlip
from discreet.questions import Question
from discreet.questions.question import KINDS, fields_of

_TEXT = Field(max_length=2000)
_NAME = Field(min_length=1, max_length=200)
_NUMBER = Annotated[str, Field(max_length=60)] | int | float
_ON_THE_WIRE: dict[Any, Any] = {
    Number: _NUMBER,
    Number | None: _NUMBER | None,
    Sequence[Number]: Annotated[list[_NUMBER], Field(min_length=1, max_length=100)],
    int: Annotated[int, Field(ge=1, le=10_000)],
    int | None: Annotated[int, Field(ge=1, le=1000)] | None,
    str: Annotated[str, _NAME],
    str | None: Annotated[str, _TEXT] | None,
    Any: Annotated[str, _NAME],
}
"""For each type of field, the type with which it is read from JSON."""
_REGISTERED = {"score": "score", "vote": "function"}
"""The kinds of functions that an owner registers, and the request field that names one."""
SUBJECTS = ("column", *_REGISTERED.values())
"""The fields that say what a request is about."""


def own_fields(kind: type[Question]) -> list[dataclasses.Field[Any]]:
    """Return the fields of a question that an analyst may set; the others belong to the owner."""
    return [each for each in fields_of(kind) if each.metadata["analyst"]]


def _needed(kind: type[Question]) -> int:
    return [each.default for each in own_fields(kind)].count(dataclasses.MISSING)


ASKED = {
    kind.kind: kind
    for kind in sorted(filter(lambda kind: kind.completed_by, KINDS.values()), key=_needed)
}
"""The kinds of question that a desk answers; those with the fewest required fields come first."""


def request_of(kind: type[Question]) -> type[Any]:
    """Make the dataclass of requests for a kind of question: a table, and the fields an analyst may set."""
    types = typing.get_type_hints(kind)
    fields: list[Any] = [
        ("kind", Literal[kind.kind]),
        (
            "table",
            Annotated[str, _NAME],
            dataclasses.field(metadata={"description": "A table of the desk."}),
        ),
    ]
    for each in own_fields(kind):
        words = each.metadata["description"].replace("⟨", "").replace("⟩", "")
        needed = each.name in ("epsilon", "column") or each.default is dataclasses.MISSING
        told = dataclasses.field(
            default=dataclasses.MISSING if needed else each.default, metadata={"description": words}
        )
        wire = _ON_THE_WIRE.get(types[each.name], types[each.name])
        if each.name == "epsilon":
            wire = Annotated[_NUMBER, Field(json_schema_extra={"exclusiveMinimum": 0})]
        fields.append((each.name, wire, told))
    strict = {"__pydantic_config__": ConfigDict(extra="forbid", strict=True)}
    made = dataclasses.make_dataclass(
        kind.__name__, fields, kw_only=True, frozen=True, namespace=strict
    )
    made.__doc__ = (kind.__doc__ or "").partition("\n")[0]
    return made


AnyRequest: Any = Annotated[
    functools.reduce(operator.or_, map(request_of, ASKED.values())), Field(discriminator="kind")
]
_REQUEST: TypeAdapter[Any] = TypeAdapter(AnyRequest)


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A question as an analyst sends it: a kind, a table, and the fields that differ from their defaults."""

    kind: type[Question]
    table: str
    fields: dict[str, Any]

    @property
    def about(self) -> str:
        """The column, score or function that the request is about."""
        return str(next(self.fields[name] for name in SUBJECTS if name in self.fields))

    def as_data(self) -> dict[str, Any]:
        """Return the request as plain data."""
        return {"kind": self.kind.kind, "table": self.table, **self.fields}

    @property
    def digest(self) -> str:
        """Return a hash that is the same for all requests that ask for the same thing."""
        return hashlib.sha256(json.dumps(self.as_data(), sort_keys=True).encode()).hexdigest()


def question_from(given: bytes | dict[str, Any]) -> Request:
    """Read a request, or raise a ``ParameterError`` that says what is allowed.

    Example:
        >>> request = {"kind": "mode", "table": "visits", "column": "diagnosis", "epsilon": 0.5}
        >>> question_from(request).about
        'diagnosis'
        >>> question_from({"kind": "median", "table": "visits", "column": "age", "epsilon": 1, "k": 3})
        Traceback (most recent call last):
        discreet.desk.shapes.RequestError: k: not an option of this question
    """
    read = _read(given)
    kind = ASKED[read.kind]
    fields = {each.name: getattr(read, each.name) for each in own_fields(kind)}
    defaults = {each.name: each.default for each in own_fields(kind)}
    return Request(
        kind, read.table, {name: each for name, each in fields.items() if each != defaults[name]}
    )


def _read(given: bytes | dict[str, Any]) -> Any:
    try:  # strict dataclasses are read from JSON, never from a dict
        return _REQUEST.validate_json(given if isinstance(given, bytes) else json.dumps(given))
    except ValidationError as error:
        first = error.errors()[:5]
        kind = next((ASKED[part] for each in first for part in each["loc"] if part in ASKED), None)
        raise RequestError([_said(each) for each in first], kind) from None
    except (TypeError, ValueError):
        raise ParameterError("the question is not plain data") from None


_IN_PLAIN_WORDS = {
    "Input should be": "it must be",
    "String should have": "it must have",
    "List should have": "it must have",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "a valid integer": "a whole number",
}
"""Phrases of pydantic's messages, and the plain words that replace them."""

ToolRequest: Any = Annotated[AnyRequest, BeforeValidator(_read)]
"""A request as the argument of an assistant's tool, which arrives as a dict."""


class RequestError(ParameterError):
    """A request is invalid; the message lists each problem with the field it is in."""

    def __init__(self, problems: list[tuple[str, str]], kind: type[Question] | None) -> None:
        super().__init__()
        self.kind = kind
        self._problems = problems

    def worded(self, names: Mapping[str, str]) -> str:
        """Return the message; ``names`` maps fields to the names to show."""
        said = (
            f"{names.get(where.partition('.')[0], where)}: {what}" if where else what
            for where, what in self._problems
        )
        return "; ".join(said)


def _said(error: Any) -> tuple[str, str]:
    where = ".".join(str(part) for part in error["loc"] if part not in ASKED)
    what = str(error["msg"])
    for theirs, ours in _IN_PLAIN_WORDS.items():
        what = what.replace(theirs, ours)
    if error["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        what = "not an option of this question"
    elif error["type"] == "missing":
        what = "missing"
    elif error["type"] == "union_tag_not_found":
        where, what = "kind", "missing"
    elif error["type"] == "union_tag_invalid":
        where, what = "kind", f"{echo(error['ctx']['tag'])} is not one of {', '.join(ASKED)}"
    return visible(where).replace("⟨", "<"), visible(what).replace("⟨", "<")


def schema(*, reference: str) -> dict[str, Any]:
    """Return the JSON schema of a request."""
    return _REQUEST.json_schema(ref_template=reference)


def permitted(owner: OwnerFile, analyst: str, request: Request) -> tuple[SharedTable, Question]:
    """Return the table of a request, and the question completed by the owner's facts.

    Every refusal depends only on the owner's file and the request.
    """
    table = require_own(owner, analyst, request.table)
    require_affordable(owner, analyst, request.fields["epsilon"])
    return table, _completed(table, request)


def require_own(owner: OwnerFile, analyst: str, name: Any) -> SharedTable:
    """Return a table by name; refuse one that the analyst may not ask about."""
    tables = owner.analyst[analyst].tables
    if name not in tables:
        raise refuse("table", name, f"one of your tables: {', '.join(tables)}")
    return owner.table[name]


def _completed(table: SharedTable, request: Request) -> Question:
    known = _registered if request.fields.keys() & set(_REGISTERED.values()) else _facts
    return request.kind(**request.fields | known(table, request))


def examples(table: SharedTable) -> Iterator[Question]:
    """Yield one question of each kind that the table allows, at ε = 1, with the form's example values."""
    for kind in ASKED.values():
        stated: dict[str, Any] = {"epsilon": 1}
        for each in own_fields(kind):
            if each.metadata["example"]:
                stated[each.name] = _typed(each.metadata["takes"], each.metadata["example"])
        declared = kind.completed_by[0] if kind.completed_by[0] in _REGISTERED else "column"
        subject = _REGISTERED.get(declared, "column")
        for name in getattr(table, declared):
            with contextlib.suppress(
                ParameterError
            ):  # the owner does not declare what this kind needs
                yield _completed(table, Request(kind, "", {**stated, subject: name}))
                break


def _typed(takes: str, text: str) -> Any:
    """Return the value that a form sends if this text is typed into a field."""
    if takes == "COUNT":
        return int(text)
    return text.split(", ") if takes == "NUMBERS" else text


def _registered(table: SharedTable, request: Request) -> dict[str, Any]:
    """Return the owner's facts about a registered function: a score or a vote."""
    section, field = next(pair for pair in _REGISTERED.items() if pair[1] in request.fields)
    name, known = request.fields[field], getattr(table, section)
    if name not in known:
        allowed = ", ".join(known) or "none is registered"
        raise refuse(field, name, f"one of the {field}s registered here: {allowed}")
    entry = known[name]
    own = {each: getattr(entry, each) for each in type(entry).model_fields if each != "file"}
    function = FunctionInFile(entry.file, own.pop("function"))
    return own | {field: function, "candidates": entry.listed()}


def _facts(table: SharedTable, request: Request) -> dict[str, Any]:
    """Check a request about a column; return the owner's facts that complete the question."""
    kind, named = request.kind, request.fields["column"]
    column, by = _listed(table, named, "column"), request.fields.get("by")
    known = {
        "candidates": None if column.candidates is None else {"candidates": column.listed()},
        "groups": None if column.candidates is None else {"groups": column.listed()},
        "bounds": None
        if column.bounds is None
        else {"bounds": tuple(column.bounds), "step": column.step},
    }
    facts = next((known[name] for name in kind.completed_by if known[name] is not None), None)
    if facts is None:
        needed = " or ".join(
            "listed values" if name != "bounds" else name for name in kind.completed_by
        )
        raise ParameterError(
            f"⟨column⟩{echo(named)} has no {needed} on this desk, and the question needs them"
        )
    if by is not None:
        if _listed(table, by, "by").candidates is None:
            raise ParameterError(f"⟨by⟩{echo(by)} has no listed values on this desk")
        facts = {**facts, "groups": table.column[by].listed()}
    where = request.fields.get("where")
    for comparison in comparisons(parse(where)) if where is not None else ():
        if comparison.column not in table.where:
            allowed = ", ".join(table.where) or "none is"
            raise ParameterError(
                f"⟨where⟩ names {echo(comparison.column)}; a condition may use these columns: {allowed}"
            )
        _require_listed(table, comparison)
    # Answers are sent at the end of their slot. In addition, if a question makes only one choice, that choice
    # takes the same time for all data.
    if kind.one_choice and not any(name.startswith("with_") for name in request.fields):
        facts = {**facts, "mechanism": PermuteAndFlip(epsilon=1, steady=True)}
    return facts


def _require_listed(table: SharedTable, comparison: ColumnComparison) -> None:
    """Refuse a condition that no row can meet, because its values are not on the owner's list."""
    column = table.column.get(comparison.column)
    if column is None or column.candidates is None or comparison.operator not in ("=", "in"):
        return
    listed = sorted(map(str, column.listed()))
    if len(not_listed(comparison, listed)) == len(comparison.literals):
        shown = ", ".join(map(echo, comparison.literals[:3]))
        raise ParameterError(
            f"⟨where⟩ asks for {comparison.column} = {shown}, and the listed values of {comparison.column} "
            f"are {', '.join(listed[:20])}{', ...' if len(listed) > 20 else ''}: no row would count"
        )


def require_affordable(owner: OwnerFile, analyst: str, epsilon: object) -> Fraction:
    """Check that the ε of one question is within this analyst's limits, and return it."""
    asked = positive("epsilon", epsilon)
    rights = owner.analyst[analyst]
    if not rights.least <= asked <= rights.most:
        least, most = figure(rights.least), figure(rights.most, up=False)
        raise refuse("epsilon", epsilon, f"from {least} to {most} for one question")
    return asked


def _listed(table: SharedTable, name: str, parameter: str) -> Any:
    if name not in table.column:
        allowed = ", ".join(table.column) or "none is listed"
        raise refuse(parameter, name, f"one of the columns listed here: {allowed}")
    return table.column[name]
