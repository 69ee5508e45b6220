"""Methods and functions that ask questions, made from the fields of each kind of question."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import fill
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from discreet.errors import UnknownParameterError
from discreet.questions.answer import TableRelease
from discreet.questions.question import Question, fields_of

P = ParamSpec("P")
Q = TypeVar("Q", bound=Question)


@overload
def asks(kind: Callable[P, Question]) -> Callable[Concatenate[Any, P], TableRelease]: ...
@overload
def asks(kind: type[Question], *, at_a_desk: Literal[True]) -> Callable[..., TableRelease]: ...
def asks(
    kind: Callable[P, Question], *, at_a_desk: bool = False
) -> Callable[Concatenate[Any, P], TableRelease]:
    """Make the method that asks one kind of question; at a desk its signature omits the owner's fields."""
    made: Any = kind
    named = [each.name for each in fields_of(made)]

    def method(table: Any, /, *args: P.args, **fields: P.kwargs) -> TableRelease:
        require_known(fields, named, of_the_table=getattr(table, "__dataclass_fields__", ()))
        release: TableRelease = table.ask(kind(*args, **fields))
        return release

    described: Any = method
    own = Parameter("self", Parameter.POSITIONAL_ONLY)
    shown = [each for each in fields_of(made) if each.metadata["analyst"] or not at_a_desk]
    _describe(described, made, f"PrivateTable.{made.kind}", before=[own], fields=shown)
    return method


def _describe(
    function: Any,
    kind: type[Question],
    qualified: str,
    *,
    before: list[Parameter],
    fields: Sequence[dataclasses.Field[Any]],
    after: Sequence[Parameter] = (),
) -> None:
    """Give a function the name, the signature and the docstring of a kind of question."""
    known = signature(kind).parameters
    parameters = [*before, *(known[each.name] for each in fields), *after]
    function.__name__, function.__qualname__ = qualified.rpartition(".")[2], qualified
    function.__module__ = kind.__module__
    function.__signature__ = Signature(parameters, return_annotation=TableRelease)
    function.__doc__ = _described(kind, fields)


def _described(kind: type[Question], fields: Sequence[dataclasses.Field[Any]]) -> str:
    words, _, example = cleandoc(kind.__doc__ or "").partition("Example:\n")
    lines = [words.partition("Args:\n")[0].rstrip(), "", "Args:"]
    for each in fields:
        told = each.metadata["description"].replace("⟨", "``").replace("⟩", "``")
        lines.append(
            fill(f"{each.name}: {told}", 106, initial_indent=" " * 4, subsequent_indent=" " * 8)
        )
    if example:
        lines += ["", "Example:", example.rstrip()]
    return "\n".join(lines)


def of_data(kind: type[Question], table: Callable[..., Any], terms: Signature) -> Any:
    """Make the function that asks one kind of question about data; it also takes the options of ``table``."""
    named = {each.name for each in dataclasses.fields(kind)}
    whose = [
        each for name, each in terms.parameters.items() if name not in named and name != "data"
    ]

    def function(data: Any, *args: Any, **given: Any) -> TableRelease:
        require_known(given, [*named, *(each.name for each in whose)])
        question = kind(*args, **{name: each for name, each in given.items() if name in named})
        stated = {name: each for name, each in given.items() if name not in named}
        release: TableRelease = table(data, **stated).ask(question)
        return release

    data = Parameter("data", Parameter.POSITIONAL_OR_KEYWORD)
    _describe(function, kind, kind.kind, before=[data], fields=fields_of(kind), after=whose)
    return function


def require_known(
    given: Iterable[str], known: Sequence[str], *, of_the_table: Iterable[str] = ()
) -> None:
    """Reject an unknown keyword and suggest the nearest known one.

    Example:
        >>> require_known({"purpos": "a test"}, ["purpose", "epsilon"])
        Traceback (most recent call last):
        discreet.errors.UnknownParameterError: purpos= is not a parameter here; did you mean purpose=?
    """
    for name in given:
        if name in of_the_table and name not in known:
            raise UnknownParameterError(
                f"⟨{name}⟩ is set once, when the table is made: make another table"
            )
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean ⟨{near[0]}⟩?" if near else "help(discreet.questions) lists them"
            raise UnknownParameterError(f"⟨{name}⟩ is not a parameter here; {hint}")
