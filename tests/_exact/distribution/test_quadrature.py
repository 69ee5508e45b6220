"""The quadrature tables that the distributions use, checked in ball arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, arb_poly, ctx

from discreet._exact.distribution import quadrature
from discreet._exact.distribution.quadrature import (
    gauss_legendre,
    nodes_for_coins,
    nodes_for_panels,
)


@pytest.mark.parametrize("count", [1, 2, 5, 16, 25, 40])
def test_nodes_and_weights_are_the_nearest_floats(count: int) -> None:
    rule = gauss_legendre(count)
    with ctx.workprec(300):
        for k in range(count):
            root, weight = arb.legendre_p_root(count, k, weight=True)
            for found, exact in (
                (rule.nodes[k], (1 - root) / 2),
                (rule.complements[k], (1 + root) / 2),
                (rule.weights[k], weight / 2),
            ):
                assert abs(exact - float(found)) <= arb(math.ulp(float(found))) / 2


def test_nodes_ascend_and_cannot_be_changed() -> None:
    rule = gauss_legendre(7)
    assert np.all(np.diff(rule.nodes) > 0)
    with pytest.raises(ValueError, match="read-only"):
        rule.nodes[0] = 0.0


@pytest.mark.parametrize("mean", [1, 2, 5, 10, 20, 42])
def test_enough_nodes_for_the_hardest_products(mean: int) -> None:
    """The products are (1 − u·m/n)^n for several n, and the limit exp(−m·u), on [0, 1]."""
    count = nodes_for_coins(mean, 10**6)
    with ctx.workprec(300):
        roots = [arb.legendre_p_root(count, k, weight=True) for k in range(count)]
        for factors in (mean, 2 * mean, 10 * mean, 1000 * mean):
            coin = arb(mean) / factors
            exact = (1 - (1 - coin) ** (factors + 1)) / (coin * (factors + 1))
            rule = sum(
                (weight / 2 * (1 - coin * (1 - root) / 2) ** factors for root, weight in roots),
                arb(0),
            )
            assert abs(rule / exact - 1) < arb(2) ** -57
        exact = (1 - arb(-mean).exp()) / mean
        rule = sum((w / 2 * (-mean * (1 - root) / 2).exp() for root, w in roots), arb(0))
        assert abs(rule / exact - 1) < arb(2) ** -57


def test_a_product_of_few_factors_gets_an_exact_rule() -> None:
    assert [nodes_for_coins(42.0, n) for n in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]
    assert max(nodes_for_coins(m, 10**9) for m in range(1, 43)) <= 26


@pytest.mark.parametrize("length", [1e-300, 1e-9, 1e-3, 0.1, 0.5, 1.0])
@pytest.mark.parametrize(("ahead", "below"), [(1, 0), (1, 50), (2, 3), (10, 0), (60, 0), (5, 20)])
def test_enough_nodes_on_a_panel(length: float, ahead: int, below: int) -> None:
    """Integrate v^{−k−1} (1 − v/2)^below on a panel, against a rule with three times the nodes."""
    parts = max(1, math.ceil((1 + ahead + below) * length / 12))
    length /= parts
    width = -math.expm1(-length)
    (count,) = nodes_for_panels(
        np.array([width]), np.array([float(ahead)]), np.array([float(below)])
    ).tolist()
    assert count <= 64

    def integrate(size: int) -> arb:
        total = arb(0)
        for k in range(size):
            root, weight = arb.legendre_p_root(size, k, weight=True)
            v = 1 - arb(width) * (1 - root) / 2
            total += weight * v ** (-ahead - 1) * (1 - v / 2) ** below
        return total

    with ctx.workprec(300):
        assert abs(integrate(count) / integrate(3 * count + 10) - 1) < arb(2) ** -56


def test_the_reciprocal_polynomial_is_as_close_as_proved() -> None:
    """The defect R(x)·(1 − x) − 1 is bounded piece by piece."""
    coefficients = quadrature._RECIPROCAL.tolist()
    with ctx.workprec(200):
        defect = arb_poly(coefficients) * arb_poly([1, -1]) - 1
        worst = arb(0)
        pieces = 4096
        for piece in range(pieces):
            # A ball over the whole piece: its image encloses the defect everywhere on it.
            left, right = arb(piece) / (16 * pieces), arb(piece + 1) / (16 * pieces)
            x = left.union(right)
            middle, half = (left + right) / 2, (right - left) / 2
            slope = defect.derivative()(x)
            value = abs(defect(middle)) + abs(slope) * half
            worst = max(worst, value.upper())
        assert worst / (1 - arb(1) / 16) < 1.1e-17


def test_power_sums_and_products_match_the_direct_ones() -> None:
    coins = np.linspace(0.0, 1 / 16, 20_001)
    sums = quadrature.power_sums(coins)
    expected = [math.fsum((coins**j).tolist()) for j in range(1, 11)]
    np.testing.assert_allclose(sums, expected, rtol=1e-14)
    times = np.array([1e-6, 0.1, 0.5, 1.0])
    direct = [math.fsum(np.log1p(-u * coins).tolist()) for u in times]
    np.testing.assert_allclose(quadrature.log_product(sums, times), direct, rtol=1e-14)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    reciprocals = (weights / (1 - np.outer(coins, times))).sum(axis=1)
    np.testing.assert_allclose(
        quadrature.reciprocal_sum(coins, weights, times), reciprocals, rtol=1e-15
    )
    masked = quadrature.power_sums(np.append(coins, [0.5, 1.0]), 1 / 16)
    np.testing.assert_allclose(masked, expected, rtol=1e-14)


def test_numpy_rules_would_not_have_done() -> None:
    """NumPy's nodes are not accurate enough, so ours come from ball arithmetic."""
    _, weights = np.polynomial.legendre.leggauss(64)
    ours = 2 * quadrature.gauss_legendre(64).weights
    assert np.max(np.abs(weights[::-1] / ours - 1)) > 1e-14
