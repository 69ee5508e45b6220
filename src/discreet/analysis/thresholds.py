"""Plan the use of a threshold before any budget is spent: false alarms, misses, ε and alternatives.

Suppose that every value differs from the threshold T by at least a margin. Two cases can be hardest: all
values are at T − margin; or all are, except the last, which is at T + margin. With lower values below T,
higher values above T, or fewer values before the first one above T, the right answer only becomes more
likely. Which of the two cases is harder depends on the mechanism, ε and the number of values.
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
from discreet.mechanisms.facts import Floats
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

_FARTHEST = 60.0


@dataclass(frozen=True, slots=True)
class ThresholdErrors:
    """The probabilities that a mechanism's answer about a threshold is wrong.

    Attributes:
        mechanism: the name of the mechanism that answers.
        false_alarm: the probability that it reports a value below the threshold, if only the last is above.
        miss: the probability that it reports no value, if only the last is above.
        false_alarm_if_none: the probability that it reports a value, if none is above the threshold.
        at_once: whether it must know all values before the first answer.

    Example:
        >>> found = threshold_errors(CrossingRule(1, threshold=0, sensitivity=1), n=1, margin=15)
        >>> round(found.miss, 4), round(found.false_alarm_if_none, 4), round(found.wrong, 4)
        (0.0017, 0.0046, 0.0046)
    """

    mechanism: str
    false_alarm: float
    miss: float
    false_alarm_if_none: float
    at_once: bool

    @property
    def wrong(self) -> float:
        """The probability of a wrong answer in the harder of the two cases."""
        return min(1.0, max(self.false_alarm + self.miss, self.false_alarm_if_none))


def threshold_errors(
    mechanism: CrossingRule | Mechanism,
    *,
    n: int,
    margin: object,
    sensitivity: object = 1,
    monotonic: bool = False,
) -> ThresholdErrors:
    """Return the probabilities of a false alarm and of a miss among ``n`` values, in the two hardest cases.

    In one case, the last value is one ``margin`` above the threshold, and all others are one ``margin``
    below it. In the other case, all values are one ``margin`` below it.
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

    def chances(values: list[float]) -> Floats:
        offered = [*values, 0.0]
        return mechanism.probabilities(
            Scores(offered, sensitivity=sensitivity, monotonic=monotonic)
        )

    one_above = chances([-away] * (count - 1) + [away])
    return ThresholdErrors(
        mechanism.name,
        false_alarm=float(one_above[: count - 1].sum()),
        miss=float(one_above[-1]),
        false_alarm_if_none=float(chances([-away] * count)[:count].sum()),
        at_once=True,
    )


def _of_rule(rule: CrossingRule, n: int, away: float) -> ThresholdErrors:
    correction = float(rule.scales.correction)
    offsets = np.array([-away - correction, away - correction])
    panels = Panels(rule.scales, offsets.tolist(), longest=n, steepest=n)
    below, above = panels.log_chances(offsets, above=False)
    # If a value below the threshold is certainly reported, ``below`` is −∞, and 0 · −∞ is NaN.
    earlier = (n - 1) * below if n > 1 else np.zeros_like(below)
    weights = np.exp(panels.log_weights)

    def alarm(quiet: Floats) -> float:
        return min(1.0, float(-(weights * np.expm1(quiet)).sum()))

    return ThresholdErrors(
        rule.name,
        false_alarm=alarm(earlier),
        miss=float((weights * np.exp(earlier + above)).sum()),
        false_alarm_if_none=alarm(n * below),
        at_once=False,
    )


def epsilon_for_threshold(
    mechanism: str | Family = "above-threshold",
    *,
    n: int,
    margin: object,
    with_probability: object = "0.95",
    sensitivity: object = 1,
    monotonic: bool = False,
) -> float:
    """Return the least ε at which the answer is right with this probability; zero if every ε is enough.

    This holds for all values that are at least ``margin`` away from the threshold. Data-free.

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

    if excess(-_FARTHEST) <= 0:
        return 0.0
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
