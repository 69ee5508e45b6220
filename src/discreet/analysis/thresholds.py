"""Plan the use of a threshold before any budget is spent: false alarms, misses, ε and alternatives.

Suppose that every value differs from the threshold T by at least a margin, and that the last value is the
only one above T. In the hardest such case, all values are at T − margin except the last, which is at
T + margin. If the earlier values are lower, or the last one is higher, the right answer only becomes more
likely.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.distribution.crossings import Panels
from discreet._exact.numbers.exact import float_up, positive, probability, refuse, whole
from discreet._exact.numbers.printing import rounded
from discreet._exact.numbers.searches import least_root
from discreet.errors import ParameterError
from discreet.mechanisms import STREAMS, CrossingRule, Exponential, Mechanism, PermuteAndFlip
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

_FARTHEST = 60.0


@dataclass(frozen=True, slots=True)
class ThresholdErrors:
    """The probabilities that a mechanism's answer about a threshold is wrong.

    Attributes:
        mechanism: the name of the mechanism that answers.
        false_alarm: the probability that it reports a value below the threshold.
        miss: the probability that it reports no value.
        at_once: whether it must know all values before the first answer.

    Example:
        >>> ThresholdErrors("above-threshold", false_alarm=0.25, miss=0.125, at_once=False).wrong
        0.375
    """

    mechanism: str
    false_alarm: float
    miss: float
    at_once: bool

    @property
    def wrong(self) -> float:
        """The probability of either error."""
        return self.false_alarm + self.miss


def threshold_errors(
    mechanism: CrossingRule | Mechanism,
    *,
    n: int,
    margin: object,
    sensitivity: object = 1,
    monotonic: bool = False,
) -> ThresholdErrors:
    """Return the probabilities of a false alarm and of a miss if only the last of ``n`` values is above.

    The last value is one ``margin`` above the threshold, and all others are one ``margin`` below it.
    A mechanism that chooses the largest value gets one more candidate, "none of them", with the threshold as
    its score. Such a mechanism must know all values at once. A rule uses its own sensitivity.

    Example:
        >>> rule = CrossingRule(epsilon=1, threshold=500, sensitivity=1, monotonic=True)
        >>> found = threshold_errors(rule, n=52, margin=15)
        >>> round(found.false_alarm, 4), round(found.miss, 4)
        (0.014, 0.0003)
    """
    count, away = whole("n", n), float(positive("margin", margin))
    if isinstance(mechanism, CrossingRule):
        return _of_rule(mechanism, count, away)
    values = [-away] * (count - 1) + [away, 0.0]
    chances = mechanism.probabilities(Scores(values, sensitivity=sensitivity, monotonic=monotonic))
    return ThresholdErrors(
        mechanism.name, float(chances[: count - 1].sum()), float(chances[-1]), at_once=True
    )


def _of_rule(rule: CrossingRule, n: int, away: float) -> ThresholdErrors:
    correction = float(rule.scales.correction)
    low, high = -away - correction, away - correction
    panels = Panels(rule.scales, [low, high], longest=n, steepest=n)
    quiet = (n - 1) * panels.log_chances(np.array([low]), above=False)[0] + panels.log_weights
    missed = np.exp(quiet + panels.log_chances(np.array([high]), above=False)[0]).sum()
    calm = np.exp(quiet).sum()
    return ThresholdErrors(rule.name, max(0.0, float(1 - calm)), float(missed), at_once=False)


def epsilon_for_threshold(
    mechanism: str | Family = "above-threshold",
    *,
    n: int,
    margin: object,
    with_probability: object = "0.95",
    sensitivity: object = 1,
    monotonic: bool = False,
) -> float:
    """Return the least ε at which the answer is right with this probability. Data-free.

    The values are those of ``threshold_errors``: only the last of them is above the threshold.

    Example:
        >>> round(epsilon_for_threshold(n=52, margin=20, monotonic=True), 3)
        0.622
    """
    level = probability("with_probability", with_probability)
    if not 0 < level < 1:
        raise refuse("with_probability", with_probability, "strictly between 0 and 1")
    allowed = float(1 - level)

    def excess(log_epsilon: float) -> float:
        made = _made(mechanism, Fraction(math.exp(log_epsilon)), sensitivity, monotonic)
        found = threshold_errors(
            made, n=n, margin=margin, sensitivity=sensitivity, monotonic=monotonic
        )
        return found.wrong - allowed

    found = least_root(excess, farthest=_FARTHEST)
    if found is None:
        raise ParameterError(
            "no ε is enough: give a larger ⟨margin⟩ or a smaller ⟨with_probability⟩"
        )
    return float_up(Fraction(math.exp(found)))


def _made(
    mechanism: str | Family, epsilon: Fraction, sensitivity: object, monotonic: bool
) -> CrossingRule | Mechanism:
    if isinstance(mechanism, str) and mechanism in STREAMS:
        return STREAMS[mechanism](
            epsilon, threshold=0, sensitivity=sensitivity, monotonic=monotonic
        )
    if isinstance(mechanism, str):
        raise refuse("mechanism", mechanism, "one of " + ", ".join(STREAMS))
    return member(mechanism, epsilon)


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """A comparison of mechanisms for a threshold at one ε.

    Example:
        >>> print(recommend_threshold(1, n=52, margin=20, monotonic=True).advice[:46])
        On a stream use above-threshold: wrong with pr
    """

    epsilon: Fraction
    options: tuple[ThresholdErrors, ...]

    @property
    def best(self) -> ThresholdErrors:
        """The mechanism least likely to be wrong, among those that need not know all values at once."""
        return min((o for o in self.options if not o.at_once), key=lambda option: option.wrong)

    @property
    def advice(self) -> str:
        """One sentence that names the mechanism to use and the reason."""
        overall = min(self.options, key=lambda option: option.wrong)
        said = (
            f"On a stream use {self.best.mechanism}: wrong with probability "
            f"{rounded(self.best.wrong, up=True)}."
        )
        if overall.at_once:
            said += (
                f" If all values are known at once and you want the largest, {overall.mechanism} with one "
                f'more candidate for "none of them" is wrong with probability '
                f"{rounded(overall.wrong, up=True)}."
            )
        return said

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per mechanism."""
        return [{**asdict(option), "wrong": option.wrong} for option in self.options]


def recommend_threshold(
    epsilon: object,
    *,
    n: int,
    margin: object,
    sensitivity: object = 1,
    monotonic: bool = False,
    others: Iterable[Family] = (PermuteAndFlip, Exponential),
) -> ThresholdAdvice:
    """Compare stream rules with mechanisms that choose the largest value, at the same ε. Data-free.

    Example:
        >>> advice = recommend_threshold(1, n=52, margin=10, monotonic=True)
        >>> advice.best.mechanism
        'above-threshold'
    """
    amount = positive("epsilon", epsilon)
    families: list[str | Family] = [*STREAMS, *others]
    return ThresholdAdvice(
        amount,
        tuple(
            threshold_errors(
                _made(family, amount, sensitivity, monotonic),
                n=n,
                margin=margin,
                sensitivity=sensitivity,
                monotonic=monotonic,
            )
            for family in families
        ),
    )
