"""Call black boxes that can only be sampled, and count their answers."""

from __future__ import annotations

import inspect
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import filterfalse
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._exact.sampling import Bits
from discreet.audit.audited_scores import AuditedScores
from discreet.audit.relations import Floats
from discreet.audit.subjects import NAN, PATIENCE, Failure
from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism

Counts = npt.NDArray[np.int64]

_AT_ONCE = 200_000
_FIRST = 256
_STEADY = 4096
_BRIEF = 0.05


class OutOfTime(Exception):  # noqa: N818 (not an error)
    """The time for drawing has run out."""


class Sampler:
    """A sampling function, with a tally of its answers for each score vector.

    No draw starts after ``until`` (a time of ``time.perf_counter``); :class:`OutOfTime` is raised instead.
    Float answers are rounded down to multiples of ``grain``.
    """

    def __init__(
        self,
        function: Any,
        *,
        sensitivity: Fraction,
        grain: float = 1.0,
        randomness: Bits | None = None,
    ) -> None:
        self.name, self._draw = _drawing(function, randomness)
        self.sensitivity = sensitivity
        self.draws = 0
        self.until = math.inf
        self.cut_short = False
        self._grain = grain
        # A repeatable audit draws in batches that do not depend on the clock.
        self._steady = randomness is not None
        self._batch = _STEADY if self._steady else _FIRST
        self._answers: dict[int, dict[Hashable, int]] = {}
        self._tallies: dict[tuple[bool, tuple[float, ...]], Counts] = {}

    def tally(self, row: Sequence[float] | Floats, size: int, *, monotonic: bool) -> Counts:
        """Count each answer over at least ``size`` draws: all earlier draws, and new ones as needed."""
        key = (monotonic, tuple(float(value) for value in row))
        counts = self._tallies.get(key, np.zeros(len(key[1]), dtype=np.int64))
        missing = size - int(counts.sum())
        if missing > 0:
            scores = AuditedScores(
                np.array(key[1]), sensitivity=self.sensitivity, monotonic=monotonic
            )
            self._tallies[key] = counts = _sum(counts, self.count(scores, missing))
        return counts

    def both(
        self, first: Sequence[float], second: Sequence[float], size: int, *, monotonic: bool
    ) -> tuple[Counts, Counts]:
        """Return the tallies of two score vectors, with the answers in the same order."""
        one = self.tally(first, size, monotonic=monotonic)
        two = self.tally(second, size, monotonic=monotonic)
        nothing = np.zeros(len(first) + len(self._answers.get(len(first), ())), dtype=np.int64)
        return _sum(one, nothing), _sum(two, nothing)

    def answers(self, size: int) -> tuple[Any, ...]:
        """Return the answer that each entry of a tally counts; empty if all answers are positions."""
        known = tuple(self._answers.get(size, ()))
        return (*range(size), *known) if known else ()

    def forget(self) -> None:
        """Drop all tallies, so that later tallies are independent of earlier draws."""
        self._tallies.clear()

    def count(self, scores: Any, size: int) -> Counts:
        """Make ``size`` new draws on these scores, and count each answer."""
        counts = np.zeros(len(scores), dtype=np.int64)
        others = self._answers.setdefault(len(scores), {})
        while size > 0:
            began = time.perf_counter()
            if began > self.until:
                self.cut_short = True
                raise OutOfTime
            batch = min(size, self._batch)
            answers = self._draw(scores, batch)
            counts = _sum(counts, _counted(answers, len(scores), batch, others, self._grain))
            # Batches that take a fraction of a second make it possible to keep the time limit.
            took = _BRIEF if self._steady else time.perf_counter() - began
            if took < _BRIEF and batch == self._batch:
                self._batch = min(4 * batch, _AT_ONCE)
            elif took > 4 * _BRIEF:
                self._batch = max(batch // 4, 1)
            size -= batch
            self.draws += batch
        return counts


def _counted(
    answers: Any, candidates: int, expected: int, others: dict[Hashable, int], grain: float
) -> Counts:
    """Count the answers by column; in ``others``, give a column to each answer that is not a position."""
    array = None if isinstance(answers, list) else np.asarray(answers)
    told = answers if array is None or array.ndim != 1 else array.tolist()
    whole = array is not None and array.dtype.kind in "iu"
    try:
        tally = Counter(told if whole else (_coarse(answer, grain) for answer in told))
    except TypeError:
        tally = Counter()
    if sum(tally.values()) != expected or np.ndarray in map(type, tally):
        raise ParameterError(
            "a sampler must return the position of its answer, a whole number, or an answer of another "
            "kind that can be compared (a label, a number, a tuple), one per draw"
        )
    if any(_is_position(answer) and not 0 <= answer < candidates for answer in tally):
        raise ParameterError("a sampler's answers must be positions of candidates")
    for answer in filterfalse(_is_position, tally):
        others.setdefault(answer, candidates + len(others))
    counts = np.zeros(candidates + len(others), dtype=np.int64)
    for answer, count in tally.items():
        counts[answer if _is_position(answer) else others[answer]] += count
    return counts


def _coarse(answer: Any, grain: float) -> Any:
    """Round floats in an answer down to multiples of ``grain``, and make all NaNs equal."""
    if isinstance(answer, tuple):
        return tuple(_coarse(part, grain) for part in answer)
    if not isinstance(answer, float):
        return answer
    if math.isnan(answer):
        return NAN
    return math.floor(answer / grain) * grain if math.isfinite(answer / grain) else answer


def _is_position(answer: Any) -> bool:
    return isinstance(answer, int | np.integer) and not isinstance(answer, bool | np.bool_)


def _sum(first: Counts, second: Counts) -> Counts:
    """Add two tallies; a missing answer counts as zero."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    total = long.copy()
    total[: len(short)] += short
    return total


def _drawing(
    function: Any, randomness: Bits | None
) -> tuple[str, Callable[[AuditedScores, int], Any]]:
    method = getattr(function, "sample", None)
    if callable(method) and not isinstance(function, type):
        if randomness is not None and isinstance(function, Mechanism):
            method = partial(method, randomness=randomness)
        # The default repr contains a memory address, which is not a useful name.
        kind: Any = type(function)
        name = kind.__name__ if kind.__repr__ is object.__repr__ else repr(function)
        return name, _Answering(method, many=True)
    if not callable(function) or isinstance(function, type):
        raise ParameterError(
            "a sampler must be a mechanism, function(scores, size) -> positions, or "
            "function(scores) -> position"
        )
    name = str(getattr(function, "__name__", None) or type(function).__name__)
    return name, _Answering(function, many=takes_size(function))


class _Answering:
    """A sampling function that returns errors as answers; it raises if the function always fails."""

    def __init__(self, function: Callable[..., Any], *, many: bool) -> None:
        self._function = function
        self._many = many
        self._failures = 0
        self._answered = False

    @np.errstate(all="ignore")  # an overflow is visible in the answers
    def __call__(self, scores: Any, size: int) -> Any:
        if self._many and size > 1:
            # If a batch raises, make single draws instead, to see which of them raise.
            with suppress(Exception):
                answers = self._function(scores, size)
                self._answered = True
                return answers
        return [self._one(scores) for _ in range(size)]

    def _one(self, scores: Any) -> Any:
        try:
            answer = self._function(scores, 1)[0] if self._many else self._function(scores)
        except Exception as error:
            self._failures += 1
            if not self._answered and self._failures >= PATIENCE:
                raise
            return Failure(f"raises {type(error).__name__}")
        self._answered = True
        return answer


def takes_size(function: Any) -> bool:
    """Return whether a sampler takes the number of answers as an argument."""
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
