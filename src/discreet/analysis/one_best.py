"""The chance of missing a single best candidate when all others tie at the same gap below it.

Scores (0, −c, …, −c) with γ = c/s are the hardest case for every mechanism here
(``docs/proofs/worst-case-error.md``), and the one in which the chance has a closed form, for any n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.exact_numbers import Exact, float_up, refuse
from discreet.mechanisms import ExponentialRandomizedResponse, Mechanism
from discreet.scores import Scores

Chance = Callable[[float], float]
"""From γ to the probability that the choice is not the best candidate."""

_LARGEST_GENERAL = 1_000_000
_FAR = Fraction(10) ** 300
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def exponential_missed(n: int, gamma: float) -> float:
    """(n−1)p / (1 + (n−1)p) with p = e^−γ: equation 7 of the permute-and-flip paper over c.

    Example:
        >>> exponential_missed(2, 0.0)
        0.5
    """
    others = (n - 1) * math.exp(-gamma)
    return others / (1 + others)


def permute_and_flip_missed(n: int, gamma: float) -> float:
    """1 − (1 − (1−p)ⁿ)/(np) with p = e^−γ: equation 8 over c, without cancellation.

    Example:
        >>> permute_and_flip_missed(2, 0.0)
        0.5
        >>> permute_and_flip_missed(2, 40.0) == math.exp(-40) / 2
        True
    """
    return _missed_by_coins(n, math.exp(-gamma))


def _missed_by_coins(n: int, p: float) -> float:
    """∫₀¹ 1 − (1 − up)^(n−1) du."""
    mean = n * p
    if mean < 0.5:
        # Expand the integrand: the terms fall by at least the factor np/3 each, with changing signs.
        term, total, order = (n - 1) * p / 2, 0.0, 2
        while abs(term) > 1e-18 * abs(total):
            total += term
            order += 1
            term *= -(n - order + 1) * p / order
        return total
    if p == 1.0:
        return (n - 1) / n
    return (mean + math.expm1(n * math.log1p(-p))) / mean


def laplace_missed(n: int, gamma: float) -> float:
    """The same for noisy max with Laplace noise (the paper's Appendix F), to about 10⁻¹⁴.

    With w = e^(−x−γ)/2 the integral over the best candidate's noise x falls into three pieces: x below
    −γ and x above zero in closed form, and between them ∫ (p/4) w⁻² (1 − (1−w)^(n−1)) dw, smooth in ln w.

    Example:
        >>> laplace_missed(2, 0.0)
        0.5
    """
    p = math.exp(-gamma)
    outside = p / 2 - p * 2.0**-n / n + _missed_by_coins(n, p / 2) / 2
    if gamma == 0 or p == 0:
        return outside
    panels = max(1, math.ceil(gamma))
    width = gamma / panels
    logs = (-math.log(2) - gamma) + width * (np.arange(panels)[:, None] + (_NODES + 1) / 2)
    # p·e^−z stays of order one at most, so the product is formed in the exponent.
    heights = np.exp(-gamma - logs) * -np.expm1((n - 1) * np.log1p(-np.exp(logs)))
    return outside + float((heights @ _WEIGHTS).sum()) * width / 8


_CLOSED_FORMS: dict[str, Callable[[int, float], float]] = {
    "permute-and-flip": permute_and_flip_missed,
    "noisy-max-exponential": permute_and_flip_missed,
    "exponential": exponential_missed,
    "noisy-max-gumbel": exponential_missed,
    "noisy-max-laplace": laplace_missed,
}


def missed_chance(mechanism: Mechanism, n: int, *, step: Exact, distance: Exact) -> Chance:
    """The chance of missing the best, as a function of γ.

    Most mechanisms see nothing but γ; a few also ask for Δ/s (``step``) or d/s (``distance``).

    Example:
        >>> from discreet import PermuteAndFlip
        >>> missed_chance(PermuteAndFlip(epsilon=1), 4, step=Fraction(1, 2), distance=Fraction(1))(0.0)
        0.75
    """
    closed = _CLOSED_FORMS.get(mechanism.name)
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
