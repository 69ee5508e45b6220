"""Caches for work that tests repeat: counts of the same table, laws of the same scores.

A test that follows every path of a question asks it about the same rows once for each path.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest

from discreet._tables.in_duckdb import DuckDB
from discreet.mechanisms import Mechanism


def count_once(
    monkeypatch: pytest.MonkeyPatch, found: dict[Hashable, Any], rows: Callable[[], Hashable]
) -> None:
    """Make DuckDB read each table in ``rows`` only once; ``found`` stores the results."""
    columns, listed, loaded = DuckDB.columns, DuckDB.rows, DuckDB.loaded

    def remembered(engine: DuckDB, statement: str, *names: Any) -> Any:
        key = rows(), bool(names), statement
        if key not in found:
            found[key] = columns(engine, statement, *names) if names else listed(engine, statement)
        return found[key]

    def loaded_once(engine: DuckDB, names: Iterable[str]) -> DuckDB:
        wanted = tuple(names)
        # A test may read the same rows with another type.
        key = rows(), "loaded", *(f"{name} {engine.types.get(name)}" for name in wanted)
        if key not in found:
            found[key] = loaded(engine, wanted)
        held: DuckDB = found[key]
        return held

    monkeypatch.setattr(DuckDB, "loaded", loaded_once)
    monkeypatch.setattr(DuckDB, "columns", remembered)
    monkeypatch.setattr(DuckDB, "rows", remembered)
    monkeypatch.setattr(DuckDB, "try_out", lambda *_: None)


def weigh_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each mechanism compute the law of the same scores only once, even if many claims are audited."""
    mass = Mechanism._mass
    found: dict[Hashable, Any] = {}

    def remembered(mechanism: Mechanism, scores: Any, *, log: bool) -> Any:
        key = mechanism, scores.sensitivity, scores.monotonic, scores.values.tobytes(), log
        if key not in found:
            found[key] = mass(mechanism, scores, log=log)
        return found[key]

    monkeypatch.setattr(Mechanism, "_mass", remembered)
