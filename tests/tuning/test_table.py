"""The table of laws and its chart: names, chances, advice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet import ZCDP, PureDP
from discreet.errors import ParameterError
from discreet.tuning.table import advice, cost_stated, law_named, tuning_chart, tuning_table


def test_laws_by_name() -> None:
    words = [
        law_named(name, "2.5").words.partition(" number")[0]
        for name in ("geometric", "logarithmic", "negative-binomial:0.5", "poisson", "fixed")
    ]
    assert words == ["geometric", "logarithmic", "truncated negative binomial", "Poisson", "fixed"]
    assert law_named("fixed", "2.5").words == "fixed number of 3 runs"
    for wrong in ("uniform", "geometric:2", "negative-binomial", "negative-binomial:x"):
        with pytest.raises(ParameterError):
            law_named(wrong, 5)


def test_the_conclusion_says_what_the_asked_law_costs_and_what_the_cheapest_gives_up() -> None:
    names = ["geometric", "logarithmic", "poisson", "fixed"]
    conclusion, fixed, secret, _ = advice(tuning_table(PureDP(1), mean=40, distributions=names))
    asked, cheapest = conclusion.splitlines()
    assert asked.startswith(
        "A geometric number of runs (mean 40) costs ε = 2.89 if the number stays"
    )
    assert asked.endswith("is 81.6%.")
    assert cheapest == (
        "The cheapest in this table is a logarithmic number of runs (mean 40), at ε = 1.99, but there the "
        "chance is 57.9%."
    )
    assert "costs ε = 40" in fixed
    assert secret.startswith("Never publish")


def test_a_law_that_is_cheapest_is_compared_with_one_that_finds_better_winners() -> None:
    offers = tuning_table(PureDP(1), mean=40)
    assert advice(offers)[0].endswith(
        "Nothing in this table is cheaper; a geometric number of runs (mean 40) costs ε = 2.89, and there "
        "the chance is 81.6%."
    )
    best = tuning_table(PureDP(1), mean=2, distributions=["geometric", "fixed"])
    best[1] = replace(best[1], guarantee=PureDP(1))
    assert advice(best)[0].endswith(", and there the chance is 19%.")
    assert advice(best[::-1])[0].endswith("is cheaper, and nothing has a better chance.")


def test_the_table_says_what_a_fixed_number_costs() -> None:
    offers = tuning_table(PureDP(1), mean=40)
    assert len(advice(offers[:1])) == 1
    assert advice(offers[-1:])[0].startswith("A fixed number of 40 runs costs ε = 40; the chance")
    for offer in offers:
        assert offer.top_hundredth is not None
        assert offer.top_tenth is not None
        assert 0 < offer.top_hundredth < offer.top_tenth < 1
    with_target = tuning_table(PureDP(1), mean=40, distributions=["geometric"], target=True)
    assert with_target[0].published == "2ε"
    assert advice(with_target) == [
        "A geometric number of runs (mean 40) costs ε = 1.95 if the number stays secret."
    ]


def test_sixty_points_of_a_chart() -> None:
    chart = tuning_chart(PureDP(1)).to_dict()
    assert (
        30
        < len(
            chart["data"]["values"]
            if "values" in chart["data"]
            else next(iter(chart["datasets"].values()))
        )
        <= 60
    )
    with pytest.raises(ParameterError, match="at least two"):
        tuning_chart(PureDP(1), means=[3])


def test_what_is_said_of_one_run() -> None:
    from fractions import Fraction

    assert cost_stated(None, Fraction(1), None) == ZCDP(1)
    for wrong in ((None, None, None), (Fraction(1), Fraction(1), None), (None, Fraction(1), "0.1")):
        with pytest.raises(ParameterError):
            cost_stated(*wrong)
