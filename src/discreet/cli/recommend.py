"""``discreet recommend``: which mechanism, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import studying as study
from discreet.cli.output import say_json
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("recommend")(recommend)


def recommend(
    scores: study.MaybeFile = None,
    *,
    epsilon: Annotated[
        str | None, typer.Option(help="The budget's ε; with --delta, (ε, δ).")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="The budget's δ, with --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="The budget's ρ, in place of --epsilon.")] = None,
    releases: Annotated[int, typer.Option(help="How many releases share the budget.")] = 1,
    fixed_in_advance: Annotated[
        bool, typer.Option("--fixed-in-advance", help="No question depends on an earlier answer.")
    ] = False,
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
    chart: study.Chart = None,
    json: study.Json = False,
) -> None:
    """Which mechanism to use for a budget and a number of releases, and why.

    With a file the errors are those on these scores, and not private. With --n they are the worst for any
    data, and nothing is read; --chart then draws them against the number of releases.

    Example: discreet recommend --n 100 --epsilon 1 --delta 1e-6 --releases 50
    """
    from discreet.analysis import recommend as recommended

    budget = _budget(epsilon, delta, rho)
    families = study.families_of(mechanism, optimize)
    study.check_chart(chart)
    where: dict[str, Any]
    if scores is None:
        if n is None:
            raise ParameterError("give a file of scores, or --n for advice without data")
        if range_distance is not None:
            raise ParameterError(
                "--range-distance goes with a file; without data say --sensitivity"
            )
        where = {"n": n, "sensitivity": sensitivity or "1", "monotonic": monotonic, "gap": gap}
    else:
        if n is not None or gap is not None or chart is not None:
            raise ParameterError(
                "--n, --gap and --chart are for advice without data: leave the file out"
            )
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
    advice = recommended(
        budget=budget,
        releases=releases,
        mechanisms=families,
        adaptive=not fixed_in_advance,
        **where,
    )
    if chart is not None:
        from discreet.analysis.charts import crossover_chart

        study.draw(crossover_chart(budget, **{k: v for k, v in where.items() if k != "gap"}), chart)
    if json:
        say_json(
            {
                "mechanism": advice.mechanism.name,
                "epsilon": advice.options[0].epsilon,
                "releases": advice.releases,
                "budget": repr(advice.budget),
                "crossover": advice.crossover,
                "basis": advice.basis,
                "options": advice.records(),
                "reasons": list(advice.reasons),
            }
        )
        return
    typer.echo(f"{advice.advice}\n")
    study.print_table(
        ["mechanism", "ε each", "expected error", "cost of all"],
        [[o.mechanism, f"{o.epsilon:.6g}", o.error, o.composed] for o in advice.options],
    )
    typer.echo("\n" + "\n".join(advice.reasons))


def _budget(epsilon: str | None, delta: str | None, rho: str | None) -> Guarantee:
    from discreet.guarantees import ZCDP, ApproxDP, PureDP

    if (epsilon is None) == (rho is None):
        raise ParameterError("say the budget: --epsilon, --epsilon with --delta, or --rho")
    if rho is not None:
        if delta is not None:
            raise ParameterError("--delta goes with --epsilon, not with --rho")
        return ZCDP(rho)
    return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
