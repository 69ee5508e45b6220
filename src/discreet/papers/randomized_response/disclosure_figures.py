"""Exponential randomized response, Section IV: the risk of disclosure, as printed and really."""

from __future__ import annotations

import math

import numpy as np

from discreet.analysis import disclosure_bound, epsilon_for_risk
from discreet.mechanisms import ExponentialRandomizedResponse
from discreet.papers.comparisons import added, number, shown, statement
from discreet.papers.drawing.panels import Axis, Line, Lines
from discreet.papers.figures import Drawn, Settings, figure
from discreet.scores import Scores


@figure(
    "err-fig5",
    "Bound on the risk of disclosure against ε",
    subtitle="Worlds: the data, and one person more or less in each candidate, |Ω| = 2|R| + 1.",
    weight=4,
)
def _figure_5(settings: Settings) -> Drawn:
    epsilons = np.linspace(0.1, 12, settings.size(full=60, quick=16))
    lines = [
        Line(
            f"|R| = {n}",
            epsilons,
            np.array([disclosure_bound(e, worlds=2 * n + 1) for e in epsilons.tolist()]),
            look,
            at=math.log(2 * n),
            shift=(8.0, 2.0),
        )
        for n, look in ((2, "1"), (10, "2"), (100, "3"), (1000, "4"))
    ]
    printed = Lines(
        "as printed",
        Axis("ε", domain=(0.0, 12.0)),
        Axis("bound on the risk", domain=(0.0, 1.0)),
        lines,
    )
    two = np.array([disclosure_bound(e, worlds=201, steps=2) for e in epsilons.tolist()])
    grid = np.linspace(0.1, 12, settings.size(full=24, quick=8))
    real = np.array([_posterior(e) for e in grid.tolist()])
    really = Lines(
        "really, for 100 candidates",
        Axis("ε", domain=(0.0, 12.0)),
        Axis("risk", domain=(0.0, 1.02)),
        [
            Line("as printed", epsilons, lines[2].ys, "3", at=5.4, shift=(8.0, 4.0)),
            Line("any ε-private mechanism", epsilons, two, "bound", at=3.4, shift=(8.0, 14.0)),
            Line("ERR ¾", grid, real, "err75", at=1.8, shift=(8.0, 10.0)),
        ],
        rules=[(3.912, "ε = 3.91")],
    )
    at_four = _posterior(4.0)
    return Drawn(
        [[printed, really]],
        [
            number(
                "ε for 100 candidates at a risk of 20%",
                paper="4",
                ours=epsilon_for_risk("0.2", worlds=201),
                remark="the formula as printed",
            ),
            added(
                "the same, for an ε-private mechanism under adding and removing a person",
                ours=shown(epsilon_for_risk("0.2", worlds=201, steps=2)),
                remark="worlds that say who is missing are two steps apart: e^−2ε, half the ε",
            ),
            statement(
                "ERR ¾ at ε = 4, 100 candidates",
                paper="risk at most 20%",
                ours=f"an attacker can become {at_four:.1%} sure",
                holds=at_four <= 0.21,
                remark="scores 101, 99, 98, …: the last candidate is an answer that practically only "
                "one world gives",
            ),
        ],
        ["The theorem behind this figure rests on the privacy of ERR, and falls with it."],
    )


def _posterior(epsilon: float) -> float:
    """The largest belief that an answer of ERR ¾ can give, among 201 worlds around a staircase of 100."""
    stairs = np.array([101, *range(99, 0, -1)])
    worlds = [stairs]
    for place in range(100):
        for move in (-1, 1):
            moved = stairs.copy()
            moved[place] += move
            worlds.append(moved)
    response = ExponentialRandomizedResponse(epsilon=epsilon, truth="0.75")
    logs = np.array([response.log_probabilities(Scores(world, sensitivity=1)) for world in worlds])
    beliefs = np.exp(logs - logs.max(axis=0))
    return float((beliefs.max(axis=0) / beliefs.sum(axis=0)).max())
