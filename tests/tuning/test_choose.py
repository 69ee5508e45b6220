"""``choose_run``: paid first, returns only the best, ranks failures last, reveals nothing about losers."""

from __future__ import annotations

import io
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import ZCDP, ApproxDP, PureDP
from discreet.accounting import Event
from discreet.errors import BudgetExceededError, ParameterError
from discreet.ledger import Ledger
from discreet.testing import scripted
from discreet.tuning import Fixed, Geometric, Poisson, choose_run
from discreet.tuning import choose as subject
from discreet.tuning.choose import NONE


def _identity(setting: Any) -> tuple[Any, Any]:
    return setting, f"result {setting}"


def test_the_best_of_the_runs_is_released() -> None:
    best = choose_run(_identity, [1, 2, 3], cost=PureDP(1), runs=Fixed(60))
    assert best.found
    assert (best.setting, best.result) == (3, "result 3")
    assert best.guarantee == PureDP(60)
    assert best.guarantee.proof is not None
    assert "The caller promises" in str(best)


def test_settings_may_come_from_a_sampler_and_qualities_be_any_numbers() -> None:
    qualities = iter([Decimal("0.5"), Fraction(2, 3), 0.1, 10**30, float("-inf"), True])
    best = choose_run(
        lambda quality: (quality, None), lambda: next(qualities), cost=PureDP(1), runs=Fixed(6)
    )
    assert best.setting == 10**30


def test_failures_are_the_worst_and_all_failures_are_none() -> None:
    def failing(setting: Any) -> tuple[Any, Any]:
        if setting == "raise":
            raise ValueError("patient 17 has no age")
        if setting == "shape":
            return 1  # type: ignore[return-value]
        return {"nan": float("nan"), "text": "good", "none": None, "dec": Decimal("NaN")}.get(
            setting, -1e300
        ), setting

    bad = ["raise", "shape", "nan", "text", "none", "dec"]
    best = choose_run(failing, bad, cost=PureDP(1), runs=Fixed(40))
    assert not best.found
    assert best.setting is None
    assert best.result is None
    assert str(best).startswith(NONE)
    assert "17" not in str(best)
    assert choose_run(failing, [*bad, "fine"], cost=PureDP(1), runs=Fixed(90)).setting == "fine"


def test_a_poisson_number_may_be_none() -> None:
    best = choose_run(_identity, [1], cost=PureDP(1), runs=Poisson(mean="1e-12"))
    assert not best.found


def test_ties_are_broken_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of five runs tie; in 1,500 scripted choices each wins equally often, within 6.2 deviations."""
    bits = scripted("ties")
    monkeypatch.setattr(subject, "SecureBits", lambda: bits)
    counts: Counter[int] = Counter()
    for _ in range(1_500):
        best = choose_run(
            lambda place: (1 if place % 2 == 0 else 0, None),
            iter([0, 1, 2, 3, 4]).__next__,
            cost=PureDP(1),
            runs=Fixed(5),
        )
        counts[best.setting] += 1
    assert set(counts) == {0, 2, 4}
    for place in (0, 2, 4):
        assert abs(counts[place] - 500) < 6.2 * (1500 * 2 / 9) ** 0.5


def test_the_first_to_reach_a_target() -> None:
    seen: list[int] = []

    def run(setting: int) -> tuple[int, int]:
        seen.append(setting)
        return setting, setting

    best = choose_run(run, list(range(10)), cost=PureDP(1), target=5)
    assert best.setting == seen[-1] >= 5
    assert all(setting < 5 for setting in seen[:-1])
    assert best.guarantee < PureDP(2)
    never = choose_run(run, [0, 1], cost=PureDP(1), target=5, runs=Geometric(mean=3))
    assert not never.found


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}") as opened:
        opened.create("clinic", PureDP(4))
        yield opened


def test_the_whole_cost_is_spent_before_the_first_run(ledger: Any) -> None:
    left: list[str] = []

    def run(setting: int) -> tuple[int, int]:
        left.append(ledger.show("clinic").left)
        return setting, setting

    best = choose_run(
        run, [1], cost=PureDP(1), runs=Geometric(mean=20), ledger=ledger, dataset="clinic"
    )
    assert best.entry is not None
    assert set(left) == {ledger.show("clinic").left}
    assert "ε = 1.2" in left[0]
    with pytest.raises(BudgetExceededError):
        choose_run(
            _identity, [1], cost=PureDP(1), runs=Geometric(mean=20), ledger=ledger, dataset="clinic"
        )


def test_an_interrupt_leaves_the_spend_and_says_so(ledger: Any) -> None:
    def run(_setting: int) -> tuple[int, int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="stays spent: clinic, entry") as stopped:
        choose_run(
            run, [1], cost=PureDP(1), runs=Geometric(mean=20), ledger=ledger, dataset="clinic"
        )
    assert "2.7" in str(stopped.value)
    assert "ε = 1.2" in ledger.show("clinic").left


def test_progress_shows_the_time_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with subject._clock(shown=True):
        pass
    choose_run(_identity, [1], cost=PureDP(1), runs=Fixed(500), progress=True)
    assert set(screen.getvalue()) <= set("\r\x1b[K")


def test_costs_are_taken_under_the_relation_of_the_whole() -> None:
    event = Event(PureDP(1), neighbours="add-remove")
    best = choose_run(_identity, [1], cost=event, runs=Fixed(1), neighbours="replace")
    assert best.guarantee == PureDP(2)
    with pytest.raises(ParameterError, match="says nothing"):
        choose_run(_identity, [1], cost=Event(PureDP(1), neighbours="replace"), runs=Fixed(1))
    listed = choose_run(
        _identity, [1], cost=[PureDP(1), PureDP(1)], runs=Fixed(1), neighbours="replace"
    )
    assert listed.guarantee == PureDP(2)
    with_delta = choose_run(_identity, [1], cost=ZCDP("0.1"), runs=Geometric(mean=2), delta="1e-6")
    assert isinstance(with_delta.guarantee, ApproxDP)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"settings": []}, "a list of settings"),
        ({"settings": "abc"}, "a list of settings"),
        ({"settings": 3}, "a list of settings"),
        ({"runs": None}, "runs= is needed"),
        ({"target": "high"}, "target"),
        ({"target": float("nan")}, "target"),
        ({"cost": PureDP(float("inf"))}, "finite"),
        ({"dataset": "clinic"}, "go together"),
        ({"neighbours": "cousins"}, "neighbours"),
    ],
)
def test_wrong_parameters_cost_nothing_and_run_nothing(given: dict[str, Any], words: str) -> None:
    def never(_setting: Any) -> tuple[Any, Any]:
        raise AssertionError("nothing runs")

    arguments: dict[str, Any] = {"settings": [1], "cost": PureDP(1), "runs": Geometric(mean=2)}
    arguments |= given
    settings = arguments.pop("settings")
    with pytest.raises(ParameterError, match=words):
        choose_run(never, settings, **arguments)
