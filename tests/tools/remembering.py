"""Work that a test repeats without need, done once: counts of the same table, laws of the same scores.

A test that follows every path of a question asks it about the same rows once for each path.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from discreet._tables.in_duckdb import DuckDB
from discreet.mechanisms import Mechanism


def count_once(
    monkeypatch: pytest.MonkeyPatch, found: dict[Hashable, Any], rows: Callable[[], Hashable]
) -> None:
    """Let DuckDB run a statement once for each table, which ``rows`` names, and keep what it ``found``."""
    columns, listed = DuckDB.columns, DuckDB.rows

    def remembered(engine: DuckDB, statement: str, *names: Any) -> Any:
        key = rows(), bool(names), statement
        if key not in found:
            found[key] = columns(engine, statement, *names) if names else listed(engine, statement)
        return found[key]

    monkeypatch.setattr(DuckDB, "columns", remembered)
    monkeypatch.setattr(DuckDB, "rows", remembered)
    monkeypatch.setattr(DuckDB, "try_out", lambda *_: None)


def weigh_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each mechanism compute the law of the same scores once, for however many claims it is audited."""
    mass = Mechanism._mass
    found: dict[Hashable, Any] = {}

    def remembered(mechanism: Mechanism, scores: Any, *, log: bool) -> Any:
        key = mechanism, scores.sensitivity, scores.monotonic, scores.values.tobytes(), log
        if key not in found:
            found[key] = mass(mechanism, scores, log=log)
        return found[key]

    monkeypatch.setattr(Mechanism, "_mass", remembered)
