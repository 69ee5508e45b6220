"""No two public classes of the package have the same name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import discreet

SOURCE = Path(discreet.__file__).parent
# Adapters use another library's interface, including its names.
ADAPTERS = {"diffprivlib.py", "opendp.py", "sklearn"}


def _classes(source: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(source.rglob("*.py")):
        where = path.relative_to(source)
        if where.parts[0] in ADAPTERS:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(str(where))
    return found


def test_no_public_class_name_twice() -> None:
    twice = {name: places for name, places in _classes(SOURCE).items() if len(places) > 1}
    assert not twice
