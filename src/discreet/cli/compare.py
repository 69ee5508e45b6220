"""``discreet compare``: mechanisms side by side on the same scores."""

from __future__ import annotations

from typing import Any

from discreet.cli import shared_options as shared
from discreet.cli.commands import argument, command, option
from discreet.cli.output import print_table, say_json
from discreet.cli.score_commands import (
    check_chart,
    draw,
    families_of,
    read_scores,
    require_not_private,
)


@command("compare")
@argument("SCORES", "Scores: a CSV, TSV, JSON or Parquet file.", name="file")
@option(
    "--epsilon RANGE",
    "One ε, several with commas, or a range: 0.1:2, or 0.1:2:9 for nine.",
    default="0.1:2:6",
)
@shared.SCORES
@shared.CHART
@shared.JSON
def compare(*, epsilon: str, chart: str | None, json: bool, **given: Any) -> None:
    """How far each mechanism falls short of the best, over a range of ε. Not private.

    Example: discreet compare scores.csv --monotonic --epsilon 0.1:2 --public --chart error.html
    """
    from discreet.analysis import compare as compared

    require_not_private(**given)
    check_chart(chart)
    families = families_of(**given)
    table = compared(read_scores(**given), families, epsilon)
    if chart is not None:
        draw(table.chart(), chart)
    if json:
        say_json(table.records())
        return
    print_table(
        ["mechanism", "ε", "expected error", "deviation", "error, 95 %", "Pr[best]", "ratio"],
        [
            [
                row.mechanism + ("" if row.private else " (not private)"),
                row.epsilon,
                row.expected_error,
                row.error_deviation,
                row.error_95,
                row.best_probability,
                row.ratio,
            ]
            for row in table
        ],
    )
