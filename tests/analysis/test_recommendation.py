from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Exponential,
    ExponentialRandomizedResponse,
    PermuteAndFlip,
    PureDP,
    Scores,
)
from discreet.accounting import Event
from discreet.analysis import expected_error, recommend, worst_case_error
from discreet.errors import BudgetExceededError, NotPrivateError, ParameterError
from discreet.ledger import Ledger
from discreet.mechanisms.registry import mechanism_named

SCORES = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)


def test_one_release_under_pure_dp() -> None:
    advice = recommend(SCORES, budget=PureDP("0.1"))
    assert advice.mechanism == PermuteAndFlip(epsilon="0.1")
    assert advice.crossover is None
    assert advice.options[0].error == expected_error(advice.mechanism, SCORES)
    assert [option.error for option in advice.options] == sorted(o.error for o in advice.options)
    assert "permute-and-flip is never worse" in str(advice)


def test_many_releases_under_pure_dp_share_it_equally() -> None:
    advice = recommend(n=50, budget=PureDP(1), releases=3)
    assert advice.mechanism == PermuteAndFlip(epsilon="0.333333")
    assert advice.options[0].error == worst_case_error(advice.mechanism, 50)


@pytest.mark.parametrize("budget", [ZCDP("0.5"), ZCDP("0.001"), ApproxDP(1, "1e-6")])
def test_many_releases_belong_to_the_exponential_mechanism(budget: Any) -> None:
    advice = recommend(n=100, budget=budget, releases=200)
    assert advice.mechanism.name == "exponential"
    assert advice.crossover is not None
    assert 1 <= advice.crossover <= 200
    ours = next(o for o in advice.options if o.mechanism == "permute-and-flip")
    assert advice.options[0].epsilon > 1.8 * ours.epsilon


def test_the_crossover_is_where_the_errors_cross() -> None:
    budget = ApproxDP(1, "1e-6")
    crossover = recommend(n=100, budget=budget).crossover
    assert crossover is not None
    for releases, winner in ((crossover - 1, "permute-and-flip"), (crossover, "exponential")):
        pair = recommend(
            n=100, budget=budget, releases=releases, mechanisms=[PermuteAndFlip, Exponential]
        )
        assert pair.options[0].mechanism == winner


def test_lists_fixed_in_advance_allow_more() -> None:
    budget = ApproxDP(1, "1e-6")
    fixed, adaptive = (
        recommend(n=10, budget=budget, releases=8, mechanisms=Exponential, adaptive=kind)
        for kind in (False, True)
    )
    assert fixed.options[0].epsilon > adaptive.options[0].epsilon


def test_bad_input_is_refused() -> None:
    with pytest.raises(NotPrivateError):
        recommend(n=4, budget=PureDP(1), mechanisms=ExponentialRandomizedResponse)
    for budget in (PureDP(1), ApproxDP(1, "1e-9")):
        with pytest.raises(ParameterError, match="large-gap cannot be used"):
            recommend(n=4, budget=budget, mechanisms="large-gap")
    for bad in (BoundedRange(1), 1, PureDP(0), PureDP(float("inf")), ApproxDP(0, "1e-6")):
        with pytest.raises(ParameterError, match="budget"):
            recommend(n=4, budget=bad)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ParameterError, match="releases"):
        recommend(n=4, budget=PureDP(1), releases=0)
    with pytest.raises(ParameterError, match="scores and n="):
        recommend(budget=PureDP(1))
    with pytest.raises(ParameterError, match="scores have their own"):
        recommend(SCORES, budget=PureDP(1), gap=3)


@pytest.mark.parametrize("releases", [1, 3, 7, 50, 1000])
@pytest.mark.parametrize(
    "budget", [PureDP(1), PureDP("0.07"), ZCDP("0.5"), ApproxDP(1, "1e-6"), ApproxDP("0.3", "1e-9")]
)
def test_the_budget_that_it_names_pays_for_what_it_recommends(
    budget: Any, releases: int, tmp_path: Path
) -> None:
    advice = recommend(n=100, budget=budget, releases=releases)
    typed = re.search(r"ε = (\S+) for each release", str(advice))
    assert typed is not None
    with Ledger.open(tmp_path / "budget.db") as ledger:
        for option in advice.options:
            figure = typed[1] if option is advice.options[0] else repr(option.epsilon)
            promise = mechanism_named(option.mechanism, epsilon=figure).promise_at(Fraction(1))
            ledger.create(option.mechanism, budget, accountant=option.accountant)
            ledger.create(f"{option.mechanism}-2", budget, accountant=option.accountant)
            ledger.spend(option.mechanism, Event(promise, count=releases))
            more = mechanism_named(option.mechanism, epsilon=option.epsilon * 1.00003)
            with pytest.raises(BudgetExceededError):
                ledger.spend(
                    f"{option.mechanism}-2", Event(more.promise_at(Fraction(1)), count=releases)
                )


@pytest.mark.parametrize("budget", [PureDP("1e-8"), ApproxDP("1e-8", "1e-6"), ZCDP("1e-11")])
def test_a_budget_of_few_units_is_used_whole_units_at_a_time(budget: Any, tmp_path: Path) -> None:
    """A budget counts in units of 10⁻¹² and rounds every release up."""
    advice = recommend(n=10, budget=budget, releases=3)
    if isinstance(budget, PureDP):
        assert {option.epsilon for option in advice.options} == {3.333e-9}
    best = advice.options[0]
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("tiny", budget, accountant=best.accountant)
        ledger.spend("tiny", Event(advice.mechanism.promise_at(Fraction(1)), count=3))
    assert advice.crossover is None or advice.crossover <= 10_000


@pytest.mark.parametrize("budget", [PureDP("2e-12"), ApproxDP("2e-12", "1e-6"), ZCDP("2e-12")])
def test_a_budget_that_is_too_small_is_said_to_be(budget: Any) -> None:
    with pytest.raises(ParameterError, match=r"too small for 3 releases.* units of 10⁻¹²"):
        recommend(n=10, budget=budget, releases=3)


def test_its_own_delta_is_the_reason_only_where_it_is() -> None:
    for budget in (PureDP(1), ZCDP(1), ApproxDP(1, "1e-9")):
        with pytest.raises(ParameterError, match="its own δ is more than"):
            recommend(n=4, budget=budget, mechanisms="large-gap")


@pytest.mark.parametrize("budget", [ZCDP("0.5"), ApproxDP(1, "1e-6"), PureDP(1)])
def test_one_epsilon_is_one_figure_wherever_it_is_printed(budget: Any) -> None:
    advice = recommend(n=100, budget=budget, releases=50)
    printed = set(re.findall(r"ε = (0\.\d+)", str(advice)))
    assert printed <= {f"{option.epsilon!r}" for option in advice.options}
