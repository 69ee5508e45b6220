"""Public keys in a database: many of them, none of them, and of every kind a column may have."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet._tables import Rows, open_table, people_per_candidate
from tests.tools.engines import DATABASES, Columns, made

KEYS: dict[str, list[Any]] = {
    "code": ["flu", "it's", "a,b", "größe", "{}", "\\", ""],
    "number": [-3, 0, 7, 2**62, 5],
    "part": [-0.5, 0.1, 1e300, 3.0],
    "amount": [Decimal("-1.50"), Decimal("7.00"), Decimal("0.01")],
    "day": [datetime.date(1, 1, 1), datetime.date(2024, 2, 29)],
    "said": [True, False],
}


def _held(kind: str, columns: Columns, request: pytest.FixtureRequest, folder: Path) -> Any:
    server = request.getfixturevalue("postgres_database") if kind == "ibis_postgres" else None
    return open_table(made(kind, columns, folder, None, server), needed=list(columns))


@pytest.mark.parametrize("kind", DATABASES)
def test_keys_of_every_kind_find_their_rows(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Each key has one person more than the one before, and by a second column the same again."""
    for column, keys in KEYS.items():
        if kind == "ibis_sqlite" and column in ("amount", "said", "day"):
            continue  # kept there as other types, see docs/databases.md
        values = [key for place, key in enumerate(keys) for _ in range(place + 1)]
        table = _held(
            kind,
            {"person": list(range(len(values))), column: values, "copy": values},
            request,
            tmp_path,
        )
        expected = np.arange(1, len(keys) + 1)
        asked: dict[str, Any] = {"column": column, "keys": keys}
        alone = people_per_candidate(table, Rows(user="person"), **asked)
        assert alone.tolist() == [expected.tolist()]
        for most in (1, len(keys)):
            rows = Rows(user="person", by="copy", groups=tuple(keys), groups_per_person=most, key=7)
            assert (people_per_candidate(table, rows, **asked) == np.diag(expected)).all()


@pytest.mark.parametrize("kind", DATABASES)
def test_a_hundred_thousand_groups(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Against counting by hand; most groups are empty, and most of the rows are of none of them."""
    groups = 100_000 if kind == "ibis_postgres" else 200
    rng = np.random.default_rng(1)
    person, clinic, code = rng.integers(0, [[30], [3 * groups], [4]], (3, 300))
    table = _held(
        kind,
        {"person": person.tolist(), "clinic": clinic.tolist(), "code": code.tolist()},
        request,
        tmp_path,
    )
    rows = Rows(user="person", by="clinic", groups=tuple(range(groups)), groups_per_person=groups)
    counted = people_per_candidate(table, rows, column="code", keys=[2, 0, 1])
    expected = np.zeros((groups, 3), dtype=np.int64)
    for _, group, value in {*zip(person.tolist(), clinic.tolist(), code.tolist(), strict=True)}:
        if group < groups and value < 3:
            expected[group, [2, 0, 1].index(value)] += 1
    assert counted.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", DATABASES)
def test_no_key_that_the_column_could_hold(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    table = _held(kind, {"person": [1, 2], "number": [5, 6]}, request, tmp_path)
    counted = people_per_candidate(table, Rows(user="person"), column="number", keys=[2**70, 2**71])
    assert counted.tolist() == [[0, 0]]
