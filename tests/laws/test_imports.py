"""The direction of imports, who may touch randomness, and what `import discreet` does not load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import discreet
from tests.tools.waiting import PATIENCE

SOURCES = Path(__file__).parents[2] / "src"
PACKAGE = SOURCES / "discreet"

# The layers, lowest first. A package (a module or a folder of discreet) imports from lower layers and from
# the packages before it in its own layer, never from those after it. A new package must be added here.
FLOORS = [
    "_names errors _displays _exact.numbers neighbours _exact.gaps guarantees scores _exact.distribution "
    "_exact.sampling release testing demo_data mechanisms lazy",
    "accounting analysis",
    "ledger _isolated _tables questions tuning sklearn opendp diffprivlib",
    "audit papers",
    "pytest_plugin _web demo explore desk.client study desk dossier _cli __main__",
]
ROOMS = [room for floor in FLOORS for room in floor.split()]
HEIGHT = {room: height for height, room in enumerate(ROOMS)}

APART = {"desk.client"}
"""Separate packages in single files: the analyst's side of a desk needs nothing of the owner's."""

STUDY = {"analysis", "audit", "papers", "explore"}
"""The study path, which never touches a ledger; nor does the ledger know of it."""

RANDOMNESS = {"random", "secrets", "cryptography"}
"""Modules that only ``discreet._exact.sampling`` imports; likewise ``os.urandom`` and ``numpy.random``."""

HEAVY = [
    "flint",
    "cryptography",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "narwhals",
    "sqlalchemy",
    "altair",
    "vl_convert",
    "starlette",
    "uvicorn",
    "pyspark",
    "opendp",
    "dp_accounting",
    "sklearn",
    "rich",
    "click",
    "pydantic",
    "mcp",
]


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return _named(parts) if parts[-1] != "__init__" or len(parts) > 2 else parts[0]


def _named(parts: Sequence[str]) -> str:
    inner = ".".join(parts[:2])
    return inner if parts[0] == "_exact" or inner in APART else parts[0]


@cache
def _nodes(path: Path) -> list[ast.AST]:
    kinds = (ast.Import, ast.ImportFrom, ast.Attribute)
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in tree if isinstance(node, kinds)]


def _imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Return every module imported anywhere in a file, split at the dots; an imported name comes last."""
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are written in full"
            for alias in node.names:
                yield (*(node.module or "").split("."), alias.name)


def _rooms_imported(path: Path) -> set[str]:
    rooms = set()
    for parts in _imports(path):
        if parts[0] == "discreet" and len(parts) > 1 and parts[1] != "__version__":
            # A public name imported from ``discreet`` counts as an import from its own package.
            inner = _named(parts[1:])
            rooms.add(discreet._HOMES.get(inner, inner))
    return rooms


def test_every_room_has_a_floor() -> None:
    rooms = {_room(path) for path in _modules()} - {"__init__", "_exact"}
    assert rooms == set(HEIGHT), "FLOORS names the rooms that there are, each once"
    assert len(ROOMS) == len(HEIGHT)
    assert set(discreet._HOMES.values()) <= rooms


def test_only_balls_touches_the_precision_of_flint() -> None:
    """The precision is global to the process, so it is set in one place, under a lock."""
    touching = {
        str(path.relative_to(PACKAGE))
        for path in _modules()
        if re.search(
            r"\bworkprec\b|\bworkdps\b|import\b.*\bctx\b|flint\.ctx", path.read_text("utf-8")
        )
    }
    assert touching == {"_exact/numbers/balls.py"}


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_along_the_flow(path: Path) -> None:
    room = _room(path)
    if room in {"__init__", "_exact"}:
        return  # ``discreet`` itself imports everything lazily; a package's docstring imports nothing
    for other in _rooms_imported(path) - {room}:
        assert other in HEIGHT, f"discreet.{other} is not a room"
        assert HEIGHT[other] < HEIGHT[room], f"{room} must not import {other}"
    if room in STUDY:
        assert "ledger" not in _rooms_imported(path)
    if room == "ledger":
        assert not STUDY & _rooms_imported(path)


def test_the_tables_notice_a_wrong_import() -> None:
    assert HEIGHT["_exact.sampling"] < HEIGHT["mechanisms"] < HEIGHT["questions"]
    assert HEIGHT["ledger"] > HEIGHT["accounting"]
    assert set(HEIGHT) >= STUDY


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_sampling_touches_randomness(path: Path) -> None:
    if _room(path) == "_exact.sampling":
        return
    for parts in _imports(path):
        assert parts[0] not in RANDOMNESS, f"{'.'.join(parts)} belongs in discreet._exact.sampling"
        assert parts[:2] not in {("os", "urandom"), ("numpy", "random")}
    for node in _nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            reached = (node.value.id, node.attr)
            assert reached not in {
                ("os", "urandom"),
                ("os", "getrandom"),
                ("np", "random"),
                ("numpy", "random"),
                ("uuid", "uuid4"),
            }


def test_click_stays_in_the_command_line() -> None:
    for path in _modules():
        if _room(path) != "_cli":
            assert all(parts[0] != "click" for parts in _imports(path))


def _loaded_by(statement: str) -> set[str]:
    """Return the top-level modules in memory after a statement, in a fresh interpreter."""
    script = f"import sys; sys.path.insert(0, {str(SOURCES)!r}); {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_import_loads_nothing_heavy() -> None:
    names = ", ".join(name for name in discreet.__all__ if not name.startswith("_"))
    loaded = _loaded_by(f"import discreet; from discreet import {names}")
    assert "numpy" in loaded
    assert not loaded & set(HEAVY)


def test_the_command_line_loads_nothing_heavy_before_it_is_used() -> None:
    loaded = _loaded_by("import discreet._cli")
    assert not loaded & (set(HEAVY) - {"click"})


def test_a_small_selection_needs_neither_the_cipher_nor_a_chart() -> None:
    loaded = _loaded_by(
        "from discreet import Scores, PermuteAndFlip; "
        "PermuteAndFlip(epsilon=1).select(Scores([9, 2, 1], sensitivity=1))"
    )
    assert not loaded & (set(HEAVY) - {"flint", "cryptography"})


def test_a_room_is_reached_after_importing_the_root_alone() -> None:
    _loaded_by("import discreet; discreet.desk.connect, discreet.questions.mode")


def test_the_public_names_are_all_there() -> None:
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
        assert name in dir(discreet)
    with pytest.raises(AttributeError, match="no attribute"):
        _ = discreet.no_such_name
