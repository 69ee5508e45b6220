"""One score vector with cached results, so the page can follow a slider without delay.

Most mechanisms depend on the scores only through the gaps (q* − q)/s, where s = d/ε. Curves are therefore
computed on a fixed grid of noise scales s: for these mechanisms, moving ε or Δ only changes which part of the
grid is visible.

**Not private**: all results are computed from the scores.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.exact import refuse
from discreet._exact.numbers.searches import root_between
from discreet.explore.settings import Terms, mechanism_at
from discreet.mechanisms import mechanism_named
from discreet.mechanisms.facts import Floats

PER_DECADE = 12
"""The number of points on a curve for each factor of ten in ε."""
_MOST_CUTS = 1_024
_MOST_MASSES = 8
_MOST_ANSWERS = 500
_MOST_STUDIES = 16
# Candidates that are behind by more than this many noise scales (plus ln n) have a total probability
# below 10^-21.
_NEGLIGIBLE = 50.0
_ALWAYS_KEPT = 64
_PRECISION = 2e-4


@cache
def _law(name: str) -> Callable[..., Floats] | None:
    """Return the function from gaps to probabilities; None if the mechanism depends on more than the gaps.

    For curves, gaps may be rounded to float64 (relative error at most 10^-13). Probabilities at the chosen
    ε are computed by the mechanism itself.
    """
    return mechanism_named(name, epsilon=1).facts.law


Kept = TypeVar("Kept")


def after(seconds: float) -> Callable[[], bool]:
    """Return a function that returns true once this many seconds have passed."""
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end


class Recent(Generic[Kept]):
    """A cache of results by key; when it is full, it drops the result that was used least recently."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.RLock()

    def __contains__(self, key: object) -> bool:
        return key in self._kept

    def of(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return the cached result for this key, computing it if necessary."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


@dataclass(frozen=True, slots=True)
class Point:
    """The error of one mechanism at one noise scale.

    Attributes:
        mean: the expected error.
        beyond: for each error in ``SeenScores.cut_errors``, the probability of a larger one.
    """

    mean: float
    beyond: Floats


class SeenScores:
    """Scores sorted with the best first, and the results computed for them so far."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.order = np.argsort(-values.astype(np.float64), kind="stable")
        self.values = values[self.order]
        self.errors: Floats = (self.values[0] - self.values).astype(np.float64)
        last = np.flatnonzero(np.append(np.diff(self.errors) > 0, True))
        if last.size > _MOST_CUTS:
            spread = np.linspace(_MOST_CUTS // 2, last.size - 1, _MOST_CUTS // 2).astype(np.intp)
            last = last[np.concatenate([np.arange(_MOST_CUTS // 2), spread])]
        self.cuts = last
        self.cut_errors = self.errors[last]
        self._points: dict[tuple[str, int, Terms | None], Point] = {}
        self._masses: Recent[Floats] = Recent(_MOST_MASSES)
        self.answers: Recent[Any] = Recent(_MOST_ANSWERS)
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def new(self) -> bool:
        """True until the first point of a curve is computed."""
        return not self._points

    def masses(self, name: str, epsilon: Fraction, setting: Terms) -> Floats:
        """Return the probability of each candidate, best first, under a mechanism at ε."""

        def compute() -> Floats:
            mechanism = mechanism_at(name, setting.delta, epsilon=epsilon)
            return mechanism.probabilities(setting.scores(self.values))

        key = (name, epsilon / setting.range_distance, seen_by(name, setting))
        return self._masses.of(key, compute)

    def curves(
        self, names: tuple[str, ...], steps: list[int], setting: Terms, passed: Callable[[], bool]
    ) -> dict[str, dict[int, Point]]:
        """Compute points at these grid steps, coarsest first, until time is up; return all known points."""
        keys = {
            (name, step): (name, step, seen_by(name, setting)) for name in names for step in steps
        }
        with self._lock:
            added = 0
            for name, step in sorted(keys, key=lambda pair: _coarseness(pair[1])):
                if keys[name, step] not in self._points:
                    # Every call adds at least one point, however slow the machine.
                    if passed() and added:
                        break
                    added += 1
                    self._points[keys[name, step]] = self._point(name, scale_at(step), setting)
            known = {pair: self._points[key] for pair, key in keys.items() if key in self._points}
        return {name: {step: p for (n, step), p in known.items() if n == name} for name in names}

    def mean(self, name: str, scale: float, setting: Terms) -> float:
        """Return a mechanism's expected error at any noise scale, even off the grid."""
        mass = self._mass_at(name, _rational(scale), setting)
        return _dot(mass, self.errors)

    def tail_probability(self, name: str, scale: float, setting: Terms, tolerance: float) -> float:
        """Return the probability of an error above the tolerance, at any noise scale, even off the grid."""
        mass = self._mass_at(name, _rational(scale), setting)
        return float(mass[int(np.searchsorted(self.errors, tolerance, side="right")) :].sum())

    def cut_at(self, tolerance: float) -> int:
        """Return the index of the last entry of ``cut_errors`` that is within the tolerance."""
        if not tolerance >= 0:
            raise refuse("tolerance", tolerance, "at least 0")
        return int(np.searchsorted(self.cut_errors, tolerance, side="right")) - 1

    def _point(self, name: str, scale: Fraction, setting: Terms) -> Point:
        mass = self._mass_at(name, scale, setting)
        tail = np.zeros(len(self))
        # Summing from the far end preserves the digits of small tails.
        tail[: mass.size - 1] = np.cumsum(mass[:0:-1])[::-1]
        return Point(_dot(mass, self.errors), tail[self.cuts])

    def _mass_at(self, name: str, scale: Fraction, setting: Terms) -> Floats:
        law = _law(name)
        if law is None:
            return mechanism_at(name, setting.delta, scale=scale).probabilities(
                setting.scores(self.values)
            )
        count = len(self)
        if count > _ALWAYS_KEPT:
            reach = float(scale) * (_NEGLIGIBLE + math.log(count))
            count = max(_ALWAYS_KEPT, int(np.searchsorted(self.errors, reach, side="right")))
        return law(self.errors[:count] / float(scale))


def seen_by(name: str, setting: Terms) -> Terms | None:
    """Return the setting as part of a cache key if the mechanism depends on more than gaps; else None."""
    return setting if _law(name) is None else None


def grid_steps(range_distance: Fraction, low: float, high: float) -> list[int]:
    """Return the grid steps at which ε = d/s lies in the range, in ascending order of ε."""
    distance = math.log10(float(range_distance))
    first = math.ceil((distance - math.log10(low)) * PER_DECADE - 1e-9)
    last = math.floor((distance - math.log10(high)) * PER_DECADE + 1e-9)
    return list(range(first, last - 1, -1))


@cache
def scale_at(step: int) -> Fraction:
    """Return the noise scale at a grid step: 10^(step/12) to six digits."""
    return _rational(10 ** (step / PER_DECADE))


def least_positive_root(excess: Callable[[float], float], low: float, high: float) -> float | None:
    """Return the least x in [low, high] at which the decreasing ``excess`` is at most 0.

    The result is less than 0.03 % above the exact x. It is None if ``excess`` is positive even at ``high``.
    """
    found = root_between(
        lambda place: excess(math.exp(place)), math.log(low), math.log(high), precision=_PRECISION
    )
    return None if found is None else math.exp(found)


def _dot(mass: Floats, errors: Floats) -> float:
    # Not @: on a busy machine, waiting for the threads of a BLAS library takes longer than this sum.
    return float((mass * errors[: mass.size]).sum())


def _rational(scale: float) -> Fraction:
    return Fraction(f"{scale:.6g}")


def _coarseness(step: int) -> tuple[int, int]:
    for level, period in enumerate((6, 3)):
        if step % period == 0:
            return level, step
    return 2, step


class Studies:
    """Cached results for the most recent score vectors, shared by all pages."""

    def __init__(self) -> None:
        self._kept: Recent[SeenScores] = Recent(_MOST_STUDIES)

    def of(self, values: npt.NDArray[Any]) -> SeenScores:
        """Return the cached results for these scores; equal scores share one entry."""
        digest = hashlib.sha256(values.dtype.str.encode() + values.tobytes()).digest()
        return self._kept.of(digest, lambda: SeenScores(values))
