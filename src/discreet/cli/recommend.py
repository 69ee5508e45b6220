"""``discreet recommend``: which mechanism, and why."""

from __future__ import annotations

from typing import Any

from discreet.cli import shared_options as shared
from discreet.cli.commands import command, option
from discreet.cli.output import print_table, say, say_json
from discreet.cli.plan import SCORES_OR_COUNT
from discreet.cli.score_commands import check_chart, draw, families_of, scores_or_count
from discreet.errors import ParameterError


@command("recommend")
@shared.GUARANTEE
@option("--releases COUNT", "How many releases share the budget.", default=1)
@option("--fixed-in-advance", "No question depends on an earlier answer.")
@SCORES_OR_COUNT
@shared.CHART
@shared.JSON
def recommend(
    *,
    releases: int,
    fixed_in_advance: bool,
    chart: str | None,
    json: bool,
    **given: Any,
) -> None:
    """Which mechanism to use for a budget and a number of releases, and why.

    With a file the errors are those on these scores, and not private. With --n they are the worst for any
    data, and nothing is read; --chart then draws them against the number of releases.

    Example: discreet recommend --n 100 --epsilon 1 --delta 1e-6 --releases 50
    """
    from discreet.analysis import recommend as recommended

    budget = shared.guarantee_of(**{name: given.pop(name) for name in ("epsilon", "rho", "delta")})
    families = families_of(**given)
    check_chart(chart)
    if chart is not None and given["file"] is not None:
        raise ParameterError("--chart is drawn without data: leave the file out")
    where = scores_or_count(**given)
    advice = recommended(
        budget=budget,
        releases=releases,
        mechanisms=families,
        adaptive=not fixed_in_advance,
        **where,
    )
    if chart is not None:
        from discreet.analysis.charts import crossover_chart

        draw(crossover_chart(budget, **{k: v for k, v in where.items() if k != "gap"}), chart)
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
    say(f"{advice.advice}\n")
    print_table(
        ["mechanism", "ε each", "expected error", "cost of all"],
        [[o.mechanism, f"{o.epsilon:.6g}", o.error, o.composed] for o in advice.options],
    )
    say("\n" + "\n".join(advice.reasons))
