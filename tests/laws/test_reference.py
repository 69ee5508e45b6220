"""Every public name is explained, shown by an example, and listed in the reference."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
MODULES = (
    "discreet",
    "discreet.accounting",
    "discreet.analysis",
    "discreet.audit",
    "discreet.papers",
    "discreet.diffprivlib",
    "discreet.ledger",
    "discreet.mechanisms",
    "discreet.opendp",
    "discreet.questions",
    "discreet.sklearn",
    "discreet.testing",
    "discreet.tuning",
)
OTHERS = {
    "discreet.demo_data": ("clinic", "write_clinic"),
    "discreet.lazy": ("LazyPermuteAndFlip",),
}
"""Modules without a list of public names."""


def _names() -> list[tuple[str, str]]:
    listed = {name: tuple(importlib.import_module(name).__all__) for name in MODULES}
    return [(module, name) for module, names in (listed | OTHERS).items() for name in names]


def _documented(thing: Any) -> bool:
    # Constants have no docstring that could hold an example.
    return inspect.isclass(thing) or inspect.isroutine(thing)


@pytest.mark.parametrize(("module", "name"), _names(), ids=lambda word: word)
def test_every_public_name_is_explained_with_an_example(module: str, name: str) -> None:
    thing = getattr(importlib.import_module(module), name)
    if not _documented(thing):
        return
    text = (vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""
    assert len(text) > 20, f"{module}.{name} has no docstring of its own"
    assert ">>>" in text, f"{module}.{name} has no example"


@pytest.mark.parametrize(("module", "name"), _names(), ids=lambda word: word)
def test_every_public_name_is_in_the_reference(module: str, name: str) -> None:
    thing = getattr(importlib.import_module(module), name)
    if not _documented(thing):
        return
    # A name that two modules export stands on the page once.
    homes = {module, thing.__module__} | {
        other for other in MODULES if getattr(importlib.import_module(other), name, None) is thing
    }
    for home in homes:
        if re.search(rf"auto(class|function):: {re.escape(home)}\.{name}$", REFERENCE, re.M):
            return
        block = re.search(rf"automodule:: {re.escape(home)}\n   :members:(.*)$", REFERENCE, re.M)
        if block and (not block[1].strip() or name in block[1].replace(",", " ").split()):
            return
    pytest.fail(f"{module}.{name} is missing from docs/reference.md")
