"""Charts of analysis results, as Altair objects to show, to save, or to put on a web page.

Every chart is readable without colour: lines differ in dash and marker, bars in shade. vl-convert renders the
charts without a browser or a network. Charts of scores are **not private**, and have a note that says so.
Charts need Altair (``pip install ".[charts]"``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np

from discreet._displays import counted
from discreet._exact.numbers.exact import positive, shown, whole
from discreet.analysis.charts.style import (
    NEUTRAL,
    NOT_PRIVATE,
    altair,
    grouped_bars,
    line_chart,
    ranked,
    save_chart,
    styled,
    titled,
    to_html,
)
from discreet.analysis.charts.thresholds import split_chart
from discreet.analysis.comparison import Comparison, epsilon_list
from discreet.analysis.disclosure import DisclosureRisk
from discreet.analysis.error import error_distribution
from discreet.analysis.family import family_list, family_name
from discreet.analysis.optimality import SHARP_THRESHOLD, THRESHOLD, optimality_ratio
from discreet.analysis.recommendation import recommend
from discreet.analysis.worst_case import (
    expected_error_bound,
    worst_case_error,
    worst_case_lower_bound,
)
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

__all__ = [
    "comparison_chart",
    "crossover_chart",
    "optimality_chart",
    "posterior_chart",
    "probabilities_chart",
    "save_chart",
    "scores_chart",
    "split_chart",
    "tail_chart",
    "to_html",
    "worst_case_chart",
]


_LEAST_TAIL = 1e-12


def comparison_chart(comparison: Comparison) -> Any:
    """Chart expected error against ε, one line per mechanism, both axes logarithmic.

    Example:
        >>> from discreet.analysis import compare
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> comparison_chart(compare(scores, epsilons="0.05:1")).to_dict()["title"]["text"]
        'Expected error against ε'
    """
    records = [row for row in comparison.records() if row["expected_error"] > 0]
    if not records:
        raise ParameterError("there is nothing to draw: every expected error is zero")
    for record in records:
        record["mechanism"] = titled(record["mechanism"], private=record["private"])
    chart = line_chart(
        records,
        x=("epsilon", "ε of one release"),
        y=("expected_error", "expected error (in scores)"),
        log_x=True,
        log_y=True,
    )
    return styled(chart, title="Expected error against ε", subtitle=[NOT_PRIVATE])


def tail_chart(
    scores: Scores, mechanisms: Family | Iterable[Family] | None = None, *, epsilon: object = 1
) -> Any:
    """Chart Pr[error ≥ t] against t, one line per mechanism. **Not private**.

    Example:
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> tail_chart(scores, epsilon="0.1").to_dict()["title"]["text"]
        'How likely is an error of t or more? (ε = 0.1)'
    """
    amount = positive("epsilon", epsilon)
    records = []
    for family in family_list(mechanisms):
        mechanism = member(family, amount)
        errors, mass = error_distribution(mechanism, scores)
        tails = np.minimum(1.0, np.cumsum(mass[::-1])[::-1])
        kept = tails >= _LEAST_TAIL
        # Pr[error ≥ t] is constant up to each error that can occur and drops just after it, so level i
        # begins just after error i − 1.
        starts = np.append(0.0, errors[kept][:-1])
        records += [
            {"mechanism": titled(mechanism.name), "t": float(t), "tail": float(tail)}
            for t, tail in zip(starts, tails[kept], strict=True)
        ]
        records.append({**records[-1], "t": float(errors[kept][-1])})
    chart = line_chart(
        records,
        x=("t", "t (in scores)"),
        y=("tail", "Pr[error ≥ t]"),
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
    """Chart the largest expected error on any data against n, with the closed-form bounds. Data-free.

    Example:
        >>> worst_case_chart(epsilon=1, candidates=[2, 100]).to_dict()["title"]["text"]
        'The worst that any data can do (ε = 1)'
    """
    amount = positive("epsilon", epsilon)
    counts = [2, 3, 5, 10, 20, 50, 100, 300, 1000, 3000, 10_000, 100_000, 10**6]
    counts = [whole("candidates", n, least=2) for n in (candidates or counts)]
    if not counts:
        raise ParameterError("candidates is empty: give at least one number")
    curves: dict[str, Callable[..., float]] = {
        titled(family_name(family)): partial(worst_case_error, member(family, amount))
        for family in family_list(mechanisms)
    }
    curves["upper bound (d/ε) ln n"] = partial(expected_error_bound, amount)
    curves["lower bound (d/4ε) ln n"] = partial(worst_case_lower_bound, amount)
    records = [
        {"curve": name, "n": n, "error": error(n, sensitivity=sensitivity, monotonic=monotonic)}
        for name, error in curves.items()
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
    """Chart average error relative to the best possible mechanism, against ε. Data-free; needs SciPy.

    Example:
        >>> optimality_chart(n=2, k=2, epsilons="0.5,1").to_dict()["title"]["text"]
        'How far from the best possible mechanism? (n = 2, k = 2)'
    """
    alt = altair()
    records = [
        {
            "mechanism": titled(family_name(family)),
            "epsilon": float(epsilon),
            "ratio": optimality_ratio(family, epsilon=epsilon, n=n, k=k, neighbours=neighbours),
        }
        for family in family_list(mechanisms)
        for epsilon in epsilon_list(epsilons)
    ]
    chart = line_chart(records, x=("epsilon", "ε"), y=("ratio", "error ÷ least possible error"))
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
    """Chart the worst expected error per release against the number of releases in one budget. Data-free.

    Example:
        >>> from discreet import ApproxDP
        >>> crossover_chart(ApproxDP(1, "1e-6"), n=10, releases=[1, 50]).to_dict()["title"]["text"]
        'One budget, many releases: ApproxDP(1, 1e-06)'
    """
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
            {"mechanism": titled(option.mechanism), "releases": count, "error": option.error}
            for option in advice.options
        ]
    if not records:
        raise ParameterError("releases is empty: give at least one number")
    chart = line_chart(
        records,
        x=("releases", "releases that share the budget"),
        y=("error", "worst expected error of each (in scores)"),
        log_x=True,
        log_y=True,
    )
    crossed = advice.crossover
    where = f"The lines cross at {crossed} releases." if crossed else "The lines do not cross."
    title = f"One budget, many releases: {budget!r}"
    return styled(chart, title=title, subtitle=[f"{where} n = {n}. Data-free"])


_LONGEST_LABEL = 40


def scores_chart(scores: Scores, *, most: int = 20) -> Any:
    """Chart the largest scores, one bar each. **Not private**.

    Example:
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> scores_chart(scores).to_dict()["title"]["text"]
        'Scores of 3 candidates'
    """
    chosen = _first(scores, most)
    counts = _counted(len(chosen), len(scores), "largest scores")
    records = [
        {"candidate": _label(scores, index), "score": float(scores.values[index])}
        for index in chosen
    ]
    return styled(
        _bars(records, x=altair().X("score:Q", title="score")),
        title=f"Scores of {counts}" if len(chosen) == len(scores) else counts.capitalize(),
        subtitle=["Not private: these are the data"],
        height=max(80, 20 * len(records)),
        width=420,
    )


def _bars(records: list[dict[str, Any]], *, x: Any) -> Any:
    """Draw one bar for each record, in the given order; the first field is the label."""
    alt = altair()
    name = next(iter(records[0]))
    y = alt.Y(f"{name}:N", sort=[record[name] for record in records], title=None)
    return alt.Chart(alt.Data(values=records)).mark_bar(color=NEUTRAL).encode(y=y, x=x)


def probabilities_chart(
    scores: Scores,
    mechanisms: Family | Iterable[Family] | None = None,
    *,
    epsilon: object = 1,
    most: int = 10,
) -> Any:
    """Chart each mechanism's probability of choosing each of the best candidates. **Not private**.

    The best candidates have the largest scores, or the smallest if all mechanisms look for the smallest.

    Example:
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> probabilities_chart(scores, epsilon="0.1").to_dict()["title"]["text"]
        'Who is chosen how often? (ε = 0.1, 3 candidates)'
    """
    amount = positive("epsilon", epsilon)
    families = [member(family, amount) for family in family_list(mechanisms)]
    looks = {mechanism.optimize for mechanism in families}
    if len(looks) > 1:
        raise ParameterError(
            "all mechanisms must look for the largest score, or all for the smallest"
        )
    chosen = _first(scores, most, optimize=looks.pop())
    records = [
        {
            "candidate": _label(scores, index),
            "mechanism": titled(mechanism.name, private=mechanism.private),
            "probability": float(mass[index]),
        }
        for mechanism in families
        for mass in (mechanism.probabilities(scores),)
        for index in chosen
    ]
    names = ranked(str(record["mechanism"]) for record in records)
    bars = grouped_bars(
        altair().Data(values=records),
        candidates=[_label(scores, index) for index in chosen],
        names=names,
        stroke="#222222",
        strokeWidth=0.5,
    )
    return styled(
        bars,
        title=f"Who is chosen how often? (ε = {shown(amount)}, {_counted(len(chosen), len(scores))})",
        subtitle=[NOT_PRIVATE],
        height=max(120, 14 * len(records) + 10 * len(chosen)),
        width=420,
    )


def posterior_chart(risk: DisclosureRisk) -> Any:
    """Chart the attacker's belief in each world after the most revealing answer, with the bound.

    Example:
        >>> from discreet.analysis import disclosure_risk
        >>> worlds = [Scores(q, sensitivity=1, monotonic=True) for q in ([3, 2], [2, 2])]
        >>> posterior_chart(disclosure_risk(PermuteAndFlip(epsilon=1), worlds)).to_dict()["title"]["text"]
        'The most telling answer: 1'
    """
    alt = altair()
    column = int(np.argmax(risk.posterior.max(axis=0)))
    records = [
        {"world": f"world {place + 1}", "belief": float(belief)}
        for place, belief in enumerate(risk.posterior[:, column])
    ]
    x = alt.X("belief:Q", title="belief after the answer", scale=alt.Scale(domain=[0, 1]))
    bound = (
        alt.Chart(alt.Data(values=[{"at": risk.bound}]))
        .mark_rule(strokeDash=[4, 3], strokeWidth=2, color="#222222")
        .encode(x=alt.X("at:Q"))
    )
    told = wrap(risk.warning, 80) if risk.warning else ["Dashed rule: the guarantee's bound"]
    return styled(
        _bars(records, x=x) + bound,
        title=f"The most telling answer: {str(risk.answer)[:_LONGEST_LABEL]}",
        subtitle=told,
        height=max(80, 24 * len(records)),
        width=420,
    )


def _first(scores: Scores, most: int, *, optimize: str = "max") -> list[int]:
    """Return the positions of the ``most`` candidates with the best scores, best first."""
    count = min(whole("most", most), len(scores))
    order = np.argsort(scores.values, kind="stable")
    if optimize == "max":
        order = order[::-1]
    return [int(index) for index in order[:count]]


def _label(scores: Scores, index: int) -> str:
    text = str(scores.candidates[index])
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _counted(shown_count: int, total: int, which: str = "best") -> str:
    if shown_count == total:
        return counted(total, "candidate")
    return f"the {shown_count} {which} of {total} candidates"
