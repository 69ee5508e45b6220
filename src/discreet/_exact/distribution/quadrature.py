"""Gauss–Legendre rules correct to the last digit, the numbers of nodes needed, and products of many factors.

NumPy's own nodes and weights are off by up to 10⁻¹². The rules here are computed in interval arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from discreet._exact.distribution.arguments import Floats, Indices
from discreet._exact.numbers.balls import precision

_TARGET = -57 * math.log(2)  # the allowed relative error of a rule: 2⁻⁵⁷


@dataclass(frozen=True, slots=True)
class Rule:
    """Nodes ν and weights on [0, 1], with 1 − ν to full relative precision."""

    nodes: Floats
    complements: Floats
    weights: Floats


@cache
def gauss_legendre(count: int) -> Rule:
    """Return the rule with ``count`` nodes on [0, 1], exact for polynomials of degree 2·count − 1.

    Example:
        >>> rule = gauss_legendre(2)
        >>> round(float(rule.weights @ rule.nodes**3), 15)
        0.25
    """
    from flint import arb

    with precision(160):
        roots = [arb.legendre_p_root(count, k, weight=True) for k in range(count)]
        nodes = np.array([float((1 - root) / 2) for root, _ in roots])
        weights = np.array([float(weight / 2) for _, weight in roots])
    # The roots are symmetric about 0, so 1 − ν is the same table in reverse.
    rule = Rule(nodes, nodes[::-1].copy(), weights)
    for table in (rule.nodes, rule.complements, rule.weights):
        table.flags.writeable = False
    return rule


def nodes_for_coins(mean: float, factors: int) -> int:
    """Return how many nodes are enough for ∫ Π(1 − u·c) du, if Σ u·c is at most ``mean`` for every u.

    The sum is over ``factors`` coins c. Either the product of ``factors − 1`` terms is integrated exactly, or
    the relative error is at most 2⁻⁵⁷ by Theorem 2 of the proof page.

    Example:
        >>> nodes_for_coins(42.0, 10**6), nodes_for_coins(1.0, 3)
        (25, 2)
    """
    return min(_nodes_for_mean(math.ceil(mean)), (factors + 1) // 2)


@cache
def _nodes_for_mean(mean: int) -> int:
    count = 2
    while _log_error(mean, count) > _TARGET:
        count += 1
    return count


def _log_error(mean: int, count: int) -> float:
    """Return the logarithm of Theorem 2's error bound, for an ellipse ρ that nearly minimises it."""
    ratio = 4 * count / mean
    rho = ratio + math.sqrt(ratio * ratio + 1)
    return (
        mean * (rho + 1 / rho - 2) / 4
        - 2 * count * math.log(rho)
        + math.log(32 / 15 * (mean + 1) / (1 - rho**-2))
    )


def nodes_for_panels(width: Floats, ahead: Floats, weight: Floats) -> Indices:
    """Return how many nodes are enough for each noisy-max panel (Theorem 4 of the proof page).

    Args:
        width: Y = 1 − exp(−length of the panel).
        ahead: k, the number of candidates whose score lies above the panel.
        weight: W, the sum of exp(z − γ) over the candidates below the panel, with z at its lower end.
    """
    # s = c·Y is the rightmost point of the ellipse, between Y and the pole at 1.
    part = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85])
    reach = width[:, None] + (1 - width[:, None]) * part
    # A smaller ellipse is also valid. The minimum width prevents overflow for tiny panels.
    middle = 2 * reach / np.maximum(width[:, None], 1e-100) - 1
    rho = middle + np.sqrt(middle * middle - 1)
    growth = (ahead[:, None] + 1) * np.log((1 - width[:, None] / 2) / (1 - reach))
    growth += weight[:, None] * (reach - width[:, None] / 2)
    needed = (growth + np.log(32 / 15 / (1 - rho**-2.0)) - _TARGET) / (2 * np.log(rho))
    # The constant 32/15 of Lemma 2 holds for two or more nodes.
    counts: Indices = np.maximum(np.ceil(needed.min(axis=1)), 2.0).astype(np.intp)
    return counts


# ---- products of many factors 1 − u·c with u·c ≤ 1/16 ------------------------------------------------
#
# On [0, 1/16] the polynomial R(x) = Σ a_j x^j below equals 1/(1 − x) to within 1.1·10⁻¹⁷ (its Chebyshev
# expansion cut after degree 9; the power series would need degree 13). Then −∫₀ˣ R is log(1 − x) to
# within 1.1·10⁻¹⁷·x. So the error of a product of a million factors is bounded by Σ u·c, not by
# their number (Theorem 3 of the proof page).

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
# Five arrays of this length fit in the second-level cache.
_CHUNK = 8192


def power_sums(coins: Floats, largest: float | None = None) -> Floats:
    """Return Σ c^j for j = 1 to 10, over the coins not above ``largest``, or over all of them if None."""
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
        # Σ c^(i+j) is one inner product, so only half of the powers are computed.
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
    """Return the logarithm of Π (1 − u·c) at every time u, from the power sums of the coins."""
    coefficients = sums * _RECIPROCAL / np.arange(1, _TERMS + 1)
    result = np.zeros_like(times)
    for coefficient in coefficients[::-1]:
        result = result * times + coefficient
    return -times * result


def reciprocal_sum(coins: Floats, weights: Floats, times: Floats) -> Floats:
    """Return Σ_i w_i / (1 − u_i·c) for every coin c; valid only where u_i·c is at most 1/16."""
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
