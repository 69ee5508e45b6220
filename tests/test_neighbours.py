"""A neighbour relation is stored as a plain string."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from discreet import PureDP
from discreet.accounting import Event
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.neighbours import Neighbours


def test_a_relation_is_its_text() -> None:
    for relation in Neighbours:
        text = str(relation)
        assert type(text) is str
        assert relation == text
        assert hash(relation) == hash(text)
        assert repr(relation) == repr(text)
        assert Neighbours.named(text) is relation
        assert pickle.loads(pickle.dumps(relation)) is relation  # noqa: S301 - our own bytes
        assert json.dumps(relation) == json.dumps(text)
    for wrong in ("twins", None, 1, ["replace"], ""):
        with pytest.raises(ParameterError, match="neighbours="):
            Neighbours.named(wrong)


def test_events_and_entries_hold_plain_text(tmp_path: Path) -> None:
    event = Event(PureDP(1), neighbours=Neighbours.REPLACE)
    assert type(event.neighbours) is str
    assert event == Event(PureDP(1), neighbours="replace")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", PureDP(2), neighbours=Neighbours.REPLACE)
        ledger.spend("visits", event)
        created, spent = ledger.history("visits")
        assert type(ledger.show("visits").neighbours) is str
        assert created.details["neighbours"] == spent.details["neighbours"] == "replace"
