"""The accountants against the best possible adversary, who sees every answer before the next question.

The adversary knows the two neighbours. It picks each release from a list, or stops, to make the divergence at
the cap's ε as large as possible. Dynamic programming computes the maximum exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest

from discreet import ApproxDP, BoundedRange, PureDP
from discreet.accounting import Event
from discreet.accounting.accountants import Amount, accountant_for
from discreet.guarantees import Guarantee

Outcomes = tuple[tuple[float, float], ...]
"""For each answer: its probability under the first neighbour, and its privacy loss."""


def _response(epsilon: float, leak: float = 0.0) -> Outcomes:
    high = 1 / (1 + math.exp(-epsilon))
    sure = ((leak, math.inf),) if leak else ()
    return (*sure, ((1 - leak) * high, epsilon), ((1 - leak) * (1 - high), -epsilon))


def _two_points(epsilon: float, offset: float) -> Outcomes:
    high = math.expm1(offset - epsilon) / math.expm1(-epsilon)
    return ((high, offset), (1 - high, offset - epsilon))


MENU: list[tuple[Guarantee, Outcomes]] = [
    (PureDP("0.25"), _response(0.25)),
    (PureDP("0.5"), _response(0.5)),
    (BoundedRange("0.5"), _two_points(0.5, 0.25)),
    (BoundedRange("0.5"), _two_points(0.5, 0.4)),
    (BoundedRange(1), _two_points(1.0, 0.7)),
    (ApproxDP(0, "0.005"), _response(0.0, 0.005)),
    (ApproxDP("0.25", "0.01"), _response(0.25, 0.01)),
]


def _worst(cap: Guarantee, accountant: str | None, target: float) -> float:
    """Return the largest divergence at ``target`` that any adaptive adversary reaches under the filter."""
    counting = accountant_for(cap, accountant)
    limits = counting.limits(cap)
    menu = [
        (counting.amount(Event(guarantee)), outcomes)
        for guarantee, outcomes in MENU
        if counting.counts_delta or not isinstance(guarantee, ApproxDP)
    ]

    @cache
    def reach(left: Amount, thousandths: int) -> float:
        best = max(0.0, -math.expm1(target - thousandths / 1000))
        for amount, outcomes in menu:
            if amount.fits(left):
                best = max(
                    best, math.fsum(p * after(left - amount, thousandths, g) for p, g in outcomes)
                )
        return best

    def after(left: Amount, thousandths: int, gain: float) -> float:
        return 1.0 if gain == math.inf else reach(left, thousandths + round(1000 * gain))

    return reach(limits, 0)


def test_pure_budgets_have_no_divergence_beyond_their_cap() -> None:
    assert _worst(PureDP(1), None, 1.0) == 0
    assert _worst(PureDP(1), None, 0.999) > 0, "the adversary uses all of it"


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (Fraction(1), Fraction(1, 20)),
        (Fraction(1), Fraction(1, 5)),
        (Fraction(3, 2), Fraction(1, 20)),
    ],
)
@pytest.mark.parametrize("accountant", ["rho-delta", "epsilon-delta"])
def test_budgets_with_delta_hold_against_every_adversary(
    epsilon: Fraction, delta: Fraction, accountant: str
) -> None:
    reached = _worst(ApproxDP(epsilon, delta), accountant, float(epsilon))
    assert 0 < reached <= float(delta)
