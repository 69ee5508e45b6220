"""How a total is divided among questions: the least that is enough for each, or the best for the weakest.

A question has a curve: what an ε costs, and which error it reaches. Both come from plans, so that what is
split is what is paid. An error falls as ε grows, and a proved bound falls nearly as 1/ε; between two points
of a curve it is interpolated on that scale. What a split says it reaches is what its plans say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Point = tuple[float, float]
"""The error that an ε reaches, and what it costs."""
_STEP = 1.25
_FEWEST, _MOST = -60, 60  # powers of the step: from about one in a million to about a million


@dataclass(frozen=True)
class Curve:
    """What a question reaches and costs at any ε.

    Attributes:
        at: the error at an ε and its cost, exactly.
        wanted: the error that would be good enough, in units of its weight.

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
        """The least ε at which the error is at most ``ratio`` times the wanted one; infinite if none is."""
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
        """What an ε costs; between two points on the scale on which a cost is a power of ε."""
        power = math.log(epsilon, _STEP)
        low = min(max(math.floor(power), _FEWEST), _MOST - 1)
        one, other = (math.log(self._point(each)[1]) for each in (low, low + 1))
        return math.exp(one + (other - one) * (power - low))


def weakest(curves: Sequence[Curve], most: float) -> list[Fraction] | None:
    """The ε's, all of ``most`` together, for which every error is the same part of the wanted one.

    No other split makes the question that is worst off better: whoever gets more takes it from a question
    that is as badly off. None where even the largest errors cost more than ``most``.

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
    """Six digits of it, not above."""
    unit = Fraction(10) ** (math.floor(math.log10(epsilon)) - 5)
    return math.floor(Fraction(epsilon) / unit) * unit
