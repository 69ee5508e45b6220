"""``discreet select``: choose from a file of precomputed scores."""

from __future__ import annotations

from typing import Any

from discreet._cli import shared_options as shared
from discreet._cli.ask import COUNTED, DELIVERED, answer
from discreet._cli.commands import argument, command, from_standard_input, option


@command("select")
@argument(
    "SCORES",
    "A CSV, TSV, JSON or Parquet file of candidates and scores, or - for CSV on standard input.",
    name="file",
    callback=from_standard_input,
)
@option("--epsilon NUMBER", "What the selection costs.", required=True)
@option("--sensitivity NUMBER", "The most by which one person changes a score.")
@shared.RANGE_DISTANCE
@shared.MONOTONIC
@option(
    "--unequal NAME",
    "With a column of sensitivities in the file: ratios or largest; the default depends on them.",
    section=shared.SCORES_HELP,
)
@shared.COLUMNS
@shared.NEIGHBOURS
@shared.MECHANISM
@shared.OPTIMIZE
@option("--purpose TEXT", "The purpose that the ledger records, without any data.")
@COUNTED
@DELIVERED
def select(file: str, **given: Any) -> None:
    """Choose the best candidate from a file of precomputed scores.

    Example: discreet select scores.csv --dataset clinic --sensitivity 1 --monotonic --epsilon 1
    """
    from discreet.questions import select_from_file

    delivery = ("json", "out", "explain", "dataset", "ledger", "no_ledger", "keep_answer")
    delivered = {name: given.pop(name) for name in delivery}
    answer(lambda _watch, counted: select_from_file(file, **given, **counted), **delivered)
