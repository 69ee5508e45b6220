"""Privacy losses on a grid: pairs that dominate a release, composed as polynomials in ball arithmetic.

Each release is replaced by a pair of distributions that is at least as easy to tell apart and whose losses
are all multiples of a step h. The probabilities of these losses are the coefficients of a polynomial, and
composing releases multiplies their polynomials. Nothing is sampled, truncated or rounded down: every figure
is the upper end of a ball. The proofs are in ``docs/proofs/composition.md``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, repeat
from typing import Any

from discreet._exact.numbers.balls import ball_of, precision, upper_end
from discreet._exact.numbers.exact import Exact
from discreet.guarantees import AveragedRange, BoundedRange, Guarantee, LaplaceDominated, PureDP

PRECISION = 160
"""The precision in bits. Composed masses have a relative error of about 2⁻¹⁴⁰."""

Curve = Callable[[Fraction, Any], Any]
"""The hockey-stick divergence at τ, given ln τ in [-ε, ε] exactly and τ as a ball."""


@dataclass(frozen=True, slots=True)
class LossCurve:
    """One kind of release: its divergence curve, the ε above which the curve is zero, and its count."""

    curve: Curve
    epsilon: Fraction
    count: int


def loss_curve_of(guarantee: Guarantee, count: int) -> LossCurve | None:
    """Return the worst divergence curve that the guarantee allows; None if no finite one is known."""
    if not isinstance(guarantee, PureDP | BoundedRange | LaplaceDominated):
        return None
    epsilon = guarantee.exact
    if not isinstance(epsilon, Fraction):
        return None
    if isinstance(guarantee, BoundedRange | AveragedRange):
        return LossCurve(bounded_range_curve(epsilon, Fraction(0), epsilon), epsilon, count)
    if isinstance(guarantee, LaplaceDominated):
        return LossCurve(lambda x, _: 1 - ball_of((x - epsilon) / 2).exp(), epsilon, count)
    # The worst case of ε-DP is randomised response.
    return LossCurve(
        lambda x, _: (1 - ball_of(x - epsilon).exp()) / (1 + ball_of(-epsilon).exp()),
        epsilon,
        count,
    )


def bounded_range_curve(epsilon: Fraction, lowest: Fraction, highest: Fraction) -> Curve:
    """Return the upper envelope of the curves of two-point pairs with an upper loss t in [lowest, highest].

    The pair's curve θ(t)(e^t − τ), with θ(t) = (e^−t − e^−ε)/(1 − e^−ε), is largest at t = (ε + ln τ)/2 and
    falls on both sides. Its value there is (1 − e^((ln τ − ε)/2))²/(1 − e^−ε).
    """
    with precision(PRECISION):
        least = ball_of(-epsilon).exp()
        ends = [
            (ball_of(t).exp(), (ball_of(-t).exp() - least) / (1 - least)) for t in (lowest, highest)
        ]

    def curve(x: Fraction, ratio: Any) -> Any:
        best = (epsilon + x) / 2
        if lowest <= best <= highest:
            return (1 - ball_of((x - epsilon) / 2).exp()) ** 2 / (1 - least)
        upper, weight = ends[best > highest]
        divergence = weight * (upper - ratio)
        return divergence.max(1 - ratio).max(0 * ratio)

    return curve


def grid_step(releases: Sequence[LossCurve], points: int) -> Fraction:
    """Return a step, about 1/``points`` of the largest total loss, that divides every ε if possible."""
    total = sum((release.epsilon * release.count for release in releases), Fraction(0))
    common = Fraction(0)
    for release in releases:
        common = Fraction(
            math.gcd(
                common.numerator * release.epsilon.denominator,
                release.epsilon.numerator * common.denominator,
            ),
            common.denominator * release.epsilon.denominator,
        )
    finest = total / points
    return common / math.floor(common / finest) if common >= finest else finest


class Losses:
    """The privacy loss distribution of a list of releases: a polynomial with one term per grid point."""

    def __init__(self, polynomial: Any, lowest: int, step: Fraction) -> None:
        self._polynomial = polynomial
        self._lowest = lowest
        self._step = step

    @staticmethod
    def of(releases: Sequence[LossCurve], step: Fraction) -> Losses:
        """Compose the releases on a grid with this step; an empty list has loss 0."""
        from flint import arb_poly

        with precision(PRECISION):
            factors, lowest = [arb_poly([1])], 0
            for release in releases:
                reach = -(-release.epsilon // step)
                factors.append(arb_poly(_masses(release.curve, reach, step)) ** release.count)
                lowest -= reach * release.count
            # Multiply neighbours first, so that the factors of a product have similar lengths.
            while len(factors) > 1:
                pairs = zip(factors[::2], [*factors[1::2], None], strict=False)
                factors = [first if second is None else first * second for first, second in pairs]
            return Losses(factors[0], lowest, step)

    def times(self, other: Losses) -> Losses:
        """Return the composition of this list and another one on the same grid."""
        with precision(PRECISION):
            return Losses(
                self._polynomial * other._polynomial, self._lowest + other._lowest, self._step
            )

    def epsilon_at(self, delta: Fraction) -> Exact:
        """Return an ε ≥ 0 at which the divergence is at most δ, searching from the largest loss down."""
        with precision(PRECISION):
            allowed, shrink = ball_of(delta), ball_of(-self._step).exp()
            above = weighted = 0 * allowed
            coefficients = self._polynomial.coeffs()
            for index in range(len(coefficients) - 1, -self._lowest - 1, -1):  # down to ε = 0
                # At ε = (lowest + index)·h: δ(ε) = Σ p_i − Σ p_i e^(ε − l_i) over the losses above ε.
                position = self._lowest + index
                if not above - weighted <= allowed:
                    return self._between(position, above, weighted, allowed)
                above += coefficients[index]
                weighted = (weighted + coefficients[index]) * shrink
            return Fraction(0)

    @cached_property
    def _suffixes(self) -> tuple[list[Any], list[Any]]:
        """Return, for each grid point, the sums of p and of p·e^−loss over the losses from that point up."""
        with precision(PRECISION):
            masses = self._polynomial.coeffs()[::-1]
            top = ball_of(-(self._lowest + len(masses) - 1) * self._step).exp()
            unit = ball_of(self._step).exp()
            factors = accumulate(repeat(unit, len(masses) - 1), operator.mul, initial=top)
            weighted = map(operator.mul, masses, factors)
            return list(accumulate(masses))[::-1], list(accumulate(weighted))[::-1]

    def delta_at(self, epsilon: Fraction) -> Fraction:
        """Return the divergence at ε, rounded up: Σ p − e^ε Σ p·e^−loss over the losses above ε."""
        above, weighted = self._suffixes
        first = max(0, math.floor(epsilon / self._step) + 1 - self._lowest)
        if first >= len(above):
            return Fraction(0)
        with precision(PRECISION):
            found = upper_end(above[first] - ball_of(epsilon).exp() * weighted[first])
        return min(Fraction(1), max(Fraction(0), Fraction(found)))

    def _between(self, position: int, above: Any, weighted: Any, allowed: Any) -> Exact:
        """Solve for ε between grid point ``position``, where δ is exceeded, and the next, where it is not."""
        next_point = (position + 1) * self._step
        if not weighted > 0:
            return next_point
        inside = ((above - allowed) / weighted).log()
        found = upper_end(inside) if inside.is_finite() else math.inf
        return min(next_point, max(Fraction(0), position * self._step + found))


def _masses(curve: Curve, reach: int, step: Fraction) -> list[Any]:
    """Return the masses at the losses -reach·h, ..., reach·h for the curve's piecewise linear interpolation.

    The interpolation is linear in τ. A convex curve lies below its chords, so the pair of the interpolated
    curve dominates. The second distribution's mass at each grid point is the change of slope; the first
    one's, which is returned, is τ times that change.
    """
    points = [position * step for position in range(-reach, reach + 1)]
    unit = ball_of(step).exp()
    ratios = [ball_of(points[0]).exp()]
    for _ in points[1:]:
        ratios.append(ratios[-1] * unit)
    zero = 0 * ratios[0]
    heights = [1 - ratios[0], *map(curve, points[1:-1], ratios[1:-1]), zero]
    slopes = [
        zero - 1,
        *(
            (b - a) / (s - r)
            for a, b, r, s in zip(heights, heights[1:], ratios, ratios[1:], strict=False)
        ),
        zero,
    ]
    return [ratio * (b - a) for ratio, a, b in zip(ratios, slopes, slopes[1:], strict=False)]
