"""The theorems, and the pages with the proofs of what the code claims, for tests of the proof labels."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
PAGES = {
    f"docs/proofs/{path.name}": path.read_text(encoding="utf-8")
    for path in (ROOT / "docs" / "proofs").glob("*.md")
}


def _loaded(path: Path) -> ModuleType:
    described = importlib.util.spec_from_file_location(path.stem, path)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


CHECK = _loaded(PROOFS / "check.py")
PICTURE = _loaded(ROOT / "docs" / "_extensions" / "proof_picture.py")
THEOREMS = PICTURE.statements()
