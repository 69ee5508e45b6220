"""The cost of a run, stated as an event or a loss distribution of Google's dp-accounting.

dp-accounting's numbers are floats without an error bound, and are used unchanged. The result for the best of
several runs is only as reliable as these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.tuning.profiles import Profile, chords, divergence_at_order, sampled, total_variation

_TAIL = 1e-13
_LARGEST = 64.0


def profile_of_theirs(cost: Any) -> Profile:
    """Return the profile of an event or a loss distribution of dp-accounting."""
    if hasattr(cost, "get_delta_for_epsilon"):
        return Profile(_by_losses(cost.get_delta_for_epsilon))
    if not hasattr(cost, "__attrs_attrs__"):
        raise _unknown(cost)
    if any(type(part).__name__ == "ExponentialMechanismDpEvent" for part in _parts(cost)):
        raise ParameterError(
            "⟨cost⟩: dp-accounting drops counts of the exponential mechanism; use BoundedRange(...) instead"
        )
    from dp_accounting import pld, rdp

    ways: list[Callable[[Fraction], Fraction]] = []
    orders: dict[Fraction, Fraction] = {}
    accountant = rdp.RdpAccountant()
    if accountant.supports(cost):
        accountant.compose(cost)
        for order, value in zip(accountant._orders, accountant._rdp, strict=True):
            if order > 1 and 0 <= value < math.inf:
                orders[Fraction(float(order))] = Fraction(float(value))
        if orders:
            ways.append(_by_orders(orders))
    by_losses = pld.PLDAccountant()
    if by_losses.supports(cost):
        by_losses.compose(cost)
        # The distribution alone is not enough, because the accountant records non-private events separately.
        if by_losses.get_delta(0.0) < 1:
            ways.append(_by_losses(by_losses.get_delta))
    if not ways:
        raise _unknown(cost)

    def divergence(epsilon: Fraction) -> Fraction:
        return min(way(epsilon) for way in ways)

    renyi = (lambda order: orders.get(order, math.inf)) if orders else None
    return Profile(divergence, renyi=renyi, orders=tuple(orders))


def _unknown(cost: object) -> ParameterError:
    return ParameterError(
        f"⟨cost⟩: dp-accounting's accountants give no finite cost for {type(cost).__name__}"
    )


def _parts(event: Any) -> Iterator[Any]:
    yield event
    inner = getattr(event, "event", None)
    for part in [*(getattr(event, "events", None) or ()), *([inner] if inner is not None else ())]:
        yield from _parts(part)


def _by_orders(orders: dict[Fraction, Fraction]) -> Callable[[Fraction], Fraction]:
    least = total_variation(min(orders.values()))
    listed = list(orders.items())
    steer, values = (np.array([float(entry[place]) for entry in listed]) for place in (0, 1))
    constant = np.log1p(-1 / steer) * (steer - 1) - np.log(steer)

    def divergence(epsilon: Fraction) -> Fraction:
        best = int(np.argmin((steer - 1) * (values - float(epsilon)) + constant))
        return min(least, divergence_at_order(*listed[best], epsilon))

    return divergence


def _by_losses(delta_at: Any) -> Callable[[Fraction], Fraction]:
    steps = [_LARGEST * 2.0 ** (-place / 4) for place in range(40)]
    reach = next(
        (larger for larger, smaller in pairwise(steps) if delta_at(smaller) > _TAIL), steps[-1]
    )
    return chords(sampled(delta_at, reach))
