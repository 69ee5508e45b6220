"""``discreet compare``: mechanisms side by side on the same scores."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import studying as study
from discreet.cli.output import say_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(compare)


def compare(
    scores: study.File,
    *,
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="RANGE",
            help="One ε, several with commas, or a range: 0.1:2, or 0.1:2:9 for nine.",
        ),
    ] = "0.1:2:6",
    mechanism: study.Mechanisms = None,
    sensitivity: study.Sensitivity = None,
    range_distance: study.RangeDistance = None,
    monotonic: study.Monotonic = False,
    optimize: study.Optimize = "max",
    candidate_column: study.CandidateColumn = None,
    score_column: study.ScoreColumn = None,
    not_private: study.NotPrivate = False,
    public: study.Public = False,
    chart: study.Chart = None,
    json: study.Json = False,
) -> None:
    """How far each mechanism falls short of the best, over a range of ε. Not private.

    Example: discreet compare scores.csv --monotonic --epsilon 0.1:2 --public --chart error.html
    """
    from discreet.analysis import compare as compared

    study.require_leave(not_private, public)
    study.check_chart(chart)
    families = study.families_of(mechanism, optimize)
    read = study.scores_of(
        scores,
        sensitivity=sensitivity,
        range_distance=range_distance,
        monotonic=monotonic,
        candidate_column=candidate_column,
        score_column=score_column,
        not_private=not_private,
        public=public,
    )
    table = compared(read, families, epsilon)
    if chart is not None:
        study.draw(table.chart(), chart)
    if json:
        say_json(table.records())
        return
    study.print_table(
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
