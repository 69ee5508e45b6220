"""``discreet optimality``: how far a mechanism is from the best possible one."""

from __future__ import annotations

from typing import Any

from discreet.cli import shared_options as shared
from discreet.cli.commands import command, option
from discreet.cli.output import print_table, say_json
from discreet.cli.score_commands import check_chart, draw, families_of


@command("optimality")
@option("--epsilon RANGE", "One ε, several with commas, or a range: 0.1:2.", default="0.32")
@option("--n COUNT", "How many candidates.", default=4)
@option("--k COUNT", "The largest gap, in steps of the range distance.", default=8)
@shared.MECHANISMS
@option(
    "--neighbours NAME",
    "worst: the published program; all: private towards every neighbour.",
    default="worst",
)
@shared.CHART
@shared.JSON
def optimality(
    *, epsilon: str, mechanism: tuple[str, ...], chart: str | None, json: bool, **lattice: Any
) -> None:
    """A mechanism's average error over the least possible, by linear programming. Reads no data.

    Example: discreet optimality --epsilon 0.1:2 --n 4 --k 8 --chart ratio.svg
    """
    from discreet.analysis import optimality_ratio
    from discreet.analysis.comparison import epsilon_list

    check_chart(chart)
    families = families_of(mechanism=mechanism)
    rows = [
        {
            "mechanism": family.name,
            "epsilon": float(amount),
            "ratio": optimality_ratio(family, epsilon=amount, **lattice),
        }
        for family in families
        for amount in epsilon_list(epsilon)
    ]
    if chart is not None:
        from discreet.analysis.charts import optimality_chart

        draw(optimality_chart(families, epsilons=epsilon, **lattice), chart)
    if json:
        say_json(rows)
        return
    shown = [[row["mechanism"], row["epsilon"], f"{row['ratio']:.6f}"] for row in rows]
    print_table(["mechanism", "ε", "error ÷ least possible"], shown)
