"""Black boxes that only sample: how they are called, and counts of their answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.relations import Floats
from discreet.audit.subjects import AuditedScores
from discreet.errors import ParameterError

Counts = npt.NDArray[np.int64]

_AT_ONCE = 200_000


class Sampler:
    """Anything that samples, with a tally of its answers for every score vector it was asked about."""

    def __init__(self, function: Any, *, sensitivity: Fraction) -> None:
        self.name, self._draw = _drawing(function)
        self.sensitivity = sensitivity
        self.draws = 0
        self._tallies: dict[tuple[bool, tuple[float, ...]], Counts] = {}

    def tally(self, row: Sequence[float] | Floats, size: int, *, monotonic: bool) -> Counts:
        """Counts of each answer over ``size`` draws in all: those remembered, and new ones."""
        key = (monotonic, tuple(float(value) for value in row))
        counts = self._tallies.get(key, np.zeros(len(key[1]), dtype=np.int64))
        missing = size - int(counts.sum())
        if missing > 0:
            counts = counts + self._fresh(key, missing)
            self._tallies[key] = counts
        return counts

    def count(self, scores: Any, size: int) -> Counts:
        """Counts of each answer over fresh draws on these very scores."""
        return self._drawn(scores, size)

    def forget(self) -> None:
        """Drop all tallies: what follows is independent of what was seen."""
        self._tallies.clear()

    def _fresh(self, key: tuple[bool, tuple[float, ...]], size: int) -> Counts:
        monotonic, row = key
        scores = AuditedScores(
            np.array(row, dtype=np.float64), sensitivity=self.sensitivity, monotonic=monotonic
        )
        return self._drawn(scores, size)

    def _drawn(self, scores: Any, size: int) -> Counts:
        counts = np.zeros(len(scores), dtype=np.int64)
        while size > 0:
            batch = min(size, _AT_ONCE)
            counts += counted(self._draw(scores, batch), len(scores), batch)
            size -= batch
        self.draws += int(counts.sum())
        return counts


def counted(answers: Any, candidates: int, expected: int) -> Counts:
    """Counts of each candidate among answers given as positions."""
    array = np.asarray(answers)
    if array.shape != (expected,) or array.dtype.kind not in "iu":
        raise ParameterError(
            "a sampler must return the positions of its answers, one whole number per draw"
        )
    if len(array) and (int(array.min()) < 0 or int(array.max()) >= candidates):
        raise ParameterError("a sampler's answers must be positions of candidates")
    return np.bincount(array.astype(np.int64), minlength=candidates)


def _drawing(function: Any) -> tuple[str, Callable[[AuditedScores, int], Any]]:
    method = getattr(function, "sample", None)
    if callable(method) and not isinstance(function, type):
        # The usual repr is an address in memory, which tells nobody anything.
        kind: Any = type(function)
        return kind.__name__ if kind.__repr__ is object.__repr__ else repr(function), method
    if not callable(function) or isinstance(function, type):
        raise ParameterError(
            "a sampler must be a mechanism, function(scores, size) -> positions, or "
            "function(scores) -> position"
        )
    name = str(getattr(function, "__name__", None) or type(function).__name__)
    if _takes_size(function):
        return name, function
    return name, lambda scores, size: np.array([_position(function(scores)) for _ in range(size)])


def _position(answer: Any) -> int:
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool | np.bool_):
        return int(answer)
    raise ParameterError("a sampler must return the position of its answer, a whole number")


def _takes_size(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    positional = [
        part
        for part in parameters
        if part.kind in (part.POSITIONAL_ONLY, part.POSITIONAL_OR_KEYWORD)
    ]
    required = [part for part in positional if part.default is part.empty]
    return len(required) >= 2 or any(part.name == "size" for part in positional)
