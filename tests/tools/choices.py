"""Let a test make every choice instead of the mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms import Mechanism
from discreet.scores import Scores


def _kinds(kind: type[Mechanism]) -> Iterator[type[Mechanism]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


def let_choose(
    monkeypatch: pytest.MonkeyPatch, choose: Callable[[Mechanism, Scores], int]
) -> list[int]:
    """Replace every choice by ``choose``; the returned list collects the number of rows of each call."""
    calls: list[int] = []

    def one(mechanism: Mechanism, scores: Scores, _bits: Any) -> int:
        calls.append(1)
        return choose(mechanism, scores)

    def each(mechanism: Mechanism, rows: Any, _bits: Any) -> Any:
        calls.append(len(rows))
        return np.array([choose(mechanism, rows.row(number)) for number in range(len(rows))])

    for kind in _kinds(Mechanism):  # type: ignore[type-abstract]  # the base of all of them
        for name, stand_in in (("_choose", one), ("_choose_each", each)):
            if name in vars(kind):
                monkeypatch.setattr(kind, name, stand_in)
    return calls
