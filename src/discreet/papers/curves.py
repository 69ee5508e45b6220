"""Expected errors along ε, computed from probabilities, and the lines and panels that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from discreet.analysis import epsilon_for, expected_error
from discreet.analysis.family import Family, member
from discreet.mechanisms import (
    Exponential,
    ExponentialRandomizedResponse,
    Mechanism,
    PermuteAndFlip,
)
from discreet.papers.drawing.panels import Axis, Floats, Line, Lines
from discreet.papers.histograms import Counts
from discreet.scores import Scores

ScoresOf: TypeAlias = Callable[[Counts], Scores]
"""From a histogram to the scores of its bins."""

TRUTHS = {"0.25": ("ERR ¼", "err25"), "0.5": ("ERR ½", "err50"), "0.75": ("ERR ¾", "err75")}
"""The coins of exponential randomized response that its paper speaks of, with the label and look of each."""

STATED = "0.1"
"""The ε of the figures of that paper that need no data; with Δ = 1 the noise scale is 2Δ/ε = 20."""

BOTH: dict[str, tuple[type[Mechanism], str]] = {
    "PF": (PermuteAndFlip, "pf"),
    "EM": (Exponential, "em"),
}
"""The two mechanisms of the permute-and-flip paper, with the look of each."""

PF_AND_EM = "PF: permute-and-flip. EM: exponential mechanism."
KEY = f"{PF_AND_EM} ERR: exponential randomized response, coin ¼, ½, ¾."
"""What the labels at the curves stand for."""


def responses() -> dict[str, ExponentialRandomizedResponse]:
    """The three coins at the stated ε."""
    return {truth: ExponentialRandomizedResponse(epsilon=STATED, truth=truth) for truth in TRUTHS}


def response(truth: str) -> Family:
    """Exponential randomized response with this coin, at an ε to be given."""
    return partial(ExponentialRandomizedResponse, truth=truth)


def response_lines(
    xs: Floats | Mapping[str, Floats], values: Mapping[str, Floats], **options: Any
) -> list[Line]:
    """One line for each coin; ``xs`` is the same for all, or one for each."""
    return [
        Line(TRUTHS[t][0], xs if isinstance(xs, np.ndarray) else xs[t], ys, TRUTHS[t][1], **options)
        for t, ys in values.items()
    ]


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


def error_panel(
    title: str,
    epsilons: Floats,
    lines: Sequence[Line],
    *,
    note: str,
    x: str = "ε",
    domain: tuple[float, float] | None = None,
) -> Lines:
    """Errors on a logarithmic scale against ε, from 0 to the last."""
    across = Axis(x, domain=(0.0, 1.02 * float(epsilons[-1])))
    return Lines(title, across, Axis("expected error", log=True, domain=domain), lines, note=note)


def listed(values: Mapping[str, float], form: str = ".2f") -> str:
    """Names and numbers in a row.

    Example:
        >>> listed({"PF": 1.234, "EM": 2})
        'PF 1.23, EM 2.00'
    """
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())
