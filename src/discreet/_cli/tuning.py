"""``discreet tuning``: plan the cost of releasing the best of several private runs."""

from __future__ import annotations

import sys
from typing import Any

from discreet._cli import shared_options as shared
from discreet._cli.commands import command, option
from discreet._cli.output import check_chart, draw, say_table
from discreet._exact.numbers.printing import percent, rounded

_RUN, _WHOLE = "One run", "The whole search"


@command("tuning")
@option("--epsilon-per-run NUMBER", "ε of one run, its score included.", section=_RUN)
@option("--delta-per-run NUMBER", "With ε: δ of one run.", section=_RUN)
@option("--rho-per-run NUMBER", "Instead of ε: ρ of zero-concentrated privacy.", section=_RUN)
@option(
    "--runs-mean NUMBER", "How many runs on average.", name="mean", required=True, section=_WHOLE
)
@option(
    "--distribution NAME",
    "geometric, logarithmic, negative-binomial:SHAPE, poisson or fixed; may be repeated.",
    multiple=True,
    section=_WHOLE,
)
@option(
    "--delta NUMBER",
    "The δ allowed for the whole search, for runs that are not purely private.",
    section=_WHOLE,
)
@option("--target", "Stop at the first run that is good enough, not with the best.", section=_WHOLE)
@option(
    "--claim NUMBER",
    "Audit this ε of the whole search: look for a run that refutes it.",
    section=_WHOLE,
)
@shared.CHART
@shared.JSON
def tuning(
    *,
    epsilon_per_run: str | None,
    delta_per_run: str | None,
    rho_per_run: str | None,
    mean: str,
    distribution: tuple[str, ...],
    delta: str | None,
    target: bool,
    claim: str | None,
    chart: str | None,
    json: bool,
) -> None:
    """Show the cost of trying many settings privately and releasing the best.

    The first lines give the cost of the requested distribution, name the cheapest one, and say what the
    cheapest gives up. For each distribution of the number of runs, the table shows ε of the whole search, the
    published bound for pure runs, and the chance that the winner is among the best tenth and hundredth of
    all settings. Nothing is read and nothing is spent.

    Example: discreet tuning --epsilon-per-run 1 --runs-mean 40 --distribution negative-binomial:0.5
    """
    from discreet._exact.numbers.exact import positive
    from discreet.tuning.table import OTHERS, advice, cost_stated, tuning_chart, tuning_table

    check_chart(chart)
    stated = {
        name: None if given is None else positive(name, given)
        for name, given in (("epsilon_per_run", epsilon_per_run), ("rho_per_run", rho_per_run))
    }
    cost = cost_stated(stated["epsilon_per_run"], stated["rho_per_run"], delta_per_run)
    asked = distribution or ("geometric",)
    shown = asked if target else (*asked, *(name for name in OTHERS if name not in asked))
    offers = tuning_table(cost, mean=mean, distributions=shown, delta=delta, target=target)
    if chart is not None:
        draw(tuning_chart(cost, distributions=shown, delta=delta), chart)
    verdict = None if claim is None else _audited(claim, cost, offers[0].runs, target=target)
    conclusion, *why = advice(offers)
    found = _verdict_in_words(verdict, offers[0].runs.words)
    say_table(
        ["runs", "ε in all", "published", "best 10%", "best 1%", "no run"],
        [
            [
                offer.runs.words.replace(" number of runs", ""),
                rounded(offer.epsilon, up=True, digits=3),
                offer.published,
                *_chances(offer),
            ]
            for offer in offers
        ],
        [_record(offer, verdict if place == 0 else None) for place, offer in enumerate(offers)],
        json=json,
        before="\n".join([*found[:1], conclusion, ""]),
        after="\n".join(["", *why, *found[1:]]),
    )
    if verdict is not None and not verdict.holds:
        sys.exit(1)


def _chances(offer: Any) -> list[str]:
    """Return the chances of a top-10% winner, a top-1% winner and no run at all; dashes with --target."""
    if offer.top_tenth is None:
        return ["-", "-", "-"]
    found = [percent(share, up=False) for share in (offer.top_tenth, offer.top_hundredth)]
    return [*found, percent(offer.none, up=True) if offer.none else "never"]


def _record(offer: Any, verdict: Any) -> dict[str, Any]:
    record = {
        "runs": offer.runs.words,
        "epsilon": offer.epsilon,
        "guarantee": repr(offer.guarantee),
        "proof": str(offer.guarantee.proof),
    }
    for name in ("published", "top_tenth", "top_hundredth", "none"):
        record[name] = getattr(offer, name)
    if verdict is not None:
        record["audit"] = {name: getattr(verdict, name) for name in ("claimed", "holds", "found")}
        record["audit"] |= {
            "run": [str(mass) for mass in verdict.run],
            "neighbour": [str(mass) for mass in verdict.neighbour],
            "outcome": verdict.outcome,
        }
    return record


def _audited(claim: str, cost: Any, runs: Any, *, target: bool) -> Any:
    from discreet._exact.numbers.exact import positive
    from discreet.errors import ParameterError
    from discreet.guarantees import PureDP
    from discreet.tuning import audit_tuning

    if not isinstance(cost, PureDP):
        raise ParameterError(
            "⟨claim⟩ needs ⟨epsilon_per_run⟩ without a δ or ρ: only pure runs can be audited"
        )
    return audit_tuning(
        PureDP(positive("claim", claim)), epsilon=cost.exact, runs=runs, target=target
    )


def _verdict_in_words(verdict: Any, words: str) -> list[str]:
    if verdict is None:
        return []
    claim = f"the claim was {verdict.claimed:.4f}"
    if verdict.holds:
        return [f"Not refuted: the largest loss found is {verdict.found:.4f}; {claim}."]
    masses, others = (
        ", ".join(f"{float(mass):.4g}" for mass in part)
        for part in (verdict.run, verdict.neighbour)
    )
    return [
        f"Refuted ({words}): a loss of {verdict.found:.4f} was found; {claim}.",
        f"The refutation: a run whose outcomes, from worst to best, have the probabilities ({masses}), on "
        f"neighbouring data ({others}).",
    ]
