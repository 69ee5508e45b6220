"""The loss of a witness in ball arithmetic: what it shows is then a proof (docs/proofs/auditing.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.audit.losses import (
    Detail,
    HockeyStickLoss,
    LaplaceLoss,
    Loss,
    PureLoss,
    RangeLoss,
    RenyiLoss,
)
from discreet.audit.subjects import BITS
from discreet.numbers.balls import ball_of, precision


def least_loss(loss: Loss, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
    """A ball around the loss that ``detail`` points at; its lower end is certain to be reached.

    Returns ``None`` where the loss is certainly infinite.
    """
    with precision(BITS):
        if detail.swapped:
            first, second = second, first
        if isinstance(loss, PureLoss):
            return log_ratio(first[detail.outcome], second[detail.outcome])
        if isinstance(loss, RangeLoss):
            assert detail.other is not None
            high = log_ratio(first[detail.outcome], second[detail.outcome])
            low = log_ratio(second[detail.other], first[detail.other])
            return None if high is None or low is None else high + low
        if isinstance(loss, HockeyStickLoss):
            return _excess(first, second, detail.event, ball_of(Fraction(loss.epsilon)))
        if isinstance(loss, LaplaceLoss):
            return _needed_epsilon(first, second, detail)
        assert isinstance(loss, RenyiLoss)
        assert detail.order is not None
        return _renyi(first, second, detail.order)


def log_ratio(first: Any, second: Any) -> Any:
    """The log-ratio ln P − ln Q, None for infinity; where Q may be zero only its upper end is used."""
    from flint import arb

    if second.is_zero() and first > 0:
        return None
    if not first > 0:
        return arb(float("-inf"))
    return (first / (second if second > 0 else second.upper())).log()


def _excess(first: Sequence[Any], second: Sequence[Any], event: Sequence[int], epsilon: Any) -> Any:
    from flint import arb

    inside = sum((first[place] for place in event), arb(0))
    return inside - epsilon.exp() * sum((second[place] for place in event), arb(0))


def _needed_epsilon(first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
    assert detail.threshold is not None
    threshold = ball_of(Fraction(detail.threshold))
    survivor = 1 - _excess(first, second, detail.event, threshold)
    return None if survivor.is_zero() else threshold - 2 * survivor.log()


def _renyi(first: Sequence[Any], second: Sequence[Any], order: float) -> Any:
    from flint import arb

    total = arb(0)
    alpha = ball_of(Fraction(order))
    for p, q in zip(first, second, strict=True):
        if p.is_zero():
            continue
        if q.is_zero():
            return None
        if not p > 0 or not q > 0:
            # x·ln(x/y) ≥ −y/e, and x^α·y^(1−α) ≥ 0: what is unknown can only lower the sum this far.
            total = total - (q.upper() if order == 1 else arb(0))
            continue
        ratio = p / q
        total += p * ratio.log() if order == 1 else p * (ratio.log() * (alpha - 1)).exp()
    return total if order == 1 else total.log() / (alpha - 1) / alpha


def exceeds(value: Any, claimed: Any) -> bool:
    """Whether a loss (None for infinity) is certainly above the claim."""
    if claimed == math.inf:
        return False
    if value is None:
        return True
    return bool(value > ball_of(Fraction(claimed)))


def as_float(value: Any) -> float:
    """A loss ball as a figure: its middle, or its lower end where the ball is wide."""
    if value is None:
        return math.inf
    return float(value.mid() if value.rad() < 1e-6 else value.lower())
