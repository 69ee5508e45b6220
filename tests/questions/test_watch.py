"""A watch: paid for first, limited in crossings, never shared; its answers follow the stated law."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import AboveThreshold, PureDP, SparseVector
from discreet._exact.sampling.above_threshold import NoisyThreshold
from discreet.errors import (
    BudgetExceededError,
    DiscreetError,
    ParameterError,
    ScoresError,
    WatchEndedError,
)
from discreet.ledger import Ledger
from tests.tools.forking import forked


def watch(**terms: Any) -> SparseVector:
    given = {"epsilon": 1, "threshold": 500, "sensitivity": 1, "crossings": 2, **terms}
    return SparseVector(**given)


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with Ledger.open(str(tmp_path / "budget.db")) as opened:
        opened.create("clinic", PureDP(2))
        yield opened


def test_spent_when_made_and_never_again(ledger: Ledger) -> None:
    made = AboveThreshold(1, threshold=500, sensitivity=1, ledger=ledger, dataset="clinic")
    assert ledger.show("clinic").left == "ε = 1"
    for _ in range(50):
        made.ask(0)
    assert ledger.show("clinic").left == "ε = 1"
    history = str(ledger.history("clinic"))
    assert "above-threshold" in history
    assert "lost if its process ends" in history
    assert made.entry is not None
    # After losing the first watch, a new one must be paid for.
    AboveThreshold(1, threshold=500, sensitivity=1, ledger=ledger, dataset="clinic")
    with pytest.raises(BudgetExceededError):
        AboveThreshold(1, threshold=500, sensitivity=1, ledger=ledger, dataset="clinic")


def test_a_wrong_parameter_spends_nothing(ledger: Ledger) -> None:
    for wrong in ({"threshold": math.nan}, {"gap_unit": 0}, {"crossings": 0}, {"noise": "none"}):
        with pytest.raises(ParameterError):
            watch(ledger=ledger, dataset="clinic", **wrong)
    with pytest.raises(ParameterError):
        watch(ledger=ledger)
    assert ledger.show("clinic").left == "ε = 2"


def test_crossings_are_counted_down_and_then_nothing_is_said() -> None:
    made = watch()
    assert [made.ask(value) for value in (0, 10**6, 0, 10**6)] == [False, True, False, True]
    assert made.left == 0
    messages = set()
    for ask, value in ((made.ask, 0), (made.ask, 10**6), (made.ask_gap, 0), (made.ask_all, [0, 1])):
        with pytest.raises(WatchEndedError) as ended:
            ask(value)
        messages.add(str(ended.value))
    assert len(messages) == 1  # for any question


def test_gaps_and_vectors_count_too() -> None:
    made = watch(crossings=4, gap_unit="0.5")
    gap = made.ask_gap(600)
    assert gap is not None
    assert gap % Fraction(1, 2) == 0
    assert 0 <= gap < 300
    assert made.ask_gap(0) is None
    assert made.ask_all(np.array([0.0, 10**6])) == [1]
    assert made.left == 2
    assert made.ask_all([10**6, 0, 10**6, 10**6]) == [0, 2]
    assert made.left == 0


@pytest.mark.parametrize("steady", [False, True])
def test_kinds_of_numbers(steady: bool) -> None:
    made = watch(crossings=100, steady=steady)
    for high in (10**6, 1e6, np.int32(10**6), np.float32(1e6), np.uint8(255) * np.int64(10**4)):
        assert made.ask(high)
        assert made.ask_all([high, -high]) == [0]
    exact: list[Any] = [Fraction(10**7, 3), 10**30]
    for high in exact:
        if steady:
            with pytest.raises(ParameterError, match="machine integer or float"):
                made.ask(high)
            with pytest.raises(ParameterError, match="machine integer or float"):
                made.ask_all([high, Fraction(1, 3)])
        else:
            assert made.ask(high)
    if steady:
        with pytest.raises(ParameterError, match="steady"):
            made.ask_gap(3)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, None, "many", True, [1], 1j])
def test_a_wrong_value_is_refused_without_its_value_and_the_watch_goes_on(wrong: Any) -> None:
    made = watch()
    for ask in (made.ask, made.ask_gap):
        with pytest.raises(ScoresError) as refused:
            ask(wrong)
        assert str(refused.value) == "values must be finite numbers, at least one"
    assert made.left == 2
    assert made.ask(10**6)


def test_never_two_that_share_noise() -> None:
    made = watch()
    for again in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(WatchEndedError, match="cannot be copied"):
            again(made)
    ended = forked(lambda: str(_asked(made)).encode())
    assert b"works only in the process that made it" in ended.said
    assert made.ask(10**6)


def _asked(made: SparseVector) -> bool | DiscreetError:
    try:
        return made.ask(0)
    except DiscreetError as error:
        return error


def test_an_interruption_ends_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    made = watch()

    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(NoisyThreshold, "crosses", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made.ask(3)
    with pytest.raises(WatchEndedError):
        made.ask(3)


def test_threads_take_turns() -> None:
    """With two hundred threads and three crossings, at most three are reported."""
    made = watch(crossings=3)
    told: list[bool] = []

    def ask() -> None:
        with contextlib.suppress(WatchEndedError):
            told.append(made.ask(10**6))

    threads = [threading.Thread(target=ask) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [True] * 3


def test_what_is_public() -> None:
    made = watch()
    made.ask(0)
    assert repr(made) == (
        "SparseVector(epsilon=1, threshold=500, sensitivity=1, crossings left: 2 of 2)"
    )
    assert made.guarantee() == PureDP(1)
    assert made.probabilities([0, 10**6]).argmax() == 1
    assert made.rule.crossings == 2
