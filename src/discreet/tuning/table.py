"""Compare distributions of the number of runs by cost and by the winner's quality; no data is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any

from discreet._exact.numbers.balls import ball_of
from discreet._exact.numbers.exact import above, float_up, refuse
from discreet._exact.numbers.printing import percent, rounded
from discreet.analysis.charts.style import line_chart, styled
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, PureDP
from discreet.tuning.cost import cost_of_tuning
from discreet.tuning.laws import Fixed, Geometric, NegativeBinomial, Poisson, RunCount

NAMES = ("geometric", "logarithmic", "negative-binomial:SHAPE", "poisson", "fixed")
OTHERS = ("logarithmic", "geometric", "poisson", "fixed")
_MEANS = (2, 3, 4, 6, 8, 12, 16, 25, 40, 60, 100, 160, 250, 400, 1000)
_TOO_DEAR = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningOffer:
    """One distribution of the number of runs: its cost and the quality of its winner.

    Attributes:
        runs: the distribution.
        guarantee: the cost of the whole search.
        published: the published bound for pure runs, as a formula; ``-`` if there is none.
        top_tenth: the chance that the winner is among the best tenth of all settings; None with a target.
        top_hundredth: the same for the best hundredth.
        none: the chance that there is no run at all; None with a target.
    """

    runs: RunCount
    guarantee: Guarantee
    published: str
    top_tenth: float | None = None
    top_hundredth: float | None = None
    none: float | None = None

    @property
    def epsilon(self) -> float:
        """ε of the whole search, rounded up."""
        return float_up(self.guarantee.figures["epsilon"])


def law_named(name: str, mean: object) -> RunCount:
    """Return the distribution that this name stands for on the command line.

    Example:
        >>> law_named("negative-binomial:0.5", 40)
        <truncated negative binomial number of runs, shape 0.5, mean 40>
    """
    kind, _, shape = name.partition(":")
    if kind == "negative-binomial" and shape:
        return NegativeBinomial(mean=mean, shape=shape)
    if shape or kind not in NAMES:
        raise refuse("distribution", name, f"one of {', '.join(NAMES)}")
    if kind == "geometric":
        return Geometric(mean=mean)
    if kind == "logarithmic":
        return NegativeBinomial(mean=mean, shape=0)
    if kind == "poisson":
        return Poisson(mean=mean)
    # The number of runs must be whole: round up.
    return Fixed(-(-above("mean", mean, 0) // 1))


def tuning_table(
    cost: object,
    *,
    mean: object,
    distributions: Sequence[str] = OTHERS,
    delta: object = None,
    target: bool = False,
) -> list[TuningOffer]:
    """Return, for each distribution with this mean, the cost of the search and the quality of the winner.

    Example:
        >>> offers = tuning_table(PureDP(1), mean=40)
        >>> [(offer.runs.words.split()[0], round(offer.epsilon, 2)) for offer in offers]
        [('logarithmic', 1.99), ('geometric', 2.89), ('Poisson', 19.48), ('fixed', 40.0)]
    """
    return [
        _offer(cost, law_named(name, mean), delta, target=target)
        for name in dict.fromkeys(distributions)
    ]


def _offer(cost: object, runs: RunCount, delta: object, *, target: bool = False) -> TuningOffer:
    guarantee = cost_of_tuning(cost, runs=runs, delta=delta, target=target)
    if target:
        return TuningOffer(runs=runs, guarantee=guarantee, published="2ε")
    return TuningOffer(
        runs=runs,
        guarantee=guarantee,
        published=runs.published if isinstance(guarantee, PureDP) else "-",
        top_tenth=runs.chance_of_top(Fraction(1, 10)),
        top_hundredth=runs.chance_of_top(Fraction(1, 100)),
        none=runs.share(lambda: runs.generating(ball_of(0))),
    )


def advice(offers: Sequence[TuningOffer]) -> list[str]:
    """Return a conclusion about the first distribution, and sentences that explain the costs.

    Example:
        >>> from textwrap import fill
        >>> offers = tuning_table(PureDP(1), mean=40, distributions=["geometric", *OTHERS])
        >>> conclusion, *why = advice(offers)
        >>> for sentence in conclusion.splitlines():
        ...     print(fill(sentence, 90))
        A geometric number of runs (mean 40) costs ε = 2.89 if the number stays secret; the chance
        that its winner is among the best 10% of settings is 81.6%.
        The cheapest in this table is a logarithmic number of runs (mean 40), at ε = 1.99, but
        there the chance is 57.9%.
    """
    asked = offers[0]
    conclusion = f"A {_words(asked)} costs ε = {_short(asked)}"
    if not isinstance(asked.runs, Fixed):
        conclusion += " if the number stays secret"
    if asked.top_tenth is None:
        return [f"{conclusion}."]
    conclusion += (
        "; the chance that its winner is among the best 10% of settings is "
        f"{percent(asked.top_tenth, up=False)}."
    )
    if len(offers) == 1:
        return [conclusion]
    why = [
        f"A {offer.runs.words} costs ε = {_short(offer)}: when the number is known, one person can tip "
        "every run, and the best of all shows it."
        for offer in offers
        if isinstance(offer.runs, Fixed)
    ]
    return [
        f"{conclusion}\n{_compared(asked, offers)}",
        *why,
        "Never publish a random number of runs: its cost holds only while the number is secret.",
        "The search always costs more than the ε of its winning run.",
    ]


def _compared(asked: TuningOffer, offers: Sequence[TuningOffer]) -> str:
    """Compare an offer with the cheapest; if it is the cheapest, with one that finds better winners."""

    def chance(offer: TuningOffer) -> float:
        return offer.top_tenth or 0.0

    least = min(offers, key=lambda offer: offer.epsilon)
    if least.epsilon < asked.epsilon:
        contrast = "but" if chance(least) < chance(asked) else "and"
        return (
            f"The cheapest in this table is a {_words(least)}, at ε = {_short(least)}, {contrast} there the "
            f"chance is {percent(chance(least), up=False)}."
        )
    better = [offer for offer in offers if chance(offer) > chance(asked)]
    if not better:
        return "Nothing in this table is cheaper, and nothing has a better chance."
    other = min(better, key=lambda offer: offer.epsilon)
    return (
        f"Nothing in this table is cheaper; a {_words(other)} costs ε = {_short(other)}, and there the "
        f"chance is {percent(chance(other), up=False)}."
    )


def _words(offer: TuningOffer) -> str:
    name, _, parameters = offer.runs.words.partition(", ")
    return f"{name} ({parameters})" if parameters else name


def _short(offer: TuningOffer) -> str:
    return f"{rounded(offer.epsilon, up=True, digits=3):g}"


def tuning_chart(
    cost: object,
    *,
    means: Sequence[int] = _MEANS,
    distributions: Sequence[str] = OTHERS,
    delta: object = None,
) -> Any:
    """Chart the winner's quality against cost: a line for each distribution, a mark for each mean.

    Example:
        >>> chart = tuning_chart(PureDP(1), means=[2, 10, 40])
        >>> chart.to_dict()["title"]["text"]
        'The best of several private runs: what it costs, what it finds'
    """
    if len(means) < 2:
        raise ParameterError("⟨means⟩ must name at least two mean numbers of runs")
    asked = list(dict.fromkeys(distributions))
    usual = [name for name in asked if name in ("geometric", "logarithmic")] or asked
    records = [record for name in usual for record in _records(cost, means, name, delta)]
    # A fixed number of runs soon costs more than fits on the same axis, and takes long to compute.
    dearest = _TOO_DEAR * max(record["epsilon"] for record in records)
    for name in asked:
        if name not in usual:
            affordable = takewhile(
                lambda record: record["epsilon"] <= dearest, _records(cost, means, name, delta)
            )
            records.extend(affordable)
    shown = sorted(records, key=lambda record: asked.index(record["law"]))
    chart = line_chart(
        shown,
        x=("epsilon", "ε of the whole search"),
        y=("chance", "chance of a winner in the best 5 %"),
        series="law",
    )
    return styled(
        chart,
        title="The best of several private runs: what it costs, what it finds",
        subtitle=[
            f"Marks: {min(means)} to {max(means)} runs on average; more expensive ones are left out"
        ],
    )


def _records(
    cost: object, means: Sequence[int], name: str, delta: object
) -> Iterator[dict[str, Any]]:
    for mean in sorted(means):
        offer = _offer(cost, law_named(name, mean), delta)
        chance = offer.runs.chance_of_top(Fraction(1, 20))
        yield {"law": name, "mean": mean, "epsilon": offer.epsilon, "chance": chance}


def cost_stated(epsilon: Fraction | None, rho: Fraction | None, delta: object) -> Guarantee:
    """Return one run's cost from ε, (ε, δ) or ρ."""
    from discreet.guarantees import ZCDP

    if (epsilon is None) == (rho is None) or (delta is not None and epsilon is None):
        raise ParameterError(
            "give ⟨epsilon_per_run⟩, or it and ⟨delta_per_run⟩, or ⟨rho_per_run⟩ alone"
        )
    if rho is not None:
        return ZCDP(rho)
    return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
