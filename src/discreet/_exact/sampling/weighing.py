"""Use weights and normal noise to decide which unlisted groups to name, if a person counts in several.

A person in t groups adds 1/√t to each. A group of weight w is kept if w plus normal noise with standard
deviation σ reaches T. So each group has a coin with chance Φ((w − T)/σ), computed in interval arithmetic.
Weights are integers on a public grid, rounded down. There are two rounds. The first is rough and names the
largest groups. In the second, people add their weight only to groups that are not named yet.
``docs/proofs/groups-from-the-data.md`` proves the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet._exact.numbers.balls import ball_of, precision, upper_bound
from discreet._exact.numbers.exact import Exact
from discreet._exact.sampling.coins import GUARD_BITS, Ball

UNIT = 1 << 20
"""The weight of a person in one group."""
MOST_WEIGHT = 1 << 62
FIRST_NOISE = Fraction(1, 20)
"""The first round's share of the budget for noise: enough to name the largest groups."""
FIRST_UNSAFE = Fraction(1, 5)
"""The first round's share of the allowed chance of naming a group that only one person is in."""
_FINE = 1 << 10
_SURE = Fraction(1645, 1000)  # a normal number is below this with probability 0.95
_BRACKETS = 16


def weight_in(groups: int) -> int:
    """Return the weight that a person in ``groups`` groups adds to each: ``UNIT``/√groups, rounded down.

    Example:
        >>> weight_in(1) == UNIT, weight_in(4) == UNIT // 2, 3 * weight_in(3) ** 2 <= UNIT**2
        (True, True, True)
    """
    return math.isqrt(UNIT**2 // groups)


def normal_delta(epsilon: Fraction, spread: Fraction) -> Exact:
    """Return δ at ε for normal noise of standard deviation ``spread`` times the L2 distance, rounded up.

    Example:
        >>> round(float(normal_delta(Fraction(1), Fraction(1))), 4)
        0.1269
    """

    def formula(e: Ball, s: Ball) -> Ball:
        near, far = 1 / (2 * s) - e * s, -1 / (2 * s) - e * s
        return _at_most(near) - e.exp() * _at_most(far)

    return upper_bound(formula, epsilon, spread)


def new_group_delta(groups: int, threshold: Fraction, variance: Fraction) -> Exact:
    """Return an upper bound on the chance of naming one or more of the groups that only one person is in.

    This person is in ``groups`` groups, and nobody else is in any of them.
    """

    def formula(t: Ball, limit: Ball, square: Ball) -> Ball:
        return t * _at_most((1 / t.sqrt() - limit) / square.sqrt())

    return upper_bound(formula, Fraction(groups), threshold, variance)


def _at_most(x: Ball) -> Ball:
    """Return Φ(x), the chance that a standard normal number is at most x."""
    return (-x / ball_of(2).sqrt()).erfc() / 2


def _least(enough: Callable[[int], bool]) -> int:
    """Return the least integer ≥ 1 that is enough; every larger integer must be enough too."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Weighing:
    """One round: a group of weight w is kept with probability Φ((w − T)/σ).

    T is the least threshold on a public grid for which ``new_group_delta`` shows this: if a person is in at
    most ``groups`` groups, the probability of naming one or more groups that nobody else is in is at
    most ``fails``.

    Attributes:
        variance: σ², where a person in one group has weight 1.
        threshold: T, in the same unit of weight.
    """

    def __init__(self, variance: Fraction, fails: Fraction, *, groups: int) -> None:
        self.variance = variance
        checked = numbers_to_check(groups, variance)
        least = _least(
            lambda number: all(
                new_group_delta(each, Fraction(number, _FINE), variance) <= fails
                for each in checked
            )
        )
        self.threshold = Fraction(least, _FINE)
        self._step = max(1, math.isqrt(math.ceil(self.variance * UNIT**2)) // _BRACKETS)
        self._brackets: dict[tuple[int, int], tuple[int, int]] = {}

    def ball(self, weight: int) -> Ball:
        """Return an interval that contains the probability of keeping a group of this weight."""
        if weight == 0:
            return ball_of(0)
        beyond = ball_of(Fraction(weight, UNIT) - self.threshold)
        return _at_most(beyond / ball_of(self.variance).sqrt())

    def ends(self, weight: int, width: int) -> tuple[int, int]:
        """Return a lower and an upper bound on 2^width times the chance of keeping a group of this weight.

        They are computed at the next weights below and above on a coarser grid. The chance grows with the
        weight, so it lies between the two.
        """
        if weight == 0:
            return 0, 0
        below = weight // self._step
        return self._bracket(below, width)[0], self._bracket(below + 1, width)[1]

    def _bracket(self, steps: int, width: int) -> tuple[int, int]:
        key = steps, width
        if key not in self._brackets:
            with precision(width + GUARD_BITS):
                scaled = self.ball(steps * self._step) * ball_of(1 << width)
                self._brackets[key] = (
                    int(scaled.lower().floor().unique_fmpz()),
                    int(scaled.upper().ceil().unique_fmpz()),
                )
        return self._brackets[key]

    def people(self, groups: int, *, deviations: Fraction = Fraction(0)) -> int:
        """Return how many people a group needs to reach the weight T + ``deviations``·σ.

        Each of these people is in ``groups`` groups.
        """
        deviation = Fraction(math.isqrt(math.ceil(self.variance * UNIT**2)) + 1, UNIT)
        return math.ceil((self.threshold + deviations * deviation) * UNIT / weight_in(groups))


def numbers_to_check(groups: int, variance: Fraction) -> list[int]:
    """Return the numbers of groups per person at which the chance of naming a new group can be largest.

    For numbers above 1/(2σ²), the chance falls and then grows, so it is largest at an end of this range.

    Example:
        >>> numbers_to_check(1000, Fraction(16)), numbers_to_check(1000, Fraction(1, 8))
        ([1, 1000], [1, 2, 3, 4, 1000])
    """
    first = max(1, math.ceil(1 / (2 * variance)))
    return [*range(1, min(first, groups - 1) + 1), groups]


class Weighings:
    """Both rounds of the weighting rule, with their noise and thresholds for an ε and a δ.

    Attributes:
        first: the rough round, which names the largest groups.
        last: the round for the remaining groups.
        rho: ρ, the cost of the noise of both rounds.
        unsafe: the allowed probability of naming a group that only one person is in.
    """

    def __init__(self, epsilon: Fraction, delta: Fraction, *, groups: int, replacing: bool) -> None:
        # Half of δ is for the noise, half for groups that one person adds and, if replaced, removes.
        steps = 2 if replacing else 1
        # The spread is rounded up, by at most about one part in a thousand, at any ε.
        grain = Fraction(1, _FINE) / max(1, math.ceil(epsilon))
        spread = grain * _least(lambda number: normal_delta(epsilon, number * grain) <= delta / 2)
        # The reciprocals of the rounds' variances add up to the reciprocal of this variance.
        variance = spread**2 * steps
        self.rho = 1 / (2 * spread**2)
        self.unsafe = delta / (2 * steps)
        self.first, self.last = (
            Weighing(variance / noise, self.unsafe * unsafe, groups=groups)
            for noise, unsafe in ((FIRST_NOISE, FIRST_UNSAFE), (1 - FIRST_NOISE, 1 - FIRST_UNSAFE))
        )

    def people(self, groups: int) -> int:
        """Return how many people a group needs to be named half of the time.

        Each of these people is in at most ``groups`` groups.
        """
        return self.last.people(groups)

    def people_for_sure(self, groups: int) -> int:
        """Return how many people a group needs to be named 19 times out of 20.

        Each of these people is in at most ``groups`` groups.

        Example:
            >>> rule = Weighings(Fraction(1), Fraction(1, 10**5), groups=20, replacing=False)
            >>> rule.people(20), rule.people_for_sure(20)
            (92, 121)
        """
        return self.last.people(groups, deviations=_SURE)


@lru_cache(maxsize=64)
def weighings_at(epsilon: Fraction, delta: Fraction, groups: int, neighbours: str) -> Weighings:
    """Return the weighting rule for a neighbour relation; cached, because planning uses it several times."""
    return Weighings(epsilon, delta, groups=groups, replacing=neighbours == "replace")
