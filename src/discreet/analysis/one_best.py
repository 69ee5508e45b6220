"""The chance of missing a single best candidate when all others tie at the same gap below it.

The closed forms are in :mod:`discreet.distribution.one_best`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.distribution.one_best import Chance, exponential_missed
from discreet.mechanisms import ExponentialRandomizedResponse, Mechanism
from discreet.numbers.exact import Exact, float_up, refuse
from discreet.scores import Scores

_LARGEST_GENERAL = 1_000_000
_FAR = Fraction(10) ** 300


def missed_chance(mechanism: Mechanism, n: int, *, step: Exact, distance: Exact) -> Chance:
    """The chance of missing the best, as a function of γ.

    Most mechanisms see nothing but γ; a few also ask for Δ/s (``step``) or d/s (``distance``).

    Example:
        >>> from discreet import PermuteAndFlip
        >>> missed_chance(PermuteAndFlip(epsilon=1), 4, step=Fraction(1, 2), distance=Fraction(1))(0.0)
        0.75
    """
    closed = mechanism.facts.missed
    if closed is not None:
        return lambda gamma: closed(n, gamma)
    if isinstance(mechanism, ExponentialRandomizedResponse):
        truth = float(mechanism.truth)
        chained = mechanism.variant == "complete"

        def missed(gamma: float) -> float:
            everyone = gamma == 0 or (chained and gamma <= float_up(step))
            return (1 - truth) * exponential_missed(n, gamma) + truth * (n - 1) / n * everyone

        return missed
    return _from_probabilities(mechanism, n, distance)


def _from_probabilities(mechanism: Mechanism, n: int, distance: Exact) -> Chance:
    """Any other mechanism, through its probability mass function at unit scale."""
    if n > _LARGEST_GENERAL:
        raise refuse(
            "n", n, f"at most {_LARGEST_GENERAL} for {mechanism.name}, which has no closed form"
        )
    rest = {
        k: v for k, v in mechanism.parameters().items() if k not in ("epsilon", "scale", "optimize")
    }
    unit = type(mechanism)(scale=1, **rest)

    def missed(gamma: float) -> float:
        # Beyond this nothing is left of any probability, and infinity is no score.
        values = np.full(n, -min(gamma, 1e300))
        values[0] = 0.0
        return float(
            unit.probabilities(Scores(values, range_distance=min(distance, _FAR)))[1:].sum()
        )

    return missed
