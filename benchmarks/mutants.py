"""Plant small defects in the code, one at a time, and see whether the tests notice: ``make mutants``.

A mutant is one module with one change: a boundary, an operator, a constant by one, a minimum for a maximum,
a rounding the other way, a ``raise`` or an ``if`` that is gone, a returned None. Those of guarantees and
accounting are judged by the tests of these rooms, first by the quick ones; with ``--elsewhere N`` so many
more are drawn from the other rooms, each judged by the test file of its module. Everything happens in a
copy of the tree, each mutant in a fork of this process, which has the heavy libraries imported already.

The order is shuffled by a fixed seed: a run that is cut short by its time limit has judged a random sample.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("guarantees", "accounting")
FULL = [
    "src/discreet/guarantees",  # their examples
    "src/discreet/accounting",
    "tests/guarantees",
    "tests/accounting",
    "tests/laws/test_guarantees.py",
]
SLOW = (
    "ten_thousand", "test_order", "own_conversion", "gaussian_pair", "chain", "at_the_ends",
    "independent_one", "three_hundred", "more_epsilon", "two_steps", "stronger_promise",
)  # fmt: skip
SLOWEST, PATIENCE, MEMORY = 20.0, 300.0, 6 * 2**30
SEED = 20
WARM = ("numpy", "flint", "scipy.special", "polars")

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


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module."""

    path: str
    place: str
    change: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.place}: {self.change}"


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:  # noqa: PLR0912 (a table)
    """What may stand in the place of a node."""
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
    """Every node that runs, with its place: no annotation, decorator, docstring or assertion."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "ctx", "op", "ops"):
            continue
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for place, child in children:
            told = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not told and not isinstance(child, ast.Assert):
                yield node, name, place, child
                yield from _fields(child)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for parent, name, place, child in _fields(tree):
        for change, other in _changes(child):
            new = ast.fix_missing_locations(ast.copy_location(other, child))
            held = getattr(parent, name)
            kept = list(held) if place is not None else held
            if place is not None:
                held[place] = new
            else:
                setattr(parent, name, new)
            text = ast.unparse(tree)
            setattr(parent, name, kept)
            at = f"{getattr(child, 'lineno', 0)}:{getattr(child, 'col_offset', 0)}"
            yield Mutant(str(path.relative_to(ROOT)), at, " ".join(change.split()), text)


def judged(tree: Path, tests: list[str], seconds: float) -> str:
    """``passed``, ``failed`` or ``late``: what the tests say in the copy, in a process of its own."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(tree)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os._exit(int(pytest.main([*tests, "-x", "-q", "-p", "no:cacheprovider"])))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "passed" if status == 0 else "failed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


@dataclass(frozen=True, slots=True)
class Bench:
    """The copy of the tree in which mutants are judged."""

    tree: Path
    needed: dict[str, float]

    def survives(self, mutant: Mutant, tests: list[str]) -> str:
        """``survived``, ``killed`` or ``late`` (a kill: the tests would have stood still)."""
        limit = min(PATIENCE, 20 + 4 * self.seconds(tests))
        place = self.tree / mutant.path
        kept = place.read_text(encoding="utf-8")
        for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"):
            compiled.unlink()
        place.write_text(mutant.text, encoding="utf-8")
        try:
            said = judged(self.tree, tests, limit)
        finally:
            place.write_text(kept, encoding="utf-8")
        return {"passed": "survived", "failed": "killed"}.get(said, said)

    def seconds(self, tests: list[str]) -> float:
        """How long the tests take without a mutant; infinite if they do not pass in time."""
        name = " ".join(tests)
        if name not in self.needed:
            began = time.monotonic()
            said = judged(self.tree, tests, PATIENCE)
            self.needed[name] = time.monotonic() - began if said == "passed" else float("inf")
        return self.needed[name]


def _copied(to: Path) -> None:
    git = shutil.which("git") or "git"
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)  # noqa: S603
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)


def _tests(path: Path) -> list[str]:
    """The tests that judge a mutant of this module first; none if it has no test file of its own."""
    place = path.relative_to(ROOT / "src/discreet")
    if place.parent.name in ROOMS:
        return [
            f"tests/{place.parent}",
            f"src/discreet/{place.parent}",
            "-k",
            " and ".join(f"not {name}" for name in SLOW),
        ]
    test = Path("tests") / place.parent / f"test_{place.name}"
    return [str(test)] if (ROOT / test).exists() else []


def _drawn(most: int | None, elsewhere: int) -> list[Mutant]:
    """All mutants of the rooms in a shuffled order, or some, and a sample of the others."""
    order = random.Random(SEED)  # noqa: S311
    modules = sorted((ROOT / "src/discreet").rglob("*.py"))
    ours = [m for p in modules if p.parent.name in ROOMS for m in mutants(p)]
    order.shuffle(ours)
    print(f"{len(ours):,} mutants of {' and '.join(ROOMS)}", flush=True)
    if not elsewhere:
        return ours[:most]
    others = [m for p in modules if p.parent.name not in ROOMS and _tests(p) for m in mutants(p)]
    print(f"{len(others):,} mutants of other modules that have a test file", flush=True)
    return ours[:most] + order.sample(others, elsewhere)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("--most", type=int, help="of guarantees and accounting; all by default")
    parser.add_argument("--elsewhere", type=int, default=0, help="how many of the other rooms")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="draw no more after it")
    chosen = parser.parse_args()
    until = time.monotonic() + chosen.seconds
    work = _drawn(chosen.most, chosen.elsewhere)
    for name in WARM:
        importlib.import_module(name)
    count = {"killed": 0, "late": 0, "survived": 0, "not judged": 0}
    doubtful = list[Mutant]()
    with tempfile.TemporaryDirectory() as folder:
        _copied(Path(folder))
        bench = Bench(Path(folder), {})
        for room in ROOMS:
            tests = _tests(ROOT / f"src/discreet/{room}/x.py")
            print(f"{room} without a mutant: {bench.seconds(tests):.1f} s", flush=True)
        sys.dont_write_bytecode = True  # two mutants of one size in one second look alike
        for number, mutant in enumerate(work, 1):
            if time.monotonic() > until:
                count["not judged"] += len(work) - number + 1
                break
            tests = _tests(ROOT / mutant.path)
            ours = tests[-2:-1] == ["-k"]
            slow = not ours and bench.seconds(tests) > SLOWEST
            said = "not judged" if slow else bench.survives(mutant, tests)
            if said == "survived" and ours:
                print(f"survived the quick tests: {mutant}", flush=True)
                doubtful.append(mutant)
                continue
            count[said] += 1
            if said != "killed":
                print(f"{said}: {mutant}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{number:,} of {len(work):,}", end="", file=sys.stderr, flush=True)
        print(f"{count}; {len(doubtful):,} survived the quick tests", flush=True)
        for mutant in doubtful:
            said = bench.survives(mutant, FULL)
            count[said] += 1
            print(f"{said} by all tests of the rooms: {mutant}", flush=True)
    print(", ".join(f"{number:,} {said}" for said, number in count.items()))


if __name__ == "__main__":
    main()
