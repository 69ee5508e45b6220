"""Comparisons and recommendations in a notebook: a table and, where Altair is installed, a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.displays import card, paragraph, table
from discreet.errors import DiscreetError

if TYPE_CHECKING:
    from discreet.analysis.comparison import Comparison
    from discreet.analysis.recommendation import Recommendation

_MOST_ROWS = 30


def chart_svg(chart: Any) -> str:
    """The chart as SVG inside the page: static, no script, no network."""
    import io

    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue()


def comparison_html(comparison: Comparison) -> str:
    """The rows, and expected error against ε."""
    try:
        picture = chart_svg(comparison.chart())
    except (DiscreetError, ImportError, ValueError):
        # Without Altair or vl-convert, or with nothing to draw, the table says it all.
        picture = ""
    rows = [
        (
            row.mechanism + ("" if row.private else " (not private)"),
            row.epsilon,
            row.expected_error,
            row.error_95,
            row.best_probability,
        )
        for row in comparison[:_MOST_ROWS]
    ]
    hidden = len(comparison) - len(rows)
    return card(
        "Comparison",
        picture,
        table(("mechanism", "ε", "expected error", "error, 95 %", "Pr[best]"), rows),
        note=(f"and {hidden} more rows. " if hidden else "")
        + "Not private: computed from the scores without spending budget.",
    )


def recommendation_html(recommendation: Recommendation) -> str:
    """The advice in words, and what each mechanism could do."""
    rows = [
        (option.mechanism, option.epsilon, option.error, option.composed)
        for option in recommendation.options
    ]
    return card(
        recommendation.advice,
        *map(paragraph, recommendation.reasons),
        table(("mechanism", "ε of each release", "expected error", "cost of all"), rows),
    )
