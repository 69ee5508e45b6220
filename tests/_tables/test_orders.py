"""A person's groups and values are drawn evenly, alone, and never more of them than they may count in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet._exact.sampling import SecureBits
from discreet._tables import (
    Grid,
    Rows,
    open_table,
    orders,
    people_per_candidate,
    people_per_grid_point,
)
from discreet.errors import TableError
from discreet.testing import scripted
from tests.tools.engines import Columns, TableMaker

PEOPLE = 3000
KEY = 0x0123456789ABCDEF_FEDCBA9876543210
CITIES = ("Basel", "Bern", "Zürich")
GRID = Grid.between("0:9")


def _columns(first: int, number: int) -> Columns:
    """Everybody in every city, twice, with the values 2, 5 and (twice as often) 7."""
    people = [person for person in range(first, first + number) for _ in range(6)]
    return {
        "person": people,
        "name": [f"n{person}" for person in people],
        "city": [CITIES[place % 3] for place in range(len(people))],
        "value": [(2, 5, 7, 7, 2, 7)[place % 6] for place in range(len(people))],
    }


def _even(counts: Any, number: int, parts: int) -> None:
    spread = math.sqrt(number * (1 / parts) * (1 - 1 / parts))
    assert np.abs(np.asarray(counts) - number / parts).max() <= 6 * spread


def _groups(table: Any, *, user: str, most: int, key: int = KEY) -> list[int]:
    rows = Rows(user=user, by="city", groups=CITIES, groups_per_person=most, key=key)
    counted = people_per_candidate(table, rows, column="city", keys=CITIES)
    assert (counted == np.diag(counted.diagonal())).all()
    return list(map(int, counted.diagonal()))


@pytest.mark.parametrize("user", ["person", "name"])
def test_groups_are_drawn_evenly(table_in: TableMaker, user: str) -> None:
    table = open_table(table_in(_columns(0, PEOPLE)), needed=["person", "name", "city", "value"])
    one = _groups(table, user=user, most=1)
    assert sum(one) == PEOPLE
    _even(one, PEOPLE, 3)
    two = _groups(table, user=user, most=2)
    assert sum(two) == 2 * PEOPLE
    _even(PEOPLE - np.array(two), PEOPLE, 3)
    assert _groups(table, user=user, most=3) == [PEOPLE] * 3
    assert one == _groups(table, user=user, most=1)
    assert one != _groups(table, user=user, most=1, key=KEY + 1)


def test_values_are_drawn_evenly_and_alone(table_in: TableMaker) -> None:
    def drawn(first: int, number: int) -> Any:
        table = open_table(table_in(_columns(first, number)), needed=["person", "value"])
        rows = Rows(user="person", key=KEY)
        return people_per_grid_point(
            table, rows, column="value", grid=GRID, per_person="random", outside="clamp"
        )[0]

    whole = drawn(0, PEOPLE)
    assert whole.nonzero()[0].tolist() == [2, 5, 7]
    assert whole.sum() == PEOPLE
    _even(whole[[2, 5, 7]], PEOPLE, 3)
    # A person's draw does not depend on who else is there.
    assert (drawn(0, 1000) + drawn(1000, PEOPLE - 1000)).tolist() == whole.tolist()


def test_a_useless_hash_favours_the_first_and_keeps_the_cap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Privacy rests on the number of a person's groups, and that on no property of the hash."""

    def level(frame: Any, _key: int, _choice: str, _bits: int) -> Any:
        return frame.with_columns(order=pl.lit(0))

    monkeypatch.setitem(orders._HASHED, "polars", level)
    table = open_table(pl.DataFrame(_columns(0, 50)), needed=["person", "city", "value"])
    assert _groups(table, user="person", most=1) == [50, 0, 0]
    assert _groups(table, user="person", most=2) == [50, 50, 0]
    rows = Rows(user="person", key=KEY)
    counts = people_per_grid_point(table, rows, column="value", grid=GRID, per_person="random")
    assert counts[0, 2] == counts.sum() == 50


def test_a_new_key_for_each_release() -> None:
    """The runner's bits give it: rows as such hold none, and nobody is drawn into groups without one."""
    rows = Rows(user="person", by="city", groups=CITIES)
    assert rows.key is None
    keys = {rows.keyed(SecureBits()).key for _ in range(8)}
    assert len(keys) == 8
    assert rows.keyed(scripted(1)) == rows.keyed(scripted(1))
    assert "key" not in repr(rows.keyed(SecureBits()))
    table = open_table(pl.DataFrame(_columns(0, 50)), needed=["person", "city", "value"])
    with pytest.raises(TableError):
        people_per_candidate(table, rows, column="city", keys=CITIES)
