"""``discreet select``: a file of scores that were computed already."""

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
@option("--sensitivity NUMBER", "The most one person changes a score.")
@shared.RANGE_DISTANCE
@shared.MONOTONIC
@shared.COLUMNS
@shared.NEIGHBOURS
@shared.MECHANISM
@shared.OPTIMIZE
@option("--purpose TEXT", "The purpose, as the ledger will keep it: words without data.")
@COUNTED
@DELIVERED
def select(file: str, **given: Any) -> None:
    """The best candidate, by scores of your own that were computed already.

    Example: discreet select scores.csv --dataset clinic --sensitivity 1 --monotonic --epsilon 1
    """
    from discreet.questions import select_from_file

    delivery = ("json", "out", "explain", "dataset", "ledger", "no_ledger", "keep_answer")
    delivered = {name: given.pop(name) for name in delivery}
    answer(lambda _watch, counted: select_from_file(file, **given, **counted), **delivered)
