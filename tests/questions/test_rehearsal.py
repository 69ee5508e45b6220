"""A rehearsal runs the code for real answers on invented rows; it reads no row and spends nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from discreet import ApproxDP, table
from discreet.errors import TableError
from discreet.ledger import Ledger
from discreet.questions import (
    Bound,
    FirstAbove,
    Median,
    Mode,
    PrivateTable,
    Quantiles,
    Question,
    TopK,
)

CODES, CLINICS = ["flu", "cold", "gout"], ["north", "south"]
QUESTIONS: dict[str, Question] = {
    "mode": Mode("code", candidates=CODES, epsilon=1, where="age >= 18", with_people=True),
    "mode, unknown": Mode("code", delta="1e-6", epsilon=1),
    "mode, by groups": Mode("code", candidates=CODES, by="clinic", groups=CLINICS, epsilon=1),
    "mode, found groups": Mode("code", candidates=CODES, by="clinic", delta="1e-6", epsilon=1),
    "mode, chosen bound": Mode(
        "code", candidates=CODES, by="clinic", groups=CLINICS, groups_per_person="choose", epsilon=1
    ),
    "top_k": TopK("code", k=2, candidates=CODES, epsilon=1, with_count=True),
    "median": Median("age", bounds=(0, 120), epsilon=1),
    "quantiles": Quantiles("age", at=[0.1, 0.5, 0.9], bounds=(0, 120), epsilon=1),
    "bound": Bound("age", epsilon=1),
    "first_above": FirstAbove("code", groups=CODES, above=100, epsilon=1),
    "for an error": Mode("code", candidates=CODES, error_at_most=20),
}


@pytest.fixture
def held(tmp_path: Path) -> Iterator[PrivateTable]:
    """A table with declared columns but unreadable rows."""
    relation = duckdb.sql(
        "SELECT i AS person, error('read')::VARCHAR AS code, error('read')::VARCHAR AS clinic, "
        "error('read')::BIGINT AS age FROM range(9) t(i)"
    )
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", ApproxDP(3, "1e-3"), accountant="epsilon-delta")
        yield table(relation, user="person", ledger=ledger, dataset="clinic")


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_row_is_read_and_nothing_is_spent(name: str, held: PrivateTable) -> None:
    left = held.left
    rehearsed = held.rehearse(QUESTIONS[name])
    assert rehearsed.invented
    assert (rehearsed.entry, rehearsed.meter) == (None, None)
    assert "INVENTED ROWS" in rehearsed.card.in_text(80)
    assert str(rehearsed).startswith("INVENTED ROWS")
    assert held.left == left
    # Asking the same question does read rows.
    with pytest.raises(TableError):
        held.ask(QUESTIONS[name])


def test_what_is_named_is_public(held: PrivateTable) -> None:
    for _ in range(5):
        assert held.rehearse(QUESTIONS["mode"]).answer in CODES
        assert set(held.rehearse(QUESTIONS["mode, by groups"]).answer) == set(CLINICS)
        assert 0 <= held.rehearse(QUESTIONS["median"]).answer <= 120
