"""Bounds on the error in closed form: looser than ``worst_case``, but easy to compute by hand.

Each is proved in ``docs/proofs/worst-case-error.md``. Errors are in units of the scores.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.numbers.exact import positive_distance, probability, refuse, whole


def _scale(epsilon: object, sensitivity: object, monotonic: bool) -> float:
    delta = positive_distance("sensitivity", sensitivity)
    return float(
        (delta if monotonic else 2 * delta) / Fraction(positive_distance("epsilon", epsilon))
    )


def expected_error_bound(
    epsilon: object, n: int, *, sensitivity: object = 1, monotonic: bool = False
) -> float:
    """(d/ε)·ln n: no data gives the exponential mechanism or permute-and-flip a larger mean error.

    Proposition 1 and Corollary 1 of the permute-and-flip paper, Proposition 11 of the noisy-max paper.

    Example:
        >>> round(expected_error_bound(1, 1024), 3)
        13.863
    """
    return _scale(epsilon, sensitivity, monotonic) * math.log(whole("n", n))


def error_bound(
    epsilon: object,
    n: int,
    *,
    with_probability: object,
    sensitivity: object = 1,
    monotonic: bool = False,
) -> float:
    """(d/ε)·ln(n/β): with probability 1 − β the error is at most this, for the same mechanisms.

    Proposition 1, Corollary 1 and Proposition 11 again.

    Example:
        >>> round(error_bound(1, 1024, with_probability="0.95"), 3)
        19.854
    """
    beta = 1 - probability("with_probability", with_probability)
    if beta == 0:
        raise refuse("with_probability", with_probability, "below 1")
    return _scale(epsilon, sensitivity, monotonic) * (math.log(whole("n", n)) - math.log(beta))


def worst_case_lower_bound(
    epsilon: object, n: int, *, sensitivity: object = 1, monotonic: bool = False
) -> float:
    """(d/4ε)·ln n: some data gives both mechanisms a mean error at least this large (Proposition 5).

    Example:
        >>> round(worst_case_lower_bound(1, 1024), 3)
        3.466
    """
    return _scale(epsilon, sensitivity, monotonic) * math.log(whole("n", n)) / 4
