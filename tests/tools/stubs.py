"""Generate the signatures in ``discreet.questions`` for type checkers, from the fields of questions.

``python -m tests.tools.stubs`` rewrites ``functions.pyi``; a test checks that the file is current.
"""

from __future__ import annotations

import dataclasses
from inspect import signature
from pathlib import Path

from discreet.questions import Question, functions, table
from discreet.questions.kinds import kinds_by_name
from discreet.questions.question import fields_of

FILE = Path(functions.__file__).with_suffix(".pyi")
_HEAD = '''"""Signatures of the functions that ask questions, made from their fields: see ``functions.py``."""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet._exact.numbers.exact import Number
from discreet.questions.answer import TableRelease
from discreet.questions.question import Labels
from discreet.questions.run import AnyLedger

'''


def _annotation(kind: type[Question], name: str) -> str:
    for base in kind.__mro__:
        if name in vars(base).get("__annotations__", {}):
            return str(vars(base)["__annotations__"][name])
    raise AssertionError(name)


def _of(kind: type[Question]) -> str:
    named = {each.name for each in dataclasses.fields(kind)}
    lines = ["data: Any"]
    keyword_only = False
    for each in fields_of(kind):
        if each.kw_only and not keyword_only:
            lines.append("*")
            keyword_only = True
        default = "" if each.default is dataclasses.MISSING else " = ..."
        lines.append(f"{each.name}: {_annotation(kind, each.name)}{default}")
    for name, term in signature(table).parameters.items():
        if name not in named and name != "data":
            lines.append(f"{name}: {term.annotation} = ...")
    body = "".join(f"    {line},\n" for line in lines)
    return f"def {kind.kind}(\n{body}) -> TableRelease: ...\n"


def stub() -> str:
    """Return the content that the file must have."""
    kinds = [kind for _, kind in sorted(kinds_by_name().items())]
    names = "".join(f"    {kind.kind!r},\n" for kind in kinds).replace("'", '"')
    return (
        f"{_HEAD}__all__ = [\n{names}]\n\n"
        + "".join(_of(kind) for kind in kinds if kind.kind != "select_by")
        + (
            "def select_by(\n    data: Any,\n    *,\n    neighbours: str = ...,\n"
            "    ledger: AnyLedger | None = ...,\n    dataset: str | None = ...,\n    **fields: Any,\n"
            ") -> TableRelease: ...\n"
        )
    )


if __name__ == "__main__":
    FILE.write_text(stub(), encoding="utf-8")
