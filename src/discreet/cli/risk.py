"""``discreet risk``: what one answer can tell an attacker about which data set is real."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import studying as study
from discreet.cli.output import say_json
from discreet.errors import ParameterError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("risk")(risk)


def risk(
    *,
    worlds: Annotated[int, typer.Option(help="How many data sets the attacker thinks possible.")],
    epsilon: Annotated[str | None, typer.Option(help="ε of the answer.")] = None,
    tolerated: Annotated[
        str | None,
        typer.Option(help="In place of --epsilon: the belief that no answer may exceed."),
    ] = None,
    steps: Annotated[
        str,
        typer.Option(help="How many people apart two of the worlds are; 2 for 'who is missing'."),
    ] = "2",
    json: study.Json = False,
) -> None:
    """The surest an attacker can be, or the ε for a tolerated risk. Reads no data.

    Example: discreet risk --worlds 201 --tolerated 0.2
    """
    from discreet.analysis import disclosure_bound, epsilon_for_risk

    if (epsilon is None) == (tolerated is None):
        raise ParameterError("say --epsilon to learn the risk, or --tolerated to learn the ε")
    if epsilon is not None:
        bound = disclosure_bound(epsilon, worlds=worlds, steps=steps)
        data = {"worlds": worlds, "steps": steps, "epsilon": epsilon, "risk": bound}
        shown = study.rounded(bound, up=True)
        words = f"No answer makes an attacker surer than {shown:.4g} of any of {worlds} worlds."
    else:
        largest = epsilon_for_risk(tolerated, worlds=worlds, steps=steps)
        data = {"worlds": worlds, "steps": steps, "epsilon": largest, "risk": tolerated}
        shown = study.rounded(largest, up=False)
        words = f"Up to ε = {shown:.4g} no answer makes an attacker surer than {tolerated}."
    if json:
        say_json(data)
    else:
        typer.echo(words)
