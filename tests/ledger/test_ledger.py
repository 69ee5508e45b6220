"""Spending: accepted up to exactly the cap, refused beyond it, on every database."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count, pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ZCDP, ApproxDP, BoundedRange, Exponential, PermuteAndFlip, PureDP, Scores
from discreet.accounting import Event, compose
from discreet.accounting.accountants import ACCOUNTANTS, amount_of_data, exact_cost
from discreet.errors import BudgetExceededError, LedgerError, NoBudgetError, ParameterError
from discreet.guarantees import FlippedCoins, Guarantee, LaplaceDominated
from discreet.ledger import Ledger, store
from discreet.questions import table


def test_ten_tenths_fit_a_cap_of_one_exactly(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        for _ in range(10):
            ledger.spend("visits", PureDP("0.1"), purpose="a tenth")
        with pytest.raises(BudgetExceededError, match=r"ε = 0 is left"):
            ledger.spend("visits", PureDP("1e-12"))
        assert ledger.show("visits").left == "ε = 0"
        assert len(ledger.history("visits")) == 11
        assert ledger.verify("visits").holds


def test_a_float_tenth_is_one_tenth(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(0.3))
        for _ in range(3):
            ledger.spend("visits", PureDP(0.1))
        assert ledger.show("visits").total.cost == 300_000_000_000


def test_spends_round_up_and_caps_round_down(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP("1/3"))
        assert ledger.show("visits").limit.cost == 333_333_333_333
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("1/3"))
        ledger.spend("visits", PureDP("1e-400"))
        assert ledger.show("visits").total.cost == 1


def test_what_is_refused_changes_nothing(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        before = ledger.head("visits")
        for wrong in (PureDP(2), Event(PureDP("0.4"), count=3)):
            with pytest.raises(BudgetExceededError):
                ledger.spend("visits", wrong)
        for uncountable in (ZCDP("0.1"), ApproxDP(1, "1e-6"), PureDP(float("inf"))):
            with pytest.raises(ParameterError, match="accountant 'epsilon'"):
                ledger.spend("visits", uncountable)
        with pytest.raises(NoBudgetError, match="no budget in this ledger"):
            ledger.spend("sales", PureDP("0.1"))
        with pytest.raises(ParameterError):
            ledger.spend("visits", 0.1)  # type: ignore[arg-type]  # a bare number is not a guarantee
        assert ledger.head("visits") == before


def test_an_entry_says_everything_but_data(address: str) -> None:
    mechanism, scores = PermuteAndFlip(epsilon="0.5"), Scores([3, 1], sensitivity=1)
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(3))
        entry = ledger.spend("visits", Event.of((mechanism, scores)), purpose="mode of diagnosis")
        data = entry.as_data()
    assert data["mechanism"] == "permute-and-flip"
    assert data["parameters"]["epsilon"] == "1/2"
    assert data["guarantee"]["epsilon"] == "0.5"
    assert data["spent"] == {"cost": "0.5", "delta": "0"}
    assert data["neighbours"] == "add-remove"
    assert data["purpose"] == "mode of diagnosis"
    assert data["time"].endswith("Z")
    assert data["version"]
    assert str(entry) == "visits #2"


def test_each_accountant_counts_its_own_way(address: str) -> None:
    event = Event.of((Exponential(epsilon=1), Scores([3, 1], sensitivity=1)))
    with Ledger.open(address) as ledger:
        ledger.create("pure", PureDP(2))
        ledger.create("rho", ZCDP(1))
        ledger.create("both", ApproxDP(3, "1e-6"))
        ledger.create("basic", ApproxDP(3, "1e-6"), accountant="epsilon-delta")
        for dataset in ("pure", "rho", "both", "basic"):
            ledger.spend(dataset, event)
        rho = ledger.show("rho").total.cost
        assert 0 < rho < 125_000_000_000
        assert ledger.show("both").total.cost == rho
        assert ledger.show("pure").total.cost == ledger.show("basic").total.cost == 10**12
        ledger.spend("basic", ApproxDP(1, "1e-7"))
        assert ledger.show("basic").total.delta == 10**11
        with pytest.raises(BudgetExceededError, match="δ"):
            ledger.spend("both", ApproxDP("0.01", "6e-7"))


def test_the_limit_in_rho_implies_the_cap(address: str) -> None:
    with Ledger.open(address) as ledger:
        limit = ledger.create("visits", ApproxDP(3, "1e-6")).limit
    assert ZCDP(f"{limit.cost}e-12").to(ApproxDP, delta="5e-7").exact[0] <= 3
    assert ZCDP(f"{limit.cost + 10}e-12").to(ApproxDP, delta="5e-7").exact[0] > 3


def test_a_replacement_budget_counts_an_add_remove_release_twice(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), neighbours="replace")
        ledger.create("sales", PureDP(1))
        ledger.spend("visits", Event(BoundedRange("0.1")))
        assert ledger.show("visits").left == "ε = 0.8"
        ledger.spend("visits", Event(PureDP("0.1"), neighbours="replace"))
        assert ledger.show("visits").left == "ε = 0.7"
        with pytest.raises(ParameterError, match="says nothing"):
            ledger.spend("sales", Event(PureDP("0.1"), neighbours="replace"))


def test_a_failure_is_a_later_entry_and_keeps_the_spend(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        entry = ledger.spend("visits", PureDP("0.25"), purpose="median")
        failed = ledger.fail(entry)
        assert failed.details == {"about": 2, "outcome": "error"}
        assert ledger.show("visits").left == "ε = 0.75"
        with pytest.raises(ParameterError):
            ledger.fail(entry, "could not parse '42 kg'")
        with pytest.raises(ParameterError, match="not a spend"):
            ledger.fail(failed)
        assert ledger.verify("visits").holds


def test_spending_as_a_block_records_what_went_wrong(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        with (
            pytest.raises(ZeroDivisionError) as failed,
            ledger.spending("visits", PureDP("0.25")),
        ):
            raise ZeroDivisionError
        assert failed.value.__notes__ == ["the spend stays: visits, entry 2"]
        with ledger.spending("visits", PureDP("0.25")) as entry:
            assert entry.sequence == 4
        assert [e.kind for e in ledger.history("visits")] == ["create", "spend", "failed", "spend"]


def test_a_plan_uses_the_figures_of_a_spend(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", ZCDP("0.05"))
        plan = ledger.plan("visits", BoundedRange("0.1"), count=10)
        assert plan.fits
        for _ in range(plan.most):
            ledger.spend("visits", BoundedRange("0.1"))
        assert ledger.show("visits").total == plan.each.times(plan.most)
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", BoundedRange("0.1"))
        assert not ledger.plan("visits", BoundedRange("0.1")).fits
        assert "do not fit" in str(ledger.plan("visits", BoundedRange("0.1"), count=10))


_COSTS = st.fractions(min_value="1e-6", max_value=5, max_denominator=10**7)
_DELTAS = st.fractions(min_value=0, max_value="1e-3", max_denominator=10**21)
_GUARANTEES = st.one_of(
    st.builds(PureDP, _COSTS),
    st.builds(BoundedRange, _COSTS),
    st.builds(LaplaceDominated, _COSTS),
    st.builds(FlippedCoins, _COSTS),
    st.builds(ZCDP, _COSTS),
    st.builds(ApproxDP, _COSTS, _DELTAS),
)


_STEP = Fraction(1, 10**12)


@pytest.fixture(scope="module")
def every_accountant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger with a large budget for each accountant."""
    with Ledger.open(tmp_path_factory.mktemp("accountants") / "budget.db") as ledger:
        for name, accountant in ACCOUNTANTS.items():
            figures = (10**5, "0.9") if accountant.counts_delta else (10**5,)
            cap = accountant.measure(*figures)
            ledger.create(name, cap, accountant=name, neighbours="replace")
        yield ledger


@given(_GUARANTEES, st.integers(1, 50), st.sampled_from(["add-remove", "replace"]))
@settings(max_examples=40)
def test_what_is_planned_is_what_is_paid(
    every_accountant: Ledger, guarantee: Guarantee, count: int, neighbours: str
) -> None:
    """Checked with every accountant, for releases charged together and one by one."""
    ledger, event = every_accountant, Event(guarantee, count=count, neighbours=neighbours)
    for name in ACCOUNTANTS:
        try:
            plan = ledger.plan(name, event, count=2)
        except ParameterError as refused:
            with pytest.raises(ParameterError, match=re.escape(str(refused))):
                ledger.spend(name, event)
            continue
        if not plan.fits:
            continue
        before = ledger.show(name).total
        assert amount_of_data(ledger.spend(name, event).details["spent"]) == plan.each
        ledger.spend(name, event)
        assert ledger.show(name).total - before == plan.cost
        # At least the joint cost of the releases, and less than one grid step above it.
        total = compose([event.under("replace")])
        if name in ("epsilon", "rho"):
            exact = (total.pure if name == "epsilon" else total.zcdp).exact
            assert 0 <= exact_cost(plan.each.cost) - exact < _STEP


def test_five_quantiles_fit_what_is_left(address: str) -> None:
    """Three choices at a third of ε each are charged together as ε, without rounding up three times."""
    people = pl.DataFrame({"person": range(200), "age": [20 + i % 41 for i in range(200)]})
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        assert ledger.plan("visits", PureDP(1)).fits
        visits = table(people, user="person", ledger=ledger, dataset="visits")
        answer = visits.quantiles("age", at=[0.1, 0.25, 0.5, 0.75, 0.9], bounds="0:120", epsilon=1)
        assert len(answer.answer) == 5
        assert ledger.show("visits").left == "ε = 0"


def test_a_budget_is_made_once(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        with pytest.raises(
            ParameterError, match="already has a budget: use it, or choose another name"
        ):
            ledger.create("visits", PureDP(5))
        for name in ("", "a/b", " visits", "new\nline", 7):
            with pytest.raises(ParameterError):
                ledger.create(name, PureDP(1))  # type: ignore[arg-type]  # wrong on purpose
        for cap in (PureDP(float("inf")), PureDP("1e7"), BoundedRange(1), 3):
            with pytest.raises(ParameterError):
                ledger.create("sales", cap)  # type: ignore[arg-type]  # wrong on purpose


def test_spending_takes_no_randomness() -> None:
    for method in (Ledger.spend, Ledger.fail, Ledger.spending, Ledger.open):
        names = set(inspect.signature(method).parameters)
        assert not names & {"seed", "randomness", "bits", "rng"}
    with pytest.raises(ParameterError):
        Event(PureDP(1), parameters={"randomness": object()})  # type: ignore[dict-item]  # wrong on purpose


def test_what_was_spent_is_there_when_opened_again(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        ledger.spend("visits", PureDP("0.25"))
        head = ledger.head("visits")
    with Ledger.open(address, create=False) as again:
        assert again.show("visits").left == "ε = 0.75"
        assert again.verify("visits", head=str(head)).holds
        assert isinstance(again.budgets()[0].as_data()["head"], str)
        total = again.show("visits")
        assert total.as_data()["proof"] == str(total.proof)
        assert total.proof.pages == ("docs/proofs/ledger.md",)


def test_errors_have_one_root() -> None:
    assert issubclass(BudgetExceededError, LedgerError)
    assert issubclass(NoBudgetError, LedgerError)


def test_kept_answers_are_read_again_and_change_nothing(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", PureDP(3))
        entry = ledger.spend("visits", PureDP(1), purpose="mode")
        before = ledger.show("visits").total
        ledger.keep(entry, {"answer": "flu"})
        assert [(spend.sequence, kept) for spend, kept in ledger.answers("visits")] == [
            (entry.sequence, {"answer": "flu"})
        ]
        assert ledger.show("visits").total == before
        assert ledger.verify("visits").holds
        with pytest.raises(ParameterError, match="not a spend of this ledger"):
            ledger.keep(replace(entry, hash="0"), {})


def test_a_budget_is_got_where_there_is_one(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        made = ledger.get_or_create("visits", PureDP(3), period="year")
        assert ledger.get_or_create("visits", PureDP(3), period="year").head == made.head
        others: list[tuple[Guarantee, dict[str, str]]] = [
            (PureDP(4), {"period": "year"}),
            (PureDP(3), {}),
            (PureDP(3), {"period": "year", "neighbours": "replace"}),
            (ZCDP(3), {"period": "year"}),
        ]
        for cap, terms in others:
            with pytest.raises(ParameterError, match="already has a budget with other terms"):
                ledger.get_or_create("visits", cap, **terms)


def test_a_budget_with_other_groups_or_another_delta_is_not_the_one_asked_for(
    tmp_path: Path,
) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        cap, groups = ApproxDP(3, "1e-6"), ["south", "north"]
        for _ in range(2):
            # In any order, also from an iterator; half of δ is the default.
            ledger.get_or_create("visits", cap, groups=iter(groups), delta_for_releases="5e-7")
            ledger.get_or_create("visits", cap, groups=reversed(groups))
            ledger.get_or_create("basic", cap, accountant="epsilon-delta")
            ledger.get_or_create("sales", PureDP(1))
        for other in (["north"], [], ["north", "south", "west"]):
            with pytest.raises(ParameterError, match=r"already .*groups: \['north', 'south'\]"):
                ledger.get_or_create("visits", cap, groups=other)
        with pytest.raises(ParameterError, match=r"already .*groups: \[\]"):
            ledger.get_or_create("sales", PureDP(1), groups=["north"])
        with pytest.raises(ParameterError, match=r"already .*delta_for_releases: 5e-7"):
            ledger.get_or_create("visits", cap, groups=groups, delta_for_releases="1e-7")
        # What is refused for a new budget is refused for an existing one.
        wrong: list[dict[str, object]] = [
            {"groups": ["north", "north"]},
            {"groups": groups, "delta_for_releases": "1e-6"},
            {"groups": groups, "accountant": "epsilon-delta", "delta_for_releases": "1e-7"},
            {"groups": groups, "period": "fortnight"},
        ]
        for terms in wrong:
            with pytest.raises(ParameterError):
                ledger.get_or_create("visits", cap, **terms)
        for name in ("visits", "new"):
            with pytest.raises(TypeError, match="perod"):
                ledger.get_or_create(name, cap, groups=groups, perod="year")


def test_only_an_accepted_clock_is_dated_before_the_entry_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(4)  # noqa: S311  # the same times on every run
    moment, numbers, refusals = 1_700_000_000, count(), []
    monkeypatch.setattr(store, "system_clock", lambda: moment * 1_000_000)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", PureDP(1), "month")
        entry = ledger.spend("visits", PureDP("0.001"))
        acts: list[Callable[[], object]] = [
            lambda: ledger.spend("visits", PureDP("0.001")),
            lambda: ledger.fail(entry),
            lambda: ledger.allot(f"visits/{next(numbers)}", PureDP("0.001")),
            lambda: ledger.accept_clock("visits", purpose="set by hand"),
        ]
        for _ in range(150):
            moment += chance.choice([-3_000_000, -3601, -61, -60, 0, 3607, 4_000_000, 6_000_000])
            try:
                chance.choice(acts)()
            except LedgerError as error:
                refusals.append(str(error))
        history = ledger.history("visits")
        assert ledger.verify("visits").holds
    backwards = {after.kind for before, after in pairwise(history) if after.time < before.time}
    assert backwards == {"clock"}
    renewals = [entry.details["number"] for entry in history if entry.kind == "renew"]
    assert renewals == sorted(set(renewals))
    assert len(refusals) > 10 < len(renewals)
    assert all("the clock has gone back" in refusal for refusal in refusals)


def test_a_budget_that_adds_up_rho_says_what_it_still_pays_for_in_epsilon(address: str) -> None:
    """An ε = 3 budget that adds up ρ cannot pay for every question of ε = 1."""
    with Ledger.open(address) as ledger:
        ledger.create("both", ApproxDP(3, "1e-6"))
        ledger.create("rho", ZCDP("0.1"))
        ledger.create("pure", PureDP(1))
        with pytest.raises(BudgetExceededError) as caught:
            ledger.spend("both", PureDP(1))
        said = str(caught.value)
        assert said.startswith("both: ρ = 0.4622, δ = 0 does not fit: ")
        assert "ρ = 0.1757, δ = 5e-7 is left. This budget (ε = 3, δ = 1e-06) adds up ρ" in said
        assert "any one question of ε = 0.6016 or less" in said
        assert said.endswith("the accountant 'epsilon-delta' adds up ε instead")
        with pytest.raises(BudgetExceededError):
            ledger.spend("both", PureDP("0.6018"))
        ledger.spend("both", PureDP("0.6016"))
        with pytest.raises(BudgetExceededError, match=r"any one question of ε = 0.4\d* or less$"):
            ledger.spend("rho", PureDP(1))
        ledger.spend("rho", ZCDP("0.1"))
        with pytest.raises(BudgetExceededError, match=r"ρ = 0 is left$"):
            ledger.spend("rho", PureDP(1))
        with pytest.raises(BudgetExceededError, match=r"ε = 1 is left$"):
            ledger.spend("pure", PureDP(2))
        with pytest.raises(BudgetExceededError, match=r"δ = 5e-7 is left$"):  # there is enough ρ
            ledger.spend("both", ApproxDP("1e-6", "6e-7"))


def test_a_spend_with_a_delta_needs_a_budget_with_one(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("pure", PureDP(3))
        with pytest.raises(ParameterError, match=r"needs a δ \(1e-6\), and this budget has none"):
            ledger.spend("pure", ApproxDP(2, "1e-6"))
