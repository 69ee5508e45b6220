"""The candidates with exactly the best score. At scale zero, every mechanism chooses from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet._exact.gaps import Gaps, Indices, Values
from discreet._exact.sampling.bits import Bits, uniform_indices


def best_indices(values: Values, *, largest_is_best: bool = True) -> Indices:
    """Return all candidates with the best score, in ascending order.

    Example:
        >>> best_indices(np.array([4, 9, 9]))
        array([1, 2])
    """
    with np.errstate(all="ignore"):
        gaps = Gaps(values, scale=Fraction(1), largest_is_best=largest_is_best)
        return np.concatenate(list(gaps.ties()))


def uniform_best(values: Values, size: int, bits: Bits, *, largest_is_best: bool = True) -> Indices:
    """Make ``size`` independent uniform choices among the candidates with the best score.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> uniform_best(np.array([4, 9, 2]), 2, SecureBits())
        array([1, 1])
    """
    best = best_indices(values, largest_is_best=largest_is_best)
    return best[uniform_indices(bits, len(best), count=size)]
