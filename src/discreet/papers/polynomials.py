"""Prove inequalities for every ε at once, as inequalities of polynomials in x = exp(−ε/2) on [0, 1].

Scores on the grid of the sensitivity have coins x^k, so every probability here is a polynomial in x
with rational coefficients. A polynomial whose coefficients in the Bernstein basis of [0, 1] are all
non-negative is non-negative on [0, 1].
"""

from __future__ import annotations

import math
from functools import cache

from discreet.errors import DiscreetError
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.problems import Number, Problem, rational

_ELEVATIONS = (0, 8, 32, 96)
_PROBES = 257


def unknown() -> Number:
    """Return the polynomial x."""
    from flint import fmpq_poly

    return fmpq_poly([0, 1])


def polynomial(value: Number) -> Number:
    """Convert a polynomial or a rational to a polynomial."""
    from flint import fmpq_poly

    return fmpq_poly(value)


def bernstein_coefficients(values: Number, degree: int) -> list[Number]:
    """Return the polynomial's coefficients in the Bernstein basis of this degree on [0, 1]."""
    coefficients = values.coeffs()
    assert len(coefficients) <= degree + 1
    weights = [
        coefficient * rational(1) / math.comb(degree, i)
        for i, coefficient in enumerate(coefficients)
    ]
    return [
        sum((math.comb(j, i) * weight for i, weight in enumerate(weights[: j + 1])), rational(0))
        for j in range(degree + 1)
    ]


def negative_point(values: Number) -> Number | None:
    """Return a point in [0, 1] where the polynomial is negative, or None if it is certainly non-negative.

    Example:
        >>> x = unknown()
        >>> negative_point((1 - x) * x) is None
        True
        >>> negative_point(x - 1)
        0
    """
    values = polynomial(values)
    degree = max(0, values.degree())
    for extra in _ELEVATIONS:
        if all(c >= 0 for c in bernstein_coefficients(values, degree + extra)):
            return None
        if extra == 0:
            for step in range(_PROBES):
                point = rational(step) / (_PROBES - 1)
                if values(point) < 0:
                    return point
    raise DiscreetError("the sign of a polynomial on [0, 1] could not be decided")


@cache
def _normalised(scores: tuple[int, ...]) -> tuple[Number, ...]:
    return tuple(
        polynomial(chance)
        for chance in distribution_noisy_max(Problem(scores, unit_coin=unknown()))
    )


def permute_and_flip_polynomials(scores: tuple[int, ...]) -> tuple[Number, ...]:
    """Return permute-and-flip's probabilities as polynomials in exp(−ε/2), for scores in units of Δ.

    Example:
        >>> permute_and_flip_polynomials((1, 0))
        ((-1/2)*x + 1, 1/2*x)
    """
    best = max(scores)
    return _normalised(tuple(score - best for score in scores))
