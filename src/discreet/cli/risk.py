"""``discreet risk``: what one answer can tell an attacker about which data set is real."""

from __future__ import annotations

from discreet.cli import shared_options as shared
from discreet.cli.commands import command, option
from discreet.cli.output import say_either
from discreet.errors import ParameterError


@command("risk")
@option("--worlds COUNT", "How many data sets the attacker thinks possible.", required=True)
@option("--epsilon NUMBER", "ε of the answer.")
@option(
    "--tolerated NUMBER",
    "In place of --epsilon: the belief that no answer may exceed.",
    name="risk",
)
@option(
    "--steps NUMBER",
    "How many people apart two of the worlds are; 2 for 'who is missing'.",
    default="2",
)
@shared.JSON
def risk(*, worlds: int, epsilon: str | None, risk: str | None, steps: str, json: bool) -> None:
    """The surest an attacker can be, or the ε for a tolerated risk. Reads no data.

    Example: discreet risk --worlds 201 --tolerated 0.2
    """
    from discreet.analysis import disclosure_bound, epsilon_for_risk
    from discreet.numbers.printing import rounded

    if (epsilon is None) == (risk is None):
        raise ParameterError("say --epsilon to learn the risk, or --tolerated to learn the ε")
    if epsilon is not None:
        bound = disclosure_bound(epsilon, worlds=worlds, steps=steps)
        data = {"worlds": worlds, "steps": steps, "epsilon": epsilon, "risk": bound}
        shown = rounded(bound, up=True)
        words = f"No answer makes an attacker surer than {shown:.4g} of any of {worlds} worlds."
    else:
        largest = epsilon_for_risk(risk, worlds=worlds, steps=steps)
        data = {"worlds": worlds, "steps": steps, "epsilon": largest, "risk": risk}
        shown = rounded(largest, up=False)
        words = f"Up to ε = {shown:.4g} no answer makes an attacker surer than {risk}."
    say_either(words, data, json=json)
