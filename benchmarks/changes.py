"""The small defects that the mutation run makes in a module, one at a time.

A change moves a boundary, replaces an operator, changes a constant by one, swaps minimum and maximum, rounds
the other way, removes a ``raise`` or an ``if``, or returns None. Text, docstrings, annotations, decorators,
assertions and code under ``if TYPE_CHECKING`` are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/discreet"

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,  # codespell:ignore notin
    ast.NotIn: ast.In,  # codespell:ignore notin
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_PAIRS = (("min", "max"), ("floor", "ceil"), ("any", "all"), ("upper", "lower"))
OPPOSITE = {one: two for pair in _PAIRS for one, two in (pair, pair[::-1])}
_TITLED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OPTIMIZED = 1  # set for functions, not for class bodies


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:  # noqa: PLR0912 (a table)
    """Yield each replacement of a node, with its description."""
    other = copy.deepcopy(node)
    match node, other:
        case ast.Compare(ops=[kind]), ast.Compare() if type(kind) in COMPARED:
            other.ops = [COMPARED[type(kind)]()]
            yield f"{ast.unparse(node)} → {ast.unparse(other)}", other
        case ast.BinOp(), ast.BinOp() if type(node.op) in COMPUTED:
            other.op = COMPUTED[type(node.op)]()
            yield f"{ast.unparse(node)} → {ast.unparse(other)}", other
        case ast.BoolOp(), ast.BoolOp():
            other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield f"{ast.unparse(node)} → {ast.unparse(other)}", other
        case ast.UnaryOp(op=ast.Not() | ast.USub()), ast.UnaryOp():
            yield f"{ast.unparse(node)} → {ast.unparse(node.operand)}", node.operand
        case ast.Constant(value=bool(value)), _:
            yield f"{value} → {not value}", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)), _:
            for step in (1, -1):
                yield f"{value} → {value + step}", ast.Constant(value + step)
        case ast.Name(id=name, ctx=ast.Load()), ast.Name() if name in OPPOSITE:
            other.id = OPPOSITE[name]
            yield f"{name} → {other.id}", other
        case ast.Attribute(attr=name, ctx=ast.Load()), ast.Attribute() if name in OPPOSITE:
            other.attr = OPPOSITE[name]
            yield f"{ast.unparse(node)} → .{other.attr}", other
        case ast.Call(func=ast.Name(id="upper_bound"), args=[formula, *given]), ast.Call():
            turned = ast.parse(
                f"lambda *given: -({ast.unparse(formula)})(*given)", mode="eval"
            ).body
            other.args = [turned, *given]
            yield f"{ast.unparse(node)[:60]} rounded down", ast.UnaryOp(ast.USub(), other)
        case ast.Raise(), _:
            yield f"no {ast.unparse(node)[:60]}", ast.Pass()
        case ast.If(), ast.If():
            other.test = ast.Constant(False)
            yield f"no if {ast.unparse(node.test)}", other
        case ast.Return(value=ast.expr() as value), _:
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield f"return {ast.unparse(value)[:60]} → None", ast.Return(ast.Constant(None))


def _fields(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Yield executable nodes with positions; skip annotations, decorators, docstrings and assertions."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "ctx", "op", "ops"):
            continue
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for place, child in children:
            told = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            told |= isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            if isinstance(child, ast.AST) and not told and not isinstance(child, ast.Assert):
                yield node, name, place, child
                yield from _fields(child)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to one module; ``number`` counts the changes to the module.

    ``lines`` are the lines of the statement, or only of its head if it has a body. ``name`` does not mention
    lines, so verdicts stay valid after edits elsewhere in the module.
    """

    path: str
    number: int
    lines: range
    name: str

    def code(self) -> CodeType:
        """Compile the module with this change and the original line numbers."""
        tree, sites = _parsed(ROOT / self.path)
        site = sites[self.number]
        new = ast.fix_missing_locations(ast.copy_location(site.other, site.child))
        site.put(new)
        code = compile(tree, str(ROOT / self.path), "exec", dont_inherit=True)
        site.put(site.child)
        return code


@dataclass(frozen=True, slots=True)
class _Site:
    """A node, the field of its parent that holds it, and its replacement."""

    parent: ast.AST
    field: str
    at: int | None
    child: ast.AST
    change: str
    other: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.at] = node


@cache
def _parsed(path: Path) -> tuple[ast.Module, list[_Site]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = [(place, change) for place in _fields(tree) for change in _changes(place[-1])]
    return tree, [_Site(*place, *change) for place, change in places]


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree, sites = _parsed(path)
    inside, lines = dict[ast.AST, str](), dict[ast.AST, range]()
    for node in ast.walk(tree):  # outer nodes come first
        if isinstance(node, ast.stmt):
            lines[node] = _lines(node)
        lines.update(dict.fromkeys(ast.iter_child_nodes(node), lines.get(node, range(0))))
        title = getattr(node, "name", None) if isinstance(node, _TITLED) else None
        words = " ".join(filter(None, (inside.get(node, ""), title)))
        inside.update(dict.fromkeys(ast.iter_child_nodes(node), words))
    seen = Counter[str]()
    where = str(path.relative_to(ROOT))
    for number, site in enumerate(sites):
        told = f"{where}: {inside[site.child] or 'module'}: {' '.join(site.change.split())}"
        seen[told] += 1
        again = f" (place {seen[told]})" if seen[told] > 1 else ""
        yield Mutant(where, number, lines[site.child], f"{told}{again}")


def _lines(statement: ast.stmt) -> range:
    body: list[ast.stmt] = getattr(statement, "body", [])
    last = body[0].lineno - 1 if body else statement.end_lineno or 0
    return range(statement.lineno, max(last, statement.lineno) + 1)


@cache
def original(path: str) -> CodeType:
    """Compile the unchanged module."""
    tree, _ = _parsed(ROOT / path)
    return compile(tree, str(ROOT / path), "exec", dont_inherit=True)


Key = tuple[str, int]


def functions(code: CodeType) -> Iterator[tuple[Key, CodeType]]:
    """Yield all code objects inside a module's code, outer ones before inner ones."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield (part.co_qualname, part.co_firstlineno), part
            yield from functions(part)


def replacements(before: CodeType, after: CodeType) -> dict[Key, CodeType] | None:
    """Return the functions that a change touches; None if it touches import-time code or is too complex."""
    if _shape(before) != _shape(after):
        return None
    old, count = dict(functions(before)), Counter(key for key, _ in functions(before))
    changed = {key: code for key, code in functions(after) if old.get(key) != code}
    simple = all(
        count[key] == 1 and old[key].co_freevars == code.co_freevars
        for key, code in changed.items()
    )
    return changed if simple else None


def _shape(code: CodeType) -> tuple[object, ...]:
    """Return the code that runs on import: the module's and its classes' code, without functions."""
    parts = tuple(
        _shape(part) if part.co_flags & _OPTIMIZED == 0 else part.co_qualname
        for part in code.co_consts
        if isinstance(part, CodeType)
    )
    plain = tuple(repr(part) for part in code.co_consts if not isinstance(part, CodeType))
    return code.co_code, code.co_names, plain, parts
