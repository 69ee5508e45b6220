"""Exact output distributions for a few candidates, in ball arithmetic, by independent methods.

Nothing here shares code with the samplers. Gaps are Fractions; results are balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, ctx, fmpq

PRECISION = 256


def _ball(value: Fraction | int) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


def permute_and_flip(gammas: Sequence[Fraction]) -> list[Any]:
    """Return p_r ∫₀¹ Π_{t≠r} (1 − u p_t) du, by expanding the product as a polynomial in u."""
    with ctx.workprec(PRECISION):
        coins = [_ball(-gamma).exp() for gamma in gammas]
        masses = []
        for r, coin in enumerate(coins):
            polynomial = [_ball(1)]
            for t, other in enumerate(coins):
                if t != r:
                    shifted = [_ball(0), *(-other * c for c in polynomial)]
                    polynomial = [
                        a + b for a, b in zip([*polynomial, _ball(0)], shifted, strict=True)
                    ]
            masses.append(coin * sum(c / (k + 1) for k, c in enumerate(polynomial)))
        return masses


def exponential(gammas: Sequence[Fraction]) -> list[Any]:
    """Return p_r / Σ p."""
    with ctx.workprec(PRECISION):
        coins = [_ball(-gamma).exp() for gamma in gammas]
        return [coin / sum(coins) for coin in coins]


Laurent = dict[int, Any]
"""A Laurent polynomial in e^y: the coefficient of each power."""


def _product(factors: Sequence[Laurent]) -> Laurent:
    terms: Laurent = {0: _ball(1)}
    for factor in factors:
        product: Laurent = {}
        for i, a in terms.items():
            for j, b in factor.items():
                product[i + j] = product.get(i + j, _ball(0)) + a * b
        terms = product
    return terms


def _integral(terms: Laurent, low: Fraction | None, high: Fraction | None) -> Any:
    """Integrate from ``low`` to ``high``; None stands for an infinity at which the integrand vanishes."""
    total = _ball(0)
    for power, coefficient in terms.items():
        if power == 0:
            assert low is not None
            assert high is not None
            total += coefficient * _ball(high - low)
        else:
            top = _ball(0) if high is None else _ball(power * high).exp()
            bottom = _ball(0) if low is None else _ball(power * low).exp()
            total += coefficient * (top - bottom) / power
    return total


def _laplace_below(shift: Fraction) -> tuple[Laurent, Laurent]:
    """Return F(y − shift) and f(y − shift) as Laurent polynomials, for y below ``shift``."""
    rising = {1: _ball(-shift).exp() / 2}
    return rising, rising


def _laplace_above(shift: Fraction) -> tuple[Laurent, Laurent]:
    """Return F(y − shift) and f(y − shift) as Laurent polynomials, for y above ``shift``."""
    falling = _ball(shift).exp() / 2
    return {0: _ball(1), -1: -falling}, {-1: falling}


def laplace(gammas: Sequence[Fraction]) -> list[Any]:
    """Return ∫ f(y + γ_r) Π_{t≠r} F(y + γ_t) dy for Laplace f and F, with the best score at zero.

    Between two scores every factor is a Laurent polynomial in e^y, and so is the product.
    """
    with ctx.workprec(PRECISION):
        cuts: list[Fraction | None] = [None, *sorted({-gamma for gamma in gammas}), None]
        masses = [_ball(0)] * len(gammas)
        for low, high in pairwise(cuts):
            pieces = [
                _laplace_below(-gamma)
                if high is not None and high <= -gamma
                else _laplace_above(-gamma)
                for gamma in gammas
            ]
            for r in range(len(gammas)):
                factors = [piece[t == r] for t, piece in enumerate(pieces)]
                masses[r] += _integral(_product(factors), low, high)
        return masses


def least_depth(offsets: Sequence[Fraction]) -> list[Any]:
    """Return each candidate's chance to be least deep, given that all are in layer k, with z = γ − (k−1).

    The depth v of a candidate with offset z has survival (F(z−v) − F(z−1)) / (F(z) − F(z−1)) on [0, 1),
    where F is the Laplace distribution function.
    """
    with ctx.workprec(PRECISION):
        inside = sorted({z for z in offsets if 0 < z < 1})
        cuts = [Fraction(0), *inside, Fraction(1)]
        masses = [_ball(0)] * len(offsets)
        for low, high in pairwise(cuts):
            pieces = []
            for z in offsets:
                total = _laplace_cdf(z) - _laplace_cdf(z - 1)
                # As functions of −v: the noise lies above zero while v ≤ z.
                above = high <= z
                cdf, density = _laplace_above(-z) if above else _laplace_below(-z)
                survival = {-power: c / total for power, c in cdf.items()}
                survival[0] = survival.get(0, _ball(0)) - _laplace_cdf(z - 1) / total
                pieces.append((survival, {-power: c / total for power, c in density.items()}))
            for r in range(len(offsets)):
                factors = [piece[t == r] for t, piece in enumerate(pieces)]
                masses[r] += _integral(_product(factors), low, high)
        return masses


def _laplace_cdf(x: Fraction) -> Any:
    return _ball(x).exp() / 2 if x < 0 else 1 - _ball(-x).exp() / 2


def bounds(mass: Any) -> tuple[Fraction, Fraction]:
    """Return rationals below and above a ball."""
    return _rational(mass.lower()), _rational(mass.upper())


def _rational(exact: Any) -> Fraction:
    mantissa, exponent = (int(part) for part in exact.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
