"""``discreet optimality``: how far a mechanism is from the best possible one."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import studying as study
from discreet.cli.output import say_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("optimality")(optimality)


def optimality(
    *,
    epsilon: Annotated[
        str,
        typer.Option(metavar="RANGE", help="One ε, several with commas, or a range: 0.1:2."),
    ] = "0.32",
    n: Annotated[int, typer.Option("--n", help="How many candidates.")] = 4,
    k: Annotated[
        int, typer.Option("--k", help="The largest gap, in steps of the range distance.")
    ] = 8,
    mechanism: study.Mechanisms = None,
    neighbours: Annotated[
        str,
        typer.Option(help="worst: the published program; all: private towards every neighbour."),
    ] = "worst",
    chart: study.Chart = None,
    json: study.Json = False,
) -> None:
    """A mechanism's average error over the least possible, by linear programming. Reads no data.

    Example: discreet optimality --epsilon 0.1:2 --n 4 --k 8 --chart ratio.svg
    """
    from discreet.analysis import optimality_ratio
    from discreet.analysis.comparison import epsilon_list

    study.check_chart(chart)
    families = study.families_of(mechanism, "max")
    rows = [
        {
            "mechanism": family.name,
            "epsilon": float(amount),
            "ratio": optimality_ratio(family, epsilon=amount, n=n, k=k, neighbours=neighbours),
        }
        for family in families
        for amount in epsilon_list(epsilon)
    ]
    if chart is not None:
        from discreet.analysis.charts import optimality_chart

        study.draw(
            optimality_chart(families, n=n, k=k, epsilons=epsilon, neighbours=neighbours), chart
        )
    if json:
        say_json(rows)
        return
    study.print_table(
        ["mechanism", "ε", "error ÷ least possible"],
        [[row["mechanism"], row["epsilon"], f"{row['ratio']:.6f}"] for row in rows],
    )
