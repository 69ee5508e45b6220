"""Bars: scores, the probabilities that mechanisms give them, and beliefs about worlds. **Not private**."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.analysis.charts.style import NOT_PRIVATE, SHADES, altair, styled
from discreet.analysis.disclosure import DisclosureRisk
from discreet.analysis.family import Family, family_list, member
from discreet.numbers.exact import positive, shown, whole
from discreet.scores import Scores

_LONGEST_LABEL = 40


def scores_chart(scores: Scores, *, most: int = 20) -> Any:
    """The largest scores, one bar each. **Not private**."""
    alt = altair()
    chosen = _largest(scores, most)
    records = [
        {"candidate": _label(scores, index), "score": float(scores.values[index])}
        for index in chosen
    ]
    bars = (
        alt.Chart(alt.Data(values=records))
        .mark_bar(color=SHADES[2])
        .encode(
            y=alt.Y("candidate:N", sort=[record["candidate"] for record in records], title=None),
            x=alt.X("score:Q", title="score"),
        )
    )
    return styled(
        bars,
        title=f"Scores of {_counted(len(chosen), len(scores))}",
        subtitle=["Not private: these are the data"],
        height=max(80, 20 * len(records)),
        width=420,
    )


def probabilities_chart(
    scores: Scores,
    mechanisms: Family | Iterable[Family] | None = None,
    *,
    epsilon: object = 1,
    most: int = 10,
) -> Any:
    """How likely each of the best candidates is to be chosen, by each mechanism. **Not private**."""
    alt = altair()
    amount = positive("epsilon", epsilon)
    families = [member(family, amount) for family in family_list(mechanisms)]
    chosen = _largest(scores, most)
    records = [
        {
            "candidate": _label(scores, index),
            "mechanism": mechanism.name + ("" if mechanism.private else " (not private)"),
            "probability": float(mass[index]),
        }
        for mechanism in families
        for mass in (mechanism.probabilities(scores),)
        for index in chosen
    ]
    names = list(dict.fromkeys(record["mechanism"] for record in records))
    bars = (
        alt.Chart(alt.Data(values=records))
        .mark_bar(stroke="#222222", strokeWidth=0.5)
        .encode(
            y=alt.Y("candidate:N", sort=[_label(scores, index) for index in chosen], title=None),
            yOffset=alt.YOffset("mechanism:N", sort=names),
            x=alt.X(
                "probability:Q", title="probability of being chosen", axis=alt.Axis(format="~%")
            ),
            color=alt.Color(
                "mechanism:N", sort=names, scale=alt.Scale(domain=names, range=_shades(len(names)))
            ),
            tooltip=["candidate:N", "mechanism:N", alt.Tooltip("probability:Q", format=".4g")],
        )
    )
    return styled(
        bars,
        title=f"Who is chosen how often? (ε = {shown(amount)}, {_counted(len(chosen), len(scores))})",
        subtitle=[NOT_PRIVATE],
        height=max(120, 14 * len(records) + 10 * len(chosen)),
        width=420,
    )


def posterior_chart(risk: DisclosureRisk) -> Any:
    """What an attacker believes after the most telling answer, for each world, beside the prior bound."""
    alt = altair()
    column = int(np.argmax(risk.posterior.max(axis=0)))
    records = [
        {"world": f"world {place + 1}", "belief": float(belief)}
        for place, belief in enumerate(risk.posterior[:, column])
    ]
    bars = (
        alt.Chart(alt.Data(values=records))
        .mark_bar(color=SHADES[2])
        .encode(
            y=alt.Y("world:N", sort=[record["world"] for record in records], title=None),
            x=alt.X("belief:Q", title="belief after the answer", scale=alt.Scale(domain=[0, 1])),
        )
    )
    bound = (
        alt.Chart(alt.Data(values=[{"at": risk.bound}]))
        .mark_rule(strokeDash=[4, 3], strokeWidth=2, color="#222222")
        .encode(x=alt.X("at:Q"))
    )
    told = (
        "No bound: the mechanism has no guarantee"
        if risk.warning
        else "Dashed rule: the guarantee's bound"
    )
    return styled(
        bars + bound,
        title=f"The most telling answer: {str(risk.answer)[:_LONGEST_LABEL]}",
        subtitle=[told],
        height=max(80, 24 * len(records)),
        width=420,
    )


def _largest(scores: Scores, most: int) -> list[int]:
    count = min(whole("most", most), len(scores))
    order = np.argsort(scores.values, kind="stable")[::-1]
    return [int(index) for index in order[:count]]


def _label(scores: Scores, index: int) -> str:
    text = str(scores.candidates[index])
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _counted(shown_count: int, total: int) -> str:
    if shown_count == total:
        return f"{total} candidates"
    return f"the {shown_count} best of {total} candidates"


def _shades(count: int) -> list[str]:
    """Bars are told apart by lightness alone: spread from dark to light."""
    steps = np.linspace(0x22, 0xD8, max(count, 2)).astype(int)[:count].tolist()
    return [f"#{step:02x}{min(255, step + 12):02x}{min(255, step + 28):02x}" for step in steps]
