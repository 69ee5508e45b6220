"""A ledger in a copy, or in another process, is the same ledger."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from discreet import PureDP
from discreet.errors import BudgetExceededError, LedgerError
from discreet.ledger import Ledger

SECRET = "correct horse"  # noqa: S105  # a password for the test


def _spend(ledger: Any) -> str:
    return str(ledger.spend("visits", PureDP("0.5")))


def test_a_copy_is_the_same_ledger(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert copy.deepcopy({"ledger": ledger})["ledger"] is ledger
        assert copy.copy(ledger) is ledger


def test_another_process_spends_from_the_same_budget(address: str) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as others:
            assert others.submit(_spend, ledger).result() == "visits #2"
        assert _spend(ledger) == "visits #3"
        with pytest.raises(BudgetExceededError):
            _spend(pickle.loads(pickle.dumps(ledger)))  # noqa: S301 - our own


def test_a_password_is_not_written_into_a_pickle(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(postgres) as ledger:
        place = ledger._store.place
        for url in (
            place.url.set(password=SECRET),
            place.url.update_query_dict({"password": SECRET}),
        ):
            monkeypatch.setattr(ledger._store, "place", type(place)(url))
            with pytest.raises(LedgerError, match="PGPASSWORD") as caught:
                pickle.dumps(ledger)
            assert "horse" not in str(caught.value)
