"""Expected errors along ε, computed from probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from discreet.analysis import epsilon_for, expected_error
from discreet.analysis.family import Family, member
from discreet.mechanisms import Exponential, ExponentialRandomizedResponse
from discreet.papers.drawing.panels import Floats
from discreet.scores import Scores

TRUTHS = ("0.25", "0.5", "0.75")
"""The coins of exponential randomized response that its paper speaks of."""


STATED = "0.1"
"""The ε of the figures of that paper that need no data; with Δ = 1 the noise scale is 2Δ/ε = 20."""

KEY = "PF: permute-and-flip. EM: exponential mechanism. ERR: exponential randomized response, coin ¼, ½, ¾."
"""What the labels at the curves stand for."""


def responses() -> dict[str, ExponentialRandomizedResponse]:
    """The three coins at that ε."""
    return {truth: ExponentialRandomizedResponse(epsilon=STATED, truth=truth) for truth in TRUTHS}


def response(truth: str) -> Family:
    """Exponential randomized response with this coin, at an ε to be given."""
    return partial(ExponentialRandomizedResponse, truth=truth)


def response_label(truth: str) -> str:
    """Its name at a curve.

    Example:
        >>> response_label("0.75")
        'ERR ¾'
    """
    return "ERR " + {"0.25": "¼", "0.5": "½", "0.75": "¾"}[truth]


def response_look(truth: str) -> str:
    """Its look."""
    return {"0.25": "err25", "0.5": "err50", "0.75": "err75"}[truth]


def errors(family: Family, scores: Scores, epsilons: Sequence[float] | Floats) -> Floats:
    """The expected error at each ε. **Not private**."""
    return np.array(
        [expected_error(member(family, float(epsilon)), scores) for epsilon in epsilons]
    )


def useful_epsilons(scores: Scores, count: int, *, least_error: float = 1.0) -> Floats:
    """Equal steps of ε up to where the exponential mechanism's error falls to ``least_error``.

    The papers cut their plots there.
    """
    last = epsilon_for(Exponential, scores, expected_error=least_error)
    return last * np.arange(1, count + 1) / count
