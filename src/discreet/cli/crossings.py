"""``discreet first`` and ``bound``: questions that a noisy threshold answers."""

from __future__ import annotations

from typing import Any

from discreet.cli.ask import (
    FOUND,
    HOW,
    READ_AS,
    ROWS,
    WHAT,
    WHO,
    Question,
    ask_table,
    growing,
    listed,
)
from discreet.cli.commands import command, option


@command("first", Question)
@WHAT
@option(
    "--groups LIST",
    "The public groups in their order: a range such as 2026-W01:2026-W52, with commas, or a file.",
    callback=lambda _context, _option, text: text if ":" in (text or "") else listed(text),
)
@option("--above NUMBER", "How many people a group must reach.", required=True)
@option("--crossings COUNT", "Name up to this many groups, not only the first.", default=None)
@option("--with-gap", "Also by how many people, with noise, at no cost.")
@WHO
@option(
    "--mechanism NAME", "above-threshold, or above-threshold-laplace for comparison.", default=None
)
@option("--where CONDITION", 'Only rows for which this holds, e.g. "age >= 18".')
@HOW
def first(**asked: Any) -> None:
    """The first of ordered groups with many people, or none of them.

    A person counts once in each group in which they have rows. The cost is the same for any number of
    groups.

    Example: discreet first visits.parquet --dataset clinic --column week --user patient_id
    --groups 2026-W01:2026-W52 --where "diagnosis = 'flu'" --above 500 --epsilon 0.5
    """
    ask_table("first_above", **asked)


@command("bound", Question)
@WHAT
@option(
    "--covers NUMBER", "The part of the people who are to stay within the bound.", default="0.999"
)
@growing()
@READ_AS
@WHO
@ROWS
@FOUND
@HOW
def bound(**asked: Any) -> None:
    """A bound on the magnitude of a column, for later questions.

    With the answer b a later question may say --bounds -b:b, or 0:b where nothing is negative.

    Example: discreet bound pay.parquet --dataset staff --column salary --user person_id --covers 0.999
    --epsilon 0.2
    """
    ask_table("bound", **asked)
