"""Test whether a float implementation leaks its input through rounding.

The test uses pairs of adjacent floats. Two inputs that differ only in the last bit are almost equal, so under
a private mechanism every answer must be about equally likely for both. Floats can reveal their input in two
ways: by an answer that only one of the two inputs can give, and by the grain of the answers (the last bit
that is set), which depends on the size of the numbers that were added.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import refuse, whole
from discreet.audit.confidence import error_rate, lower_confidence, upper_confidence

POINTS = (0.0, 0.1, 1.0, 1 / 3, 1e6)
_EVENTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingVerdict:
    """The result of a rounding test.

    Attributes:
        leaks: whether a leak was found: ``loss`` exceeds ``allowed``.
        inputs: the two inputs whose answers differ most clearly.
        event: the answer or the grain that tells them apart.
        shares: the fraction of new draws with this event, for each of the two inputs.
        loss: a lower confidence bound on the loss.
        allowed: the loss that the distance between the two inputs allows.
        false_alarm: the largest probability of reporting a leak in an implementation that does not leak.

    Example:
        >>> rounding_test(lambda value, size: [0] * size, size=1000).leaks
        False
    """

    leaks: bool
    inputs: tuple[float, float]
    event: str
    shares: tuple[float, float]
    loss: float
    allowed: float
    false_alarm: float


def rounding_test(
    sampler: Callable[[float, int], Any],
    *,
    pairs: Sequence[tuple[float, float]] | None = None,
    epsilon: float = 1.0,
    size: int = 20_000,
    false_alarm: float = 1e-9,
) -> RoundingVerdict:
    """Test whether the answers to adjacent floats differ in their frequencies or in the last bit that is set.

    Args:
        sampler: ``sampler(value, size)`` returns ``size`` answers (numbers, positions, labels) for one
            value.
        pairs: pairs of inputs; by default some floats and the next float above each.
        epsilon: the loss allowed per unit of distance between the two inputs.
        size: the number of draws for each input, once to find events and once more to judge them.
        false_alarm: the largest probability of reporting a leak if there is none (Bonferroni over all
            events).

    Example:
        >>> from discreet.testing import scripted
        >>> from discreet._exact.sampling.discrete_noise import discrete_laplace
        >>> bits = scripted(1)
        >>> def unsnapped(value, size):            # noise on a grid, added to a value that is not on it
        ...     return [value + discrete_laplace(bits, 2) for _ in range(size)]
        >>> verdict = rounding_test(unsnapped, size=2000)
        >>> verdict.leaks, verdict.loss > 2
        (True, True)
    """
    size = whole("size", size, least=100)
    false_alarm = error_rate(false_alarm)
    if not isinstance(epsilon, float | int) or not epsilon >= 0:
        raise refuse("epsilon", epsilon, "a number, 0 or above")
    tried = [(x, math.nextafter(x, math.inf)) for x in POINTS] if pairs is None else list(pairs)
    both = [pair for one in tried for pair in (one, one[::-1])]
    error = false_alarm / (2 * _EVENTS * max(1, len(both)))
    found = [
        verdict
        for one, two in both
        for verdict in _judged(sampler, (one, two), epsilon * abs(one - two), size, error)
    ]
    best = max(found, key=lambda verdict: verdict.loss - verdict.allowed)
    return replace(best, leaks=best.loss > best.allowed, false_alarm=false_alarm)


def _judged(
    sampler: Callable[[float, int], Any],
    inputs: tuple[float, float],
    allowed: float,
    size: int,
    error: float,
) -> list[RoundingVerdict]:
    explored = [_seen(sampler(value, size)) for value in inputs]
    telling = sorted(explored[0], key=lambda event: explored[1][event] - explored[0][event])
    fresh = [_seen(sampler(value, size)) for value in inputs]
    verdicts = list[RoundingVerdict]()
    for event in telling[:_EVENTS]:
        if fresh[0][event] <= fresh[1][event] and verdicts:
            continue
        low = lower_confidence(fresh[0][event], size, error)
        high = upper_confidence(fresh[1][event], size, error)
        verdicts.append(
            RoundingVerdict(
                leaks=False,
                inputs=inputs,
                event=str(event[0]) + f" {event[1]!r}",
                shares=(fresh[0][event] / size, fresh[1][event] / size),
                loss=math.log(low / high) if low > 0 else 0.0,
                allowed=allowed,
                false_alarm=error,
            )
        )
    return verdicts


def _seen(answers: Any) -> Counter[tuple[str, Hashable]]:
    """Count each answer, and the grain of each answer that is a float."""
    tally: Counter[tuple[str, Hashable]] = Counter()
    for answer in answers.tolist() if isinstance(answers, np.ndarray) else answers:
        if isinstance(answer, float) and math.isnan(answer):
            tally["the answer", "not a number"] += 1
            continue
        tally["the answer", answer] += 1
        if isinstance(answer, float) and math.isfinite(answer) and answer:
            tally["an answer whose last bit is a multiple of 2 to the", _grain(answer)] += 1
    return tally


def _grain(answer: float) -> int:
    """Return the exponent of the last bit that is set in a float.

    Example:
        >>> _grain(0.75), _grain(6.0)
        (-2, 1)
    """
    numerator, denominator = answer.as_integer_ratio()
    return (numerator & -numerator).bit_length() - denominator.bit_length()
