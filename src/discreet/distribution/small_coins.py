"""Products of many factors 1 − u·c with u·c ≤ 1/16, through ten power sums of the coins.

On [0, 1/16] the polynomial R(x) = Σ a_j x^j below is 1/(1 − x) to within 1.1·10⁻¹⁷ (its Chebyshev
expansion cut after degree 9; the power series would need degree 13). Then −∫₀ˣ R is log(1 − x) to
within 1.1·10⁻¹⁷·x, so an error in a product of a million factors is bounded by Σ u·c and not by
their number (Theorem 3 of the proof page).
"""

from __future__ import annotations

import numpy as np

from discreet.distribution.arguments import Floats

LARGEST = 1 / 16
_RECIPROCAL = np.array(
    [
        float.fromhex(digits)
        for digits in (
            "0x1.0000000000000p+0",
            "0x1.0000000000023p+0",
            "0x1.fffffffff70b5p-1",
            "0x1.0000000390720p+0",
            "0x1.fffffd1f6f47ap-1",
            "0x1.00005531ed661p+0",
            "0x1.ffe815ff26fa4p-1",
            "0x1.010850a1f6ec1p+0",
            "0x1.e4bda1e15d418p-1",
            "0x1.60ab049b4cc85p+0",
        )
    ]
)
_TERMS = _RECIPROCAL.size
# Five arrays of this length stay in the second-level cache.
_CHUNK = 8192


def power_sums(coins: Floats, largest: float | None = None) -> Floats:
    """Σ c^j for j = 1 to 10, over the coins not above ``largest`` (over all of them if None)."""
    chunks = range(0, coins.size, _CHUNK)
    sums = np.empty((len(chunks), _TERMS))
    powers = np.empty((4, min(_CHUNK, coins.size)))
    for row, start in enumerate(chunks):
        first = coins[start : start + _CHUNK]
        if largest is not None:
            first = np.where(first > largest, 0.0, first)
        second, third, fourth, fifth = powers[:, : first.size]
        np.multiply(first, first, out=second)
        np.multiply(first, second, out=third)
        np.multiply(second, second, out=fourth)
        np.multiply(second, third, out=fifth)
        # c^(i+j) summed is one inner product: half as many multiplications as powers.
        sums[row] = (
            first.sum(),
            second.sum(),
            first @ second,
            second @ second,
            second @ third,
            third @ third,
            third @ fourth,
            fourth @ fourth,
            fourth @ fifth,
            fifth @ fifth,
        )
    totals: Floats = sums.sum(axis=0)
    return totals


def log_product(sums: Floats, times: Floats) -> Floats:
    """Logarithm of Π (1 − u·c) at every time u, from the power sums of the coins."""
    coefficients = sums * _RECIPROCAL / np.arange(1, _TERMS + 1)
    result = np.zeros_like(times)
    for coefficient in coefficients[::-1]:
        result = result * times + coefficient
    return -times * result


def reciprocal_sum(coins: Floats, weights: Floats, times: Floats) -> Floats:
    """Σ_i w_i / (1 − u_i·c) for every coin c; meaningless for coins that are not small."""
    moments = _RECIPROCAL * (weights @ times[:, None] ** np.arange(_TERMS))
    result = np.empty_like(coins)
    for start in range(0, coins.size, _CHUNK):
        part = coins[start : start + _CHUNK]
        out = result[start : start + _CHUNK]
        np.multiply(part, moments[-1], out=out)
        out += moments[-2]
        for moment in moments[-3::-1]:
            out *= part
            out += moment
    return result
