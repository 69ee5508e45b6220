"""Curves: error against ε, against n, against the number of releases; tails; the optimality ratio."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discreet.analysis.bounds import expected_error_bound, worst_case_lower_bound
from discreet.analysis.charts.style import NOT_PRIVATE, altair, line_chart, styled
from discreet.analysis.comparison import Comparison, epsilon_list
from discreet.analysis.error import error_distribution
from discreet.analysis.family import Family, family_list, family_name, member
from discreet.analysis.optimality import SHARP_THRESHOLD, THRESHOLD, optimality_ratio
from discreet.analysis.recommendation import recommend
from discreet.analysis.worst_case import worst_case_error
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.numbers.exact import positive, shown, whole
from discreet.scores import Scores

_LEAST_TAIL = 1e-12


def comparison_chart(comparison: Comparison) -> Any:
    """Expected error against ε, one line per mechanism, both axes logarithmic."""
    records = [row for row in comparison.records() if row["expected_error"] > 0]
    if not records:
        raise ParameterError("there is nothing to draw: every expected error is zero")
    for record in records:
        record["ratio"] = None if record["ratio"] != record["ratio"] else record["ratio"]
        if not record["private"]:
            record["mechanism"] += " (not private)"
    chart = line_chart(
        records,
        x=("epsilon", "ε of one release"),
        y=("expected_error", "expected error (in scores)"),
        series="mechanism",
        log_x=True,
        log_y=True,
    )
    return styled(chart, title="Expected error against ε", subtitle=[NOT_PRIVATE])


def tail_chart(
    scores: Scores, mechanisms: Family | Iterable[Family] | None = None, *, epsilon: object = 1
) -> Any:
    """Pr[error ≥ t] against t, one line per mechanism. **Not private**."""
    amount = positive("epsilon", epsilon)
    records = []
    for family in family_list(mechanisms):
        mechanism = member(family, amount)
        errors, mass = error_distribution(mechanism, scores)
        tails = np.minimum(1.0, np.cumsum(mass[::-1])[::-1])
        kept = tails >= _LEAST_TAIL
        # Pr[error ≥ t] is level up to each error that can occur and drops just after it: level i begins
        # where error i − 1 ends.
        starts = np.append(0.0, errors[kept][:-1])
        records += [
            {"mechanism": mechanism.name, "t": float(t), "tail": float(tail)}
            for t, tail in zip(starts, tails[kept], strict=True)
        ]
        records.append({**records[-1], "t": float(errors[kept][-1])})
    chart = line_chart(
        records,
        x=("t", "t (in scores)"),
        y=("tail", "Pr[error ≥ t]"),
        series="mechanism",
        log_y=True,
        step=True,
        points=len(records) <= 120,
    )
    title = f"How likely is an error of t or more? (ε = {shown(amount)})"
    return styled(chart, title=title, subtitle=[NOT_PRIVATE])


def worst_case_chart(
    mechanisms: Family | Iterable[Family] | None = None,
    *,
    epsilon: object = 1,
    sensitivity: object = 1,
    monotonic: bool = False,
    candidates: Sequence[int] | None = None,
) -> Any:
    """The largest expected error that any data can cause, against n, with the closed bounds. Data-free."""
    amount = positive("epsilon", epsilon)
    counts = [2, 3, 5, 10, 20, 50, 100, 300, 1000, 3000, 10_000, 100_000, 10**6]
    counts = [whole("candidates", n, least=2) for n in (candidates or counts)]
    if not counts:
        raise ParameterError("candidates is empty: give at least one number")
    records = [
        {
            "curve": family_name(family),
            "n": n,
            "error": worst_case_error(member(family, amount), n, sensitivity, monotonic),
        }
        for family in family_list(mechanisms)
        for n in counts
    ]
    bounds = {
        "upper bound (d/ε) ln n": expected_error_bound,
        "lower bound (d/4ε) ln n": worst_case_lower_bound,
    }
    records += [
        {
            "curve": name,
            "n": n,
            "error": bound(amount, n, sensitivity=sensitivity, monotonic=monotonic),
        }
        for name, bound in bounds.items()
        for n in counts
    ]
    chart = line_chart(
        records,
        x=("n", "number of candidates n"),
        y=("error", "worst expected error (in scores)"),
        series="curve",
        log_x=True,
    )
    title = f"The worst that any data can do (ε = {shown(amount)})"
    return styled(chart, title=title, subtitle=["Data-free"])


def optimality_chart(
    mechanisms: Family | Iterable[Family] = PermuteAndFlip,
    *,
    n: int = 4,
    k: int = 8,
    epsilons: object = "0.05:2:24",
    neighbours: str = "worst",
) -> Any:
    """Average error over that of the best possible mechanism, against ε. Data-free; needs SciPy."""
    alt = altair()
    records = [
        {
            "mechanism": family_name(family),
            "epsilon": float(epsilon),
            "ratio": optimality_ratio(family, epsilon=epsilon, n=n, k=k, neighbours=neighbours),
        }
        for family in family_list(mechanisms)
        for epsilon in epsilon_list(epsilons)
    ]
    chart = line_chart(
        records,
        x=("epsilon", "ε"),
        y=("ratio", "error ÷ least possible error"),
        series="mechanism",
    )
    values = [{"at": SHARP_THRESHOLD}, {"at": THRESHOLD}]
    rules = alt.Chart(alt.Data(values=values)).mark_rule(strokeDash=[3, 3], color="#666666")
    marked = chart + rules.encode(x=alt.X("at:Q"))
    program = "the paper's program" if neighbours == "worst" else "private towards all neighbours"
    return styled(
        marked,
        title=f"How far from the best possible mechanism? (n = {n}, k = {k})",
        subtitle=[
            f"Compared with {program}. Data-free",
            "Dashed: permute-and-flip is proved best from ln 2 on; the paper proves it from ln((3+√5)/2) on",
        ],
    )


def crossover_chart(
    budget: Guarantee,
    *,
    n: int,
    releases: Sequence[int] = (1, 2, 3, 5, 8, 12, 20, 35, 60, 100),
    sensitivity: object = 1,
    monotonic: bool = False,
    mechanisms: Iterable[Family] = (PermuteAndFlip, Exponential),
) -> Any:
    """The worst expected error of each of k releases that share one budget, against k. Data-free."""
    families = family_list(mechanisms)
    records = []
    for count in releases:
        advice = recommend(
            budget=budget,
            releases=count,
            mechanisms=families,
            n=n,
            sensitivity=sensitivity,
            monotonic=monotonic,
        )
        records += [
            {"mechanism": option.mechanism, "releases": count, "error": option.error}
            for option in advice.options
        ]
    chart = line_chart(
        records,
        x=("releases", "releases that share the budget"),
        y=("error", "worst expected error of each (in scores)"),
        series="mechanism",
        log_x=True,
        log_y=True,
    )
    crossed = advice.crossover
    where = f"The lines cross at {crossed} releases." if crossed else "The lines do not cross."
    title = f"One budget, many releases: {budget!r}"
    return styled(chart, title=title, subtitle=[f"{where} n = {n}. Data-free"])
