"""A page for each public object, from its docstring: written before the build, listed by ``{public}``."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import parameters
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

MODULES = (
    "discreet",
    "discreet.mechanisms",
    "discreet.guarantees",
    "discreet.questions",
    "discreet.tuning",
    "discreet.analysis",
    "discreet.analysis.charts",
    "discreet.audit",
    "discreet.papers",
    "discreet.accounting",
    "discreet.ledger",
    "discreet.desk",
    "discreet.study",
    "discreet.dossier",
    "discreet.opendp",
    "discreet.diffprivlib",
    "discreet.sklearn",
    "discreet.testing",
    "discreet.errors",
    "discreet.lazy",
    "discreet.demo_data",
)
"""The public modules; a new one needs a line here and one in ``reference.md``."""
FOLDER = Path(__file__).parent.parent / "reference"


def public_names() -> dict[str, list[str]]:
    """The names by module; one that two modules export stands with the first."""
    listed: dict[str, list[str]] = {}
    seen: set[int] = set()
    for module in MODULES:
        home = importlib.import_module(module)
        if hasattr(home, "__all__"):
            parameters.explain(vars(home))
        names = getattr(home, "__all__", None) or _errors(home)
        listed[module] = []
        for name in names:
            thing = getattr(home, name)
            # Constants have no docstring of their own.
            if not (inspect.isclass(thing) or inspect.isroutine(thing)) or id(thing) in seen:
                continue
            seen.add(id(thing))
            listed[module].append(name)
    return listed


def _errors(home: Any) -> list[str]:
    return [
        name
        for name, thing in vars(home).items()
        if inspect.isclass(thing) and thing.__module__ == home.__name__
    ]


def _stub(module: str, name: str) -> str:
    thing = getattr(importlib.import_module(module), name)
    whole = f"{module}.{name}"
    lines = [":orphan:", "", name, "=" * len(name), "", f".. currentmodule:: {module}", ""]
    lines += [f"In ``{module}``; :doc:`all of the reference </reference>`.", ""]
    if inspect.isclass(thing):
        foreign = {
            base.__name__ for base in thing.__mro__ if not base.__module__.startswith("discreet")
        }
        lines += [
            f".. autoclass:: {whole}",
            "   :members:",
            f"   :inherited-members: {', '.join(sorted(foreign))}",
            "   :show-inheritance:",
        ]
    else:
        lines.append(f".. autofunction:: {whole}")
    return "\n".join(lines) + "\n"


def _write(_app: Sphinx) -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = {
        f"{module}.{name}.rst": _stub(module, name)
        for module, names in public_names().items()
        for name in names
    }
    for old in FOLDER.glob("*.rst"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        file = FOLDER / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


class Public(SphinxDirective):
    """``{public} discreet.audit``: the public names of a module, each with its first sentence and a link."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table. Its pages are not in the tree of contents, which every page would repeat."""
        module = self.arguments[0]
        names = public_names()[module]
        group = nodes.tgroup("", *(nodes.colspec(colwidth=width) for width in (30, 70)), cols=2)
        group += nodes.tbody("", *(self._row(module, name) for name in names))
        return [nodes.table("", group, classes=["public"])]

    def _row(self, module: str, name: str) -> nodes.row:
        target = f"/reference/{module}.{name}"
        link = addnodes.pending_xref(
            "",
            nodes.literal(text=name),
            refdomain="std",
            reftype="doc",
            reftarget=target,
            refexplicit=True,
            refdoc=self.env.docname,
            refwarn=True,
        )
        said = nodes.paragraph(text=_summary(getattr(importlib.import_module(module), name)))
        return nodes.row("", nodes.entry("", nodes.paragraph("", "", link)), nodes.entry("", said))


def _summary(thing: Any) -> str:
    """The first sentence of a docstring, without marks."""
    first = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]*)`|[`*]", r"\1", first)


def _before(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, lines: list[str]
) -> None:
    """The attributes of a class that are also what it is built from are shown as parameters."""
    if what not in ("class", "exception"):
        return
    known = {name for name, _ in parameters.parameters_of(thing)}
    told = "\n".join(lines)
    block = re.search(r"^Attributes:\n((?:    .*\n?|\n)+)", told, re.M)
    if block is None or re.search(r"^Args:", told, re.M):
        return
    items = re.split(r"^(?=    \w)", block[1], flags=re.M)
    own = [
        item
        for item in items
        if re.match(r" {4}(\w+)", item) and item.split()[0].rstrip(":") in known
    ]
    rest = [item for item in items if item not in own]
    parts = ("Args:\n" + "".join(own) + "\n" if own else "") + (
        "Attributes:\n" + "".join(rest) if "".join(rest).strip() else ""
    )
    lines[:] = (told[: block.start()] + parts + told[block.end() :]).split("\n")


def _after(
    _app: Sphinx, what: str, _name: str, thing: Any, _options: Any, lines: list[str]
) -> None:
    if what in ("class", "exception", "function", "method"):
        _add_types(thing, lines)
    lines[:] = [_typeset(line) for line in lines]


def _add_types(thing: Any, lines: list[str]) -> None:
    """To a docstring, as Napoleon has left it, what a person may pass where the code takes any object.

    In italics, or Sphinx would look for an object named like each word.
    """
    kinds = {
        name: f":type {name}: *{kind.replace('`', '')}*"
        for name, annotation in parameters.parameters_of(thing)
        if (kind := parameters.type_for(name, annotation))
    }
    told = re.compile(r":(param|type) (?:\\\*)*(\w+):")
    kept = []
    for line in lines:
        found = told.match(line)
        if found and found[2] in kinds:
            if found[1] == "type":
                continue
            kept.append(kinds[found[2]])  # in the same list of fields as its description
        kept.append(line)
    lines[:] = kept


def _typeset(line: str) -> str:
    """Proof pages, named by their path in the repository, become links; p_r and e^ε become formulas."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    line = re.sub(r"``docs/proofs/([\w-]+)\.md``", r":doc:`/proofs/\1`", line)
    parts = re.split(r"(``.*?``|:\w+:`.*?`)", line)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(
            r"(?<![\w`])([A-Za-zα-ωΠΣ])_(?:\{([^}]*)\}|([a-z0-9*])(?!\w))",
            lambda found: rf"{found[1]}\ :sub:`{found[2] or found[3]}`\ ",
            parts[place],
        )
        parts[place] = re.sub(
            r"(?<=[\w)])\^(?:\(([^()]*)\)|([−-]?[\wα-ω]+))",
            lambda found: rf"\ :sup:`{found[1] or found[2]}`\ ",
            parts[place],
        )
    return "".join(parts)


def _dashes(_app: Sphinx, doctree: nodes.document) -> None:
    """Between a parameter and its description Sphinx puts two hyphens, which are an option's here."""
    for text in list(doctree.findall(nodes.Text)):
        if text.astext() == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages, list them, and complete their docstrings before and after Napoleon."""
    app.connect("builder-inited", _write, priority=100)
    app.connect("autodoc-process-docstring", _before, priority=100)
    app.connect("autodoc-process-docstring", _after, priority=900)
    app.connect("doctree-read", _dashes)
    app.add_directive("public", Public)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
