"""``discreet plan``: how much ε a wanted accuracy takes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import studying as study
from discreet.cli.output import say_json
from discreet.errors import ParameterError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    scores: study.MaybeFile = None,
    *,
    expected_error: Annotated[str | None, typer.Option(help="The mean error wanted.")] = None,
    error_at_most: Annotated[str | None, typer.Option(help="The largest error wanted ...")] = None,
    with_probability: Annotated[str | None, typer.Option(help="... with this probability.")] = None,
    n: study.Candidates = None,
    gap: study.Gap = None,
    mechanism: study.Mechanisms = None,
    sensitivity: study.Sensitivity = None,
    range_distance: study.RangeDistance = None,
    monotonic: study.Monotonic = False,
    optimize: study.Optimize = "max",
    candidate_column: study.CandidateColumn = None,
    score_column: study.ScoreColumn = None,
    not_private: study.NotPrivate = False,
    public: study.Public = False,
    json: study.Json = False,
) -> None:
    """The least ε at which each mechanism is accurate enough.

    With a file the answer is for these scores, and not private. With --n it holds for any data, or for any
    data whose best candidate leads by --gap, and nothing is read.

    Example: discreet plan --n 1000 --sensitivity 1 --error-at-most 20 --with-probability 0.95
    """
    from discreet.analysis import epsilon_for
    from discreet.numbers.exact import whole

    families = study.families_of(mechanism, optimize)
    where: dict[str, Any]
    if scores is None:
        if n is None:
            raise ParameterError("give a file of scores, or --n to plan without data")
        if range_distance is not None:
            raise ParameterError(
                "--range-distance goes with a file; without data say --sensitivity"
            )
        where = {
            "n": whole("n", n),
            "sensitivity": sensitivity or "1",
            "monotonic": monotonic,
            "gap": gap,
        }
    else:
        if n is not None or gap is not None:
            raise ParameterError("--n and --gap are for planning without data: leave the file out")
        where = {
            "scores": study.scores_of(
                scores,
                sensitivity=sensitivity,
                range_distance=range_distance,
                monotonic=monotonic,
                candidate_column=candidate_column,
                score_column=score_column,
                not_private=not_private,
                public=public,
            )
        }
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
    least = min(
        (e for family, e in zip(families, needed, strict=True) if family.private), default=0.0
    )
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
    study.print_table(
        ["mechanism", "ε needed", "× least"],
        [
            [
                f"{row['mechanism']}{'' if row['private'] else ' (not private)'}",
                study.rounded(epsilon, up=True),
                row["ratio"] if row["ratio"] is not None else "",
            ]
            for row, epsilon in zip(found, needed, strict=True)
        ],
    )
