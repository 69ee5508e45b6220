"""Exact (Clopper–Pearson) confidence bounds on a probability, computed from counts and rounded outwards."""

from __future__ import annotations

import math

from discreet._exact.numbers.balls import precision
from discreet._exact.numbers.exact import refuse
from discreet._exact.numbers.searches import bisected

# This precision is enough for counts in the millions. For larger counts the bounds become looser.
_BITS = 96


def error_rate(value: object) -> float:
    """Check and return the allowed probability of a false alarm."""
    if not isinstance(value, float | int) or not 0 < value < 1:
        raise refuse("false_alarm", value, "a probability between 0 and 1")
    return float(value)


def upper_tail(successes: int, trials: int, chance: float) -> float:
    """Return an upper bound on Pr[X ≥ successes] for a binomial X, tight to float precision.

    Example:
        >>> round(upper_tail(2, 2, 0.5), 12), upper_tail(0, 5, 0.3), upper_tail(1, 5, 0.0)
        (0.25, 1.0, 0.0)
    """
    from flint import arb

    if successes <= 0:
        return 1.0
    if chance <= 0 or successes > trials:
        return 0.0
    if chance >= 1:
        return 1.0
    with precision(_BITS):
        ball = arb(chance).beta_lower(arb(successes), arb(trials - successes + 1), 1)
        end = float(ball.upper())
    return 1.0 if math.isnan(end) else min(1.0, max(0.0, math.nextafter(end, 1.0)))


def lower_tail(successes: int, trials: int, chance: float) -> float:
    """Return an upper bound on Pr[X ≤ successes] for a binomial X.

    Example:
        >>> round(lower_tail(0, 2, 0.5), 12)
        0.25
    """
    # Equal to Pr[trials − X ≥ trials − successes]. 1 − chance is rounded up, which only loosens the bound.
    if chance <= 0:
        return 1.0
    return upper_tail(trials - successes, trials, min(1.0, math.nextafter(1.0 - chance, 2.0)))


def lower_confidence(successes: int, trials: int, error: float) -> float:
    """Return a lower bound on the probability of success; it is wrong with probability at most ``error``.

    Example:
        >>> 0.47 < lower_confidence(5000, 10000, 1e-6) < 0.48
        True
    """
    if successes <= 0:
        return 0.0
    return bisected(
        lambda chance: upper_tail(successes, trials, chance) > error,
        0.0,
        successes / trials,
        relative=1e-10,
    )[0]


def upper_confidence(successes: int, trials: int, error: float) -> float:
    """Return an upper bound on the probability of success; it is wrong with probability at most ``error``.

    Example:
        >>> upper_confidence(0, 1000, 1e-9) < 0.021
        True
    """
    return min(1.0, math.nextafter(1.0 - lower_confidence(trials - successes, trials, error), 2.0))
