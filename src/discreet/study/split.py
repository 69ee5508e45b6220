"""Divide a total cost among questions so that the least accurate one is as accurate as possible.

A question has a curve: for each ε, its cost and the error that it reaches. Both come from plans, so the
amount that is split is the amount that is paid. The error falls as ε grows, and a proved bound falls nearly
as 1/ε; between two points of a curve the error is interpolated on that scale. The final figures come from
plans, not from interpolation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Point = tuple[float, float]
"""The error that an ε reaches, and its cost."""
_STEP = 1.25
_FEWEST, _MOST = -60, 60  # powers of the step: from about one in a million to about a million


@dataclass(frozen=True)
class Curve:
    """The error and the cost of a question at any ε.

    Attributes:
        at: returns the exact error and cost at an ε.
        wanted: the requested error, divided by the question's weight.

    Example:
        >>> curve = Curve(lambda epsilon: (10 / float(epsilon), float(epsilon)), wanted=5.0)
        >>> round(curve.epsilon_for(2.0), 6), round(curve.epsilon_for(0.5), 6)
        (1.0, 4.0)
    """

    at: Callable[[Fraction], Point]
    wanted: float
    _known: dict[int, Point] = field(default_factory=dict, repr=False, compare=False)

    def _point(self, power: int) -> Point:
        if power not in self._known:
            self._known[power] = self.at(Fraction(_STEP**power).limit_denominator(10**12))
        return self._known[power]

    def epsilon_for(self, ratio: float) -> float:
        """Return the least ε whose error is at most ``ratio`` times ``wanted``; infinity if there is none."""
        goal = ratio * self.wanted
        low, high = _FEWEST, _MOST
        if self._point(high)[0] > goal:
            return math.inf
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._point(middle)[0] <= goal else (middle, high)
        above, below = self._point(low)[0], self._point(high)[0]
        if not 0 < below < above or goal <= 0:
            return _STEP**high
        part = math.log(above / goal) / math.log(above / below)
        return math.exp((low + max(part, 0.0)) * math.log(_STEP))

    def cost_of(self, epsilon: float) -> float:
        """Return the cost of an ε, interpolated between two points on a logarithmic scale."""
        power = math.log(epsilon, _STEP)
        low = min(max(math.floor(power), _FEWEST), _MOST - 1)
        one, other = (math.log(self._point(each)[1]) for each in (low, low + 1))
        return math.exp(one + (other - one) * (power - low))


def weakest(curves: Sequence[Curve], most: float) -> list[Fraction] | None:
    """Split ``most`` so that every question has the same ratio of reached to requested error.

    No other split makes the weakest question better: giving it more would take from another that is equally
    weak. Return None if even the largest errors cost more than ``most``.

    Example:
        >>> def falling(size):
        ...     return Curve(lambda epsilon: (size / float(epsilon), float(epsilon)), wanted=1.0)
        >>> [round(float(each), 4) for each in weakest([falling(10), falling(30)], 2.0)]
        [0.5, 1.5]
    """

    def cost(ratio: float) -> float:
        found = [curve.epsilon_for(ratio) for curve in curves]
        if math.inf in found:
            return math.inf
        return math.fsum(curve.cost_of(each) for curve, each in zip(curves, found, strict=True))

    low, high = -30.0, 30.0  # logarithms of the ratio
    if cost(math.exp(high)) > most:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if cost(math.exp(middle)) <= most else (middle, high)
    return [_down(curve.epsilon_for(math.exp(high))) for curve in curves]


def _down(epsilon: float) -> Fraction:
    """Round down to six significant digits."""
    unit = Fraction(10) ** (math.floor(math.log10(epsilon)) - 5)
    return math.floor(Fraction(epsilon) / unit) * unit
