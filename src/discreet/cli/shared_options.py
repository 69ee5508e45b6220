"""Options that several commands share, each declared once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli.commands import option, stack

if TYPE_CHECKING:
    from click import Context, Parameter


def mechanism_names(_context: Context, _option: Parameter, incomplete: str) -> list[str]:
    """The registered mechanisms, for a shell that completes."""
    from discreet.mechanisms import MECHANISMS

    return [name for name in MECHANISMS if name.startswith(incomplete)]


JSON = option("--json", "Print JSON.")
NEIGHBOURS = option(
    "--neighbours NAME", "add-remove one person, or replace one.", default="add-remove"
)
MECHANISM = option(
    "--mechanism NAME",
    "Another mechanism than permute-and-flip, e.g. exponential.",
    shell_complete=mechanism_names,
)
MECHANISMS = option(
    "--mechanism NAME",
    "Only this one, e.g. exponential; may be repeated.",
    multiple=True,
    shell_complete=mechanism_names,
)
COUNTED = stack(
    option("--dataset NAME", "The data set's name in the budget ledger."),
    option("--ledger ADDRESS", "Another ledger than the usual one."),
    option("--no-ledger", "Say that nobody counts the budget."),
)
DELIVERED = stack(
    option("--purpose TEXT", "What for, as the ledger is to say it: words without data."),
    option("--json", "Print the release as JSON."),
    option("--out FILE", "Write the answer to this file too, and first."),
)

SENSITIVITY = option("--sensitivity NUMBER", "The most one person changes a score; 1 unless told.")
RANGE_DISTANCE = option(
    "--range-distance NUMBER", "In place of --sensitivity: the most two scores move apart."
)
MONOTONIC = option("--monotonic", "One person moves all scores one way.")
OPTIMIZE = option("--optimize NAME", "max, or min where small scores are good.", default="max")
COLUMNS = stack(
    option("--candidate-column COLUMN", "By default 'candidate', or the first column."),
    option("--score-column COLUMN", "By default 'score', or the second column."),
)
NOT_PRIVATE = stack(
    option("--not-private", "Say that you know: the output is not private."),
    option("--public", "Say that the data is public."),
)
COUNT = stack(
    option("--n COUNT", "In place of a file: how many candidates."),
    option("--gap NUMBER", "With --n: how far ahead the best is hoped to be."),
)
SCORES = stack(MECHANISMS, SENSITIVITY, RANGE_DISTANCE, MONOTONIC, OPTIMIZE, COLUMNS, NOT_PRIVATE)
CHART = option("--chart FILE", "Draw to this file: .png, .svg or .html (offline).")
