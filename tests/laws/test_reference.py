"""Every public name is explained, shown by an example, and listed in the reference."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

parameters = importlib.import_module("parameters")
reference_pages = importlib.import_module("reference_pages")
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def _names() -> list[tuple[str, str]]:
    listed = reference_pages.public_names()
    return [(module, name) for module, names in listed.items() for name in names]


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
    # Users do not create errors. A desk needs a server; its own tests run its examples.
    if module not in ("discreet.errors", "discreet.desk") and not inspect.isabstract(thing):
        assert ">>>" in text, f"{module}.{name} has no example"


def test_every_public_module_is_in_the_reference() -> None:
    listed = re.findall(r"^```{public} ([\w.]+)$", REFERENCE, re.M)
    assert sorted(listed) == sorted(reference_pages.MODULES)
    # A package that lists public names is public, or is excluded here with a reason.
    inner = {
        "discreet._exact.numbers",
        "discreet._exact.gaps",
        "discreet._exact.sampling",
        "discreet._exact.distribution",
    }
    inner |= {"discreet._isolated", "discreet._tables", "discreet.explore", "discreet._cli"}
    for found in sorted((ROOT / "src" / "discreet").glob("*/__init__.py")):
        module = f"discreet.{found.parent.name}"
        if hasattr(importlib.import_module(module), "__all__"):
            assert module in reference_pages.MODULES or module in inner, module


def _callables() -> Iterator[tuple[str, Any]]:
    """Yield public functions, classes and their methods, by the name used to look up descriptions."""
    for module, name in _names():
        thing = getattr(importlib.import_module(module), name)
        if not _documented(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        yield name, thing
        if inspect.isclass(thing):
            for own, part in vars(thing).items():
                inner = getattr(part, "__func__", part)
                if not own.startswith("_") and inspect.isfunction(inner):
                    yield f"{name}.{own}", inner


def test_every_parameter_is_described_and_typed_with_what_a_person_may_pass() -> None:
    """The description on the reference page comes from the docstring, the field or the shared words."""
    counted, missing = 0, []
    for owner, thing in _callables():
        own = parameters.described(inspect.getdoc(thing) or "")
        for name, annotation in parameters.parameters_of(thing):
            counted += 1
            if name not in own:
                missing.append(f"{owner}: {name} has no description")
            if annotation in ("object", "object | None") and not parameters.type_for(
                name, annotation
            ):
                missing.append(f"{owner}: {name} is any object")
    assert counted > 600
    assert not missing, f"{len(missing)} of {counted}: " + "; ".join(missing[:20])


def test_words_that_nobody_needs_are_gone() -> None:
    """A shared description of a parameter must belong to a public object."""
    names = {name for _, thing in _callables() for name, _ in parameters.parameters_of(thing)}
    assert {key.rpartition(".")[2] for key in parameters.WORDS} <= names
    assert set(parameters.TYPES) <= names
