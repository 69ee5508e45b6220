"""Mechanisms known to be wrong, with exact distributions. The audit must refute every one.

Each states the guarantee that its author claimed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet._exact.numbers.balls import ball_of, precision
from discreet.audit.adapters import adapter
from discreet.audit.tables import Tables
from discreet.guarantees import ApproxDP
from discreet.mechanisms import Exponential, ExponentialRandomizedResponse
from discreet.scores import Scores

NOTHING = "nothing is safe to say"
_CAP = 24
_THRESHOLD = 8

_wrong = partial(adapter, "wrong", module="discreet")


@_wrong(
    "exponential-randomized-response",
    about="the set that it answers from moves with the data",
    options={"n": (2, 3)},
)
def _randomized_response(scores: Any, cost: Fraction) -> Any:
    return ExponentialRandomizedResponse(epsilon=cost, truth="0.75").probabilities(scores)


@_wrong(
    "noisy-max-with-its-maximum",
    about="the noisy maximum is released beside the winner",
    options={"inputs": Tables("ab", rows=2, most=4)},
)
def _with_its_maximum(table: tuple[str, ...], cost: Fraction) -> dict[Any, Any]:
    """Add one-sided geometric noise to two counts, and release the winner with its noisy count."""
    from flint import arb

    ratio = (-ball_of(cost)).exp()
    counts = [table.count(label) for label in "ab"]

    def below(place: int, value: int) -> Any:
        steps = value - counts[place]
        return 1 - ratio**steps if steps > 0 else arb(0)

    found: dict[Any, Any] = {}
    for value in range(_CAP):
        for place, label in enumerate("ab"):
            if value >= counts[place]:
                alone = (1 - ratio) * ratio ** (value - counts[place])
                # In a tie the first one wins.
                found[label, value] = alone * below(1 - place, value + (place == 0))
    found["either", f"{_CAP} or more"] = 1 - sum(found.values(), arb(0))
    return found


def _passes(count: int, threshold: int, cost: Fraction) -> Any:
    """Return Pr[count + N ≥ T] for two-sided geometric noise N."""
    ratio = (-ball_of(cost)).exp()
    steps = threshold - count
    if steps > 0:
        return ratio**steps / (1 + ratio)
    return 1 - ratio ** (1 - steps) / (1 + ratio)


def _delta_for_passing(cost: Fraction) -> ApproxDP:
    with precision(200):
        delta = float(_passes(1, _THRESHOLD + 1, cost).upper())
    return ApproxDP(cost, Fraction(delta) * (1 + Fraction(1, 10**12)))


@_wrong(
    "delta-without-the-threshold",
    claim=_delta_for_passing,
    about="δ leaves out the mass at the threshold",
    options={"inputs": Tables(["rare"], rows=2, most=_THRESHOLD)},
)
def _delta_without_the_threshold(table: tuple[str, ...], cost: Fraction) -> dict[Any, Any]:
    """Show an unlisted value if its noisy count reaches T, although δ was computed for counts above T."""
    shown = _passes(len(table), _THRESHOLD, cost) if table else ball_of(0)
    return {"rare": shown, NOTHING: 1 - shown}


@_wrong(
    "underflowing-quantile",
    about="weights vanish when everyone is far from the candidates",
    options={"n": 2},
)
def _underflowing_quantile(scores: Any, cost: Fraction) -> Any:
    weights = np.exp(float(cost / scores.range_distance) * np.array(scores.values))
    return weights / weights.sum()


@_wrong(
    "candidates-from-the-data",
    about="only values that occur can be chosen",
    options={"inputs": Tables("ab")},
)
def _candidates_from_the_data(table: tuple[str, ...], cost: Fraction) -> dict[Any, Any]:
    values = sorted(set(table))
    if not values:
        return {NOTHING: 1}
    counts = Scores([table.count(value) for value in values], sensitivity=1, monotonic=True)
    return dict(zip(values, Exponential(epsilon=cost).ball_probabilities(counts), strict=True))


@_wrong(
    "a-little-argmax",
    about="three answers in a hundred are the best candidate",
    options={"monotonic": False},
)
def _little_argmax(scores: Any, cost: Fraction) -> Any:
    values = np.array(scores.values)
    weights = np.exp(float(cost / scores.range_distance) * (values - values.max()))
    best = values == values.max()
    return 0.97 * weights / weights.sum() + 0.03 * best / best.sum()


WRONG = (
    _randomized_response,
    _with_its_maximum,
    _delta_without_the_threshold,
    _underflowing_quantile,
    _candidates_from_the_data,
    _little_argmax,
)
