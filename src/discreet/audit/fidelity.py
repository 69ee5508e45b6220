"""Test whether a sampler draws from its stated distribution."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import whole
from discreet.audit.confidence import error_rate, lower_tail, upper_tail
from discreet.audit.samplers import Sampler
from discreet.errors import ParameterError
from discreet.scores import Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """The outcome of a fidelity test.

    Attributes:
        faithful: whether the stated distribution was not rejected.
        p_value: an upper bound on the probability of a count this unusual, if the stated distribution is
            right.
        size: the number of draws.
        false_alarm: the largest probability of rejecting a correct sampler.
        event: the positions whose joint count is the most unusual.
        expected: the stated probability of that event.
        observed: the fraction of draws in that event.
        seconds: the running time.

    Example:
        >>> from discreet import PermuteAndFlip, Scores
        >>> test = fidelity_test(PermuteAndFlip(epsilon=1), Scores([3, 2], sensitivity=1), size=1000)
        >>> test.faithful, test.size, test.p_value > test.false_alarm
        (True, 1000, True)
    """

    faithful: bool
    p_value: float
    size: int
    false_alarm: float
    event: tuple[int, ...]
    expected: float
    observed: float
    seconds: float

    def __str__(self) -> str:
        said = "is not rejected" if self.faithful else "is rejected"
        return (
            f"the stated distribution {said} by {self.size:,} draws (p ≤ {self.p_value:.3g}, false alarm "
            f"{self.false_alarm:g}): answers {list(self.event)} have probability {self.expected:.6g}, "
            f"share {self.observed:.6g}"
        )


def fidelity_test(
    sampler: Any,
    scores: Scores,
    probabilities: Any = None,
    *,
    size: int = 100_000,
    false_alarm: float = 1e-9,
) -> Fidelity:
    """Test a sampler against its stated distribution, with exact binomial tails.

    The test computes both tails of the count of every single answer and, for each k, of the k least likely
    answers together. The smallest tail times the number of tails bounds the probability of a false alarm,
    without any approximation. At the default ``false_alarm``, the test nearly always detects a probability
    that is off by more than nine standard deviations, 9·√(p(1−p)/size), among up to a thousand candidates.

    Args:
        sampler: a mechanism, ``function(scores, size)`` or ``function(scores)``, as for
            :func:`statistical_audit`.
        scores: the scores to draw from.
        probabilities: the stated distribution; by default the mechanism's own.
        size: the number of draws.
        false_alarm: the largest probability of rejecting a correct sampler.

    Example:
        >>> from discreet import PermuteAndFlip, Scores
        >>> scores = Scores([3, 2, 2], sensitivity=1)
        >>> fidelity_test(PermuteAndFlip(epsilon=1), scores, size=10_000).faithful
        True
        >>> fidelity_test(PermuteAndFlip(epsilon=1), scores, [0.4, 0.3, 0.3], size=10_000).faithful
        False
    """
    began = time.perf_counter()
    size = whole("size", size)
    false_alarm = error_rate(false_alarm)
    if probabilities is None:
        if not hasattr(sampler, "probabilities"):
            raise ParameterError("give ⟨probabilities⟩: this sampler does not state its own")
        probabilities = sampler.probabilities(scores)
    stated = np.array([float(part) for part in probabilities], dtype=np.float64)
    if stated.shape != (len(scores),) or (stated < 0).any() or not abs(stated.sum() - 1) <= 1e-6:
        raise ParameterError("the stated probabilities must be one per candidate and sum to one")
    counts = Sampler(sampler, sensitivity=scores.range_distance).count(scores, size)
    ranking = np.argsort(stated, kind="stable").tolist()
    events = [(place,) for place in ranking] + [tuple(ranking[:k]) for k in range(2, len(ranking))]
    oddest = min(events, key=lambda event: _tail(counts, stated, event, size))
    p_value = min(1.0, 2 * len(events) * _tail(counts, stated, oddest, size))
    return Fidelity(
        faithful=p_value > false_alarm,
        p_value=p_value,
        size=size,
        false_alarm=false_alarm,
        event=oddest,
        expected=float(stated[list(oddest)].sum()),
        observed=float(counts[list(oddest)].sum()) / size,
        seconds=time.perf_counter() - began,
    )


def _tail(counts: Any, stated: Any, event: tuple[int, ...], size: int) -> float:
    """Return the event's smaller tail probability, allowing a relative error of 10⁻¹² in ``stated``."""
    seen, chance = int(counts[list(event)].sum()), float(stated[list(event)].sum())
    above = upper_tail(seen, size, min(1.0, chance * (1 + 1e-12)))
    return min(above, lower_tail(seen, size, min(1.0, chance) * (1 - 1e-12)))
