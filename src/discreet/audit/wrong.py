"""Mechanisms that are known to be wrong, with their exact laws: the audit must convict every one.

Each states the guarantee that its author believed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.tables import Tables
from discreet.guarantees import ApproxDP, Guarantee, PureDP
from discreet.mechanisms import Exponential, ExponentialRandomizedResponse
from discreet.numbers.balls import ball_of, precision
from discreet.scores import Scores

Made = tuple[Any, Guarantee]
NOTHING = "nothing is safe to say"
_CAP = 24
_THRESHOLD = 8


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong mechanism at any ε, what the audit is told, and what is wrong with it."""

    make: Callable[[Fraction], Made]
    about: str
    options: dict[str, Any] = field(default_factory=dict)


def _randomized_response(cost: Fraction) -> Made:
    mechanism = ExponentialRandomizedResponse(epsilon=cost, truth="0.75")
    return mechanism.probabilities, PureDP(cost)


def _with_its_maximum(cost: Fraction) -> Made:
    """One-sided geometric noise on two counts; the winner comes with its noisy count."""

    def law(table: tuple[str, ...]) -> dict[Any, Any]:
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
                    # A tie goes to the first.
                    found[label, value] = alone * below(1 - place, value + (place == 0))
        found["either", f"{_CAP} or more"] = 1 - sum(found.values(), arb(0))
        return found

    return law, PureDP(cost)


def _delta_without_the_threshold(cost: Fraction) -> Made:
    """A value that nobody listed is shown if its noisy count reaches T; δ was computed for passing T."""

    def passes(count: int, threshold: int) -> Any:
        """Pr[count + N ≥ T] for two-sided geometric noise N, below the threshold."""
        ratio = (-ball_of(cost)).exp()
        steps = threshold - count
        if steps > 0:
            return ratio**steps / (1 + ratio)
        return 1 - ratio ** (1 - steps) / (1 + ratio)

    def law(table: tuple[str, ...]) -> dict[Any, Any]:
        shown = passes(len(table), _THRESHOLD) if table else ball_of(0)
        return {"rare": shown, NOTHING: 1 - shown}

    with precision(200):
        delta = Fraction(float(passes(1, _THRESHOLD + 1).upper())) * (1 + Fraction(1, 10**12))
    return law, ApproxDP(cost, delta)


def _underflowing_quantile(cost: Fraction) -> Made:
    def law(scores: Any) -> Any:
        weights = np.exp(float(cost / scores.range_distance) * np.array(scores.values))
        return weights / weights.sum()

    return law, PureDP(cost)


def _candidates_from_the_data(cost: Fraction) -> Made:
    def law(table: tuple[str, ...]) -> dict[Any, Any]:
        values = sorted(set(table))
        if not values:
            return {NOTHING: 1}
        counts = Scores([table.count(value) for value in values], sensitivity=1, monotonic=True)
        return dict(zip(values, Exponential(epsilon=cost).ball_probabilities(counts), strict=True))

    return law, PureDP(cost)


def _little_argmax(cost: Fraction) -> Made:
    def law(scores: Any) -> Any:
        values = np.array(scores.values)
        weights = np.exp(float(cost / scores.range_distance) * (values - values.max()))
        best = values == values.max()
        return 0.97 * weights / weights.sum() + 0.03 * best / best.sum()

    return law, PureDP(cost)


WRONG: dict[str, Wrong] = {
    "exponential-randomized-response": Wrong(
        _randomized_response, "the set that it answers from moves with the data", {"n": (2, 3)}
    ),
    "noisy-max-with-its-maximum": Wrong(
        _with_its_maximum,
        "the noisy maximum is released beside the winner",
        {"inputs": Tables("ab", rows=2, most=4)},
    ),
    "delta-without-the-threshold": Wrong(
        _delta_without_the_threshold,
        "δ leaves out the mass at the threshold",
        {"inputs": Tables(["rare"], rows=2, most=_THRESHOLD)},
    ),
    "underflowing-quantile": Wrong(
        _underflowing_quantile, "weights vanish when everyone is far from the candidates", {"n": 2}
    ),
    "candidates-from-the-data": Wrong(
        _candidates_from_the_data, "only values that occur can be chosen", {"inputs": Tables("ab")}
    ),
    "a-little-argmax": Wrong(
        _little_argmax, "three answers in a hundred are the best candidate", {"monotonic": False}
    ),
}
"""By name."""
