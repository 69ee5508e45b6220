"""``discreet plan``: how much ε a wanted accuracy takes."""

from __future__ import annotations

from typing import Any

from discreet.cli import shared_options as shared
from discreet.cli.commands import argument, command, option, stack
from discreet.cli.output import print_table, say_json
from discreet.cli.score_commands import families_of, scores_or_count

SCORES_OR_COUNT = stack(
    argument(
        "[SCORES]",
        "Scores: a CSV, TSV, JSON or Parquet file; or leave it out and say --n.",
        name="file",
    ),
    shared.COUNT,
    shared.SCORES,
)


@command("plan")
@option("--expected-error NUMBER", "The mean error wanted.")
@option("--error-at-most NUMBER", "The largest error wanted ...")
@option("--with-probability NUMBER", "... with this probability.")
@SCORES_OR_COUNT
@shared.JSON
def plan(
    *,
    expected_error: str | None,
    error_at_most: str | None,
    with_probability: str | None,
    json: bool,
    **given: Any,
) -> None:
    """The least ε at which each mechanism is accurate enough.

    With a file the answer is for these scores, and not private. With --n it holds for any data, or for any
    data whose best candidate leads by --gap, and nothing is read.

    Example: discreet plan --n 1000 --sensitivity 1 --error-at-most 20 --with-probability 0.95
    """
    from discreet.analysis import epsilon_for
    from discreet.numbers.printing import rounded

    families = families_of(**given)
    where = scores_or_count(**given)
    needed = [
        epsilon_for(
            family,
            expected_error=expected_error,
            error_at_most=error_at_most,
            with_probability=with_probability,
            **where,
        )
        for family in families
    ]
    least = min((e for each, e in zip(families, needed, strict=True) if each.private), default=0.0)
    found = [
        {
            "mechanism": family.name,
            "epsilon": epsilon,
            "ratio": epsilon / least if least else None,
            "private": family.private,
        }
        for family, epsilon in zip(families, needed, strict=True)
    ]
    if json:
        say_json(found)
        return
    rows = [
        [
            f"{row['mechanism']}{'' if row['private'] else ' (not private)'}",
            rounded(epsilon, up=True),
            "" if row["ratio"] is None else row["ratio"],
        ]
        for row, epsilon in zip(found, needed, strict=True)
    ]
    print_table(["mechanism", "ε needed", "× least"], rows)
