"""The total cost of many releases, and the number at which the exponential mechanism becomes cheaper."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet._exact.numbers.exact import Exact, float_up
from discreet._exact.numbers.searches import least_whole
from discreet.accounting import Composition, Event, compose
from discreet.analysis.charts.style import TITLES
from discreet.explore.settings import mechanism_at
from discreet.guarantees import ZCDP, ApproxDP

REFERENCE, RIVAL = "permute-and-flip", "exponential"
ACCOUNTINGS = ("best at δ", "sum of ε")
_POINTS = 12
_FARTHEST = 1_000_000


@lru_cache(maxsize=4096)
def total(name: str, epsilon: Fraction, releases: int, delta: Fraction) -> Composition:
    """Return the total cost of this many releases by a mechanism; each may depend on earlier answers."""
    mechanism = mechanism_at(name, delta / releases, epsilon=epsilon)
    # The guarantee of a mechanism built from ε is the same at every distance.
    event = Event(mechanism.promise_at(Fraction(1)), mechanism=name, count=releases)
    return compose([event], adaptive=True, delta=delta)


@lru_cache(maxsize=256)
def _each(name: str, epsilon: Fraction) -> tuple[Fraction, Exact]:
    """Return ε and ρ of one release."""
    promise = mechanism_at(name, Fraction(0), epsilon=epsilon).promise_at(Fraction(1))
    return epsilon, promise.to(ZCDP).exact


@lru_cache(maxsize=4096)
def cheapest(name: str, epsilon: Fraction, releases: int, delta: Fraction) -> float:
    """Return the total ε of the releases at this δ: the lesser of the sum of ε and the converted sum of ρ."""
    pure, rho = _each(name, epsilon)
    return min(float_up(pure * releases), ZCDP(rho * releases).to(ApproxDP, delta=delta).epsilon)


def budget_rows(
    epsilon: Fraction, rival_epsilon: Fraction, releases: int, delta: Fraction
) -> list[dict[str, Any]]:
    """Return the budget chart's rows: the cost of two equally accurate mechanisms by number of releases."""
    return [
        {"series": series_name(name, accounting), "releases": count, "epsilon": value}
        for name, each in ((REFERENCE, epsilon), (RIVAL, rival_epsilon))
        for count in _counts(releases)
        for accounting, value in (
            ("best at δ", cheapest(name, each, count, delta)),
            ("sum of ε", float_up(each * count)),
        )
    ]


def crossover(epsilon: Fraction, rival_epsilon: Fraction, delta: Fraction) -> int | None:
    """Return the least number of releases for which the exponential mechanism costs less at equal accuracy.

    Returns None if it is not cheaper for any number up to a million.
    """

    def wins(count: int) -> bool:
        return cheapest(RIVAL, rival_epsilon, count, delta) < cheapest(
            REFERENCE, epsilon, count, delta
        )

    return least_whole(wins, most=_FARTHEST)


def series_name(name: str, accounting: str) -> str:
    """Return the name of the budget chart's line for a mechanism and a way of accounting."""
    return f"{TITLES[name]}, {accounting}"


def _counts(releases: int) -> list[int]:
    last = max(20, 4 * releases)
    counts = {round(math.exp(math.log(last) * place / (_POINTS - 1))) for place in range(_POINTS)}
    return sorted(counts | {1, releases})
