"""A list declares no type, and an array declares its own; no value changes how another is read."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import PureDP
from discreet._tables import Rows, Table, open_table, people_per_candidate
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions import median, mode

ALONE: dict[str, Any] = {"one_row_per_user": True, "epsilon": 5}
DAY, ZONE = datetime.date(2024, 1, 2), datetime.timezone(datetime.timedelta(hours=5))


class _Raises(int):
    """A value that raises an error whatever is done with it."""

    def __int__(self) -> int:
        raise ValueError("secret")

    __float__ = __index__ = __str__ = __eq__ = __hash__ = __int__  # type: ignore[assignment]


READ: dict[str, dict[Any, Any]] = {
    "text": {"a": "a", np.str_("b"): "b", "c\0": "c\0"},
    "integer": {1: 1, 2.0: 2, np.int8(-3): -3, Decimal("4"): 4, -(2**63): -(2**63)},
    "number": {1: 1.0, 2.5: 2.5, Decimal("0.1"): 0.1, Fraction(1, 4): 0.25, 2**64: 2.0**64},
    "decimal": {
        1: Decimal(1),
        0.1: Decimal("0.1"),
        Decimal("1e-19"): Decimal(0),
        10**19: Decimal(10**19),
    },
    "boolean": {True: True, np.bool(False): False},
    "date": {
        DAY: DAY,
        datetime.datetime(2024, 1, 3, 23, tzinfo=ZONE): datetime.date(2024, 1, 3),
        pd.Timestamp("2024-01-04 12:00"): datetime.date(2024, 1, 4),
        np.datetime64("2024-01-05"): datetime.date(2024, 1, 5),
    },
    "moment": {
        DAY: datetime.datetime(2024, 1, 2),
        datetime.datetime(2024, 1, 3, tzinfo=ZONE): datetime.datetime(2024, 1, 2, 19),
        np.datetime64("2024-01-05T06:07"): datetime.datetime(2024, 1, 5, 6, 7),
    },
    "time": {
        datetime.time(1, 2): datetime.time(1, 2),
        datetime.datetime(2024, 1, 3, 4, tzinfo=ZONE): datetime.time(4),
    },
    "span": {
        datetime.timedelta(hours=1): datetime.timedelta(hours=1),
        np.timedelta64(-3, "s"): datetime.timedelta(seconds=-3),
    },
}
"""For each stated type: values, and how they are read."""

NASTY: list[Any] = [
    None, b"a", 1j, [1], {"a": 1}, object(), _Raises(3), 2**63, 10**400, -(10**400), 0.5, float("nan"),
    float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e999999"), Decimal("1e-999999"), "\ud800",
    "nan", pd.NaT, pd.NA,
    datetime.datetime(1, 1, 1, tzinfo=ZONE), datetime.time(1, tzinfo=ZONE), datetime.timedelta.max,
    datetime.timedelta.min, np.datetime64("NaT", "D"), np.datetime64(2**62, "Y"), np.timedelta64("NaT", "D"),
    np.timedelta64(2**62, "W"), np.array([1, 2]), np.ma.masked, float, True, 7, "a", DAY,
]  # fmt: skip


def _values(table: Table) -> list[Any]:
    held = table.engine.loaded(["value"])
    return [value for (value,) in held.rows(f"SELECT value FROM {held.source}")]  # noqa: S608


@pytest.mark.parametrize("kind", READ)
def test_each_value_of_a_list_is_read_by_itself(kind: str) -> None:
    given, plain = list(READ[kind]), list(READ[kind].values())
    for held in (given, np.array([*given, None], dtype=object)[:-1]):
        table = open_table(held, needed=[], read_as=kind)
        assert _values(table) == plain
    declared = table.kinds
    for value in NASTY:
        table = open_table([value, *given, value], needed=[], read_as=kind)
        assert table.kinds == declared
        assert _values(table)[1:-1] == plain
    assert open_table([], needed=[], read_as=kind).kinds == declared


@pytest.mark.parametrize("value", NASTY, ids=[type(value).__name__ for value in NASTY])
def test_one_value_changes_no_count_of_another(value: Any) -> None:
    """A list of whole numbers used to become strings, floats or missing values, depending on other values."""

    def counts(held: list[Any]) -> list[int]:
        table = open_table(held, needed=[], read_as="integer")
        return [
            int(n) for n in people_per_candidate(table, Rows(), column="value", keys=[1, 2**62])[0]
        ]

    assert counts([1, 2**62] * 100) == counts([1, 2**62] * 100 + [value]) == [100, 100]


def test_a_list_holds_texts_unless_its_type_is_stated(tmp_path: Path) -> None:
    words = r'without a declared type, so that only texts count \(read_as="integer"'
    with Ledger.open(str(tmp_path / "budget.db")) as ledger:
        ledger.create("d", PureDP(100))
        paid: dict[str, Any] = {**ALONE, "ledger": ledger, "dataset": "d"}
        for data in ([20, 30, 40], np.array([20, None], dtype=object)):
            with pytest.raises(ParameterError, match=words):
                median(data, bounds="0:100", **paid)
            with pytest.raises(ParameterError, match=words):
                mode(data, candidates=[20, 30], **paid)
            with pytest.raises(ParameterError, match=words):
                mode(data, candidates=["20"], where="value > 20", **paid)
        assert len(ledger.history("d")) == 1
        release = median([20, 30, 40] * 50, bounds="0:100", read_as="integer", **paid)
    assert 25 < release.answer < 35
    assert "The list is read as integer: values of other types are left out." in release.rules
    release = mode(["a", 1, None] * 100, candidates=["a", "1"], **ALONE)
    assert release.answer == "a"
    assert any("texts count and everything else is left out" in rule for rule in release.rules)
    held = discreet.table([1, 2, "x"], one_row_per_user=True, ledger=None, read_as="integer")
    assert held.columns == {"value": "integer"}
    assert held.mode(candidates=[1, 9], epsilon=9).answer == 1


@pytest.mark.parametrize(
    ("kind", "value", "bounds", "step"),
    [
        ("number", 1.5, "0:3", "0.5"),
        ("decimal", Decimal("1.5"), "0:3", "0.5"),
        ("date", DAY, "2024-01-01:2024-01-03", "1d"),
        ("moment", datetime.datetime(2024, 1, 2, 3), "2024-01-02T00:00/2024-01-02T06:00", "1h"),
        ("time", datetime.time(3), "00:00/06:00", "1h"),
        ("span", datetime.timedelta(hours=3), "0h:6h", "1h"),
    ],
)
def test_medians_of_lists(kind: str, value: Any, bounds: str, step: str) -> None:
    asked: dict[str, Any] = {"bounds": bounds, "step": step, "read_as": kind, "epsilon": 400}
    found = median([value] * 9, one_row_per_user=True, **asked).answer
    assert found == value
    assert type(found) is type(value)


def test_texts_are_the_same_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyArrow, DuckDB reads an array of Python strings; with PyArrow, one of Arrow strings."""
    values = ["a", "c\0", "größe", "\ud800", None, 3, np.str_("b"), float("nan"), ""]
    expected = ["a", "c\0", "größe", None, None, None, "b", None, ""]
    frame = pd.DataFrame({"value": pd.Series(values, dtype=object), "n": range(9)})
    for held in (
        values,
        frame,
    ):  # pandas imports more of itself, and of pyarrow, on first use
        assert _values(open_table(held, needed=[])) == expected
    monkeypatch.delitem(sys.modules, "pyarrow")
    for held in (values, frame):
        assert _values(open_table(held, needed=[])) == expected
    assert "pyarrow" not in sys.modules


ARRAYS: list[tuple[Any, list[Any]]] = [
    (np.array([1, 2, 300], dtype=">i4"), [1, 2, 300]),
    (np.arange(7, dtype="u8")[::3], [0, 3, 6]),
    (np.ma.masked_array([1, 2, 3], mask=[False, True, False]), [1, None, 3]),
    (np.array([0.5, np.nan], dtype="f2"), [0.5, None]),
    (np.array([True, False]), [True, False]),
    (np.array(["a", "b c"]), ["a", "b c"]),
    (np.ma.masked_array(["a", "b"], mask=[True, False]), [None, "b"]),
    (np.array(["a", "c\0"], dtype=np.dtypes.StringDType()), ["a", "c\0"]),
    (np.array(["2024-01-02", "NaT", "9999999-01-01"], dtype="M8[D]"), [DAY, None, None]),
    (
        np.array(["2024-01-02", "NaT", "-999999-01-01"], dtype=">M8[s]"),
        [1_704_153_600.0, None, -31619087596800.0],
    ),
    (np.array(["2024-01-02", "NaT"], dtype="M8[ns]"), [1_704_153_600.0, None]),
    (np.array([1, "NaT", 2**62], dtype="m8[ms]"), [0.001, None, 2**62 / 1000]),
]


@pytest.mark.parametrize(("array", "plain"), ARRAYS, ids=lambda given: getattr(given, "dtype", ""))
def test_an_array_has_its_own_type(array: Any, plain: list[Any]) -> None:
    table = open_table(array, needed=[])
    if table.kinds["value"] in ("moment", "span"):
        # As seconds: no value raises there.
        held = table.engine.position("value")
        asked = f"SELECT {held} FROM {table.engine.source}"  # noqa: S608
        assert [value for (value,) in table.engine.loaded(["value"]).rows(asked)] == plain
    else:
        assert _values(table) == plain
    assert open_table(array[:0], needed=[]).kinds == table.kinds
    with pytest.raises(ParameterError, match="only be used with a list"):
        open_table(array, needed=[], read_as="integer")


@pytest.mark.parametrize("kind", ["S3", "c16", "i4,i4", "longdouble", "M8[Y]", "M8[h]", "m8[D]"])
def test_an_array_of_another_type_is_refused_by_it(kind: str) -> None:
    with pytest.raises(ParameterError, match="it must hold numbers, booleans or texts"):
        open_table(np.zeros(3, dtype=kind), needed=[])


def test_wrong_words_and_places() -> None:
    with pytest.raises(ParameterError, match="one of text, integer, number, decimal, boolean"):
        median([1], bounds="0:1", read_as="int", **ALONE)
    for data in (pd.DataFrame({"value": [1]}), "visits.csv"):
        with pytest.raises(ParameterError, match=r"it can only be used with a list; .* TextFile"):
            median(data, bounds="0:1", read_as="integer", **ALONE)
    held = discreet.table([1], one_row_per_user=True, ledger=None, read_as="integer")
    with pytest.raises(ParameterError, match="set once"):
        held.median(bounds="0:1", epsilon=1, read_as="number")  # type: ignore[call-arg]
