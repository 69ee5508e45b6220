"""The exact distribution of answers to "does this value cross?", if the threshold's noise is drawn once.

Given the threshold's noise x, the answers are independent, so a sequence has the probability
∫ f(x) Π gᵢ(x) dx, with the density f of x and the probability gᵢ(x) of answer i. These functions have kinks
at x = 0 and where a value equals the threshold plus x. Between the kinks, each is an exponential plus a
constant. Interval arithmetic uses closed forms there, and floats use Gauss panels
(docs/proofs/above-threshold.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.distribution.closed_form import twenty_nodes
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.numbers.noise_scales import NoiseScales

Floats = NDArray[np.float64]

_MOST_BITS = 1 << 16
_AT_ONCE = 256
_REACH = 46.0
"""Integrating over this many scales of the slowest decay omits 10⁻²⁰ of the integral."""


@dataclass(frozen=True, slots=True)
class Block:
    """Equal values that are asked about one after the other and get equal answers.

    Attributes:
        offset: the value minus the threshold.
        above: the answer: whether these values cross.
        times: the number of such values.
    """

    offset: Fraction
    above: bool
    times: int = 1


# ---- in interval arithmetic --------------------------------------------------------------------


def sequence_ball(
    blocks: Sequence[Block],
    scales: NoiseScales,
    *,
    least: Fraction | None = None,
    most: Fraction | None = None,
    bits: int = 100,
) -> Any:
    """Return an interval that contains the joint probability of these answers and ``least`` ≤ X ≤ ``most``.

    X is the threshold's noise. The interval has about ``bits`` correct bits; a probability of zero is exactly
    zero.

    Example:
        >>> half = NoiseScales(Fraction(1), Fraction(1), two_sided=True)
        >>> float(sequence_ball([Block(Fraction(0), True)], half))
        0.5
    """
    working = 2 * bits + sum(block.times for block in blocks)
    while True:
        with precision(working):
            total = _integral(blocks, scales, least, most)
            if total.is_zero() or total.rel_accuracy_bits() >= bits or working > _MOST_BITS:
                return total
        working *= 2


def _integral(
    blocks: Sequence[Block], scales: NoiseScales, least: Fraction | None, most: Fraction | None
) -> Any:
    """Return the integral over the threshold's noise, as a sum over the pieces between kinks."""
    low = least if scales.two_sided else max(Fraction(0), least or Fraction(0))
    turns = {block.offset for block in blocks} | {Fraction(0)}
    inside = sorted(x for x in turns if (low is None or x > low) and (most is None or x < most))
    if low is not None and most is not None and low >= most:
        return ball_of(0)
    edges: list[Fraction | None] = [low, *inside, most]
    total = ball_of(0)
    for start, end in pairwise(edges):
        if start is None or end is None or start < end:
            total += _piece(blocks, scales, start, end)
    return total


def _piece(
    blocks: Sequence[Block], scales: NoiseScales, start: Fraction | None, end: Fraction | None
) -> Any:
    """Return the integral over a piece inside which no factor has a kink."""
    from flint import arb_poly

    # The product of all answers' chances, as y^lowest·p(y) with y = e^(−(x − x₀)/b₂).
    anchor = start if start is not None else end
    assert anchor is not None
    lowest, polynomial = 0, arb_poly([1])
    for block in blocks:
        beyond = start is not None and start >= block.offset  # x is above the value: z ≥ 0
        size = ball_of((block.offset - anchor) / scales.query).exp()
        if not scales.two_sided:
            if beyond:
                factor = arb_poly([0, size] if block.above else [1, -size])
            elif block.above:
                continue
            else:
                return ball_of(0)
        elif beyond:
            factor = arb_poly([0, size / 2] if block.above else [1, -size / 2])
        else:
            lowest -= block.times
            factor = arb_poly([-1 / (2 * size), 1] if block.above else [1 / (2 * size)])
        polynomial *= factor**block.times
    sign = 1 if start is not None and start >= 0 else -1
    total = ball_of(0)
    for power, coefficient in enumerate(polynomial.coeffs()):
        rate = Fraction(sign) / scales.threshold + (lowest + power) / scales.query
        total += coefficient * _exponential(rate, start, end, anchor)
    total *= ball_of(-sign * anchor / scales.threshold).exp() / ball_of(scales.threshold)
    return total / 2 if scales.two_sided else total


def _exponential(
    rate: Fraction, start: Fraction | None, end: Fraction | None, anchor: Fraction
) -> Any:
    """Return ∫ e^(−rate·(x − anchor)) dx from ``start`` to ``end``."""
    if rate == 0:
        assert start is not None
        assert end is not None
        return ball_of(end - start)
    ends = [ball_of(0) if x is None else ball_of(-rate * (x - anchor)).exp() for x in (start, end)]
    return (ends[0] - ends[1]) / ball_of(rate)


# ---- in floats ---------------------------------------------------------------------------------


class Panels:
    """Quadrature points and weights to integrate over the threshold's noise, for values at given offsets.

    Every integrand is smooth between neighbouring offsets, so Gauss panels that end at the offsets are as
    accurate as floats allow. ``longest`` is the length of the longest sequence of answers to evaluate.
    ``steepest`` is the largest number of equal values with equal answers in such a sequence.

    Example:
        >>> panels = Panels(NoiseScales(Fraction(2), Fraction(2)), [0.0])
        >>> round(float(np.exp(panels.log_weights).sum()), 12)
        1.0
    """

    def __init__(
        self, scales: NoiseScales, offsets: Iterable[float], *, longest: int = 1, steepest: int = 1
    ) -> None:
        self._first, self._second = float(scales.threshold), float(scales.query)
        self._two_sided = scales.two_sided
        turns = {0.0, *offsets}
        if not scales.two_sided:
            turns = {x for x in turns if x >= 0.0}
        # Many equal answers move the bulk of the integral away from an offset: by b₂ ln n, or n b₁ if b₁ is
        # small.
        self._crowd = min(
            self._second * math.log1p(longest), self._first * (longest + 10 * math.sqrt(longest))
        )
        far = self._crowd + _REACH * self._first
        ordered = sorted(turns)
        edges = [*ordered, ordered[-1] + far]
        if scales.two_sided:
            edges = [ordered[0] - far, *edges]
        cuts = [edges[0]]
        for start, end in pairwise(edges):
            cuts += self._cut(start, end, steepest)
        bounds = np.array(cuts)
        half = np.diff(bounds)[:, None] / 2
        nodes, heavy = twenty_nodes()
        self.points: Floats = (bounds[:-1, None] + half * (1 + nodes)).ravel()
        weights = (half * heavy).ravel() / (self._first * (2 if scales.two_sided else 1))
        with np.errstate(divide="ignore"):  # a panel between two nearly equal offsets may be empty
            self.log_weights: Floats = np.log(weights) - np.abs(self.points) / self._first

    def _cut(self, start: float, end: float, steepest: int) -> list[float]:
        """Cut an interval into panels and return their right ends; panels near its start are short.

        For two-sided noise, or if ``steepest`` is above 1, panels near its end are short too.
        """
        length = end - start
        cuts = self._ladder(length / 2 if self._two_sided else length)
        fine = min(self._first, self._second) * 2.0 ** -np.arange(1, 1 + steepest.bit_length())
        if steepest > 1:
            cuts = np.concatenate([cuts, fine[fine < length / 2]])
        mirrored = self._two_sided or steepest > 1
        cuts = np.unique(np.concatenate([cuts, length - cuts if mirrored else cuts[:0], [length]]))
        ends = start + cuts[cuts > 0]
        ends[-1] = end
        return [float(x) for x in ends]

    def _ladder(self, length: float) -> Floats:
        """Return the distances from an offset at which to cut; far from it, the cuts are further apart."""
        first, second = self._first, self._second
        reached, step, rungs = 0.0, min(first, second), [0.0]
        while reached + step < length:
            reached += step
            rungs.append(reached)
            if reached < self._crowd + 6 * min(first, second):
                step = min(4 * first, second)
            else:
                step = (
                    2 * step if reached > self._crowd + _REACH * first else min(2 * step, 4 * first)
                )
        return np.array(rungs)

    def log_chances(self, offsets: Floats, *, above: bool) -> Floats:
        """Return the log-probability of answer ``above`` at every point (last axis), for these offsets."""
        z = (self.points - np.asarray(offsets, dtype=np.float64)[..., None]) / self._second
        with np.errstate(divide="ignore"):
            if not self._two_sided:
                z = np.maximum(z, 0.0)
                return -z if above else np.log(-np.expm1(-z))
            near = np.minimum(z, 0.0) if above else -np.maximum(z, 0.0)
            far = -np.abs(z) - math.log(2)
            return np.where((z < 0.0) == above, np.log1p(-0.5 * np.exp(near)), far)

    def log_integrals(self, logs: Floats) -> Floats:
        """Return the logarithm of ∫ f(x) e^logs(x) dx over the last axis."""
        values = logs + self.log_weights
        top = values.max(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0]
        return np.where(np.isneginf(top[..., 0]), -np.inf, sums)


def first_crossing(offsets: Floats, scales: NoiseScales) -> Floats:
    """Return each value's probability of being the first to cross; the last entry is the probability of none.

    Example:
        >>> chances = first_crossing(np.array([-9.0, 9.0]), NoiseScales(Fraction(1), Fraction(1)))
        >>> np.allclose(chances.sum(), 1), int(chances.argmax())
        (True, 1)
    """
    # With one-sided noise, the integrand changes only at values larger than all earlier ones. With two-sided
    # noise it changes at every value, but mildly: for many values, the same points are enough.
    turns = np.unique(np.maximum.accumulate(offsets))
    if scales.two_sided and len(offsets) <= _AT_ONCE:
        turns = np.unique(offsets)
    panels = Panels(scales, turns.tolist(), longest=len(offsets))
    chances = np.empty(len(offsets) + 1)
    before = panels.log_weights.copy()
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, len(offsets), _AT_ONCE):
            part = offsets[start : start + _AT_ONCE]
            below = panels.log_chances(part, above=False)
            np.cumsum(below, axis=0, out=below)
            earlier = np.vstack([before, before + below[:-1]])
            above = panels.log_chances(part, above=True)
            chances[start : start + len(part)] = np.exp(earlier + above).sum(axis=1)
            before = before + below[-1]
        chances[-1] = np.exp(before).sum()
    return chances
