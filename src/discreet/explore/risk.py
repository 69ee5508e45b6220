"""How sure an attacker can become: the proved bound at each ε, and the value for the current scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.analysis.disclosure import disclosure_bound, disclosure_risk, epsilon_for_risk
from discreet.explore.choices import Choices
from discreet.explore.seen_scores import SeenScores, seen_by
from discreet.guarantees import PureDP

_POINTS = 25
_MOST_CANDIDATES = 250


def risk_figures(choices: Choices, study: SeenScores) -> dict[str, Any]:
    """Return how sure an attacker can become: by the guarantee, and by Bayes' rule for one neighbour."""
    worlds, steps = choices.worlds, choices.steps
    chosen = float(choices.epsilon)
    counts = {"one release": 1}
    if choices.releases > 1:
        counts["all releases"] = choices.releases
    rows = []
    for epsilon in np.geomspace(min(0.01, chosen), max(10.0, chosen), _POINTS).tolist():
        for series, count in counts.items():
            bound = disclosure_bound(epsilon * count, worlds=worlds, steps=steps)
            rows.append({"releases": series, "epsilon": epsilon, "risk": bound})
    mechanism = choices.decided
    # The bound needs pure DP: with a δ, some answer may reveal everything.
    bounded = mechanism.promise_at(choices.range_distance).to(PureDP).epsilon < math.inf
    return {
        "rows": rows,
        "chosen": [{"epsilon": chosen}],
        "before": 1 / worlds,
        "private": mechanism.private,
        "bounded": bounded,
        "one": disclosure_bound(choices.epsilon, worlds=worlds, steps=steps) if bounded else 1.0,
        "all": disclosure_bound(choices.epsilon * choices.releases, worlds=worlds, steps=steps)
        if bounded
        else 1.0,
        "tolerated": float(choices.tolerated),
        "epsilon_for_tolerated": epsilon_for_risk(choices.tolerated, worlds=worlds, steps=steps)
        / choices.releases
        if choices.tolerated * worlds > 1 and bounded
        else None,
        "real": _real(choices, study),
    }


def _real(choices: Choices, study: SeenScores) -> dict[str, Any] | None:
    """Return the risk by Bayes' rule for the scores and one neighbour; None if there are many candidates.

    In the neighbour the best score is Δ lower and, unless scores are monotonic, all others are Δ higher.
    """
    if len(study) > _MOST_CANDIDATES:
        return None
    name = choices.choice
    distances = (choices.sensitivity, choices.monotonic)
    key = ("risk", name, choices.epsilon, distances, seen_by(name, choices.setting))
    return study.answers.of(key, lambda: _bayes(choices, study))  # type: ignore[no-any-return] # own value


def _bayes(choices: Choices, study: SeenScores) -> dict[str, Any]:
    here = study.values.astype(np.float64)
    delta = float(choices.sensitivity)
    # Proposition 2 of the permute-and-flip paper: the worst neighbour lowers one candidate and, if
    # scores may move in opposite directions, raises all others.
    there = here.copy() if choices.monotonic else here + delta
    there[0] = here[0] - delta
    found = disclosure_risk(
        choices.decided, [choices.setting.scores(values) for values in (here, there)]
    )
    return {
        "risk": found.risk,
        "bound": found.bound,
        "answer": choices.labels[int(study.order[int(found.answer)])],
        "warning": found.warning,
    }
