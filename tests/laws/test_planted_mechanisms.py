"""Five wrong mechanisms and two right ones, each for a given ε, as a user would write them.

test_promises.py audits the promises of every registered mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from discreet import (
    ExponentialRandomizedResponse,
    PermuteAndFlip,
    PureDP,
    Scores,
)
from discreet.audit import audit

Floats = npt.NDArray[np.float64]


def softmax(exponents: Floats) -> Floats:
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


def half_noise(epsilon: float) -> Callable[[Any], Floats]:
    """Permute-and-flip with half the necessary noise."""

    def probabilities(scores: Scores) -> Floats:
        scale = scores.range_distance / Fraction(repr(epsilon)) / 2
        return PermuteAndFlip(scale=scale).probabilities(scores)

    return probabilities


def missing_factor_two(epsilon: float) -> Callable[[Any], Floats]:
    """The exponential mechanism calibrated to Δ, although scores may move in both directions."""
    return lambda scores: softmax(epsilon * scores.values / float(scores.sensitivity))


class WrongTies:
    """The exponential mechanism, but it returns the worst candidate if the two best tie."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def probabilities(self, scores: Scores) -> Floats:
        best = np.sort(scores.values)[-2:]
        if best[0] == best[1]:
            mass = np.zeros(len(scores))
            mass[int(scores.values.argmin())] = 1.0
            return mass
        return softmax(self.epsilon * scores.values / float(scores.range_distance))


def one_candidate_uncalibrated(epsilon: float) -> Callable[[Any], Floats]:
    """The last candidate's score counts three times, and its larger sensitivity is forgotten."""

    def probabilities(scores: Any) -> Floats:
        exponents = epsilon * np.array(scores) / float(scores.range_distance)
        exponents[-1] *= 3
        return softmax(exponents)

    return probabilities


def chained_response(epsilon: float) -> ExponentialRandomizedResponse:
    return ExponentialRandomizedResponse(epsilon=epsilon, truth="0.5")


WRONG: dict[str, Callable[[float], Any]] = {
    "half noise": half_noise,
    "missing factor 2": missing_factor_two,
    "wrong ties": WrongTies,
    "one candidate uncalibrated": one_candidate_uncalibrated,
    "exponential randomized response": chained_response,
}


def written_by_hand(epsilon: float) -> Callable[[Any], Floats]:
    """The exponential mechanism in one line, which ignores underflow."""

    def probabilities(scores: Any) -> Floats:
        weights = np.exp(epsilon * (scores - scores.max()) / float(scores.range_distance))
        return np.asarray(weights / weights.sum())

    return probabilities


def half_uniform(epsilon: float) -> Callable[[Any], Floats]:
    """A fair coin decides between a uniform answer and permute-and-flip."""

    def probabilities(scores: Scores) -> Floats:
        answer = PermuteAndFlip(epsilon=epsilon).probabilities(scores)
        return np.asarray(answer / 2 + 1 / (2 * len(scores)))

    return probabilities


RIGHT: dict[str, Callable[[float], Any]] = {
    "written by hand": written_by_hand,
    "half uniform": half_uniform,
}

EPSILONS = (0.1, 1.0, 5.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_mechanisms_are_refuted(name: str, epsilon: float) -> None:
    verdict = audit(WRONG[name](epsilon), PureDP(epsilon), n=(2, 3), effort="quick")
    assert verdict.status == "refuted"
    assert not verdict.holds
    assert verdict.measured > epsilon
    assert verdict.witness is not None
    assert verdict.witness.value == verdict.measured


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", RIGHT)
def test_right_mechanisms_are_not_refuted(name: str, epsilon: float) -> None:
    subject = RIGHT[name](epsilon)
    verdict = audit(subject, PureDP(epsilon), n=(2, 3), effort="quick")
    assert verdict.status == "not refuted"  # unregistered mechanisms are computed in floats
    assert verdict.witness is None
    assert verdict.measured <= epsilon * (1 + 1e-12)
    assert verdict.worst is not None
