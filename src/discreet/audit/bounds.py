"""Lower confidence bounds on ε, δ or ρ from the counts of answers on two neighbours.

By post-processing, a guarantee also holds for any single event or pair of answers, so each event gives a
lower bound on the loss. A bound exceeds the true loss with probability at most ``error``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.audit.confidence import lower_confidence, upper_confidence
from discreet.audit.relations import Floats
from discreet.audit.samplers import Counts
from discreet.errors import ParameterError
from discreet.guarantees import ZCDP, ApproxDP, BoundedRange, Guarantee, LaplaceDominated, PureDP


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """An event to test: a set of answers.

    For bounded range, it is a pair of answers: the first in ``members``, the second in ``other``.
    """

    members: tuple[int, ...]
    other: int | None = None


class LossBound(Protocol):
    """A lower confidence bound on the loss, computed from counts of answers."""

    def estimate(self, first: Counts, second: Counts, event: AnswerSet) -> tuple[float, float]:
        """Return an estimate of the loss from the counts, and its approximate standard deviation."""
        ...

    def proved(self, first: Counts, second: Counts, event: AnswerSet, error: float) -> float:
        """Return a lower bound on the loss; it is wrong with probability at most ``error``."""
        ...

    def events(self, first: Counts, second: Counts) -> list[AnswerSet]:
        """Return the events to test."""
        ...


def _log_ratio(first: float, second: float) -> tuple[float, float]:
    return math.log((first + 0.5) / (second + 0.5)), math.sqrt(
        1 / (first + 0.5) + 1 / (second + 0.5)
    )


def _chosen(counts: Counts, event: AnswerSet) -> int:
    return int(counts[list(event.members)].sum())


def _ends(first: Counts, second: Counts, event: AnswerSet, error: float) -> tuple[float, float]:
    """Return a lower bound on P(S) and an upper bound on Q(S), for the event S.

    P and Q are the distributions behind ``first`` and ``second``. Both bounds hold with probability at least
    1 − ``error``.
    """
    low = lower_confidence(_chosen(first, event), int(first.sum()), error / 2)
    return low, upper_confidence(_chosen(second, event), int(second.sum()), error / 2)


def _ranking(first: Counts, second: Counts) -> list[int]:
    """Return the answers that occurred, and always answers 0 and 1, by descending ratio of their counts."""
    seen = np.flatnonzero((first + second > 0) | (np.arange(len(first)) < 2))
    ratios = (first[seen] + 0.5) / (second[seen] + 0.5)
    return list(seen[np.argsort(-ratios, kind="stable")].tolist())


_MOST_SETS = 64
"""The largest number of sets of each kind to try."""


class _OfSets:
    """A bound that tests single answers and, for several k, the set of k answers with the largest ratios."""

    def events(self, first: Counts, second: Counts) -> list[AnswerSet]:
        ranking = _ranking(first, second)
        often = np.argsort(-(first + second), kind="stable")[:_MOST_SETS].tolist()
        lengths = np.unique(np.linspace(1, max(len(ranking) - 1, 1), _MOST_SETS, dtype=np.int64))
        sets: set[tuple[int, ...]] = {(place,) for place in often}
        sets |= {tuple(sorted(ranking[:length])) for length in lengths.tolist()}
        return [AnswerSet(members) for members in sorted(sets)]


class _Ratio(_OfSets):
    """A lower bound on the ε of pure DP, from ln P(S) − ln Q(S) for an event S."""

    def estimate(self, first: Counts, second: Counts, event: AnswerSet) -> tuple[float, float]:
        value, spread = _log_ratio(_chosen(first, event), _chosen(second, event))
        return value - math.log((first.sum() + 1) / (second.sum() + 1)), spread

    def proved(self, first: Counts, second: Counts, event: AnswerSet, error: float) -> float:
        low, high = _ends(first, second, event, error)
        return math.log(low / high) if low > 0 else 0.0


class _Range:
    """A lower bound on the ε of bounded range, from the difference between two answers' log-ratios."""

    def events(self, first: Counts, second: Counts) -> list[AnswerSet]:
        ranking = _ranking(first, second)
        most, least = ranking[:3], ranking[-3:]
        return [AnswerSet((one,), other) for one in most for other in least if one != other]

    def estimate(self, first: Counts, second: Counts, event: AnswerSet) -> tuple[float, float]:
        assert event.other is not None
        one = _log_ratio(_chosen(first, event), _chosen(second, event))
        two = _log_ratio(float(second[event.other]), float(first[event.other]))
        return one[0] + two[0], math.hypot(one[1], two[1])

    def proved(self, first: Counts, second: Counts, event: AnswerSet, error: float) -> float:
        assert event.other is not None
        mirrored = AnswerSet((event.other,))
        one = _Ratio().proved(first, second, event, error / 2)
        return one + _Ratio().proved(second, first, mirrored, error / 2)


@dataclass(frozen=True, slots=True)
class _Excess(_OfSets):
    """A lower bound on the δ of (ε, δ) at the claimed ε, from P(S) − e^ε Q(S) for an event S."""

    epsilon: float

    def estimate(self, first: Counts, second: Counts, event: AnswerSet) -> tuple[float, float]:
        growth = math.exp(min(self.epsilon, 700.0))
        p, q = _chosen(first, event) / first.sum(), _chosen(second, event) / second.sum()
        one = math.sqrt((p * (1 - p) + 0.25 / first.sum()) / first.sum())
        two = math.sqrt((q * (1 - q) + 0.25 / second.sum()) / second.sum())
        return float(p - growth * q), math.hypot(one, growth * two)

    def proved(self, first: Counts, second: Counts, event: AnswerSet, error: float) -> float:
        low, high = _ends(first, second, event, error)
        # The upper bound on Q(S) is never 0.
        return low - (math.exp(self.epsilon) if self.epsilon <= 700 else math.inf) * high


class _Divergence(_OfSets):
    """A lower bound on the ρ of zCDP, from the divergence between an event's two probabilities."""

    def estimate(self, first: Counts, second: Counts, event: AnswerSet) -> tuple[float, float]:
        p = (_chosen(first, event) + 0.5) / (first.sum() + 1)
        q = (_chosen(second, event) + 0.5) / (second.sum() + 1)
        slope = abs(math.log(p * (1 - q) / (q * (1 - p))))
        # An event that is more likely on the second input proves nothing, however large the difference.
        return _bernoulli(p, q) if p > q else 0.0, slope * math.sqrt(
            p * (1 - p) / first.sum() + q * (1 - q) / second.sum()
        )

    def proved(self, first: Counts, second: Counts, event: AnswerSet, error: float) -> float:
        low, high = _ends(first, second, event, error)
        # If low > high, no p ≥ low and q ≤ high have a smaller divergence than these.
        return _bernoulli(low, high) if low > high else 0.0


def _bernoulli(p: float, q: float) -> float:
    """Return the Kullback–Leibler divergence of a coin with probability p from one with probability q."""
    terms = ((p, q), (1 - p, 1 - q))
    return sum(math.inf if b <= 0 else a * math.log(a / b) for a, b in terms if a > 0)


def bound_for(claim: Guarantee) -> tuple[LossBound, float]:
    """Return the bound that tests the claim, and the value that the loss must not exceed."""
    if isinstance(claim, PureDP | LaplaceDominated):
        return _Ratio(), claim.epsilon
    if isinstance(claim, BoundedRange):
        return _Range(), claim.epsilon
    if type(claim) is ApproxDP:  # the ρ of an ApproxZCDP would not be measured
        return _Excess(claim.epsilon), claim.delta
    if isinstance(claim, ZCDP):
        return _Divergence(), claim.rho
    raise ParameterError(
        f"⟨claim⟩{claim!r} is not allowed: give PureDP, BoundedRange, ZCDP or ApproxDP"
    )


def frequencies(counts: Counts) -> Floats:
    """Return counts as fractions of their total."""
    return np.asarray(counts / max(1, int(counts.sum())), dtype=np.float64)
