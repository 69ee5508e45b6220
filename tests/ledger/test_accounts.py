"""Parts for analysts, disjoint groups of people, and budgets that renew."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ZCDP, ApproxDP, PureDP
from discreet.errors import BudgetExceededError, NoBudgetError, ParameterError
from discreet.ledger import Ledger, clock
from discreet.ledger.accountants import ACCOUNTANTS
from discreet.ledger.accounts import Account
from discreet.ledger.amounts import Amount

DAY = 24 * 3600 * 1_000_000


def test_a_part_is_set_aside_and_can_be_revoked(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(3))
        ledger.allot("visits/alice", PureDP(1))
        assert ledger.show("visits").left == "ε = 2"
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("2.1"))
        ledger.spend("visits/alice", PureDP("0.25"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", PureDP("0.8"))
        assert ledger.show("visits").left == "ε = 2"
        ledger.revoke("visits/alice", purpose="left the team")
        assert ledger.show("visits").left == "ε = 2.75"
        assert ledger.show("visits/alice").left == "ε = 0"
        with pytest.raises(NoBudgetError, match="revoked"):
            ledger.spend("visits/alice", PureDP("0.1"))
        with pytest.raises(NoBudgetError, match="revoked"):
            ledger.revoke("visits/alice")
        assert [entry.kind for entry in ledger.history("visits/alice")] == [
            "allot",
            "spend",
            "revoke",
        ]
        assert ledger.verify("visits").holds


def test_parts_of_parts_go_with_the_whole(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(3))
        ledger.allot("visits/team", share="1/2")
        ledger.allot("visits/team/alice", share="1/3")
        assert ledger.show("visits/team").left == "ε = 1"
        ledger.spend("visits/team/alice", PureDP("0.125"))
        ledger.revoke("visits/team")
        assert ledger.show("visits").left == "ε = 2.875"
        with pytest.raises(NoBudgetError):
            ledger.spend("visits/team/alice", PureDP("0.1"))
        ledger.revoke("visits")
        with pytest.raises(NoBudgetError):
            ledger.spend("visits", PureDP("0.1"))
        assert ledger.plan("visits", PureDP("0.1")).most == 0
        assert ledger.verify("visits").holds


def test_parts_that_cannot_be(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        with pytest.raises(BudgetExceededError):
            ledger.allot("visits/alice", PureDP(2))
        with pytest.raises(ParameterError):
            ledger.allot("visits/alice", ZCDP(1))
        with pytest.raises(ParameterError):
            ledger.allot("visits/alice")
        with pytest.raises(ParameterError):
            ledger.allot("alice", PureDP(1))
        with pytest.raises(ParameterError):
            ledger.allot("visits/alice", share=2)
        with pytest.raises(NoBudgetError):
            ledger.allot("visits/nobody/alice", PureDP("0.1"))
        ledger.allot("visits/alice", PureDP("0.1"))
        with pytest.raises(ParameterError, match="already"):
            ledger.allot("visits/alice", PureDP("0.1"))


def test_parts_of_a_budget_with_delta(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", ApproxDP(3, "1e-6"))
        ledger.allot("visits/alice", ZCDP("0.05"))
        ledger.allot("visits/bob", ApproxDP(1, "1e-7"))
        ledger.allot("visits/carol", share="1/4")
        ledger.spend("visits/carol", ApproxDP("0.1", "1e-7"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits/alice", ApproxDP("0.1", "1e-7"))
        assert ledger.verify("visits").holds


def test_disjoint_groups_cost_what_the_dearest_costs(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), groups=["north", "south", "west"])
        for group in ("north", "south", "west"):
            ledger.spend("visits", PureDP("0.5"), group=group)
        assert ledger.show("visits").left == "ε = 0.5"
        ledger.spend("visits", PureDP("0.25"))
        assert ledger.show("visits").left == "ε = 0.25"
        ledger.spend("visits", PureDP("0.25"), group="north")
        with pytest.raises(BudgetExceededError, match="north"):
            ledger.spend("visits", PureDP("0.1"), group="north")
        assert ledger.plan("visits", PureDP("0.05"), group="south").most == 5
        ledger.spend("visits", PureDP("0.25"), group="south")
        with pytest.raises(ParameterError, match="the groups declared"):
            ledger.spend("visits", PureDP("0.1"), group="east")
        assert ledger.verify("visits").holds


def test_under_replacement_the_two_dearest_groups_add_up(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(2), neighbours="replace", groups=["north", "south", "west"])
        # A release under add-remove costs twice under replacement.
        ledger.spend("visits", PureDP("0.25"), group="north")
        ledger.spend("visits", PureDP("0.25"), group="south")
        ledger.spend("visits", PureDP("0.125"), group="west")
        assert ledger.show("visits").spent == "ε = 1"
        assert ledger.plan("visits", PureDP("0.05"), group="west").most == 12
        assert ledger.verify("visits").holds


def test_a_part_for_one_group(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), groups=["north", "south"])
        ledger.allot("visits/alice", PureDP("0.5"), group="north")
        ledger.allot("visits/bob", PureDP("0.75"), group="south")
        assert ledger.show("visits").left == "ε = 0.25"
        ledger.spend("visits/bob", PureDP("0.25"))
        ledger.revoke("visits/bob")
        assert ledger.show("visits").left == "ε = 0.5"
        assert ledger.verify("visits").holds


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.sampled_from(["add-remove", "replace", "one household"]),
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from([None, "a", "b", "c"])), max_size=30),
)
def test_no_person_ever_loses_more_than_the_cap(
    neighbours: str, spends: list[tuple[int, str | None]]
) -> None:
    """Brute force over every person, or every move between groups."""
    account = Account(
        "x",
        ACCOUNTANTS["epsilon"],
        neighbours,
        cap={},
        limit=Amount(20),
        groups=dict.fromkeys("abc", Amount()),
    )
    accepted = []
    for cost, group in spends:
        planned = account.left_for(group).cost
        try:
            account.charge(Amount(cost), group)
        except BudgetExceededError:
            assert cost > planned
        else:
            assert cost <= planned
            accepted.append((cost, group))
    moves = {"add-remove": [{g} for g in "abc"], "replace": [{g, h} for g in "abc" for h in "abc"]}
    for touched in moves.get(neighbours, [set("abc")]):
        assert sum(cost for cost, group in accepted if group is None or group in touched) <= 20


def test_a_renewing_budget(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    start = 1_700_000_000_000_000
    now = [start]
    monkeypatch.setattr(clock, "now", lambda: now[0])
    with Ledger.open(f"{tmp_path}/budget.db") as ledger:
        ledger.create("visits", PureDP(1), period="month")
        ledger.allot("visits/alice", PureDP("0.25"))
        ledger.spend("visits", PureDP("0.75"))
        ledger.spend("visits/alice", PureDP("0.25"))
        now[0] += 2 * DAY
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("0.1"))
        now[0] += 31 * DAY
        assert ledger.show("visits").left == "ε = 0.75", "shown as the next spend would find it"
        assert ledger.plan("visits/alice", PureDP("0.125")).most == 2
        ledger.spend("visits/alice", PureDP("0.125"))
        assert ledger.show("visits/alice").left == "ε = 0.125"
        assert ledger.show("visits").left == "ε = 0.75"
        assert [e.kind for e in ledger.history("visits")][-2:] == ["renew", "spend"]
        # A clock that is put back begins no period again, even when it is accepted.
        now[0] -= 40 * DAY
        ledger.accept_clock("visits", purpose="put back")
        ledger.spend("visits", PureDP("0.75"))
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("0.1"))
        now[0] += 41 * DAY
        with pytest.raises(BudgetExceededError):
            ledger.spend("visits", PureDP("0.1"))
        assert ledger.verify("visits").holds


def test_a_renewing_budget_on_a_server(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(postgres) as ledger:
        ledger.create("visits", PureDP(1), "week")
        ledger.spend("visits", PureDP(1))
        now = ledger._store.now
        monkeypatch.setattr(ledger._store, "now", lambda connection: now(connection) + 7 * DAY)
        ledger.spend("visits", PureDP(1))
        assert ledger.verify("visits").holds
    with pytest.raises(ParameterError, match="period"), Ledger.open(postgres) as ledger:
        ledger.create("sales", PureDP(1), "fortnight")


def test_plain_data(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1), groups=["north"])
        ledger.spend("visits", PureDP("0.1"), group="north")
        json.dumps(
            [ledger.show("visits").as_data(), *(e.as_data() for e in ledger.history("visits"))]
        )
        json.dumps(
            [ledger.plan("visits", PureDP("0.1")).as_data(), ledger.verify("visits").as_data()]
        )
