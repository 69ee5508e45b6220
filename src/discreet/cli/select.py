"""``discreet select``: choose from scores that were computed already."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import studying as study
from discreet.cli.asking import answer, mechanism_names
from discreet.cli.question_options import Out, Purpose


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("select")(select)


def select(
    scores: Annotated[
        str, typer.Argument(help="A CSV, TSV, JSON or Parquet file of candidates and scores.")
    ],
    *,
    epsilon: Annotated[str, typer.Option(help="What the selection costs.")],
    sensitivity: Annotated[
        str | None, typer.Option(help="The most one person changes a score.")
    ] = None,
    monotonic: Annotated[
        bool, typer.Option("--monotonic", help="One person moves all one way.")
    ] = False,
    range_distance: Annotated[
        str | None, typer.Option(help="In place of --sensitivity: the most two scores move apart.")
    ] = None,
    candidate_column: Annotated[
        str | None, typer.Option(help="By default candidate, or else the first.")
    ] = None,
    score_column: Annotated[
        str | None, typer.Option(help="By default score, or else the second column.")
    ] = None,
    neighbours: Annotated[
        str, typer.Option(help="add-remove one person, or replace one.")
    ] = "add-remove",
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="Another than permute-and-flip, e.g. exponential.",
            autocompletion=mechanism_names,
        ),
    ] = None,
    optimize: study.Optimize = "max",
    dataset: Annotated[str | None, typer.Option(help="The data set's name in the ledger.")] = None,
    ledger: Annotated[str | None, typer.Option(help="Another ledger than the usual one.")] = None,
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Say that nobody counts.")] = False,
    purpose: Purpose = None,
    json: Annotated[bool, typer.Option("--json", help="Print the release as JSON.")] = False,
    out: Out = None,
) -> None:
    """The best candidate, by scores of your own that were computed already.

    Example: discreet select scores.csv --dataset clinic --sensitivity 1 --monotonic --epsilon 1
    """
    from discreet.questions import select_from_file

    answer(
        select_from_file,
        scores,
        json=json,
        out=out,
        purpose=purpose,
        dataset=dataset,
        ledger=ledger,
        no_ledger=no_ledger,
        epsilon=epsilon,
        sensitivity=sensitivity,
        monotonic=monotonic,
        range_distance=range_distance,
        candidate_column=candidate_column,
        score_column=score_column,
        neighbours=neighbours,
        mechanism=mechanism,
        optimize=optimize,
    )
