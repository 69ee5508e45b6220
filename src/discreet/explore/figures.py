"""All numbers on the page for one set of choices, as plain values for JSON. **Not private**."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import float_up
from discreet._exact.numbers.printing import jsonable, percent, rounded
from discreet.analysis.error import quantile_of
from discreet.explore import budget, sentences
from discreet.explore.bars import bars_of, score_range, summed
from discreet.explore.choices import Choices
from discreet.explore.recipes import recipes_for
from discreet.explore.risk import risk_figures
from discreet.explore.seen_scores import (
    PER_DECADE,
    Point,
    SeenScores,
    after,
    grid_steps,
    least_positive_root,
    scale_at,
    seen_by,
)
from discreet.explore.settings import is_private, mechanism_at
from discreet.explore.uploads import LARGEST_SCORE
from discreet.guarantees import ZCDP, ApproxDP, Guarantee, PureDP

LOWEST, HIGHEST = 0.01, 10.0
"""The range of ε in the charts, extended if the chosen ε is outside it."""
_FAR = 1e12
_VISIBLE = 1e-4
_FEWEST = 3
"""A line with fewer points than this is not drawn."""


_Need = tuple[float | None, str]
"""The ε at which a mechanism is accurate enough, and a sentence that says so."""


def figures(
    choices: Choices, study: SeenScores, *, seconds: tuple[float, float] = (0.04, 0.12)
) -> dict[str, Any]:
    """Compute the page's numbers; if time runs out, curves lack some points and ``complete`` is false.

    Args:
        choices: the state of the page.
        study: the scores, and the results cached for them.
        seconds: the approximate time limits for the curves, first for new scores and then for known ones. The
            first is short, because the user may be dragging a bar, but enough for a thousand candidates,
            because a second request would cost more than the time saved.
    """
    bars = bars_of(study, choices.labels)
    now = {name: _now(choices, study, name) for name in choices.mechanisms}
    rival = _rival_epsilon(choices, study)
    crossing = budget.crossover(choices.epsilon, rival, choices.delta)
    passed = after(seconds[0] if study.new else seconds[1])
    chosen = float(choices.epsilon)
    steps = grid_steps(choices.range_distance, min(LOWEST, chosen), max(HIGHEST, chosen))
    known = study.curves(choices.mechanisms, steps, choices.setting, passed)
    needs = {name: _need(choices, study, name, known[name], passed) for name in choices.mechanisms}
    complete = (
        all(len(points) == len(steps) for points in known.values()) and None not in needs.values()
    )
    risk = risk_figures(choices, study)
    low, high = score_range(study.values)
    result: dict[str, Any] = {
        "complete": complete,
        "scores": {
            "count": len(study),
            "bars": [{"label": bar.label, "place": bar.place, "score": bar.score} for bar in bars],
            "low": low,
            "high": high,
            "whole": study.values.dtype.kind == "i",
            "largest": LARGEST_SCORE,
            "grouped": len(bars) < len(study),
        },
        "probabilities": [
            {
                "candidate": bar.label,
                "mechanism": sentences.series(name),
                "probability": chance,
                "score": bar.score,
            }
            for name in choices.mechanisms
            for bar, chance in zip(bars, summed(bars, now[name]["mass"]), strict=True)
        ],
        **_curve_rows(choices, study, known),
        "chosen": [{"epsilon": chosen}],
        "now": [_row(choices, name, now[name], needs[name]) for name in choices.mechanisms],
        "budget": {
            "rows": budget.budget_rows(choices.epsilon, rival, choices.releases, choices.delta),
            "chosen": [{"releases": choices.releases}],
            "rival_epsilon": float_up(rival),
            "crossover": crossing,
        },
        "risk": risk,
        "recipes": recipes_for(choices),
        "spread": float(study.errors[-1]),
    }
    result["empty"] = {}
    if study.errors[-1] == 0:
        words = "All candidates have the same score: no answer is worse than another."
        result["empty"] = {"error": words}
    elif complete and len({row["epsilon"] for row in result["error"]}) < _FEWEST:
        words = "One candidate is far ahead: the expected error is close to zero at every ε shown."
        result["empty"] = {"error": words}
    if complete and all(row["beyond"] < _VISIBLE for row in result["tail"]):
        words = f"At every ε shown, fewer than one answer in {round(1 / _VISIBLE):,} misses by too much."
        result["empty"]["tail"] = words
    result["verdicts"] = sentences.verdicts(choices, result)
    result["in_one"] = sentences.in_one(choices, result)
    result["balance"] = _balance(choices, result)
    result["text"] = sentences.alternatives(choices, result)
    plain: dict[str, Any] = jsonable(result)
    return plain


def _now(choices: Choices, study: SeenScores, name: str) -> dict[str, Any]:
    mass = study.masses(name, choices.epsilon, choices.setting)
    allowed = int(np.searchsorted(study.errors, float(choices.tolerance), side="right"))
    ties = int(np.searchsorted(study.errors, 0.0, side="right"))
    return {
        "mass": mass,
        "expected_error": float((mass * study.errors).sum()),
        "error_quantile": quantile_of(study.errors, mass, choices.level),
        "best_probability": float(mass[:ties].sum()),
        "beyond": float(mass[allowed:].sum()),
    }


def _row(choices: Choices, name: str, now: dict[str, Any], need: _Need | None) -> dict[str, Any]:
    mechanism = mechanism_at(name, choices.setting.delta, epsilon=choices.epsilon)
    promise = mechanism.promise_at(choices.range_distance)
    totals = budget.total(name, choices.epsilon, choices.releases, choices.delta)
    return {
        "mechanism": name,
        "private": mechanism.private,
        "proof": proof_of(promise),
        "expected_error": now["expected_error"],
        "error_quantile": now["error_quantile"],
        "best_probability": now["best_probability"],
        "beyond": now["beyond"],
        "need": None if need is None else need[0],
        "need_words": None if need is None else need[1],
        "rho": promise.to(ZCDP).rho,
        "approx": promise.to(ApproxDP, delta=choices.delta).epsilon,
        "total_pure": totals.pure.epsilon,
        "total_rho": totals.zcdp.rho,
        "total_approx": totals.approx.epsilon,
    }


def proof_of(promise: Guarantee) -> str | None:
    """Return the proof that a guarantee implies ε-DP; if there is none, the proof of the guarantee."""
    proof = promise.to(PureDP).proof or promise.proof
    return None if proof is None else str(proof)


def _curve_rows(
    choices: Choices, study: SeenScores, known: dict[str, dict[int, Point]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the error and tail charts; errors near 0 are omitted, as the axis is logarithmic."""
    cut = study.cut_at(float(choices.tolerance))
    points = [
        (
            {
                "mechanism": sentences.series(name),
                "epsilon": float(choices.range_distance / scale_at(step)),
            },
            point,
        )
        for name, of_one in known.items()
        for step, point in of_one.items()
    ]
    least = _VISIBLE * max((point.mean for _, point in points), default=0.0)
    return {
        "error": [
            {**row, "expected_error": point.mean} for row, point in points if point.mean > least
        ],
        "tail": [{**row, "beyond": float(point.beyond[cut])} for row, point in points],
    }


def _balance(choices: Choices, result: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the first chart's rows: the chosen mechanism's misses and risk against ε, with their limits."""
    named, risk = sentences.series(choices.choice), result["risk"]
    rows = [
        {"series": sentences.MISSES, "epsilon": row["epsilon"], "chance": row["beyond"]}
        for row in result["tail"]
        if row["mechanism"] == named
    ]
    limit = float(1 - choices.level)
    limits = [
        {"series": sentences.MISSES, "limit": limit, "words": f"{percent(limit)} allowed"},
    ]
    if risk["bounded"]:
        rows += [
            {"series": sentences.CERTAINTY, "epsilon": row["epsilon"], "chance": row["risk"]}
            for row in risk["rows"]
            if row["releases"] == ("all releases" if choices.releases > 1 else "one release")
        ]
        limit = float(choices.tolerated)
        limits.append(
            {
                "series": sentences.CERTAINTY,
                "limit": limit,
                "words": f"{percent(limit)} tolerated",
            }
        )
    return {"rows": rows, "limits": limits}


def _need(
    choices: Choices,
    study: SeenScores,
    name: str,
    known: dict[int, Point],
    passed: Callable[[], bool],
) -> _Need | None:
    """Return the least ε that is accurate enough, and a sentence about it; None if time has run out."""
    if not is_private(name):
        return None, "No ε helps: it is not private at any ε."
    # The cache holds 1/s for the noise scale s. It is valid for every Δ, because ε = d/s.
    key = ("need", name, choices.level, choices.tolerance, seen_by(name, choices.setting))
    if passed() and key not in study.answers:
        return None
    allowed, tolerance = float(1 - choices.level), float(choices.tolerance)

    def excess(inverse: float) -> float:
        return study.tail_probability(name, 1 / inverse, choices.setting, tolerance) - allowed

    cut = study.cut_at(tolerance)
    good = [1 / float(scale_at(step)) for step, p in known.items() if p.beyond[cut] <= allowed]
    start = min(good, default=1 / float(scale_at(min(known, default=0))))
    inverse = study.answers.of(key, lambda: _least_inverse(excess, start))
    aim = sentences.aim(choices)
    if inverse is None:
        return None, f"No ε is enough for {aim}: too many candidates tie."
    if inverse == 0:
        return 0.0, f"Any ε is enough for {aim}: even a random choice is."
    epsilon = rounded(inverse * float(choices.range_distance), up=True, digits=3)
    return epsilon, f"You need ε = {sentences.figure(epsilon)} for {aim}."


def _least_inverse(excess: Callable[[float], float], start: float) -> float | None:
    """Return the least inverse noise scale that is accurate enough; 0 if all are, None if none is.

    The search begins at ``start``.
    """
    low, high, stride = start, start, 10 ** (1 / PER_DECADE)
    while excess(high) > 0:
        low, high, stride = high, high * stride, stride**2
        if high > start * _FAR:
            return None
    while low == high or excess(low) <= 0:
        high, low, stride = low, low / stride, stride**2 if low < high else stride
        if low < start / _FAR:
            return 0.0
    return least_positive_root(excess, low, high)


def _rival_epsilon(choices: Choices, study: SeenScores) -> Fraction:
    """Return the ε that gives the exponential mechanism the error of permute-and-flip at the chosen ε."""
    scale = float(choices.range_distance / choices.epsilon)

    def search() -> float:
        target = study.mean(budget.REFERENCE, scale, choices.setting)
        blind = float(study.errors.mean())
        # If permute-and-flip is almost certain or almost uniform, there is no error to match.
        if target <= 1e-12 * max(1.0, float(study.errors[-1])) or target >= blind * (1 - 1e-9):
            return 1.0

        def excess(times: float) -> float:
            return study.mean(budget.RIVAL, scale / times, choices.setting) - target

        return least_positive_root(excess, 1.0, 8.0) or 8.0

    times = study.answers.of(("rival", scale), search)
    return choices.epsilon * Fraction(f"{times:.5g}")
