"""A chart of how to split ε between a threshold and the values compared with it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import positive, shown
from discreet.analysis.charts.style import altair, line_chart, styled
from discreet.mechanisms import CrossingRule


def split_chart(
    epsilon: object = 1, *, crossings: Sequence[int] = (1, 10, 100), monotonic: bool = False
) -> Any:
    """Chart the standard deviation of a threshold comparison against the threshold's share of ε. Data-free.

    Example:
        >>> split_chart(crossings=[1]).to_dict()["title"]["text"]
        'How to split ε between threshold and values (ε = 1)'
    """
    alt = altair()
    shares = [Fraction(step, 100) for step in range(1, 100)]

    def record(count: int, share: Fraction | None) -> dict[str, Any]:
        rule = CrossingRule(
            epsilon,
            threshold=0,
            sensitivity=1,
            crossings=count,
            monotonic=monotonic,
            threshold_share=share,
        )
        taken = rule.sensitivity / rule.scales.threshold / rule.epsilon
        name = f"{count} crossing{'' if count == 1 else 's'}"
        return {"crossings": name, "share": float(taken), "deviation": float(rule.deviation)}

    records = [record(count, share) for count in crossings for share in shares]
    chart = line_chart(
        records,
        x=("share", "share of ε for the threshold"),
        y=("deviation", "standard deviation of a comparison (in Δ)"),
        series="crossings",
        log_y=True,
        points=False,
    )
    best = [record(count, None) for count in crossings]
    marks = alt.Chart(alt.Data(values=best)).mark_point(filled=True, size=90, color="#222222")
    amount = positive("epsilon", epsilon)
    return styled(
        chart + marks.encode(x="share:Q", y="deviation:Q"),
        title=f"How to split ε between threshold and values (ε = {shown(amount)})",
        subtitle=["Points: the least, at b₂/b₁ = (c·d/Δ)^(1/3). Data-free"],
    )
